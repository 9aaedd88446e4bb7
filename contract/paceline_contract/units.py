"""Units of the bench stream (C1), which of them are totals over iterations, and the units in which other tools give
figures."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from paceline_contract.events import Direction

Unit = Literal["ns", "bytes", "ops", "op/s", "bytes/s", "count"]
UNITS: frozenset[str] = frozenset({"ns", "bytes", "ops", "op/s", "bytes/s", "count"})
PER_ITERATION: frozenset[str] = frozenset({"ns", "bytes", "ops", "count"})
"""Values of these are totals over `iterations` on the wire and are divided by readers; rates are not."""

NS_PER: Final = MappingProxyType(
    {
        "ps": 1e-3,
        "ns": 1.0,
        "us": 1e3,
        "\u00b5s": 1e3,
        "\u03bcs": 1e3,
        "ms": 1e6,
        "s": 1e9,
        "min": 60e9,
        "hr": 3600e9,
        "day": 86_400e9,
    }
)
"""The nanoseconds of the units in which tools give times. The micro sign and the Greek letter mu look alike and are both
in use; the last three are JMH's."""


class MetricUnit(NamedTuple):
    """The metric that figures in a tool's unit are of. `scale` converts them to `unit`."""

    name: str
    unit: Unit
    direction: Direction
    scale: float = 1.0


_METRICS: Final = MappingProxyType(
    {
        "bytes": MetricUnit("bytes", "bytes", "lower"),
        "ops": MetricUnit("ops", "ops", "lower"),
        "count": MetricUnit("count", "count", "lower"),
        "op/s": MetricUnit("throughput", "op/s", "higher"),
        "bytes/s": MetricUnit("bandwidth", "bytes/s", "higher"),
    }
)
GO_METRICS: Final = MappingProxyType(
    {
        "B/op": MetricUnit("allocated", "bytes", "lower"),
        "allocs/op": MetricUnit("allocations", "count", "lower"),
        "MB/s": MetricUnit("throughput", "bytes/s", "higher", 1e6),
    }
)
"""The units that Go's package `testing` prints beside times."""
KNOWN: Final = (*NS_PER, *_METRICS)
"""The units that `metric_in` knows."""


def metric_in(unit: str) -> MetricUnit | None:
    """Return the metric of figures in `unit`; None if the unit is unknown here."""
    if unit in NS_PER:
        return MetricUnit("time", "ns", "lower", NS_PER[unit])
    return _METRICS.get(unit)
