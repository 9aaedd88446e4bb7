//! Rollbacks over a live directory that differs from what its owner reported: its files are replaced.

use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault};
use paceline_checkpoint::{Options, Store};

use crate::world::{live_path, read_live};

const OPTIONS: Options = Options {
    segment_bytes: 4 << 20,
    skip_proven_syncs: true,
};
const BAND_BYTES: usize = 1 << 20;
const NAMES: [&str; 3] = ["a", "b", "c"];

/// A change that somebody makes to a band of live.
type Act = fn(&FakeDisk, &Path);

/// Three bands, the first of which changed in four pages each since `old`.
fn ready(changed: usize) -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in NAMES {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![1; BAND_BYTES], 0).expect("written");
    }
    let mut store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "old").expect("new");
    disk.sync_beneath(Path::new("/")).expect("synced");
    for name in &NAMES[..changed] {
        for page in [0, 7, 100, 255] {
            store
                .write_at(name, page * 4096 + 5, b"other")
                .expect("written");
        }
    }
    store.checkpoint("new").expect("taken");
    (disk, store)
}

fn is_old(disk: &FakeDisk) -> bool {
    let bands = read_live(disk);
    bands.len() == NAMES.len() && bands.values().all(|bytes| *bytes == vec![1; BAND_BYTES])
}

#[test]
fn a_rollback_needs_nothing_of_the_files_that_it_replaces() {
    let acts: [(&str, Act); 4] = [
        ("gone", |disk, path| disk.remove(path).expect("removed")),
        ("a link", |disk, path| {
            disk.remove(path)
                .and_then(|()| disk.make_symlink(path))
                .expect("made");
        }),
        ("cut", |disk, path| {
            disk.open(path, Access::Write)
                .and_then(|file| file.set_len(5000))
                .expect("cut");
        }),
        ("written to", |disk, path| {
            let file = disk.open(path, Access::Write).expect("open");
            file.write_at(b"nobody knows", 300_000).expect("written");
        }),
    ];
    for (what, act) in acts {
        let (disk, mut store) = ready(1);
        act(&disk, &live_path().join("a"));
        store
            .rollback("old")
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(is_old(&disk), "{what}");
    }
}

/// The disk lacks a page that readers see: a rollback must not take it from there.
#[test]
fn pages_that_could_not_be_written_back_are_not_cloned() {
    let (disk, mut store) = ready(1);
    let path = live_path().join("a");
    let file = disk.open(&path, Access::Write).expect("open");
    store
        .write_at("a", 300_000, b"a page of both")
        .expect("written");
    store.checkpoint("target").expect("taken");
    store.write_at("a", 5, b"one page").expect("written");
    store.checkpoint("newest").expect("taken");
    disk.fail(Fault {
        at: disk.steps() + 1,
        count: 1,
        kind: std::io::ErrorKind::Other,
    });
    file.sync_data().expect_err("nothing of it was written");
    store.rollback("target").expect("back");
    let id = |disk: &FakeDisk| *blake3::hash(&read_live(disk)["a"]).as_bytes();
    let wanted = store.bands("target").expect("kept")["a"].id;
    assert_eq!(id(&disk), wanted);
    assert_eq!(id(&disk.after_power_loss(1)), wanted, "and on the disk");
}

/// Bands of 3 MiB are restored by several threads, so each run has another order of operations; each
/// order must be sound.
#[test]
fn live_is_whole_when_a_rollback_by_several_threads_stops_or_fails_at_any_operation() {
    for operation in 1.. {
        let mut done = true;
        for fails in [true, false] {
            let (disk, mut store) = ready(NAMES.len());
            disk.sync_beneath(Path::new("/")).expect("synced");
            let new = read_live(&disk);
            let at = disk.steps() + operation;
            if fails {
                disk.fail(Fault {
                    at,
                    count: 1,
                    kind: std::io::ErrorKind::StorageFull,
                });
            } else {
                disk.stop_at(at);
            }
            done &= store.rollback("old").is_ok();
            drop(store);
            for (left, disk) in [
                ("killed", disk.after_kill()),
                ("without power", disk.after_power_loss(operation)),
            ] {
                let what = format!("operation {operation}, fails: {fails}, {left}");
                assert!(is_old(&disk) || read_live(&disk) == new, "{what}");
                let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(is_old(&disk) || read_live(&disk) == new, "{what}, opened");
                store
                    .rollback_observed("old")
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert!(is_old(&disk), "{what}, back");
            }
        }
        if done {
            break;
        }
    }
}
