//! The lane arithmetic against `curve25519-dalek`, and registers against the twin, limb for limb.

#[path = "../../tests/adversary/mod.rs"]
mod adversary;

use std::sync::Arc;

use curve25519_dalek::constants::EIGHT_TORSION;
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

use self::adversary::{Forgery, KINDS, Random, forge};
use super::alone::pieces;
#[cfg(target_arch = "x86_64")]
use super::avx512::{Zmm, available};
use super::batch::{Batch, accepts_alone};
use super::encoded::encodes;
use super::kernels::{Kernels, Plain};
use super::point::Block;
use super::sha512::Message;
use super::sum::{PLANS, Term, Terms};
use super::vector::LANES;
#[cfg(target_arch = "x86_64")]
use super::vector::{BUCKET_WORDS, BucketRow, LOW_52, ScalarVector, Vector};
use super::{BASE, LaneEngine};
use crate::engine::{Engine as _, prefer};
use crate::portable::Portable;
use crate::{Item, Signature, SigningKey, VerifyingKey, verify_batch};

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

/// Each operation of a vector on three of them, one after the other.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn every_operation<V: Vector>(
    numbers: &[[u64; LANES]; 3],
    digits: &[u16; LANES],
) -> Vec<[u64; LANES]> {
    let [a, b, c] = [
        V::load(&numbers[0]),
        V::load(&numbers[1]),
        V::load(&numbers[2]),
    ];
    let vectors = [
        V::splat(numbers[0][0]),
        V::widen(digits),
        a.plus(b),
        a.minus(b),
        a.and(b),
        a.or(b),
        a.xor(b),
        a.left::<12>(),
        a.left::<36>(),
        a.right::<16>(),
        a.right::<52>(),
        a.right_each(V::widen(digits).and(V::splat(63))),
        a.rotate_right::<41>(),
        a.plus_low(b, c),
        a.plus_high(b, c),
        a.blend(0b1010_0110, b),
        a.rotate_lanes::<1>(),
        a.rotate_lanes::<4>(),
        a.choose(b, c),
        a.majority(b, c),
        a.xor3(b, c),
        V::splat(u64::from(a.equal(b))),
        V::splat(u64::from(a.below(b))),
    ];
    let mut made = vec![[0; LANES]; vectors.len()];
    for (vector, words) in vectors.into_iter().zip(&mut made) {
        vector.store(words);
    }
    let mut rows = [0, 1, 2].map(|row| BucketRow([numbers[row]; BUCKET_WORDS]));
    let gathered = V::gather(&rows, V::widen(digits));
    V::scatter(&mut rows, V::widen(digits).and(V::splat(1)), gathered);
    made.extend(rows.iter().flat_map(|row| row.0));
    made
}

/// `bounds` proves what the operations of plain numbers add up to; registers compute the same numbers.
#[test]
#[cfg(target_arch = "x86_64")]
#[cfg_attr(miri, ignore = "there the twin has nothing to be compared with")]
fn every_operation_of_registers_gives_the_numbers_of_the_plain_one() {
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512ifma")]
    fn in_registers(numbers: &[[u64; LANES]; 3], digits: &[u16; LANES]) -> Vec<[u64; LANES]> {
        every_operation::<Zmm>(numbers, digits)
    }
    if !available() {
        eprintln!("this CPU has no AVX-512 with IFMA: nothing to compare");
        return;
    }
    let edges = [
        0,
        1,
        LOW_52 - 1,
        LOW_52,
        LOW_52 + 1,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    for seed in 0..2_000_u64 {
        let digest: [u8; 64] = Sha512::digest(seed.to_le_bytes()).into();
        let random = digest.as_chunks::<8>().0;
        let numbers = [0, 1, 2].map(|which| {
            std::array::from_fn(|lane| {
                let number = u64::from_le_bytes(random[(lane + which) % LANES]);
                // Every second number is an edge, so that edges meet each other and any number.
                if number >> which & 1 == 0 {
                    edges[usize::from(random[lane][which] % 8)]
                } else {
                    number.rotate_left(u32::from(random[which][lane]))
                }
            })
        });
        // Beyond the last row, too.
        let digits = std::array::from_fn(|lane| u16::from(random[lane][7] % 5));
        let plain = every_operation::<ScalarVector>(&numbers, &digits);
        // SAFETY: the CPU has the features, as was asked above.
        let registers = unsafe { in_registers(&numbers, &digits) };
        for (index, (one, other)) in plain.iter().zip(&registers).enumerate() {
            assert_eq!(one, other, "operation {index} on {numbers:x?}, {digits:?}");
        }
        assert_eq!(plain.len(), registers.len());
    }
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

/// An engine in lanes lets `portable` refuse, which would hide lanes that refuse too much: here they answer alone.
#[test]
#[cfg_attr(miri, ignore = "there a sum takes many minutes")]
fn what_lanes_would_refuse_is_what_the_library_refuses() {
    let mut random = Random(19);
    let forged: Vec<(usize, Forgery)> = (0..27 * KINDS)
        .map(|number| (number % KINDS, forge(&mut random, number % KINDS)))
        .collect();
    for (kernels, share) in every_kernel().into_iter().zip([9, 1]) {
        let engine = LaneEngine::new("lanes", kernels);
        let parsed: Vec<(usize, VerifyingKey, Signature, &[u8])> = forged[..forged.len() / share]
            .iter()
            .filter_map(|(kind, forgery)| {
                let key = VerifyingKey::from_bytes(forgery.key).ok()?;
                let signature = Signature::from_bytes(forgery.signature);
                Some((*kind, key, signature, forgery.message.as_slice()))
            })
            .collect();
        let items: Vec<Item<'_>> = parsed
            .iter()
            .map(|(_, key, signature, message)| Item {
                key,
                message,
                signature,
            })
            .collect();
        let good = |item: &Item<'_>| Portable.verify(item.key, item.message, item.signature);
        let right: Vec<usize> = (0..items.len())
            .filter(|index| !good(&items[*index]))
            .collect();
        assert!(!right.is_empty() && right.len() < items.len() / 2);
        let mut bad = Batch::new(&*engine.kernels, engine.base(), &items).bad();
        bad.sort_unstable();
        assert_eq!(bad, right);
        for (item, (kind, ..)) in items.iter().zip(&parsed) {
            let accepted = accepts_alone(&*engine.kernels, engine.base(), item);
            assert!(good(item) || !accepted, "{item:?}");
            assert!(accepted || *kind != 0, "{item:?} is honest");
        }
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
    let in_lanes = prefer("ifma");
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
