//! Every engine, alone and in batches, agrees with ed25519-zebra as an independent verifier.
//!
//! `PACELINE_ATTESTATION_INPUTS` sets the number of inputs; 1,000,000 are run by hand (README.md).

mod adversary;

use adversary::{Forgery, KINDS, Random, forge};
use paceline_attestation::engine::{by_name, engines, prefer};
use paceline_attestation::{Item, Signature, VerifyingKey, verify_batch, verify_batch_with};

/// Inputs in an ordinary test run.
const FEW: usize = 600;

fn inputs() -> usize {
    let asked = std::env::var("PACELINE_ATTESTATION_INPUTS").ok();
    asked.map_or(FEW, |text| {
        text.parse()
            .expect("PACELINE_ATTESTATION_INPUTS is a number")
    })
}

struct Parsed {
    key: VerifyingKey,
    message: Vec<u8>,
    signature: Signature,
    good: bool,
}

/// What the oracle says, after ed25519-zebra said the same.
fn judged(forgery: Forgery) -> Option<Parsed> {
    let Forgery {
        key,
        message,
        signature,
    } = forgery;
    let zebra = ed25519_zebra::VerificationKey::try_from(key);
    let own = VerifyingKey::from_bytes(key);
    assert_eq!(own.is_ok(), zebra.is_ok(), "is {key:02x?} a key?");
    let (own, zebra) = (own.ok()?, zebra.ok()?);
    let witness = zebra.verify(&signature.into(), &message).is_ok();
    let signature = Signature::from_bytes(signature);
    let good = by_name("portable")
        .expect("always there")
        .verify(&own, &message, &signature);
    assert_eq!(
        good, witness,
        "portable and ed25519-zebra on {own:?} {message:02x?} {signature:?}"
    );
    Some(Parsed {
        key: own,
        message,
        signature,
        good,
    })
}

fn every_engine_agrees(batch: &[Parsed]) {
    let items: Vec<Item<'_>> = batch
        .iter()
        .map(|parsed| Item {
            key: &parsed.key,
            message: &parsed.message,
            signature: &parsed.signature,
        })
        .collect();
    let bad: Vec<usize> = (0..batch.len())
        .filter(|index| !batch[*index].good)
        .collect();
    for engine in engines() {
        // What an engine made of a key is kept in it: each engine has keys of its own.
        let keys: Vec<VerifyingKey> = batch
            .iter()
            .map(|parsed| parsed_again(&parsed.key))
            .collect();
        let items: Vec<Item<'_>> = items
            .iter()
            .zip(&keys)
            .map(|(item, key)| Item { key, ..*item })
            .collect();
        // The twin alone takes as long as eight, and nothing in a batch goes that way: of each batch one,
        // alone with a new key and then with the others.
        let first = if engine.name() == "twin" {
            1
        } else {
            batch.len()
        };
        for used in [false, true] {
            let alone = |item: &Item<'_>| engine.verify(item.key, item.message, item.signature);
            let mut both = items.iter().zip(batch).take(first);
            let wrong = both.position(|(item, parsed)| alone(item) != parsed.good);
            assert_eq!(
                wrong,
                None,
                "{} alone, of a key that was used: {used}",
                engine.name()
            );
            assert_eq!(
                verify_batch_with(&**engine, &items).bad,
                bad,
                "{} in a batch",
                engine.name()
            );
        }
    }
    chosen_engines_agree(batch, &items, &bad);
}

/// Batches of keys that are new, and the first and second verification of one, by whom the library chooses.
fn chosen_engines_agree(batch: &[Parsed], items: &[Item<'_>], bad: &[usize]) {
    let keys: Vec<VerifyingKey> = batch
        .iter()
        .map(|parsed| parsed_again(&parsed.key))
        .collect();
    let items: Vec<Item<'_>> = items
        .iter()
        .zip(&keys)
        .map(|(item, key)| Item { key, ..*item })
        .collect();
    assert_eq!(verify_batch(&items).bad, bad, "a batch");
    for (item, parsed) in items.iter().zip(batch).take(1) {
        let new = parsed_again(item.key);
        let said = [(); 3].map(|()| new.verify(item.message, item.signature));
        assert_eq!(
            said, [parsed.good; 3],
            "a new key's first, second and third"
        );
        assert_eq!(
            item.key.verify(item.message, item.signature),
            parsed.good,
            "after a batch"
        );
    }
}

fn parsed_again(key: &VerifyingKey) -> VerifyingKey {
    VerifyingKey::from_bytes(*key.as_bytes()).expect("it was one before")
}

#[test]
fn single_and_batch_of_every_engine_agree_on_adversarial_inputs() {
    // Where the CPU has them, lanes are what the library chooses: a key's first verification is another's then.
    let in_lanes = prefer("ifma");
    assert_eq!(in_lanes, by_name("ifma").is_some());
    assert!(!prefer("twin"), "the first choice stays");
    let mut random = Random(215);
    let (mut left, mut good, mut asked) = (inputs(), 0, 0);
    while left > 0 {
        let size = [1, 2, 7, 8, 9, 17, 33, 100, 256][random.below(9)].min(left);
        left -= size;
        // Half of the batches are hostile throughout; in the others all can be accepted but one or two.
        let hostile = random.below(2) == 1;
        let culprits = [random.below(size), random.below(size)];
        let batch: Vec<Parsed> = (0..size)
            .filter_map(|index| {
                let any = hostile || culprits.contains(&index);
                let kind = if any {
                    random.below(KINDS)
                } else {
                    random.below(6)
                };
                judged(forge(&mut random, kind))
            })
            .collect();
        every_engine_agrees(&batch);
        asked += batch.len();
        good += batch.iter().filter(|parsed| parsed.good).count();
    }
    assert!(
        good > asked / 2 && good < asked,
        "{good} of {asked} are good: the mix tests nothing"
    );
}

#[test]
fn one_bad_signature_among_256_is_named_wherever_it_is() {
    let mut random = Random(256);
    let honest: Vec<Parsed> = (0..256)
        .filter_map(|_| judged(forge(&mut random, 0)))
        .collect();
    // An emulator is asked for few inputs: there it is at both sides of the first cut.
    let places = if inputs() < FEW {
        &[127, 128][..]
    } else {
        &[0, 1, 127, 128, 200, 255]
    };
    for place in places.iter().copied() {
        let mut items: Vec<Item<'_>> = honest
            .iter()
            .map(|parsed| Item {
                key: &parsed.key,
                message: &parsed.message,
                signature: &parsed.signature,
            })
            .collect();
        items[place].message = b"not what was signed, whatever that was: it has at most 48 bytes";
        for engine in engines() {
            assert_eq!(
                verify_batch_with(&**engine, &items).bad,
                [place],
                "{}",
                engine.name()
            );
        }
    }
}

/// More signatures than one equation takes: indices go on where the next equation begins.
#[test]
fn bad_signatures_of_a_batch_of_several_equations_are_named() {
    let parsed = judged(forge(&mut Random(4096), 0)).expect("an honest signature");
    let item = Item {
        key: &parsed.key,
        message: &parsed.message,
        signature: &parsed.signature,
    };
    let mut items = vec![item; 4099];
    let bad = [0, 4095, 4096, 4098];
    for place in bad {
        items[place].message = b"not what was signed, whatever that was: it has at most 48 bytes";
    }
    let engine = by_name("ifma")
        .or(by_name("portable"))
        .expect("portable is always there");
    assert_eq!(verify_batch_with(engine, &items).bad, bad);
}
