//! The only place that names synchronisation: `tests/interleavings.rs` compiles `index.rs` with loom's twins
//! of these types in their place, and so explores the code that ships.

pub(crate) use std::sync::OnceLock;
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
