"""What a request to measure selects, checked against the manifest, with errors a person can act on.

Place: before a run is created. Invariant: a run that exists can be executed as asked: each benchmark, param
value and knob was declared. Pure: manifest and targets in, selection or faults out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from paceline_server.catalog.schemas import ParamValue
from paceline_server.jobs.declarations import SuiteDeclaration
from paceline_server.jobs.schemas import RunIn
from paceline_server.stats.configuration import CONFIGURATION_ERRORS

MAX_VALUES_PER_PARAM = 100
"""Values of one param in one request."""


@dataclass(slots=True)
class Selection:
    """What will be measured; `faults` maps a field of the request to what is wrong with it."""

    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    demonstration: bool
    faults: dict[str, str] = field(default_factory=dict)


def select(
    declared: SuiteDeclaration, wanted: RunIn, reported: Collection[str] = ()
) -> Selection:
    """Check the benchmarks, params, knobs and names of a request. `reported`: names of configuration errors
    that targets of the suite have, among them such that this server has no words for."""
    faults: dict[str, str] = {}
    names = list(dict.fromkeys(wanted.benchmarks or declared.benchmarks))
    for name in names:
        if name not in declared.benchmarks:
            known = ", ".join(declared.benchmarks)
            faults["benchmarks"] = (
                f"{name!r} is not declared by {declared.suite}; it has {known}"
            )
    known_names = [name for name in names if name in declared.benchmarks]
    for param, values in wanted.params.items():
        fault = _param_fault(declared, known_names, param, values)
        if fault is not None:
            faults[f"params.{param}"] = fault
    for name in wanted.suppress:
        if name not in CONFIGURATION_ERRORS and name not in reported:
            known = ", ".join(dict.fromkeys((*CONFIGURATION_ERRORS, *sorted(reported))))
            faults["suppress"] = (
                f"{name!r} is no configuration error; there are {known}"
            )
    knobs, demonstration = _knobs(declared, wanted.knobs, faults)
    return Selection(
        benchmarks=names,
        params={
            name: list(dict.fromkeys(values)) for name, values in wanted.params.items()
        },
        knobs=knobs,
        demonstration=demonstration,
        faults=faults,
    )


def _param_fault(
    declared: SuiteDeclaration, names: Sequence[str], param: str, values: Sequence[ParamValue]
) -> str | None:
    having = [
        declared.benchmarks[name]
        for name in names
        if param in declared.benchmarks[name].params
    ]
    if not having:
        return "none of the selected benchmarks has this param"
    if not 1 <= len(values) <= MAX_VALUES_PER_PARAM:
        return f"give 1 to {MAX_VALUES_PER_PARAM} values"
    for value in values:
        for benchmark in having:
            refused = benchmark.params[param].refuses(value)
            if refused is not None:
                return f"{refused} ({benchmark.name})"
    return None


def _knobs(
    declared: SuiteDeclaration, wanted: Mapping[str, ParamValue], faults: dict[str, str]
) -> tuple[dict[str, ParamValue], bool]:
    """The knobs that differ from their defaults, and whether one of them is made for a demonstration."""
    turned: dict[str, ParamValue] = {}
    demonstration = False
    for name, value in wanted.items():
        knob = declared.knobs.get(name)
        if knob is None:
            known = ", ".join(declared.knobs) or "none"
            faults[f"knobs.{name}"] = (
                f"{declared.suite} declares no such knob; it has {known}"
            )
            continue
        refused = knob.param.refuses(value)
        if refused is not None:
            faults[f"knobs.{name}"] = refused
        elif value != knob.default:
            turned[name] = value
            demonstration = demonstration or knob.demonstration
    return turned, demonstration
