//! The interface to whoever hashes for a script outside this crate: each method is one transport of
//! bytes.
//!
//! The script chooses the transport by the function it calls. Hashing in this process needs no
//! hasher: `bindings` and `workers` call the core themselves.

use std::ptr::NonNull;

use crate::failure::Failure;

/// Length of a SHA-1 digest in bytes (FIPS 180-4).
pub const DIGEST_BYTES: usize = 20;
/// A SHA-1 digest.
pub type Digest = [u8; DIGEST_BYTES];

/// Who hashes when a script asks for somebody else than the core, and where its log goes. Called on the JS
/// thread and, by `direct` alone, on workers.
pub trait Hasher: Send + Sync {
    /// The seed's way: the bytes copied into an array made for them.
    ///
    /// # Errors
    /// Why the piece was not hashed; so for every way.
    fn copied(&self, bytes: &[u8]) -> Result<Digest, Failure>;

    /// The same with one array kept for all calls.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    fn reused(&self, bytes: &[u8]) -> Result<Digest, Failure>;

    /// No copy on this side: the bytes where they lie.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    ///
    /// # Safety
    /// The memory stays mapped and unwritten during the call.
    unsafe fn direct(&self, start: NonNull<u8>, bytes: usize) -> Result<Digest, Failure>;

    /// One call for many pieces, each copied; one digest per piece.
    ///
    /// # Errors
    /// As [`Hasher::copied`].
    fn batch(&self, pieces: &[&[u8]]) -> Result<Vec<Digest>, Failure>;

    /// A line for the log.
    ///
    /// # Errors
    /// Why it was not written.
    fn log(&self, line: &str) -> Result<(), Failure>;
}
