//! The workload's arms under criterion, with the seed's settings, for people at a terminal.
//!
//! The seed's graphs: one check among 1,000 blocks from 10,000 samples, and 10, 100 and 1,000
//! blocks from 1,000. `cargo bench -p paceline-finality-bench -- ours` measures what has that in
//! its id. Absent on purpose: the call through the shared library, which lies beside the workload
//! and not beside this program.

use paceline_crypto_criterion::{Settings, measure, summary};
use paceline_finality_bench::workload;

const SINGLE: [&str; 4] = ["--benchmark", "finality_check", "--params", "blocks=1000"];
const SIZES: [&str; 2] = ["--benchmark", "finality_flat"];

fn main() {
    let workload = workload();
    for (settings, filters) in [
        (Settings::PRECISE, SINGLE.as_slice()),
        (Settings::STANDARD, &SIZES),
    ] {
        if let Err(failure) = measure(&workload, settings, filters) {
            panic!("{}: {}", failure.code, failure.text);
        }
    }
    summary();
}
