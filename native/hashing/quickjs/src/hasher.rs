//! The interface to a hasher outside this crate: each method is one way to pass bytes.
//!
//! The script chooses the way by the function it calls. Hashing in this process needs no hasher:
//! `bindings` and `workers` call the core themselves.

use std::ptr::NonNull;

use crate::failure::Failure;

/// Length of a SHA-1 digest in bytes (FIPS 180-4).
pub const DIGEST_BYTES: usize = 20;
/// A SHA-1 digest.
pub type Digest = [u8; DIGEST_BYTES];

/// Hashes pieces outside the core and writes the log. Called on the JS thread and, by `direct`
/// only, on workers.
pub trait Hasher: Send + Sync {
    /// As in the original product: the bytes are copied into a new array.
    ///
    /// # Errors
    /// Why the piece was not hashed; the same for all methods.
    fn copied(&self, bytes: &[u8]) -> Result<Digest, Failure>;

    /// Copies into one array for all calls.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    fn reused(&self, bytes: &[u8]) -> Result<Digest, Failure>;

    /// No copy on this side.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    ///
    /// # Safety
    /// The memory stays mapped and unwritten during the call.
    unsafe fn direct(&self, start: NonNull<u8>, bytes: usize) -> Result<Digest, Failure>;

    /// One call for many pieces, each copied; returns one digest per piece.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    fn batch(&self, pieces: &[&[u8]]) -> Result<Vec<Digest>, Failure>;

    /// Writes a line to the log.
    ///
    /// # Errors
    /// Why it was not written.
    fn log(&self, line: &str) -> Result<(), Failure>;
}
