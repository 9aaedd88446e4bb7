//! One signature in eight lanes: both numbers are cut into eight pieces of 32 bits, one per lane.
//!
//! Lane l works with 2^(32 l) times the key and the base point, whose multiples are kept: the key's from its
//! first verification on (about the price of half a verification, once). What is left is a run of 28
//! doublings instead of 256. The sum is the R of every signature that was made as RFC 8032 says, and its
//! bytes are compared first (`encoded`): decoding costs as much as the sum. What is not equal is decoded and
//! judged by ZIP 215's equation. Absent on purpose: constant time; signatures are public.

use super::each::{ROWS, digit};
use super::field::LIMBS;
use super::point::{Block, Niels, Point};
use super::vector::{BUCKET_WORDS, BucketRow, LANES, Vector};

/// Bits of one lane's piece.
const PIECE_BITS: u32 = 32;
/// Digits of four bits in a piece.
const DIGITS: u64 = 8;

/// Row m, lane l: m · 2^(32 l) times a point.
pub(crate) type Spread = [BucketRow; ROWS];

/// Numbers, centred digit by digit (`each`), one piece per lane.
pub(crate) type Pieces = [u64; LANES];

/// Multiples of the point of lane 0, in extended coordinates: for keys.
#[inline(always)]
pub(crate) fn spread<V: Vector>(point: &Block) -> Box<Spread> {
    rows::<V>(point, |multiple, row| {
        for (words, vector) in row.0.iter_mut().zip(multiple.words()) {
            vector.store(words);
        }
    })
}

/// The same ready to be added, at the price of nine inversions: for the base point.
#[inline(always)]
pub(crate) fn spread_affine<V: Vector>(point: &Block) -> Box<Spread> {
    rows::<V>(point, |multiple, row| row.0[..3 * LIMBS].copy_from_slice(&multiple.to_niels().store().0))
}

#[inline(always)]
fn rows<V: Vector>(point: &Block, keep: impl Fn(Point<V>, &mut BucketRow)) -> Box<Spread> {
    let mut shifted = Point::<V>::neutral().plus_affine(&Niels::broadcast(point, 0), 0);
    let mut lanes = shifted;
    for lane in 1..LANES {
        shifted = shifted.doubled_often(PIECE_BITS);
        lanes = lanes.pick(u8::MAX << lane, &shifted);
    }
    let mut multiple = Point::neutral();
    let mut rows = Box::new([BucketRow([[0; LANES]; BUCKET_WORDS]); ROWS]);
    for row in rows.iter_mut() {
        keep(multiple, row);
        multiple = multiple.plus(&lanes);
    }
    rows
}

/// s B − k A, in every lane.
#[inline(always)]
pub(crate) fn combined<V: Vector>(
    [key, base]: [&Spread; 2],
    [challenge, response]: [&Pieces; 2],
) -> BucketRow {
    let (challenge, response) = (V::load(challenge), V::load(response));
    let mut sum = Point::neutral();
    for place in (0..DIGITS).rev() {
        if place + 1 < DIGITS {
            sum = sum.doubled_often(4);
        }
        let (size, negative) = digit(response, place);
        sum = sum.plus_affine(&Niels::from_words(&V::gather(base, size)), negative);
        let (size, negative) = digit(challenge, place);
        let multiple = Point::from_words(&V::gather(key, size));
        sum = sum.plus(&multiple.negated().pick(negative, &multiple));
    }
    sum = sum.plus(&sum.rotate_lanes::<4>());
    sum = sum.plus(&sum.rotate_lanes::<2>());
    sum = sum.plus(&sum.rotate_lanes::<1>());
    let mut row = BucketRow([[0; LANES]; BUCKET_WORDS]);
    for (words, vector) in row.0.iter_mut().zip(sum.words()) {
        vector.store(words);
    }
    row
}

/// Whether eight times what [`combined`] gave is eight times R, which is in lane 0 of `commitment`.
#[inline(always)]
pub(crate) fn holds<V: Vector>(combined: &BucketRow, commitment: &Block) -> bool {
    let words = std::array::from_fn(|word| V::load(&combined.0[word]));
    Point::from_words(&words).plus_affine(&Niels::load(commitment), u8::MAX).is_small() & 1 == 1
}

/// The eight pieces of a number below 2^253, centred.
pub(crate) fn pieces(number: &[u8; 32]) -> Pieces {
    let words = super::each::centred(&[*number; LANES]);
    std::array::from_fn(|lane| {
        let word = words[lane / 2][0];
        if lane % 2 == 0 { word & u64::from(u32::MAX) } else { word >> PIECE_BITS }
    })
}
