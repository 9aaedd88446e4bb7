//! The workload's process: [`paceline_attestation_bench`] behind the protocol's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    paceline_attestation_bench::workload().main()
}
