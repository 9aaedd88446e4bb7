//! One at a time: keys, signatures, verifications, and the production calls.

use std::hint::black_box;
use std::rc::Rc;

use ed25519_dalek::{Signer as _, Verifier as _};
use paceline_attestation::engine::{by_name, engines};
use paceline_attestation::{
    Attestation, Domain, Item, Refusal, SigningKey, VerifyingKey, generate_attestation,
    verify_attestation,
};
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared};

use crate::compiled;
use crate::inputs::{Inputs, Turns, seed_of};
use crate::peers::{self, AWS_LC, DALEK, DALEK_IFMA, OURS, RING, ZEBRA, missing};
use crate::vectorised;

/// Messages: the seed's three sizes, and one that is mostly hashing.
const MESSAGES: [u64; 4] = [32, 128, 256, 65536];
/// The seed's smallest and largest.
const ONE_KEY_MESSAGES: [u64; 2] = [32, 256];
/// Keys, messages and signatures that take turns.
const DISTINCT: usize = 256;
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

/// A bare signature with a key that is ready, of as many keys and messages as [`DISTINCT`].
pub(crate) fn sign() -> Benchmark {
    signing("sign", DISTINCT, &MESSAGES)
}

/// The same of one key and one message: what a loop over one signature flatters.
pub(crate) fn sign_one_key() -> Benchmark {
    signing("sign_one_key", 1, &ONE_KEY_MESSAGES)
}

fn signing(name: &str, count: usize, sizes: &[u64]) -> Benchmark {
    let arms = [DALEK, RING, AWS_LC, ZEBRA, "portable", "aws_lc", OURS];
    benchmark(name, &arms, sizes, move |context| {
        let bytes = context.int("message");
        let inputs = distinct(count, context);
        let seeds: Vec<[u8; 32]> = inputs.keys.iter().map(|key| *key.seed()).collect();
        let dalek: Rc<[_]> = seeds
            .iter()
            .map(ed25519_dalek::SigningKey::from_bytes)
            .collect();
        let zebra: Vec<_> = seeds
            .iter()
            .map(|seed| ed25519_zebra::SigningKey::from(*seed))
            .collect();
        let turn = || (Rc::clone(&inputs), Turns::of(&inputs));
        let [ring, aws] = compiled::sign(&inputs)?;
        let (for_dalek, dalek_turns) = turn();
        let (for_zebra, zebra_turns) = turn();
        let keys = Rc::clone(&dalek);
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || {
                let at = dalek_turns.next();
                keys[at].sign(black_box(&for_dalek.messages[at]))
            }),
            ring,
            aws,
            Arm::counted(ZEBRA, 1, move || {
                let at = zebra_turns.next();
                zebra[at].sign(black_box(&for_zebra.messages[at]))
            }),
        ];
        for name in ["portable", "aws_lc"] {
            let keys: Option<Vec<SigningKey>> = by_name(name).and_then(|engine| {
                let own = |seed| SigningKey::from_seed_with(engine, seed).ok();
                seeds.iter().map(own).collect()
            });
            let (inputs, turns) = turn();
            arms.push(match keys {
                None => Arm::unavailable(name, missing(name)),
                Some(keys) => Arm::counted(name, 1, move || {
                    let at = turns.next();
                    keys[at].sign(black_box(&inputs.messages[at]))
                }),
            });
        }
        let (own, turns) = turn();
        arms.push(Arm::counted(OURS, 1, move || {
            let at = turns.next();
            own.key(at).sign(black_box(&own.messages[at]))
        }));
        Ok(prepared(arms, Some(bytes), move || {
            let same = inputs
                .messages
                .iter()
                .zip(&inputs.signatures)
                .zip(&*dalek)
                .all(|((message, made), key)| key.sign(message).to_bytes() == *made.as_bytes());
            check("signatures_agree", same, "ours and ed25519-dalek's bytes")
        }))
    })
}

/// One verification with a key that is parsed, of as many keys, messages and signatures as [`DISTINCT`].
pub(crate) fn verify() -> Benchmark {
    verifying("verify", DISTINCT, &MESSAGES)
}

/// The same of one key, one message and one signature.
pub(crate) fn verify_one_key() -> Benchmark {
    verifying("verify_one_key", 1, &ONE_KEY_MESSAGES)
}

fn verifying(name: &str, count: usize, sizes: &[u64]) -> Benchmark {
    let arms = [
        DALEK, RING, AWS_LC, ZEBRA, DALEK_IFMA, "portable", "aws_lc", "twin", "ifma", OURS,
    ];
    benchmark(name, &arms, sizes, move |context| {
        let bytes = context.int("message");
        let inputs = distinct(count, context);
        // A key's multiples are made when it verifies for the second time: these keys are used ones.
        let used = (0..2 * count).all(|at| bare_verify(&inputs, at % count));
        let for_dalek = peers::of(&inputs)?;
        let for_zebra = Rc::clone(&for_dalek);
        let [ring, aws] = compiled::verify(&inputs);
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || for_dalek.dalek_verify()),
            ring,
            aws,
            Arm::counted(ZEBRA, 1, move || for_zebra.zebra_verify()),
        ];
        arms.extend(vectorised::arms(
            &inputs,
            1,
            [(DALEK_IFMA, "paceline_peers_dalek_verify")],
        )?);
        arms.extend(OWN.map(|name| own_verify(name, &inputs)));
        let (own, turns) = (Rc::clone(&inputs), Turns::of(&inputs));
        arms.push(Arm::counted(OURS, 1, move || {
            bare_verify(&own, turns.next())
        }));
        Ok(prepared(arms, Some(bytes), move || {
            let wrong: Vec<&str> = engines()
                .iter()
                .filter(|engine| {
                    let good =
                        |item: &Item<'_>| engine.verify(item.key, item.message, item.signature);
                    !used || !inputs.items().iter().all(good)
                })
                .map(|engine| engine.name())
                .collect();
            check("engines_agree", wrong.is_empty(), &wrong.join(" "))
        }))
    })
}

/// As many keys as messages and signatures.
fn distinct(count: usize, context: &Context<'_>) -> Rc<Inputs> {
    let bytes = usize::try_from(context.int("message")).unwrap_or(0);
    Rc::new(Inputs::new(count, count, bytes, context.seed))
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
        let (for_dalek, for_zebra, own) = (message(), message(), Rc::clone(&inputs));
        let (signature, zebra) = (
            ed25519_dalek::Signature::from_bytes(&signature),
            ed25519_zebra::Signature::from(zebra),
        );
        let mut arms = vec![
            Arm::counted(DALEK, 1, move || {
                let key = ed25519_dalek::VerifyingKey::from_bytes(black_box(&raw));
                key.is_ok_and(|key| key.verify(black_box(&for_dalek), &signature).is_ok())
            }),
            Arm::counted(ZEBRA, 1, move || {
                let key = ed25519_zebra::VerificationKey::try_from(black_box(raw));
                key.is_ok_and(|key| key.verify(&zebra, black_box(&for_zebra)).is_ok())
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
    let (inputs, turns) = (Rc::clone(inputs), Turns::of(inputs));
    Arm::counted(name, 1, move || {
        let at = turns.next();
        engine.verify(
            inputs.key(at).verifying_key(),
            black_box(&inputs.messages[at]),
            &inputs.signatures[at],
        )
    })
}

/// By the engine that the library chooses.
fn bare_verify(inputs: &Inputs, at: usize) -> bool {
    inputs
        .key(at)
        .verifying_key()
        .verify(black_box(&inputs.messages[at]), &inputs.signatures[at])
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
        let (to_sign, to_generate, to_verify, to_open) = (
            Rc::clone(&inputs),
            Rc::clone(&inputs),
            Rc::clone(&inputs),
            Rc::clone(&inputs),
        );
        let sent = Rc::clone(&encoded);
        let arms = vec![
            Arm::counted(arms[0], 1, move || {
                to_sign.key(0).sign(black_box(&to_sign.messages[0]))
            }),
            Arm::counted(arms[1], 1, move || {
                let made = generate_attestation(
                    to_generate.key(0),
                    &domain,
                    black_box(&to_generate.messages[0]),
                );
                made.map(Attestation::into_bytes)
            }),
            Arm::counted(arms[2], 1, move || bare_verify(&to_verify, 0)),
            Arm::counted(arms[3], 1, move || verified(&to_open, black_box(&sent))),
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
