//! Hashes eight messages in 256-bit registers with AVX-512, for groups too small for sixteen
//! lanes.
//!
//! It is more than half as fast as `avx512`: three ports take 256-bit operations where two take
//! 512-bit ones.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::algorithm::{Algorithm, Block, STATE_WORDS};
use crate::engine::Engine;
use crate::lanes::{Blocks, Columns, Edge, Lanes, Padding, Row, Step, WholeBlocks};
use crate::scalar::{SHA1_K, SHA256_K_BY_SIXTEEN};
use crate::x86::is_zen5;

/// Proof that this CPU has AVX2 and AVX-512 F and VL.
#[derive(Clone, Copy)]
pub(crate) struct Avx512Half {
    short_chain: bool,
}

impl Avx512Half {
    /// Returns the proof; `None` where the CPU lacks a feature.
    pub(crate) fn new() -> Option<Self> {
        Engine::Avx512X8.is_available().then(|| Self {
            short_chain: is_zen5(),
        })
    }
}

type V = __m256i;

ops! { "avx2,avx512f,avx512vl";
    fn xor3(x: V, y: V, z: V) -> V { _mm256_ternarylogic_epi32::<0x96>(x, y, z) }
    fn choose(x: V, y: V, z: V) -> V { _mm256_ternarylogic_epi32::<0xca>(x, y, z) }
    fn majority(x: V, y: V, z: V) -> V { _mm256_ternarylogic_epi32::<0xe8>(x, y, z) }
    fn rotate_right[N: i32](x: V) -> V { _mm256_ror_epi32::<N>(x) }
}

eight_lanes!("avx2,avx512f,avx512vl");
lane_kernel!(Avx512Half, 8, "avx2,avx512f,avx512vl");
