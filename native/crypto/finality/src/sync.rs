//! The only module that names synchronisation types.
//!
//! `tests/interleavings.rs` compiles `index.rs` with loom's types in their place, and so explores
//! the code that ships.

pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, OnceLock};
