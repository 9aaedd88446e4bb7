//! The workload `bands`: the band store beside what others do for the same change.
//!
//! Place in the journey: its own process, started by the agent. It answers how long it takes until a change
//! of some bands is durable under a name, by phase, and how that grows with bands that did not change.
//! Works in a directory of its own under `PACELINE_CHECKPOINT_DIR` (else the system's temporary one), so
//! that a run per filesystem is a run per directory. Absent on purpose: judgement of any figure.

mod arms;
mod checks;
mod scenario;
mod seed;
mod site;

use std::path::PathBuf;
use std::process::ExitCode;

use paceline_harness::{Benchmark, Direction, Failure, Metric, Param, Unit, Workload};

/// Where the directories of bands are made.
const DIRECTORY: &str = "PACELINE_CHECKPOINT_DIR";

fn main() -> ExitCode {
    Workload {
        suite: "checkpoint".to_owned(),
        name: "bands".to_owned(),
        benchmarks: vec![checkpoint(), scaling()],
        knobs: vec![],
        open: Box::new(facts),
        checks: Box::new(checks::all),
    }
    .main()
}

/// The seed's scenarios at the seed's size.
fn checkpoint() -> Benchmark {
    let names: Vec<&str> = scenario::ALL.iter().map(|scenario| scenario.name).collect();
    benchmark(
        "checkpoint",
        arms::ALL,
        vec![Param::words("scenario", &names), Param::int("bands", &[87], 8, 87)],
    )
}

/// The same change of three bands in ever larger directories. Bands that no change touches are holes.
fn scaling() -> Benchmark {
    let bands = Param::int("bands", &[87, 870, 8700], 8, 100_000);
    benchmark("scaling", arms::SPARSE, vec![Param::words("scenario", &[scenario::ALL[0].name]), bands])
}

fn benchmark(name: &str, arms: &'static [arms::Kind], params: Vec<Param>) -> Benchmark {
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
        prepare: Box::new(move |context| arms::prepare(arms, context)),
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
        0x0102_1994 => "tmpfs: a sync does nothing there".to_owned(),
        other => format!("{other:#x}"),
    };
    Ok(vec![("filesystem".to_owned(), filesystem), ("cache".to_owned(), "warm".to_owned())])
}
