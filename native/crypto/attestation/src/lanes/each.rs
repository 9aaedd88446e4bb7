//! Verifies eight signatures separately and without randomness, which tells for certain which of
//! them are bad.
//!
//! Lane l computes 8 (s B − k A − R) with 4-bit centred digits (see `sum`) by Straus's method: one
//! run of doublings for both products. Not constant time: signatures are public.

use super::field::LIMBS;
use super::point::{Block, Niels, Point};
use super::vector::{BUCKET_WORDS, BucketRow, LANES, Vector};

/// Digits of a 256-bit number.
const DIGITS: usize = 64;
/// Rows of a table: 0 to 8 times the point.
pub(crate) const ROWS: usize = 9;
/// The digit eight in every place; adding it makes a number's digits centred.
const CENTRE: u64 = 0x8888_8888_8888_8888;

/// Numbers below 2^253, one per lane.
pub(crate) type Scalars = [[u8; 32]; LANES];

/// What eight signatures claim.
pub(crate) struct Claims<'a> {
    /// Public keys.
    pub(crate) keys: &'a Block,
    /// First halves of the signatures.
    pub(crate) commitments: &'a Block,
    /// Second halves.
    pub(crate) responses: &'a Scalars,
    /// Digests of commitment, key and message.
    pub(crate) challenges: &'a Scalars,
}

/// A mask with bit l set if signature l is good.
#[inline(always)]
pub(crate) fn each<V: Vector>(claims: &Claims<'_>, base: &[BucketRow; ROWS]) -> u8 {
    let mut keys = [BucketRow([[0; LANES]; BUCKET_WORDS]); ROWS];
    let key = Niels::<V>::load(claims.keys);
    let mut multiple = Point::<V>::neutral();
    for row in &mut keys {
        for (word, vector) in row.0.iter_mut().zip(multiple.words()) {
            vector.store(word);
        }
        multiple = multiple.plus_affine(&key, 0);
    }
    let (responses, challenges) = (centred(claims.responses), centred(claims.challenges));
    let mut sum = Point::neutral();
    for place in (0..DIGITS).rev() {
        let (word, place) = (place / 16, place as u64 % 16);
        sum = sum.doubled_often(4);
        let (size, negative) = digit(V::load(&responses[word]), place);
        sum = sum.plus_affine(&Niels::from_words(&V::gather(base, size)), negative);
        let (size, negative) = digit(V::load(&challenges[word]), place);
        let multiple = Point::from_words(&V::gather(&keys, size));
        // The key's multiple is subtracted, so it is negated where the digit is positive.
        sum = sum.plus(&multiple.negated().blend(negative, &multiple));
    }
    sum.plus_affine(&Niels::load(claims.commitments), u8::MAX)
        .is_small()
}

/// The size of the four-bit digit at `place` of centred numbers, and where it is negative.
#[inline(always)]
pub(crate) fn digit<V: Vector>(numbers: V, place: u64) -> (V, u8) {
    let (eight, mask) = (V::splat(8), V::splat(15));
    let digit = numbers.right_each(V::splat(4 * place)).and(mask);
    let negative = digit.below(eight);
    (
        digit.minus(eight).blend(negative, eight.minus(digit)),
        negative,
    )
}

/// 0 to 8 times one point, the same in every lane, ready to be added.
#[inline(always)]
pub(crate) fn table<V: Vector>(point: &Block) -> [BucketRow; ROWS] {
    let point = Niels::<V>::broadcast(point, 0);
    let mut multiple = Point::neutral();
    let mut rows = [BucketRow([[0; LANES]; BUCKET_WORDS]); ROWS];
    for row in &mut rows {
        row.0[..3 * LIMBS].copy_from_slice(&multiple.to_niels().store().0);
        multiple = multiple.plus_affine(&point, 0);
    }
    rows
}

/// Adds the centre to each number; returns the sums word by word.
pub(crate) fn centred(scalars: &Scalars) -> [[u64; LANES]; 4] {
    let mut words = [[0; LANES]; 4];
    for (lane, scalar) in scalars.iter().enumerate() {
        let mut carry = false;
        for (word, bytes) in words.iter_mut().zip(scalar.as_chunks::<8>().0) {
            let (sum, over) = u64::from_le_bytes(*bytes).overflowing_add(CENTRE);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            word[lane] = sum;
            carry = over | again;
        }
    }
    words
}
