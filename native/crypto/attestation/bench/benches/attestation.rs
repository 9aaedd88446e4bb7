//! The workload's arms under criterion, with the seed's settings, for people at a terminal.
//!
//! The seed's tables: messages of 32, 128 and 256 bytes with 1,000 samples, the production calls
//! with 10,000; and batches. build.sh makes the second build of the peers before. `cargo bench -p
//! paceline-attestation-bench -- sign` measures the ids that contain `sign`.

use std::path::Path;

use paceline_attestation_bench::{look_in, workload};
use paceline_crypto_criterion::{Settings, measure, summary};

const SINGLES: [&str; 12] = [
    "--benchmark",
    "sign",
    "--benchmark",
    "verify",
    "--benchmark",
    "verify_first",
    "--benchmark",
    "keygen",
    "--benchmark",
    "key_parse",
    "--params",
    "message=32|128|256",
];
const BATCHES: [&str; 6] = [
    "--benchmark",
    "batch",
    "--params",
    "batch=8|256|1024",
    "--params",
    "keys=16|all",
];
const PRODUCTION: [&str; 2] = ["--benchmark", "production"];

fn main() {
    look_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build"));
    let workload = workload();
    let all = [
        (Settings::STANDARD, SINGLES.as_slice()),
        (Settings::STANDARD, &BATCHES),
        (Settings::PRECISE, &PRODUCTION),
    ];
    for (settings, filters) in all {
        if let Err(failure) = measure(&workload, settings, filters) {
            panic!("{}: {}", failure.code, failure.text);
        }
    }
    summary();
}
