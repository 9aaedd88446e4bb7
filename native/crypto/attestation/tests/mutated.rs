//! Runs the entry points of fuzzing (`../../fuzz`) on seeded changes of honest and crafted inputs.
//! `PACELINE_ATTESTATION_INPUTS` sets their number, as for `agreement.rs`.

mod adversary;
#[path = "../../fuzz/entries/engines.rs"]
mod engines;
#[path = "../../fuzz/entries/mutation.rs"]
mod mutation;
#[path = "../../fuzz/entries/parsers.rs"]
mod parsers;

use adversary::{KINDS, forge};
use mutation::{Random, mutated};
use paceline_attestation::{Domain, SigningKey, generate_attestation};

/// Returns the number of inputs: `few`, unless the environment sets another.
fn inputs(few: usize) -> usize {
    let asked = std::env::var("PACELINE_ATTESTATION_INPUTS").ok();
    asked.map_or(few, |text| {
        text.parse()
            .expect("PACELINE_ATTESTATION_INPUTS is a number")
    })
}

#[test]
fn changed_attestations_and_labels_are_refused_or_have_one_encoding() {
    let key = SigningKey::from_seed(&[7; 32]).expect("an engine signs");
    let about = Domain::new("poi.block").expect("a label");
    let made = generate_attestation(&key, &about, b"block 7")
        .expect("short enough")
        .into_bytes();
    let mut random = Random(8);
    for right in [made.as_slice(), b"poi.block"] {
        parsers::enter(right);
        for _ in 0..inputs(4_000) {
            parsers::enter(&mutated(&mut random, right));
        }
    }
}

#[test]
fn engines_agree_on_changed_signatures_alone_and_in_batches() {
    let (mut random, mut crafted) = (Random(8), adversary::Random(8));
    for number in 0..inputs(24) {
        let forgery = forge(&mut crafted, number % KINDS);
        let right = [forgery.key.as_slice(), &forgery.signature, &forgery.message].concat();
        engines::enter(&right, true);
        engines::enter(&mutated(&mut random, &right), true);
    }
}
