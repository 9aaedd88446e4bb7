//! The workload `engines`: every engine of the core beside libcrypto, without a JVM.
//!
//! It measures what a digest costs before any bridge adds to it, which engine is fastest where, and
//! what a second thread gains. Arms that this CPU cannot run are reported with the reason. As a
//! static program (for devices) it has no libcrypto. `--self-test` alone answers a health check,
//! `--calibrate` alone how fast the CPU is now.

mod batches;
mod calibrate;
mod checks;
mod inputs;
#[cfg_attr(target_env = "musl", path = "openssl_absent.rs")]
mod openssl;
mod self_test;
mod threads;

use std::process::ExitCode;

use paceline_harness::{Failure, Workload};
use paceline_hashing_core::{Algorithm, Choice, Engine, digest_equal};

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq([self_test::OPTION]) {
        return self_test::main();
    }
    if std::env::args_os().skip(1).eq([calibrate::OPTION]) {
        return calibrate::main();
    }
    Workload {
        suite: "hashing".to_owned(),
        name: "engines".to_owned(),
        benchmarks: vec![
            batches::sha256_batch(),
            batches::sha1_batch(),
            threads::two_threads(),
        ],
        knobs: vec![],
        open: Box::new(facts),
        checks: Box::new(checks::vectors),
    }
    .main()
}

/// Returns the facts about what digests: the CPU's engines, the engine of `best` at three sizes, and libcrypto's version.
#[allow(
    clippy::unnecessary_wraps,
    reason = "opening a workload may fail; this one cannot"
)]
fn facts() -> Result<Vec<(String, String)>, Failure> {
    let engines: Vec<&str> = Engine::available()
        .iter()
        .map(|engine| engine.name())
        .collect();
    let mut facts = vec![("engines".to_owned(), engines.join(" "))];
    for algorithm in [Algorithm::Sha1, Algorithm::Sha256] {
        for count in [1, 8, 1000] {
            let mut digests = vec![0; count * algorithm.digest_bytes()];
            let engine = digest_equal(algorithm, Choice::Best, &[], 0, &mut digests);
            let name =
                engine.map_or_else(|error| error.to_string(), |engine| engine.name().to_owned());
            facts.push((format!("best.{}.{count}", algorithm.name()), name));
        }
    }
    let version =
        openssl::LibCrypto::load().map_or_else(|reason| reason, |library| library.version());
    facts.push(("libcrypto".to_owned(), version));
    Ok(facts)
}
