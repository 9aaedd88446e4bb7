//! Published vectors through every engine: FIPS 180-4's examples, CAVP's short messages
//! (`SHA1ShortMsg.rsp`, `SHA256ShortMsg.rsp`, byte-oriented) and CAVP's Monte Carlo chains; and
//! what is refused.
#![allow(
    clippy::unwrap_used,
    reason = "what fails fails the test, which is meant"
)]

use paceline_hashing_core::{
    Algorithm, BatchError, Choice, Engine, digest_buffers, digest_equal, digest_ragged,
};

/// Messages of 0 to 7 bytes, in hexadecimal, with their digests.
const SHA1_SHORT: [(&str, &str); 8] = [
    ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    ("36", "c1dfd96eea8cc2b62785275bca38ac261256e278"),
    ("195a", "0a1c2d555bbe431ad6288af5a54f93e0449c9232"),
    ("df4bd2", "bf36ed5d74727dfd5d7854ec6b1d49468d8ee8aa"),
    ("549e959e", "b78bae6d14338ffccfd5d5b5674a275f6ef9c717"),
    ("f7fb1be205", "60b7d5bb560a1acf6fa45721bd0abb419a841a89"),
    ("c0e5abeaea63", "a6d338459780c08363090fd8fc7d28dc80e8e01f"),
    ("63bfc1ed7f78ab", "860328d80509500c1783169ebf0ba0c4b94da5e5"),
];
const SHA256_SHORT: [(&str, &str); 8] = [
    (
        "",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    (
        "d3",
        "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1",
    ),
    (
        "11af",
        "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98",
    ),
    (
        "b4190e",
        "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2",
    ),
    (
        "74ba2521",
        "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e",
    ),
    (
        "c299209682",
        "f0887fe961c9cd3beab957e8222494abb969b1ce4c6557976df8b0f6d20e9166",
    ),
    (
        "e1dc724d5621",
        "eca0a060b489636225b4fa64d267dabbe44273067ac679f20820bddc6b6a90ac",
    ),
    (
        "06e076f5a442d5",
        "3fd877e27450e6bbd5d74bb82f9870c64c66e109418baa8e6bbcff355e287926",
    ),
];
/// FIPS 180-4's texts (NIST `SHA1.pdf`, `SHA256.pdf`, `SHA2_Additional.pdf`) with both digests.
const TEXTS: [(&str, &str, &str); 3] = [
    (
        "abc",
        "a9993e364706816aba3e25717850c26c9cd0d89d",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs\
         mnopqrstnopqrstu",
        "a49b2446a02c645bf419f995b67091253a04a259",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ),
];
const MILLION_A: [&str; 2] = [
    "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
];
/// Seed, first and last checkpoint of `SHA1Monte.rsp` and `SHA256Monte.rsp`.
const MONTE: [[&str; 3]; 2] = [
    [
        "dd4df644eaf3d85bace2b21accaa22b28821f5cd",
        "11f5c38b4479d4ad55cb69fadf62de0b036d5163",
        "01b7be5b70ef64843a03fdbb3b247a6278d2cbe1",
    ],
    [
        "6d1e72ad03ddeb5de891e572e2396f8da015d899ef0e79503152d6010a3fe691",
        "e93c330ae5447738c8aa85d71a6c80f2a58381d05872d26bdd39f1fcd4f2b788",
        "6a912ba4188391a78e6f13d88ed2d14e13afce9db6f7dcbf4a48c24f3db02778",
    ],
];
const ALGORITHMS: [Algorithm; 2] = [Algorithm::Sha1, Algorithm::Sha256];

fn choices() -> impl Iterator<Item = Choice> {
    let engines = Engine::available()
        .iter()
        .map(|engine| Choice::Only(*engine));
    std::iter::once(Choice::Best).chain(engines)
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    pairs
        .iter()
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn digest_message(algorithm: Algorithm, choice: Choice, message: &[u8]) -> Vec<u8> {
    let mut digest = vec![0; algorithm.digest_bytes()];
    digest_equal(algorithm, choice, message, message.len(), &mut digest).unwrap();
    digest
}

#[test]
fn the_published_short_messages_and_texts_hold_in_every_engine() {
    for choice in choices() {
        for (algorithm, vectors) in ALGORITHMS.into_iter().zip([SHA1_SHORT, SHA256_SHORT]) {
            for (message, digest) in vectors {
                let got = digest_message(algorithm, choice, &bytes_of(message));
                assert_eq!(got, bytes_of(digest), "{algorithm:?} {choice:?} {message}");
            }
        }
        for (text, sha1, sha256) in TEXTS {
            let got = digest_message(Algorithm::Sha1, choice, text.as_bytes());
            assert_eq!(got, bytes_of(sha1), "{choice:?} {text}");
            let got = digest_message(Algorithm::Sha256, choice, text.as_bytes());
            assert_eq!(got, bytes_of(sha256), "{choice:?} {text}");
        }
    }
}

#[test]
fn a_million_times_a_holds_in_every_engine() {
    let message = vec![b'a'; 1_000_000];
    for choice in choices() {
        for (algorithm, digest) in ALGORITHMS.into_iter().zip(MILLION_A) {
            assert_eq!(
                digest_message(algorithm, choice, &message),
                bytes_of(digest),
                "{algorithm:?} {choice:?}"
            );
        }
    }
}

/// One checkpoint of CAVP's chain (SHAVS §6.4): a thousand digests, each of the three before it.
fn checkpoint(algorithm: Algorithm, choice: Choice, seed: &[u8]) -> Vec<u8> {
    let mut last = [seed.to_vec(), seed.to_vec(), seed.to_vec()];
    for _ in 0..1000 {
        let next = digest_message(algorithm, choice, &last.concat());
        last.rotate_left(1);
        last[2] = next;
    }
    last[2].clone()
}

#[test]
fn the_first_checkpoint_of_the_monte_carlo_chain_holds_in_every_engine() {
    for choice in choices() {
        for (algorithm, [seed, first, _]) in ALGORITHMS.into_iter().zip(MONTE) {
            let got = checkpoint(algorithm, choice, &bytes_of(seed));
            assert_eq!(got, bytes_of(first), "{algorithm:?} {choice:?}");
        }
    }
}

#[test]
fn the_hundredth_checkpoint_of_the_monte_carlo_chain_holds() {
    for (algorithm, [seed, _, hundredth]) in ALGORITHMS.into_iter().zip(MONTE) {
        let chain = (0..100).fold(bytes_of(seed), |seed, _| {
            checkpoint(algorithm, Choice::Best, &seed)
        });
        assert_eq!(chain, bytes_of(hundredth), "{algorithm:?}");
    }
}

#[test]
fn wrong_sizes_are_refused_and_write_nothing() {
    let sha256 = Algorithm::Sha256;
    let mut digests = [7; 64];
    let equal = |bytes: usize, each: usize, digests: &mut [u8]| {
        digest_equal(sha256, Choice::Best, &vec![0; bytes], each, digests).unwrap_err()
    };
    let expected = BatchError::MessagesLength {
        len: 127,
        expected: Some(128),
    };
    assert_eq!(equal(127, 64, &mut digests), expected);
    let expected = BatchError::DigestsLength {
        len: 63,
        digest_bytes: 32,
        messages: None,
    };
    assert_eq!(equal(128, 64, &mut digests[..63]), expected);
    let expected = BatchError::MessagesLength {
        len: 0,
        expected: None,
    };
    assert_eq!(equal(0, usize::MAX, &mut digests), expected);

    let ragged = |offsets: &[u32], digests: &mut [u8]| {
        digest_ragged(sha256, Choice::Best, &[0; 10], offsets, digests).unwrap_err()
    };
    let expected = BatchError::OffsetsLength {
        len: 0,
        messages: 0,
    };
    assert_eq!(ragged(&[], &mut []), expected);
    let expected = BatchError::OffsetsLength {
        len: 2,
        messages: 2,
    };
    assert_eq!(ragged(&[0, 1], &mut digests), expected);
    assert_eq!(
        ragged(&[0, 5, 4], &mut digests),
        BatchError::OffsetDescends { index: 2 }
    );
    let expected = BatchError::MessagesLength {
        len: 10,
        expected: Some(11),
    };
    assert_eq!(ragged(&[0, 5, 11], &mut digests), expected);

    let refused = digest_buffers(sha256, Choice::Best, &[b"one"], &mut digests);
    let expected = BatchError::DigestsLength {
        len: 64,
        digest_bytes: 32,
        messages: Some(1),
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(digests, [7; 64]);
}

#[test]
fn an_engine_this_cpu_lacks_is_refused_by_name_and_writes_nothing() {
    let mut digest = [7; 32];
    for engine in Engine::ALL
        .into_iter()
        .filter(|engine| !engine.is_available())
    {
        let refused = digest_equal(
            Algorithm::Sha256,
            Choice::Only(engine),
            b"abc",
            3,
            &mut digest,
        );
        assert_eq!(refused, Err(BatchError::Unavailable { engine }));
        assert!(
            BatchError::Unavailable { engine }
                .to_string()
                .contains(engine.name())
        );
    }
    assert_eq!(digest, [7; 32]);
    assert!(
        Engine::ALL.len() > Engine::available().len(),
        "no CPU is both an x86-64 and an AArch64 one"
    );
}

#[test]
fn the_reported_engine_is_the_requested_one() {
    for engine in Engine::available() {
        let mut digests = [0; 32 * 40];
        let used = digest_equal(
            Algorithm::Sha256,
            Choice::Only(*engine),
            &[0; 40 * 9],
            9,
            &mut digests,
        );
        assert_eq!(used, Ok(*engine));
        assert_eq!(Engine::from_name(engine.name()), Some(*engine));
    }
    assert_eq!(Engine::from_name("none"), None);
}
