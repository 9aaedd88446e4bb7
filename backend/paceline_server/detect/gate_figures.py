"""Computes how far a failing gate may go before it is worse than what people accepted.

Waivers and known alerts share it, so that both end where something became worse for certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from paceline_contract.params import params_key

from paceline_server.detect.schemas import GateOut


@dataclass(frozen=True)
class GateFigure:
    """What a failing gate measured at one point of the params, as the findings of its alert keep it."""

    statistic: str
    point: str
    op: str
    actual: float | None
    lower: float | None
    upper: float | None

    @classmethod
    def of(cls, row: GateOut) -> Self:
        return cls(
            statistic=row.statistic,
            point=params_key(row.params),
            op=row.op,
            actual=row.actual,
            lower=row.lower,
            upper=row.upper,
        )

    def admits(self, row: GateOut) -> bool:
        """Return whether a row of the same benchmark, arm and metric is about the same gate and no worse."""
        limit = worst_of(self)
        return (
            (row.statistic, params_key(row.params)) == (self.statistic, self.point)
            and lower_is_better(row) == lower_is_better(self)
            and limit is not None
            and not is_worse_than(limit, row)
        )


def metric_of(row: GateOut) -> str:
    """Return what a gate is about: its derived metric, or the metric that is measured."""
    return row.derived or row.metric


def gate_name(row: GateOut) -> str:
    """Return a gate's own name, or else its derived metric, or its statistic such as `median of time`."""
    return row.name or row.derived or f"{row.statistic} of {row.metric}"


def worst_of(gate: GateFigure | GateOut) -> float | None:
    """Return the bad end of a gate's interval, or its value where there is none."""
    end = gate.upper if lower_is_better(gate) else gate.lower
    return gate.actual if end is None else end


def is_worse_than(limit: float, row: GateOut) -> bool:
    """Return whether a row lies beyond a limit with its whole interval; a row without a value counts as beyond."""
    best = row.lower if lower_is_better(row) else row.upper
    best = row.actual if best is None else best
    if best is None:
        return True
    return best > limit if lower_is_better(row) else best < limit


def lower_is_better(gate: GateFigure | GateOut) -> bool:
    """Return whether a gate sets an upper limit."""
    return gate.op in ("<", "<=")
