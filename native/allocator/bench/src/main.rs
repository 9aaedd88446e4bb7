//! The workload `allocators`: the same operations by several allocators, each in a process of its
//! own.
//!
//! It starts one subject process per arm (`subject/`, in C, which contains every timed call) and
//! asks them in turn for rounds, so arms that cannot share a process are still interleaved. Read
//! [`arms`], [`subject`], [`plan`] (a round), [`mixed`] and [`traces`] (benchmarks), [`processes`]
//! and [`programs`] (real programs), [`checks`].
//!
//! One subject works while the others wait. Every arm does the same operations, proven by a digest.
//! Settings that matter (huge pages, CPU, length of the environment, place of the slots) are equal
//! for all arms of a group.

mod arms;
mod checks;
mod mixed;
mod plan;
mod processes;
mod programs;
mod subject;
mod traces;

use std::process::ExitCode;

use paceline_harness::Workload;

fn main() -> ExitCode {
    let mut benchmarks = mixed::benchmarks();
    benchmarks.extend(traces::benchmarks());
    benchmarks.extend(programs::benchmarks());
    Workload {
        suite: "allocator".to_owned(),
        name: "allocators".to_owned(),
        benchmarks,
        knobs: vec![],
        open: Box::new(arms::facts),
        checks: Box::new(checks::blocks_intact),
    }
    .main()
}
