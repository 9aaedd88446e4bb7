//! Signatures made to divide verifiers: small order, mixed order, non-canonical encodings, numbers
//! above the group's order, and honest ones with a flipped bit.

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

/// `SplitMix64` (Steele, Lea, Flood 2014): seeded, so that a failure can be repeated.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next 64 bits.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.draw() >> 32).expect("32 bits") % limit
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.draw().to_le_bytes()[0])
    }

    fn scalar(&mut self) -> Scalar {
        Scalar::from_bytes_mod_order_wide(&self.bytes())
    }

    fn torsion(&mut self) -> EdwardsPoint {
        EIGHT_TORSION[self.below(8)]
    }
}

/// One crafted input.
#[derive(Clone, Debug)]
pub(crate) struct Forgery {
    /// The public key's bytes; they may encode no point.
    pub(crate) key: [u8; 32],
    /// The message.
    pub(crate) message: Vec<u8>,
    /// The signature's bytes.
    pub(crate) signature: [u8; 64],
}

/// Kinds of [`forge`].
pub(crate) const KINDS: usize = 9;

/// An input of a kind: 0 is honest, others are not, though many of them must be accepted.
pub(crate) fn forge(random: &mut Random, kind: usize) -> Forgery {
    let secret = Scalar::from(random.draw() % 64 + 1);
    let mut message = random.bytes::<48>()[..random.below(49)].to_vec();
    let (mut a, mut r) = (EdwardsPoint::mul_base(&secret), random.scalar());
    let (mut key_sign, mut commitment_sign) = (0, 0);
    let mut commitment = EdwardsPoint::mul_base(&r);
    let mut share = secret;
    match kind {
        1 => a += random.torsion(),
        2 => commitment += random.torsion(),
        3 => {
            a += random.torsion();
            commitment += random.torsion();
        }
        4 => {
            (a, share) = (random.torsion(), Scalar::ZERO);
            commitment += random.torsion();
            key_sign = 0x80;
        }
        5 => {
            (commitment, r) = (random.torsion(), Scalar::ZERO);
            commitment_sign = 0x80;
        }
        // s B − k A has the y of R and the other x.
        8 => r = -r,
        _ => {}
    }
    let mut key = encoded(random, a, key_sign);
    let first = encoded(random, commitment, commitment_sign);
    let digest = Sha512::new()
        .chain_update(first)
        .chain_update(key)
        .chain_update(&message)
        .finalize();
    let response = r + Scalar::from_bytes_mod_order_wide(&digest.into()) * share;
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&first);
    signature[32..].copy_from_slice(response.as_bytes());
    match kind {
        6 => above_order(&mut signature),
        7 => match random.below(3) {
            0 => signature[random.below(64)] ^= 1 << random.below(8),
            1 => key[random.below(32)] ^= 1 << random.below(8),
            _ => message.push(0),
        },
        _ => {}
    }
    Forgery {
        key,
        message,
        signature,
    }
}

/// An encoding, now and then one that is not canonical: y + p where that fits, or the sign of x = 0 turned.
fn encoded(random: &mut Random, point: EdwardsPoint, sign: u8) -> [u8; 32] {
    let mut bytes = point.compress().to_bytes();
    if random.below(2) == 1 {
        return bytes;
    }
    if bytes[1..31].iter().all(|byte| *byte == 0) && bytes[0] < 19 && matches!(bytes[31], 0 | 0x80)
    {
        // y + p: the same number modulo p.
        bytes[0] += 0xed;
        bytes[1..31].fill(0xff);
        bytes[31] |= 0x7f;
    }
    bytes[31] ^= sign;
    bytes
}

/// s + the group's order, if that fits into 32 bytes: the same number, another encoding.
fn above_order(signature: &mut [u8; 64]) {
    let order = (Scalar::ZERO - Scalar::ONE).to_bytes();
    let mut carry = 1_u16;
    for (byte, other) in signature[32..].iter_mut().zip(order) {
        carry += u16::from(*byte) + u16::from(other);
        *byte = carry.to_le_bytes()[0];
        carry >>= 8;
    }
}
