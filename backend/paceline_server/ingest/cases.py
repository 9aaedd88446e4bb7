"""Defines what a workload reports: checks, warnings, cases and conditions, and its samples joined by case.

They have the same form whether they are read from the database or from raw streams on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from paceline_contract.events import Direction, ParamValue

from paceline_server.stats.samples import NOT_COUNTED, CaseSamples, Floats, Ints


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


class SampleBlock(NamedTuple):
    """Samples of one case that a launch reported together; every array has one element per sample."""

    launch: int
    warmup: bool
    rounds: Ints
    positions: Ints
    iterations: Ints
    values: Floats
    work: Mapping[str, Ints]


def join_samples(
    blocks: Sequence[SampleBlock],
    *,
    benchmark: str,
    arm: str,
    params: Mapping[str, ParamValue],
    metric: str,
    unit: str,
    direction: Direction,
) -> CaseSamples:
    """Join the blocks of a case. A counter that a block lacks is `NOT_COUNTED` for its samples."""
    lengths = [len(block.values) for block in blocks]
    counters = sorted({name for block in blocks for name in block.work})
    return CaseSamples(
        benchmark=benchmark,
        arm=arm,
        params=params,
        metric=metric,
        unit=unit,
        direction=direction,
        launch=np.repeat(
            np.array([block.launch for block in blocks], dtype=np.int64), lengths
        ),
        round=np.concatenate([block.rounds for block in blocks]),
        position=np.concatenate([block.positions for block in blocks]),
        value=np.concatenate([block.values for block in blocks]),
        warmup=np.repeat(
            np.array([block.warmup for block in blocks], dtype=np.bool_), lengths
        ),
        iterations=np.concatenate([block.iterations for block in blocks]),
        work={
            name: np.concatenate([_counts_of(block, name) for block in blocks])
            for name in counters
        },
    )


def _counts_of(block: SampleBlock, counter: str) -> Ints:
    counts = block.work.get(counter)
    if counts is None:
        return np.full(len(block.values), NOT_COUNTED, dtype=np.int64)
    return counts
