//! Eight elements of the field of 2^255 − 19, one per lane, in five limbs of radix 2^52.
//!
//! With radix 2^52 instead of the usual 2^51 the multiplier's low and high halves fall on the same
//! grid, so nothing has to be doubled. 2^260 = 608 (mod p) folds the upper half of a product.
//!
//! A [`Field`] is *tight*: limbs 0 to 3 are below 2^52 and limb 4 is at most 2^48 − 2, so the value
//! is below 2p. Every operation takes and returns tight elements, so none can overflow; each step
//! states its bounds, and `bounds` proves them for all inputs. Not constant time (`vector`).

use super::vector::{LANES, LOW_52, Vector};

/// Limbs of an element.
pub(crate) const LIMBS: usize = 5;

/// The low 47 bits: what limb 4 of a reduced element holds.
const LOW_47: u64 = (1 << 47) - 1;

/// 2p, limb by limb: no tight element's limb is larger, so a difference does not wrap.
pub(super) const TWICE_P: [u64; LIMBS] = [
    (1 << 53) - 38,
    (1 << 53) - 2,
    (1 << 53) - 2,
    (1 << 53) - 2,
    (1 << 48) - 2,
];

/// 2^260 mod p.
const FOLD: u64 = 19 << 5;

/// Eight field elements.
#[derive(Clone, Copy)]
pub(crate) struct Field<V>(pub(crate) [V; LIMBS]);

/// Makes limbs below 2^60 tight: what is above bit 255 is folded first, then each limb carries.
#[inline(always)]
pub(crate) fn carry<V: Vector>(limbs: [V; LIMBS]) -> [V; LIMBS] {
    let [mut a, mut b, mut c, mut d, mut e] = limbs;
    let low = V::splat(LOW_52);
    a = a.plus_low(e.right::<47>(), V::splat(19)); // below 2^13 · 19
    e = e.and(V::splat(LOW_47));
    b = b.plus(a.right::<52>());
    c = c.plus(b.right::<52>());
    d = d.plus(c.right::<52>());
    e = e.plus(d.right::<52>()); // below 2^47 + 2^9
    [a.and(low), b.and(low), c.and(low), d.and(low), e]
}

/// The product of tight elements.
#[inline(always)]
pub(crate) fn product<V: Vector>(a: &[V; LIMBS], b: &[V; LIMBS]) -> [V; LIMBS] {
    let mut columns = [V::splat(0); 2 * LIMBS];
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            columns[i + j] = columns[i + j].plus_low(a[i], b[j]);
            columns[i + j + 1] = columns[i + j + 1].plus_high(a[i], b[j]);
        }
    }
    fold(columns)
}

/// The square of a tight element: products of different limbs once, doubled.
#[inline(always)]
pub(crate) fn square<V: Vector>(a: &[V; LIMBS]) -> [V; LIMBS] {
    let mut columns = [V::splat(0); 2 * LIMBS];
    for i in 0..LIMBS {
        for j in i + 1..LIMBS {
            columns[i + j] = columns[i + j].plus_low(a[i], a[j]);
            columns[i + j + 1] = columns[i + j + 1].plus_high(a[i], a[j]);
        }
    }
    for column in &mut columns[1..2 * LIMBS - 1] {
        *column = column.plus(*column);
    }
    for i in 0..LIMBS {
        columns[2 * i] = columns[2 * i].plus_low(a[i], a[i]);
        columns[2 * i + 1] = columns[2 * i + 1].plus_high(a[i], a[i]);
    }
    fold(columns)
}

/// Ten columns of at most nine numbers below 2^52 each to a tight element.
#[inline(always)]
fn fold<V: Vector>(columns: [V; 2 * LIMBS]) -> [V; LIMBS] {
    let [
        mut a,
        mut b,
        mut c,
        mut d,
        mut e,
        f,
        mut g,
        mut h,
        mut i,
        mut j,
    ] = columns;
    // The multiplier reads 52 bits, so what was carried on need not be cleared.
    g = g.plus(f.right::<52>());
    h = h.plus(g.right::<52>());
    i = i.plus(h.right::<52>());
    j = j.plus(i.right::<52>()); // limbs 4 are below 2^48: the high half below 2^44, so this below 2^45
    let fold = V::splat(FOLD);
    let over = V::splat(0).plus_high(j, fold); // of weight 2^260 once more, below 2^3
    a = a.plus_low(f, fold).plus_low(over, fold);
    b = b.plus_high(f, fold).plus_low(g, fold);
    c = c.plus_high(g, fold).plus_low(h, fold);
    d = d.plus_high(h, fold).plus_low(i, fold);
    e = e.plus_high(i, fold).plus_low(j, fold);
    carry([a, b, c, d, e])
}

impl<V: Vector> Field<V> {
    /// The same element in every lane; `limbs` must be tight.
    #[inline(always)]
    pub(crate) fn splat(limbs: &[u64; LIMBS]) -> Self {
        Self(limbs.map(V::splat))
    }

    /// 0 in every lane.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self::splat(&[0; LIMBS])
    }

    /// 1 in every lane.
    #[inline(always)]
    pub(crate) fn one() -> Self {
        Self::splat(&[1, 0, 0, 0, 0])
    }

    /// From memory, limb by limb; must be tight.
    #[inline(always)]
    pub(crate) fn load(limbs: &[[u64; LANES]]) -> Self {
        Self(std::array::from_fn(|limb| V::load(&limbs[limb])))
    }

    /// To memory, limb by limb.
    #[inline(always)]
    pub(crate) fn store(self, limbs: &mut [[u64; LANES]]) {
        for (vector, words) in self.0.into_iter().zip(limbs) {
            vector.store(words);
        }
    }

    /// The number in bits 0 to 254 of four little-endian words; it may be p or more (ZIP 215 allows that).
    #[inline(always)]
    pub(crate) fn from_words(words: [V; 4]) -> Self {
        let [a, b, c, d] = words;
        let low = V::splat(LOW_52);
        Self([
            a.and(low),
            a.right::<52>().or(b.left::<12>()).and(low),
            b.right::<40>().or(c.left::<24>()).and(low),
            c.right::<28>().or(d.left::<36>()).and(low),
            d.right::<16>().and(V::splat(LOW_47)),
        ])
    }

    /// Sum.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self::carried(std::array::from_fn(|limb| self.0[limb].plus(other.0[limb])))
    }

    /// Difference.
    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self::carried(std::array::from_fn(|limb| {
            self.0[limb]
                .plus(V::splat(TWICE_P[limb]))
                .minus(other.0[limb])
        }))
    }

    /// The element with its sign turned.
    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Self::zero().minus(self)
    }

    /// Lanes of `other` where the mask's bit is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: u8, other: Self) -> Self {
        Self(std::array::from_fn(|limb| {
            self.0[limb].blend(mask, other.0[limb])
        }))
    }

    #[inline(always)]
    fn carried(limbs: [V; LIMBS]) -> Self {
        Self(V::carry(limbs))
    }

    /// Product.
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        Self(V::product(&self.0, &other.0))
    }

    /// Square.
    #[inline(always)]
    pub(crate) fn square(self) -> Self {
        Self(V::square(&self.0))
    }

    /// `self` squared `times` times.
    #[inline(always)]
    pub(crate) fn squared(mut self, times: u32) -> Self {
        for _ in 0..times {
            self = self.square();
        }
        self
    }

    /// To the power (p − 5) / 8 = 2^252 − 3.
    #[inline(always)]
    pub(crate) fn power_root<const N: usize>(all: [Self; N]) -> [Self; N] {
        times_each(squared_each(power_250(all).0, 2), all)
    }

    /// To the power p − 2: the inverse, 0 for 0.
    #[inline(always)]
    pub(crate) fn inverse(self) -> Self {
        let ([power], [eleven]) = power_250([self]);
        power.squared(5).times(eleven)
    }

    /// The one representative below p.
    #[inline(always)]
    pub(crate) fn canonical(self) -> Self {
        let [a, b, c, d, e] = Self::carried(self.0).0;
        // Below 2p: adding 19 reaches bit 255 exactly when the value is p or more.
        let mut over = a.plus(V::splat(19)).right::<52>();
        over = b.plus(over).right::<52>();
        over = c.plus(over).right::<52>();
        over = d.plus(over).right::<52>();
        over = e.plus(over).right::<47>();
        let low = V::splat(LOW_52);
        let a = a.plus_low(over, V::splat(19));
        let b = b.plus(a.right::<52>());
        let c = c.plus(b.right::<52>());
        let d = d.plus(c.right::<52>());
        let e = e.plus(d.right::<52>());
        Self([
            a.and(low),
            b.and(low),
            c.and(low),
            d.and(low),
            e.and(V::splat(LOW_47)),
        ])
    }

    /// Bit l: lane l is 0.
    #[inline(always)]
    pub(crate) fn is_zero(self) -> u8 {
        let [a, b, c, d, e] = self.canonical().0;
        a.or(b).or(c).or(d).or(e).equal(V::splat(0))
    }

    /// Bit l: lane l's representative below p is odd.
    #[inline(always)]
    pub(crate) fn is_odd(self) -> u8 {
        self.canonical().0[0].and(V::splat(1)).equal(V::splat(1))
    }

    /// Lane l becomes lane `(l + BY) % 8`.
    #[inline(always)]
    pub(crate) fn rotate_lanes<const BY: i32>(self) -> Self {
        Self(self.0.map(V::rotate_lanes::<BY>))
    }
}

/// To the powers 2^250 − 1 and 11: what both exponents of [`Field`] begin with. A power is one long chain in
/// which each square waits for the last; chains of several elements side by side fill each other's waits.
#[inline(always)]
fn power_250<V: Vector, const N: usize>(all: [Field<V>; N]) -> ([Field<V>; N], [Field<V>; N]) {
    let two = squared_each(all, 1);
    let nine = times_each(squared_each(two, 2), all);
    let eleven = times_each(nine, two);
    let five = times_each(squared_each(eleven, 1), nine); // 2^5 − 1
    let ten = times_each(squared_each(five, 5), five);
    let twenty = times_each(squared_each(ten, 10), ten);
    let forty = times_each(squared_each(twenty, 20), twenty);
    let fifty = times_each(squared_each(forty, 10), ten);
    let hundred = times_each(squared_each(fifty, 50), fifty);
    let two_hundred = times_each(squared_each(hundred, 100), hundred);
    (times_each(squared_each(two_hundred, 50), fifty), eleven)
}

#[inline(always)]
fn squared_each<V: Vector, const N: usize>(mut all: [Field<V>; N], times: u32) -> [Field<V>; N] {
    for _ in 0..times {
        for value in &mut all {
            *value = value.square();
        }
    }
    all
}

#[inline(always)]
fn times_each<V: Vector, const N: usize>(
    mut all: [Field<V>; N],
    others: [Field<V>; N],
) -> [Field<V>; N] {
    for (value, other) in all.iter_mut().zip(others) {
        *value = value.times(other);
    }
    all
}
