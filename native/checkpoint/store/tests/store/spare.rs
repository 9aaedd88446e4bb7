//! The log's next segment is filled with zeros in advance, so the checkpoint that begins it writes none,
//! and every segment is made to be overwritten where it lies.

use std::path::PathBuf;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{Options, Store};

use crate::world::live_path;

/// Making a segment takes many operations, one per mebibyte of zeros.
const OPTIONS: Options = Options {
    segment_bytes: 40 << 20,
    skip_proven_syncs: true,
};
const BAND_BYTES: u64 = 4 << 20;

fn spare() -> PathBuf {
    live_path()
        .with_file_name("bands.paceline")
        .join("log/SPARE")
}

fn ready() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let file = disk
        .open(&live_path().join("a"), Access::Create)
        .expect("made");
    file.write_at(&vec![1; usize::try_from(BAND_BYTES).expect("small")], 0)
        .expect("written");
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    (disk, store)
}

/// Takes checkpoints until the log has another segment; returns the most operations of one of them.
fn until_the_next_segment(disk: &FakeDisk, store: &mut Store, jobs: bool) -> u64 {
    let segments = |store: &Store| store.status().expect("readable").segments;
    let (before, mut most) = (segments(store), 0);
    for number in 1.. {
        let bytes = vec![
            u8::try_from(number + 1).expect("few");
            usize::try_from(BAND_BYTES).expect("small")
        ];
        store.write_at("a", 0, &bytes).expect("written");
        let steps = disk.steps();
        store.checkpoint(&format!("c{number}")).expect("taken");
        most = most.max(disk.steps() - steps);
        if segments(store) > before {
            break;
        }
        while let Some(mut job) = if jobs {
            store.next_job().expect("readable")
        } else {
            None
        } {
            job.run();
            store.take_back(job).expect("no fault");
        }
    }
    most
}

#[test]
fn a_checkpoint_that_ends_a_segment_takes_the_spare_and_writes_no_zeros() {
    let (disk, mut store) = ready();
    let without = until_the_next_segment(&disk, &mut store, false);
    let (disk, mut store) = ready();
    let with = until_the_next_segment(&disk, &mut store, true);
    // Pages, header and sync of the record; header, sync, name and directory of the segment.
    assert!(
        with <= 7 && without >= 40,
        "{with} operations with a spare, {without} without"
    );
    assert!(disk.stamp(&spare()).is_err(), "it is the segment now");
    drop(store);
    let disk = disk.after_power_loss(7);
    let store = Store::open(Arc::new(disk), &live_path(), OPTIONS).expect("opened");
    for checkpoint in store.list() {
        assert!(
            store
                .verify(&checkpoint.name)
                .expect("kept")
                .wrong
                .is_empty(),
            "{checkpoint:?}"
        );
    }
}

/// Older versions renamed their index, and may have been killed before it.
#[test]
fn gc_removes_the_index_of_an_older_versions_killed_save() {
    let (disk, mut store) = ready();
    let path = live_path()
        .with_file_name("bands.paceline")
        .join("INDEX.new");
    disk.open(&path, Access::Create)
        .and_then(|file| file.write_at(b"half", 0))
        .expect("written");
    assert_eq!(store.gc().expect("swept"), 1);
    assert!(disk.stamp(&path).is_err(), "it takes space for ever");
}

#[test]
fn status_counts_the_spare_among_the_bytes_of_the_log() {
    let (disk, mut store) = ready();
    let bytes = |store: &Store| store.status().expect("readable").log_bytes;
    assert_eq!(bytes(&store), OPTIONS.segment_bytes);
    for number in 0..6 {
        let bytes = vec![number + 2; usize::try_from(BAND_BYTES).expect("small")];
        store.write_at("a", 0, &bytes).expect("written");
        store.checkpoint(&format!("c{number}")).expect("taken");
    }
    while let Some(mut job) = store.next_job().expect("readable") {
        job.run();
        store.take_back(job).expect("no fault");
    }
    assert!(disk.stamp(&spare()).is_ok() && store.status().expect("readable").segments == 1);
    assert_eq!(
        bytes(&store),
        2 * OPTIONS.segment_bytes,
        "the segment and the spare"
    );
    store.gc().expect("collected");
    assert_eq!(bytes(&store), OPTIONS.segment_bytes, "its space is free");
}

#[test]
fn gc_removes_an_incomplete_spare() {
    let (disk, mut store) = ready();
    let left = spare().with_file_name("SPARE.new");
    disk.open(&left, Access::Create).expect("made");
    assert_eq!(store.gc().expect("collected"), 1);
    assert!(disk.stamp(&left).is_err());
}

#[test]
fn gc_frees_the_spare_and_a_record_of_its_size_does_not_take_one_that_is_not_the_logs_own() {
    let (disk, mut store) = ready();
    let bytes = |megabytes: u64| vec![3; usize::try_from(megabytes << 20).expect("small")];
    // The state after an opening with other options: a job may replace the spare at any time.
    let other = disk.open(&spare(), Access::Create).expect("made");
    other.write_at(&bytes(41), (4 << 10) * 2).expect("written");
    store.write_at("a", 0, &bytes(41)).expect("written");
    store.checkpoint("large").expect("taken");
    let inode =
        |stamp: std::io::Result<paceline_checkpoint::disk::Stamp>| stamp.expect("there").inode;
    assert_eq!(
        inode(disk.stamp(&spare())),
        inode(other.stamp()),
        "not taken"
    );
    assert_eq!(store.gc().expect("collected"), 1);
    assert!(disk.stamp(&spare()).is_err(), "its space is free");
}

/// On btrfs a log is written in place only if each of its files was asked for that while it was
/// empty, whether a job made its zeros or the checkpoint that needed it.
#[test]
fn every_file_of_the_log_is_to_be_overwritten_in_place() {
    for jobs in [false, true] {
        let (disk, mut store) = ready();
        until_the_next_segment(&disk, &mut store, jobs);
        let log = spare().with_file_name("");
        let entries = disk.list(&log).expect("there");
        assert!(entries.len() >= 2, "{entries:?}");
        for entry in entries {
            let path = log.join(entry.name);
            let asked = disk.is_overwritten_in_place(&path).expect("there");
            assert!(asked, "jobs: {jobs}: {}", path.display());
        }
        let band = disk.is_overwritten_in_place(&live_path().join("a"));
        assert!(!band.expect("there"), "its owner decides about it");
    }
}
