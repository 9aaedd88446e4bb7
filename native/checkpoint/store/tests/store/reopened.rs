//! Opening again in the same boot: what is known to be synced is not synced again, and nothing else is
//! believed (D5).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::Store;
use paceline_checkpoint::disk::{Access, Disk, FakeDisk};

use crate::world::{OPTIONS, live_path};

fn root() -> PathBuf {
    live_path().with_file_name("bands.paceline")
}

/// A store with a second checkpoint, closed with its index, and what each checkpoint came to.
fn ready() -> FakeDisk {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let file = disk.open(&live_path().join("a"), Access::Create).expect("made");
    file.write_at(&vec![1; 40_000], 0).expect("written");
    disk.advance(1_000_000_000);
    let mut store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    store.write_at("a", 5, b"second").expect("written");
    store.checkpoint("second").expect("taken");
    disk.advance(1_000_000_000);
    store.save_index();
    disk
}

/// Operations of an opening that change or sync something.
fn opening(disk: &FakeDisk) -> u64 {
    let before = disk.steps();
    drop(Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened"));
    disk.steps() - before
}

#[test]
fn an_opening_in_the_same_boot_syncs_nothing_that_its_index_proves() {
    let disk = ready();
    assert_eq!(opening(&disk), 0);
    assert_eq!(opening(&disk.after_kill()), 0);
    assert!(opening(&disk.after_power_loss(1)) >= 4, "another boot: everything is synced again");
}

#[test]
fn a_record_that_no_index_names_is_synced_before_it_is_believed() {
    let disk = ready();
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.write_at("a", 5, b"third").expect("written");
    store.checkpoint("third").expect("taken");
    drop(store); // killed before it said so
    assert!(opening(&disk) >= 4, "log, its directory, the record, the log again");
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.save_index();
    drop(store);
    assert_eq!(opening(&disk), 0);
}

#[test]
fn a_copy_of_a_store_is_synced_whatever_its_index_says() {
    let disk = ready();
    let log = root().join("log");
    let segment = log.join(&disk.list(&log).expect("listed")[0].name);
    copy(&disk, &segment);
    assert!(opening(&disk) >= 5, "another file holds the records: the base is synced again, too");
}

#[test]
fn a_store_that_is_stopped_proves_nothing() {
    use paceline_checkpoint::disk::Fault;
    let disk = ready();
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.write_at("a", 5, b"third").expect("written");
    // Pages, header, sync: the third fails, and the record is in the cache all the same.
    disk.fail(Fault { at: disk.steps() + 3, count: 1, kind: std::io::ErrorKind::Other });
    store.checkpoint("third").expect_err("the sync failed");
    store.save_index();
    drop(store);
    assert!(opening(&disk) >= 4);
    let disk = disk.after_power_loss(3);
    let store = Store::open(Arc::new(disk), &live_path(), OPTIONS).expect("opened");
    assert_eq!(store.list().len(), 3, "what was seen stays");
}

#[test]
fn pages_that_rot_in_the_same_boot_are_found_by_verify() {
    let disk = ready();
    let log = root().join("log");
    let segment = log.join(&disk.list(&log).expect("listed")[0].name);
    let file = disk.open(&segment, Access::Write).expect("open");
    file.write_at(b"rot", 2 * 4096 + 100).expect("the first page of the first record");
    let store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    assert_eq!(store.list().len(), 2);
    assert_eq!(store.verify("second").expect("kept").wrong.len(), 1);
}

/// Another file with the same bytes under the same name.
fn copy(disk: &FakeDisk, path: &Path) {
    let file = disk.open(path, Access::Read).expect("open");
    let mut bytes = vec![0; usize::try_from(file.stamp().expect("there").size).expect("small")];
    file.read_at(&mut bytes, 0).expect("read");
    disk.remove(path).expect("removed");
    disk.open(path, Access::Create).expect("made").write_at(&bytes, 0).expect("written");
}
