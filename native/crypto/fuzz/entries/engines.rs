//! Entry of fuzzing and of `attestation/tests/mutated.rs`: any bytes as key, signature and message.
//!
//! Every engine gives one answer, alone and in batches of both kinds (judged each for itself, and
//! summed up).

use paceline_attestation::engine::engines;
use paceline_attestation::{Item, Signature, VerifyingKey, verify_batch_with};

/// A batch that is too small to be summed up, and one that is not.
const BATCHES: [usize; 2] = [3, 17];

/// Panics where that does not hold. The twin takes a hundred times as long as all others together: who enters
/// often leaves it out of most inputs.
pub(crate) fn enter(bytes: &[u8], with_twin: bool) {
    let Some((key, rest)) = bytes.split_first_chunk::<32>() else {
        return;
    };
    let Some((signature, message)) = rest.split_first_chunk::<64>() else {
        return;
    };
    let signature = Signature::from_bytes(*signature);
    let mut answers = Vec::new();
    let asked = |name: &str| with_twin || name != "twin";
    for engine in engines().iter().filter(|engine| asked(engine.name())) {
        // What an engine made of a key is kept in it: each has a key of its own.
        let Ok(key) = VerifyingKey::from_bytes(*key) else {
            return;
        };
        let item = Item {
            key: &key,
            message,
            signature: &signature,
        };
        answers.push((engine.name(), engine.verify(&key, message, &signature)));
        for size in BATCHES {
            let bad = verify_batch_with(&**engine, &vec![item; size]).bad;
            assert!(
                bad.is_empty() || bad.len() == size,
                "equal items, and {bad:?} are bad"
            );
            answers.push((engine.name(), bad.is_empty()));
        }
    }
    assert!(
        answers.iter().all(|(_, one)| *one == answers[0].1),
        "engines disagree: {answers:?}"
    );
}
