//! SHA-256 of many messages of one length that lie one after the other (FIPS 180-4 §6.2).
//!
//! All messages are equally long, so their padding is equal too: it is written once per batch, and each
//! message costs only its compression calls and one copy of its last, incomplete block.

use core::fmt;

use sha2::block_api::compress256;

/// Length of one digest.
pub const DIGEST_BYTES: usize = 32;

const BLOCK_BYTES: usize = 64;
/// The padding's 0x80 byte and 64-bit length need this much room after the last message byte (FIPS 180-4
/// §5.1.1).
const PADDING_MIN_BYTES: usize = 9;
/// First 32 bits of the fractional parts of the square roots of the first eight primes (FIPS 180-4 §5.3.3).
const INITIAL_STATE: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// Why a batch was refused; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// `digests` is not a whole number of digests.
    RaggedDigests {
        /// Its length.
        len: usize,
    },
    /// `messages` does not hold as many messages as `digests` has room for.
    MessagesLength {
        /// Its length.
        len: usize,
        /// What it should be; `None` when that overflows.
        expected: Option<usize>,
    },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RaggedDigests { len } => {
                write!(f, "digests: {len} bytes is not a multiple of {DIGEST_BYTES}")
            }
            Self::MessagesLength { len, expected: Some(expected) } => {
                write!(f, "messages: {len} bytes where the digests ask for {expected}")
            }
            Self::MessagesLength { len, expected: None } => {
                write!(f, "messages: {len} bytes where the digests ask for more than memory can hold")
            }
        }
    }
}

impl core::error::Error for BatchError {}

/// Writes the digest of message i, `messages[i * message_bytes..][..message_bytes]`, to `digests[i *
/// 32..][..32]`.
///
/// The number of messages is `digests.len() / 32`; zero messages and empty messages are fine.
///
/// # Errors
/// When the lengths do not fit each other; nothing is written then.
pub fn digest_batch(messages: &[u8], message_bytes: usize, digests: &mut [u8]) -> Result<(), BatchError> {
    let (digests, ragged) = digests.as_chunks_mut::<DIGEST_BYTES>();
    if !ragged.is_empty() {
        return Err(BatchError::RaggedDigests { len: digests.len() * DIGEST_BYTES + ragged.len() });
    }
    let expected = digests.len().checked_mul(message_bytes);
    if expected != Some(messages.len()) {
        return Err(BatchError::MessagesLength { len: messages.len(), expected });
    }
    let whole_bytes = message_bytes / BLOCK_BYTES * BLOCK_BYTES;
    let rest_bytes = message_bytes - whole_bytes;
    let (mut tail, tail_blocks) = padded_tail(message_bytes, rest_bytes);
    for (i, digest) in digests.iter_mut().enumerate() {
        let message = &messages[i * message_bytes..][..message_bytes];
        let (blocks, rest) = message.as_chunks::<BLOCK_BYTES>();
        tail.as_flattened_mut()[..rest_bytes].copy_from_slice(rest);
        let mut state = INITIAL_STATE;
        compress256(&mut state, blocks);
        compress256(&mut state, &tail[..tail_blocks]);
        for (word, bytes) in state.iter().zip(digest.as_chunks_mut::<4>().0) {
            *bytes = word.to_be_bytes();
        }
    }
    Ok(())
}

/// The last one or two blocks with everything but the message's last `rest_bytes`, and how many they are.
fn padded_tail(message_bytes: usize, rest_bytes: usize) -> ([[u8; BLOCK_BYTES]; 2], usize) {
    let blocks = if rest_bytes + PADDING_MIN_BYTES <= BLOCK_BYTES { 1 } else { 2 };
    let mut tail = [[0; BLOCK_BYTES]; 2];
    let bytes = &mut tail.as_flattened_mut()[..blocks * BLOCK_BYTES];
    bytes[rest_bytes] = 0x80;
    let end = bytes.len();
    bytes[end - 8..].copy_from_slice(&(message_bytes as u64 * 8).to_be_bytes());
    (tail, blocks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest, Sha256};

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        use fmt::Write;
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    fn one(message: &[u8]) -> String {
        let mut digest = [0; DIGEST_BYTES];
        digest_batch(message, message.len(), &mut digest).expect("lengths fit");
        hex(&digest)
    }

    /// FIPS 180-4 examples (NIST "SHA256.pdf") and the empty message of CAVP's `SHA256ShortMsg`.
    #[test]
    fn published_vectors_hold() {
        assert_eq!(one(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(one(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            one(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(
            one(&vec![b'a'; 1_000_000]),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
    }

    #[test]
    fn every_length_up_to_300_equals_the_one_message_api() {
        let bytes: Vec<u8> = (0..=255).cycle().take(300).collect();
        for len in 0..=300 {
            assert_eq!(one(&bytes[..len]), hex(&Sha256::digest(&bytes[..len])), "length {len}");
        }
    }

    #[test]
    fn wrong_lengths_are_refused_and_write_nothing() {
        let mut digests = [7; 64];
        assert_eq!(
            digest_batch(&[0; 127], 64, &mut digests),
            Err(BatchError::MessagesLength { len: 127, expected: Some(128) })
        );
        assert_eq!(
            digest_batch(&[0; 128], 64, &mut digests[..63]),
            Err(BatchError::RaggedDigests { len: 63 })
        );
        assert_eq!(
            digest_batch(&[], usize::MAX, &mut digests),
            Err(BatchError::MessagesLength { len: 0, expected: None })
        );
        assert_eq!(digests, [7; 64]);
    }

    proptest! {
        #[test]
        fn a_batch_equals_its_messages_one_by_one(
            message_bytes in 0_usize..200,
            count in 0_usize..20,
            seed in any::<u8>(),
            offset in 0_usize..8,
        ) {
            let pattern = (0..=250).cycle().map(|byte| byte ^ seed);
            let bytes: Vec<u8> = pattern.take(offset + message_bytes * count).collect();
            let messages = &bytes[offset..]; // unaligned on purpose
            let mut digests = vec![0; count * DIGEST_BYTES];
            digest_batch(messages, message_bytes, &mut digests).expect("lengths fit");
            for i in 0..count {
                let alone = Sha256::digest(&messages[i * message_bytes..][..message_bytes]);
                prop_assert_eq!(&digests[i * DIGEST_BYTES..][..DIGEST_BYTES], alone.as_slice());
            }
        }
    }
}
