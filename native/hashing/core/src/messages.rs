//! Where the messages of a batch lie: three shapes, one view.
//!
//! Invariant: a view is made only by a function that has checked every bound, so `get` of an index below
//! `count` never fails. Nothing is copied.

use crate::batch::BatchError;

/// The messages of one call, whatever their shape.
pub(crate) trait Messages {
    /// How many there are.
    fn count(&self) -> usize;
    /// Message `i`; `i` is less than `count`.
    fn get(&self, i: usize) -> &[u8];
}

/// Messages of one length, one after the other.
pub(crate) struct Equal<'a> {
    bytes: &'a [u8],
    message_bytes: usize,
    count: usize,
}

impl<'a> Equal<'a> {
    pub(crate) fn new(bytes: &'a [u8], message_bytes: usize, count: usize) -> Result<Self, BatchError> {
        let expected = count.checked_mul(message_bytes);
        if expected != Some(bytes.len()) {
            return Err(BatchError::MessagesLength { len: bytes.len(), expected });
        }
        Ok(Self { bytes, message_bytes, count })
    }
}

impl Messages for Equal<'_> {
    fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.message_bytes..][..self.message_bytes]
    }
}

/// Messages of any lengths, one after the other; message `i` begins at offset `i` and ends at offset `i + 1`.
pub(crate) struct Ragged<'a> {
    bytes: &'a [u8],
    offsets: &'a [u32],
}

impl<'a> Ragged<'a> {
    pub(crate) fn new(bytes: &'a [u8], offsets: &'a [u32], count: usize) -> Result<Self, BatchError> {
        if offsets.len().checked_sub(1) != Some(count) {
            return Err(BatchError::OffsetsLength { len: offsets.len(), messages: count });
        }
        if let Some(i) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(BatchError::OffsetDescends { index: i + 1 });
        }
        let end = offsets[count] as usize;
        if end > bytes.len() {
            return Err(BatchError::MessagesLength { len: bytes.len(), expected: Some(end) });
        }
        Ok(Self { bytes, offsets })
    }
}

impl Messages for Ragged<'_> {
    fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        &self.bytes[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// Messages that lie anywhere.
pub(crate) struct Scattered<'a>(pub(crate) &'a [&'a [u8]]);

impl Messages for Scattered<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        self.0[i]
    }
}
