//! Clock, rounds, interleaving and bench stream for Rust workloads.
//!
//! Place in the journey: the first step, inside the benchmark's own process. A workload describes what it
//! offers as a [`Workload`]; [`Workload::main`] reads the command line of `native/protocol/README.md`,
//! measures, and prints the bench stream (C1). Read in this order: [`workload`] (the vocabulary), [`session`]
//! (a launch, start to terminal), [`sampler`] (the timed loop), [`order`], [`clock`], [`fence`].
//!
//! Invariants: arms of a block run next to each other with one loop count in a seeded, balanced order (I2);
//! nothing is written inside a timed region, and timed code cannot name the emitter (I3). Absent on purpose:
//! statistics, outlier removal, any judgement; the server does that from stored samples.

pub mod clock;
mod emit;
pub mod event;
pub mod fence;
mod fields;
pub mod options;
pub mod order;
pub mod reader;
pub mod sampler;
pub mod selection;
pub mod session;
pub mod workload;

pub use event::{Check, Direction, Event, Metric, Phase, Unit, Value};
pub use workload::{Arm, Benchmark, Context, Failure, Knob, Param, Prepared, Reading, Workload};
