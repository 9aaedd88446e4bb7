//! How often a store looks at its files, counted by the disk so that an extra look fails a test.

use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{Store, Written};

use crate::world::{OPTIONS, live_path};

/// A store of so many bands, closed with its index; then one band was written to.
fn ready(bands: usize) -> FakeDisk {
    let disk = FakeDisk::default();
    disk.say_stamps_are_exact();
    disk.make_dir(&live_path()).expect("made");
    for band in 0..bands {
        let file = disk
            .open(&live_path().join(format!("{band:02}")), Access::Create)
            .expect("made");
        file.write_at(&vec![1; 40_000], 0).expect("written");
    }
    disk.advance(1_000_000_000);
    Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first")
        .expect("new")
        .save_index();
    disk.advance(1_000_000_000);
    write(&disk);
    disk
}

fn write(disk: &FakeDisk) {
    disk.open(&live_path().join("00"), Access::Write)
        .expect("open")
        .write_at(b"new", 100)
        .expect("written");
    disk.advance(1_000_000_000);
}

fn opened(disk: &FakeDisk) -> Store {
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened")
}

/// The number of stamps that some work takes of each unchanged band.
fn looks_at_a_band(work: impl Fn(&FakeDisk) -> u64) -> u64 {
    let [few, many] = [3, 13].map(|bands| work(&ready(bands)));
    assert_eq!((many - few) % 10, 0, "{few}, {many}");
    (many - few) / 10
}

/// The number of stamps of a process that gets so many ranges of one band.
fn looks_at_reported(disk: &FakeDisk, ranges: u64) -> u64 {
    let range = |at| Written {
        band: "00".to_owned(),
        range: Some((100 + at, 1)),
    };
    let written: Vec<Written> = (0..ranges).map(range).collect();
    let before = disk.looks();
    let mut store = opened(disk);
    let taken = store.checkpoint_marked("second", &written).expect("quiet");
    store.save_index();
    assert_eq!(taken.read_bytes, 16 << 10, "one leaf");
    disk.looks() - before
}

#[test]
fn a_process_for_one_checkpoint_stamps_each_band_once_on_opening_and_once_on_reading() {
    assert_eq!(looks_at_a_band(|disk| looks_at_reported(disk, 3)), 2);
    let observed = |disk: &FakeDisk| {
        let before = disk.looks();
        let mut store = opened(disk);
        assert_eq!(
            store
                .checkpoint_observed("second")
                .expect("quiet")
                .read_bytes,
            40_000
        );
        store.save_index();
        disk.looks() - before
    };
    assert_eq!(looks_at_a_band(observed), 2);
}

#[test]
fn many_ranges_of_a_band_cost_no_more_looks_than_one() {
    assert_eq!(
        looks_at_reported(&ready(3), 16),
        looks_at_reported(&ready(3), 1)
    );
}

#[test]
fn an_open_store_stamps_unchanged_bands_once_and_changed_ones_again() {
    let checkpoint = |changed: bool| {
        move |disk: &FakeDisk| {
            let mut store = opened(disk);
            store.checkpoint_observed("second").expect("quiet");
            disk.advance(1_000_000_000);
            if changed {
                write(disk);
            }
            let before = disk.looks();
            let taken = store.checkpoint_observed("third").expect("quiet");
            assert_eq!(taken.read_bytes > 0, changed);
            disk.looks() - before
        }
    };
    assert_eq!(looks_at_a_band(checkpoint(false)), 1);
    assert_eq!(looks_at_a_band(checkpoint(true)), 2);
}

/// A header gives the place of the next one, and the proof covers the pages.
#[test]
fn opening_reads_each_record_once() {
    let disk = ready(3);
    let opening = |disk: &FakeDisk| {
        let before = disk.looks();
        drop(opened(disk));
        disk.looks() - before
    };
    let mut counts = Vec::new();
    for name in ["a", "b", "c"] {
        let mut store = opened(&disk);
        store.checkpoint_observed(name).expect("quiet");
        disk.advance(1_000_000_000);
        store.save_index();
        drop(store);
        counts.push(opening(&disk));
    }
    assert_eq!(
        (counts[1] - counts[0], counts[2] - counts[1]),
        (1, 1),
        "{counts:?}"
    );
}
