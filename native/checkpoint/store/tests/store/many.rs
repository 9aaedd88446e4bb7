//! A long life: many checkpoints, most of them pruned, and the space of the store.
//!
//! `CHECKPOINT_MANY=10000` is the long run.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use paceline_checkpoint::Store;
use paceline_checkpoint::disk::{Access, Disk, FakeDisk};

use crate::world::{Bands, OPTIONS, Random, live_path, read_live, size};

/// The checkpoints to keep: the newest, and one of every hundred up to a limit.
const NEWEST: usize = 8;
const OLD: usize = 4;
const BANDS: u64 = 3;
const BAND_BYTES: u64 = 96 << 10;

#[test]
fn many_checkpoints_with_pruning_lose_none_that_is_kept_and_take_bounded_space() {
    let count = size("CHECKPOINT_MANY", 500);
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for band in 0..BANDS {
        let file = disk
            .open(&live_path().join(format!("b{band}")), Access::Create)
            .expect("made");
        file.write_at(&vec![1; usize::try_from(BAND_BYTES).expect("small")], 0)
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    store.prune(&["first"]).expect("given up");
    let mut random = Random(5);
    let mut live: Bands = read_live(&disk);
    let mut kept: BTreeMap<String, Bands> = BTreeMap::new();
    let (mut newest, mut old, mut largest) = (VecDeque::new(), VecDeque::new(), 0);
    for number in 0..count {
        let (band, offset) = (
            format!("b{}", random.below(BANDS)),
            random.below(BAND_BYTES - 8),
        );
        let bytes = number.to_le_bytes();
        store.write_at(&band, offset, &bytes).expect("written");
        let at = usize::try_from(offset).expect("small");
        live.get_mut(&band).expect("known")[at..at + 8].copy_from_slice(&bytes);
        let name = format!("c{number}");
        store.checkpoint(&name).expect("taken");
        kept.insert(name.clone(), live.clone());
        newest.push_back(name);
        let mut going = Vec::new();
        if newest.len() > NEWEST {
            let oldest = newest.pop_front().expect("not empty");
            if number % 100 == 0 {
                old.push_back(oldest);
            } else {
                going.push(oldest);
            }
        }
        if old.len() > OLD {
            going.extend(old.pop_front());
        }
        store
            .prune(&going.iter().map(String::as_str).collect::<Vec<_>>())
            .expect("given up");
        for name in &going {
            kept.remove(name);
        }
        if number % 50 == 49 {
            store.fold().expect("folded");
            largest = largest.max(store.status().expect("readable").log_bytes);
        }
    }
    // The oldest kept one is OLD hundreds back; from there on each checkpoint and each pruning is
    // one record, and the segment in use counts in full.
    let records = (u64::try_from(OLD).expect("small") + 2) * 100 * (3 + 1) * 4096;
    assert!(
        largest <= records + 2 * OPTIONS.segment_bytes,
        "the log grew to {largest} bytes"
    );
    drop(store);
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
    let names: Vec<String> = store
        .list()
        .into_iter()
        .map(|checkpoint| checkpoint.name)
        .collect();
    let mut expected: Vec<String> = kept.keys().cloned().collect();
    expected.sort_by_key(|name| name[1..].parse::<u64>().expect("a number"));
    assert_eq!(names, expected);
    for name in &names {
        assert!(store.verify(name).expect("kept").wrong.is_empty(), "{name}");
    }
    store.rollback(&names[0]).expect("back to the oldest");
    assert_eq!(read_live(&disk), kept[&names[0]]);
    let files = disk
        .list(&live_path().with_file_name("bands.paceline").join("base"))
        .expect("listed");
    assert_eq!(files.len() as u64, BANDS, "files of bases that are gone");
}
