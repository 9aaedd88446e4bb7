//! The lane arithmetic against `curve25519-dalek`, and registers against the twin, limb for limb.

use std::sync::Arc;

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

use super::alone::pieces;
use super::encoded::encodes;
use super::kernels::{Kernels, Plain};
use super::point::Block;
use super::sha512::Message;
use super::sum::{PLANS, Term, Terms};
use super::vector::LANES;
use super::{BASE, LaneEngine};
use crate::engine::{Engine as _, single};
use crate::{Item, SigningKey, VerifyingKey, verify_batch};

/// Miri is slow, and the twin has no path that one input takes and another does not.
const SHARE: usize = if cfg!(miri) { 50 } else { 1 };

fn every_kernel() -> Vec<Box<dyn Kernels>> {
    #[allow(unused_mut, reason = "other CPUs have the twin only")]
    let mut kernels: Vec<Box<dyn Kernels>> = vec![Box::new(Plain)];
    #[cfg(target_arch = "x86_64")]
    if let Some(registers) = super::kernels::Avx512::detect() {
        kernels.push(Box::new(registers));
    }
    kernels
}

/// Encodings of eight points that depend on `seed`, and random bytes that may be none.
fn encodings(seed: u64) -> [[u8; 32]; LANES] {
    std::array::from_fn(|lane| {
        let digest = Sha512::digest([seed.to_le_bytes(), (lane as u64).to_le_bytes()].concat());
        if lane % 2 == 0 {
            return digest[..32].try_into().expect("32 bytes");
        }
        EdwardsPoint::mul_base(&Scalar::from_bytes_mod_order_wide(&digest.into()))
            .compress()
            .to_bytes()
    })
}

#[test]
#[cfg_attr(miri, ignore = "there the twin has nothing to be compared with")]
fn registers_hold_the_limbs_of_the_twin() {
    for seed in 0..20 {
        let made: Vec<(Block, u8)> = every_kernel()
            .iter()
            .map(|kernels| kernels.decompress(&encodings(seed)))
            .collect();
        assert!(
            made.iter().all(|other| *other == made[0]),
            "decompress, seed {seed}"
        );
        for kernels in every_kernel() {
            let both = [encodings(seed), encodings(seed + 1)];
            let apart = both.map(|one| kernels.decompress(&one));
            assert_eq!(
                kernels.decompress_two(&both),
                apart,
                "two blocks, seed {seed}"
            );
        }
        let shifted: Vec<Block> = every_kernel()
            .iter()
            .map(|kernels| kernels.shifted(&made[0].0))
            .collect();
        assert!(
            shifted.iter().all(|other| *other == shifted[0]),
            "shifted, seed {seed}"
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "there the twin has nothing to be compared with")]
fn registers_make_the_tables_and_sums_of_the_twin() {
    for seed in 0..20_u64 {
        let number = |what: u64| {
            let digest = Sha512::digest([seed.to_le_bytes(), what.to_le_bytes()].concat());
            Scalar::from_bytes_mod_order_wide(&digest.into())
        };
        // Most keys have a part of small order.
        let key = EdwardsPoint::mul_base(&number(0))
            + EIGHT_TORSION[usize::from(number(1).to_bytes()[0] % 8)];
        let key = key.compress().to_bytes();
        let numbers = [2, 3].map(|what| pieces(&number(what).to_bytes()));
        let made = every_kernel().into_iter().map(|kernels| {
            let [key, base] = [key, BASE].map(|bytes| kernels.decompress(&[bytes; LANES]).0);
            let [key_spread, base_spread] = [&key, &base].map(|block| kernels.spread(block));
            let sum = kernels.combined([&key_spread, &base_spread], [&numbers[0], &numbers[1]]);
            let spread: Vec<_> = key_spread
                .iter()
                .flat_map(|half| half.iter().map(|row| row.0))
                .collect();
            (spread, kernels.table(&key).map(|row| row.0), sum.0)
        });
        let made: Vec<_> = made.collect();
        assert!(
            made.iter().all(|other| other.0 == made[0].0),
            "multiples of a key, seed {seed}"
        );
        assert!(
            made.iter().all(|other| other.1 == made[0].1),
            "a table, seed {seed}"
        );
        assert!(
            made.iter().all(|other| other.2 == made[0].2),
            "a sum, seed {seed}"
        );
    }
}

#[test]
fn what_decodes_is_what_decodes_in_dalek() {
    for seed in (100..140).step_by(2 * SHARE) {
        let encodings = encodings(seed);
        let (_, valid) = Plain.decompress(&encodings);
        for (lane, bytes) in encodings.into_iter().enumerate() {
            let point = curve25519_dalek::edwards::CompressedEdwardsY(bytes).decompress();
            assert_eq!(
                valid >> lane & 1 == 1,
                point.is_some(),
                "seed {seed}, lane {lane}"
            );
        }
    }
}

#[test]
fn digests_of_any_length_are_those_of_sha2() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    for from in (0..700).step_by(7 * SHARE) {
        let pieces: [[&[u8]; 3]; LANES] = std::array::from_fn(|lane| {
            [
                &bytes[..lane],
                &bytes[..from / 3],
                &bytes[..from + 17 * lane],
            ]
        });
        for kernels in every_kernel() {
            for (digest, pieces) in kernels.digest(&pieces.map(Message)).iter().zip(pieces) {
                assert_eq!(digest[..], Sha512::digest(pieces.concat())[..], "{from}");
            }
        }
    }
}

/// A key that is used once does not pay for multiples that only a second signature uses.
#[test]
#[cfg_attr(miri, ignore = "there the twin verifies nothing alone")]
fn a_key_gets_its_multiples_with_the_second_signature_that_is_verified_alone() {
    let own = SigningKey::from_seed(&[7; 32]).expect("an engine signs");
    let (message, signature) = (b"block 7", own.sign(b"block 7"));
    let kept = |key: &VerifyingKey| {
        key.lanes()
            .get()
            .is_some_and(|points| points.slot.is_filled())
    };
    let in_lanes = single().name() == "ifma";
    let asks: [fn(&Item<'_>) -> bool; 2] = [
        |one| one.key.verify(one.message, one.signature),
        |one| verify_batch(&[*one]).all_good(),
    ];
    for ask in asks {
        let key = VerifyingKey::from_bytes(*own.verifying_key().as_bytes()).expect("a point");
        let item = Item {
            key: &key,
            message,
            signature: &signature,
        };
        assert!(ask(&item) && !kept(&key), "the first");
        assert!(ask(&item));
        assert_eq!(kept(&key), in_lanes, "the second");
    }
}

#[test]
#[cfg_attr(miri, ignore = "there a sum takes many minutes")]
fn a_clone_of_a_used_key_shares_its_multiples() {
    let own = SigningKey::from_seed(&[8; 32]).expect("an engine signs");
    let (message, signature) = (b"block 8", own.sign(b"block 8"));
    let key = own.verifying_key();
    assert!(LaneEngine::new("twin", Box::new(Plain)).verify(key, message, &signature));
    let copy = key.clone();
    let slots = [key, &copy].map(|key| key.lanes().get().map(|points| &points.slot));
    assert!(matches!(slots, [Some(one), Some(other)] if Arc::ptr_eq(one, other)));
    assert!(slots[0].is_some_and(|slot| slot.is_filled()));
}

/// Sums of several kinds: their own bytes, and no others, are their encoding.
#[test]
#[cfg_attr(miri, ignore = "there a sum takes many minutes")]
fn a_sum_is_encoded_by_the_bytes_that_dalek_makes_of_it_and_by_no_others() {
    let none = pieces(&[0; 32]);
    for kernels in every_kernel() {
        let (base, _) = kernels.decompress(&[BASE; LANES]);
        let spread = kernels.spread(&base);
        let spread = [&spread; 2];
        for seed in 0..40_u64 {
            let number = match seed {
                0..3 => Scalar::from(seed),
                3 => Scalar::ZERO - Scalar::ONE,
                _ => Scalar::from_bytes_mod_order_wide(&Sha512::digest(seed.to_le_bytes()).into()),
            };
            let sum = kernels.combined(spread, [&none, &pieces(&number.to_bytes())]);
            let right = EdwardsPoint::mul_base(&number).compress().to_bytes();
            assert!(encodes(&right, &sum), "seed {seed}");
            for bit in [0, 100, 254, 255] {
                let mut other = right;
                other[bit / 8] ^= 1 << (bit % 8);
                assert!(!encodes(&other, &sum), "seed {seed}, bit {bit}");
            }
            // (p + y) is y to ZIP 215, and left to who decodes.
            if number == Scalar::ZERO {
                let mut raised = [0xff; 32];
                (raised[0], raised[31]) = (0xee, 0x7f);
                assert!(!encodes(&raised, &sum), "y = p + 1");
            }
            // What the challenge is taken away from: the same number twice is nothing.
            let nothing = kernels.combined(spread, [&pieces(&number.to_bytes()); 2]);
            assert!(
                encodes(&EdwardsPoint::default().compress().to_bytes(), &nothing),
                "seed {seed}"
            );
        }
    }
}

/// u B − (u mod the order) B is neutral; with another number it is not. In every plan, low and high.
#[test]
#[cfg_attr(miri, ignore = "there a sum takes many minutes")]
fn sums_of_every_plan_are_right() {
    let order_less_one = (Scalar::ZERO - Scalar::ONE).to_bytes();
    let half = |at: usize| {
        u128::from_le_bytes(
            *order_less_one.as_chunks::<16>().0[at..]
                .first()
                .expect("two"),
        )
    };
    for kernels in every_kernel() {
        let (block, _) = kernels.decompress(&[BASE; LANES]);
        let blocks = [block];
        for plan in PLANS {
            // (order − 1) B + B = 0.
            let (low, carry) = half(0).overflowing_add(plan.centre());
            let high = half(1) + plan.centre() + u128::from(carry);
            let term = |centred: u128| Term {
                block: 0,
                lane: 0,
                centred,
            };
            for (one, small) in [(1, true), (2, false)] {
                let low = [term(low), term(plan.centre().wrapping_add(one))];
                let high = [term(high)];
                let terms = Terms {
                    blocks: &blocks,
                    low: &low,
                    high: &high,
                    plan,
                };
                assert_eq!(
                    kernels.is_small(&terms, &mut Vec::new()),
                    small,
                    "{plan:?}, {one}"
                );
            }
        }
    }
}
