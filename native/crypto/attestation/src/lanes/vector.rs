//! Vectors of eight 64-bit numbers: the only interface between the lane engines and the CPU.
//!
//! Every implementation returns the same numbers as [`ScalarVector`], which is plain Rust and the
//! reference in tests. Only implementations name instructions. Not constant time: only verification, with
//! public inputs, runs in lanes.

use super::field::{self, LIMBS};

/// Numbers in a vector.
pub(crate) const LANES: usize = 8;

/// The low 52 bits: what a limb holds and what the multiplier reads.
pub(crate) const LOW_52: u64 = (1 << 52) - 1;

/// Coordinates of a bucket (X, Y, Z, T), five limbs each.
pub(crate) const BUCKET_WORDS: usize = 20;

/// Eight buckets of one digit, one per lane, word by word; a word of all lanes is one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct BucketRow(pub(crate) [[u64; LANES]; BUCKET_WORDS]);

/// Eight 64-bit lanes. Arithmetic wraps.
pub(crate) trait Vector: Copy {
    /// The same number in every lane.
    fn splat(number: u64) -> Self;
    /// One number per lane.
    fn load(numbers: &[u64; LANES]) -> Self;
    /// One 16-bit number per lane.
    fn widen(numbers: &[u16; LANES]) -> Self;
    /// One number per lane.
    fn store(self, numbers: &mut [u64; LANES]);
    /// Sum.
    fn plus(self, other: Self) -> Self;
    /// Difference.
    fn minus(self, other: Self) -> Self;
    /// Bits set in both.
    fn and(self, other: Self) -> Self;
    /// Bits set in either.
    fn or(self, other: Self) -> Self;
    /// Bits set in exactly one.
    fn xor(self, other: Self) -> Self;
    /// Towards higher bits.
    fn left<const BITS: u32>(self) -> Self;
    /// Towards lower bits, zeros follow.
    fn right<const BITS: u32>(self) -> Self;
    /// Towards lower bits, each lane by its own count below 64.
    fn right_each(self, counts: Self) -> Self;
    /// Rotation towards lower bits.
    fn rotate_right<const BITS: i32>(self) -> Self;
    /// `self` plus the low 52 bits of the 104-bit product of the low 52 bits of `a` and `b`.
    fn plus_low(self, a: Self, b: Self) -> Self;
    /// `self` plus the high 52 bits of that product.
    fn plus_high(self, a: Self, b: Self) -> Self;
    /// Lanes of `other` where the mask's bit is set, else of `self`.
    fn blend(self, mask: u8, other: Self) -> Self;
    /// Bit l: lane l is equal in both.
    fn equal(self, other: Self) -> u8;
    /// Bit l: lane l of `self` is below that of `other`.
    fn below(self, other: Self) -> u8;
    /// Lane l becomes lane `(l + BY) % 8`; BY is 0 to 7.
    fn rotate_lanes<const BY: i32>(self) -> Self;
    /// Lane l of word `word` of row `rows[digit of lane l]`. Digits beyond the last row read the last.
    fn gather(rows: &[BucketRow], digits: Self) -> [Self; BUCKET_WORDS];
    /// The reverse of [`Vector::gather`].
    fn scatter(rows: &mut [BucketRow], digits: Self, words: [Self; BUCKET_WORDS]);
    /// [`field::product`]: a hook, so that a vector may decide whether it is inlined.
    #[inline(always)]
    fn product(a: &[Self; LIMBS], b: &[Self; LIMBS]) -> [Self; LIMBS] {
        field::product(a, b)
    }
    /// [`field::square`], likewise.
    #[inline(always)]
    fn square(a: &[Self; LIMBS]) -> [Self; LIMBS] {
        field::square(a)
    }
    /// [`field::carry`], likewise.
    #[inline(always)]
    fn carry(limbs: [Self; LIMBS]) -> [Self; LIMBS] {
        field::carry(limbs)
    }
    /// SHA-2's Ch(self, yes, no).
    #[inline(always)]
    fn choose(self, yes: Self, no: Self) -> Self {
        no.xor(self.and(yes.xor(no)))
    }
    /// SHA-2's Maj.
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        self.and(b).or(c.and(self.or(b)))
    }
    /// Exclusive or of three.
    #[inline(always)]
    fn xor3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }
}

/// The same eight lanes as [`super::avx512::Zmm`] in plain Rust.
#[derive(Clone, Copy)]
pub(crate) struct ScalarVector([u64; LANES]);

impl ScalarVector {
    /// Written out, because `array::from_fn` makes compiling and interpreting (Miri) much slower.
    #[inline(always)]
    fn map_lanes(self, other: Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        let at = |lane: usize| operation(self.0[lane], other.0[lane]);
        Self([at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)])
    }

    fn mask(self, other: Self, test: impl Fn(u64, u64) -> bool) -> u8 {
        (0..LANES).fold(0, |mask, lane| {
            mask | u8::from(test(self.0[lane], other.0[lane])) << lane
        })
    }

    fn row(self, lane: usize, rows: usize) -> usize {
        usize::try_from(self.0[lane]).map_or(rows - 1, |digit| digit.min(rows - 1))
    }
}

/// The product of the low 52 bits: below 2^104.
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW_52) * u128::from(b & LOW_52)
}

/// The low 64 bits.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the function drops the high bits"
)]
pub(crate) fn low(wide: u128) -> u64 {
    wide as u64
}

// Field operations are not inlined: each has about 800 instructions here, and compiling hundreds of copies would
// take minutes.
impl Vector for ScalarVector {
    fn splat(number: u64) -> Self {
        Self([number; LANES])
    }
    fn load(numbers: &[u64; LANES]) -> Self {
        Self(*numbers)
    }
    fn widen(numbers: &[u16; LANES]) -> Self {
        Self(numbers.map(u64::from))
    }
    fn store(self, numbers: &mut [u64; LANES]) {
        *numbers = self.0;
    }
    fn plus(self, other: Self) -> Self {
        self.map_lanes(other, u64::wrapping_add)
    }
    fn minus(self, other: Self) -> Self {
        self.map_lanes(other, u64::wrapping_sub)
    }
    fn and(self, other: Self) -> Self {
        self.map_lanes(other, |a, b| a & b)
    }
    fn or(self, other: Self) -> Self {
        self.map_lanes(other, |a, b| a | b)
    }
    fn xor(self, other: Self) -> Self {
        self.map_lanes(other, |a, b| a ^ b)
    }
    fn left<const BITS: u32>(self) -> Self {
        self.map_lanes(self, |a, _| a << BITS)
    }
    fn right<const BITS: u32>(self) -> Self {
        self.map_lanes(self, |a, _| a >> BITS)
    }
    fn right_each(self, counts: Self) -> Self {
        self.map_lanes(counts, |a, count| a >> (count & 63))
    }
    fn rotate_right<const BITS: i32>(self) -> Self {
        self.map_lanes(self, |a, _| a.rotate_right(BITS.cast_unsigned()))
    }
    fn plus_low(self, a: Self, b: Self) -> Self {
        self.plus(a.map_lanes(b, |a, b| low(product(a, b)) & LOW_52))
    }
    fn plus_high(self, a: Self, b: Self) -> Self {
        self.plus(a.map_lanes(b, |a, b| low(product(a, b) >> 52)))
    }
    fn blend(self, mask: u8, other: Self) -> Self {
        let at = |lane: usize| {
            if mask >> lane & 1 == 1 {
                other.0[lane]
            } else {
                self.0[lane]
            }
        };
        Self([at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)])
    }
    fn equal(self, other: Self) -> u8 {
        self.mask(other, |a, b| a == b)
    }
    fn below(self, other: Self) -> u8 {
        self.mask(other, |a, b| a < b)
    }
    fn rotate_lanes<const BY: i32>(self) -> Self {
        let mut lanes = self.0;
        lanes.rotate_left(usize::try_from(BY).map_or(0, |by| by % LANES));
        Self(lanes)
    }
    fn gather(rows: &[BucketRow], digits: Self) -> [Self; BUCKET_WORDS] {
        std::array::from_fn(|word| {
            Self(std::array::from_fn(|lane| {
                rows[digits.row(lane, rows.len())].0[word][lane]
            }))
        })
    }
    fn scatter(rows: &mut [BucketRow], digits: Self, words: [Self; BUCKET_WORDS]) {
        for (word, numbers) in words.iter().enumerate() {
            for (lane, number) in numbers.0.into_iter().enumerate() {
                let row = digits.row(lane, rows.len());
                rows[row].0[word][lane] = number;
            }
        }
    }
    #[inline(never)]
    fn product(a: &[Self; LIMBS], b: &[Self; LIMBS]) -> [Self; LIMBS] {
        field::product(a, b)
    }
    #[inline(never)]
    fn square(a: &[Self; LIMBS]) -> [Self; LIMBS] {
        field::square(a)
    }
    #[inline(never)]
    fn carry(limbs: [Self; LIMBS]) -> [Self; LIMBS] {
        field::carry(limbs)
    }
}
