//! Runs a workload's arms under criterion, for people at a terminal, with the original
//! measurement's settings.
//!
//! The suite measures these arms interleaved by our harness; criterion runs one after another, and
//! `paceline import --format criterion` brings its results into the store. Group, function and
//! value of every id are the suite's benchmark, arm and params, read from the workload, so an
//! import meets the suite's gates. Arms that cannot run here are named and left out.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use paceline_harness::clock::Clock;
use paceline_harness::event::Params;
use paceline_harness::options::Options;
use paceline_harness::sampler::Sampler;
use paceline_harness::selection::{Group, Selection};
use paceline_harness::{Arm, Context, Failure, Prepared, Workload};

/// The seed's warm-up.
const WARM_UP: Duration = Duration::from_secs(3);
/// Of the inputs.
const SEED: u64 = 1;

/// How sure criterion is to be, and from how many samples. Options of the command line win.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    significance: f64,
    samples: usize,
}

impl Settings {
    /// The seed's first setting.
    pub const STANDARD: Self = Self {
        significance: 0.05,
        samples: 1_000,
    };
    /// The seed's second setting.
    pub const PRECISE: Self = Self {
        significance: 0.01,
        samples: 10_000,
    };

    fn criterion(self) -> Criterion {
        Criterion::default()
            .significance_level(self.significance)
            .sample_size(self.samples)
            .warm_up_time(WARM_UP)
            .configure_from_args()
    }
}

/// Measures what `filters` leave of a workload: `--benchmark NAME`, `--params NAME=VALUE|VALUE`, as its own
/// command line has them.
///
/// # Errors
/// An unknown name, or what an arm needs and is not there.
pub fn measure(workload: &Workload, settings: Settings, filters: &[&str]) -> Result<(), Failure> {
    let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
    let clock = Clock::measure();
    let mut criterion = settings.criterion();
    for group in Selection::new(workload, &Options::parse(&filters)?)?.groups {
        let prepared = prepared(&group)?;
        let mut under = criterion.benchmark_group(&group.benchmark.name);
        if let Some(items) = prepared.items_per_iteration {
            under.throughput(Throughput::Elements(items));
        }
        for mut arm in prepared.arms {
            one(&mut under, &mut arm, &group.params, &clock);
        }
        under.finish();
    }
    Ok(())
}

/// What criterion says when all is measured.
pub fn summary() {
    Criterion::default().configure_from_args().final_summary();
}

fn prepared(group: &Group<'_>) -> Result<Prepared, Failure> {
    let context = Context {
        params: &group.params,
        knobs: &[],
        seed: SEED,
        launch: 0,
        rounds: 1,
    };
    (group.benchmark.prepare)(&context)
}

fn one(group: &mut BenchmarkGroup<'_, WallTime>, arm: &mut Arm, params: &Params, clock: &Clock) {
    let name = arm.name().to_owned();
    if let Some(reason) = arm.why_unavailable() {
        eprintln!("{name} is left out: {reason}");
        return;
    }
    group.bench_function(id(&name, params), |bencher| {
        bencher.iter_custom(|iterations| {
            let round = Sampler::new(clock, vec![&mut *arm], 0).round(&[0], iterations);
            let total = round.map(|samples| samples.iter().map(|sample| sample.total_ns).sum());
            // Criterion has no way to be told; a bench that goes on would report nothing as time.
            Duration::from_nanos(total.unwrap_or_else(|failure| panic!("{name}: {}", failure.text)))
        });
    });
}

/// Function and value: one param as its value, several as `--case` writes them.
fn id(arm: &str, params: &Params) -> BenchmarkId {
    match value(params) {
        Some(value) => BenchmarkId::new(arm, value),
        None => BenchmarkId::from_parameter(arm),
    }
}

fn value(params: &Params) -> Option<String> {
    match params.as_slice() {
        [] => None,
        [(_, value)] => Some(value.to_string()),
        many => {
            let pairs: Vec<String> = many
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            Some(pairs.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use paceline_harness::Value;

    use super::*;

    fn int(name: &str, value: u64) -> (String, Value) {
        (name.to_owned(), Value::Int(value))
    }

    #[test]
    fn a_value_is_the_one_param_and_several_are_named() {
        assert_eq!(value(&vec![]), None);
        assert_eq!(value(&vec![int("message", 32)]), Some("32".to_owned()));
        let both = vec![
            int("batch", 256),
            ("keys".to_owned(), Value::Text("16".to_owned())),
        ];
        assert_eq!(value(&both), Some("batch=256,keys=16".to_owned()));
    }

    #[test]
    fn an_unknown_benchmark_is_refused_and_not_measured_as_nothing() {
        let workload = Workload {
            suite: "s".to_owned(),
            name: "w".to_owned(),
            benchmarks: vec![],
            knobs: vec![],
            open: Box::new(|| Ok(vec![])),
            checks: Box::new(Vec::new),
        };
        let failure =
            measure(&workload, Settings::STANDARD, &["--benchmark", "sing"]).expect_err("none");
        assert_eq!(failure.code, "usage");
    }
}
