"""Checks what a request selects against the manifest: benchmarks, params, knobs, suppressed errors.

The functions are pure: they turn declarations and a request into a selection with its faults. Runs are only created
without faults, so an existing run can be executed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from paceline_contract.events import ParamValue

from paceline_server.jobs.declarations import SuiteDeclaration, value_fault
from paceline_server.stats.configuration import CONFIGURATION_ERRORS

MAX_VALUES_PER_PARAM = 100
"""At most this many values of one param in one request."""


class MeasurementRequest(Protocol):
    """The parts of a suite that a request selects; `benchmarks` None selects all."""

    @property
    def benchmarks(self) -> Sequence[str] | None: ...

    @property
    def params(self) -> Mapping[str, Sequence[ParamValue]]: ...

    @property
    def knobs(self) -> Mapping[str, ParamValue]: ...

    @property
    def suppress(self) -> Sequence[str]: ...


@dataclass(slots=True)
class Selection:
    """What a run will measure; `faults` maps fields of the request to errors."""

    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    demonstration: bool
    faults: dict[str, str] = field(default_factory=dict)


def select_measurements(
    declared: SuiteDeclaration,
    request: MeasurementRequest,
    reported: Collection[str] = (),
    *,
    is_final: bool = True,
) -> Selection:
    """Check the benchmarks, params, knobs and suppressed names of a request.

    `reported`: configuration errors that targets of the suite have; this server may not know them. `is_final`: false
    if `declared` belongs to another commit than the measured one, whose manifest is read later; names that `declared`
    lacks are then accepted for now.
    """
    faults: dict[str, str] = {}
    names = list(dict.fromkeys(request.benchmarks or declared.benchmarks))
    for name in names:
        if is_final and name not in declared.benchmarks:
            known = ", ".join(declared.benchmarks)
            faults["benchmarks"] = (
                f"{name!r} is not declared by {declared.suite}; it has {known}"
            )
    known_names = [name for name in names if name in declared.benchmarks]
    for param, values in request.params.items():
        if not 1 <= len(values) <= MAX_VALUES_PER_PARAM:
            faults[f"params.{param}"] = f"give 1 to {MAX_VALUES_PER_PARAM} values"
        elif is_final and (fault := _param_fault(declared, known_names, param, values)):
            faults[f"params.{param}"] = fault
    for name in request.suppress:
        if name not in CONFIGURATION_ERRORS and name not in reported:
            known = ", ".join(dict.fromkeys((*CONFIGURATION_ERRORS, *sorted(reported))))
            faults["suppress"] = (
                f"{name!r} is not a configuration error; known are {known}"
            )
    knobs, demonstration = _knobs(
        declared, request.knobs, faults if is_final else dict[str, str]()
    )
    if not is_final:
        knobs = dict(request.knobs)
    return Selection(
        benchmarks=names,
        params={
            name: list(dict.fromkeys(values)) for name, values in request.params.items()
        },
        knobs=knobs,
        demonstration=demonstration,
        faults=faults,
    )


def _param_fault(
    declared: SuiteDeclaration,
    names: Sequence[str],
    param: str,
    values: Sequence[ParamValue],
) -> str | None:
    benchmarks = [
        declared.benchmarks[name]
        for name in names
        if param in declared.benchmarks[name].params
    ]
    if not benchmarks:
        return "none of the selected benchmarks has this param"
    for value in values:
        for benchmark in benchmarks:
            refused = value_fault(benchmark.params[param], value)
            if refused is not None:
                return f"{refused} ({benchmark.name})"
    return None


def _knobs(
    declared: SuiteDeclaration, wanted: Mapping[str, ParamValue], faults: dict[str, str]
) -> tuple[dict[str, ParamValue], bool]:
    """Return (knobs that differ from their defaults, whether one of them is for demonstrations)."""
    changed: dict[str, ParamValue] = {}
    demonstration = False
    for name, value in wanted.items():
        knob = declared.knobs.get(name)
        if knob is None:
            known = ", ".join(declared.knobs) or "none"
            faults[f"knobs.{name}"] = (
                f"{declared.suite} declares no such knob; it has {known}"
            )
            continue
        refused = value_fault(knob, value)
        if refused is not None:
            faults[f"knobs.{name}"] = refused
        elif value != knob.default:
            changed[name] = value
            demonstration = demonstration or knob.demonstration
    return changed, demonstration
