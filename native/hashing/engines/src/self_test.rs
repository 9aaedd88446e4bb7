//! `--self-test`: the health check of a device, as one line of JSON instead of a bench stream.
//!
//! It runs before any job, so that a device whose CPU, storage or kernel gives wrong digests is
//! never measured. The expected digests are compiled in and were computed by Python's hashlib; `ok`
//! means that every engine of this CPU reproduces them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use paceline_hashing_core::{Algorithm, Choice, Engine, digest_equal};
use serde_json::json;

/// The option that asks for it, alone on the command line.
pub(crate) const OPTION: &str = "--self-test";
/// Version of the answer.
const ANSWER: u64 = 1;
/// As many messages as the widest engine has lanes, so that every lane digests.
const MESSAGES: usize = 16;
/// 16 of them are 1 MiB: more than any first-level cache holds, and a few milliseconds of the slowest engine.
const MESSAGE_BYTES: usize = 64 * 1024;
/// The period of the input: a prime, so that no two messages or blocks are alike.
const PERIOD: usize = 251;

/// The digest of the 16 messages' digests, one after the other. In Python, of the whole input `a`:
/// `f(b"".join(f(a[n : n + 65536]).digest() for n in range(0, 2**20, 65536)))`
const SHA256: &str = "dbfaf0aa57c1a21fdc00a674871d39cb18f95572b1f3262364ea51f056126118";
const SHA1: &str = "41ae57247fbd68a27f591abca3a8e67c0bea1823";

/// Prints the answer; fails when a digest is wrong or cannot be printed.
pub(crate) fn main() -> ExitCode {
    let (line, ok) = answer();
    let printed = writeln!(std::io::stdout(), "{line}").is_ok();
    if ok && printed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn answer() -> (String, bool) {
    let input: Vec<u8> = (0..MESSAGES * MESSAGE_BYTES)
        .map(|place| low_byte(place % PERIOD))
        .collect();
    let engines = Engine::available();
    let wrong: Vec<String> = [(Algorithm::Sha256, SHA256), (Algorithm::Sha1, SHA1)]
        .into_iter()
        .flat_map(|(algorithm, known)| {
            engines
                .iter()
                .map(move |engine| (algorithm, known, *engine))
        })
        .filter_map(|(algorithm, known, engine)| {
            let digest = digest_of_digests(algorithm, Choice::Only(engine), &input);
            (digest != known).then(|| format!("{engine}: {} gives {digest}", algorithm.name()))
        })
        .collect();
    let line = json!({
        "self_test": ANSWER,
        "ok": wrong.is_empty(),
        "wrong": wrong,
        "arch": std::env::consts::ARCH,
        "sha256": digest_of_digests(Algorithm::Sha256, Choice::Best, &input),
        "sha1": digest_of_digests(Algorithm::Sha1, Choice::Best, &input),
        "hardware_sha": engines.iter().any(|engine| matches!(engine, Engine::ShaNi | Engine::Armv8Ce)),
        "engines": engines.iter().map(|engine| engine.name()).collect::<Vec<_>>(),
    });
    (line.to_string(), wrong.is_empty())
}

fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// In hexadecimal, or why there is none.
fn digest_of_digests(algorithm: Algorithm, choice: Choice, input: &[u8]) -> String {
    let mut digests = vec![0; MESSAGES * algorithm.digest_bytes()];
    let mut digest = vec![0; algorithm.digest_bytes()];
    let done = digest_equal(algorithm, choice, input, MESSAGE_BYTES, &mut digests)
        .and_then(|_| digest_equal(algorithm, choice, &digests, digests.len(), &mut digest));
    match done {
        Err(error) => error.to_string(),
        Ok(_) => digest.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_of_this_cpu_computes_the_known_digests() {
        let (line, ok) = answer();
        assert!(ok, "{line}");
        assert!(line.contains(SHA256) && line.contains(SHA1), "{line}");
    }
}
