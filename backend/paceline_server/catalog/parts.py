"""The tables of a suite manifest, each typed by itself.

Place: under `manifest`, which holds them together and checks what they say of each other. Invariant: the
tables refuse unknown keys, as the schema (`native/protocol/suite.schema.json`) does. No table knows another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from paceline_server.catalog.schemas import Direction, Unit
from paceline_server.stats.constants import (
    DEFAULT_MARGIN_PERCENT,
    DEVICE_MARGIN_PERCENT,
)

NAME = r"^[a-z][a-z0-9_]{0,63}$"
Name = Annotated[str, StringConstraints(pattern=NAME)]
_FIELD = r"\{[a-z_]{1,32}:(count|name|text|duration|size|rate)\}"
LOG_LINE = (
    rf"^[ -z|~]{{1,200}}({_FIELD}[ -z|~]{{1,200}}){{0,16}}{_FIELD}[ -z|~]{{0,200}}$"
)
"""Text and fields in turn, text first."""
RuleName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
Text = Annotated[str, Field(min_length=1, max_length=2000)]
Argv = Annotated[list[str], Field(min_length=1, max_length=200)]
Natural = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
PrimitiveValue = Natural | Annotated[str, Field(min_length=1, strict=True)]
PERCENTILE = r"p(0\.[0-9]{0,2}[1-9]|[1-9][0-9]?(\.[0-9]{1,3})?)"
STATISTIC = rf"^(median|mean|min|max|sd|sd_percent|launch_sd_percent|{PERCENTILE})$"
Statistic = Annotated[str, StringConstraints(pattern=STATISTIC)]
"""A percentile is `p` and its number: `p90`, `p99.9`."""
Op = Literal["<", "<=", ">", ">="]
DerivedKind = Literal[
    "ratio_across_param",
    "overhead_between_arms",
    "slope",
    "speedup_between_arms",
    "share_between_metrics",
    "share_at_rate",
    "crossover",
    "degradation_across_param",
]
Abi = Literal["arm64-v8a", "armeabi-v7a", "x86", "x86_64", "riscv64"]
DEFAULT_ABIS: tuple[Abi, ...] = ("arm64-v8a", "x86_64")
PRIMARY_METRIC = "time"
FIRST_LOOK = "first_look"


class Part(BaseModel):
    """A table of the manifest: unknown keys are refused, as the schema does."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class SuiteHead(Part):
    name: Name
    title: Text
    description: Text | None = None


class TargetKind(Part):
    """How one kind of target builds and runs a workload. The server never executes any of it."""

    cwd: str = "."
    build: list[Argv]
    artifacts: list[Text] = Field(min_length=1)
    run: Argv
    launch_timeout_s: int = Field(default=600, ge=1, le=86_400)
    toolchain: list[Argv] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)


class DeviceKind(TargetKind):
    """The same for Android devices; `{abi}` stands for one of `abis`, chosen by the agent per device."""

    abis: list[Abi] = Field(default_factory=lambda: [*DEFAULT_ABIS], min_length=1)
    calibrate: Argv | None = None
    """Times a fixed piece of work on the device, before and after a job."""


class Workload(Part):
    name: Name
    host: TargetKind | None = None
    android: DeviceKind | None = None
    checks: list[Text] = Field(default_factory=list)
    """Expected in every job that runs this workload."""


class Param(Part):
    kind: Literal["int", "enum", "regex"]
    values: list[PrimitiveValue] = Field(min_length=1, max_length=1000)
    minimum: Natural | None = None
    maximum: Natural | None = None
    pattern: Text | None = None
    unit: Text | None = None
    description: Text | None = None


class Metric(Part):
    unit: Unit
    direction: Direction
    description: Text | None = None


class Benchmark(Part):
    title: Text
    description: Text | None = None
    workload: Name
    arms: list[Name] = Field(min_length=1, max_length=64)
    reference: Name
    device_reference: Name | None = None
    """The reference on devices, where `reference` cannot run there; None: the same everywhere."""
    margin_percent: float = Field(default=DEFAULT_MARGIN_PERCENT, ge=0, le=100)
    """Declared it holds everywhere; else devices have their own default (`on`)."""
    params: dict[Name, Param] = Field(default_factory=dict)
    metrics: dict[Name, Metric] = Field(min_length=1)
    aliases: list[Name] = Field(default_factory=list, max_length=32)
    """What it was called before: its history goes on under the newest name."""
    arm_aliases: dict[
        Name, Annotated[list[Name], Field(min_length=1, max_length=32)]
    ] = Field(default_factory=dict)
    """Arm → what that arm was called before."""

    def on(self, target_kind: str) -> Self:
        """As it is judged on a kind of target: a `device` has a default margin of its own (STATISTICS §2),
        and may have another reference."""
        if target_kind != "device":
            return self
        declared = "margin_percent" in self.model_fields_set
        own = {
            "reference": self.device_reference or self.reference,
            "margin_percent": self.margin_percent
            if declared
            else DEVICE_MARGIN_PERCENT,
        }
        return self.model_copy(update=own)

    @property
    def primary_metric(self) -> str:
        """`time` where there is one, else the first declared."""
        return (
            PRIMARY_METRIC
            if PRIMARY_METRIC in self.metrics
            else next(iter(self.metrics))
        )

    @property
    def other_arms(self) -> list[str]:
        """Every arm but the reference, in declared order."""
        return [arm for arm in self.arms if arm != self.reference]


class Slows(Part):
    """The arm whose work a knob lengthens, by so many percent as its value is."""

    benchmark: Name
    arm: Name


class Knob(Part):
    kind: Literal["int", "enum"]
    default: PrimitiveValue
    minimum: Natural | None = None
    maximum: Natural | None = None
    values: list[str] | None = None
    demonstration: bool = False
    slows: Slows | None = None
    workload: Name | None = None
    description: Text


class Derived(Part):
    """Of one `arm`, or of each of `arms`. Besides: `ratio_across_param`, `degradation_across_param`: param,
    from, to ·
    `overhead_between_arms`, `speedup_between_arms`: base_arm · `slope`: param · `share_between_metrics`: part
    · `share_at_rate`: rate_bytes_per_s · `crossover`: base_arm, param."""

    name: Name
    kind: DerivedKind
    benchmark: Name
    metric: Name
    arm: Name | None = None
    arms: list[Name] | None = Field(default=None, min_length=1, max_length=64)
    description: Text | None = None
    params: dict[Name, PrimitiveValue] = Field(default_factory=dict)
    base_arm: Name | None = None
    part: Name | None = None
    rate_bytes_per_s: Annotated[int, Field(ge=1, lt=2**63, strict=True)] | None = None
    param: Name | None = None
    from_: PrimitiveValue | None = Field(default=None, alias="from")
    to: PrimitiveValue | None = None

    @property
    def every_arm(self) -> list[str]:
        """The arms it has a row for, in declared order."""
        return [*([] if self.arm is None else [self.arm]), *(self.arms or [])]


class Gate(Part):
    """Either (benchmark, arm, metric) or `derived` names what must hold: `statistic op required`. Of a
    derived metric of several arms, `arm` picks one; without it the level is demanded of each; `absolute`
    holds its size against the level, whatever its sign."""

    name: Name | None = None
    benchmark: Name | None = None
    arm: Name | None = None
    metric: Name | None = None
    derived: Name | None = None
    params: dict[Name, PrimitiveValue] = Field(default_factory=dict)
    statistic: Statistic = "median"
    absolute: bool = False
    op: Op
    required: float = Field(allow_inf_nan=False)
    stretch: float | None = Field(default=None, allow_inf_nan=False)
    description: Text | None = None


class Rule(Part):
    """Turns a finding into an alert. It speaks of the benchmark's primary metric unless it names another."""

    name: RuleName
    kind: Literal["arm_slower"]
    benchmark: Name
    arms: list[Name] = Field(min_length=1)
    metric: Name | None = None
    params: dict[
        Name, Annotated[list[PrimitiveValue], Field(min_length=1, max_length=1000)]
    ] = Field(default_factory=dict)
    text: Text
    fails_run: bool = True

    def watches(
        self, benchmark: str, arm: str, params: Mapping[str, PrimitiveValue]
    ) -> bool:
        """Whether it speaks of this arm at this point; params it does not name match any value."""
        here = all(params.get(name) in values for name, values in self.params.items())
        return here and self.benchmark == benchmark and arm in self.arms


class InForce(Part):
    """The policy that is shipped: numbers, or the knobs that hold them."""

    minimum: Natural | Name
    warmup_rounds: Natural | Name | None = None


class Policy(Part):
    """Where `arm` is used in place of `reference`: from a value of `param` on, after some warm-up rounds.
    `cold_benchmark` measures the same in fresh processes, the arm under the name `cold_arm` if that differs.
    """

    name: Name
    benchmark: Name
    arm: Name
    reference: Name
    metric: Name
    param: Name
    params: dict[Name, PrimitiveValue] = Field(default_factory=dict)
    cold_benchmark: Name | None = None
    cold_arm: Name | None = None
    in_force: InForce
    description: Text | None = None


class LogLine(Part):
    """A line in which an app reports its own figures to a log; agents read it, the server only keeps it."""

    name: Name
    tag: str = Field(pattern=r"^[!-~]{1,128}$")
    line: str = Field(max_length=500, pattern=LOG_LINE)
    benchmark: Name | None = None


class Preset(Part):
    """What may be asked of a run at once, and can be changed before it is. `FIRST_LOOK` is what a first start
    measures by itself."""

    title: Text
    description: Text | None = None
    benchmarks: list[Name] | None = Field(default=None, min_length=1)
    params: dict[
        Name, Annotated[list[PrimitiveValue], Field(min_length=1, max_length=1000)]
    ] = Field(default_factory=dict)
    launches: int | None = Field(default=None, ge=1, le=100)
    rounds: int | None = Field(default=None, ge=1, le=10_000)


class Expected(Part):
    """What every job of the suite owes, whatever it was asked for."""

    checks: list[Text] = Field(default_factory=list)
