//! The workload `bands`: the band store beside other ways to make the same change durable.
//!
//! It measures how long it takes to make a change of some bands durable under a name, by phase, and
//! how that grows with unchanged bands. It works under `PACELINE_CHECKPOINT_DIR` (otherwise the
//! system's temporary directory) and in filesystems that it makes there.

mod arms;
mod band_directory;
mod band_store;
mod benchmarks;
mod checks;
mod custom_arm;
mod detect;
mod locality;
mod rollback;
mod scenario;
mod snapshot;
mod stall;
mod strategies;
mod strategy;
mod tools;
mod volume;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use paceline_harness::{Failure, Workload};
use workspace::Workspace;

/// The parent of all directories of bands.
const DIRECTORY: &str = "PACELINE_CHECKPOINT_DIR";

fn main() -> ExitCode {
    let workspace = Workspace::new(directory());
    let checked = Rc::clone(&workspace);
    Workload {
        suite: "checkpoint".to_owned(),
        name: "bands".to_owned(),
        benchmarks: benchmarks::all(&workspace),
        knobs: vec![],
        open: Box::new(facts),
        checks: Box::new(move || checks::all(&checked)),
    }
    .main()
}

/// The directory for bands.
fn directory() -> PathBuf {
    std::env::var_os(DIRECTORY).map_or_else(std::env::temp_dir, PathBuf::from)
}

fn facts() -> Result<Vec<(String, String)>, Failure> {
    let directory = directory();
    let stat = rustix::fs::statfs(&directory).map_err(|error| {
        let text = format!(
            "{}: {error}. Name a directory in {DIRECTORY}.",
            directory.display()
        );
        Failure::new("directory", text)
    })?;
    // linux/magic.h
    let filesystem = match stat.f_type {
        0xEF53 => "ext4".to_owned(),
        0x9123_683E => "btrfs".to_owned(),
        0x5846_5342 => "xfs".to_owned(),
        0xF2F5_2010 => "f2fs".to_owned(), // most phones have it
        0x0102_1994 => "tmpfs: a sync does nothing there".to_owned(),
        other => format!("{other:#x}"),
    };
    let cache = if band_directory::may_drop() {
        "warm, but for `cold`: bands synced, and the system's caches dropped"
    } else {
        "warm, but for `cold`: bands synced and dropped by posix_fadvise"
    };
    Ok(vec![
        ("filesystem".to_owned(), filesystem),
        ("cache".to_owned(), cache.to_owned()),
    ])
}
