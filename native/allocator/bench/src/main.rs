//! The workload `allocators`: the same operations by several allocators, each in a process of its own.
//!
//! Place in the journey: the agent starts it and reads its stream; it starts one subject (`subject/`, in C,
//! where every timed call of malloc and free is) per arm and launch, and asks them in turn for rounds, so
//! that arms that cannot share a process are interleaved by round all the same. Read in this order: [`arms`]
//! (what can be measured and how it is started), [`subject`] (a process and its answers), [`plan`] (what a
//! round is), [`mixed`] and [`traces`] (the benchmarks), [`processes`] and [`programs`] (those that run other
//! people's programs), [`checks`].
//!
//! Invariants: one subject works while all others wait; every arm does the same operations, which each group
//! shows by a digest; settings that decide (huge pages, CPU, length of the environment, place of the slots)
//! are equal for all arms of a group. Absent on purpose: judgement of any figure, and any allocation that is
//! timed.

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
