//! The only place that names synchronisation: `tests/interleavings.rs` compiles `index.rs` with loom's twins
//! of these types in their place, and so explores the code that ships.

pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, OnceLock};
