//! What the ordinary tests enter with: seeded changes of bytes that are right.
//!
//! No fuzzer: nothing here looks at what an input reached. It keeps the entries true in every test
//! run.

/// `SplitMix64` (Steele, Lea, Flood 2014): seeded, so that a failure can be repeated.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.draw() >> 32).expect("32 bits") % limit
    }
}

/// A byte or bit changed, a piece cut out, doubled or written over: one to four of these.
pub(crate) fn mutated(random: &mut Random, right: &[u8]) -> Vec<u8> {
    let mut bytes = right.to_vec();
    for _ in 0..=random.below(4) {
        let (at, length) = (random.below(bytes.len() + 1), 1 + random.below(40));
        let end = bytes.len().min(at + length);
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at..end].fill([0, 1, 0x7f, 0x80, 0xff][random.below(5)]),
            4 => bytes[at..end]
                .iter_mut()
                .take(1)
                .for_each(|byte| *byte = random.draw().to_le_bytes()[0]),
            _ => bytes[at..end]
                .iter_mut()
                .take(1)
                .for_each(|byte| *byte ^= 1 << random.below(8)),
        }
    }
    bytes
}
