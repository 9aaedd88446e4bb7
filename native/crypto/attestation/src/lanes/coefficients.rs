//! The secret random weights of a batch: 128 bits each, drawn after the batch is known.
//!
//! 32 bytes of the system's randomness are stretched by SHA-512 in counter mode, eight blocks at a
//! time.

use super::kernels::Kernels;
use super::sha512::Message;
use super::vector::LANES;

/// So many weights; none if the system gives no randomness.
pub(crate) fn draw(kernels: &dyn Kernels, count: usize) -> Option<Vec<u128>> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).ok()?;
    let mut weights = Vec::with_capacity(count + 4 * LANES);
    let mut counter = 0_u64;
    while weights.len() < count {
        let counters: [[u8; 8]; LANES] =
            std::array::from_fn(|lane| (counter + lane as u64).to_le_bytes());
        counter += LANES as u64;
        let messages = std::array::from_fn(|lane| Message([&seed, &counters[lane], &[]]));
        for digest in kernels.digest(&messages) {
            weights.extend(
                digest
                    .as_chunks::<16>()
                    .0
                    .iter()
                    .map(|bytes| u128::from_le_bytes(*bytes)),
            );
        }
    }
    weights.truncate(count);
    Some(weights)
}
