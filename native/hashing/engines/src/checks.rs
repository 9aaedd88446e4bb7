//! The checks at the start of each launch: published digests through every engine.

use std::fmt::Write;

use paceline_harness::Check;
use paceline_hashing_core::{Algorithm, Choice, Engine, digest_equal};

/// FIPS 180-4's examples (NIST `SHA1.pdf`, `SHA256.pdf`) and CAVP's empty message.
const VECTORS: [(&[u8], &str, &str); 3] = [
    (
        b"",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    (
        b"abc",
        "a9993e364706816aba3e25717850c26c9cd0d89d",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
];

/// `sha256_vectors` and `sha1_vectors`.
pub(crate) fn vectors() -> Vec<Check> {
    vec![
        check("sha256_vectors", Algorithm::Sha256),
        check("sha1_vectors", Algorithm::Sha1),
    ]
}

fn check(name: &str, algorithm: Algorithm) -> Check {
    let engines = Engine::available();
    let wrong: Vec<String> = engines
        .iter()
        .filter_map(|engine| wrong_in(algorithm, *engine))
        .collect();
    let ok = wrong.is_empty();
    let all = format!(
        "{} vectors in each of {} engines",
        VECTORS.len(),
        engines.len()
    );
    Check {
        name: name.to_owned(),
        ok,
        detail: if ok { all } else { wrong.join("; ") },
    }
}

fn wrong_in(algorithm: Algorithm, engine: Engine) -> Option<String> {
    for (message, sha1, sha256) in VECTORS {
        let expected = match algorithm {
            Algorithm::Sha1 => sha1,
            Algorithm::Sha256 => sha256,
        };
        let mut digest = vec![0; algorithm.digest_bytes()];
        if let Err(error) = digest_equal(
            algorithm,
            Choice::Only(engine),
            message,
            message.len(),
            &mut digest,
        ) {
            return Some(format!("{engine}: {error}"));
        }
        let digest = hex(&digest);
        if digest != expected {
            return Some(format!(
                "{engine}: {} bytes give {digest}, not {expected}",
                message.len()
            ));
        }
    }
    None
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
