//! Owners that report their writes to a store that was opened for one checkpoint.

use std::path::PathBuf;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault, RealDisk};
use paceline_checkpoint::{ErrorKind, Options, Store, Taken, Written};

use crate::world::{Bands, OPTIONS, Random, ids, kept, live_path, read_live, write};

const LEAF: u64 = 16 * 1024;
/// Size of `a`: six leaves, the last of a page and a bit.
const LARGE: usize = 5 * 16 * 1024 + 5000;
/// Size of `b` and `c`.
const SMALL: usize = 40_000;

fn later(disk: &FakeDisk) {
    disk.advance(1_000_000_000);
}

fn written_range(band: &str, offset: u64, bytes: u64) -> Written {
    Written {
        band: band.to_owned(),
        range: Some((offset, bytes)),
    }
}

fn opened(disk: &FakeDisk) -> Store {
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened")
}

/// A store that was closed with its index some time ago.
fn ready() -> FakeDisk {
    ready_on(FakeDisk::default())
}

fn ready_on(disk: FakeDisk) -> FakeDisk {
    disk.make_dir(&live_path()).expect("made");
    for (name, bytes) in [("a", LARGE), ("b", SMALL), ("c", SMALL)] {
        let bytes: Vec<u8> = (0..bytes)
            .map(|at| (at / 251).to_le_bytes()[0] ^ name.as_bytes()[0])
            .collect();
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&bytes, 0).expect("written");
    }
    later(&disk);
    Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first")
        .expect("new")
        .save_index();
    later(&disk);
    disk
}

/// One process: opens the store, takes a checkpoint that must equal the files, and saves its index.
fn taken(disk: &FakeDisk, name: &str, written: &[Written]) -> Taken {
    let mut store = opened(disk);
    let taken = store.checkpoint_marked(name, written).expect("quiet");
    assert_eq!(kept(&store, name), ids(&read_live(disk)), "{name}");
    store.save_index();
    taken
}

#[test]
fn only_leaves_that_were_written_are_read() {
    let disk = ready();
    for (name, ranges, leaves) in [
        ("within a page", vec![(100, 3)], vec![0]),
        ("a page", vec![(4096, 4096)], vec![0]),
        ("over the edge of a leaf", vec![(LEAF - 1, 2)], vec![0, 1]),
        ("all of a leaf", vec![(LEAF, LEAF)], vec![1]),
        ("up to the end", vec![(LARGE as u64 - 7, 7)], vec![5]),
        (
            "twice, and not in order",
            vec![(3 * LEAF, 9), (2, 2), (3 * LEAF + 4, 9)],
            vec![0, 3],
        ),
        ("nothing after all", vec![(77, 0)], vec![]),
    ] {
        for (offset, bytes) in &ranges {
            let value = name.len().to_le_bytes()[0];
            write(
                &disk,
                "a",
                *offset,
                &vec![value; usize::try_from(*bytes).expect("small")],
            );
        }
        later(&disk);
        let written: Vec<Written> = ranges
            .iter()
            .map(|(offset, bytes)| written_range("a", *offset, *bytes))
            .collect();
        let read = taken(&disk, name, &written).read_bytes;
        let bytes: u64 = leaves
            .iter()
            .map(|leaf| LEAF.min(LARGE as u64 - leaf * LEAF))
            .sum();
        assert_eq!(read, bytes, "{name}");
        later(&disk);
    }
}

#[test]
fn changed_bands_without_a_report_are_read_whole() {
    let disk = ready();
    write(&disk, "a", 2 * LEAF - 3, b"a few bytes");
    write(&disk, "b", 20_000, b"nobody says this");
    write(&disk, "c", 30_000, b"of one it is said");
    later(&disk);
    let written = [
        written_range("a", 2 * LEAF - 3, 11),
        written_range("c", 30_000, 17),
    ];
    let read = taken(&disk, "second", &written).read_bytes;
    assert_eq!(read, 2 * LEAF + SMALL as u64 + LEAF);
    later(&disk);
    assert_eq!(
        taken(&disk, "nothing", &[]).read_bytes,
        0,
        "each is known since"
    );
    let whole = Written {
        band: "b".to_owned(),
        range: None,
    };
    assert_eq!(
        taken(
            &disk,
            "all of it",
            &[written_range("b", 0, 1), whole.clone()]
        )
        .read_bytes,
        SMALL as u64
    );
    assert_eq!(
        taken(&disk, "again", &[whole, written_range("b", 0, 1)]).read_bytes,
        SMALL as u64
    );
    assert_eq!(
        taken(&disk, "one leaf, unmoved", &[written_range("b", 0, 1)]).read_bytes,
        LEAF
    );
}

/// The owner's report is incomplete: it names one byte, and more changed.
#[test]
fn a_band_whose_stamp_contradicts_the_report_is_read_whole() {
    type Act = fn(&FakeDisk);
    let acts: [(&str, Act); 9] = [
        ("grown", |disk| {
            write(disk, "b", SMALL as u64 - 1, b"longer");
        }),
        ("cut", |disk| {
            let file = disk
                .open(&live_path().join("b"), Access::Write)
                .expect("open");
            file.set_len(20_000).expect("cut");
        }),
        ("another file", |disk| {
            let new = live_path().with_file_name("new");
            let file = disk.open(&new, Access::Create).expect("made");
            file.write_at(&vec![7; SMALL], 0).expect("written");
            disk.rename(&new, &live_path().join("b")).expect("renamed");
        }),
        ("removed and made again", |disk| {
            disk.remove(&live_path().join("b")).expect("removed");
            let file = disk
                .open(&live_path().join("b"), Access::Create)
                .expect("made");
            file.write_at(&vec![8; SMALL], 0).expect("written");
        }),
        ("written in the past", |disk| {
            disk.set_clock_by(-3_600_000_000_000);
            write(disk, "b", 30_000, b"earlier");
            disk.set_clock_by(3_600_000_000_000);
        }),
        ("in a record that no index names", |disk| {
            write(disk, "b", 30_000, b"a checkpoint");
            opened(disk).checkpoint_observed("unnamed").expect("quiet");
            write(disk, "b", 20_000, b"and more");
        }),
        ("without an index", |disk| {
            disk.remove(&live_path().with_file_name("bands.paceline").join("INDEX"))
                .expect("removed");
            write(disk, "b", 30_000, b"unknown");
        }),
        ("last seen when it was young", |disk| {
            write(disk, "b", 20_000, b"right before");
            let mut store = opened(disk);
            store.checkpoint_observed("right before").expect("quiet");
            store.save_index();
            write(disk, "b", 30_000, b"right behind");
        }),
        ("new", |disk| {
            let file = disk
                .open(&live_path().join("d"), Access::Create)
                .expect("made");
            file.write_at(&vec![9; SMALL], 0).expect("written");
        }),
    ];
    for (what, act) in acts {
        let disk = ready();
        act(&disk);
        later(&disk);
        let name = if what == "new" { "d" } else { "b" };
        let bytes = read_live(&disk)[name].len() as u64;
        let read = taken(&disk, what, &[written_range(name, 10, 1)]).read_bytes;
        let others = if what == "without an index" {
            LARGE + SMALL
        } else {
            0
        };
        assert_eq!(read, bytes + others as u64, "{what}");
    }
}

/// The same with the stamps of a store that stays open.
#[test]
fn a_band_whose_last_stamp_was_young_is_read_whole_even_if_reported() {
    let disk = ready();
    let mut store = opened(&disk);
    write(&disk, "b", 20_000, b"right before");
    store.checkpoint_observed("right before").expect("quiet");
    write(&disk, "b", 30_000, b"right behind, and not said");
    later(&disk);
    write(&disk, "b", 10, b"x");
    later(&disk);
    let read = store
        .checkpoint_marked("second", &[written_range("b", 10, 1)])
        .expect("quiet")
        .read_bytes;
    assert_eq!(
        (read, kept(&store, "second")),
        (SMALL as u64, ids(&read_live(&disk)))
    );
    write(&disk, "b", 10, b"y");
    later(&disk);
    let read = store
        .checkpoint_marked("third", &[written_range("b", 10, 1)])
        .expect("quiet")
        .read_bytes;
    assert_eq!(
        (read, kept(&store, "third")),
        (LEAF, ids(&read_live(&disk)))
    );
}

#[test]
fn a_tree_that_is_not_cached_is_computed_from_the_log() {
    let disk = ready();
    disk.remove(&live_path().with_file_name("bands.paceline").join("trees/a"))
        .expect("removed");
    write(&disk, "a", 70_000, b"bytes");
    later(&disk);
    assert_eq!(
        taken(&disk, "second", &[written_range("a", 70_000, 5)]).read_bytes,
        LEAF
    );
}

/// The same-tick rule: what was read is compared with the whole band, so no unreported write is
/// missed.
#[test]
fn a_band_with_a_young_stamp_is_read_twice_even_if_reported() {
    let disk = ready();
    write(&disk, "a", 5, b"said");
    assert_eq!(
        taken(&disk, "right", &[written_range("a", 5, 4)]).read_bytes,
        LEAF,
        "the second reading is not counted"
    );
    later(&disk);
    for unsaid in [5_000, 50_000] {
        let disk = ready();
        write(&disk, "a", 5, b"said");
        write(&disk, "a", unsaid, b"and not");
        let read = taken(&disk, "wrong", &[written_range("a", 5, 4)]).read_bytes;
        assert_eq!(
            read,
            if unsaid < LEAF { LEAF } else { LARGE as u64 },
            "found with its leaf, or second"
        );
    }
}

#[test]
fn a_write_that_began_before_the_stamp_is_awaited() {
    let disk = ready();
    disk.begin_write(&live_path().join("a"), 30_000, &[7; 5000])
        .expect("begun");
    later(&disk);
    let mut store = opened(&disk);
    let read = store
        .checkpoint_marked("second", &[written_range("a", 30_000, 5000)])
        .expect("quiet")
        .read_bytes;
    assert_eq!(read, 2 * LEAF);
    disk.open(&live_path().join("a"), Access::Read)
        .expect("open")
        .await_writes();
    assert_eq!(
        kept(&store, "second"),
        ids(&read_live(&disk)),
        "bytes came after the reading"
    );
}

/// From the first stamp of the band on, every unreported write is noticed.
#[test]
fn a_checkpoint_is_one_state_of_live_whatever_is_written_meanwhile() {
    for (offset, exact) in [100, 5_000, 60_000]
        .into_iter()
        .flat_map(|offset| [(offset, false), (offset, true)])
    {
        let (mut moments, mut whole) = (0, 0);
        for moment in 2.. {
            let disk = FakeDisk::default();
            if exact {
                disk.say_stamps_are_exact();
            }
            let disk = ready_on(disk);
            write(&disk, "a", 100, b"before");
            later(&disk);
            let (mut store, before) = (opened(&disk), ids(&read_live(&disk)));
            disk.meanwhile(moment, move |disk| {
                later(disk);
                write(disk, "a", offset, b"meanwhile");
                later(disk);
            });
            let read = store
                .checkpoint_marked("second", &[written_range("a", 100, 6)])
                .expect("one write")
                .read_bytes;
            let missed = disk.is_meanwhile_due();
            disk.meanwhile(u64::MAX, |_| ());
            let (second, after) = (kept(&store, "second"), ids(&read_live(&disk)));
            if missed {
                assert_eq!((second, read), (before, LEAF));
                break;
            }
            moments += 1;
            whole += u64::from(read >= LARGE as u64);
            assert!(
                second == before || second == after,
                "{offset} at {moment}: live never had it"
            );
            later(&disk);
            store.checkpoint_observed("third").expect("quiet");
            assert_eq!(
                kept(&store, "third"),
                after,
                "{offset} at {moment}: seen by the next"
            );
        }
        assert!(
            moments > 8 && whole > 2,
            "{offset}: {moments} moments, {whole} read whole"
        );
    }
}

#[test]
fn impossible_reports_are_refused_and_nothing_is_done() {
    let disk = ready();
    let mut store = opened(&disk);
    disk.remove(&live_path().join("c")).expect("removed");
    let end = LARGE as u64;
    for (wrong, kind, says) in [
        (
            written_range("nobody's", 0, 1),
            ErrorKind::NotFound,
            "\"nobody's\"; `status`",
        ),
        (
            written_range("../bands/a", 0, 1),
            ErrorKind::NotFound,
            "no band",
        ),
        (
            written_range("c", 0, 1),
            ErrorKind::NotFound,
            "no band \"c\"",
        ),
        (
            Written {
                band: "d".to_owned(),
                range: None,
            },
            ErrorKind::NotFound,
            "no band",
        ),
        (
            written_range("a", end, 1),
            ErrorKind::Refused,
            "has 86920 bytes, not 1 from 86920 on; say",
        ),
        (
            written_range("a", 0, end + 1),
            ErrorKind::Refused,
            "not 86921 from 0 on",
        ),
        (
            written_range("a", end + 1, 0),
            ErrorKind::Refused,
            "not 0 from 86921 on",
        ),
        (
            written_range("a", u64::MAX, 2),
            ErrorKind::Refused,
            "not 2 from 18446744073709551615 on",
        ),
    ] {
        let steps = disk.steps();
        let refused = store.checkpoint_marked("second", &[written_range("b", 0, 1), wrong.clone()]);
        let why = refused.expect_err("it cannot be");
        assert!(
            why.kind() == kind && why.to_string().contains(says),
            "{wrong:?}: {why}"
        );
        assert_eq!((disk.steps(), store.list().len()), (steps, 1), "{wrong:?}");
        let dirty = store.status().expect("readable").dirty;
        assert!(
            dirty.iter().all(|(band, _)| band == "c"),
            "{wrong:?}: {dirty:?}"
        );
    }
    let why = store
        .checkpoint_marked("first", &[written_range("b", 0, 1)])
        .expect_err("taken");
    assert_eq!(why.kind(), ErrorKind::Exists);
    store
        .checkpoint_marked(
            "second",
            &[written_range("a", end - 1, 1), written_range("a", end, 0)],
        )
        .expect("up to the end");
    assert_eq!(kept(&store, "second"), ids(&read_live(&disk)));
}

#[test]
fn writes_reported_to_a_failed_checkpoint_are_read_by_the_next() {
    let disk = ready();
    let mut store = opened(&disk);
    write(&disk, "a", 50_000, b"said");
    later(&disk);
    disk.fail(Fault {
        at: disk.steps() + 1,
        count: 1,
        kind: std::io::ErrorKind::Other,
    });
    store
        .checkpoint_marked("second", &[written_range("a", 50_000, 4)])
        .expect_err("the append failed");
    assert_eq!(
        store.checkpoint("third").expect("taken").read_bytes,
        LEAF,
        "its marks are there"
    );
    assert_eq!(kept(&store, "third"), ids(&read_live(&disk)));
    write(&disk, "a", 10, b"not said");
    later(&disk);
    let read = store
        .checkpoint_observed("fourth")
        .expect("quiet")
        .read_bytes;
    assert_eq!(read, LARGE as u64, "no word of before counts");
    assert_eq!(kept(&store, "fourth"), ids(&read_live(&disk)));
}

/// On the real filesystem: a process for each checkpoint, and an owner that reports all its writes
/// to some bands.
#[test]
fn an_owner_that_reports_all_writes_to_some_bands_loses_nothing_on_a_real_disk() {
    let root = tempfile::tempdir().expect("a directory");
    let live: PathBuf = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    let mut bands = Bands::new();
    for (name, bytes) in [("a", 3 << 20), ("b", 100_003), ("c", 16 << 10), ("d", 1)] {
        std::fs::write(live.join(name), vec![1; bytes]).expect("written");
        bands.insert(name.to_owned(), vec![1; bytes]);
    }
    let options = Options {
        segment_bytes: 16 << 20,
        skip_proven_syncs: true,
    };
    Store::init(Arc::new(RealDisk), &live, options, "first")
        .expect("new")
        .save_index();
    let mut random = Random(77);
    for trial in 0..crate::world::size("CHECKPOINT_TRIALS", 60) {
        let mut written = Vec::new();
        for (name, band) in &mut bands {
            let is_reported = random.below(3) > 0;
            for _ in 0..random.below(4) {
                let offset = random.below(band.len() as u64);
                let most = (band.len() as u64 - offset).min(40_000);
                let bytes = vec![
                    trial.to_le_bytes()[0] ^ 0x55;
                    usize::try_from(1 + random.below(most)).expect("small")
                ];
                let file = RealDisk
                    .open(&live.join(name), Access::Write)
                    .expect("open");
                file.write_at(&bytes, offset).expect("written");
                let at = usize::try_from(offset).expect("small");
                band[at..at + bytes.len()].copy_from_slice(&bytes);
                if is_reported {
                    written.push(written_range(name, offset, bytes.len() as u64));
                }
            }
        }
        let mut store = Store::open(Arc::new(RealDisk), &live, options).expect("opened");
        let name = format!("c{trial}");
        store.checkpoint_marked(&name, &written).expect("quiet");
        assert_eq!(
            kept(&store, &name),
            ids(&bands),
            "trial {trial}: {written:?}"
        );
        store.save_index();
    }
}
