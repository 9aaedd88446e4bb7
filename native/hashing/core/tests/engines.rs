//! Every engine against the scalar twin and against the crates sha1 and sha2: all short lengths,
//! boundaries, ragged lanes, alignments.
#![allow(
    clippy::unwrap_used,
    reason = "what fails fails the test, which is meant"
)]

use paceline_hashing_core::{
    Algorithm, Choice, Engine, digest_buffers, digest_equal, digest_ragged,
};
use proptest::prelude::*;
use sha2::Digest;

const ALGORITHMS: [Algorithm; 2] = [Algorithm::Sha1, Algorithm::Sha256];

fn choices() -> impl Iterator<Item = Choice> {
    let engines = Engine::available()
        .iter()
        .map(|engine| Choice::Only(*engine));
    std::iter::once(Choice::Best).chain(engines)
}

/// The digest by the crates, which share no code with ours.
fn reference(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Sha1 => sha1::Sha1::digest(message).to_vec(),
        Algorithm::Sha256 => sha2::Sha256::digest(message).to_vec(),
    }
}

fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    (0..bytes).map(|_| next()).collect()
}

fn assert_buffers(algorithm: Algorithm, choice: Choice, buffers: &[&[u8]]) {
    let size = algorithm.digest_bytes();
    let mut digests = vec![0xaa; buffers.len() * size];
    digest_buffers(algorithm, choice, buffers, &mut digests).unwrap();
    for (i, buffer) in buffers.iter().enumerate() {
        let got = &digests[i * size..][..size];
        let lengths: Vec<usize> = buffers.iter().map(|buffer| buffer.len()).collect();
        assert_eq!(
            got,
            reference(algorithm, buffer),
            "{algorithm:?} {choice:?} message {i} of {lengths:?}"
        );
    }
}

#[test]
fn every_engine_digests_every_length_from_0_to_300_and_the_boundaries_beyond() {
    let bytes = pattern(5000, 1);
    let lengths = (0..=300).chain([
        319, 320, 321, 447, 448, 511, 512, 513, 1023, 1024, 1025, 4096, 4999,
    ]);
    for length in lengths {
        for algorithm in ALGORITHMS {
            for choice in choices() {
                assert_buffers(algorithm, choice, &[&bytes[..length]]);
            }
        }
    }
}

#[test]
fn every_count_of_messages_up_to_three_groups_of_lanes_is_digested() {
    let bytes = pattern(50 * 70, 2);
    for algorithm in ALGORITHMS {
        for choice in choices() {
            for count in 0..50 {
                for length in [0, 1, 55, 56, 64, 70] {
                    let buffers: Vec<&[u8]> = bytes
                        .chunks_exact(70)
                        .take(count)
                        .map(|m| &m[..length])
                        .collect();
                    assert_buffers(algorithm, choice, &buffers);
                }
            }
        }
    }
}

/// Lanes that end one after the other make groups hand their rest from the widest kernel down to streams.
#[test]
fn lanes_that_end_one_after_the_other_are_all_right() {
    let bytes = pattern(64 * 40, 3);
    for algorithm in ALGORITHMS {
        for choice in choices() {
            for step in [1, 9, 55, 64, 65, 100] {
                let buffers: Vec<&[u8]> = (0..24).map(|i| &bytes[i..i + i * step]).collect();
                assert_buffers(algorithm, choice, &buffers);
            }
            let one_long: Vec<&[u8]> = (0..16)
                .map(|i| &bytes[..if i == 5 { 2000 } else { 3 }])
                .collect();
            assert_buffers(algorithm, choice, &one_long);
        }
    }
}

/// Full groups of equally long messages: padding in registers for every rest of a block, and a last block that
/// holds nothing of the messages.
#[test]
fn full_groups_of_every_equal_length_are_all_right() {
    let count = 2 * 16 + 3;
    for length in (0..=200).chain([247, 248, 255, 256, 1023, 1024]) {
        let bytes = pattern(length * count, 4);
        for algorithm in ALGORITHMS {
            let size = algorithm.digest_bytes();
            for choice in choices() {
                let mut digests = vec![0xaa; size * count];
                digest_equal(algorithm, choice, &bytes, length, &mut digests).unwrap();
                for (i, digest) in digests.chunks(size).enumerate() {
                    let expected = reference(algorithm, &bytes[i * length..][..length]);
                    assert_eq!(
                        digest, expected,
                        "{algorithm:?} {choice:?} message {i} of {length}"
                    );
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn ragged_messages_at_any_alignment_equal_the_scalar_twin(
        lengths in prop::collection::vec(0_usize..400, 0..70),
        lead in 0_usize..64,
        seed in any::<u64>(),
    ) {
        let bytes = pattern(lead + lengths.iter().sum::<usize>(), seed);
        let mut offsets = vec![u32::try_from(lead).unwrap()];
        for length in &lengths {
            offsets.push(offsets[offsets.len() - 1] + u32::try_from(*length).unwrap());
        }
        for algorithm in ALGORITHMS {
            let size = algorithm.digest_bytes() * lengths.len();
            let mut twin = vec![0; size];
            digest_ragged(algorithm, Choice::Only(Engine::Scalar), &bytes, &offsets, &mut twin).unwrap();
            for choice in choices() {
                let mut digests = vec![0; size];
                digest_ragged(algorithm, choice, &bytes, &offsets, &mut digests).unwrap();
                prop_assert_eq!(&digests, &twin, "{:?} {:?}", algorithm, choice);
            }
        }
    }

    #[test]
    fn equal_messages_at_any_alignment_equal_the_scalar_twin(
        length in 0_usize..300,
        count in 0_usize..70,
        lead in 0_usize..64,
        seed in any::<u64>(),
    ) {
        let bytes = pattern(lead + length * count, seed);
        for algorithm in ALGORITHMS {
            let mut twin = vec![0; algorithm.digest_bytes() * count];
            let scalar = Choice::Only(Engine::Scalar);
            digest_equal(algorithm, scalar, &bytes[lead..], length, &mut twin).unwrap();
            for choice in choices() {
                let mut digests = vec![0; twin.len()];
                digest_equal(algorithm, choice, &bytes[lead..], length, &mut digests).unwrap();
                prop_assert_eq!(&digests, &twin, "{:?} {:?}", algorithm, choice);
            }
        }
    }
}

proptest! {
    // Each case is long: a few of them see as many blocks as all the small ones.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn large_scattered_buffers_of_any_lengths_equal_the_scalar_twin(
        lengths in prop::collection::vec(0_usize..20_000, 0..20),
        seed in any::<u64>(),
    ) {
        let bytes = pattern(20_100, seed);
        let buffers: Vec<&[u8]> = lengths.iter().enumerate().map(|(i, n)| &bytes[i..i + n]).collect();
        for algorithm in ALGORITHMS {
            let mut twin = vec![0; algorithm.digest_bytes() * buffers.len()];
            digest_buffers(algorithm, Choice::Only(Engine::Scalar), &buffers, &mut twin).unwrap();
            for choice in choices() {
                let mut digests = vec![0; twin.len()];
                digest_buffers(algorithm, choice, &buffers, &mut digests).unwrap();
                prop_assert_eq!(&digests, &twin, "{:?} {:?}", algorithm, choice);
            }
        }
    }
}
