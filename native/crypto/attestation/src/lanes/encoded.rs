//! Tests whether a point is the one that 32 bytes encode, without decoding the bytes.
//!
//! For a point (X : Y : Z) the bytes' y is compared with Y as y Z, one product. The sign of x = X/Z
//! then needs the inverse of Z, which is cheaper than decoding's square root because it need not be
//! a power: Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (2019),
//! in the variable-time form of libsecp256k1's `doc/safegcd_implementation.md`. An inverse is used
//! only after it was multiplied with Z, so a defect in `inverse` makes verification slower, never
//! wrong. Defects in `product` or `canonical` could make it wrong; the tests below cover those.
//!
//! True means that the bytes are the one canonical encoding of the point. False means nothing: then
//! `portable` decodes them and decides. Not constant time: signatures are public.

use super::field::LIMBS;
use super::vector::{BucketRow, low};

/// A number below 2^256, lowest word first.
type Number = [u64; 4];
/// Five limbs of 62 bits, lowest first; the highest has the sign.
type Signed = [i64; 5];
/// u, v, q, r: f becomes u f + v g, g becomes q f + r g.
type Steps = [i64; 4];

/// The bit above 255 others: the sign of x in an encoding.
const TOP: u64 = 1 << 63;
const ONE: Number = [1, 0, 0, 0];
/// p − 1.
const MINUS_ONE: Number = [u64::MAX - 19, u64::MAX, u64::MAX, u64::MAX >> 1];
/// p = 2^255 − 19.
const MODULUS: Signed = [-19, 0, 0, 0, 1 << 7];
const LIMB_BITS: i32 = 62;
const LOW_62: u64 = u64::MAX >> 2;
/// (49 · 256 + 57) / 17 = 741 steps end every number of 256 bits (the paper's theorem 11.2).
const ROUNDS: i32 = 1 + 741 / LIMB_BITS;

/// 1/p modulo 2^62: each turn doubles the bits that are right, and an odd number begins with three.
const INVERSE_OF_MODULUS: u64 = {
    let modulus = MODULUS[0].cast_unsigned();
    let (mut inverse, mut bits) = (modulus, 3);
    while bits < LIMB_BITS {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(modulus.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse & LOW_62
};

/// Whether `encoding` is the canonical encoding of the point of lane 0 (X, Y, Z in the row's first words).
pub(crate) fn encodes(encoding: &[u8; 32], point: &BucketRow) -> bool {
    let [x, y, z] = [0, LIMBS, 2 * LIMBS].map(|begin| number(point, begin));
    let mut encoded_y: Number = [0; 4];
    for (word, bytes) in encoded_y.iter_mut().zip(encoding.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let sign = encoded_y[3] >> 63;
    encoded_y[3] &= !TOP;
    if canonical(encoded_y) != encoded_y || canonical(product(&encoded_y, &z)) != canonical(y) {
        return false;
    }
    let inverse = inverse(z);
    let x = canonical(product(&x, &inverse));
    let odd = match canonical(product(&z, &inverse)) {
        ONE => x[0] & 1,
        // The inverse has the wrong sign, and so has x: p is odd.
        MINUS_ONE if x != [0; 4] => 1 - (x[0] & 1),
        MINUS_ONE => 0,
        _ => return false,
    };
    odd == sign
}

/// Lane 0 of five limbs of 52 bits.
fn number(point: &BucketRow, begin: usize) -> Number {
    let [a, b, c, d, e]: [u64; LIMBS] = std::array::from_fn(|limb| point.0[begin + limb][0]);
    [
        a | b << 52,
        b >> 12 | c << 40,
        c >> 24 | d << 28,
        d >> 36 | e << 16,
    ]
}

/// The product modulo p, below 2^256.
fn product(a: &Number, b: &Number) -> Number {
    let mut wide = [0; 8];
    for (i, a) in a.iter().enumerate() {
        let mut sum = 0_u128;
        for (j, b) in b.iter().enumerate() {
            sum += u128::from(*a) * u128::from(*b) + u128::from(wide[i + j]); // at most 2^128 − 1
            wide[i + j] = low(sum);
            sum >>= 64;
        }
        wide[i + 4] = low(sum);
    }
    // 2^256 = 38: what is above is below 39, then below 2.
    let mut number = [0; 4];
    let mut sum = 0;
    for (place, word) in number.iter_mut().enumerate() {
        sum += u128::from(wide[place]) + 38 * u128::from(wide[place + 4]);
        *word = low(sum);
        sum >>= 64;
    }
    let above = add(&mut number, 38 * sum);
    let again = add(&mut number, 38 * above); // what came above left a number below 38 · 39
    debug_assert_eq!(again, 0, "the product is below 2^256");
    number
}

/// Adds and gives what does not fit.
fn add(number: &mut Number, mut more: u128) -> u128 {
    for word in number {
        more += u128::from(*word);
        *word = low(more);
        more >>= 64;
    }
    more
}

/// The one representative below p.
fn canonical(mut number: Number) -> Number {
    let above = number[3] >> 63;
    number[3] &= !TOP;
    add(&mut number, 19 * u128::from(above));
    // Below 2^255 + 19: p or more exactly when 19 more reach bit 255.
    let mut less = number;
    add(&mut less, 19);
    if less[3] & TOP == 0 {
        return number;
    }
    less[3] &= !TOP;
    less
}

/// 1/`number` or −1/`number` modulo p; anything for a multiple of p.
fn inverse(number: Number) -> Number {
    let [a, b, c, d] = canonical(number);
    let parts = [
        a,
        a >> 62 | b << 2,
        b >> 60 | c << 4,
        c >> 58 | d << 6,
        d >> 56,
    ];
    let (mut f, mut g) = (MODULUS, parts.map(|part| (part & LOW_62).cast_signed()));
    // Throughout, d times the number is f, and e times the number is g, modulo p.
    let (mut d, mut e): (Signed, Signed) = ([0; 5], [1, 0, 0, 0, 0]);
    let mut eta = -1;
    for _ in 0..ROUNDS {
        let (next, [u, v, q, r]) = steps(eta, f[0].cast_unsigned(), g[0].cast_unsigned());
        eta = next;
        (f, g) = (combined(&f, &g, [u, v], 0), combined(&f, &g, [q, r], 0));
        let (by_u, by_q) = (multiple(&d, &e, [u, v]), multiple(&d, &e, [q, r]));
        (d, e) = (
            combined(&d, &e, [u, v], by_u),
            combined(&d, &e, [q, r], by_q),
        );
        if g == [0; 5] {
            break;
        }
    }
    // Between −2p and p.
    while d[4] < 0 {
        d = combined(&d, &MODULUS, [1 << LIMB_BITS, 1 << LIMB_BITS], 0);
    }
    let [a, b, c, d, e] = d.map(i64::cast_unsigned);
    [
        a | b << 62,
        b >> 2 | c << 60,
        c >> 4 | d << 58,
        d >> 6 | e << 56,
    ]
}

/// 62 steps of the two numbers whose low bits these are, f odd.
fn steps(mut eta: i32, mut f: u64, mut g: u64) -> (i32, Steps) {
    let (mut u, mut v, mut q, mut r) = (1_u64, 0_u64, 0_u64, 1_u64);
    let mut left = LIMB_BITS;
    loop {
        // No more zeros than there are steps.
        let zeros = (g | u64::MAX << left).trailing_zeros().cast_signed();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if left == 0 {
            return (eta, [u, v, q, r].map(u64::cast_signed));
        }
        if eta < 0 {
            eta = -eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // As many low bits of g as may be cleared before f and g change places; f times −1/f g clears them.
        let bits = left.min(eta + 1).min(6);
        let mask = u64::MAX >> (64 - bits);
        // f (f² − 2) is −1/f modulo 2^6.
        let by = f
            .wrapping_mul(g)
            .wrapping_mul(f.wrapping_mul(f).wrapping_sub(2))
            & mask;
        g = g.wrapping_add(f.wrapping_mul(by));
        q = q.wrapping_add(u.wrapping_mul(by));
        r = r.wrapping_add(v.wrapping_mul(by));
    }
}

/// Which multiple of p makes x d + y e a multiple of 2^62, and keeps it between −2p and p.
fn multiple(d: &Signed, e: &Signed, [x, y]: [i64; 2]) -> i64 {
    let raised = (x & d[4] >> 63) + (y & e[4] >> 63);
    let lowest = x
        .wrapping_mul(d[0])
        .wrapping_add(y.wrapping_mul(e[0]))
        .cast_unsigned();
    let over = INVERSE_OF_MODULUS
        .wrapping_mul(lowest)
        .wrapping_add(raised.cast_unsigned())
        & LOW_62;
    raised - over.cast_signed()
}

/// (x a + y b + `multiple` p) / 2^62, which is whole.
fn combined(a: &Signed, b: &Signed, [x, y]: [i64; 2], multiple: i64) -> Signed {
    let mut whole = [0; 5];
    let mut sum = 0_i128;
    for place in 0..5 {
        let [p, a, b] = [MODULUS[place], a[place], b[place]].map(i128::from);
        sum += i128::from(x) * a + i128::from(y) * b + i128::from(multiple) * p;
        let limb = low(sum.cast_unsigned()) & LOW_62;
        if place > 0 {
            whole[place - 1] = limb.cast_signed();
        }
        sum >>= LIMB_BITS;
    }
    whole[4] = low(sum.cast_unsigned()).cast_signed();
    whole
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha512};

    use super::super::field::Field;
    use super::super::vector::{BUCKET_WORDS, LANES, ScalarVector, Vector};
    use super::*;

    /// Numbers that are random, and those at which something carries or changes its sign.
    fn numbers() -> Vec<Number> {
        let mut numbers: Vec<Number> = vec![
            ONE,
            MINUS_ONE,
            [2, 0, 0, 0],
            [19, 0, 0, 0],
            [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1],
            [u64::MAX; 4],
            [0, 0, 0, TOP],
            [0, 0, 0, 1 << 62],
            [37, 0, 0, TOP],
        ];
        for seed in 0..if cfg!(miri) { 5_u64 } else { 2_000 } {
            let digest: [u8; 64] = Sha512::digest(seed.to_le_bytes()).into();
            let words = digest.as_chunks::<8>().0;
            numbers.push(std::array::from_fn(|word| {
                words.get(word).map_or(0, |it| u64::from_le_bytes(*it))
            }));
        }
        numbers
    }

    #[test]
    fn the_modulus_has_an_inverse_modulo_2_62() {
        let one = INVERSE_OF_MODULUS.wrapping_mul(MODULUS[0].cast_unsigned()) & LOW_62;
        assert_eq!(one, 1);
    }

    #[test]
    fn a_number_times_its_inverse_is_one_but_for_the_sign() {
        for number in numbers()
            .into_iter()
            .filter(|number| canonical(*number) != [0; 4])
        {
            let one = canonical(product(&number, &inverse(number)));
            assert!([ONE, MINUS_ONE].contains(&one), "{number:x?}");
        }
        assert_eq!(
            canonical(product(&[0; 4], &inverse([0; 4]))),
            [0; 4],
            "and zero has none"
        );
    }

    /// The words around every carry: where a sum of products could leave 128 bits, or a fold 256.
    fn corners() -> Vec<Number> {
        let words = [
            0,
            1,
            37,
            38,
            u64::MAX - 38,
            u64::MAX - 37,
            u64::MAX - 18,
            u64::MAX,
        ];
        let tops = [0, 1, TOP - 1, TOP, u64::MAX - 1, u64::MAX];
        let mut all = Vec::new();
        for low in words {
            for middle in [0, 1, u64::MAX] {
                all.extend(tops.map(|top| [low, middle, middle, top]));
                all.extend(tops.map(|top| [low, middle, u64::MAX - middle, top]));
            }
        }
        all
    }

    /// The same number in the limbs that `bounds` proves: 2^255 is 19.
    fn in_limbs(number: &Number) -> Field<ScalarVector> {
        let above = number[3] >> 63;
        Field::from_words(number.map(ScalarVector::splat)).plus(Field::splat(&[
            19 * above,
            0,
            0,
            0,
            0,
        ]))
    }

    /// `product` and `canonical` decide whether a signature is accepted. They are held to the lanes' field, whose
    /// every product is proved, at all pairs of corners and at random.
    #[test]
    #[cfg_attr(miri, ignore = "there a hundred thousand products take an hour")]
    fn products_are_those_of_the_lanes() {
        let (corners, random) = (corners(), numbers());
        let pairs = corners
            .iter()
            .flat_map(|a| corners.iter().map(move |b| (a, b)))
            .chain(random.iter().zip(random.iter().rev()));
        for (a, b) in pairs {
            let made = canonical(product(a, b));
            let mut row = BucketRow([[0; LANES]; BUCKET_WORDS]);
            in_limbs(a)
                .times(in_limbs(b))
                .canonical()
                .store(&mut row.0[..LIMBS]);
            assert_eq!(made, number(&row, 0), "{a:x?} {b:x?}");
        }
    }

    #[test]
    fn products_obey_the_laws_of_the_field() {
        let all = numbers();
        for (a, b) in all.iter().zip(all.iter().rev()) {
            assert_eq!(canonical(product(a, b)), canonical(product(b, a)));
            assert_eq!(canonical(product(a, &ONE)), canonical(*a));
            let minus = canonical(product(a, &MINUS_ONE));
            let mut sum = canonical(*a);
            let above = minus
                .iter()
                .zip(&mut sum)
                .fold(0_u128, |carry, (minus, word)| {
                    let whole = carry + u128::from(*word) + u128::from(*minus);
                    *word = low(whole);
                    whole >> 64
                });
            assert_eq!((canonical(sum), above), ([0; 4], 0), "a − a");
        }
    }
}
