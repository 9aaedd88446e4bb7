"""What a workload said beside its samples: checks, warnings, cases, conditions.

Place: between storage (or a raw stream on disk) and `detect`/`judge`, which must not care which of the two
it was. The samples themselves travel as `stats.samples.CaseSamples`. Decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

ParamValue = int | str

_COMPACT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
"""One encoder for all: `json.dumps` with options builds a new one each time, and that is half of its time."""


def params_key(params: Mapping[str, ParamValue]) -> str:
    """Params as one sortable text, equal exactly when the params are equal, e.g. `{"batch":1000}`."""
    return _encoded(tuple(params.items()))


@lru_cache(maxsize=4096)
def _encoded(items: tuple[tuple[str, ParamValue], ...]) -> str:
    """Thousands of cases share few params, and encoding is ten times as long as looking up."""
    return _COMPACT.encode(dict(items))


@dataclass(frozen=True, slots=True)
class Check:
    """A correctness check as one launch of a workload reported it (I1)."""

    launch: int
    name: str
    ok: bool
    detail: str
    workload: str = ""


@dataclass(frozen=True, slots=True)
class Warned:
    """A `warning` event: something a person should know; the data stands."""

    launch: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A case a launch announced, whether or not it has samples."""

    launch: int
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metrics: tuple[tuple[str, str, str], ...]
    """(name, unit, direction) each."""
    items_per_iteration: int | None
    bytes_per_iteration: int | None
    unavailable: str | None = None
    """Why this machine or runtime cannot run the arm; such a case has no samples."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the target was like at `at_ms` (milliseconds since `attempt` began, the agent's clock)."""

    phase: str
    at_ms: int
    values: dict[str, object]
    attempt: int = 1
