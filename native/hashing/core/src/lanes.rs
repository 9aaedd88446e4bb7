//! A group of messages of any lengths, one per lane of a vector.
//!
//! Lanes advance together. While all have whole blocks left, these are compressed straight from the
//! messages; a block in which a message ends is an [`Edge`]. A lane whose message has ended keeps
//! its state. So callers group messages of similar lengths, and continue in narrower kernels when
//! too few lanes are live. A kernel gets blocks, slices and masks, never a length that it would have
//! to trust.

use crate::algorithm::{Algorithm, BLOCK_BYTES, Block, STATE_WORDS, State, Tail, padded_blocks};
use crate::scalar::sha256_sums;

/// A digest in the order of its bytes; SHA-1 leaves the last twelve zero.
pub(crate) type Row = [u8; 4 * STATE_WORDS];

/// The states of all lanes, word by word: what a vector register loads.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Columns<const N: usize>(pub(crate) [[u32; N]; STATE_WORDS]);

/// One block of each lane, not all of which are whole blocks of a message: block `block` of each of
/// `messages`.
pub(crate) struct Edge<'a, const N: usize> {
    /// One per lane.
    pub(crate) messages: &'a [&'a [u8]; N],
    /// Which block, counted from the message's beginning.
    pub(crate) block: usize,
    /// Bit l: the block is the last of lane l's message, so it ends in the message's length.
    pub(crate) last: u32,
    /// The length of every message, if all are equally long.
    pub(crate) equal: Option<usize>,
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

/// A last block that holds no byte of the message, so that all messages of one length share it:
/// what SHA-256's rounds add in it, the sums of constant and schedule.
pub(crate) struct Padding(pub(crate) [[u32; 16]; 4]);

impl Padding {
    /// Makes the padding of messages of that length; `None` if the last block holds part of the message.
    pub(crate) fn of(message_bytes: usize) -> Option<Self> {
        let tail = Tail::of(&[0; BLOCK_BYTES][..message_bytes % BLOCK_BYTES]);
        let mut block = *tail.blocks().last()?;
        if tail.blocks().len() == 1 && !message_bytes.is_multiple_of(BLOCK_BYTES) {
            return None;
        }
        block[BLOCK_BYTES - 8..].copy_from_slice(&(message_bytes as u64 * 8).to_be_bytes());
        Some(Self(sha256_sums(&block)))
    }
}

/// Consecutive blocks of each lane.
pub(crate) struct Step<'a, const N: usize> {
    /// One per lane.
    messages: &'a [&'a [u8]; N],
    /// Blocks below this one are whole blocks of the message in every lane.
    whole: usize,
    /// The first block.
    pub(crate) from: usize,
    /// The block after the last one.
    pub(crate) to: usize,
    /// Bit l: the last of these blocks is the last of lane l's message.
    last: u32,
    /// The length of every message, if all are equally long.
    equal: Option<usize>,
}

/// The blocks of all lanes at one position.
pub(crate) enum Blocks<'a, const N: usize> {
    Whole(WholeBlocks<'a, N>),
    Edge(Edge<'a, N>),
}

/// A whole block of the message in each lane.
pub(crate) struct WholeBlocks<'a, const N: usize> {
    messages: &'a [&'a [u8]; N],
    /// Every message has at least `block + 1` whole blocks.
    block: usize,
}

impl<'a, const N: usize> WholeBlocks<'a, N> {
    /// The block of lane `lane`.
    #[inline]
    pub(crate) fn of_lane(&self, lane: usize) -> &'a Block {
        let start = self.messages[lane].as_ptr();
        // SAFETY: made by `Step::blocks` alone, for blocks below `Step::whole`, which every message
        // has. Checking it again would cost sixteen comparisons a block.
        unsafe { &*start.add(self.block * BLOCK_BYTES).cast() }
    }
}

impl<'a, const N: usize> Step<'a, N> {
    /// Blocks `from` to `to`; bit l of `last` is set if they are the last ones of lane l.
    pub(crate) fn new(messages: &'a [&'a [u8]; N], from: usize, to: usize, last: u32) -> Self {
        let shortest = messages
            .iter()
            .fold(usize::MAX, |least, message| least.min(message.len()));
        Self {
            messages,
            whole: shortest / BLOCK_BYTES,
            from,
            to,
            last,
            equal: None,
        }
    }

    /// The first `blocks` blocks of messages that may have one length.
    pub(crate) fn equal(messages: &'a [&'a [u8]; N], blocks: usize) -> Self {
        let length = messages[0].len();
        let is_last = blocks == padded_blocks(length);
        let alike = messages.iter().all(|message| message.len() == length);
        Self {
            equal: alike.then_some(length),
            ..Self::new(messages, 0, blocks, if is_last { u32::MAX } else { 0 })
        }
    }

    /// Block `block` of each lane.
    #[inline]
    pub(crate) fn blocks(&self, block: usize) -> Blocks<'a, N> {
        let messages = self.messages;
        if block < self.whole {
            return Blocks::Whole(WholeBlocks { messages, block });
        }
        let last = if block + 1 == self.to { self.last } else { 0 };
        Blocks::Edge(Edge {
            messages,
            block,
            last,
            equal: self.equal,
        })
    }
}

/// Compression functions over `N` lanes; a value proves that this CPU can run them.
pub(crate) trait Lanes<const N: usize>: Copy {
    /// Compresses blocks of each lane into the lanes that are live.
    fn step(self, algorithm: Algorithm, columns: &mut Columns<N>, blocks: &Step<'_, N>, live: u32);
    /// Writes the digests of messages that consist, with their padding, of exactly `blocks`; if
    /// `padding` is given, SHA-256 compresses it after them.
    fn alike(
        self,
        algorithm: Algorithm,
        blocks: &Step<'_, N>,
        padding: Option<&Padding>,
        rows: &mut [Row; N],
    );
    /// The states as bytes, lane by lane.
    fn digests(self, columns: &Columns<N>, rows: &mut [Row; N]);
}

/// A group of lanes: the live ones have compressed `done` blocks, the others their whole message.
pub(crate) struct Group<const N: usize> {
    /// The states.
    pub(crate) columns: Columns<N>,
    /// Blocks compressed by the lanes that are live.
    pub(crate) done: usize,
    /// Bit l: lane l's message is not finished.
    pub(crate) live: u32,
}

impl<const N: usize> Group<N> {
    /// All lanes at the beginning; lanes from `count` on never take part.
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

    /// Returns whether lane `lane`'s message is not finished.
    pub(crate) fn is_live(&self, lane: usize) -> bool {
        self.live >> lane & 1 == 1
    }

    /// The state of lane `lane`.
    pub(crate) fn state(&self, lane: usize) -> State {
        self.columns.0.map(|column| column[lane])
    }

    /// Compresses until fewer than `least` lanes are live and each of these is at a whole block.
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
            let blocks = Step::new(&stand_in, from, common, ending);
            kernel.step(algorithm, &mut self.columns, &blocks, self.live);
            self.done = common;
            for (lane, blocks) in total.iter().enumerate() {
                self.live &= !(u32::from(*blocks <= self.done) << lane);
            }
        }
    }

    /// The messages; a lane that is not live repeats a live one.
    fn messages<'a>(&self, messages: &[&'a [u8]; N]) -> [&'a [u8]; N] {
        let first = self.live.trailing_zeros() as usize;
        core::array::from_fn(|lane| messages[if self.is_live(lane) { lane } else { first }])
    }
}

/// The `count` lowest bits.
fn ones(count: usize) -> u32 {
    (0..count).fold(0, |mask, bit| mask | 1 << bit)
}
