//! An old store after many epochs of random writes: its size on the disk, and the cost of a
//! checkpoint and a rollback, in bytes and operations; the suite measures times.
//!
//! `CHECKPOINT_EPOCHS=1000` is the long run.

use std::collections::VecDeque;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Kind, RealDisk};
use paceline_checkpoint::{Options, Store};

use crate::world::{Bands, Random, live_path, read_live, size};

const BANDS: u64 = 6;
const BAND_BYTES: u64 = 1 << 20;
const LIVE_BYTES: u64 = BANDS * BAND_BYTES;
const OPTIONS: Options = Options {
    segment_bytes: 512 << 10,
    skip_proven_syncs: true,
};
/// Checkpoints that are kept.
const KEPT: usize = 5;
/// Pages that are written between two checkpoints, each in a leaf of its own.
const WRITES: u64 = 8;

fn name(band: u64) -> String {
    format!("b{band}")
}

/// Writes random pages through the store, takes a checkpoint, and prunes the oldest.
fn epoch(
    store: &mut Store,
    number: u64,
    random: &mut Random,
    kept: &mut VecDeque<String>,
) -> (u64, u64) {
    let leaves = BAND_BYTES / (16 << 10);
    for write in 0..WRITES {
        // Each write changes its own leaves, so that each epoch writes as many.
        let leaf = random.below(leaves / WRITES) * WRITES + write;
        let page = vec![random.below(255).to_le_bytes()[0] + 1; 4096];
        store
            .write_at(&name(number % BANDS), leaf * (16 << 10), &page)
            .expect("written");
    }
    let taken = store.checkpoint(&format!("c{number}")).expect("taken");
    kept.push_back(format!("c{number}"));
    if kept.len() > KEPT {
        let oldest = kept.pop_front().expect("not empty");
        store.prune(&[&oldest]).expect("given up");
    }
    (taken.read_bytes, taken.written_bytes)
}

fn settle(store: &mut Store, mut inspect: impl FnMut(&Store)) {
    while let Some(mut job) = store.next_job().expect("readable") {
        job.run();
        store.take_back(job).expect("no fault");
        inspect(store);
    }
}

#[test]
fn an_old_store_takes_the_space_of_live_and_a_bounded_log() {
    let epochs = size("CHECKPOINT_EPOCHS", 150);
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    let mut random = Random(1);
    for band in 0..BANDS {
        let bytes = vec![band.to_le_bytes()[0] + 1; usize::try_from(BAND_BYTES).expect("small")];
        std::fs::write(live.join(name(band)), bytes).expect("written");
    }
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    store.prune(&["first"]).expect("given up");
    // A fold is due once the records of a segment can be dropped, and whole segments are dropped. One more
    // segment is being written.
    let log_bound = 4 * OPTIONS.segment_bytes;
    let space = |store: &Store| {
        let status = store.status().expect("readable");
        (status.base_bytes, status.log_bytes)
    };
    let (mut kept, mut most, mut most_in_fold) = (VecDeque::new(), 0, 0);
    for number in 0..epochs {
        epoch(&mut store, number, &mut random, &mut kept);
        settle(&mut store, |store| {
            most_in_fold = space(store).0.max(most_in_fold);
        });
        let (base, log) = space(&store);
        assert!(log <= log_bound, "epoch {number}: a log of {log} bytes");
        assert!(
            base <= LIVE_BYTES * 3 / 2,
            "epoch {number}: a base of {base} bytes"
        );
        most = most.max(base + log);
    }
    let work = store.status().expect("readable").work;
    assert!(work.folds > epochs / 30, "{work:?}");
    assert!(most <= LIVE_BYTES * 3 / 2 + log_bound, "{most} bytes");
    assert!(
        most_in_fold <= 2 * LIVE_BYTES,
        "while it folds, old and new files are there: {most_in_fold}"
    );
    let whole: u64 = walk(&live.with_file_name("bands.paceline"));
    let small_files = 64 << 10;
    assert!(
        whole <= LIVE_BYTES * 3 / 2 + log_bound + small_files,
        "{whole} bytes, whatever they are for"
    );
    let thousandths = (most * 1000) / LIVE_BYTES;
    eprintln!(
        "{epochs} epochs, {} folds: at most {thousandths}/1000 of live data",
        work.folds
    );
}

/// Bytes that all files below a directory take.
fn walk(dir: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(dir)
        .expect("listed")
        .map(|entry| entry.expect("readable").path());
    entries
        .map(|path| {
            let stamp = RealDisk.stamp(&path).expect("there");
            if stamp.kind == Kind::Directory {
                walk(&path)
            } else {
                stamp.blocks * 512
            }
        })
        .sum()
}

#[test]
fn an_epoch_and_a_rollback_cost_an_old_store_what_they_cost_a_new_one() {
    let epochs = size("CHECKPOINT_EPOCHS", 150);
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for band in 0..BANDS {
        let file = disk
            .open(&live_path().join(name(band)), Access::Create)
            .expect("made");
        file.write_at(&vec![1; usize::try_from(BAND_BYTES).expect("small")], 0)
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    store.prune(&["first"]).expect("given up");
    let (mut random, mut kept) = (Random(2), VecDeque::new());
    let (mut costs, mut states): (Vec<_>, VecDeque<Bands>) = (Vec::new(), VecDeque::new());
    let mut rollback_steps = Vec::new();
    for number in 0..epochs {
        let before = disk.steps();
        let (read, written) = epoch(&mut store, number, &mut random, &mut kept);
        costs.push((read, written, disk.steps() - before));
        states.push_back(read_live(&disk));
        if states.len() > KEPT {
            states.pop_front();
        }
        settle(&mut store, |_| ());
        if number == 30 || number == epochs - 1 {
            let (oldest, before) = (&kept[0], disk.steps());
            store.rollback(oldest).expect("back");
            assert_eq!(read_live(&disk), states[0], "{number}: back to {oldest}");
            rollback_steps.push(disk.steps() - before);
            store.rollback(&kept[KEPT - 1]).expect("and forth");
            let replaced = store
                .list()
                .into_iter()
                .map(|it| it.name)
                .filter(|name| !kept.contains(name));
            let replaced: Vec<String> = replaced.collect();
            store
                .prune(&replaced.iter().map(String::as_str).collect::<Vec<_>>())
                .expect("given up");
        }
    }
    let median = |costs: &[(u64, u64, u64)]| {
        let mut costs = costs.to_vec();
        costs.sort_unstable();
        costs[costs.len() / 2]
    };
    // The trees exist from the start, so the first epoch of each band reads its leaves like every
    // other.
    let (young, old) = (median(&costs[..30]), median(&costs[costs.len() - 30..]));
    assert_eq!(young, old, "bytes read, bytes written, operations");
    assert_eq!(old.0, WRITES * (16 << 10), "each written leaf is read once");
    assert!(
        rollback_steps[1] <= rollback_steps[0] + rollback_steps[0] / 10,
        "operations of a rollback: {rollback_steps:?}"
    );
    let work = store.status().expect("readable").work;
    let pages = BANDS * BAND_BYTES / 4096;
    assert!(
        work.folds > 1 && work.patched_pages <= pages / 4,
        "fragmented base files are written anew: {work:?}"
    );
    drop(store);
    let store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    for name in &kept {
        assert!(store.verify(name).expect("kept").wrong.is_empty(), "{name}");
    }
}
