//! Digests for the hashing suite, without a JVM or a JavaScript engine.
//!
//! This is the work inside the timed region of every native arm. Read in this order: `batch` (the
//! calls), `messages` (where messages are), `dispatch` (which engine and why), `scalar` (the
//! functions as the standard writes them), then the kernels. Every function is safe for any input:
//! wrong sizes are errors, never panics. Nothing is allocated, and there is no incremental hashing.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        reason = "only x86-64 has kernels over lanes so far"
    )
)]

mod algorithm;
#[cfg(target_arch = "aarch64")]
mod armv8;
mod batch;
mod dispatch;
mod engine;
mod lanes;
mod messages;
mod order;
mod panic;
pub mod parallel;
mod plan;
mod scalar;
mod streams;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use algorithm::Algorithm;
pub use batch::{BatchError, Choice, digest_buffers, digest_equal, digest_ragged};
pub use engine::Engine;
pub use panic::panic_text;
