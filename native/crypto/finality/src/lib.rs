//! A graph of blocks that become final by weight, and a fast answer to: is this block final?
//!
//! Read in this order: [`BlockGraph`], `state` (the writer's side: which transitions are allowed),
//! `index` (the readers' side: one cache line per answer), [`snapshot`](BlockGraph::snapshot) (its
//! bytes).
//!
//! What is final stays final, so the readers' index only grows. Whoever sees a block final sees its
//! ancestors final. Nothing is inserted that does not build on the last final block. `unsafe`
//! occurs twice: advice to the system (`pages`) and the pointer to the current table (`index`). An
//! attestation's weight is taken at the caller's word.

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
