//! Describes where the messages of a batch are, in three layouts, and where their digests go.
//!
//! A value is made only after all bounds were checked, so message `i` exists for every `i` below
//! `count`. Nothing is copied.

use crate::algorithm::{Algorithm, State, padded_blocks};
use crate::batch::BatchError;
use crate::lanes::Row;

/// The messages of one call.
#[derive(Clone, Copy)]
pub(crate) enum Messages<'a> {
    /// Messages of equal length, one after the other.
    Equal {
        bytes: &'a [u8],
        message_bytes: usize,
        count: usize,
    },
    /// Messages of any length, one after the other: message i begins at offset i and ends at offset i + 1.
    Ragged { bytes: &'a [u8], offsets: &'a [u32] },
    /// Messages anywhere in memory.
    Scattered(&'a [&'a [u8]]),
}

impl<'a> Messages<'a> {
    pub(crate) fn equal(
        bytes: &'a [u8],
        message_bytes: usize,
        count: usize,
    ) -> Result<Self, BatchError> {
        let expected = count.checked_mul(message_bytes);
        if expected != Some(bytes.len()) {
            return Err(BatchError::MessagesLength {
                len: bytes.len(),
                expected,
            });
        }
        Ok(Self::Equal {
            bytes,
            message_bytes,
            count,
        })
    }

    pub(crate) fn ragged(
        bytes: &'a [u8],
        offsets: &'a [u32],
        count: usize,
    ) -> Result<Self, BatchError> {
        if offsets.len().checked_sub(1) != Some(count) {
            return Err(BatchError::OffsetsLength {
                len: offsets.len(),
                messages: count,
            });
        }
        if let Some(i) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(BatchError::OffsetDescends { index: i + 1 });
        }
        let end = offsets[count] as usize;
        if end > bytes.len() {
            return Err(BatchError::MessagesLength {
                len: bytes.len(),
                expected: Some(end),
            });
        }
        Ok(match common_length(offsets) {
            Some(message_bytes) => Self::Equal {
                bytes: &bytes[offsets[0] as usize..end],
                message_bytes,
                count,
            },
            None => Self::Ragged { bytes, offsets },
        })
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Equal { count, .. } => *count,
            Self::Ragged { offsets, .. } => offsets.len() - 1,
            Self::Scattered(buffers) => buffers.len(),
        }
    }

    /// Messages `first` to `first + N`, which is at most `count`.
    #[inline]
    pub(crate) fn group<const N: usize>(&self, first: usize) -> [&'a [u8]; N] {
        match self {
            Self::Equal {
                bytes,
                message_bytes,
                ..
            } => {
                let bytes = &bytes[first * message_bytes..][..N * message_bytes];
                core::array::from_fn(|lane| &bytes[lane * message_bytes..][..*message_bytes])
            }
            Self::Ragged { bytes, offsets } => {
                let offsets = &offsets[first..=first + N];
                core::array::from_fn(|lane| {
                    &bytes[offsets[lane] as usize..offsets[lane + 1] as usize]
                })
            }
            Self::Scattered(buffers) => core::array::from_fn(|lane| buffers[first + lane]),
        }
    }

    /// The length of every message, if the layout has one.
    pub(crate) fn message_bytes(&self) -> Option<usize> {
        match self {
            Self::Equal { message_bytes, .. } => Some(*message_bytes),
            Self::Ragged { .. } | Self::Scattered(_) => None,
        }
    }

    /// The number of blocks of each of messages `from` to `to` with its padding, if it is the same
    /// for all.
    pub(crate) fn common_blocks(&self, from: usize, to: usize) -> Option<usize> {
        let first = padded_blocks(self.bytes(from));
        let alike = match self {
            Self::Equal { .. } => true,
            Self::Ragged { offsets, .. } => {
                // No early end and no branch, so that the compiler compares several at once.
                let other = offsets[from..=to].windows(2).fold(0, |other, pair| {
                    other | (padded_blocks((pair[1] - pair[0]) as usize) ^ first)
                });
                other == 0
            }
            Self::Scattered(buffers) => buffers[from..to]
                .iter()
                .all(|buffer| padded_blocks(buffer.len()) == first),
        };
        alike.then_some(first)
    }

    /// The length of message `i`, which is less than `count`.
    #[inline]
    pub(crate) fn bytes(&self, i: usize) -> usize {
        match self {
            Self::Equal { message_bytes, .. } => *message_bytes,
            Self::Ragged { offsets, .. } => (offsets[i + 1] - offsets[i]) as usize,
            Self::Scattered(buffers) => buffers[i].len(),
        }
    }

    /// Message `i`, which is less than `count`.
    #[inline]
    pub(crate) fn get(&self, i: usize) -> &'a [u8] {
        match self {
            Self::Equal {
                bytes,
                message_bytes,
                ..
            } => &bytes[i * message_bytes..][..*message_bytes],
            Self::Ragged { bytes, offsets } => &bytes[offsets[i] as usize..offsets[i + 1] as usize],
            Self::Scattered(buffers) => buffers[i],
        }
    }

    /// Messages `from` to `to`, which is at most `count`.
    pub(crate) fn range(&self, from: usize, to: usize) -> Self {
        match self {
            Self::Equal {
                bytes,
                message_bytes,
                ..
            } => {
                let bytes = &bytes[from * message_bytes..to * message_bytes];
                Self::Equal {
                    bytes,
                    message_bytes: *message_bytes,
                    count: to - from,
                }
            }
            Self::Ragged { bytes, offsets } => Self::Ragged {
                bytes,
                offsets: &offsets[from..=to],
            },
            Self::Scattered(buffers) => Self::Scattered(&buffers[from..to]),
        }
    }
}

/// Returns the length of every message, if there are any and all are equally long. Offsets ascend.
fn common_length(offsets: &[u32]) -> Option<usize> {
    let first = offsets.get(1)? - offsets[0];
    // No early end and no branch, so that the compiler compares several at once.
    let other = offsets
        .windows(2)
        .fold(0, |other, pair| other | ((pair[1] - pair[0]) ^ first));
    (other == 0).then_some(first as usize)
}

/// The memory for the digest of each message.
pub(crate) enum Places<'a> {
    Sha1(&'a mut [[u8; 20]]),
    Sha256(&'a mut [[u8; 32]]),
}

impl<'a> Places<'a> {
    /// The positions in `digests`, which has a whole number of them.
    pub(crate) fn of(algorithm: Algorithm, digests: &'a mut [u8]) -> Self {
        match algorithm {
            Algorithm::Sha1 => Self::Sha1(digests.as_chunks_mut().0),
            Algorithm::Sha256 => Self::Sha256(digests.as_chunks_mut().0),
        }
    }

    /// Writes a digest that a kernel over lanes computed.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, row: &Row) {
        match self {
            Self::Sha1(places) => places[place].copy_from_slice(&row[..20]),
            Self::Sha256(places) => places[place] = *row,
        }
    }

    /// Lets `write` write the digests of consecutive messages.
    #[inline]
    pub(crate) fn fill<const N: usize>(&mut self, first: usize, write: impl FnOnce(&mut [Row; N])) {
        match self {
            Self::Sha1(places) => {
                let mut rows = [[0; 32]; N];
                write(&mut rows);
                for (place, row) in places[first..first + N].iter_mut().zip(&rows) {
                    place.copy_from_slice(&row[..20]);
                }
            }
            Self::Sha256(places) => {
                if let Some(rows) = places[first..].first_chunk_mut() {
                    write(rows);
                }
            }
        }
    }

    /// Writes the digest of a message that is finished.
    #[inline]
    pub(crate) fn put_state(&mut self, place: usize, state: &State) {
        let mut row = [0; 32];
        for (word, bytes) in state.iter().zip(row.as_chunks_mut::<4>().0) {
            *bytes = word.to_be_bytes();
        }
        self.put(place, &row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_at_equal_distances_are_messages_of_one_length() {
        let bytes: Vec<u8> = (0..40).collect();
        for (offsets, length) in [
            (&[3, 13, 23, 33][..], Some(10)),
            (&[5, 5, 5], Some(0)),
            (&[0, 40], Some(40)),
            (&[3, 13, 23, 32], None),
            (&[7], None),
        ] {
            let count = offsets.len() - 1;
            let messages = Messages::ragged(&bytes, offsets, count).expect("they fit");
            assert_eq!(messages.message_bytes(), length, "{offsets:?}");
            assert_eq!(messages.count(), count);
            for (i, pair) in offsets.windows(2).enumerate() {
                assert_eq!(messages.get(i), &bytes[pair[0] as usize..pair[1] as usize]);
            }
        }
    }
}
