//! The production calls, and parsers that meet any bytes without panicking.

use paceline_attestation::{
    Attestation, Domain, PAYLOAD_BYTES_MAX, Refusal, Signature, SigningKey, Verified, VerifyingKey,
    engine, generate_attestation, verify_attestation, verify_attestation_with, verify_batch,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn key(byte: u8) -> SigningKey {
    SigningKey::from_seed(&[byte; 32]).expect("an engine signs")
}

fn domain(label: &str) -> Domain {
    Domain::new(label).expect("a label")
}

fn attested(key: &SigningKey, domain: &Domain, payload: &[u8]) -> Attestation {
    generate_attestation(key, domain, payload).expect("short enough")
}

/// What a good attestation comes to on this CPU, the key's first and later ones.
fn believed() -> [Verified; 2] {
    [engine::first(), engine::single()].map(|engine| Verified {
        engine: engine.name(),
    })
}

#[test]
fn an_attestation_is_believed_of_its_key_in_its_domain_only() {
    let (alice, bob) = (key(1), key(2));
    let (blocks, votes) = (domain("poi.block"), domain("poi.vote"));
    let made = attested(&alice, &blocks, b"block 7");
    for verified in believed() {
        assert_eq!(
            verify_attestation(alice.verifying_key(), &blocks, &made),
            Ok(verified)
        );
    }
    assert_eq!(
        verify_attestation(bob.verifying_key(), &blocks, &made),
        Err(Refusal::OtherKey)
    );
    assert_eq!(
        verify_attestation(alice.verifying_key(), &votes, &made),
        Err(Refusal::OtherDomain)
    );
    // The same payload in another domain has another signature, and so have the bare bytes.
    let other = attested(&alice, &votes, b"block 7");
    assert_ne!(other.signature(), made.signature());
    assert!(!alice.verifying_key().verify(b"block 7", made.signature()));
}

#[test]
fn every_verdict_about_an_attestation_names_the_engine_that_judged() {
    let (alice, about) = (key(1), domain("poi.block"));
    let made = attested(&alice, &about, b"block 7");
    let mut bytes = made.as_bytes().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    let forged = Attestation::from_bytes(&bytes).expect("still well formed");
    for by in engine::engines() {
        let (engine, key) = (by.name(), alice.verifying_key());
        assert_eq!(
            verify_attestation_with(&**by, key, &about, &made),
            Ok(Verified { engine })
        );
        let refused = verify_attestation_with(&**by, key, &about, &forged);
        assert_eq!(refused, Err(Refusal::Signature { engine }));
        assert!(refused.is_err_and(|refusal| refusal.to_string().ends_with(engine)));
    }
}

#[test]
fn domain_and_payload_cannot_lend_each_other_a_byte() {
    let alice = key(1);
    let one = attested(&alice, &domain("ab"), b"c");
    let other = attested(&alice, &domain("a"), b"bc");
    assert_ne!(one.signature(), other.signature());
}

#[test]
fn a_batch_of_attestations_names_the_forged_one() {
    let (alice, about) = (key(1), domain("poi.block"));
    let mut made: Vec<Attestation> = (0..40_u8)
        .map(|index| attested(&alice, &about, &[index; 32]))
        .collect();
    let mut bytes = made[9].as_bytes().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    made[9] = Attestation::from_bytes(&bytes).expect("still well formed");
    let items: Vec<_> = made
        .iter()
        .filter_map(|one| one.item(alice.verifying_key(), &about).ok())
        .collect();
    assert_eq!(verify_batch(&items).bad, [9]);
}

#[test]
fn what_is_too_long_is_neither_made_nor_parsed() {
    let (alice, about) = (key(1), domain("poi.block"));
    let mut payload = vec![7; PAYLOAD_BYTES_MAX];
    let longest = attested(&alice, &about, &payload);
    assert_eq!(
        Attestation::from_bytes(longest.as_bytes()).as_ref(),
        Ok(&longest)
    );
    assert_eq!(
        verify_attestation(alice.verifying_key(), &about, &longest),
        Ok(believed()[0])
    );
    payload.push(7);
    assert_eq!(
        generate_attestation(&alice, &about, &payload),
        Err(Refusal::TooLong)
    );
    let mut bytes = longest.into_bytes();
    bytes.push(7);
    assert_eq!(Attestation::from_bytes(&bytes), Err(Refusal::TooLong));
}

#[test]
fn secrets_are_not_printed() {
    let printed = format!("{:?}", key(0xab));
    assert!(
        printed.contains("public") && !printed.contains("abab"),
        "{printed}"
    );
}

proptest! {
    #[test]
    fn what_is_generated_parses_back_to_the_same_bytes(
        seed: [u8; 32], label in "[!-~]{1,32}", payload in vec(any::<u8>(), 0..300),
    ) {
        let alice = SigningKey::from_seed(&seed).expect("an engine signs");
        let made = attested(&alice, &domain(&label), &payload);
        let again = attested(&alice, &domain(&label), &payload);
        prop_assert_eq!(made.as_bytes(), again.as_bytes());
        let parsed = Attestation::from_bytes(made.as_bytes()).expect("our own encoding");
        prop_assert_eq!(&parsed, &made);
        prop_assert_eq!(parsed.payload(), payload.as_slice());
        prop_assert_eq!(parsed.domain().label(), label.as_str());
        let verified = verify_attestation(alice.verifying_key(), &domain(&label), &parsed);
        prop_assert_eq!(verified, Ok(believed()[0]));
    }

    #[test]
    fn any_bytes_parse_to_themselves_or_are_refused(mut bytes in vec(any::<u8>(), 0..160), mark: bool) {
        if mark && bytes.len() > 102 {
            bytes[96..101].copy_from_slice(b"PLAT\x01");
            bytes[101] %= 40;
            bytes[102..].iter_mut().for_each(|byte| *byte = *byte % 94 + b'!');
        }
        match Attestation::from_bytes(&bytes) {
            Ok(parsed) => prop_assert_eq!(parsed.as_bytes(), bytes.as_slice()),
            Err(refusal) => prop_assert_eq!(refusal, Refusal::Malformed),
        }
    }

    #[test]
    fn any_key_and_signature_bytes_are_judged(key: [u8; 32], first: [u8; 32], second: [u8; 32]) {
        if let Ok(key) = VerifyingKey::from_bytes(key) {
            let mut bytes = [0; 64];
            bytes[..32].copy_from_slice(&first);
            bytes[32..].copy_from_slice(&second);
            prop_assert!(!key.verify(b"never signed", &Signature::from_bytes(bytes)));
        }
    }
}
