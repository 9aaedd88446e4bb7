//! Sums of many points times 128-bit numbers, and of a few times 256-bit ones: the work of a batch.
//!
//! Pippenger's buckets, arranged so that the eight lanes are eight 16-bit pieces of one number
//! instead of eight points. A point is the same in all lanes, so it is broadcast from memory, and
//! each lane adds it to the bucket of its own digit. A piece has two to four digits (a [`Plan`]),
//! each with buckets of its own.
//!
//! Numbers are *centred*: 128 bits u stand for u − C, where C is such that every digit of u, less
//! half its range, is a digit of u − C. Digits are therefore signed (half the buckets) without
//! recoding. Not constant time: the numbers are public.

use super::field::LIMBS;
use super::point::{Block, Niels, Point};
use super::vector::{BUCKET_WORDS, BucketRow, LANES, Vector};

/// Bits of one lane's piece.
const PIECE_BITS: u32 = 16;

/// How a 16-bit piece is cut into digits: their widths in bits, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan(&'static [u32]);

/// Every plan. Wide digits mean few additions for each point and many for the buckets.
pub(crate) const PLANS: [Plan; 3] = [Plan(&[4, 4, 4, 4]), Plan(&[6, 5, 5]), Plan(&[8, 8])];

/// Products that a point costs for each digit: an affine addition, and about two for the way to its buckets.
const PRODUCTS_PER_POINT: usize = 9;
/// Products that a bucket costs: two additions.
const PRODUCTS_PER_BUCKET: usize = 18;

impl Plan {
    /// The cheapest for so many points.
    pub(crate) fn cheapest(points: usize) -> Self {
        PLANS
            .into_iter()
            .min_by_key(|plan| plan.products(points))
            .unwrap_or(PLANS[0])
    }

    fn products(self, points: usize) -> usize {
        let buckets: usize = self.0.iter().map(|width| 1 << (width - 1)).sum();
        self.0.len() * points * PRODUCTS_PER_POINT + buckets * PRODUCTS_PER_BUCKET
    }

    /// C: what is added to a number below 2^127 before its digits are cut out.
    pub(crate) fn centre(self) -> u128 {
        let (mut piece, mut offset) = (0_u128, 0);
        for width in self.0 {
            piece |= 1 << (offset + width - 1);
            offset += width;
        }
        (0..LANES).fold(0, |centre, _| centre << PIECE_BITS | piece)
    }
}

/// One point and its centred number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// Which block the point is in.
    pub(crate) block: usize,
    /// Which lane of it.
    pub(crate) lane: usize,
    /// u, of which C is still to be taken away.
    pub(crate) centred: u128,
}

impl Term {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a piece is sixteen bits of the number"
    )]
    fn pieces(&self) -> [u16; LANES] {
        std::array::from_fn(|lane| (self.centred >> (PIECE_BITS as usize * lane)) as u16)
    }
}

/// The terms of a sum: `low` as they are, `high` times 2^128.
pub(crate) struct Terms<'a> {
    /// The points.
    pub(crate) blocks: &'a [Block],
    /// Terms of weight 1.
    pub(crate) low: &'a [Term],
    /// Terms of weight 2^128.
    pub(crate) high: &'a [Term],
    /// How their numbers are centred.
    pub(crate) plan: Plan,
}

/// Whether eight times the sum is neutral: the cofactored equation of ZIP 215.
#[inline(always)]
pub(crate) fn is_small<V: Vector>(terms: &Terms<'_>, rows: &mut Vec<BucketRow>) -> bool {
    let mut sum = Point::<V>::neutral();
    for (half, weight) in [(terms.high, 128), (terms.low, 0)] {
        if half.is_empty() {
            continue;
        }
        let lanes = by_lane::<V>(terms.blocks, half, terms.plan, rows);
        sum = sum.plus(&lanes);
        // High terms come first; lanes are kept apart until the end, so this is eight times the work of one.
        sum = sum.doubled_often(weight);
    }
    joined(sum).is_small() & 1 == 1
}

/// Lane l holds the sum of its pieces, to be weighted by 2^(16 l).
#[inline(always)]
fn by_lane<V: Vector>(
    blocks: &[Block],
    terms: &[Term],
    plan: Plan,
    rows: &mut Vec<BucketRow>,
) -> Point<V> {
    let mut sum = Point::neutral();
    let mut offset = PIECE_BITS;
    for width in plan.0.iter().rev() {
        offset -= width;
        sum = sum.doubled_often(*width);
        rows.clear();
        rows.resize((1 << (width - 1)) + 1, NEUTRAL_ROW);
        fill::<V>(blocks, terms, offset, *width, rows);
        sum = sum.plus(&weighted(rows));
    }
    sum
}

/// Neutral buckets: (0, 1, 1, 0).
const NEUTRAL_ROW: BucketRow = {
    let mut row = [[0; LANES]; BUCKET_WORDS];
    row[LIMBS] = [1; LANES];
    row[2 * LIMBS] = [1; LANES];
    BucketRow(row)
};

/// Adds every point to the bucket of its digit, in each lane. Row 0 takes those whose digit is 0.
#[inline(always)]
fn fill<V: Vector>(
    blocks: &[Block],
    terms: &[Term],
    offset: u32,
    width: u32,
    rows: &mut [BucketRow],
) {
    let half = V::splat(1 << (width - 1));
    let mask = V::splat((1 << width) - 1);
    let offset = V::splat(u64::from(offset));
    for term in terms {
        let digit = V::widen(&term.pieces()).right_each(offset).and(mask);
        let negative = digit.below(half);
        let digit = digit.minus(half).blend(negative, half.minus(digit));
        let point = Niels::<V>::broadcast(&blocks[term.block], term.lane);
        let bucket = Point::from_words(&V::gather(rows, digit));
        V::scatter(rows, digit, bucket.plus_affine(&point, negative).words());
    }
}

/// 1 · row 1 + 2 · row 2 + …, by running sums.
#[inline(always)]
fn weighted<V: Vector>(rows: &[BucketRow]) -> Point<V> {
    let (mut running, mut total) = (Point::<V>::neutral(), Point::neutral());
    for row in rows[1..].iter().rev() {
        let words: [V; BUCKET_WORDS] = std::array::from_fn(|word| V::load(&row.0[word]));
        running = running.plus(&Point::from_words(&words));
        total = total.plus(&running);
    }
    total
}

/// Lane 0 of the answer: the sum over lanes l of 2^(16 l) times lane l.
#[inline(always)]
fn joined<V: Vector>(sum: Point<V>) -> Point<V> {
    let sum = sum.plus(&sum.rotate_lanes::<4>().doubled_often(4 * PIECE_BITS));
    let sum = sum.plus(&sum.rotate_lanes::<2>().doubled_often(2 * PIECE_BITS));
    sum.plus(&sum.rotate_lanes::<1>().doubled_often(PIECE_BITS))
}
