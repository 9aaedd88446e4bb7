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

/// A change that somebody makes to a band of live.
type Act = fn(&FakeDisk, &Path);

/// Two bands, one of which changed in four pages since `old` without a mark.
fn ready() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![1; BAND_BYTES], 0).expect("written");
    }
    let mut store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "old").expect("new");
    disk.sync_beneath(Path::new("/")).expect("synced");
    for page in [0, 7, 100, 255] {
        store
            .write_at("a", page * 4096 + 5, b"other")
            .expect("written");
    }
    store.checkpoint("new").expect("taken");
    (disk, store)
}

fn is_old(disk: &FakeDisk) -> bool {
    let bands = read_live(disk);
    bands.len() == 2 && bands.values().all(|bytes| *bytes == vec![1; BAND_BYTES])
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
        let (disk, mut store) = ready();
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
    let (disk, mut store) = ready();
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
