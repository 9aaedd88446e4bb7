//! The workload's process: [`paceline_finality_bench`] behind the protocol's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    paceline_finality_bench::workload().main()
}
