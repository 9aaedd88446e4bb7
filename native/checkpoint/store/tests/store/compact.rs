//! Compaction: what was given up between kept checkpoints goes, and nothing else, whenever it stops.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault};
use paceline_checkpoint::{ErrorKind as Failure, Options, Store};

use crate::world::{self, Ids, ids, is_stop, live_path, read_live};

const OPTIONS: Options = Options {
    segment_bytes: 64 << 10,
    skip_proven_syncs: true,
};
const PAGE: u64 = 4096;
const PAGES: u64 = 16;

type Reported = BTreeMap<String, Ids>;

fn page(store: &mut Store, band: &str, number: u64) {
    let fill = vec![number.to_le_bytes()[0]; 4096];
    store
        .write_at(band, number % PAGES * PAGE, &fill)
        .expect("written");
}

/// Three bands and the checkpoints first and c1 to c`count`, of which the first and every tenth stay;
/// band `c` comes with c2 and is gone with c5.
fn ready(count: u64) -> (FakeDisk, Store, Reported) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![7; 66_000], 0).expect("written");
    }
    disk.sync_beneath(std::path::Path::new("/"))
        .expect("synced");
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    let mut kept = Reported::from([("first".to_owned(), ids(&read_live(&disk)))]);
    for number in 1..=count {
        disk.advance(1_000_000_000);
        page(&mut store, "a", number);
        match number {
            2 => page(&mut store, "c", number),
            5 => store.remove("c").expect("there"),
            7 => store.set_len("b", 1000).expect("cut"),
            9 => page(&mut store, "b", number),
            _ => {}
        }
        let name = format!("c{number}");
        store.checkpoint(&name).expect("taken");
        if number % 10 == 0 {
            kept.insert(name, ids(&read_live(&disk)));
        } else {
            store.prune(&[&name]).expect("given up");
        }
    }
    (disk, store, kept)
}

fn listed(store: &Store) -> Vec<(String, i64)> {
    let list = store.list().into_iter();
    list.map(|checkpoint| (checkpoint.name, checkpoint.created_ns))
        .collect()
}

fn assert_holds(store: &Store, kept: &Reported, what: &str) {
    for (name, ids) in kept {
        let verified = store
            .verify(name)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(verified.wrong.is_empty(), "{what}: {name}: {verified:?}");
        assert_eq!(&world::kept(store, name), ids, "{what}: {name}");
    }
    assert_eq!(store.list().len(), kept.len(), "{what}: {:?}", store.list());
}

fn open(disk: &FakeDisk, what: &str) -> Store {
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS)
        .unwrap_or_else(|error| panic!("{what}: {error}"))
}

/// What the store has, and that it goes on: the next checkpoint is live, and is there after a power
/// loss, as is what was kept.
fn assert_goes_on(disk: &FakeDisk, mut store: Store, kept: &Reported, what: &str) {
    assert_holds(&store, kept, what);
    let mut kept = kept.clone();
    page(&mut store, "b", 200);
    store
        .checkpoint("next")
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    kept.insert("next".to_owned(), ids(&read_live(disk)));
    assert_holds(&store, &kept, what);
    drop(store);
    assert_holds(&open(&disk.after_power_loss(9), what), &kept, what);
}

#[test]
fn a_compaction_frees_what_was_given_up_while_the_oldest_checkpoint_stays() {
    let (disk, mut store, kept) = ready(100);
    let (list, before) = (listed(&store), store.status().expect("readable"));
    store.fold().expect("folded");
    let folded = store.status().expect("readable");
    assert_eq!(
        folded.log_bytes, before.log_bytes,
        "a fold frees nothing of it"
    );
    let compacted = store.compact().expect("compacted");
    let after = store.status().expect("readable");
    assert_eq!(compacted.before_bytes, before.record_bytes);
    assert_eq!(compacted.after_bytes, after.record_bytes);
    // Ten records of ten pages of `a`, some of `b`, and a page for each record's table.
    assert!(after.record_bytes <= 125 * PAGE, "{after:?}");
    assert!(
        after.log_bytes * 2 < before.log_bytes,
        "{before:?}, {after:?}"
    );
    assert_eq!(
        listed(&store),
        list,
        "names, times and their order are as before"
    );
    assert_eq!(store.given_up_bytes(), 0);
    let steps = disk.steps();
    store.compact().expect("nothing to do");
    assert_eq!(disk.steps(), steps);
    assert_goes_on(&disk, store, &kept, "compacted");
}

/// Live's marks are relative to the last epoch, which nobody keeps here.
#[test]
fn marks_stay_valid_when_the_last_epoch_was_given_up() {
    let (disk, mut store, kept) = ready(13);
    page(&mut store, "a", 77);
    let dirty = store.status().expect("readable").dirty;
    store.compact().expect("compacted");
    assert_eq!(store.status().expect("readable").dirty, dirty);
    assert_goes_on(&disk, store, &kept, "compacted");
}

/// The machine stops at any operation of a compaction: the store is sound and has every checkpoint.
#[test]
fn an_interrupted_compaction_leaves_a_sound_store() {
    let (disk, mut store, kept) = ready(23);
    store.save_index();
    drop(store);
    let (mut as_before, mut compacted) = (0, 0);
    for operation in 1.. {
        let cut = disk.after_kill();
        let mut store = open(&cut, "before");
        cut.stop_at(cut.steps() + operation);
        let done = match store.compact() {
            Ok(_) => true,
            Err(error) => {
                assert!(is_stop(&error), "{error}");
                false
            }
        };
        drop(store);
        let left = [
            cut.after_kill(),
            cut.after_power_loss(operation),
            cut.after_power_loss(operation + 1000),
        ];
        for (how, left) in left.into_iter().enumerate() {
            let what = format!("stopped at {operation}, {how}");
            let reader = Store::open_read_only(Arc::new(left.clone()), &live_path())
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(reader.damage().is_none(), "{what}: {:?}", reader.damage());
            drop(reader);
            let mut store = open(&left, &what);
            assert_holds(&store, &kept, &what);
            let again = store
                .compact()
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            as_before += u64::from(again.before_bytes > again.after_bytes);
            compacted += u64::from(again.before_bytes == again.after_bytes);
            assert_goes_on(&left, store, &kept, &what);
        }
        if done {
            break;
        }
    }
    assert!(
        as_before > 20 && compacted > 3,
        "{as_before} as before, {compacted} compacted"
    );
}

/// The disk fails, once or until it has space again, and the same process goes on: it takes a
/// checkpoint, so the next compaction has other numbers than what the first one left.
#[test]
fn a_failed_compaction_can_be_repeated_and_loses_nothing() {
    let (mut failures, mut stopped) = (0, 0);
    for operation in 1.. {
        let (disk, mut store, mut kept) = ready(23);
        disk.fail(Fault {
            at: disk.steps() + operation,
            count: if operation % 2 == 0 { 1 } else { 1 << 40 },
            kind: ErrorKind::StorageFull,
        });
        let failed = store.compact().err();
        disk.fail(Fault {
            at: u64::MAX,
            count: 0,
            kind: ErrorKind::StorageFull,
        });
        let what = format!("failed at {operation}: {failed:?}");
        if failed.is_none() {
            assert_goes_on(&disk, store, &kept, &what);
            break;
        }
        failures += 1;
        assert_holds(&store, &kept, &what);
        page(&mut store, "a", 99);
        match store.checkpoint("between") {
            Ok(_) => {
                kept.insert("between".to_owned(), ids(&read_live(&disk)));
                for seed in [operation, operation + 1000] {
                    let left = open(&disk.after_power_loss(seed), &what);
                    assert_holds(&left, &kept, &what);
                }
                store
                    .compact()
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
            }
            // It is unknown whether the old or the new log counts.
            Err(error) => {
                assert_eq!(error.kind(), Failure::Stopped, "{what}: {error}");
                stopped += 1;
                drop(store);
                store = open(&disk, &what);
            }
        }
        assert_goes_on(&disk, store, &kept, &what);
    }
    assert!(
        failures > 20 && stopped > 2,
        "{failures}, {stopped} stopped"
    );
}

/// No opening hashes pages that the index proves, so the compaction has to.
#[test]
fn pages_that_decayed_are_not_compacted_into_a_new_log() {
    let (disk, mut store, kept) = ready(23);
    let log = live_path().with_file_name("bands.paceline").join("log");
    let first = log.join(&disk.list(&log).expect("there")[0].name);
    // The page of c1, behind the head of the segment and the record's: c10 has it, c20 a later one.
    disk.flip_bit(&first, (2 * PAGE + 10) * 8).expect("there");
    let refused = store.compact().expect_err("c10 has another id");
    assert_eq!(refused.kind(), Failure::Damaged, "{refused}");
    assert!(!store.verify("c10").expect("kept").wrong.is_empty());
    for name in ["first", "c20"] {
        assert_eq!(world::kept(&store, name), kept[name], "{name}");
    }
}

/// An owner that keeps the first checkpoint for ever and the newest three, and compacts when that is
/// due: the log is bounded, whatever was given up.
#[test]
fn a_log_that_is_compacted_when_due_stays_bounded() {
    let (disk, mut store, mut kept) = ready(0);
    let (mut newest, mut compactions) = (Vec::new(), 0);
    for number in 1..400 {
        page(&mut store, "a", number);
        let name = format!("c{number}");
        store.checkpoint(&name).expect("taken");
        kept.insert(name.clone(), ids(&read_live(&disk)));
        newest.push(name);
        if newest.len() > 3 {
            let oldest = newest.remove(0);
            store.prune(&[&oldest]).expect("given up");
            kept.remove(&oldest);
        }
        if store.is_compaction_due() {
            store.compact().expect("compacted");
            compactions += 1;
            assert!(!store.is_compaction_due(), "after {number}");
        }
        let status = store.status().expect("readable");
        assert!(
            status.log_bytes <= 7 * OPTIONS.segment_bytes,
            "after {number}: {status:?}"
        );
    }
    assert!((5..40).contains(&compactions), "{compactions}");
    assert_goes_on(&disk, store, &kept, "compacted when due");
}
