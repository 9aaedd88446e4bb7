//! Checks on many inputs, some of them hostile, that the engines agree with ed25519-dalek and
//! AWS-LC.
//!
//! `agreement.rs` checks every engine, the slow ones too, on few inputs. Here are enough inputs for
//! rare cases. `PACELINE_ATTESTATION_DIFFERENTIAL` sets their number.

mod adversary;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use adversary::{Forgery, KINDS, Random, forge};
use curve25519_dalek::edwards::CompressedEdwardsY;
use ed25519_dalek::Verifier as _;
use paceline_attestation::engine::by_name;
use paceline_attestation::{Item, Signature, VerifyingKey, verify_batch_with};

/// The number of inputs in an ordinary test run.
const MANY: usize = 100_000;
/// The number of inputs that are judged together, as one batch.
const GROUP: usize = 256;
/// The kinds of which ZIP 215 may accept a signature only by its cofactor or its lax encodings.
const ONLY_ZIP_215: std::ops::RangeInclusive<usize> = 1..=5;

/// Returns the number of inputs: `MANY`, unless the environment sets another.
fn inputs() -> usize {
    let asked = std::env::var("PACELINE_ATTESTATION_DIFFERENTIAL").ok();
    asked.map_or(MANY, |text| {
        text.parse()
            .expect("PACELINE_ATTESTATION_DIFFERENTIAL is a number")
    })
}

/// Returns what ed25519-dalek decides, by the equation without the cofactor.
fn dalek_says(forgery: &Forgery) -> bool {
    let key = ed25519_dalek::VerifyingKey::from_bytes(&forgery.key);
    let signature = ed25519_dalek::Signature::from_bytes(&forgery.signature);
    key.is_ok_and(|key| key.verify(&forgery.message, &signature).is_ok())
}

/// Returns what AWS-LC decides by the same equation. It refuses keys that are not canonical.
#[cfg(not(target_env = "musl"))]
fn aws_lc_says(forgery: &Forgery) -> bool {
    use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
    let key = UnparsedPublicKey::new(&ED25519, &forgery.key);
    key.verify(&forgery.message, &forgery.signature).is_ok()
}

/// Returns what AWS-LC would decide, because static programs do not have it.
#[cfg(target_env = "musl")]
fn aws_lc_says(forgery: &Forgery) -> bool {
    dalek_says(forgery) && is_canonical(forgery.key)
}

/// Returns what `portable` decides by ZIP 215, after comparing it with AWS-LC. They may differ only
/// where the cofactor or an encoding explains it; then ed25519-dalek refuses canonical keys, too.
fn is_good(key: &VerifyingKey, signature: &Signature, kind: usize, forgery: &Forgery) -> bool {
    let portable = by_name("portable").expect("always there");
    let good = portable.verify(key, &forgery.message, signature);
    let plain = aws_lc_says(forgery);
    if good != plain {
        assert!(good, "AWS-LC takes what ZIP 215 refuses: {forgery:02x?}");
        assert!(
            ONLY_ZIP_215.contains(&kind),
            "good by the cofactor only: {forgery:02x?}"
        );
        let dalek = dalek_says(forgery);
        assert!(
            !dalek || !is_canonical(forgery.key),
            "AWS-LC refuses {forgery:02x?}"
        );
    }
    good
}

/// Returns whether these bytes are the canonical encoding of a point.
fn is_canonical(key: [u8; 32]) -> bool {
    CompressedEdwardsY(key)
        .decompress()
        .is_some_and(|point| point.compress().to_bytes() == key)
}

/// An input with the decision of ZIP 215 about it.
struct Judged {
    key: [u8; 32],
    forgery: Forgery,
    signature: Signature,
    good: bool,
}

/// Parsed keys by their bytes. Each is parsed once, as in a service, so engines keep multiples.
type Keys = HashMap<[u8; 32], VerifyingKey>;

/// Judges one input, and checks that an engine agrees about it alone. Returns none if the key is no
/// point.
fn judged(keys: &mut Keys, kind: usize, forgery: Forgery) -> Option<Judged> {
    let bytes = forgery.key;
    if let Entry::Vacant(place) = keys.entry(bytes) {
        let Ok(key) = VerifyingKey::from_bytes(bytes) else {
            assert!(!aws_lc_says(&forgery), "no point, and good: {forgery:02x?}");
            return None;
        };
        place.insert(key);
    }
    let key = &keys[&bytes];
    let signature = Signature::from_bytes(forgery.signature);
    let good = is_good(key, &signature, kind, &forgery);
    let said = match by_name("ifma") {
        Some(lanes) => lanes.verify(key, &forgery.message, &signature),
        None => key.verify(&forgery.message, &signature),
    };
    assert_eq!(said, good, "{forgery:02x?}");
    Some(Judged {
        key: bytes,
        forgery,
        signature,
        good,
    })
}

#[test]
fn engines_say_what_dalek_and_aws_lc_say() {
    let mut random = Random(25_519);
    let (mut left, mut keys) = (inputs(), Keys::new());
    let (mut accepted, mut refused) = (0, 0);
    let mut of_kind = [0_usize; KINDS];
    for group in 0.. {
        if left == 0 {
            break;
        }
        let size = GROUP.min(left);
        left -= size;
        let all: Vec<Judged> = (0..size)
            .filter_map(|_| {
                let kind = random.below(KINDS);
                of_kind[kind] += 1;
                judged(&mut keys, kind, forge(&mut random, kind))
            })
            .collect();
        // A batch has all good inputs and up to two bad ones, so it fails and is halved.
        let (good, bad): (Vec<&Judged>, Vec<&Judged>) = all.iter().partition(|one| one.good);
        (accepted, refused) = (accepted + good.len(), refused + bad.len());
        let mut batch = good;
        let mut culprits: Vec<usize> = Vec::new();
        for (place, one) in bad.into_iter().take(group / 3 % 3).enumerate() {
            culprits.push(2 * place);
            batch.insert((2 * place).min(batch.len()), one);
        }
        let items: Vec<Item<'_>> = batch
            .iter()
            .map(|one| Item {
                key: &keys[&one.key],
                message: &one.forgery.message,
                signature: &one.signature,
            })
            .collect();
        // Batches of `portable` take most of the time, so it checks only every third group.
        let asked = if group % 3 == 1 {
            &["ifma", "portable"][..]
        } else {
            &["ifma"]
        };
        for name in asked {
            let Some(engine) = by_name(name) else {
                continue;
            };
            assert_eq!(
                verify_batch_with(engine, &items).bad,
                culprits,
                "{name}, group {group}"
            );
        }
    }
    assert!(of_kind.iter().all(|count| *count > 0), "{of_kind:?}");
    assert!(
        accepted > refused && refused > accepted / 8,
        "{accepted} good, {refused} bad"
    );
}
