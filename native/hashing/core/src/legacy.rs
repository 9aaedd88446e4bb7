//! The call of the first JNI bridge; goes when that bridge has moved to `digest_equal`.

use crate::{Algorithm, BatchError, Choice, Engine, digest_equal};

/// Length of one SHA-256 digest.
pub const DIGEST_BYTES: usize = Algorithm::Sha256.digest_bytes();

/// SHA-256 of equally long messages with the best engine.
///
/// # Errors
/// As [`digest_equal`].
pub fn digest_batch(messages: &[u8], message_bytes: usize, digests: &mut [u8]) -> Result<(), BatchError> {
    digest_equal(Algorithm::Sha256, Choice::Best, messages, message_bytes, digests).map(drop)
}

impl Engine {
    /// The engine of a single message on this CPU.
    #[must_use]
    pub fn detect() -> Self {
        if Self::ShaNi.is_available() { Self::ShaNi } else { Self::Scalar }
    }
}
