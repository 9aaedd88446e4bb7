"""Judges the witnesses of a job: whether each arm that declares one ran its own code, and no fallback.

The state of an arm at a point of the params is computed once, from every launch that measured it, and decides the rows
of that arm: an arm whose fallback ran fails, and one that does not say what ran is inconclusive. A row that compares
another arm with it is inconclusive. In an A/B job the head's witness counts alone, because an older base need not have
one.

    a launch shows the fallback ─▶ fail
    else, a launch shows nothing ─▶ inconclusive
    else ─────────────────────────▶ pass
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.gate_levels import unmet_requirements
from paceline_contract.manifest import Benchmark, Manifest, Witness
from paceline_contract.params import params_key

from paceline_server.detect.facts import CpuFeatures, JobFacts
from paceline_server.detect.groups import Group
from paceline_server.detect.schemas import GateOut, WitnessOut
from paceline_server.jobs.schemas import Verdict
from paceline_server.stats.samples import NOT_COUNTED, CaseSamples

WORST_FIRST: Final[tuple[Verdict, ...]] = ("fail", "inconclusive", "pass")
NAMED: Final = 5
"""Launches that a sentence names."""


class WitnessState(NamedTuple):
    """What a witness shows, in words."""

    verdict: Verdict
    words: str


@dataclass(frozen=True)
class ArmWitness:
    """The state of an arm's witness at a point of the params."""

    group: Group
    arm: str
    state: WitnessState


@dataclass(frozen=True)
class Witnesses:
    """The witnesses of the arms that were measured, by (benchmark, arm)."""

    by_arm: Mapping[tuple[str, str], Sequence[ArmWitness]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, manifest: Manifest, groups: Sequence[Group], facts: JobFacts
    ) -> Witnesses:
        """Judge the witnesses of all arms; those that need CPU features which are missing have no state."""
        by_arm: dict[tuple[str, str], list[ArmWitness]] = {}
        for witness in _judge_arms(manifest, groups, facts):
            key = (witness.group.benchmark, witness.arm)
            by_arm.setdefault(key, []).append(witness)
        return cls(by_arm)

    def why_not(self, group: Group, *arms: str) -> str | None:
        """Return why a figure may not be that of these arms' own code; None if it is, or no witness is declared."""
        worst = self._worst(group.benchmark, group.params, *arms)
        return None if worst is None or worst.verdict == "pass" else worst.words

    def of_row(
        self,
        benchmark: str,
        params: Mapping[str, ParamValue],
        arm: str,
        other: str | None = None,
    ) -> WitnessState | None:
        """Return what the witnesses make of a row about `arm`, which is compared with `other`; None without any.

        Params that the row does not name match any value, as that of a slope does."""
        own = self._worst(benchmark, params, arm)
        if other is None or (own is not None and own.verdict != "pass"):
            return own
        of_other = self._worst(benchmark, params, other)
        if of_other is None or of_other.verdict == "pass":
            return own
        return WitnessState("inconclusive", of_other.words)

    def _worst(
        self, benchmark: str, params: Mapping[str, ParamValue], *arms: str
    ) -> WitnessState | None:
        states = [
            witness.state
            for arm in arms
            for witness in self.by_arm.get((benchmark, arm), ())
            if witness.group.matches(params)
        ]
        return min(
            states, key=lambda state: WORST_FIRST.index(state.verdict), default=None
        )

    def rows(self) -> list[WitnessOut]:
        """Return one row per arm if it is the same at all params, else one per point."""
        rows: list[WitnessOut] = []
        for points in self.by_arm.values():
            everywhere = len({point.state for point in points}) == 1
            rows += [
                WitnessOut(
                    benchmark=point.group.benchmark,
                    params={} if everywhere else dict(point.group.params),
                    arm=point.arm,
                    verdict=point.state.verdict,
                    words=point.state.words,
                )
                for point in (points[:1] if everywhere else points)
            ]
        return rows


def concerns_case(
    witness: WitnessOut, benchmark: str, arm: str, params: Mapping[str, ParamValue]
) -> bool:
    """Check whether a row of a witness says what ran as this arm at these params."""
    return (witness.benchmark, witness.arm) == (benchmark, arm) and (
        witness.params.items() <= params.items()
    )


def describe_fallback(
    witnesses: Iterable[WitnessOut],
    benchmark: str,
    arm: str,
    params: Mapping[str, ParamValue],
) -> str | None:
    """Say that the fallback ran as this arm at these params, where a witness shows it; None elsewhere."""
    fallbacks = (
        witness.words
        for witness in witnesses
        if witness.verdict == "fail" and concerns_case(witness, benchmark, arm, params)
    )
    return next(fallbacks, None)


def witnessed_gate(
    gate: GateOut, witnesses: Witnesses, base_arm: str | None
) -> GateOut:
    """Return the row of a gate with what the witnesses make of it. `base_arm`: which other arm its derived metric is
    computed from."""
    state = witnesses.of_row(gate.benchmark, gate.params, gate.arm, base_arm)
    if state is None or gate.verdict == "not_applicable":
        return gate
    update: dict[str, object] = {"witness": state.verdict}
    if state.verdict != "pass":
        update |= {"verdict": state.verdict, "reason": state.words}
    return gate.model_copy(update=update)


def _judge_arms(
    manifest: Manifest, groups: Sequence[Group], facts: JobFacts
) -> Iterator[ArmWitness]:
    cases: dict[tuple[str, str, str], list[CaseSamples]] = {}
    for case in facts.cases:
        key = (case.benchmark, params_key(case.params), case.arm)
        cases.setdefault(key, []).append(case)
    cpu = CpuFeatures.of(facts.conditions)
    for group in groups:
        benchmark = manifest.benchmarks[group.benchmark]
        for arm, witness in benchmark.witnesses.items():
            if cpu.names is not None and unmet_requirements(witness, cpu.names):
                continue
            key = (group.benchmark, params_key(group.params), arm)
            measured = [case.only(case.measured()) for case in cases.get(key, ())]
            launches = sorted(
                {int(number) for case in measured for number in np.unique(case.launch)}
            )
            if launches:
                shown = _shown_by_launch(benchmark, witness, measured, facts)
                state = _judge(arm, witness, launches, shown)
                if witness.requires and cpu.names is None and state.verdict != "pass":
                    state = WitnessState("inconclusive", f"{state.words}; {cpu.why}")
                yield ArmWitness(group, arm, state)


def _shown_by_launch(
    benchmark: Benchmark,
    witness: Witness,
    measured: Sequence[CaseSamples],
    facts: JobFacts,
) -> dict[int, int | str]:
    """Return what each launch that sent the witness shows: how much was counted at most, or what its build says."""
    if witness.build is not None:
        return {
            build.launch: build.facts[witness.build]
            for build in facts.builds
            if build.workload == benchmark.workload and witness.build in build.facts
        }
    most: dict[int, int | str] = {}
    for case in measured:
        counts = case.work.get(witness.counter or "")
        if counts is None:
            continue
        for launch in np.unique(case.launch):
            count = int(counts[case.launch == launch].max())
            if count != NOT_COUNTED:
                most[int(launch)] = max(count, int(most.get(int(launch), 0)))
    return most


def _judge(
    arm: str,
    witness: Witness,
    launches: Sequence[int],
    shown: Mapping[int, int | str],
) -> WitnessState:
    fallen_back = [
        launch
        for launch in launches
        if launch in shown and not _shows_arm(witness, shown[launch])
    ]
    if fallen_back:
        where = _where(fallen_back, launches)
        said = _spoken(witness, [shown[launch] for launch in fallen_back])
        return WitnessState("fail", f"{arm} was built, and never called{where}: {said}")
    silent = [launch for launch in launches if launch not in shown]
    if silent:
        where = _where(silent, launches) or " in any launch"
        return WitnessState(
            "inconclusive",
            f"nothing shows that {arm} ran: its witness, {_named(witness)}, was not sent{where}",
        )
    said = _spoken(witness, [shown[launch] for launch in launches])
    return WitnessState("pass", f"{arm} ran: {said}")


def _shows_arm(witness: Witness, shown: int | str) -> bool:
    if isinstance(shown, int):
        return shown > 0
    return shown in (witness.values or ())


def _named(witness: Witness) -> str:
    if witness.build is not None:
        return f"{witness.build} of start.build"
    return f"the counter {witness.counter}"


def _spoken(witness: Witness, shown: Sequence[int | str]) -> str:
    """Say what was shown, without counts, which differ from one point of the params to the next."""
    if witness.build is None:
        return f"its counter {witness.counter} is {'above 0' if all(shown) else '0'}"
    said = " or ".join(dict.fromkeys(map(str, shown)))
    expected = " or ".join(witness.values or ())
    wanted = "" if set(shown) <= {*(witness.values or ())} else f", expected {expected}"
    return f"{_named(witness)} is {said}{wanted}"


def _where(launches: Sequence[int], all_launches: Sequence[int]) -> str:
    """Say in which launches; empty if it is so in all of them."""
    if len(launches) == len(all_launches):
        return ""
    named = ", ".join(map(str, launches[:NAMED]))
    more = f" and {len(launches) - NAMED} more" if len(launches) > NAMED else ""
    noun = "launch" if len(launches) == 1 else "launches"
    return f" in {len(launches)} of {len(all_launches)} launches ({noun} {named}{more})"
