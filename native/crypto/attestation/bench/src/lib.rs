//! The workload `attestation`: keys, signatures and batches of our crate beside other libraries.
//!
//! A process of its own (`main.rs`); its arms also run under criterion (`benches/`). The engines of
//! this CPU, the engine each arm used, and how dalek was compiled are facts of the launch. Arms
//! that this CPU cannot run are reported as unavailable with the reason.

mod batches;
#[cfg_attr(target_env = "musl", path = "compiled_absent.rs")]
mod compiled;
mod inputs;
mod peers;
mod singles;
mod thresholds;
#[cfg_attr(target_env = "musl", path = "vectorised_absent.rs")]
mod vectorised;

use paceline_attestation::engine::{batching, engines, first, prefer, signing, single};
use paceline_attestation_peers::{Vectors, vectors};
use paceline_harness::{Check, Failure, Workload};

pub use vectorised::look_in;

/// All of it. `ours` is what the library chooses in a process that asks for the lanes, as this one does.
#[must_use]
pub fn workload() -> Workload {
    prefer("ifma");
    Workload {
        suite: "crypto".to_owned(),
        name: "attestation".to_owned(),
        benchmarks: vec![
            singles::keygen(),
            singles::parse(),
            singles::sign(),
            singles::sign_one_key(),
            singles::verify(),
            singles::verify_one_key(),
            singles::verify_first(),
            singles::production(),
            batches::batch(),
            batches::batch_one_bad(),
            batches::batch_threads(),
            thresholds::batch_thresholds(),
        ],
        knobs: vec![],
        open: Box::new(facts),
        checks: Box::new(|| vec![engines_agree()]),
    }
}

/// Who does the work, and how dalek's vectors were compiled: here, where they serve `portable` and two of the
/// peers, and in the peers' second build.
fn facts() -> Result<Vec<(String, String)>, Failure> {
    let names: Vec<&str> = engines().iter().map(|engine| engine.name()).collect();
    let backend = if vectors() == Vectors::Absent {
        "default"
    } else {
        "avx512"
    };
    let mut facts = vec![
        ("engines".to_owned(), names.join(" ")),
        ("engine.sign".to_owned(), signing().name().to_owned()),
        ("engine.verify".to_owned(), single().name().to_owned()),
        ("engine.batch".to_owned(), batching().name().to_owned()),
        ("curve25519_dalek_backend".to_owned(), backend.to_owned()),
        ("peers.second_build".to_owned(), vectorised::fact()?),
    ];
    facts.extend(chosen().map(|(arm, engine)| (format!("engine.{arm}"), engine.to_owned())));
    Ok(facts)
}

/// The arms whose engine the library chooses, each with the one it chose: what gates on them repeat.
fn chosen() -> [(&'static str, &'static str); 17] {
    let (signs, one, many) = (signing().name(), single().name(), batching().name());
    [
        ("sign.ours", signs),
        ("sign_one_key.ours", signs),
        ("production.bare_sign", signs),
        ("production.generate_attestation", signs),
        ("verify.ours", one),
        ("verify_one_key.ours", one),
        ("verify_first.ours", first().name()),
        ("production.bare_verify", one),
        ("production.parse_and_verify", one),
        ("batch.ours", many),
        ("batch.parsing", many),
        ("batch_one_bad.all_good", many),
        ("batch_one_bad.one_bad", many),
        ("batch_threads.one_thread", many),
        ("batch_threads.two_threads", many),
        ("batch_thresholds.one_thread", many),
        ("batch_thresholds.two_threads", many),
    ]
}

/// Every engine accepts what every engine signs, and names the one signature that was changed.
fn engines_agree() -> Check {
    let inputs = inputs::Inputs::new(40, 5, 48, 1);
    let mut wrong: Vec<&str> = Vec::new();
    for engine in engines() {
        let spoilt = inputs.spoilt(17);
        let good = paceline_attestation::verify_batch_with(&**engine, &inputs.items()).all_good();
        let bad = paceline_attestation::verify_batch_with(&**engine, &spoilt.items()).bad;
        if !good || bad != [17] {
            wrong.push(engine.name());
        }
    }
    let ok = wrong.is_empty();
    let detail = if ok {
        format!("{} engines", engines().len())
    } else {
        wrong.join(" ")
    };
    Check {
        name: "engines_agree".to_owned(),
        ok,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_told_of_arms_that_there_are() {
        let benchmarks = workload().benchmarks;
        for (arm, engine) in chosen() {
            let (name, arm) = arm.split_once('.').expect("benchmark and arm");
            let of = benchmarks
                .iter()
                .find(|benchmark| benchmark.name == name)
                .expect("a benchmark");
            assert!(
                of.arms.iter().any(|known| known == arm),
                "{name} has no arm {arm}"
            );
            assert!(
                engines().iter().any(|known| known.name() == engine),
                "{engine}"
            );
        }
    }

    /// Who chooses says what was chosen: a gate on such an arm could not name its engine otherwise.
    #[test]
    fn every_arm_of_the_librarys_choice_tells_its_engine() {
        let named = chosen().map(|(arm, _)| arm);
        for benchmark in workload()
            .benchmarks
            .iter()
            .filter(|benchmark| benchmark.name != "key_parse")
        {
            for arm in benchmark
                .arms
                .iter()
                .filter(|arm| ["ours", "two_threads"].contains(&arm.as_str()))
            {
                assert!(
                    named.contains(&format!("{}.{arm}", benchmark.name).as_str()),
                    "{arm}"
                );
            }
        }
    }
}
