//! Digests for the hashing suite: what the JNI bridge calls and nothing that knows a JVM.
//!
//! Place in the journey: the work inside the timed region of the `native` arm.
//! Invariant: every function here is safe to call with any input; wrong sizes are errors, never panics.
//! Absent on purpose: allocation, threads, I/O.

pub mod batch;
pub mod engine;

pub use batch::{BatchError, DIGEST_BYTES, digest_batch};
pub use engine::Engine;
