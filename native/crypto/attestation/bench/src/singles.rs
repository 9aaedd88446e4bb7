//! One at a time: keys, signatures, verifications, and the production calls.

use std::hint::black_box;
use std::rc::Rc;

use ed25519_dalek::{Signer as _, Verifier as _};
use paceline_attestation::engine::{by_name, engines};
use paceline_attestation::{
    Attestation, Domain, Refusal, SigningKey, VerifyingKey, generate_attestation,
    verify_attestation,
};
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};

use crate::compiled;
use crate::inputs::{Inputs, seed_of};
use crate::peers::{self, AWS_LC, DALEK, DALEK_IFMA, OURS, RING, ZEBRA, missing};
use crate::vectorised;

/// Messages: the seed's three sizes, and one that is mostly hashing.
const MESSAGES: [u64; 4] = [32, 128, 256, 65536];
/// Engines of ours that may sign or verify; which ones there are depends on the CPU and the build.
const OWN: [&str; 4] = ["portable", "aws_lc", "twin", "ifma"];

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn benchmark(
    name: &str,
    arms: &[&str],
    sizes: &[u64],
    prepare: impl Fn(&Context<'_>) -> Result<Prepared, Failure> + 'static,
) -> Benchmark {
    let params = if sizes.is_empty() {
        vec![]
    } else {
        vec![Param::int("message", sizes, 0, 1 << 20)]
    };
    Benchmark {
        name: name.to_owned(),
        arms: names(arms),
        params,
        metrics: vec![],
        prepare: Box::new(prepare),
    }
}

fn prepared(
    arms: Vec<Arm>,
    bytes: Option<u64>,
    verify: impl FnMut() -> Vec<Check> + 'static,
) -> Prepared {
    Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: bytes,
        verify: Box::new(verify),
    }
}

fn check(name: &str, ok: bool, detail: &str) -> Vec<Check> {
    vec![Check {
        name: name.to_owned(),
        ok,
        detail: detail.to_owned(),
    }]
}

/// From a seed to a key that can sign.
pub(crate) fn keygen() -> Benchmark {
    benchmark("keygen", &[DALEK, "aws_lc", "portable"], &[], |context| {
        let seed = seed_of(&mut paceline_harness::order::SplitMix64::new(context.seed));
        let mut arms = vec![Arm::counted(DALEK, 1, move || {
            ed25519_dalek::SigningKey::from_bytes(black_box(&seed))
                .verifying_key()
                .to_bytes()
        })];
        for name in ["aws_lc", "portable"] {
            arms.push(match by_name(name) {
                None => Arm::unavailable(name, missing(name)),
                Some(engine) => Arm::counted(name, 1, move || {
                    SigningKey::from_seed_with(engine, black_box(&seed)).is_ok()
                }),
            });
        }
        let dalek = ed25519_dalek::SigningKey::from_bytes(&seed)
            .verifying_key()
            .to_bytes();
        Ok(prepared(arms, None, move || {
            let same = SigningKey::from_seed(&seed)
                .is_ok_and(|key| *key.verifying_key().as_bytes() == dalek);
            check("keys_agree", same, "one seed, one public key")
        }))
    })
}

/// From 32 bytes to a key that can verify: what key objects pay once.
pub(crate) fn parse() -> Benchmark {
    benchmark("key_parse", &[DALEK, OURS, ZEBRA], &[], |context| {
        let bytes = *Inputs::new(1, 1, 32, context.seed)
            .key(0)
            .verifying_key()
            .as_bytes();
        let arms = vec![
            Arm::counted(DALEK, 1, move || {
                ed25519_dalek::VerifyingKey::from_bytes(black_box(&bytes)).is_ok()
            }),
            Arm::counted(OURS, 1, move || {
                VerifyingKey::from_bytes(black_box(bytes)).is_ok()
            }),
            Arm::counted(ZEBRA, 1, move || {
                ed25519_zebra::VerificationKey::try_from(black_box(bytes)).is_ok()
            }),
        ];
        Ok(prepared(arms, None, move || {
            check(
                "keys_agree",
                VerifyingKey::from_bytes(bytes).is_ok(),
                "the key parses",
            )
        }))
    })
}

/// A bare signature with a key that is ready.
pub(crate) fn sign() -> Benchmark {
    let arms = [DALEK, RING, AWS_LC, ZEBRA, "portable", "aws_lc", OURS];
    benchmark("sign", &arms, &MESSAGES, |context| {
        let bytes = context.int("message");
        let inputs = Rc::new(Inputs::new(
            1,
            1,
            usize::try_from(bytes).unwrap_or(0),
            context.seed,
        ));
        let seed = *inputs.key(0).seed();
        let message = || Rc::<[u8]>::from(inputs.messages[0].as_slice());
        let dalek = ed25519_dalek::SigningKey::from_bytes(&seed);
        let zebra = ed25519_zebra::SigningKey::from(seed);
        let (one, two) = (message(), message());
        let [ring, aws] = compiled::sign(&seed, &message())?;
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || dalek.sign(black_box(&one))),
            ring,
            aws,
            Arm::counted(ZEBRA, 1, move || zebra.sign(black_box(&two))),
        ];
        for name in ["portable", "aws_lc"] {
            let key =
                by_name(name).and_then(|engine| SigningKey::from_seed_with(engine, &seed).ok());
            let message = message();
            arms.push(match key {
                None => Arm::unavailable(name, missing(name)),
                Some(key) => Arm::counted(name, 1, move || key.sign(black_box(&message))),
            });
        }
        let own = Rc::clone(&inputs);
        arms.push(Arm::counted(OURS, 1, move || {
            own.key(0).sign(black_box(&own.messages[0]))
        }));
        let dalek = ed25519_dalek::SigningKey::from_bytes(&seed);
        Ok(prepared(arms, Some(bytes), move || {
            let (message, made) = (&inputs.messages[0], &inputs.signatures[0]);
            let same = dalek.sign(message).to_bytes() == *made.as_bytes();
            check("signatures_agree", same, "ours and ed25519-dalek's bytes")
        }))
    })
}

/// One verification with a key that is parsed.
pub(crate) fn verify() -> Benchmark {
    let arms = [
        DALEK, RING, AWS_LC, ZEBRA, DALEK_IFMA, "portable", "aws_lc", "twin", "ifma", OURS,
    ];
    benchmark("verify", &arms, &MESSAGES, |context| {
        let bytes = context.int("message");
        let inputs = Rc::new(Inputs::new(
            1,
            1,
            usize::try_from(bytes).unwrap_or(0),
            context.seed,
        ));
        let raw = *inputs.key(0).verifying_key().as_bytes();
        let signature = *inputs.signatures[0].as_bytes();
        let one = peers::of(&inputs)?;
        let two = Rc::clone(&one);
        let [ring, aws] =
            compiled::verify(raw, signature, &Rc::from(inputs.messages[0].as_slice()));
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || one.dalek_verify()),
            ring,
            aws,
            Arm::counted(ZEBRA, 1, move || two.zebra_verify()),
        ];
        arms.extend(vectorised::arms(
            &inputs,
            1,
            [(DALEK_IFMA, "paceline_peers_dalek_verify")],
        )?);
        arms.extend(OWN.map(|name| own_verify(name, &inputs)));
        let own = Rc::clone(&inputs);
        arms.push(Arm::counted(OURS, 1, move || bare_verify(&own)));
        Ok(prepared(arms, Some(bytes), move || {
            let item = inputs.items()[0];
            let wrong: Vec<&str> = engines()
                .iter()
                .filter(|engine| !engine.verify(item.key, item.message, item.signature))
                .map(|engine| engine.name())
                .collect();
            check("engines_agree", wrong.is_empty(), &wrong.join(" "))
        }))
    })
}

/// One verification with a key that was just parsed, parsing included: what a key costs that is used once.
/// `ifma` makes the multiples that later verifications use; `ours` leaves that to a second one.
pub(crate) fn verify_first() -> Benchmark {
    let arms = [DALEK, ZEBRA, "portable", "aws_lc", "ifma", OURS];
    benchmark("verify_first", &arms, &MESSAGES[..3], |context| {
        let bytes = context.int("message");
        let inputs = Rc::new(Inputs::new(
            1,
            1,
            usize::try_from(bytes).unwrap_or(0),
            context.seed,
        ));
        let raw = *inputs.key(0).verifying_key().as_bytes();
        let [signature, zebra] = [(); 2].map(|()| *inputs.signatures[0].as_bytes());
        let message = || Rc::<[u8]>::from(inputs.messages[0].as_slice());
        let (one, two, own) = (message(), message(), Rc::clone(&inputs));
        let (signature, zebra) = (
            ed25519_dalek::Signature::from_bytes(&signature),
            ed25519_zebra::Signature::from(zebra),
        );
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || {
                let key = ed25519_dalek::VerifyingKey::from_bytes(black_box(&raw));
                key.is_ok_and(|key| key.verify(black_box(&one), &signature).is_ok())
            }),
            Arm::counted(ZEBRA, 1, move || {
                let key = ed25519_zebra::VerificationKey::try_from(black_box(raw));
                key.is_ok_and(|key| key.verify(&zebra, black_box(&two)).is_ok())
            }),
        ];
        arms.extend(["portable", "aws_lc", "ifma"].map(|name| own_first(name, raw, &inputs)));
        arms.push(Arm::counted(OURS, 1, move || {
            VerifyingKey::from_bytes(black_box(raw))
                .is_ok_and(|key| key.verify(black_box(&own.messages[0]), &own.signatures[0]))
        }));
        Ok(prepared(arms, Some(bytes), move || {
            let good = |key: &VerifyingKey| key.verify(&inputs.messages[0], &inputs.signatures[0]);
            let both = VerifyingKey::from_bytes(raw).is_ok_and(|key| good(&key) && good(&key));
            check("first_and_second_agree", both, "the same signature twice")
        }))
    })
}

fn own_first(name: &'static str, raw: [u8; 32], inputs: &Rc<Inputs>) -> Arm {
    let Some(engine) = by_name(name) else {
        return Arm::unavailable(name, missing(name));
    };
    let inputs = Rc::clone(inputs);
    Arm::counted(name, 1, move || {
        VerifyingKey::from_bytes(black_box(raw)).is_ok_and(|key| {
            engine.verify(&key, black_box(&inputs.messages[0]), &inputs.signatures[0])
        })
    })
}

fn own_verify(name: &'static str, inputs: &Rc<Inputs>) -> Arm {
    let Some(engine) = by_name(name) else {
        return Arm::unavailable(name, missing(name));
    };
    let inputs = Rc::clone(inputs);
    Arm::counted(name, 1, move || {
        engine.verify(
            inputs.key(0).verifying_key(),
            black_box(&inputs.messages[0]),
            &inputs.signatures[0],
        )
    })
}

/// By the engine that the library chooses.
fn bare_verify(inputs: &Inputs) -> bool {
    inputs
        .key(0)
        .verifying_key()
        .verify(black_box(&inputs.messages[0]), &inputs.signatures[0])
}

/// What a product calls, serialisation included, beside the bare signature and verification.
pub(crate) fn production() -> Benchmark {
    let arms = [
        "bare_sign",
        "generate_attestation",
        "bare_verify",
        "parse_and_verify",
    ];
    benchmark("production", &arms, &[32, 128, 256], move |context| {
        let bytes = context.int("message");
        let inputs = Rc::new(Inputs::new(
            1,
            1,
            usize::try_from(bytes).unwrap_or(0),
            context.seed,
        ));
        let refused = |refusal: Refusal| Failure::new("refused", refusal.to_string());
        let domain = Domain::new("poi.block").map_err(refused)?;
        let made =
            generate_attestation(inputs.key(0), &domain, &inputs.messages[0]).map_err(refused)?;
        let encoded: Rc<[u8]> = Rc::from(made.as_bytes());
        let verified = move |inputs: &Inputs, encoded: &[u8]| {
            let parsed = Attestation::from_bytes(encoded);
            parsed.is_ok_and(|made| {
                verify_attestation(inputs.key(0).verifying_key(), &domain, &made).is_ok()
            })
        };
        let (one, two, three, four) = (
            Rc::clone(&inputs),
            Rc::clone(&inputs),
            Rc::clone(&inputs),
            Rc::clone(&inputs),
        );
        let sent = Rc::clone(&encoded);
        let arms = vec![
            Arm::counted(arms[0], 1, move || {
                one.key(0).sign(black_box(&one.messages[0]))
            }),
            Arm::counted(arms[1], 1, move || {
                let made = generate_attestation(two.key(0), &domain, black_box(&two.messages[0]));
                made.map(Attestation::into_bytes)
            }),
            Arm::counted(arms[2], 1, move || bare_verify(&three)),
            Arm::counted(arms[3], 1, move || verified(&four, black_box(&sent))),
        ];
        Ok(prepared(arms, Some(bytes), move || {
            check(
                "attestation_verifies",
                verified(&inputs, &encoded),
                "generated, encoded, parsed, verified",
            )
        }))
    })
}
