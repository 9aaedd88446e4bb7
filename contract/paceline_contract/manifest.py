"""The suite manifest (`suite.toml`): its tables, one frozen type each.

Agent and server read manifests with `manifest_reader.py`, so that both accept the same ones. For editors the same
tables are in `native/protocol/suite.schema.json`; what names refer to is checked in `manifest_rules.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Annotated, Final, Literal, Self

import msgspec
from msgspec import Meta, field

from paceline_contract.events import INT64_MAX, Direction, ParamValue
from paceline_contract.units import Unit

NAME: Final = r"[a-z][a-z0-9_]{0,63}"
_FIELD = r"\{[a-z_]{1,32}:(count|name|text|duration|size|rate)\}"
_LOG_LINE = (
    rf"\A[ -z|~]{{1,200}}({_FIELD}[ -z|~]{{1,200}}){{0,16}}{_FIELD}[ -z|~]{{0,200}}\Z"
)
_PERCENTILE = r"p(0\.[0-9]{0,2}[1-9]|[1-9][0-9]?(\.[0-9]{1,3})?)"
_STATISTIC = rf"\A(median|mean|min|max|sd|sd_percent|launch_sd_percent|{_PERCENTILE})\Z"

Name = Annotated[
    str,
    Meta(
        pattern=rf"\A{NAME}\Z",
        description="lower-case letters, digits and _, a letter first",
    ),
]
RuleName = Annotated[
    str,
    Meta(
        pattern=r"\A[a-z][a-z0-9-]{0,63}\Z",
        description="lower-case letters, digits and -, a letter first",
    ),
]
Text = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        pattern=r"\A[^\x00]*\Z",
        description="text of 1 to 2000 characters without U+0000",
    ),
]
Word = Annotated[str, Meta(min_length=1)]
Argv = Annotated[list[Word], Meta(min_length=1, max_length=200)]
Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]
Value = Annotated[Natural | Word, Meta(description="a whole number from 0 or text")]
Values = Annotated[list[Value], Meta(min_length=1, max_length=1000)]
ArtifactPath = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=2000,
        pattern=r"\A(?!/)(?!(?:[\s\S]*/)?\.\.(?:/|\Z))",
        description="a path below the manifest, without '..'",
    ),
]
EnvironmentName = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z",
        description="the name of an environment variable",
    ),
]
Statistic = Annotated[
    str,
    Meta(
        pattern=_STATISTIC,
        description="median, mean, min, max, sd, sd_percent, launch_sd_percent or a percentile such as p99.9",
    ),
]
Tag = Annotated[
    str,
    Meta(
        pattern=r"\A[!-~]{1,128}\Z",
        description="1 to 128 visible ASCII characters",
    ),
]
LinePattern = Annotated[
    str,
    Meta(
        max_length=500,
        pattern=_LOG_LINE,
        description="text and fields such as {wait:duration} in turn, text first",
    ),
]
CpuFeature = Annotated[
    str,
    Meta(
        pattern=r"\A!?[a-z0-9_]{1,64}\Z",
        description="a CPU feature as /proc/cpuinfo names it, such as avx512bw, or !avx512bw where it must be missing",
    ),
]
Margin = Annotated[float, Meta(ge=0, le=100)]
Op = Literal["<", "<=", ">", ">="]
Abi = Literal["arm64-v8a", "armeabi-v7a", "x86", "x86_64", "riscv64"]
DEFAULT_ABIS: Final[tuple[Abi, ...]] = ("arm64-v8a", "x86_64")
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

PRIMARY_METRIC: Final = "time"
FIRST_LOOK: Final = "first_look"
"""The preset that a first start measures by itself."""
ONLY_ARM: Final = "code"
"""The arm of the benchmarks of a harness for which no arms are mapped."""
DEFAULT_MARGIN_PERCENT: Final = 2.0
"""percent; smaller differences are not worth a person's time on a host (stats/README.md §2)"""
DEVICE_MARGIN_PERCENT: Final = 3.0
"""percent, on a device, where a suite declares none of its own: what a phone resolves in ten launches"""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the manifest; names that it does not know are refused."""


class SuiteHead(Table, frozen=True):
    name: Name
    title: Text
    description: Text | None = None


class TargetBuild(Table, frozen=True):
    """How one kind of target builds and runs a workload. Only agents execute any of it. `abis` and `calibrate` are of
    devices: a host has one ABI, its own, and calibrates itself. `harness` and what belongs to it are of hosts."""

    build: Annotated[list[Argv], Meta(max_length=200)]
    artifacts: Annotated[list[ArtifactPath], Meta(min_length=1, max_length=200)]
    run: Argv = []
    """Starts a program that speaks C1; empty where there is a `harness`."""
    harness: Word | None = None
    """The name of another tool's harness, of which `command` starts the benchmarks."""
    command: Argv = []
    arms: Annotated[dict[Name, Text], Meta(min_length=1, max_length=64)] = {}
    """Arm → a pattern of the names that the harness gives to its cases; the groups of a pattern name the benchmark."""
    cwd: str = "."
    launch_timeout_s: Annotated[int, Meta(ge=1, le=86_400)] = 600
    toolchain: list[Argv] = []
    env: dict[EnvironmentName, str] = {}
    abis: Annotated[list[Abi], Meta(min_length=1)] = []
    """The ABIs that `{abi}` may become, one per device; empty: `DEFAULT_ABIS`."""
    calibrate: Argv = []
    """Times a fixed piece of work on the device, before and after a job; empty where there is no such command."""


class Workload(Table, frozen=True):
    name: Name
    host: TargetBuild | None = None
    android: TargetBuild | None = None
    checks: list[Text] = []
    """Expected in every job that runs this workload."""

    @property
    def takes_knobs(self) -> bool:
        """Return whether it is a program of its own, and not another tool's harness."""
        return self.host is None or self.host.harness is None


class Param(Table, frozen=True):
    kind: Literal["int", "enum", "regex"]
    values: Values
    minimum: Natural | None = None
    maximum: Natural | None = None
    pattern: Text | None = None
    unit: Text | None = None
    description: Text | None = None


class Metric(Table, frozen=True):
    unit: Unit
    direction: Direction
    description: Text | None = None


class Witness(Table, frozen=True):
    """What shows that an arm ran its own code and no fallback: a counter of the samples' `work` that is above 0, or a
    fact of `start.build` that has one of `values`; in every launch. `requires` lists CPU features without which the
    arm need not run it."""

    counter: Tag | None = None
    build: Tag | None = None
    values: Annotated[list[Text], Meta(min_length=1, max_length=64)] | None = None
    requires: Annotated[list[CpuFeature], Meta(max_length=16)] = []


class Benchmark(Table, frozen=True):
    title: Text
    workload: Name
    arms: Annotated[list[Name], Meta(min_length=1, max_length=64)]
    reference: Name
    metrics: Annotated[dict[Name, Metric], Meta(min_length=1)]
    description: Text | None = None
    device_reference: Name | None = None
    """The reference on devices, where `reference` cannot run there; None: the same everywhere."""
    declared_margin_percent: Margin | None = field(name="margin_percent", default=None)
    params: dict[Name, Param] = {}
    aliases: Annotated[list[Name], Meta(max_length=32)] = []
    """Its former names, whose history continues under the newest name."""
    arm_aliases: dict[
        Name, Annotated[list[Name], Meta(min_length=1, max_length=32)]
    ] = {}
    """Arm → what that arm was called before."""
    witnesses: dict[Name, Witness] = {}
    """Arm → what shows that it ran."""

    def on(self, target_kind: str) -> Self:
        """Return the benchmark with the margin and the reference that apply on a kind of target."""
        if target_kind != "device":
            return self
        declared = self.declared_margin_percent
        return msgspec.structs.replace(
            self,
            reference=self.device_reference or self.reference,
            declared_margin_percent=DEVICE_MARGIN_PERCENT
            if declared is None
            else declared,
        )

    @property
    def margin_percent(self) -> float:
        """Return how much slower than the reference still counts as equal."""
        declared = self.declared_margin_percent
        return DEFAULT_MARGIN_PERCENT if declared is None else declared

    @property
    def primary_metric(self) -> str:
        """Return `time` where there is one, else the first declared metric."""
        has_time = PRIMARY_METRIC in self.metrics
        return PRIMARY_METRIC if has_time else next(iter(self.metrics))

    @property
    def other_arms(self) -> list[str]:
        """Return every arm but the reference, in declared order."""
        return [arm for arm in self.arms if arm != self.reference]

    @property
    def witness_counters(self) -> frozenset[str]:
        """The counters that show what ran. Arms need not agree on them, as they must on counted work."""
        counters = (witness.counter for witness in self.witnesses.values())
        return frozenset(counter for counter in counters if counter is not None)


class Slows(Table, frozen=True):
    """The arm whose work a knob lengthens, by so many percent as its value is."""

    benchmark: Name
    arm: Name


class Knob(Table, frozen=True):
    """An option of a workload that is no param."""

    kind: Literal["int", "enum"]
    default: Value
    description: Text
    minimum: Natural | None = None
    maximum: Natural | None = None
    values: Annotated[list[Word], Meta(min_length=1, max_length=1000)] | None = None
    demonstration: bool = False
    slows: Slows | None = None
    workload: Name | None = None


class Derived(Table, frozen=True):
    """A metric computed from others, of one `arm` or of each of `arms`. What else a kind needs is in
    `manifest_rules.DERIVED_FIELDS`."""

    name: Name
    kind: DerivedKind
    benchmark: Name
    metric: Name
    arm: Name | None = None
    arms: Annotated[list[Name], Meta(min_length=1, max_length=64)] | None = None
    description: Text | None = None
    params: dict[Name, Value] = {}
    base_arm: Name | None = None
    part: Name | None = None
    rate_bytes_per_s: Annotated[int, Meta(ge=1, le=INT64_MAX)] | None = None
    param: Name | None = None
    from_: Value | None = field(name="from", default=None)
    to: Value | None = None

    @property
    def every_arm(self) -> list[str]:
        """Return the arms it has a row for, in declared order."""
        return [*([] if self.arm is None else [self.arm]), *(self.arms or [])]


class Gate(Table, frozen=True):
    """A limit on a metric: `statistic op required` must hold.

    Either (benchmark, arm, metric) or `derived` names the metric. For a derived metric of several arms, `arm`
    selects one; without it the gate applies to each arm. `absolute` compares the size of the value. `requires` lists
    CPU features without which the gate does not apply; `gate_levels.py` selects among gates on the same metric.
    `measured` is the figure that the level was based on.
    """

    op: Op
    required: float
    name: Name | None = None
    benchmark: Name | None = None
    arm: Name | None = None
    metric: Name | None = None
    derived: Name | None = None
    params: dict[Name, Value] = {}
    declared_statistic: Statistic | None = field(name="statistic", default=None)
    absolute: bool = False
    stretch: float | None = None
    description: Text | None = None
    requires: Annotated[list[CpuFeature], Meta(max_length=16)] = []
    measured: float | None = None

    @property
    def statistic(self) -> str:
        """Return the statistic that is compared with the level."""
        return self.declared_statistic or "median"

    @property
    def subject(self) -> Hashable:
        """Return a key of what is compared with the level: equal for gates that differ only in level, name and `requires`."""
        return (
            self.benchmark,
            self.arm,
            self.metric,
            self.derived,
            frozenset(self.params.items()),
            self.statistic,
            self.absolute,
            self.op,
        )


class Rule(Table, frozen=True):
    """Turns a finding into an alert. It applies to the benchmark's primary metric unless it names another."""

    name: RuleName
    kind: Literal["arm_slower"]
    benchmark: Name
    arms: Annotated[list[Name], Meta(min_length=1)]
    text: Text
    metric: Name | None = None
    params: dict[Name, Values] = {}
    fails_run: bool = True

    def watches(
        self, benchmark: str, arm: str, params: Mapping[str, ParamValue]
    ) -> bool:
        """Return whether it applies to this arm at these params; params it does not name match any value."""
        params_match = all(
            params.get(name) in values for name, values in self.params.items()
        )
        return params_match and self.benchmark == benchmark and arm in self.arms


class InForce(Table, frozen=True):
    """The policy that is shipped: numbers, or the knobs that hold them."""

    minimum: Annotated[
        Natural | Name, Meta(description="a whole number from 0 or the name of a knob")
    ]
    warmup_rounds: (
        Annotated[
            Natural | Name,
            Meta(description="a whole number from 0 or the name of a knob"),
        ]
        | None
    ) = None


class Policy(Table, frozen=True):
    """When to use `arm` instead of `reference`: from a value of `param` on, after some warm-up rounds.
    `cold_benchmark` measures the same in fresh processes, with the arm named `cold_arm` if that differs.
    """

    name: Name
    benchmark: Name
    arm: Name
    reference: Name
    metric: Name
    param: Name
    in_force: InForce
    params: dict[Name, Value] = {}
    cold_benchmark: Name | None = None
    cold_arm: Name | None = None
    description: Text | None = None


class LogLine(Table, frozen=True):
    """A line in which an app reports its own figures to a log."""

    name: Name
    tag: Tag
    line: LinePattern
    benchmark: Name | None = None


class Preset(Table, frozen=True):
    """A named selection for a run, which can be changed before the run is requested."""

    title: Text
    description: Text | None = None
    benchmarks: Annotated[list[Name], Meta(min_length=1)] | None = None
    params: dict[Name, Values] = {}
    launches: Annotated[int, Meta(ge=1, le=100)] | None = None
    rounds: Annotated[int, Meta(ge=1, le=10_000)] | None = None


class Expected(Table, frozen=True):
    """The checks that every job of the suite must report, whatever it measures."""

    checks: list[Text]


class Manifest(Table, frozen=True):
    schema: Literal[1]
    suite: SuiteHead
    workloads: Annotated[list[Workload], Meta(min_length=1, max_length=200)]
    benchmarks: Annotated[dict[Name, Benchmark], Meta(min_length=1, max_length=500)]
    knobs: Annotated[dict[Name, Knob], Meta(max_length=64)] = {}
    derived: Annotated[list[Derived], Meta(max_length=500)] = []
    gates: Annotated[list[Gate], Meta(max_length=500)] = []
    rules: Annotated[list[Rule], Meta(max_length=500)] = []
    policies: Annotated[list[Policy], Meta(max_length=64)] = []
    logcat: Annotated[list[LogLine], Meta(max_length=64)] = []
    presets: Annotated[dict[Name, Preset], Meta(max_length=32)] = {}
    expected: Expected = Expected([])

    def on(self, target_kind: str) -> Self:
        """Return the manifest with its benchmarks as they apply on a kind of target (`Benchmark.on`)."""
        judged = {
            name: benchmark.on(target_kind)
            for name, benchmark in self.benchmarks.items()
        }
        return msgspec.structs.replace(self, benchmarks=judged)

    def benchmarks_on(self, target_kind: str) -> list[str]:
        """Return the benchmarks whose workload has a section for a kind of target, in declared order."""
        fit = {
            workload.name
            for workload in self.workloads
            if (workload.android if target_kind == "device" else workload.host)
            is not None
        }
        return [
            name
            for name, benchmark in self.benchmarks.items()
            if benchmark.workload in fit
        ]

    def arm_rules(self) -> list[Rule]:
        """Return the suite's rules; without any, one for every benchmark that has an arm besides its reference."""
        if self.rules:
            return list(self.rules)
        return [
            Rule(
                name=f"{name.replace('_', '-')}-arm-slower"[:64],
                kind="arm_slower",
                benchmark=name,
                arms=benchmark.other_arms,
                text=f"An arm of {name} is slower than its reference {benchmark.reference}.",
            )
            for name, benchmark in self.benchmarks.items()
            if benchmark.other_arms
        ]

    def rule_for(
        self, benchmark: str, arm: str, metric: str, params: Mapping[str, ParamValue]
    ) -> Rule | None:
        """Return the first rule that watches this metric of this arm at this point: its own, else the primary one."""
        primary = self.benchmarks[benchmark].primary_metric
        for rule in self.arm_rules():
            if (
                rule.watches(benchmark, arm, params)
                and (rule.metric or primary) == metric
            ):
                return rule
        return None

    def is_demonstration(self, knobs: Mapping[str, ParamValue]) -> bool:
        """Return whether a run with these knobs was made to show an alert."""
        return any(
            knob.demonstration and name in knobs and knobs[name] != knob.default
            for name, knob in self.knobs.items()
        )
