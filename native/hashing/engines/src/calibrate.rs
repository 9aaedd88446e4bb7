//! `--calibrate`: the time of a fixed piece of work, as one line of JSON instead of a bench stream.
//!
//! An agent runs it before and after a job on a device; a drift between the two is the device's,
//! not the benchmark's. The scalar engine digests the same bytes on every CPU, so the figure
//! depends on its speed alone. The server decides which drift voids a job.

use std::hint::black_box;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use paceline_harness::fence;
use paceline_hashing_core::{Algorithm, Choice, Engine, digest_equal};
use serde_json::json;

/// The option that selects it, alone on the command line.
pub(crate) const OPTION: &str = "--calibrate";
/// As many rounds as a host makes. The shortest counts, because an interruption can only make a
/// round longer.
const ROUNDS: usize = 40;
/// Some hundred microseconds on a phone's core: more than any clock's step, less than a time slice
/// of its scheduler.
const BYTES: usize = 64 * 1024;

/// Prints the answer; fails when nothing could be timed or printed.
pub(crate) fn main() -> ExitCode {
    match shortest_ns().map(|ns| writeln!(std::io::stdout(), "{}", json!({ "calibration_ns": ns })))
    {
        Some(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// At least 1; None when the digest failed.
fn shortest_ns() -> Option<u64> {
    let input = vec![0; BYTES];
    let mut digest = vec![0; Algorithm::Sha256.digest_bytes()];
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            fence::full();
            let scalar = Choice::Only(Engine::Scalar);
            let done = digest_equal(
                Algorithm::Sha256,
                scalar,
                black_box(&input),
                BYTES,
                &mut digest,
            );
            black_box(&digest);
            fence::full();
            let took = u64::try_from(start.elapsed().as_nanos()).ok()?;
            done.ok().map(|_| took.max(1))
        })
        .min()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_work_takes_measurable_time() {
        let ns = shortest_ns().expect("the scalar twin digests everywhere");
        // 64 KiB in a microsecond would be 64 GB/s: nothing was digested.
        assert!(ns > 1_000, "{ns} ns");
    }
}
