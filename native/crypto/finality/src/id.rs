//! Identifies a block by its hash.

use std::fmt;

/// A block's hash. Its 32 bytes are uniform already, so tables use them without hashing again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct BlockId(pub [u8; 32]);

/// An id as four 64-bit words, little endian, as the index compares them.
pub(crate) type Words = [u64; 4];

impl BlockId {
    #[inline]
    pub(crate) fn words(&self) -> Words {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(self.0.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        words
    }

    pub(crate) fn of_words(words: Words) -> Self {
        let mut id = [0; 32];
        for (bytes, word) in id.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        Self(id)
    }
}

impl fmt::Debug for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
