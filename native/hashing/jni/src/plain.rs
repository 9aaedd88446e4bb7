//! The batch calls with C signatures, for the foreign-function API of Java 22 and later.
//!
//! Every argument is a 64-bit integer, so that code compiled for Java 17 can call them by a method
//! handle without naming a type of that API. The result is the number of the engine that did most
//! of the batch, or [`REFUSED`] or [`PANICKED`].

use std::panic::catch_unwind;

use jni::sys::jint;
use paceline_hashing_jni_guard::{Refusal, Region};

use crate::buffers::Batch;

/// Sizes, offsets or the engine are invalid; nothing was written.
const REFUSED: jint = -1;
/// A bug; the contents of the digests are undefined.
const PANICKED: jint = -2;

/// Digests equally long messages: `digests_bytes / 32` of them, `message_bytes` each.
///
/// # Safety
/// `messages` and `digests` are addresses of that many mapped bytes, which no other thread writes (the
/// second: nor reads) meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_sha256_equal(
    messages: i64,
    total_bytes: i64,
    message_bytes: i64,
    digests: i64,
    digests_bytes: i64,
    engine: i64,
) -> jint {
    answer(|| {
        let batch = Batch {
            messages: region("messages", messages, total_bytes)?,
            offsets: None,
            message_bytes: usize::try_from(message_bytes).map_err(Refusal::argument)?,
            digests: region("digests", digests, digests_bytes)?,
        };
        // SAFETY: the caller's promise.
        unsafe { batch.digest(engine) }
    })
}

/// Digests messages between consecutive `offsets`: `offsets_bytes / 4 - 1` of them.
///
/// # Safety
/// As [`paceline_sha256_equal`]; `offsets` likewise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_sha256_ragged(
    messages: i64,
    total_bytes: i64,
    offsets: i64,
    offsets_bytes: i64,
    digests: i64,
    digests_bytes: i64,
    engine: i64,
) -> jint {
    answer(|| {
        let batch = Batch {
            messages: region("messages", messages, total_bytes)?,
            offsets: Some(region("offsets", offsets, offsets_bytes)?),
            message_bytes: 0,
            digests: region("digests", digests, digests_bytes)?,
        };
        // SAFETY: the caller's promise.
        unsafe { batch.digest(engine) }
    })
}

fn region(name: &str, address: i64, bytes: i64) -> Result<Region, Refusal> {
    let address = usize::try_from(address).map_err(Refusal::argument)?;
    let bytes = usize::try_from(bytes).map_err(Refusal::argument)?;
    Region::at(name, std::ptr::with_exposed_provenance_mut(address), bytes)
}

fn answer(digest: impl FnOnce() -> Result<jint, Refusal> + std::panic::UnwindSafe) -> jint {
    catch_unwind(digest).map_or(PANICKED, |done| done.unwrap_or(REFUSED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_sizes_are_refused_without_touching_memory() {
        // SAFETY: every call is refused before it touches its invalid memory.
        let refused = unsafe {
            [
                paceline_sha256_equal(0, 64, 64, 4096, 32, 0),
                paceline_sha256_equal(4096, 63, 64, 8192, 32, 0),
                paceline_sha256_equal(4096, 64, -1, 8192, 32, 0),
                paceline_sha256_equal(-4096, 64, 64, 8192, 32, 0),
                paceline_sha256_equal(4096, i64::MAX, 64, 8192, 32, 0),
                paceline_sha256_equal(4096, 64, 64, 4100, 32, 0),
                paceline_sha256_equal(4096, 64, 64, 8192, 32, 99),
                paceline_sha256_ragged(4096, 64, 8192, 7, 16384, 32, 0),
                paceline_sha256_ragged(4096, 64, 8193, 8, 16384, 32, 0),
            ]
        };
        assert_eq!(refused, [REFUSED; 9]);
    }

    #[test]
    fn both_shapes_give_the_digests_of_the_standard() {
        let messages = *b"abcabc";
        let offsets = [0_u32, 3, 6];
        let address =
            |bytes: *const u8| i64::try_from(bytes.expose_provenance()).expect("an address");
        let mut equal = [0_u8; 64];
        let mut ragged = [0_u8; 64];
        let from = address(messages.as_ptr());
        // SAFETY: the arrays exist and have these lengths.
        let engines = unsafe {
            [
                paceline_sha256_equal(from, 6, 3, address(equal.as_mut_ptr()), 64, 0),
                paceline_sha256_ragged(
                    from,
                    6,
                    address(offsets.as_ptr().cast()),
                    12,
                    address(ragged.as_mut_ptr()),
                    64,
                    0,
                ),
            ]
        };
        assert!(engines.iter().all(|engine| *engine > 0), "{engines:?}");
        assert_eq!(equal, ragged);
        // FIPS 180-4, "abc"
        assert_eq!(equal[..8], [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea]);
    }
}
