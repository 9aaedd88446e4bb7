//! The SHA extensions: one message, or several interleaved so that one fills the latency of
//! another.
//!
//! The processor orders the instructions; interleaving only puts independent ones near enough to
//! each other.

use core::arch::x86_64::*;

use crate::algorithm::{Algorithm, Block, State};
use crate::engine::Engine;
use crate::scalar::SHA256_K;

/// Proof that this CPU has SHA, SSSE3 and SSE4.1.
#[derive(Clone, Copy)]
pub(crate) struct ShaNi(());

impl ShaNi {
    /// `None` where the CPU lacks it.
    pub(crate) fn new() -> Option<Self> {
        Engine::ShaNi.is_available().then_some(Self(()))
    }

    #[allow(
        clippy::unused_self,
        reason = "the value is the proof that the CPU has the features"
    )]
    /// Compresses every block of each stream, all streams being equally long, into its state.
    pub(crate) fn compress<const S: usize>(
        self,
        algorithm: Algorithm,
        states: &mut [State; S],
        blocks: [&[Block]; S],
    ) {
        // SAFETY: the CPU has the features; a token is made only when it does.
        unsafe {
            match algorithm {
                Algorithm::Sha1 => sha1(states, blocks),
                Algorithm::Sha256 => sha256(states, blocks),
            }
        }
    }
}

type V = __m128i;

ops! { "sha,ssse3,sse4.1";
    fn load(words: &[u32; 4]) -> V {
        // SAFETY: 16 readable bytes; the instruction asks for no alignment.
        unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
    }
    fn store(words: &mut [u32; 4], x: V) {
        // SAFETY: 16 writable bytes; the instruction asks for no alignment.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), x) }
    }
    /// Four words of the block, in the order `shuffle` says.
    fn load_quarter(block: &Block, quarter: usize, shuffle: V) -> V {
        // SAFETY: 16 readable bytes, `quarter` being checked; the instruction asks for no alignment.
        let bytes = unsafe { _mm_loadu_si128(block.as_chunks::<16>().0[quarter].as_ptr().cast()) };
        _mm_shuffle_epi8(bytes, shuffle)
    }
    fn zero() -> V { _mm_setzero_si128() }
}

/// Sixteen times four rounds of SHA-256, `$i` of them done before.
macro_rules! sha256_quads {
    ($streams:ident, $cdgh:ident, $abef:ident, $w:ident, $($i:literal)*) => {$(
        let k = load(&SHA256_K.as_chunks::<4>().0[$i]);
        for s in 0..$streams {
            let wk = _mm_add_epi32($w[s][$i % 4], k);
            $cdgh[s] = _mm_sha256rnds2_epu32($cdgh[s], $abef[s], wk);
            $abef[s] = _mm_sha256rnds2_epu32($abef[s], $cdgh[s], _mm_shuffle_epi32::<0x0e>(wk));
            if $i < 12 {
                let [w0, w1, w2, w3] = [$i, $i + 1, $i + 2, $i + 3].map(|i| $w[s][i % 4]);
                let sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
                $w[s][$i % 4] = _mm_sha256msg2_epu32(sum, w3);
            }
        }
    )*};
}

#[allow(
    clippy::needless_range_loop,
    reason = "a step indexes every stream's blocks"
)]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn sha256<const S: usize>(states: &mut [State; S], blocks: [&[Block]; S]) {
    let swap = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
    let (mut abef, mut cdgh) = ([zero(); S], [zero(); S]);
    for s in 0..S {
        let [abcd, efgh] = states[s].as_chunks::<4>().0 else {
            return;
        };
        let badc = _mm_shuffle_epi32::<0xb1>(load(abcd));
        let hgfe = _mm_shuffle_epi32::<0x1b>(load(efgh));
        abef[s] = _mm_alignr_epi8::<8>(badc, hgfe);
        cdgh[s] = _mm_blend_epi16::<0xf0>(hgfe, badc);
    }
    let steps = blocks.iter().map(|blocks| blocks.len()).min().unwrap_or(0);
    for step in 0..steps {
        let before = (abef, cdgh);
        let mut w = [[zero(); 4]; S];
        for s in 0..S {
            for (quarter, word) in w[s].iter_mut().enumerate() {
                *word = load_quarter(&blocks[s][step], quarter, swap);
            }
        }
        sha256_quads!(S, cdgh, abef, w, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for s in 0..S {
            abef[s] = _mm_add_epi32(abef[s], before.0[s]);
            cdgh[s] = _mm_add_epi32(cdgh[s], before.1[s]);
        }
    }
    for s in 0..S {
        let [abcd, efgh] = states[s].as_chunks_mut::<4>().0 else {
            return;
        };
        let feba = _mm_shuffle_epi32::<0x1b>(abef[s]);
        let dchg = _mm_shuffle_epi32::<0xb1>(cdgh[s]);
        store(abcd, _mm_blend_epi16::<0xf0>(feba, dchg));
        store(efgh, _mm_alignr_epi8::<8>(dchg, feba));
    }
}

/// Four rounds of SHA-1 at a time, `$i` times four being done before, with function and constant `$f`.
macro_rules! sha1_quads {
    ($streams:ident, $abcd:ident, $before:ident, $w:ident, $($i:literal: $f:literal)*) => {$(
        for s in 0..$streams {
            if $i >= 4 {
                let [w0, w1, w2, w3] = [$i, $i + 1, $i + 2, $i + 3].map(|i| $w[s][i % 4]);
                $w[s][$i % 4] = _mm_sha1msg2_epu32(_mm_xor_si128(_mm_sha1msg1_epu32(w0, w1), w2), w3);
            }
            let word = $w[s][$i % 4];
            // Before the first four rounds `before` is e itself, in its highest word.
            let e = if $i == 0 {
                _mm_add_epi32($before[s], word)
            } else {
                _mm_sha1nexte_epu32($before[s], word)
            };
            $before[s] = $abcd[s];
            $abcd[s] = _mm_sha1rnds4_epu32::<$f>($abcd[s], e);
        }
    )*};
}

#[allow(
    clippy::needless_range_loop,
    reason = "a step indexes every stream's blocks"
)]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn sha1<const S: usize>(states: &mut [State; S], blocks: [&[Block]; S]) {
    let reverse = _mm_set_epi64x(0x0001_0203_0405_0607, 0x0809_0a0b_0c0d_0e0f);
    let (mut abcd, mut e) = ([zero(); S], [zero(); S]);
    for s in 0..S {
        let [low, _] = states[s].as_chunks::<4>().0 else {
            return;
        };
        abcd[s] = _mm_shuffle_epi32::<0x1b>(load(low));
        e[s] = _mm_set_epi32(states[s][4].cast_signed(), 0, 0, 0);
    }
    let steps = blocks.iter().map(|blocks| blocks.len()).min().unwrap_or(0);
    for step in 0..steps {
        let saved = (abcd, e);
        let mut w = [[zero(); 4]; S];
        for s in 0..S {
            for (quarter, word) in w[s].iter_mut().enumerate() {
                *word = load_quarter(&blocks[s][step], quarter, reverse);
            }
        }
        sha1_quads!(S, abcd, e, w, 0:0 1:0 2:0 3:0 4:0 5:1 6:1 7:1 8:1 9:1);
        sha1_quads!(S, abcd, e, w, 10:2 11:2 12:2 13:2 14:2 15:3 16:3 17:3 18:3 19:3);
        for s in 0..S {
            e[s] = _mm_sha1nexte_epu32(e[s], saved.1[s]);
            abcd[s] = _mm_add_epi32(abcd[s], saved.0[s]);
        }
    }
    for s in 0..S {
        states[s][4] = _mm_extract_epi32::<3>(e[s]).cast_unsigned();
        let [low, _] = states[s].as_chunks_mut::<4>().0 else {
            return;
        };
        store(low, _mm_shuffle_epi32::<0x1b>(abcd[s]));
    }
}
