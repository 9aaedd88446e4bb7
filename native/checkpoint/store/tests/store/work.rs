//! Background jobs: their order, what may run beside them, and the state they leave.

use std::sync::{Arc, Mutex};

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault, RealDisk};
use paceline_checkpoint::{Background, ErrorKind, Options, Priority, Store, Waiting};

use crate::world::{OPTIONS, Random, live_path, read_live, size};

const BAND_BYTES: u64 = 96 << 10;

/// A store of four bands, `a` to `d`.
fn ready() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b", "c", "d"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![name.as_bytes()[0]; 90_000], 0)
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    (disk, store)
}

fn open(disk: &FakeDisk) -> Store {
    disk.advance(1_000_000_000);
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened")
}

fn waiting(store: &Store) -> Waiting {
    store.status().expect("readable").work
}

/// Runs all jobs; returns the bands whose trees were made.
fn settle(store: &mut Store) -> Vec<(String, Priority)> {
    let mut made = Vec::new();
    while let Some(mut job) = store.next_job().expect("readable") {
        made.extend(
            job.band()
                .map(|(name, priority)| (name.to_owned(), priority)),
        );
        job.run();
        store.take_back(job).expect("no fault");
    }
    made
}

#[test]
fn trees_are_made_in_order_of_urgency() {
    let (disk, mut store) = ready();
    for band in ["b", "d"] {
        store.write_at(band, 5, b"logged").expect("written");
        store.checkpoint(&format!("of {band}")).expect("taken");
    }
    disk.advance(1_000_000_000); // stamps as young as these would be read again
    store.save_index();
    drop(store);
    let trees = live_path().with_file_name("bands.paceline").join("trees");
    disk.remove(&trees.join("c")).expect("cached");
    let mut store = open(&disk);
    store.write_at("c", 5, b"marked").expect("written");
    assert_eq!(waiting(&store).hash_queue, [1, 2, 1], "urgent, soon, idle");
    let made = settle(&mut store);
    let expected = [
        ("c", Priority::Urgent),
        ("d", Priority::Soon),
        ("b", Priority::Soon),
        ("a", Priority::Idle),
    ];
    assert_eq!(
        made,
        expected.map(|(name, priority)| (name.to_owned(), priority))
    );
    let after = waiting(&store);
    assert_eq!(
        (after.hash_queue, after.trees, after.warmed),
        ([0, 0, 0], 4, 4)
    );
    assert!(after.tree_bytes > 0);
    // The checkpoint uses the tree that was made ahead: it reads the marked leaf and nothing of the
    // past.
    let taken = store.checkpoint("warm").expect("taken");
    assert_eq!(taken.read_bytes, 16 << 10);
    assert_eq!((waiting(&store).hits, waiting(&store).misses), (1, 0));
    store.save_index();
    assert!(
        disk.stamp(&trees.join("c")).is_ok(),
        "a tree that was made ahead is cached, too"
    );
}

#[test]
fn a_checkpoint_without_trees_counts_them_as_missed() {
    let (disk, mut store) = ready();
    disk.advance(1_000_000_000);
    store.save_index();
    drop(store);
    let trees = live_path().with_file_name("bands.paceline").join("trees");
    disk.remove(&trees.join("a")).expect("cached");
    let mut store = open(&disk);
    for band in ["a", "b"] {
        store.write_at(band, 5, b"x").expect("written");
    }
    store.checkpoint("cold").expect("taken");
    let work = waiting(&store);
    assert_eq!((work.hits, work.loads, work.misses), (0, 1, 1));
}

/// Fills the log with checkpoints that are pruned, so that a fold is due.
fn fill(store: &mut Store, random: &mut Random, from: u64, count: u64) {
    for number in from..from + count {
        for band in ["a", "b"] {
            store
                .write_at(band, random.below(80_000), &number.to_le_bytes())
                .expect("written");
        }
        store.checkpoint(&format!("c{number}")).expect("taken");
        if number > 0 {
            store
                .prune(&[&format!("c{}", number - 1)])
                .expect("given up");
        }
    }
}

#[test]
fn a_fold_runs_beside_checkpoints_and_rollbacks_and_shortens_the_log() {
    let (disk, mut store) = ready();
    let mut random = Random(3);
    store.prune(&["first"]).expect("given up");
    settle(&mut store);
    fill(&mut store, &mut random, 0, 30);
    let before = store.status().expect("readable");
    assert!(
        before.segments > 2 && before.work.foldable_bytes > OPTIONS.segment_bytes,
        "{before:?}"
    );
    let mut number = 30;
    let mut seen_under_way = false;
    while let Some(mut job) = store.next_job().expect("readable") {
        assert!(
            store.next_job().expect("readable").is_none(),
            "one job at a time"
        );
        for refused in [store.gc().map(drop), store.fold().map(drop)] {
            assert_eq!(refused.expect_err("a job is out").kind(), ErrorKind::Locked);
        }
        seen_under_way |= waiting(&store).fold.is_some();
        // Everything else works while the job runs, before and after.
        fill(&mut store, &mut random, number, 1);
        job.run();
        store.rollback(&format!("c{number}")).expect("back");
        number += 1;
        store.take_back(job).expect("no fault");
        assert!(number < 60, "it never ends");
    }
    assert!(seen_under_way);
    let after = store.status().expect("readable");
    assert!(
        after.work.folds > 0 && after.base_epoch > before.base_epoch,
        "{after:?}"
    );
    assert_eq!(after.work.fold, None);
    let live = read_live(&disk);
    drop(store);
    let mut store = open(&disk);
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
    assert_eq!(read_live(&disk), live);
    assert_eq!(
        store.gc().expect("nothing in the way"),
        0,
        "what was no longer named is gone"
    );
}

/// No other process can open the store while one of its jobs runs, even after the store was
/// dropped.
#[test]
fn a_running_job_keeps_other_processes_out() {
    let (disk, mut store) = ready();
    store.save_index();
    drop(store);
    store = open(&disk);
    let job = store.next_job().expect("readable").expect("trees to make");
    drop(store);
    let again = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS);
    assert_eq!(
        again.expect_err("held by the job").kind(),
        ErrorKind::Locked
    );
    drop(job);
    open(&disk);
}

#[test]
fn a_failed_job_is_reported_leaves_nothing_and_is_repeated() {
    let (disk, mut store) = ready();
    store.prune(&["first"]).expect("given up");
    settle(&mut store);
    fill(&mut store, &mut Random(4), 0, 30);
    let base = live_path().with_file_name("bands.paceline").join("base");
    let mut failures = 0;
    for operation in 1.. {
        let files = disk.list(&base).expect("listed").len();
        let mut job = store.next_job().expect("readable").expect("a fold is due");
        disk.fail(Fault {
            at: disk.steps() + operation,
            count: 1,
            kind: std::io::ErrorKind::StorageFull,
        });
        job.run();
        disk.fail(Fault {
            at: u64::MAX,
            count: 0,
            kind: std::io::ErrorKind::StorageFull,
        });
        if store.take_back(job).is_ok() {
            break;
        }
        failures += 1;
        assert!(
            waiting(&store)
                .failure
                .is_some_and(|why| why.contains("storage") || why.contains("space"))
        );
        let mut cleaning = store
            .next_job()
            .expect("readable")
            .expect("something to do");
        cleaning.run();
        store.take_back(cleaning).expect("no fault");
        assert!(
            disk.list(&base).expect("listed").len() <= files + 1,
            "what it had made is still there"
        );
    }
    assert!(failures > 2, "{failures} failures");
    settle(&mut store);
    assert_eq!(waiting(&store).failure, None);
    assert!(waiting(&store).folds > 0 && store.verify("c29").expect("kept").wrong.is_empty());
}

/// The sync failed when a fold was placed: it is unknown which base counts, so no file of either
/// may be removed.
#[test]
fn after_a_fold_of_unknown_outcome_nothing_is_removed_until_the_store_is_opened_again() {
    let mut unknown = 0;
    for operation in 1..40 {
        let (disk, mut store) = ready();
        store.write_at("a", 7, b"second").expect("written");
        store.checkpoint("second").expect("taken");
        store.prune(&["first"]).expect("given up");
        let live = read_live(&disk);
        disk.fail(Fault {
            at: disk.steps() + operation,
            count: 1,
            kind: std::io::ErrorKind::Other,
        });
        let failed = store.fold().is_err();
        let again = store.fold();
        if failed
            && again
                .as_ref()
                .is_err_and(|error| error.kind() == ErrorKind::Stopped)
        {
            unknown += 1;
            let refused = store.gc().expect_err("it may be what counts");
            assert_eq!(refused.kind(), ErrorKind::Stopped);
        }
        drop(store);
        for disk in [disk.after_power_loss(operation), disk.after_kill()] {
            let mut store =
                Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
            assert!(
                store.verify("second").expect("kept").wrong.is_empty(),
                "failed at {operation}"
            );
            store.rollback_observed("second").expect("back");
            assert_eq!(read_live(&disk), live, "failed at {operation}");
        }
    }
    assert!(unknown > 0, "no sync of the store's directory failed");
}

#[test]
fn a_thread_keeps_the_log_short_while_its_owner_writes() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    for name in ["a", "b"] {
        std::fs::write(
            live.join(name),
            vec![7; usize::try_from(BAND_BYTES).expect("small")],
        )
        .expect("written");
    }
    let options = Options {
        segment_bytes: 128 << 10,
        skip_proven_syncs: true,
    };
    let store = Store::init(Arc::new(RealDisk), &live, options, "first").expect("new");
    let store = Arc::new(Mutex::new(store));
    let work = Background::start(Arc::clone(&store)).expect("a thread");
    let mut random = Random(6);
    store
        .lock()
        .expect("fine")
        .prune(&["first"])
        .expect("given up");
    let count = size("CHECKPOINT_WORK", 60);
    for number in 0..count {
        fill(&mut store.lock().expect("fine"), &mut random, number, 1);
        work.nudge();
        if number % 20 == 19 {
            work.settle();
            let status = store.lock().expect("fine").status().expect("readable");
            assert!(status.log_bytes <= 4 * options.segment_bytes, "{status:?}");
        }
    }
    drop(work);
    let store = Arc::into_inner(store)
        .expect("the thread let go")
        .into_inner()
        .expect("fine");
    let work = waiting(&store);
    assert!(
        work.folds > 1 && work.failure.is_none() && work.hash_queue == [0, 0, 0],
        "{work:?}"
    );
    drop(store);
    let store = Store::open(Arc::new(RealDisk), &live, options).expect("opened");
    let last = format!("c{}", count - 1);
    assert!(store.verify(&last).expect("kept").wrong.is_empty());
    for (name, state) in store.bands(&last).expect("kept") {
        assert_eq!(
            state.id,
            *blake3::hash(&std::fs::read(live.join(name)).expect("a band")).as_bytes()
        );
    }
}
