//! The scalar engine: both functions as FIPS 180-4 §6.1.2 and §6.2.2 write them.
//!
//! Every other engine is tested against it. It is written to be read beside the standard, not to be
//! fast.

#![allow(clippy::many_single_char_names, reason = "the standard's names")]

use crate::algorithm::{Algorithm, Block, State};

/// FIPS 180-4 §4.2.1: SHA-1's constant of each twenty rounds.
pub(crate) const SHA1_K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// FIPS 180-4 §4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
pub(crate) const SHA256_K: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// The same constants in groups of sixteen, for kernels that take them so.
pub(crate) const SHA256_K_BY_SIXTEEN: [[u32; 16]; 4] = {
    let mut rows = [[0; 16]; 4];
    let mut t = 0;
    while t < SHA256_K.len() {
        rows[t / 16][t % 16] = SHA256_K[t];
        t += 1;
    }
    rows
};

/// Compresses `blocks` into `state`.
pub(crate) fn compress(algorithm: Algorithm, state: &mut State, blocks: &[Block]) {
    for block in blocks {
        match algorithm {
            Algorithm::Sha1 => compress_sha1(state, block),
            Algorithm::Sha256 => compress_sha256(state, block),
        }
    }
}

/// §6.1.2: one block of SHA-1.
fn compress_sha1(state: &mut State, block: &Block) {
    let mut w = [0_u32; 80];
    load(&mut w, block);
    for t in 16..80 {
        w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e, ..] = *state;
    for (t, w) in w.into_iter().enumerate() {
        let f = match t / 20 {
            0 => choose(b, c, d),
            2 => majority(b, c, d),
            _ => b ^ c ^ d,
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
        let next = next.wrapping_add(SHA1_K[t / 20]).wrapping_add(w);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    add(state, [a, b, c, d, e, 0, 0, 0]);
}

/// §6.2.2: one block of SHA-256.
fn compress_sha256(state: &mut State, block: &Block) {
    let w = schedule(block);
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (w, k) in w.into_iter().zip(SHA256_K) {
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h
            .wrapping_add(big1)
            .wrapping_add(choose(e, f, g))
            .wrapping_add(k)
            .wrapping_add(w);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = big0.wrapping_add(majority(a, b, c));
        (a, b, c, d, e, f, g, h) = (t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g);
    }
    add(state, [a, b, c, d, e, f, g, h]);
}

/// §6.2.2 step 1: the schedule of words.
fn schedule(block: &Block) -> [u32; 64] {
    let mut w = [0_u32; 64];
    load(&mut w, block);
    for t in 16..64 {
        let small0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
        let small1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
        w[t] = small1
            .wrapping_add(w[t - 7])
            .wrapping_add(small0)
            .wrapping_add(w[t - 16]);
    }
    w
}

/// What each round adds to the state: constant and word, sixteen rounds at a time.
pub(crate) fn sha256_sums(block: &Block) -> [[u32; 16]; 4] {
    let w = schedule(block);
    let mut sums = SHA256_K_BY_SIXTEEN;
    for (sum, word) in sums.as_flattened_mut().iter_mut().zip(w) {
        *sum = sum.wrapping_add(word);
    }
    sums
}

/// §4.1: "Ch".
fn choose(x: u32, y: u32, z: u32) -> u32 {
    (x & y) ^ (!x & z)
}

/// §4.1: "Maj".
fn majority(x: u32, y: u32, z: u32) -> u32 {
    (x & y) ^ (x & z) ^ (y & z)
}

/// Writes the block's sixteen words, big-endian, to the begin of the schedule.
fn load(w: &mut [u32], block: &Block) {
    for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
}

fn add(state: &mut State, working: State) {
    for (word, value) in state.iter_mut().zip(working) {
        *word = word.wrapping_add(value);
    }
}
