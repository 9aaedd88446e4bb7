//! Runs the check `blocks_intact` before any timing (I1): every arm's allocator must return blocks that
//! keep what is written to them.

use paceline_harness::Check;

use crate::arms::{self, ALL, Allocator, Setup};

const SEED: &str = "7";

/// Returns a check for each arm and each way of loading its allocator that this machine offers.
pub(crate) fn blocks_intact() -> Vec<Check> {
    let folder = match arms::folder() {
        Ok(folder) => folder,
        Err(failure) => return vec![check(false, failure.text)],
    };
    let ways = ALL
        .iter()
        .flat_map(|arm| [(arm, Setup::Preload), (arm, Setup::Direct)]);
    let there = ways.filter(|(arm, setup)| arm.missing(&folder, *setup).is_none());
    there.map(|(arm, setup)| of(arm, setup, &folder)).collect()
}

fn of(arm: &Allocator, setup: Setup, folder: &std::path::Path) -> Check {
    let output = arm
        .command(folder, setup)
        .args(["check", "--seed", SEED])
        .output();
    let (ok, detail) = match output {
        Ok(output) => (
            output.status.success(),
            format!("{}{}", text(&output.stdout), text(&output.stderr)),
        ),
        Err(error) => (false, error.to_string()),
    };
    check(ok, format!("{} by {setup:?}: {detail}", arm.name))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn check(ok: bool, detail: String) -> Check {
    Check {
        name: "blocks_intact".to_owned(),
        ok,
        detail,
    }
}
