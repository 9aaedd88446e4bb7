//! The workload `finality`: is this block final, asked of four structures that know it.
//!
//! A process of its own (`main.rs`); its arms also run under criterion (`benches/`). Arms of a
//! group hold the same blocks and get the same questions in the same order, with one loop around
//! each. An empty loop is an arm of its own, so that a figure that is no work shows.
#[cfg_attr(target_env = "musl", path = "functions_linked.rs")]
mod functions;
mod ids;
mod library;
mod memory;
mod rivals;
mod single;
mod subjects;
mod threads;

use paceline_harness::Workload;

/// All of it.
#[must_use]
pub fn workload() -> Workload {
    Workload {
        suite: "crypto".to_owned(),
        name: "finality".to_owned(),
        benchmarks: vec![
            single::finality_check(),
            single::finality_flat(),
            single::finality_unknown(),
            single::finality_latency(),
            library::finality_ffi(),
            threads::finality_readers(),
        ],
        knobs: vec![],
        open: Box::new(library::facts),
        checks: Box::new(|| vec![library::answers()]),
    }
}
