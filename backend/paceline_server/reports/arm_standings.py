"""Ranks the arms that should win by how they stand, for every suite on every target, worst first.

An arm should win where a rule of its suite watches it. Arms and benchmarks that no rule watches, such as those that are
slow on purpose, are not counted, and the answer names them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, get_args

from paceline_contract.manifest import Manifest
from paceline_contract.params import params_text
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.reports import queries
from paceline_server.reports.history_schemas import (
    ArmStanding,
    ArmStandingOut,
    ArmStandingsOut,
    StandingsTargetOut,
    SuiteStandingsOut,
    UnwatchedBenchmarkOut,
)
from paceline_server.reports.queries import PointRow, WatchedArm
from paceline_server.series import service as history
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target

ROWS = 200
"""At most this many rows, the worst ones."""

WORST_FIRST: tuple[ArmStanding, ...] = get_args(ArmStanding)


class Pair(NamedTuple):
    """An arm that should win, on a target."""

    arm: WatchedArm
    target_id: str


def arm_standings(session: Session) -> ArmStandingsOut:
    """Return every watched arm of every suite on every target that can run it."""
    suites = catalog.manifests(session)
    names = {
        suite: history.NewestNames.of(manifest) for suite, manifest in suites.items()
    }
    watched = [
        arm for suite, manifest in suites.items() for arm in _watched(suite, manifest)
    ]
    points: dict[Pair, dict[str, PointRow]] = defaultdict(dict)
    for point in queries.newest_points(session, _with_former_names(watched, suites)):
        benchmark, arm = names[point.suite].newest(point.benchmark, point.arm)
        pair = Pair(
            WatchedArm(point.suite, benchmark, arm, point.metric), point.target_id
        )
        newest_point = points[pair].get(point.params_key)
        if newest_point is None or newest_point.measured_at < point.measured_at:
            points[pair][point.params_key] = point
    targets = queries.all_targets(session)
    rows = [
        row
        for target in targets
        for arm in watched
        if (
            row := _standing(
                suites[arm.suite].on(target.kind),
                target,
                arm,
                points.get(Pair(arm, target.id), {}).values(),
            )
        )
        is not None
    ]
    simulated = {target.id for target in targets if target.simulated}
    rows.sort(key=lambda row: _worst_first(row, row.target_id in simulated))
    counted = {row.target_id for row in rows}
    shown_targets = [target for target in targets if target.id in counted]
    return ArmStandingsOut(
        targets=[StandingsTargetOut.model_validate(target) for target in shown_targets],
        suites=_suites(suites, rows),
        rows=rows[:ROWS],
        total=len(rows),
    )


def _watched(suite: str, manifest: Manifest) -> list[WatchedArm]:
    """Return the arms that rules of a suite watch, in the order of the rules."""
    return list(
        dict.fromkeys(
            WatchedArm(
                suite,
                rule.benchmark,
                arm,
                rule.metric or manifest.benchmarks[rule.benchmark].primary_metric,
            )
            for rule in manifest.arm_rules()
            for arm in rule.arms
        )
    )


def _with_former_names(
    watched: Iterable[WatchedArm], suites: Mapping[str, Manifest]
) -> list[WatchedArm]:
    """Return the arms under every name that comparisons may have stored."""
    return [
        arm._replace(benchmark=benchmark, arm=name)
        for arm in watched
        for declared in [suites[arm.suite].benchmarks[arm.benchmark]]
        for benchmark in (arm.benchmark, *declared.aliases)
        for name in (arm.arm, *declared.arm_aliases.get(arm.arm, ()))
    ]


def _standing(
    manifest: Manifest, target: Target, arm: WatchedArm, points: Iterable[PointRow]
) -> ArmStandingOut | None:
    """Return how an arm stands on a target; None if it cannot run there or no rule watches what was measured.

    `manifest` is that of the target's kind."""
    declared = manifest.benchmarks[arm.benchmark]
    if arm.arm == declared.reference:
        return None
    judged = [
        point
        for point in points
        if manifest.rule_for(arm.benchmark, arm.arm, arm.metric, point.params)
    ]
    if not judged and not _can_run(manifest, target, declared.workload):
        return None
    standing, worst = _worst_point(judged)
    return ArmStandingOut(
        suite=arm.suite,
        benchmark=arm.benchmark,
        title=declared.title,
        arm=arm.arm,
        reference=declared.reference,
        metric=arm.metric,
        target_id=target.id,
        target_name=target.name,
        standing=standing,
        points=len(judged),
        points_so=sum(_standing_of(point) == standing for point in judged),
        ratio=None if worst is None else worst.ratio,
        words="not measured yet" if worst is None else _words(worst),
        at=None if worst is None else worst.measured_at,
        run_id=None if worst is None else worst.run_id,
        job_id=None if worst is None else worst.job_id,
    )


_STANDING_OF: Mapping[str, ArmStanding] = {
    "fail": "lost",
    "inconclusive": "undecided",
    "pass": "won",
    "not_applicable": "not_available",
}
"""The standing for each verdict of a comparison."""


def _standing_of(point: PointRow) -> ArmStanding:
    """Return the standing that a point gives; an arm that never ran has not lost there."""
    return "undecided" if point.witness == "fail" else _STANDING_OF[point.verdict]


def _can_run(manifest: Manifest, target: Target, workload: str) -> bool:
    """Return whether a target could measure a workload. No agent measures on targets of imports."""
    if target.agent_id == IMPORTS_AGENT:
        return False
    declared = next(known for known in manifest.workloads if known.name == workload)
    build = declared.android if target.kind == "device" else declared.host
    return build is not None


def _worst_point(points: Sequence[PointRow]) -> tuple[ArmStanding, PointRow | None]:
    """Return the worst point, and among equals the one with the largest ratio."""
    worst = min(
        points,
        key=lambda point: (
            WORST_FIRST.index(_standing_of(point)),
            -(point.ratio or 0.0),
        ),
        default=None,
    )
    if worst is None:
        return "not_measured", None
    return _standing_of(worst), worst


def _words(point: PointRow) -> str:
    at = params_text(point.params)
    text = point.words if _standing_of(point) in ("won", "lost") else point.reason
    return f"{at}: {text}" if at else text


def _worst_first(
    row: ArmStandingOut, is_simulated: bool
) -> tuple[int, bool, float, str, str, str]:
    return (
        WORST_FIRST.index(row.standing),
        is_simulated,
        -(row.ratio or 0.0),
        row.target_name,
        row.suite,
        row.benchmark,
    )


def _suites(
    suites: Mapping[str, Manifest], rows: Sequence[ArmStandingOut]
) -> list[SuiteStandingsOut]:
    """Return counts by suite and target, the suites with the most lost arms first."""
    counts: dict[str, dict[str, Counter[ArmStanding]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for row in rows:
        counts[row.suite][row.target_id][row.standing] += 1
    out = [
        SuiteStandingsOut(
            suite=name,
            title=manifest.suite.title,
            counts={target: dict(cell) for target, cell in counts[name].items()},
            unwatched=_unwatched(manifest),
        )
        for name, manifest in suites.items()
    ]

    def worst_first(suite: SuiteStandingsOut) -> tuple[list[int], str]:
        cells = counts[suite.suite].values()
        lost = [-sum(cell[word] for cell in cells) for word in WORST_FIRST]
        return lost, suite.title

    return sorted(out, key=worst_first)


def _unwatched(manifest: Manifest) -> list[UnwatchedBenchmarkOut]:
    watched = {rule.benchmark for rule in manifest.arm_rules()}
    return [
        UnwatchedBenchmarkOut(benchmark=name, title=benchmark.title)
        for name, benchmark in manifest.benchmarks.items()
        if name not in watched and benchmark.other_arms
    ]
