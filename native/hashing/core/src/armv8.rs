//! The cryptographic extensions of `ARMv8`: one message at a time.

#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their origin in their names"
)]

use core::arch::aarch64::*;

use crate::algorithm::{Algorithm, Block, State};
use crate::engine::Engine;
use crate::scalar::{SHA1_K, SHA256_K};

/// Proves that this CPU has the SHA1 and SHA2 extensions.
#[derive(Clone, Copy)]
pub(crate) struct Armv8Ce(());

impl Armv8Ce {
    /// `None` where the CPU lacks them.
    pub(crate) fn new() -> Option<Self> {
        Engine::Armv8Ce.is_available().then_some(Self(()))
    }

    /// Compresses `blocks` into `state`.
    pub(crate) fn compress(self, algorithm: Algorithm, state: &mut State, blocks: &[Block]) {
        // SAFETY: the CPU has the features; a token is made only when it does.
        unsafe {
            match algorithm {
                Algorithm::Sha1 => sha1(state, blocks),
                Algorithm::Sha256 => sha256(state, blocks),
            }
        }
    }
}

type V = uint32x4_t;

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; 4]) -> V {
    // SAFETY: 16 readable bytes.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(words: &mut [u32; 4], x: V) {
    // SAFETY: 16 writable bytes.
    unsafe { vst1q_u32(words.as_mut_ptr(), x) }
}

/// The block's sixteen words.
#[inline]
#[target_feature(enable = "neon")]
fn load_block(block: &Block) -> [V; 4] {
    let mut words = [vdupq_n_u32(0); 4];
    for (four, bytes) in words.iter_mut().zip(block.as_chunks::<16>().0) {
        // SAFETY: 16 readable bytes.
        let bytes = unsafe { vld1q_u8(bytes.as_ptr()) };
        *four = vreinterpretq_u32_u8(vrev32q_u8(bytes));
    }
    words
}

/// Four rounds of SHA-256 at a time, unrolled so that the words stay in registers.
macro_rules! sha256_quads {
    ($left:ident, $right:ident, $w:ident, $($i:literal)*) => {$(
        let wk = vaddq_u32($w[$i % 4], load(&SHA256_K.as_chunks::<4>().0[$i]));
        if $i < 12 {
            let [w0, w1, w2, w3] = [$w[$i % 4], $w[($i + 1) % 4], $w[($i + 2) % 4], $w[($i + 3) % 4]];
            $w[$i % 4] = vsha256su1q_u32(vsha256su0q_u32(w0, w1), w2, w3);
        }
        ($left, $right) = (vsha256hq_u32($left, $right, wk), vsha256h2q_u32($right, $left, wk));
    )*};
}

#[target_feature(enable = "neon,sha2")]
fn sha256(state: &mut State, blocks: &[Block]) {
    let [abcd, efgh] = state.as_chunks_mut::<4>().0 else {
        return;
    };
    let (mut left, mut right) = (load(abcd), load(efgh));
    for block in blocks {
        let before = (left, right);
        let mut w = load_block(block);
        sha256_quads!(left, right, w, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        left = vaddq_u32(left, before.0);
        right = vaddq_u32(right, before.1);
    }
    store(abcd, left);
    store(efgh, right);
}

/// Four rounds of SHA-1 at a time, with the instruction of their function.
macro_rules! sha1_quads {
    ($abcd:ident, $e:ident, $w:ident, $rounds:ident, $($i:literal)*) => {$(
        if $i >= 4 {
            let [w0, w1, w2, w3] = [$w[$i % 4], $w[($i + 1) % 4], $w[($i + 2) % 4], $w[($i + 3) % 4]];
            $w[$i % 4] = vsha1su1q_u32(vsha1su0q_u32(w0, w1, w2), w3);
        }
        let wk = vaddq_u32($w[$i % 4], vdupq_n_u32(SHA1_K[$i / 5]));
        let next = vsha1h_u32(vgetq_lane_u32::<0>($abcd));
        ($abcd, $e) = ($rounds($abcd, $e, wk), next);
    )*};
}

#[target_feature(enable = "neon,sha2")]
fn sha1(state: &mut State, blocks: &[Block]) {
    let [low, [e_word, ..]] = state.as_chunks_mut::<4>().0 else {
        return;
    };
    let (mut abcd, mut e) = (load(low), *e_word);
    for block in blocks {
        let before = (abcd, e);
        let mut w = load_block(block);
        sha1_quads!(abcd, e, w, vsha1cq_u32, 0 1 2 3 4);
        sha1_quads!(abcd, e, w, vsha1pq_u32, 5 6 7 8 9);
        sha1_quads!(abcd, e, w, vsha1mq_u32, 10 11 12 13 14);
        sha1_quads!(abcd, e, w, vsha1pq_u32, 15 16 17 18 19);
        abcd = vaddq_u32(abcd, before.0);
        e = e.wrapping_add(before.1);
    }
    store(low, abcd);
    *e_word = e;
}
