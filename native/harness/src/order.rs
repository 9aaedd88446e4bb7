//! The order in which the arms of a group run (I2).
//!
//! Cyclic Latin squares, each from a fresh random permutation with its rows shuffled: in k
//! consecutive rounds of k arms every arm stands once in every position, so drift inside a round
//! favours none. The algorithm is part of the protocol (`native/protocol/README.md`);
//! `vectors/interleaving.golden.json` fixes it for every language.

use crate::event::{Params, Phase};

/// `SplitMix64` (Steele, Lea, Flood 2014): small, seedable with any number, the same in every language.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator; every seed is fine.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..n`; draws that would favour small results are repeated.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let excess = (u64::MAX % n + 1) % n; // 2^64 mod n
        loop {
            let x = self.draw();
            if x <= u64::MAX - excess {
                return x % n;
            }
        }
    }

    /// A random permutation of `0..n` (Fisher–Yates, from the end).
    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut a: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            // Below i + 1, which came from a usize.
            let j = usize::try_from(self.below(i as u64 + 1)).unwrap_or(i);
            a.swap(i, j);
        }
        a
    }
}

/// FNV-1a, 64 bit (<http://www.isthe.com/chongo/tech/comp/fnv/>).
#[must_use]
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The seed text of a group and phase, for example `measure/ledger_batch/batch=1000`.
#[must_use]
pub fn key(phase: Phase, benchmark: &str, params: &Params) -> String {
    let mut named: Vec<_> = params.iter().collect();
    named.sort_by(|a, b| a.0.cmp(&b.0));
    let named: Vec<_> = named
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{}/{benchmark}/{}", phase.wire(), named.join(","))
}

/// The orders of one group and phase: an endless sequence of rounds.
#[derive(Clone, Debug)]
pub struct Order {
    random: SplitMix64,
    arms: usize,
    columns: Vec<usize>,
    /// Shifts of the remaining rows of this square, last first.
    rows: Vec<usize>,
}

impl Order {
    /// The orders of `arms` arms; `key` from [`key`].
    #[must_use]
    pub fn new(seed: u64, key: &str, arms: usize) -> Self {
        let random = SplitMix64::new(seed ^ fnv1a64(key.as_bytes()));
        Self {
            random,
            arms,
            columns: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The order of the next round: `result[position]` is the arm's index.
    pub fn next_round(&mut self) -> Vec<usize> {
        if self.rows.is_empty() {
            self.columns = self.random.shuffled(self.arms);
            self.rows = self.random.shuffled(self.arms);
            self.rows.reverse();
        }
        let shift = self.rows.pop().unwrap_or(0);
        (0..self.arms)
            .map(|position| self.columns[(position + shift) % self.arms])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn over_a_square_every_arm_stands_once_in_every_position(
            seed in any::<u64>(),
            arms in 1_usize..9,
            squares in 1_usize..5,
        ) {
            let mut order = Order::new(seed, "measure/b/", arms);
            for _ in 0..squares {
                let mut seen = vec![vec![0; arms]; arms];
                for _ in 0..arms {
                    for (position, arm) in order.next_round().into_iter().enumerate() {
                        seen[arm][position] += 1;
                    }
                }
                prop_assert!(seen.iter().flatten().all(|times| *times == 1), "{seen:?}");
            }
        }

        #[test]
        fn the_same_seed_draws_the_same_orders(seed in any::<u64>(), arms in 1_usize..9) {
            let (mut a, mut b) = (Order::new(seed, "k", arms), Order::new(seed, "k", arms));
            for _ in 0..20 {
                prop_assert_eq!(a.next_round(), b.next_round());
            }
        }

        #[test]
        fn below_stays_below(seed in any::<u64>(), n in 1_u64..) {
            prop_assert!(SplitMix64::new(seed).below(n) < n);
        }
    }

    #[test]
    fn both_orders_of_two_arms_start_a_square_about_equally_often() {
        let first = (0..1000)
            .filter(|seed| Order::new(*seed, "k", 2).next_round() == [0, 1])
            .count();
        assert!((400..=600).contains(&first), "{first} of 1000"); // ± 6 sigma
    }
}
