//! Defines what a Rust workload offers for measurement; `session` measures it.
//!
//! An [`Arm`]'s operation takes no arguments, so timed code can reach neither clock nor emitter
//! (I3).

use std::cell::Cell;
use std::fmt;
use std::process::ExitCode;
use std::rc::Rc;

use crate::event::{Check, Metric, Params, Value, Work};
use crate::fence::keep;
use crate::session;

/// An error that stops a launch. It becomes the `error` event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `usage`, `no_case`, or a code of the workload.
    pub code: String,
    /// What is wrong and what to do next.
    pub text: String,
}

impl Failure {
    /// A failure with advice.
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            text: text.into(),
        }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new("usage", text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

impl std::error::Error for Failure {}

/// An arm's reading of a metric other than `time` in one timed region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The total over the region's iterations, or the rate.
    Total(u64),
    /// One value per call, in order. An empty list reports nothing.
    Each(Vec<u64>),
}

type TakeWork = Box<dyn FnMut() -> Work>;
type TakeReading = Box<dyn FnMut() -> Reading>;
type TakeOnce = Box<dyn FnMut() -> Result<u64, Failure>>;

/// Where an arm's work is done.
enum Body {
    /// In this process, between the sampler's clock reads.
    Here(Box<dyn FnMut(u64)>),
    /// In a process of the arm's own, which times itself.
    Elsewhere(Box<dyn FnMut(u64) -> Result<u64, Failure>>),
    /// Nowhere, because this machine cannot do it: the reason.
    Nowhere(String),
}

/// One implementation, prepared for one group.
pub struct Arm {
    name: String,
    body: Body,
    /// The fixed iterations of every sample, if they are fixed.
    iterations: Option<u64>,
    /// By how many percent the sampler lengthens each of its samples, for a demonstration.
    slowdown_percent: u64,
    work: Option<TakeWork>,
    readings: Vec<(String, TakeReading)>,
    /// The metrics with one value per launch.
    once: Vec<(String, TakeOnce)>,
}

/// What an arm reports of a timed region besides its duration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Counters, totals over the iterations.
    pub work: Work,
    /// Readings by the metric's name.
    pub readings: Vec<(String, Reading)>,
}

impl Arm {
    /// An arm that does `operation` once per iteration. Everything in it is timed, so it should
    /// neither allocate nor do I/O unless that is measured. The loop is compiled together with the
    /// operation, without a call through a pointer.
    pub fn new<T>(name: &str, mut operation: impl FnMut() -> T + 'static) -> Self {
        Self::looped(name, move |iterations| {
            for _ in 0..iterations {
                keep(operation());
            }
        })
    }

    /// Like [`Arm::new`], and reports `items` per operation. Each arm counts for itself, because
    /// the arms of a round report after all of them ran.
    pub fn counted<T>(
        name: &str,
        items: usize,
        mut operation: impl FnMut() -> T + 'static,
    ) -> Self {
        let done = Rc::new(Cell::new(0));
        let counter = Rc::clone(&done);
        Self::new(name, move || {
            let result = operation();
            done.set(done.get() + items as u64);
            result
        })
        .with_work(move || vec![("items".to_owned(), counter.take())])
    }

    /// An arm whose `body` repeats the work, where the loop is in another language. `body` must
    /// keep its results from being optimised away.
    pub fn looped(name: &str, body: impl FnMut(u64) + 'static) -> Self {
        Self::of(name, Body::Here(Box::new(body)))
    }

    /// An arm that needs a process of its own: `body` lets that process repeat the work and returns
    /// the nanoseconds that the *process* measured, so that communication is not part of a sample.
    /// While one arm's process works, those of the others must wait.
    pub fn elsewhere(name: &str, body: impl FnMut(u64) -> Result<u64, Failure> + 'static) -> Self {
        Self::of(name, Body::Elsewhere(Box::new(body)))
    }

    /// An arm that this machine or runtime cannot run: it is announced with the reason and not
    /// measured. Use a [`Failure`] for something that should be there and is missing.
    #[must_use]
    pub fn unavailable(name: &str, reason: impl Into<String>) -> Self {
        Self::of(name, Body::Nowhere(reason.into()))
    }

    fn of(name: &str, body: Body) -> Self {
        let name = name.to_owned();
        Self {
            name,
            body,
            iterations: None,
            slowdown_percent: 0,
            work: None,
            readings: Vec::new(),
            once: Vec::new(),
        }
    }

    /// Fixes the iterations of every sample, where their number decides what is measured (how full
    /// a heap is, say). Calibration then does not run the arm. All arms need the same number.
    #[must_use]
    pub fn with_iterations(mut self, iterations: u64) -> Self {
        self.iterations = Some(iterations);
        self
    }

    /// Adds counters of a timed region: at most 16 (`items`, `prepared`, `kept` are reserved). `take`
    /// runs after a round, outside of all timed regions, and returns the counts since its last
    /// call.
    #[must_use]
    pub fn with_work(mut self, take: impl FnMut() -> Work + 'static) -> Self {
        self.work = Some(Box::new(take));
        self
    }

    /// Adds a metric besides `time` that [`Benchmark::metrics`] declares. `take` is called as in
    /// [`Arm::with_work`].
    #[must_use]
    pub fn with_metric(mut self, metric: &str, take: impl FnMut() -> Reading + 'static) -> Self {
        self.readings.push((metric.to_owned(), Box::new(take)));
        self
    }

    /// Adds a metric with one value per launch, such as a peak: `take` runs after the last measured
    /// round, and the value belongs to that round.
    #[must_use]
    pub fn with_launch_metric(
        mut self,
        metric: &str,
        take: impl FnMut() -> Result<u64, Failure> + 'static,
    ) -> Self {
        self.once.push((metric.to_owned(), Box::new(take)));
        self
    }

    /// Returns the reason why this machine cannot run the arm, if it cannot.
    #[must_use]
    pub fn why_unavailable(&self) -> Option<&str> {
        match &self.body {
            Body::Nowhere(reason) => Some(reason),
            _ => None,
        }
    }

    /// Its name in `suite.toml`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Lengthens every later sample by this share, for a demonstration.
    pub(crate) fn slow_down(&mut self, percent: u64) {
        self.slowdown_percent = percent;
    }

    /// Returns by how many percent its samples are lengthened.
    pub(crate) fn slowdown_percent(&self) -> u64 {
        self.slowdown_percent
    }

    /// Returns its fixed iterations, if it has them.
    pub(crate) fn iterations(&self) -> Option<u64> {
        self.iterations
    }

    /// Does the work; returns what another process measured, if it was done there.
    #[inline]
    pub(crate) fn run(&mut self, iterations: u64) -> Result<Option<u64>, Failure> {
        match &mut self.body {
            Body::Here(body) => body(iterations),
            Body::Elsewhere(body) => return body(iterations).map(Some),
            Body::Nowhere(_) => {}
        }
        Ok(None)
    }

    /// Takes the metrics with one value per launch.
    pub(crate) fn once(&mut self) -> Result<Vec<(String, u64)>, Failure> {
        self.once
            .iter_mut()
            .map(|(name, take)| Ok((name.clone(), take()?)))
            .collect()
    }

    /// Takes the counters and readings since the last call.
    pub(crate) fn account(&mut self) -> Account {
        Account {
            work: self.work.as_mut().map(|take| take()).unwrap_or_default(),
            readings: self
                .readings
                .iter_mut()
                .map(|(name, take)| (name.clone(), take()))
                .collect(),
        }
    }
}

/// The permitted values of a param.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// All integers in this inclusive range.
    Range(u64, u64),
    /// Only the declared values.
    Listed,
}

/// A parameter of a benchmark.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// The values that run by default, in this order.
    pub values: Vec<Value>,
    /// The other permitted values.
    pub allowed: Allowed,
}

impl Param {
    /// An integer param with a range.
    #[must_use]
    pub fn int(name: &str, values: &[u64], minimum: u64, maximum: u64) -> Self {
        let values = values.iter().map(|value| Value::Int(*value)).collect();
        Self {
            name: name.to_owned(),
            values,
            allowed: Allowed::Range(minimum, maximum),
        }
    }

    /// A param with listed words.
    #[must_use]
    pub fn words(name: &str, values: &[&str]) -> Self {
        let values = values
            .iter()
            .map(|value| Value::Text((*value).to_owned()))
            .collect();
        Self {
            name: name.to_owned(),
            values,
            allowed: Allowed::Listed,
        }
    }
}

/// An integer option of a workload that is not a param.
#[derive(Clone, Debug)]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// Smallest value.
    pub minimum: u64,
    /// Largest value.
    pub maximum: u64,
    /// The default.
    pub default: u64,
    /// Set if it changes the work to demonstrate an alert; results say so.
    pub demonstration: bool,
    /// What it does to the work, for the warning about it.
    pub what: String,
}

/// The input of [`Benchmark::prepare`].
pub struct Context<'a> {
    /// The values of the params.
    pub params: &'a Params,
    /// The value of every knob.
    pub knobs: &'a [(String, u64)],
    /// The seed of the input data.
    pub seed: u64,
    /// The number of this launch in the job, for what should differ between launches, such as a
    /// layout.
    pub launch: u64,
    /// The number of measured rounds, without warm-up.
    pub rounds: u64,
}

impl Context<'_> {
    /// Returns the value of an integer param that the benchmark declares.
    ///
    /// # Panics
    /// When the benchmark declares no such integer param: a mistake in the workload.
    #[must_use]
    pub fn int(&self, name: &str) -> u64 {
        match self.params.iter().find(|(known, _)| known == name) {
            Some((_, Value::Int(value))) => *value,
            _ => panic!("the benchmark declares no integer param '{name}'"),
        }
    }

    /// Returns the value of a text param that the benchmark declares.
    ///
    /// # Panics
    /// When the benchmark declares no such text param: a mistake in the workload.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.params.iter().find(|(known, _)| known == name) {
            Some((_, Value::Text(value))) => value,
            _ => panic!("the benchmark declares no text param '{name}'"),
        }
    }
}

/// A prepared group: inputs generated, buffers allocated.
pub struct Prepared {
    /// All arms of the benchmark, in its order.
    pub arms: Vec<Arm>,
    /// Items per iteration, for time per item.
    pub items_per_iteration: Option<u64>,
    /// Bytes per iteration, for throughput.
    pub bytes_per_iteration: Option<u64>,
    /// Runs before and after measuring (I1).
    pub verify: Box<dyn FnMut() -> Vec<Check>>,
}

/// Prepares a group. It is not timed.
pub type Prepare = Box<dyn Fn(&Context<'_>) -> Result<Prepared, Failure>>;

/// A benchmark.
pub struct Benchmark {
    /// Its name in `suite.toml`.
    pub name: String,
    /// Names of its arms, in the order `--list` prints.
    pub arms: Vec<String>,
    /// The parameters whose values vary.
    pub params: Vec<Param>,
    /// Metrics of its arms besides `time`.
    pub metrics: Vec<Metric>,
    /// Called once per group of a launch.
    pub prepare: Prepare,
}

/// Facts about the build, for `start.build`.
pub type Facts = Vec<(String, String)>;

/// A workload with its command line and its stream.
pub struct Workload {
    /// The suite's name.
    pub suite: String,
    /// The workload's name.
    pub name: String,
    /// Its benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// Its knobs.
    pub knobs: Vec<Knob>,
    /// Loads what the arms need and returns facts about it; `--list` does not call it.
    pub open: Box<dyn Fn() -> Result<Facts, Failure>>,
    /// Correctness checks that need no group.
    pub checks: Box<dyn Fn() -> Vec<Check>>,
}

impl Workload {
    /// Runs this process's command line on its standard output.
    #[must_use]
    pub fn main(&self) -> ExitCode {
        let args: Vec<String> = std::env::args_os()
            .skip(1)
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        session::run(self, &args, std::io::stdout().lock())
    }
}
