//! The workload `bands`: the band store beside what others do for the same change.
//!
//! Place in the journey: its own process, started by the agent. It answers how long it takes until a change
//! of some bands is durable under a name, by phase, and how that grows with bands that did not change.
//! Works in a directory of its own under `PACELINE_CHECKPOINT_DIR` (else the system's temporary one), so
//! that a run per filesystem is a run per directory. Absent on purpose: judgement of any figure.

mod arms;
mod checks;
mod detect;
mod scenario;
mod seed;
mod site;

use std::path::PathBuf;
use std::process::ExitCode;

use paceline_harness::{Benchmark, Context, Direction, Failure, Metric, Param, Unit, Workload};
use scenario::Scenario;
use site::Shape;

/// Where the directories of bands are made.
const DIRECTORY: &str = "PACELINE_CHECKPOINT_DIR";

fn main() -> ExitCode {
    Workload {
        suite: "checkpoint".to_owned(),
        name: "bands".to_owned(),
        benchmarks: vec![checkpoint(), scaling(), cold(), dirty(), detect()],
        knobs: vec![],
        open: Box::new(facts),
        checks: Box::new(checks::all),
    }
    .main()
}

/// The seed's scenarios at the seed's size.
fn checkpoint() -> Benchmark {
    let params = vec![scenarios(&scenario::ALL), Param::int("bands", &[87], 8, 87)];
    benchmark("checkpoint", arms::ALL, params, |context| Ok((named(context)?, seeds(context), false)))
}

/// The same change of three bands in ever larger directories. Bands that no change touches are holes.
fn scaling() -> Benchmark {
    let params = vec![scenarios(&scenario::ALL[..1]), Param::int("bands", &[87, 870, 8700], 8, 100_000)];
    benchmark("scaling", arms::SPARSE, params, |context| Ok((named(context)?, seeds(context), false)))
}

/// The smallest change when the bands are not in memory.
fn cold() -> Benchmark {
    let params = vec![scenarios(&scenario::ALL[..1]), Param::int("bands", &[87], 8, 87)];
    benchmark("cold", arms::COLD, params, |context| Ok((named(context)?, seeds(context), true)))
}

/// More dirty bands, and smaller ones.
fn dirty() -> Benchmark {
    let params = vec![Param::int("dirty", &[1, 4, 16, 64], 0, 64), Param::int("band_kib", &[1024], 64, 8192)];
    benchmark("dirty", arms::SPARSE, params, |context| {
        let dirty = Scenario { name: "dirty", dirty_bands: context.int("dirty"), writes_per_band: 16 };
        let band_bytes = context.int("band_kib") << 10;
        Ok((dirty, Shape { bands: 87, band_bytes, hot: 64, sparse: true }, false))
    })
}

/// Finding out that nothing changed.
fn detect() -> Benchmark {
    Benchmark {
        name: "detect".to_owned(),
        arms: detect::ARMS.iter().map(|name| (*name).to_owned()).collect(),
        params: vec![Param::int("bands", &[87, 870, 8700], 8, 100_000)],
        metrics: vec![],
        prepare: Box::new(detect::prepare),
    }
}

fn scenarios(all: &[Scenario]) -> Param {
    let names: Vec<&str> = all.iter().map(|scenario| scenario.name).collect();
    Param::words("scenario", &names)
}

fn named(context: &Context<'_>) -> Result<Scenario, Failure> {
    let scenario = scenario::ALL.iter().find(|scenario| scenario.name == context.text("scenario"));
    scenario.copied().ok_or_else(|| Failure::new("usage", "no such scenario"))
}

/// As many bands as asked for, each as the seed's.
fn seeds(context: &Context<'_>) -> Shape {
    Shape { bands: context.int("bands"), band_bytes: site::BAND_BYTES, hot: site::HOT, sparse: true }
}

fn benchmark(
    name: &str,
    arms: &'static [arms::Kind],
    params: Vec<Param>,
    plan: impl Fn(&Context<'_>) -> Result<(Scenario, Shape, bool), Failure> + 'static,
) -> Benchmark {
    let metric = |name: &str, unit| Metric { name: name.to_owned(), unit, direction: Direction::Lower };
    let phases = ["durable", "detect", "hash", "clone", "manifest", "sync"];
    let mut metrics: Vec<Metric> = phases.iter().map(|name| metric(name, Unit::Nanoseconds)).collect();
    metrics.push(metric("read", Unit::Bytes));
    metrics.push(metric("written", Unit::Bytes));
    Benchmark {
        name: name.to_owned(),
        arms: arms.iter().map(|arm| arm.name().to_owned()).collect(),
        params,
        metrics,
        prepare: Box::new(move |context| {
            let (scenario, shape, cold) = plan(context)?;
            arms::prepare(&arms::Plan { kinds: arms, shape, scenario, cold, seed: context.seed })
        }),
    }
}

/// The directory for bands.
fn directory() -> PathBuf {
    std::env::var_os(DIRECTORY).map_or_else(std::env::temp_dir, PathBuf::from)
}

fn facts() -> Result<Vec<(String, String)>, Failure> {
    let directory = directory();
    let stat = rustix::fs::statfs(&directory).map_err(|error| {
        let text = format!("{}: {error}. Name a directory in {DIRECTORY}.", directory.display());
        Failure::new("directory", text)
    })?;
    // linux/magic.h
    let filesystem = match stat.f_type {
        0xEF53 => "ext4".to_owned(),
        0x9123_683E => "btrfs".to_owned(),
        0x5846_5342 => "xfs".to_owned(),
        0xF2F5_2010 => "f2fs".to_owned(), // what most phones have
        0x0102_1994 => "tmpfs: a sync does nothing there".to_owned(),
        other => format!("{other:#x}"),
    };
    let cache = "warm, but for `cold`: bands synced and dropped by posix_fadvise";
    Ok(vec![("filesystem".to_owned(), filesystem), ("cache".to_owned(), cache.to_owned())])
}
