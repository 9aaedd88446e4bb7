//! A graph of blocks that become final by weight, and the question asked of it most: is this block final?
//!
//! Place in the journey: the product code of the crypto suite, before anything is measured. Read in this
//! order: [`BlockGraph`] (what it does), `state` (the writer's side: which transitions are allowed), `index`
//! (the readers' side: one cache line per answer), [`snapshot`](BlockGraph::snapshot) (its bytes).
//!
//! Invariants: what is final stays final, so the readers' index only grows; whoever sees a block final sees
//! all its ancestors final; nothing is ever inserted that does not build on the last final block. `unsafe` is
//! twice: advice to the system (`pages`), and the pointer to the table in use (`index`). Absent
//! on purpose: networking, signatures (an attestation's weight is taken at its caller's word), clocks.

#![deny(unsafe_code)]

mod error;
mod graph;
mod id;
mod index;
mod pages;
mod snapshot;
mod state;
mod sync;

pub use error::{GraphError, SnapshotError};
pub use graph::{BlockGraph, Finalised, Status};
pub use id::BlockId;

/// The most parents a block may name: what a merge of a few branches needs, and a bound for every parser.
pub const PARENTS_MAX: usize = 16;
