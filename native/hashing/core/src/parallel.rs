//! Digests on several threads.

use crate::batch::{BatchError, Choice, digest_buffers, digest_equal, digest_ragged};
use crate::{Algorithm, Engine};

/// Parked worker threads that help the calling thread.
#[derive(Debug)]
pub struct Crew {
    threads: usize,
}

impl Crew {
    /// A crew of `threads` threads, the caller counted in; at least one.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        Ok(Self { threads: threads.max(1) })
    }

    /// How many threads digest, the caller counted in.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// [`digest_equal`](crate::digest_equal) on the crew.
    ///
    /// # Errors
    /// As there.
    pub fn digest_equal(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        messages: &[u8],
        message_bytes: usize,
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        digest_equal(algorithm, choice, messages, message_bytes, digests)
    }

    /// [`digest_ragged`](crate::digest_ragged) on the crew.
    ///
    /// # Errors
    /// As there.
    pub fn digest_ragged(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        messages: &[u8],
        offsets: &[u32],
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        digest_ragged(algorithm, choice, messages, offsets, digests)
    }

    /// [`digest_buffers`](crate::digest_buffers) on the crew.
    ///
    /// # Errors
    /// As there.
    pub fn digest_buffers(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        buffers: &[&[u8]],
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        digest_buffers(algorithm, choice, buffers, digests)
    }
}
