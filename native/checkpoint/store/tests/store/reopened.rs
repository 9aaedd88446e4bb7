//! Opening again in the same boot: what is known to be synced is not synced again, and nothing else
//! is trusted (D5).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{Options, Store};

use crate::world::{OPTIONS, live_path};

fn root() -> PathBuf {
    live_path().with_file_name("bands.paceline")
}

/// A store with a second checkpoint, closed with its index, and the ids of each checkpoint.
fn ready() -> FakeDisk {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let file = disk
        .open(&live_path().join("a"), Access::Create)
        .expect("made");
    file.write_at(&vec![1; 40_000], 0).expect("written");
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
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
    assert!(
        opening(&disk.after_power_loss(1)) >= 4,
        "another boot: everything is synced again"
    );
}

#[test]
fn an_opening_syncs_again_unless_its_owner_lets_it_skip_what_is_proven() {
    let disk = ready();
    let before = disk.steps();
    drop(Store::open(Arc::new(disk.clone()), &live_path(), Options::default()).expect("opened"));
    assert!(
        disk.steps() - before >= 4,
        "CURRENT, its directory, the last segment and its directory"
    );
}

#[test]
fn a_record_without_a_proof_is_synced_before_it_counts() {
    let disk = ready();
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.write_at("a", 5, b"third").expect("written");
    store.checkpoint("third").expect("taken");
    drop(store); // killed before it said so
    assert!(
        opening(&disk) >= 4,
        "log, its directory, the record, the log again"
    );
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.save_index();
    drop(store);
    assert_eq!(opening(&disk), 0);
}

#[test]
fn a_copy_of_a_store_is_synced_whatever_its_index_says() {
    let current: fn(&FakeDisk) -> PathBuf = |_| root().join("CURRENT");
    for copied in [segment, current] {
        let disk = ready();
        let path = copied(&disk);
        let bytes = read(&disk, &path);
        disk.remove(&path).expect("removed");
        disk.open(&path, Access::Create)
            .expect("made")
            .write_at(&bytes, 0)
            .expect("written");
        assert!(
            opening(&disk) >= 5,
            "{}: another file: the base is synced again, too",
            path.display()
        );
    }
}

/// A copy may get the inode of the file it replaces, or be written into it.
#[test]
fn a_copy_with_the_inode_of_what_it_replaced_is_synced_whatever_its_index_says() {
    let current: fn(&FakeDisk) -> PathBuf = |_| root().join("CURRENT");
    for (seed, copied) in (0..48).zip([segment, current].into_iter().cycle()) {
        let disk = ready();
        let path = copied(&disk);
        let (before, bytes) = (disk.stamp(&path).expect("there"), read(&disk, &path));
        let file = disk.open(&path, Access::Write).expect("open");
        file.set_len(0)
            .and_then(|()| file.write_at(&bytes, 0))
            .expect("written");
        let now = disk.stamp(&path).expect("there");
        assert_eq!(
            (now.device, now.inode, now.size),
            (before.device, before.inode, before.size)
        );
        assert!(opening(&disk) >= 5, "not the file that was synced");
        // What was read counted; a power loss must not undo it.
        let disk = disk.after_power_loss(seed);
        let store = Store::open(Arc::new(disk), &live_path(), OPTIONS);
        let count = store
            .map(|store| store.list().len())
            .map_err(|error| error.to_string());
        assert_eq!(
            count,
            Ok(2),
            "seed {seed}, {}: seen, then gone",
            path.display()
        );
    }
}

#[test]
fn nothing_is_proven_when_the_clock_was_set_or_the_index_is_of_an_older_format() {
    let disk = ready();
    disk.set_clock_by(-3_600_000_000_000);
    assert!(
        opening(&disk) >= 5,
        "a file of another time may have the same stamp by now"
    );
    let known = |disk: &FakeDisk| {
        Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened")
    };
    assert!(
        known(&ready()).status().expect("readable").dirty.is_empty(),
        "today's format is believed"
    );
    for format in b'1'..b'4' {
        let disk = ready();
        let path = root().join("INDEX");
        let mut bytes = read(&disk, &path);
        let body = bytes.len() - 32;
        bytes[7] = format;
        let hash = *blake3::hash(&bytes[..body]).as_bytes();
        bytes[body..].copy_from_slice(&hash);
        disk.open(&path, Access::Write)
            .and_then(|file| file.write_at(&bytes, 0))
            .expect("written");
        assert_eq!(
            known(&disk).status().expect("readable").dirty.len(),
            1,
            "format {}",
            char::from(format)
        );
        assert!(opening(&disk) >= 5, "format {}", char::from(format));
    }
}

#[test]
fn a_store_that_is_stopped_proves_nothing() {
    use paceline_checkpoint::disk::Fault;
    let disk = ready();
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    store.write_at("a", 5, b"third").expect("written");
    // Pages, header, sync: the third fails, but the record is in the cache.
    disk.fail(Fault {
        at: disk.steps() + 3,
        count: 1,
        kind: std::io::ErrorKind::Other,
    });
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
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    // Decay changes no stamp, but this write does, so the index is saved after it.
    let file = disk.open(&segment(&disk), Access::Write).expect("open");
    file.write_at(b"rot", 2 * 4096 + 100)
        .expect("the first page of the first record");
    store.save_index();
    drop(store);
    let store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    assert_eq!(store.list().len(), 2);
    assert_eq!(store.verify("second").expect("kept").wrong.len(), 1);
}

/// The only segment of [`ready`].
fn segment(disk: &FakeDisk) -> PathBuf {
    let log = root().join("log");
    log.join(&disk.list(&log).expect("listed")[0].name)
}

fn read(disk: &FakeDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, Access::Read).expect("open");
    let mut bytes = vec![0; usize::try_from(file.stamp().expect("there").size).expect("small")];
    file.read_at(&mut bytes, 0).expect("read");
    bytes
}
