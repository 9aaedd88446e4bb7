//! A record that does not fit into the empty segment: a larger one replaces the segment, and the
//! log has one of the two at every moment.

use std::io::ErrorKind;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault};
use paceline_checkpoint::{ErrorKind as Failure, Options, Result, Store};

use crate::world::{live_path, read_live};

const OPTIONS: Options = Options {
    segment_bytes: 64 << 10,
    skip_proven_syncs: true,
};
const BAND_BYTES: usize = 160 << 10;
/// Seeds for what a power loss keeps.
const SEEDS: u64 = 8;

/// A store whose log is one empty segment: a new one, or one after a complete fold.
fn ready(folded: bool) -> (FakeDisk, Store, Vec<&'static str>) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let file = disk
        .open(&live_path().join("a"), Access::Create)
        .expect("made");
    file.write_at(&vec![1; BAND_BYTES], 0).expect("written");
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    let mut kept = vec!["first"];
    if folded {
        store.write_at("a", 5, b"small").expect("written");
        store.checkpoint("second").expect("taken");
        store.prune(&["first"]).expect("given up");
        store.fold().expect("folded");
        kept = vec!["second"];
    }
    assert_eq!(
        store.status().expect("readable").segments,
        1,
        "one segment, without a record"
    );
    store
        .write_at("a", 0, &vec![9; BAND_BYTES])
        .expect("written");
    (disk, store, kept)
}

/// Opens what is left: every reported checkpoint exists, and the store can be used.
fn recover(disk: &FakeDisk, kept: &[&str], what: &str) {
    let opened = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS);
    let mut store = opened.unwrap_or_else(|error| panic!("{what}: {error}"));
    for name in kept {
        let verified = store
            .verify(name)
            .unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
        assert!(verified.wrong.is_empty(), "{what}: {name}");
    }
    store
        .checkpoint_observed("recovered")
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let live = read_live(disk);
    let ids: Vec<_> = store
        .bands("recovered")
        .expect("kept")
        .into_values()
        .map(|band| band.id)
        .collect();
    assert_eq!(
        ids,
        live.values()
            .map(|bytes| *blake3::hash(bytes).as_bytes())
            .collect::<Vec<_>>(),
        "{what}"
    );
    drop(store);
    let store =
        Store::open(Arc::new(disk.after_power_loss(1)), &live_path(), OPTIONS).expect("opened");
    assert!(
        store
            .verify("recovered")
            .expect("reported")
            .wrong
            .is_empty(),
        "{what}"
    );
}

/// The disk after a power loss and after a kill.
fn recover_each(disk: &FakeDisk, kept: &[&str], what: &str) {
    recover(&disk.after_kill(), kept, &format!("{what}, killed"));
    for seed in 0..SEEDS {
        recover(
            &disk.after_power_loss(seed),
            kept,
            &format!("{what}, power loss {seed}"),
        );
    }
}

fn report<'a>(kept: &mut Vec<&'a str>, name: &'a str, taken: &Result<impl Sized>) -> bool {
    kept.extend(taken.is_ok().then_some(name));
    taken.is_ok()
}

#[test]
fn a_machine_that_stops_while_the_first_record_outgrows_its_segment_leaves_a_store() {
    for folded in [false, true] {
        for operation in 1.. {
            let (disk, mut store, mut kept) = ready(folded);
            disk.stop_at(disk.steps() + operation);
            let done = report(&mut kept, "large", &store.checkpoint("large"));
            drop(store);
            recover_each(
                &disk,
                &kept,
                &format!("folded: {folded}, stopped at {operation}"),
            );
            if done {
                assert!(
                    operation > 6,
                    "zeros, header, sync, name, directory, record: {operation}"
                );
                break;
            }
        }
    }
}

#[test]
fn a_failing_operation_while_the_first_record_outgrows_its_segment_loses_nothing() {
    for (folded, kind) in [(false, ErrorKind::StorageFull), (true, ErrorKind::Other)] {
        for (operation, count) in (1..).flat_map(|operation| [(operation, 1), (operation, 1000)]) {
            let (disk, mut store, mut kept) = ready(folded);
            let what = format!("folded: {folded}, {kind} at {operation} for {count}");
            disk.fail(Fault {
                at: disk.steps() + operation,
                count,
                kind,
            });
            let done = report(&mut kept, "large", &store.checkpoint("large"));
            disk.fail(Fault {
                at: u64::MAX,
                count: 0,
                kind,
            });
            recover_each(&disk, &kept, &what);
            match store.checkpoint("again") {
                Ok(_) => kept.push("again"),
                // It is unknown whether this name or record is durable (D4).
                Err(error) => assert_eq!(error.kind(), Failure::Stopped, "{what}: {error}"),
            }
            drop(store);
            recover_each(&disk, &kept, &format!("{what}, and again"));
            if done {
                break;
            }
        }
    }
}

#[test]
fn the_next_opening_removes_an_incomplete_segment() {
    let (disk, store, _) = ready(false);
    drop(store);
    let log = live_path().with_file_name("bands.paceline").join("log");
    for name in ["SEGMENT.new", "SPARE.new"] {
        disk.open(&log.join(name), Access::Create).expect("made");
    }
    drop(Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened"));
    let names: Vec<_> = disk
        .list(&log)
        .expect("listed")
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
}
