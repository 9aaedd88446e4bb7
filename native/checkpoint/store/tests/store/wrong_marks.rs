//! Owners that mark too little, or nonsense: the cost, and what must never happen.

use std::sync::{Arc, Mutex};

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault};
use paceline_checkpoint::{ErrorKind, Options, Store};

use crate::world::{OPTIONS, ids, kept, live_path, read_live, write};

const LEAF: u64 = 16 << 10;
const PAGE: u64 = 4096;

/// A band of five leaves, and one that is never written to.
fn ready() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![1; 80 << 10], 0).expect("written");
    }
    disk.sync_beneath(std::path::Path::new("/"))
        .expect("synced");
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    (disk, store)
}

fn opened(disk: &FakeDisk) -> Store {
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened")
}

/// Two pages of one leaf are written, and one is marked.
fn half_marked(disk: &FakeDisk, store: &mut Store) {
    write(disk, "a", LEAF, b"said");
    write(disk, "a", LEAF + 2 * PAGE, b"and not");
    disk.advance(1_000_000_000);
    store.mark_dirty("a", LEAF, 4).expect("there");
}

#[test]
fn an_unmarked_changed_page_is_kept_with_its_leaf() {
    type Take = fn(&mut Store, &str);
    let takes: [Take; 4] = [
        |store, name| drop(store.checkpoint(name).expect("taken")),
        |store, name| drop(store.checkpoint_observed(name).expect("taken")),
        |store, name| drop(store.checkpoint_everything(name).expect("taken")),
        |store, name| drop(store.rollback(name).map(drop).err()),
    ];
    for (saved, again) in [(false, true), (true, true), (true, false)] {
        for take in takes {
            let (disk, mut store) = ready();
            let first = ids(&read_live(&disk));
            half_marked(&disk, &mut store);
            let second = ids(&read_live(&disk));
            store.checkpoint("second").expect("taken");
            assert_eq!(
                kept(&store, "second"),
                second,
                "the page that nobody marked is in it"
            );
            if saved {
                store.save_index();
            }
            if again {
                drop(store);
                store = opened(&disk);
            }
            take(&mut store, "third");
            store.rollback("first").expect("sound");
            assert_eq!(ids(&read_live(&disk)), first);
            store.export("second", std::io::sink()).expect("whole");
            store.rollback("second").expect("sound");
            assert_eq!(ids(&read_live(&disk)), second);
            for checkpoint in store.list() {
                kept(&store, &checkpoint.name);
            }
        }
    }
}

#[test]
fn an_unmarked_page_is_kept_by_a_checkpoint_beside_the_store() {
    let (disk, mut store) = ready();
    half_marked(&disk, &mut store);
    let store = Mutex::new(store);
    Store::checkpoint_beside(&store, "second").expect("taken");
    assert_eq!(
        kept(&store.lock().expect("whole"), "second"),
        ids(&read_live(&disk))
    );
}

/// An unmarked leaf is not read, so the checkpoint has its old contents and verifies. The next one
/// that reads the leaf has the new ones, and a rollback keeps what it replaces, marked or not.
#[test]
fn an_unmarked_leaf_costs_one_checkpoint_and_no_byte_of_live() {
    let (disk, mut store) = ready();
    let first = ids(&read_live(&disk));
    write(&disk, "a", 3 * LEAF + 5, b"nobody says this");
    store.write_at("a", 0, b"said").expect("written");
    store.checkpoint("second").expect("taken");
    let live = ids(&read_live(&disk));
    assert_ne!(
        kept(&store, "second"),
        live,
        "it verifies, and lacks the leaf"
    );
    write(&disk, "b", 5, b"nor this");
    let live = ids(&read_live(&disk));
    let replaced = store.rollback("first").expect("sound").checkpoint.name;
    assert_eq!(
        kept(&store, &replaced)[0],
        live[0],
        "all of what was replaced"
    );
    assert_eq!(ids(&read_live(&disk))[0], first[0]);
    assert_eq!(
        ids(&read_live(&disk))[1],
        live[1],
        "a file that no record touched stays"
    );
    store.rollback(&replaced).expect("sound");
    assert_eq!(ids(&read_live(&disk)), live);
    write(&disk, "a", 4 * LEAF, b"again");
    store
        .mark_dirty("a", 4 * LEAF + 2 * PAGE, 1)
        .expect("there");
    store.checkpoint("last").expect("taken");
    assert_eq!(kept(&store, "last")[0], ids(&read_live(&disk))[0]);
}

/// The state after a wrong mark in older versions, or after a base file decayed.
#[test]
fn a_damaged_last_epoch_does_not_prevent_the_next() {
    let base = live_path()
        .with_file_name("bands.paceline")
        .join("base/a.0000000000000001");
    let ready = || {
        let (disk, mut store) = ready();
        store.write_at("a", 4 * LEAF, b"second").expect("written");
        store.checkpoint("second").expect("taken");
        drop(store);
        disk.flip_bit(&base, (2 * LEAF + 100) * 8).expect("there");
        write(&disk, "a", 10, b"third");
        disk.advance(1_000_000_000);
        (disk.clone(), opened(&disk))
    };
    let check = |disk: &FakeDisk, store: &Store| {
        assert_eq!(
            store.verify("second").expect("listed").wrong.len(),
            1,
            "and it says so"
        );
        assert_eq!(kept(store, "third"), ids(&read_live(disk)));
    };
    let (disk, mut store) = ready();
    store.checkpoint_observed("third").expect("taken");
    check(&disk, &store);
    let (disk, mut store) = ready();
    store.checkpoint_everything("third").expect("taken");
    check(&disk, &store);
    let (disk, store) = ready();
    let store = Mutex::new(store);
    Store::checkpoint_beside(&store, "third").expect("taken");
    check(&disk, &store.into_inner().expect("whole"));
    let (disk, mut store) = ready();
    store.checkpoint_observed("third").expect("taken");
    store.write_at("a", 0, b"fourth").expect("written");
    store.rollback("third").expect("sound");
    check(&disk, &store);
}

#[test]
fn ranges_beyond_a_band_are_refused_at_once() {
    let (disk, mut store) = ready();
    let end = 5 * LEAF;
    for (offset, bytes) in [
        (0, 1 << 40),
        (1 << 40, 1),
        (end, 1),
        (0, end + 1),
        (u64::MAX, 2),
        (2, u64::MAX),
    ] {
        let refused = store.mark_dirty("a", offset, bytes).expect_err("not there");
        assert_eq!(
            refused.kind(),
            ErrorKind::Refused,
            "{offset}+{bytes}: {refused}"
        );
    }
    for offset in [u64::MAX, u64::MAX - 1, i64::MAX.cast_unsigned()] {
        let refused = store
            .write_at("a", offset, b"two")
            .expect_err("no file is so large");
        assert_eq!(refused.kind(), ErrorKind::Refused, "{offset}: {refused}");
        assert_eq!(
            store
                .set_len("a", offset | 1 << 63)
                .expect_err("likewise")
                .kind(),
            ErrorKind::Refused
        );
    }
    assert_eq!(store.status().expect("readable").dirty, []);
    // Bytes that the owner appended by its own means are found when it reports them.
    write(&disk, "a", end, b"more");
    store.mark_dirty("a", end, 4).expect("there");
    store.checkpoint("second").expect("taken");
    assert_eq!(kept(&store, "second"), ids(&read_live(&disk)));
}

#[test]
fn where_space_is_short_the_log_is_smaller() {
    let (disk, store) = ready();
    drop(store);
    disk.remove(&live_path().with_file_name("bands.paceline").join("CURRENT"))
        .expect("removed");
    let large = Options {
        segment_bytes: 64 << 20,
        skip_proven_syncs: true,
    };
    // Directories, two base files, and then zeros by the mebibyte: there is space for 20 of them.
    let before = disk.steps();
    let probe = disk.after_kill();
    drop(Store::init(Arc::new(probe.clone()), &live_path(), large, "first").expect("new"));
    assert!(probe.steps() > 70, "64 MiB of zeros");
    disk.fail(Fault {
        at: before + 30,
        count: 1,
        kind: std::io::ErrorKind::StorageFull,
    });
    let mut store = Store::init(Arc::new(disk.clone()), &live_path(), large, "first").expect("new");
    assert_eq!(store.status().expect("readable").log_bytes, 16 << 20);
    store.write_at("a", 0, b"second").expect("written");
    store.checkpoint("second").expect("taken");
    drop(store);
    let store =
        Store::open(Arc::new(disk.after_power_loss(1)), &live_path(), large).expect("opened");
    assert_eq!(store.list().len(), 2);
}
