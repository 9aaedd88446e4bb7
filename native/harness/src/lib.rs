//! Clock, rounds, interleaving and bench stream for Rust workloads.
//!
//! A workload describes its benchmarks as a [`Workload`]; [`Workload::main`] reads the command line
//! of `native/protocol/README.md`, measures, and prints the bench stream (C1). Read in this order:
//! [`workload`] (the vocabulary), [`session`] (a launch), [`sampler`] (the timed loop), [`order`],
//! [`clock`], [`fence`].
//!
//! Arms of a block run next to each other with one loop count in a seeded, balanced order (I2).
//! Nothing is written inside a timed region, and timed code cannot name the emitter (I3).
//! Statistics and judgement are the server's.

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
