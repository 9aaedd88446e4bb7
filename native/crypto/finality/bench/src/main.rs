//! The workload's process: [`paceline_finality_bench`] on the command line of the protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    paceline_finality_bench::workload().main()
}
