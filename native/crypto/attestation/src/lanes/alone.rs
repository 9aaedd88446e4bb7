//! Verifies one signature in eight lanes: both scalars are cut into sixteen pieces of 16 bits, two
//! per lane.
//!
//! Lane l works with 2^(32 l) and 2^(32 l + 16) times the key and the base point. Their multiples
//! are kept (the key's from its first verification in lanes), which leaves 12 doublings instead of
//! 256. A signature made by RFC 8032 has the sum as its R, so the bytes are compared first
//! (`encoded`): decoding costs more than the sum. If they differ, `portable` decides. Not constant
//! time: signatures are public.

use super::each::{ROWS, digit};
use super::field::{Field, LIMBS};
use super::point::{Block, Niels, Point};
use super::vector::{BUCKET_WORDS, BucketRow, LANES, Vector};

/// Bits of one piece.
const PIECE_BITS: u32 = 16;
/// Digits of four bits in a piece.
const DIGITS: u64 = 4;
/// Pieces in a lane.
const HALVES: usize = 2;

/// Of half h, row m, lane l: m · 2^(32 l + 16 h) times a point, ready to be added.
pub(crate) type Spread = [Box<[BucketRow; ROWS]>; HALVES];

/// Numbers, centred digit by digit (`each`): of half h, lane l the bits from 32 l + 16 h on.
pub(crate) type Pieces = [[u64; LANES]; HALVES];

/// Computes the multiples of the point of lane 0, with one inversion for all of them.
#[inline(always)]
pub(crate) fn spread<V: Vector>(point: &Block) -> Spread {
    let mut shifted = Point::<V>::neutral().plus_affine(&Niels::broadcast(point, 0), 0);
    let mut lanes = [shifted; HALVES];
    for piece in 1..HALVES * LANES {
        shifted = shifted.doubled_often(PIECE_BITS);
        let half = piece % HALVES;
        lanes[half] = lanes[half].blend(u8::MAX << (piece / HALVES), &shifted);
    }
    let mut points = [[Point::neutral(); ROWS]; HALVES];
    for (rows, lanes) in points.iter_mut().zip(&lanes) {
        for row in 1..ROWS {
            rows[row] = rows[row - 1].plus(lanes);
        }
    }
    affine(&points)
}

/// Inverts all z with one inversion, by Montgomery's trick.
#[inline(always)]
fn affine<V: Vector>(points: &[[Point<V>; ROWS]; HALVES]) -> Spread {
    let mut before = [[Field::one(); ROWS]; HALVES];
    let mut product = Field::one();
    for (before, point) in before.iter_mut().flatten().zip(points.iter().flatten()) {
        *before = product;
        product = product.times(point.z);
    }
    let mut inverse = product.inverse();
    let mut spread =
        std::array::from_fn(|_| Box::new([BucketRow([[0; LANES]; BUCKET_WORDS]); ROWS]));
    for half in (0..HALVES).rev() {
        for row in (0..ROWS).rev() {
            let point = &points[half][row];
            let own = inverse.times(before[half][row]);
            inverse = inverse.times(point.z);
            let niels = Niels::new(point.x.times(own), point.y.times(own));
            spread[half][row].0[..3 * LIMBS].copy_from_slice(&niels.store().0);
        }
    }
    spread
}

/// s B − k A, in every lane.
#[inline(always)]
pub(crate) fn combined<V: Vector>(
    [key, base]: [&Spread; 2],
    [challenge, response]: [&Pieces; 2],
) -> BucketRow {
    let (challenges, responses) = (
        challenge.map(|half| V::load(&half)),
        response.map(|half| V::load(&half)),
    );
    let mut sum = Point::neutral();
    for place in (0..DIGITS).rev() {
        if place + 1 < DIGITS {
            sum = sum.doubled_often(4);
        }
        for half in 0..HALVES {
            let (size, negative) = digit(responses[half], place);
            sum = sum.plus_affine(&Niels::from_words(&V::gather(&*base[half], size)), negative);
            // The key is subtracted.
            let (size, negative) = digit(challenges[half], place);
            sum = sum.plus_affine(&Niels::from_words(&V::gather(&*key[half], size)), !negative);
        }
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

/// The pieces of a number below 2^253, centred.
pub(crate) fn pieces(number: &[u8; 32]) -> Pieces {
    let words = super::each::centred(&[*number; LANES]);
    std::array::from_fn(|half| {
        std::array::from_fn(|lane| {
            let word = words[lane / 2][0];
            word >> (32 * (lane % 2) + 16 * half) & u64::from(u16::MAX)
        })
    })
}
