//! Orders a window of messages: as given if all have equally many blocks, else longest first.
//!
//! It is a counting sort, because comparing short messages would cost a good part of digesting
//! them.

use crate::algorithm::padded_blocks;
use crate::messages::Messages;

/// Messages that are sorted together: enough that a group of sixteen finds similar lengths, few
/// enough that indices and keys stay in the first-level cache.
pub(crate) const WINDOW: usize = 256;
/// Messages of this many blocks and more count as equal until they are compared one by one: 16 KiB,
/// where comparing costs nothing beside digesting.
const KEYS: usize = 256;

/// Indices within a window.
pub(crate) struct Order {
    indices: [u16; WINDOW],
    count: usize,
    /// The number of blocks of each message with its padding, if it is the same for all.
    pub(crate) alike: Option<usize>,
}

impl Order {
    /// The order of messages `start` to `end`, at most a window.
    pub(crate) fn of(messages: &Messages<'_>, start: usize, end: usize) -> Self {
        let count = end - start;
        let blocks = |i: u16| padded_blocks(messages.bytes(start + usize::from(i)));
        let mut order = Self {
            indices: [0; WINDOW],
            count,
            alike: None,
        };
        for (index, i) in order.indices.iter_mut().zip(0..) {
            *index = i;
        }
        if count == 0 {
            return order;
        }
        order.alike = messages.common_blocks(start, end);
        if order.alike.is_none() {
            order.sort(blocks);
        }
        order
    }

    pub(crate) fn as_slice(&self) -> &[u16] {
        &self.indices[..self.count]
    }

    fn sort(&mut self, blocks: impl Fn(u16) -> usize) {
        let mut keys = [0_u8; WINDOW];
        let mut ends = [0_u16; KEYS];
        for (key, i) in keys[..self.count].iter_mut().zip(0..) {
            let long_first = KEYS - 1 - blocks(i).min(KEYS - 1);
            *key = u8::try_from(long_first).unwrap_or(u8::MAX);
            ends[long_first] += 1;
        }
        let longest = usize::from(ends[0]);
        let mut next = 0;
        for end in &mut ends {
            (next, *end) = (next + *end, next);
        }
        for (key, i) in keys[..self.count].iter().zip(0..) {
            let place = &mut ends[usize::from(*key)];
            self.indices[usize::from(*place)] = i;
            *place += 1;
        }
        self.indices[..longest].sort_unstable_by_key(|i| core::cmp::Reverse(blocks(*i)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(lengths: &[usize]) -> Vec<usize> {
        let bytes = vec![0; lengths.iter().copied().max().unwrap_or(0)];
        let buffers: Vec<&[u8]> = lengths.iter().map(|length| &bytes[..*length]).collect();
        let order = Order::of(&Messages::Scattered(&buffers), 0, buffers.len());
        let mut indices = order.as_slice().to_vec();
        let sorted = indices.iter().map(|i| lengths[usize::from(*i)]).collect();
        indices.sort_unstable();
        assert!(
            indices
                .iter()
                .enumerate()
                .all(|(i, index)| i == usize::from(*index)),
            "each once"
        );
        sorted
    }

    #[test]
    fn messages_of_equally_many_blocks_stay_as_they_come() {
        assert_eq!(lengths(&[]), []);
        assert_eq!(lengths(&[7]), [7]);
        assert_eq!(lengths(&[147, 151, 148, 150]), [147, 151, 148, 150]);
    }

    #[test]
    fn others_are_visited_longest_first_in_blocks() {
        assert_eq!(
            lengths(&[0, 200, 55, 56, 1000, 64]),
            [1000, 200, 56, 64, 0, 55]
        );
        let long = [KEYS * 64, 10, KEYS * 64 * 3, KEYS * 64 * 2];
        assert_eq!(
            lengths(&long),
            [KEYS * 64 * 3, KEYS * 64 * 2, KEYS * 64, 10]
        );
    }
}
