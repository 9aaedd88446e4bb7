//! The two hash functions of FIPS 180-4 that the suite measures, and what their kernels share.
//!
//! Both work on 64-byte blocks of big-endian 32-bit words and pad alike (§5.1.1), so one
//! description of lengths and tails serves both.

/// Bytes of one block of either function (FIPS 180-4 §1, figure 1).
pub(crate) const BLOCK_BYTES: usize = 64;
/// The bytes that the padding needs after a message: 0x80 and the 64-bit length (FIPS 180-4
/// §5.1.1).
const PADDING_MIN_BYTES: usize = 9;
/// Words of the longer of the two states; SHA-1 uses the first five.
pub(crate) const STATE_WORDS: usize = 8;

/// One block.
pub(crate) type Block = [u8; BLOCK_BYTES];

/// The words of one chaining value, in the order of FIPS 180-4.
pub(crate) type State = [u32; STATE_WORDS];

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// FIPS 180-4 §6.1. Only for formats that require it: collisions are practical.
    Sha1,
    /// FIPS 180-4 §6.2.
    Sha256,
}

impl Algorithm {
    /// Length of one digest.
    #[must_use]
    pub const fn digest_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The name in results, in `snake_case`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }

    /// FIPS 180-4 §5.3.1 and §5.3.3; the three words that SHA-1 does not have are zero.
    pub(crate) const fn initial_state(self) -> State {
        match self {
            Self::Sha1 => [
                0x6745_2301,
                0xefcd_ab89,
                0x98ba_dcfe,
                0x1032_5476,
                0xc3d2_e1f0,
                0,
                0,
                0,
            ],
            Self::Sha256 => [
                0x6a09_e667,
                0xbb67_ae85,
                0x3c6e_f372,
                0xa54f_f53a,
                0x510e_527f,
                0x9b05_688c,
                0x1f83_d9ab,
                0x5be0_cd19,
            ],
        }
    }
}

/// The last one or two blocks of a message: its last bytes, 0x80, zeros and its length in bits
/// (§5.1.1).
pub(crate) struct Tail {
    blocks: [[u8; BLOCK_BYTES]; 2],
    count: usize,
}

impl Tail {
    /// Makes the tail of `message` by copying its last incomplete block.
    pub(crate) fn of(message: &[u8]) -> Self {
        let (_, rest) = message.as_chunks::<BLOCK_BYTES>();
        let count = if rest.len() + PADDING_MIN_BYTES <= BLOCK_BYTES {
            1
        } else {
            2
        };
        let mut blocks = [[0; BLOCK_BYTES]; 2];
        let bytes = &mut blocks.as_flattened_mut()[..count * BLOCK_BYTES];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes[rest.len()] = 0x80;
        let end = bytes.len();
        bytes[end - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
        Self { blocks, count }
    }

    /// The blocks to compress after the message's whole blocks.
    pub(crate) fn blocks(&self) -> &[[u8; BLOCK_BYTES]] {
        &self.blocks[..self.count]
    }
}

/// The number of blocks of a message of `bytes` bytes with its padding.
pub(crate) const fn padded_blocks(bytes: usize) -> usize {
    bytes / BLOCK_BYTES
        + if bytes % BLOCK_BYTES + PADDING_MIN_BYTES <= BLOCK_BYTES {
            1
        } else {
            2
        }
}
