//! Eight messages in 256-bit registers with AVX2 alone, which has neither rotations nor three-input
//! logic.
//!
//! Worth having where the CPU has no SHA extensions (before Ice Lake and Zen).

use core::arch::asm;
use core::arch::x86_64::*;

use crate::algorithm::{Algorithm, Block, STATE_WORDS};
use crate::engine::Engine;
use crate::lanes::{Blocks, Columns, Edge, Lanes, Padding, Row, Step, WholeBlocks};
use crate::scalar::{SHA1_K, SHA256_K_BY_SIXTEEN};
use crate::x86::is_zen5;

/// Proof that this CPU has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2 {
    short_chain: bool,
}

impl Avx2 {
    /// `None` where the CPU lacks it.
    pub(crate) fn new() -> Option<Self> {
        Engine::Avx2X8.is_available().then(|| Self {
            short_chain: is_zen5(),
        })
    }
}

type V = __m256i;

ops! { "avx2";
    fn xor3(x: V, y: V, z: V) -> V { xor(xor(x, y), z) }
    fn choose(x: V, y: V, z: V) -> V { xor(z, _mm256_and_si256(x, xor(y, z))) }
    fn majority(x: V, y: V, z: V) -> V {
        _mm256_or_si256(_mm256_and_si256(x, y), _mm256_and_si256(z, _mm256_or_si256(x, y)))
    }
    fn rotate_right[N: i32](x: V) -> V {
        let left = _mm_cvtsi32_si128(32 - N);
        _mm256_or_si256(_mm256_srli_epi32::<N>(x), _mm256_sll_epi32(x, left))
    }
}

eight_lanes!("avx2");
lane_kernel!(Avx2, 8, "avx2");
