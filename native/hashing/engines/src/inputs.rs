//! The messages that a group digests, drawn from the seed before anything is timed.

use paceline_harness::order::SplitMix64;
use paceline_hashing_core::{Algorithm, BatchError, Choice, Engine, digest_buffers, digest_ragged};

/// Real fingerprints of the ledger have 147 to 151 bytes; messages of 150 bytes vary likewise.
pub(crate) const FINGERPRINT_BYTES: u64 = 150;
const FINGERPRINT_SHORTEST: u64 = 147;
const FINGERPRINT_LENGTHS: u64 = 5;

/// The messages of one iteration.
pub(crate) struct Messages {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    /// Each in an allocation of its own, like pieces from a network; empty if messages are in
    /// `bytes`.
    buffers: Vec<Vec<u8>>,
}

impl Messages {
    /// `count` messages of `bytes` bytes one after the other; fingerprints vary in length.
    pub(crate) fn batch(count: u64, bytes: u64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut offsets = vec![0];
        let mut end = 0_u64;
        for _ in 0..count {
            let ragged = bytes == FINGERPRINT_BYTES;
            end += if ragged {
                FINGERPRINT_SHORTEST + random.draw() % FINGERPRINT_LENGTHS
            } else {
                bytes
            };
            offsets.push(u32::try_from(end).unwrap_or(u32::MAX));
        }
        Self {
            bytes: drawn(end, &mut random),
            offsets,
            buffers: Vec::new(),
        }
    }

    /// `count` separate buffers of `bytes` bytes.
    pub(crate) fn scattered(count: u64, bytes: u64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let buffers = (0..count).map(|_| drawn(bytes, &mut random)).collect();
        Self {
            bytes: Vec::new(),
            offsets: vec![0],
            buffers,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.offsets.len() - 1 + self.buffers.len()
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.iter().map(|message| message.len() as u64).sum()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All messages, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let batch = self
            .offsets
            .windows(2)
            .map(|pair| &self.bytes[pair[0] as usize..pair[1] as usize]);
        batch.chain(self.buffers.iter().map(Vec::as_slice))
    }

    /// All buffers as slices, for arms to keep.
    pub(crate) fn buffers(&self) -> Vec<&[u8]> {
        self.buffers.iter().map(Vec::as_slice).collect()
    }

    /// Digests all messages by the core.
    pub(crate) fn digest(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        if self.buffers.is_empty() {
            return digest_ragged(algorithm, choice, &self.bytes, &self.offsets, digests);
        }
        digest_buffers(algorithm, choice, &self.buffers(), digests)
    }
}

fn drawn(bytes: u64, random: &mut SplitMix64) -> Vec<u8> {
    (0..bytes).map(|_| random.draw().to_be_bytes()[0]).collect()
}
