//! Runs the workload `piece` on devices, without a JVM; on hosts Kotlin runs the same workload
//! (`../jvm`).
//!
//! Both have the same runtime, scripts, pieces and counters. Here the arms that hash in Kotlin are
//! reported as unavailable. Read in this order: `scripts` (which makes arms of functions in a script),
//! `pieces`, `streams`, `checks`.

mod checks;
mod pieces;
mod scripts;
mod streams;

use std::process::ExitCode;

use paceline_harness::workload::Facts;
use paceline_harness::{Failure, Knob, Workload};
use paceline_hashing_quickjs::{engine_for, quickjs_version};

fn main() -> ExitCode {
    Workload {
        suite: "hashing".to_owned(),
        name: "piece".to_owned(),
        benchmarks: vec![
            pieces::piece(),
            streams::piece_stream(),
            streams::piece_unverified(),
            pieces::piece_instrumentation(),
        ],
        knobs: vec![log_every_ms()],
        open: Box::new(facts),
        checks: Box::new(checks::all),
    }
    .main()
}

/// Returns a knob that only changes arms in Kotlin. It is accepted so that a command line for hosts works on
/// devices, too.
fn log_every_ms() -> Knob {
    Knob {
        name: "log_every_ms".to_owned(),
        minimum: 1,
        maximum: 60_000,
        default: 5_000,
        demonstration: false,
        what: "the counters of piece_instrumentation print a line this often".to_owned(),
    }
}

/// Returns facts that may explain a difference between two runs.
fn facts() -> Result<Facts, Failure> {
    let mut facts = vec![("quickjs".to_owned(), quickjs_version())];
    for (name, lanes) in [("engine", 1), ("engine_8", 8), ("engine_16", 16)] {
        let engine =
            engine_for(lanes).map_err(|error| Failure::new("engine", error.to_string()))?;
        facts.push((name.to_owned(), engine.name().to_owned()));
    }
    facts.push(("processors".to_owned(), scripts::processors().to_string()));
    Ok(facts)
}
