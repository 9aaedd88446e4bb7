//! [`Vector`] in AVX-512 registers with the 52-bit multiplier (IFMA).
//!
//! A [`Zmm`] exists only inside functions that enable the AVX-512 features. The engine calls these
//! only if the CPU has the features ([`available`]). Everything here is inlined into them, because
//! the compiler does not inline an intrinsic into a function without its features.

use std::arch::x86_64::{
    __m512i, _MM_CMPINT_EQ, _MM_CMPINT_LT, _mm_loadu_si128, _mm512_add_epi64, _mm512_alignr_epi64,
    _mm512_and_si512, _mm512_cmp_epu64_mask, _mm512_cvtepu16_epi64, _mm512_i64gather_epi64,
    _mm512_i64scatter_epi64, _mm512_loadu_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_mask_blend_epi64, _mm512_min_epu64, _mm512_or_si512, _mm512_ror_epi64,
    _mm512_set1_epi64, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_sub_epi64, _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::vector::{BUCKET_WORDS, BucketRow, LANES, Vector};

/// Whether this CPU and its system keep and use the registers that [`Zmm`] needs.
pub(crate) fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512ifma")
}

/// Eight lanes in one register.
#[derive(Clone, Copy)]
pub(crate) struct Zmm(__m512i);

/// Distance between two rows, in words.
const ROW_WORDS: u64 = (BUCKET_WORDS * LANES) as u64;

/// Where each lane's word lies, in words from the row's beginning.
const LANE_OFFSETS: [u64; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Truth table of `a ? b : c`, of the majority and of the exclusive or of three, for `vpternlogq`.
const CHOOSE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;
const XOR3: i32 = 0x96;

/// For each lane, the offset of its first word in the row of its digit, in words from the first row. A digit
/// beyond the last row selects the last row.
#[inline(always)]
fn offsets(rows: usize, digits: Zmm) -> __m512i {
    assert!(rows > 0, "a lane needs a row to read");
    let last = Zmm::splat((rows - 1) as u64);
    // SAFETY: the module's invariant.
    let digits = Zmm(unsafe { _mm512_min_epu64(digits.0, last.0) });
    // The multiplier reads 52 bits; no slice has that many rows.
    Zmm::load(&LANE_OFFSETS)
        .plus_low(digits, Zmm::splat(ROW_WORDS))
        .0
}

macro_rules! intrinsic {
    ($expression:expr) => {
        // SAFETY: the module's invariant: the CPU has the features.
        Self(unsafe { $expression })
    };
}

impl Vector for Zmm {
    #[inline(always)]
    fn splat(number: u64) -> Self {
        intrinsic!(_mm512_set1_epi64(number.cast_signed()))
    }
    #[inline(always)]
    fn load(numbers: &[u64; LANES]) -> Self {
        // The reference is to eight words; unaligned loads are allowed.
        intrinsic!(_mm512_loadu_si512(numbers.as_ptr().cast()))
    }
    #[inline(always)]
    fn widen(numbers: &[u16; LANES]) -> Self {
        // The reference is to eight words of 16 bits: one 128-bit register.
        intrinsic!(_mm512_cvtepu16_epi64(_mm_loadu_si128(
            numbers.as_ptr().cast()
        )))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [u64; LANES]) {
        // SAFETY: the module's invariant; the reference is to eight words.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        intrinsic!(_mm512_add_epi64(self.0, other.0))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        intrinsic!(_mm512_sub_epi64(self.0, other.0))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        intrinsic!(_mm512_and_si512(self.0, other.0))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        intrinsic!(_mm512_or_si512(self.0, other.0))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        intrinsic!(_mm512_xor_si512(self.0, other.0))
    }
    #[inline(always)]
    fn left<const BITS: u32>(self) -> Self {
        intrinsic!(_mm512_slli_epi64::<BITS>(self.0))
    }
    #[inline(always)]
    fn right<const BITS: u32>(self) -> Self {
        intrinsic!(_mm512_srli_epi64::<BITS>(self.0))
    }
    #[inline(always)]
    fn right_each(self, counts: Self) -> Self {
        intrinsic!(_mm512_srlv_epi64(self.0, counts.0))
    }
    #[inline(always)]
    fn rotate_right<const BITS: i32>(self) -> Self {
        intrinsic!(_mm512_ror_epi64::<BITS>(self.0))
    }
    #[inline(always)]
    fn plus_low(self, a: Self, b: Self) -> Self {
        intrinsic!(_mm512_madd52lo_epu64(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn plus_high(self, a: Self, b: Self) -> Self {
        intrinsic!(_mm512_madd52hi_epu64(self.0, a.0, b.0))
    }
    #[inline(always)]
    fn blend(self, mask: u8, other: Self) -> Self {
        intrinsic!(_mm512_mask_blend_epi64(mask, self.0, other.0))
    }
    #[inline(always)]
    fn equal(self, other: Self) -> u8 {
        // SAFETY: the module's invariant.
        unsafe { _mm512_cmp_epu64_mask::<_MM_CMPINT_EQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn below(self, other: Self) -> u8 {
        // SAFETY: the module's invariant.
        unsafe { _mm512_cmp_epu64_mask::<_MM_CMPINT_LT>(self.0, other.0) }
    }
    #[inline(always)]
    fn rotate_lanes<const BY: i32>(self) -> Self {
        intrinsic!(_mm512_alignr_epi64::<BY>(self.0, self.0))
    }
    #[inline(always)]
    fn gather(rows: &[BucketRow], digits: Self) -> [Self; BUCKET_WORDS] {
        let (begin, offsets) = (rows.as_ptr().cast::<i64>(), offsets(rows.len(), digits));
        std::array::from_fn(|word| {
            // SAFETY: `offsets` stays within `rows`, so the word of each lane's row does.
            intrinsic!(_mm512_i64gather_epi64::<8>(
                offsets,
                begin.add(word * LANES)
            ))
        })
    }
    #[inline(always)]
    fn scatter(rows: &mut [BucketRow], digits: Self, words: [Self; BUCKET_WORDS]) {
        let (begin, offsets) = (rows.as_mut_ptr().cast::<i64>(), offsets(rows.len(), digits));
        for (word, numbers) in words.into_iter().enumerate() {
            // SAFETY: as in `gather`; every lane writes to a place of its own.
            unsafe { _mm512_i64scatter_epi64::<8>(begin.add(word * LANES), offsets, numbers.0) }
        }
    }
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        intrinsic!(_mm512_ternarylogic_epi64::<CHOOSE>(self.0, yes.0, no.0))
    }
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        intrinsic!(_mm512_ternarylogic_epi64::<MAJORITY>(self.0, b.0, c.0))
    }
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        intrinsic!(_mm512_ternarylogic_epi64::<XOR3>(self.0, b.0, c.0))
    }
}
