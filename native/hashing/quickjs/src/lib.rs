//! A `QuickJS` runtime whose scripts hash pieces, by a [`Hasher`] outside this crate or natively.
//!
//! JavaScript calls `NativeHasher.sha1(data)`; this crate carries the bytes to a [`Hasher`] (in the
//! JVM's process that is Kotlin: `quickjs-jni`) or digests them with `paceline-hashing-core`, and
//! carries the digest back. Read in this order: `host` (runtime and job loop), `bindings` (what
//! JavaScript may call), `hasher` (the interface), `workers` (hashing beside the JS thread),
//! `bytes` (the only module that reads a script's memory).
//!
//! A host stays on the thread that opened it and is never re-entered. No panic and no JavaScript
//! error leaves except as a [`Leaving`]. A script's memory is read only while the script cannot
//! free it. Benchmarks are scripts (`js/`) and their callers; nothing here knows them.

mod bindings;
mod bytes;
mod clock;
mod failure;
mod hasher;
mod host;
mod pending_pieces;
mod workers;

use paceline_hashing_core::{Algorithm, BatchError, Choice, Engine, digest_buffers};

pub use bindings::MOST_PIECES_PER_CALL;
pub use clock::thread_cpu_ns;
pub use failure::{Cause, Failure, Leaving};
pub use hasher::{DIGEST_BYTES, Digest, Hasher};
pub use host::{Argument, Host, Running, Threads, quickjs_version};

/// The engine that hashes so many pieces at once.
///
/// # Errors
/// When the core has none for them.
pub fn engine_for(pieces: usize) -> Result<Engine, BatchError> {
    // Long enough that no engine is chosen for being quick to start.
    let piece = vec![0_u8; 4096];
    let pieces = vec![piece.as_slice(); pieces];
    let mut digests = vec![0_u8; pieces.len() * Algorithm::Sha1.digest_bytes()];
    digest_buffers(Algorithm::Sha1, Choice::Best, &pieces, &mut digests)
}
