//! Eight points of edwards25519, one per lane: −x² + y² = 1 + d x² y².
//!
//! Formulas: Hisil, Wong, Carter and Dawson, "Twisted Edwards Curves Revisited" (2008), §3.1
//! (`add-2008-hwcd-3`, complete on this curve, so there are no special cases) and §3.3 (doubling).
//! Not constant time.

use super::field::{Field, LIMBS};
use super::vector::{BUCKET_WORDS, LANES, Vector};

/// d of the curve's equation.
const D: [u64; LIMBS] = [
    0xb_4dca_1359_78a3,
    0x4_d414_1d8a_b75e,
    0x7_79e8_9800_700a,
    0xf_e738_cc74_0797,
    0x5203_6cee_2b6f,
];

/// 2d.
const TWICE_D: [u64; LIMBS] = [
    0x6_9b94_26b2_f159,
    0x9_a828_3b15_6ebd,
    0xe_f3d1_3000_e014,
    0xf_ce71_98e8_0f2e,
    0x2406_d9dc_56df,
];

/// 2^((p − 1) / 4), a square root of −1.
const ROOT_OF_MINUS_ONE: [u64; LIMBS] = [
    0xe_1b27_4a0e_a0b0,
    0x0_6ad2_fe47_8c4e,
    0xd_fbd7_a72f_4318,
    0xd_f0b2_b4d0_0993,
    0x2b83_2480_4fc1,
];

/// Eight points in extended coordinates: x = X/Z, y = Y/Z, x·y = T/Z.
#[derive(Clone, Copy)]
pub(crate) struct Point<V> {
    pub(crate) x: Field<V>,
    pub(crate) y: Field<V>,
    pub(crate) z: Field<V>,
    pub(crate) t: Field<V>,
}

/// Eight affine points ready to be added: y + x, y − x and 2d·x·y.
#[derive(Clone, Copy)]
pub(crate) struct Niels<V> {
    pub(crate) sum: Field<V>,
    pub(crate) difference: Field<V>,
    pub(crate) product: Field<V>,
}

/// Eight affine points in memory, limb by limb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [[u64; LANES]; 3 * LIMBS]);

impl Block {
    /// Eight times the neutral element.
    pub(crate) const NEUTRAL: Self = {
        let mut words = [[0; LANES]; 3 * LIMBS];
        words[0] = [1; LANES];
        words[LIMBS] = [1; LANES];
        Self(words)
    };

    /// Puts lane `from` of `other` into lane `to`.
    pub(crate) fn copy_lane(&mut self, to: usize, other: &Self, from: usize) {
        for (words, others) in self.0.iter_mut().zip(&other.0) {
            words[to] = others[from];
        }
    }
}

impl<V: Vector> Niels<V> {
    /// Of affine points.
    #[inline(always)]
    pub(crate) fn new(x: Field<V>, y: Field<V>) -> Self {
        let product = x.times(y).times(Field::splat(&TWICE_D));
        Self {
            sum: y.plus(x),
            difference: y.minus(x),
            product,
        }
    }

    /// Eight points, one per lane.
    #[inline(always)]
    pub(crate) fn load(block: &Block) -> Self {
        Self {
            sum: Field::load(&block.0[..LIMBS]),
            difference: Field::load(&block.0[LIMBS..2 * LIMBS]),
            product: Field::load(&block.0[2 * LIMBS..]),
        }
    }

    /// Of a row of a table whose first words are sum, difference and product.
    #[inline(always)]
    pub(crate) fn from_words(words: &[V; BUCKET_WORDS]) -> Self {
        let part = |at: usize| Field(std::array::from_fn(|limb| words[at * LIMBS + limb]));
        Self {
            sum: part(0),
            difference: part(1),
            product: part(2),
        }
    }

    /// The point of lane `lane` in every lane.
    #[inline(always)]
    pub(crate) fn broadcast(block: &Block, lane: usize) -> Self {
        let lane = lane % LANES;
        let limbs = |begin: usize| {
            Field(std::array::from_fn(|limb| {
                V::splat(block.0[begin + limb][lane])
            }))
        };
        Self {
            sum: limbs(0),
            difference: limbs(LIMBS),
            product: limbs(2 * LIMBS),
        }
    }

    /// To memory.
    #[inline(always)]
    pub(crate) fn store(self) -> Block {
        let mut block = Block::NEUTRAL;
        self.sum.store(&mut block.0[..LIMBS]);
        self.difference.store(&mut block.0[LIMBS..2 * LIMBS]);
        self.product.store(&mut block.0[2 * LIMBS..]);
        block
    }
}

impl<V: Vector> Point<V> {
    /// The neutral element in every lane.
    #[inline(always)]
    pub(crate) fn neutral() -> Self {
        Self {
            x: Field::zero(),
            y: Field::one(),
            z: Field::one(),
            t: Field::zero(),
        }
    }

    /// Of a bucket's words.
    #[inline(always)]
    pub(crate) fn from_words(words: &[V; BUCKET_WORDS]) -> Self {
        let coordinate = |at: usize| Field(std::array::from_fn(|limb| words[at * LIMBS + limb]));
        Self {
            x: coordinate(0),
            y: coordinate(1),
            z: coordinate(2),
            t: coordinate(3),
        }
    }

    /// A bucket's words.
    #[inline(always)]
    pub(crate) fn words(self) -> [V; BUCKET_WORDS] {
        let coordinates = [self.x.0, self.y.0, self.z.0, self.t.0];
        std::array::from_fn(|word| coordinates[word / LIMBS][word % LIMBS])
    }

    /// `self` plus affine points, minus them in the lanes of `negative`: 7 products.
    #[inline(always)]
    pub(crate) fn plus_affine(self, other: &Niels<V>, negative: u8) -> Self {
        // −(x, y) = (−x, y): sum and difference change places, and the product its sign.
        let sum = other.sum.blend(negative, other.difference);
        let difference = other.difference.blend(negative, other.sum);
        let a = self.y.minus(self.x).times(difference);
        let b = self.y.plus(self.x).times(sum);
        let c = self.t.times(other.product);
        let d = self.z.plus(self.z);
        let (minus, plus) = (d.minus(c), d.plus(c));
        Self::finish(
            b.minus(a),
            minus.blend(negative, plus),
            plus.blend(negative, minus),
            b.plus(a),
        )
    }

    /// Sum: 9 products.
    #[inline(always)]
    pub(crate) fn plus(self, other: &Self) -> Self {
        let a = self.y.minus(self.x).times(other.y.minus(other.x));
        let b = self.y.plus(self.x).times(other.y.plus(other.x));
        let c = self.t.times(other.t).times(Field::splat(&TWICE_D));
        let d = self.z.times(other.z);
        let d = d.plus(d);
        Self::finish(b.minus(a), d.minus(c), d.plus(c), b.plus(a))
    }

    /// (−x, y).
    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Self {
            x: self.x.negated(),
            y: self.y,
            z: self.z,
            t: self.t.negated(),
        }
    }

    /// Lanes of `other` where the mask's bit is set.
    #[inline(always)]
    pub(crate) fn blend(self, mask: u8, other: &Self) -> Self {
        Self {
            x: self.x.blend(mask, other.x),
            y: self.y.blend(mask, other.y),
            z: self.z.blend(mask, other.z),
            t: self.t.blend(mask, other.t),
        }
    }

    /// Twice the point: 4 squares and 4 products.
    #[inline(always)]
    pub(crate) fn doubled(self) -> Self {
        let [e, f, g, h] = self.twice();
        Self::finish(e, f, g, h)
    }

    #[inline(always)]
    fn twice(self) -> [Field<V>; 4] {
        let (a, b) = (self.x.square(), self.y.square());
        let c = self.z.square();
        let h = a.plus(b);
        let e = h.minus(self.x.plus(self.y).square());
        let g = a.minus(b);
        let f = c.plus(c).plus(g);
        [e, f, g, h]
    }

    #[inline(always)]
    fn finish(e: Field<V>, f: Field<V>, g: Field<V>, h: Field<V>) -> Self {
        Self {
            x: e.times(f),
            y: g.times(h),
            z: f.times(g),
            t: e.times(h),
        }
    }

    /// 2^`times` times the point. Doubling reads no t, so only the last one makes it.
    #[inline(always)]
    pub(crate) fn doubled_often(mut self, times: u32) -> Self {
        if times == 0 {
            return self;
        }
        for _ in 1..times {
            let [e, f, g, h] = self.twice();
            self = Self {
                x: e.times(f),
                y: g.times(h),
                z: f.times(g),
                t: Field::zero(),
            };
        }
        self.doubled()
    }

    /// Affine: one inversion for all lanes together.
    #[inline(always)]
    pub(crate) fn to_niels(self) -> Niels<V> {
        let inverse = self.z.inverse();
        Niels::new(self.x.times(inverse), self.y.times(inverse))
    }

    /// Lane l becomes lane `(l + BY) % 8`.
    #[inline(always)]
    pub(crate) fn rotate_lanes<const BY: i32>(self) -> Self {
        Self {
            x: self.x.rotate_lanes::<BY>(),
            y: self.y.rotate_lanes::<BY>(),
            z: self.z.rotate_lanes::<BY>(),
            t: self.t.rotate_lanes::<BY>(),
        }
    }

    /// Bit l: eight times lane l's point is neutral, that is, the point is of small order. What ZIP 215 asks.
    #[inline(always)]
    pub(crate) fn is_small(self) -> u8 {
        let point = self.doubled_often(3);
        point.x.is_zero() & point.y.minus(point.z).is_zero()
    }
}

/// Eight encoded points as affine points, N times, and the lanes in which the encoding is one (bit l). By
/// ZIP 215: y may be p or more, and x = 0 may come with the sign bit set. Other lanes hold nothing of
/// meaning.
#[inline(always)]
pub(crate) fn decompress<V: Vector, const N: usize>(
    words: [[V; 4]; N],
) -> [(Field<V>, Field<V>, u8); N] {
    // Loops: a closure of this size would be a call, and no vectors in it.
    let mut fractions = [(Field::one(), Field::one()); N];
    let mut powers = [Field::one(); N];
    for at in 0..N {
        let square = Field::from_words(words[at]).square();
        let u = square.minus(Field::one());
        let v = square.times(Field::splat(&D)).plus(Field::one());
        fractions[at] = (u, v);
        powers[at] = u.times(cube(v).square().times(v));
    }
    // x = u v³ (u v⁷)^((p − 5) / 8), RFC 8032 §5.1.3.
    let powers = Field::power_root(powers);
    let mut points = [(Field::zero(), Field::one(), 0); N];
    for at in 0..N {
        let (u, v) = fractions[at];
        let x = u.times(cube(v)).times(powers[at]);
        let check = v.times(x.square());
        let right = check.minus(u).is_zero();
        let turned = check.plus(u).is_zero();
        let x = x.blend(!right & turned, x.times(Field::splat(&ROOT_OF_MINUS_ONE)));
        let sign = words[at][3].right::<63>().equal(V::splat(1));
        let x = x.blend(x.is_odd() ^ sign, x.negated());
        points[at] = (x, Field::from_words(words[at]), right | turned);
    }
    points
}

#[inline(always)]
fn cube<V: Vector>(element: Field<V>) -> Field<V> {
    element.square().times(element)
}
