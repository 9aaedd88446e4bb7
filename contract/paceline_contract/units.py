"""Units of the bench stream (C1), which of them are totals over iterations, the units in which other tools give figures,
and how people read figures."""

from __future__ import annotations

from collections.abc import Mapping
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


_SCALES: Final[Mapping[str, tuple[tuple[float, str], ...]]] = MappingProxyType(
    {
        "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
        "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "bytes")),
        "bytes/s": (
            (2.0**30, "GiB/s"),
            (2.0**20, "MiB/s"),
            (2.0**10, "KiB/s"),
            (1.0, "bytes/s"),
        ),
        "op/s": ((1e9, "G op/s"), (1e6, "M op/s"), (1e3, "K op/s"), (1.0, "op/s")),
        "ops": ((1.0, "ops"),),
        "count": ((1.0, ""),),
    }
)


def quantity(value: float, unit: str, digits: int = 4) -> str:
    """Write a quantity in a scaled unit, `123456` ns → "123.5 µs", with so many significant digits; unknown units are
    kept."""
    scales = _SCALES.get(unit, ((1.0, unit),))
    scale, name = next(((s, n) for s, n in scales if abs(value) >= s), scales[-1])
    return f"{value / scale:.{digits}g} {name}".strip()
