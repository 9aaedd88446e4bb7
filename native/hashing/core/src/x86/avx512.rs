//! Sixteen messages in 512-bit registers, one per 32-bit lane.
//!
//! Rotations, three-input logic and masked loads are single instructions. The last block of each
//! lane is loaded and padded in registers, without a copy and without reading past the message.

use core::arch::asm;
use core::arch::x86_64::*;

use crate::algorithm::{Algorithm, BLOCK_BYTES, Block, STATE_WORDS};
use crate::engine::Engine;
use crate::lanes::{Blocks, Columns, Edge, Lanes, Padding, Row, Step, WholeBlocks};
use crate::scalar::{SHA1_K, SHA256_K_BY_SIXTEEN};
use crate::x86::is_zen5;

/// Proof that this CPU has AVX-512 F, BW and VL.
#[derive(Clone, Copy)]
pub(crate) struct Avx512 {
    short_chain: bool,
}

impl Avx512 {
    /// `None` where the CPU lacks it.
    pub(crate) fn new() -> Option<Self> {
        Engine::Avx512X16.is_available().then(|| Self {
            short_chain: is_zen5(),
        })
    }
}

type V = __m512i;

/// 0x80 in the middle: the padding's mark lies as far into a block as the block begins before it.
static MARKS: [u8; 2 * BLOCK_BYTES] = {
    let mut marks = [0; 2 * BLOCK_BYTES];
    marks[BLOCK_BYTES] = 0x80;
    marks
};

ops! { "avx512f,avx512bw,avx512vl";
    fn add(x: V, y: V) -> V { _mm512_add_epi32(x, y) }
    fn xor(x: V, y: V) -> V { _mm512_xor_si512(x, y) }
    fn xor3(x: V, y: V, z: V) -> V { _mm512_ternarylogic_epi32::<0x96>(x, y, z) }
    fn choose(x: V, y: V, z: V) -> V { _mm512_ternarylogic_epi32::<0xca>(x, y, z) }
    fn majority(x: V, y: V, z: V) -> V { _mm512_ternarylogic_epi32::<0xe8>(x, y, z) }
    fn splat(x: u32) -> V { _mm512_set1_epi32(x.cast_signed()) }
    fn rotate_right[N: i32](x: V) -> V { _mm512_ror_epi32::<N>(x) }
    fn right_shift[N: u32](x: V) -> V { _mm512_srli_epi32::<N>(x) }
    fn blend(ones: u32, unset: V, set: V) -> V {
        _mm512_mask_blend_epi32(ones as __mmask16, unset, set)
    }
    fn hold(x: V) -> V {
        let mut x = x;
        // SAFETY: no instruction at all; the operand tells the compiler that the value may have changed.
        unsafe { asm!("/* {0} */", inout(zmm_reg) x, options(pure, nomem, nostack, preserves_flags)) };
        x
    }
    fn load_words(words: &[u32; 16]) -> V {
        // SAFETY: 64 readable bytes; the instruction asks for no alignment.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }
    fn load_block(block: &Block) -> V {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }
    /// The bytes of a block that a message has, of which `rest` are left.
    fn part_mask(rest: isize) -> __mmask64 {
        if rest >= 64 { !0 } else { (1 << rest.max(0)) - 1 }
    }
    /// 0x80 behind the last byte, where that is in the block.
    fn part_mark(rest: isize) -> V {
        let from = BLOCK_BYTES - rest.cast_unsigned().min(BLOCK_BYTES);
        MARKS[from..].first_chunk().map_or(splat(0), |mark| load_block(mark))
    }
    fn load_bytes(message: &[u8], begin: usize, mask: __mmask64) -> V {
        // SAFETY: reads only the bytes whose mask bit is set: those from `begin` that the message has.
        unsafe { _mm512_maskz_loadu_epi8(mask, message.as_ptr().wrapping_add(begin).cast()) }
    }
    fn words_of_blocks(whole: &WholeBlocks<'_, 16>) -> [V; 16] {
        let mut blocks = [splat(0); 16];
        for (lane, row) in blocks.iter_mut().enumerate() {
            *row = load_block(whole.of_lane(lane));
        }
        transpose(blocks)
    }
    fn words_of_edge(edge: &Edge<'_, 16>) -> [V; 16] {
        let begin = edge.block * BLOCK_BYTES;
        let mut blocks = [splat(0); 16];
        if let Some(length) = edge.equal {
            // One mask, one mark and one length for all lanes.
            let rest = length.wrapping_sub(begin).cast_signed();
            let mask = part_mask(rest);
            let ending = part_mark(rest);
            for (row, message) in blocks.iter_mut().zip(edge.messages) {
                *row = _mm512_or_si512(load_bytes(message, begin, mask), ending);
            }
            let mut words = transpose(blocks);
            if edge.last != 0 {
                words[14] = splat((length as u64 >> 29) as u32);
                words[15] = splat((length as u32) << 3);
            }
            return words;
        }
        let (mut high, mut low) = ([0; 16], [0; 16]);
        for (lane, message) in edge.messages.iter().enumerate() {
            let rest = message.len().wrapping_sub(begin).cast_signed();
            blocks[lane] =
                _mm512_or_si512(load_bytes(message, begin, part_mask(rest)), part_mark(rest));
            high[lane] = (message.len() as u64 >> 29) as u32;
            low[lane] = (message.len() as u32) << 3;
        }
        let mut words = transpose(blocks);
        words[14] = blend(edge.last, words[14], load_words(&high));
        words[15] = blend(edge.last, words[15], load_words(&low));
        words
    }
    fn swap_bytes(x: V) -> V {
        _mm512_shuffle_epi8(x, _mm512_set4_epi32(0x0c0d_0e0f, 0x0809_0a0b, 0x0405_0607, 0x0001_0203))
    }
    /// From four vectors, word j of each 128-bit quarter of each, into vector j.
    fn transpose_quarters(x: [V; 4]) -> [V; 4] {
        let low = [_mm512_unpacklo_epi32(x[0], x[1]), _mm512_unpacklo_epi32(x[2], x[3])];
        let high = [_mm512_unpackhi_epi32(x[0], x[1]), _mm512_unpackhi_epi32(x[2], x[3])];
        [
            _mm512_unpacklo_epi64(low[0], low[1]),
            _mm512_unpackhi_epi64(low[0], low[1]),
            _mm512_unpacklo_epi64(high[0], high[1]),
            _mm512_unpackhi_epi64(high[0], high[1]),
        ]
    }
    /// From a block per vector, in the order of its bytes, to a word of all lanes per vector.
    fn transpose(blocks: [V; 16]) -> [V; 16] {
        let mut words = [splat(0); 16];
        let [mut four, mut eight, mut twelve, mut sixteen] = [[splat(0); 4]; 4];
        let quarters = [&mut four, &mut eight, &mut twelve, &mut sixteen];
        for (quarter, rows) in quarters.into_iter().zip(blocks.as_chunks::<4>().0) {
            let [r0, r1, r2, r3] = *rows;
            *quarter = transpose_quarters([swap_bytes(r0), swap_bytes(r1), swap_bytes(r2), swap_bytes(r3)]);
        }
        for j in 0..4 {
            let first = [
                _mm512_shuffle_i32x4::<0x44>(four[j], eight[j]),
                _mm512_shuffle_i32x4::<0x44>(twelve[j], sixteen[j]),
            ];
            let second = [
                _mm512_shuffle_i32x4::<0xee>(four[j], eight[j]),
                _mm512_shuffle_i32x4::<0xee>(twelve[j], sixteen[j]),
            ];
            words[j] = _mm512_shuffle_i32x4::<0x88>(first[0], first[1]);
            words[4 + j] = _mm512_shuffle_i32x4::<0xdd>(first[0], first[1]);
            words[8 + j] = _mm512_shuffle_i32x4::<0x88>(second[0], second[1]);
            words[12 + j] = _mm512_shuffle_i32x4::<0xdd>(second[0], second[1]);
        }
        words
    }
    fn store_words(words: &mut [u32; 16], x: V) {
        // SAFETY: 64 writable bytes; the instruction asks for no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), x) }
    }
    fn digests_of(state: [V; STATE_WORDS], rows: &mut [Row; 16]) {
        let [a, b, c, d, e, f, g, h] = state;
        let left = transpose_quarters([swap_bytes(a), swap_bytes(b), swap_bytes(c), swap_bytes(d)]);
        let right = transpose_quarters([swap_bytes(e), swap_bytes(f), swap_bytes(g), swap_bytes(h)]);
        // Quarter q of vector r is half a digest of lane 4q + r.
        let first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
        let second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
        for r in 0..4 {
            for (half, pair) in [first, second].into_iter().enumerate() {
                let two = _mm512_permutex2var_epi64(left[r], pair, right[r]);
                // SAFETY: both are 64 plain bytes.
                let two: [Row; 2] = unsafe { core::mem::transmute(two) };
                [rows[8 * half + r], rows[8 * half + 4 + r]] = two;
            }
        }
    }
}

lane_kernel!(Avx512, 16, "avx512f,avx512bw,avx512vl");
