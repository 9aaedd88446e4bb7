//! The events of the bench stream as values, as `native/protocol/README.md` describes them.

use std::fmt;

/// The version of the contract this crate speaks.
pub const VERSION: u64 = 1;
/// The largest integer of the stream: what a signed 64-bit column holds.
pub const LARGEST: u64 = i64::MAX as u64;
/// Longest line, without its newline.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// Most values in one `samples` event.
pub const VALUES_MAX: usize = 1000;
/// Most counters in one `samples` event.
pub const COUNTERS_MAX: usize = 16;

/// A value of a param.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// 0 … 2^63 − 1.
    Int(u64),
    /// Any other value.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// Params by name, in the order the workload declares them.
pub type Params = Vec<(String, Value)>;

/// Counters of what a timed region did, by name: totals over its iterations.
pub type Work = Vec<(String, u64)>;

/// The phase of a sample, which decides whether it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Kept and shown, but not counted.
    Warmup,
    /// Counts.
    Measure,
}

impl Phase {
    /// The name in the stream.
    #[must_use]
    pub fn wire(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measure => "measure",
        }
    }
}

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Unit {
    Nanoseconds,
    Bytes,
    Operations,
    OperationsPerSecond,
    BytesPerSecond,
    Count,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 6] = [
        Self::Nanoseconds,
        Self::Bytes,
        Self::Operations,
        Self::OperationsPerSecond,
        Self::BytesPerSecond,
        Self::Count,
    ];

    /// The name in the stream.
    #[must_use]
    pub fn wire(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
            Self::Operations => "ops",
            Self::OperationsPerSecond => "op/s",
            Self::BytesPerSecond => "bytes/s",
            Self::Count => "count",
        }
    }
}

/// The better direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Lower is better.
    Lower,
    /// Higher is better.
    Higher,
}

impl Direction {
    /// The name in the stream.
    #[must_use]
    pub fn wire(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// A measured quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The primary metric is `time`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its better direction.
    pub direction: Direction,
}

/// A correctness check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// As `expected.checks` of `suite.toml` names it.
    pub name: String,
    /// Whether it passed.
    pub ok: bool,
    /// What was checked, or what is wrong.
    pub detail: String,
}

/// One line of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields are the wire's; README.md of native/protocol describes each"
)]
pub enum Event {
    Start {
        suite: String,
        workload: String,
        launch: u64,
        seed: u64,
        build: Vec<(String, String)>,
        clock_name: String,
        resolution_ns: u64,
        overhead_ns: u64,
    },
    Case {
        case: u64,
        benchmark: String,
        arm: String,
        params: Params,
        metrics: Vec<Metric>,
        items_per_iteration: Option<u64>,
        bytes_per_iteration: Option<u64>,
        unavailable: Option<String>,
    },
    Samples {
        case: u64,
        metric: String,
        launch: u64,
        round: u64,
        position: u64,
        phase: Phase,
        iterations: u64,
        values: Vec<u64>,
        t_ns: u64,
        work: Work,
    },
    Check(Check),
    Progress {
        done: u64,
        total: u64,
    },
    Warning {
        code: String,
        text: String,
    },
    Done,
    Error {
        code: String,
        text: String,
    },
}
