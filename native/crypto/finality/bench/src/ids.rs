//! The blocks of a group and the order of the questions, drawn from the seed before anything is
//! timed.

use std::cell::Cell;

use paceline_finality::BlockId;
use paceline_harness::order::SplitMix64;

/// Fewer would be a pattern that the CPU learns by heart.
const QUERIES_LEAST: u64 = 1 << 10;
/// 128 MiB of ids that ask for 256 MiB of lines: more than a last-level cache holds.
const QUERIES_MOST: u64 = 1 << 22;
/// Between the seeds of two blocks; any odd number with bits everywhere.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Block `number` of this seed: uniform, as a hash is.
pub(crate) fn block(seed: u64, number: u64) -> BlockId {
    let mut random = SplitMix64::new(seed ^ number.wrapping_mul(STEP).rotate_left(17));
    let mut id = [0; 32];
    for bytes in id.as_chunks_mut::<8>().0 {
        *bytes = random.draw().to_le_bytes();
    }
    BlockId(id)
}

/// The ids that are asked about, in order and round again.
pub(crate) struct Queries {
    ids: Box<[BlockId]>,
}

impl Queries {
    /// About any of the first `blocks` blocks, or, for `unknown`, about blocks beyond them.
    pub(crate) fn new(blocks: u64, unknown: bool, seed: u64) -> Self {
        let count = blocks
            .next_power_of_two()
            .clamp(QUERIES_LEAST, QUERIES_MOST);
        let mut random = SplitMix64::new(!seed);
        let beyond = if unknown { blocks } else { 0 };
        let ids = (0..count)
            .map(|_| block(seed, beyond + random.draw() % blocks))
            .collect();
        Self { ids }
    }

    /// Does `ask` for the next `count` ids after `position`. The loop of every arm.
    #[inline]
    pub(crate) fn each(&self, position: &Cell<usize>, count: u64, mut ask: impl FnMut(&BlockId)) {
        let (mask, mut at) = (self.ids.len() - 1, position.get());
        for _ in 0..count {
            ask(&self.ids[at & mask]);
            at += 1;
        }
        position.set(at & mask);
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &BlockId> {
        self.ids.iter()
    }
}
