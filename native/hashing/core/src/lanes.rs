//! A group of messages of any lengths, one per lane of a vector.
//!
//! Lanes advance together. Where all have whole blocks left, these are compressed straight from the
//! messages; a block in which some message ends is an [`Edge`]. A lane whose message has ended
//! keeps its state, so callers group messages of similar lengths and take over when too few lanes
//! are live. All of it is safe code: a kernel gets slices and masks, never a length that it would
//! have to trust.

use crate::algorithm::{Algorithm, BLOCK_BYTES, Block, STATE_WORDS, State, padded_blocks};

/// A digest in the order of its bytes; SHA-1 leaves the last twelve zero.
pub(crate) type Row = [u8; 4 * STATE_WORDS];

/// The states of all lanes, word by word: what a vector register loads.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Columns<const N: usize>(pub(crate) [[u32; N]; STATE_WORDS]);

/// One block of each lane, of which at least one is not all message: block `block` of each of `messages`.
pub(crate) struct Edge<'a, const N: usize> {
    /// One per lane.
    pub(crate) messages: &'a [&'a [u8]; N],
    /// Which block, counted from the message's beginning.
    pub(crate) block: usize,
    /// Bit l: the block is the last of lane l's message, so it ends in the message's length.
    pub(crate) last: u32,
}

impl<const N: usize> Edge<'_, N> {
    /// The padded blocks in memory, for kernels that cannot pad in registers.
    pub(crate) fn blocks(&self) -> [Block; N] {
        let mut blocks = [[0; BLOCK_BYTES]; N];
        for (lane, (block, message)) in blocks.iter_mut().zip(self.messages).enumerate() {
            let begin = self.block * BLOCK_BYTES;
            let rest = message.get(begin..).unwrap_or(&[]);
            let part = &rest[..rest.len().min(BLOCK_BYTES)];
            block[..part.len()].copy_from_slice(part);
            if message.len() >= begin && part.len() < BLOCK_BYTES {
                block[part.len()] = 0x80;
            }
            if self.last >> lane & 1 == 1 {
                block[BLOCK_BYTES - 8..].copy_from_slice(&(message.len() as u64 * 8).to_be_bytes());
            }
        }
        blocks
    }
}

/// Blocks of each lane, one after the other.
pub(crate) struct Step<'a, const N: usize> {
    /// One per lane.
    pub(crate) messages: &'a [&'a [u8]; N],
    /// The first block.
    pub(crate) from: usize,
    /// The block after the last one.
    pub(crate) to: usize,
    /// Bit l: the last of these blocks is the last of lane l's message.
    pub(crate) last: u32,
}

impl<const N: usize> Step<'_, N> {
    /// Blocks below this one are all message in every lane.
    #[inline]
    pub(crate) fn whole(&self) -> usize {
        self.messages
            .iter()
            .fold(usize::MAX, |least, message| least.min(message.len()))
            / BLOCK_BYTES
    }
}

/// Compression functions over `N` lanes; a value proves that this CPU can run them.
pub(crate) trait Lanes<const N: usize>: Copy {
    /// Compresses blocks of each lane into the lanes that are live.
    fn step(self, algorithm: Algorithm, columns: &mut Columns<N>, blocks: &Step<'_, N>, live: u32);
    /// The digests of messages that are, with their padding, the blocks of `blocks` and nothing else.
    fn alike(self, algorithm: Algorithm, blocks: &Step<'_, N>, rows: &mut [Row; N]);
    /// The states as bytes, lane by lane.
    fn digests(self, columns: &Columns<N>, rows: &mut [Row; N]);
}

/// Where a group stopped: all its lanes have compressed `done` blocks, or their whole message.
pub(crate) struct Group<const N: usize> {
    /// The states.
    pub(crate) columns: Columns<N>,
    /// Blocks compressed by the lanes that are live.
    pub(crate) done: usize,
    /// Bit l: lane l's message is not finished.
    pub(crate) live: u32,
}

impl<const N: usize> Group<N> {
    /// All lanes at the beginning; those at `count` and above never take part.
    pub(crate) fn new(algorithm: Algorithm, count: usize) -> Self {
        let columns = Columns(algorithm.initial_state().map(|word| [word; N]));
        Self {
            columns,
            done: 0,
            live: ones(count),
        }
    }

    /// The lanes of messages that have compressed `done` whole blocks already.
    pub(crate) fn resume(done: usize, states: &[State]) -> Self {
        let mut columns = Columns([[0; N]; STATE_WORDS]);
        for (lane, state) in states.iter().enumerate() {
            for (column, word) in columns.0.iter_mut().zip(state) {
                column[lane] = *word;
            }
        }
        Self {
            columns,
            done,
            live: ones(states.len()),
        }
    }

    /// Whether lane `lane`'s message is not finished.
    pub(crate) fn is_live(&self, lane: usize) -> bool {
        self.live >> lane & 1 == 1
    }

    /// Lane `lane`'s state.
    pub(crate) fn state(&self, lane: usize) -> State {
        self.columns.0.map(|column| column[lane])
    }

    /// Compresses until fewer than `least` lanes are live and each of them has only whole blocks behind it.
    pub(crate) fn run(
        &mut self,
        kernel: impl Lanes<N>,
        algorithm: Algorithm,
        messages: &[&[u8]; N],
        least: usize,
    ) {
        let whole = messages.map(|message| message.len() / BLOCK_BYTES);
        let total = messages.map(|message| padded_blocks(message.len()));
        while self.live != 0 {
            let lanes = (0..N).filter(|lane| self.is_live(*lane));
            let common = lanes.map(|lane| whole[lane]).min().unwrap_or(0);
            if self.done <= common && (self.live.count_ones() as usize) < least {
                return;
            }
            let (from, common) = (self.done, common.max(self.done + 1));
            let ending = (0..N).fold(0, |ending, lane| {
                ending | u32::from(total[lane] == common) << lane
            });
            let stand_in = self.messages(messages);
            let blocks = Step {
                messages: &stand_in,
                from,
                to: common,
                last: ending,
            };
            kernel.step(algorithm, &mut self.columns, &blocks, self.live);
            self.done = common;
            for (lane, blocks) in total.iter().enumerate() {
                self.live &= !(u32::from(*blocks <= self.done) << lane);
            }
        }
    }

    /// The messages, where a lane that is not live repeats one that is.
    fn messages<'a>(&self, messages: &[&'a [u8]; N]) -> [&'a [u8]; N] {
        let first = self.live.trailing_zeros() as usize;
        core::array::from_fn(|lane| messages[if self.is_live(lane) { lane } else { first }])
    }
}

/// The `count` lowest bits.
fn ones(count: usize) -> u32 {
    (0..count).fold(0, |mask, bit| mask | 1 << bit)
}
