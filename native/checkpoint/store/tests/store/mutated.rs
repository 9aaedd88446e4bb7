//! The store's files are changed at random; everything it still reports must be true.
//!
//! `CHECKPOINT_MUTATIONS=100000` is the long run. Changes behind a correct checksum are in
//! `src/reader.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Kind};
use paceline_checkpoint::{ErrorKind, Store};

use crate::world::{Bands, OPTIONS, Random, World, live_path, size};

fn files(disk: &FakeDisk) -> Vec<PathBuf> {
    let root = PathBuf::from("/bands.paceline");
    let dirs = [
        root.clone(),
        root.join("log"),
        root.join("base"),
        root.join("trees"),
    ];
    let in_dir = |dir: PathBuf| {
        let entries = disk.list(&dir).expect("listed").into_iter();
        entries
            .filter(|entry| entry.kind == Kind::File)
            .map(move |entry| dir.join(entry.name))
    };
    dirs.into_iter().flat_map(in_dir).collect()
}

fn read(disk: &FakeDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, Access::Read).expect("it is there");
    let mut bytes = vec![0; usize::try_from(file.stamp().expect("its stamp").size).expect("small")];
    file.read_at(&mut bytes, 0).expect("its bytes");
    bytes
}

/// One change of one file; an empty file grows.
fn mutate(disk: &FakeDisk, random: &mut Random) -> String {
    let files = files(disk);
    let path = &files[usize::try_from(random.below(files.len() as u64)).expect("small")];
    let mut bytes = read(disk, path);
    // Mostly near the begin, because segments end in zeros.
    let end = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(1, |last| last as u64 + 1);
    let mut place = |end: u64| usize::try_from(random.below(end.max(1))).expect("small");
    let (at, other, kind) = (place(end), place(end), place(7));
    let count = place(700).min(bytes.len().saturating_sub(at.max(other)));
    match kind {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << (other % 8),
        1 => bytes[at..at + count].fill(0),
        2 => bytes.copy_within(other..other + count, at),
        3 => bytes.truncate(at),
        4 => bytes.resize(bytes.len() + 5000, 0x5A),
        5 if bytes.len() >= at + 8 => bytes[at..at + 8].fill(0xFF),
        _ => bytes[at..at + count]
            .iter_mut()
            .for_each(|byte| *byte = byte.wrapping_mul(7).wrapping_add(1)),
    }
    let file = disk.open(path, Access::Write).expect("open");
    file.set_len(0)
        .and_then(|()| file.write_at(&bytes, 0))
        .expect("written");
    format!("{}, change {kind} at {at} of {end}", path.display())
}

#[test]
fn a_store_with_changed_files_is_right_or_reports_damage() {
    let rounds = size("CHECKPOINT_MUTATIONS", 750);
    let (mut refused, mut detected) = (0, 0);
    let mut random = Random(99);
    for seed in 0..rounds.div_ceil(250) {
        let mut world = World::new(seed);
        world.init().expect("a store");
        // The lost record may have pruned a checkpoint, so any checkpoint that ever existed may be
        // listed.
        let mut ever: BTreeMap<String, Bands> = BTreeMap::new();
        for _ in 0..60 {
            world.step().expect("no fault");
            ever.extend(world.kept.clone());
        }
        world.store.as_mut().expect("open").save_index();
        world.store = None;
        for _ in 0..250.min(rounds - seed * 250) {
            let disk = world.disk.after_kill();
            let what = mutate(&disk, &mut random);
            let mut store = match Store::open(Arc::new(disk), &live_path(), OPTIONS) {
                Ok(store) => store,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Damaged, "{what}: {error}");
                    refused += 1;
                    continue;
                }
            };
            let listed = store.list();
            let names: Vec<&str> = listed
                .iter()
                .map(|checkpoint| checkpoint.name.as_str())
                .collect();
            let gone = world
                .kept
                .keys()
                .find(|name| !names.contains(&name.as_str()));
            assert_eq!(gone, None, "{what}: reported, and gone without a word");
            for checkpoint in listed {
                let bands = ever
                    .get(&checkpoint.name)
                    .unwrap_or_else(|| panic!("{what}: {}", checkpoint.name));
                let verified = store.verify(&checkpoint.name).expect("listed");
                detected += u64::from(!verified.wrong.is_empty());
                let ids = store
                    .bands(&checkpoint.name)
                    .expect("listed")
                    .into_values()
                    .map(|state| state.id);
                let true_ids = bands.values().map(|bytes| *blake3::hash(bytes).as_bytes());
                assert!(
                    ids.eq(true_ids),
                    "{what}: {} has other ids",
                    checkpoint.name
                );
            }
            // It continues or says why not; a new checkpoint equals the files.
            if store.checkpoint_observed("after").is_ok() {
                let ids = store
                    .bands("after")
                    .expect("made")
                    .into_values()
                    .map(|state| state.id);
                let lies = world
                    .live
                    .values()
                    .map(|bytes| *blake3::hash(bytes).as_bytes());
                assert!(
                    ids.eq(lies),
                    "{what}: the next checkpoint is not what lies there"
                );
            }
        }
    }
    assert!(
        refused > 0 && detected > 0,
        "{refused} refused, {detected} damaged checkpoints detected"
    );
}
