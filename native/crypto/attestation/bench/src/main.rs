//! The workload's process: [`paceline_attestation_bench`] on the command line of the protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    paceline_attestation_bench::workload().main()
}
