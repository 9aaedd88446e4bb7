"""Defines what a workload reports beside its samples: checks, warnings, cases and conditions.

Detection reads them alike from the database and from raw streams on disk. Samples are
`stats.samples.CaseSamples`.
"""

from __future__ import annotations

from dataclasses import dataclass

from paceline_contract.events import ParamValue


@dataclass(frozen=True, slots=True)
class Check:
    """A correctness check that a launch of a workload reported (I1)."""

    launch: int
    name: str
    ok: bool
    detail: str
    workload: str = ""


@dataclass(frozen=True, slots=True)
class CaseWarning:
    """A `warning` event: something a person should know; the data stays valid."""

    launch: int
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A case that a launch announced, with or without samples."""

    launch: int
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metrics: tuple[tuple[str, str, str], ...]
    """(name, unit, direction) each."""
    items_per_iteration: int | None
    bytes_per_iteration: int | None
    unavailable: str | None = None
    """Why this target cannot run the arm; such a case has no samples."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of the target `at_ms` milliseconds after `attempt` began, by the agent's clock."""

    phase: str
    at_ms: int
    values: dict[str, object]
    attempt: int = 1
