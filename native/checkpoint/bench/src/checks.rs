//! The checks before any timing (I1): published hashes, and a store that restores a band.

use std::fs;
use std::io;
use std::sync::Arc;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store, hex};
use paceline_harness::Check;

use crate::workspace::Workspace;

/// All checks.
pub(crate) fn all(workspace: &Workspace) -> Vec<Check> {
    let check = |name: &str, outcome: Result<String, String>| {
        let ok = outcome.is_ok();
        Check {
            name: name.to_owned(),
            ok,
            detail: outcome.unwrap_or_else(|wrong| wrong),
        }
    };
    let vectors = if crate::strategies::sha256_and_sizes_are_right() && known_blake3() {
        Ok("SHA-256 and BLAKE3 of known messages".to_owned())
    } else {
        Err("a hash of a known message is wrong".to_owned())
    };
    vec![
        check("hash_vectors", vectors),
        check(
            "round_trip",
            round_trip(workspace).map_err(|error| error.to_string()),
        ),
    ]
}

/// BLAKE3's published test vectors (`test_vectors.json` of its repository) of the empty input and
/// of one with a hundred chunks, which the CPU's vector code hashes (C or assembly on every
/// architecture).
fn known_blake3() -> bool {
    let long: Vec<u8> = (0..102_400_u32)
        .map(|at| (at % 251).to_le_bytes()[0])
        .collect();
    hex(blake3::hash(b"").as_bytes()).starts_with("af1349b9f5f9a1a6a0404dea36dcc949")
        && hex(blake3::hash(&long).as_bytes()).starts_with("bc3e3d41a1146b069abffad3c0d44860")
}

/// Changes a band, rolls it back and compares its bytes in live.
fn round_trip(workspace: &Workspace) -> io::Result<String> {
    let root = tempfile::TempDir::with_prefix_in("check-", workspace.root()?)?;
    let live = root.path().join("bands");
    fs::create_dir(&live)?;
    let before: Vec<u8> = (0..100_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    fs::write(live.join("0"), &before)?;
    let options = Options {
        segment_bytes: 1 << 20,
        ..Options::default()
    };
    let mut store =
        Store::init(Arc::new(RealDisk), &live, options, "first").map_err(io::Error::other)?;
    store
        .write_at("0", 5000, b"changed")
        .map_err(io::Error::other)?;
    store.checkpoint("second").map_err(io::Error::other)?;
    let second = store.verify("second").map_err(io::Error::other)?;
    store.rollback("first").map_err(io::Error::other)?;
    if fs::read(live.join("0"))? == before && second.wrong.is_empty() {
        return Ok("a rolled-back band is bit-identical".to_owned());
    }
    Err(io::Error::other("a rolled-back band differs"))
}
