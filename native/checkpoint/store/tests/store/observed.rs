//! Observed checkpoints of unreported writers.

use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, RealDisk};
use paceline_checkpoint::{ErrorKind, Options, Store};

use crate::world::{OPTIONS, World, live_path, size};

fn id(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// On the real filesystem with its own stamps: each write happens right after a stamp was taken.
#[test]
fn a_write_in_the_same_tick_as_the_last_stamp_is_never_missed() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    let mut bytes = vec![0; 40_000];
    std::fs::write(live.join("a"), &bytes).expect("written");
    let mut store = Store::init(
        Arc::new(RealDisk),
        &live,
        Options {
            segment_bytes: 16 << 20,
            skip_proven_syncs: true,
        },
        "first",
    )
    .expect("new");
    let file = RealDisk.open(&live.join("a"), Access::Write).expect("open");
    for trial in 0..size("CHECKPOINT_TRIALS", 60) {
        let value = trial.to_le_bytes()[0].wrapping_add(1);
        file.write_at(&[value], trial * 37 % 40_000)
            .expect("written");
        bytes[usize::try_from(trial * 37 % 40_000).expect("small")] = value;
        let name = format!("before{trial}");
        store.checkpoint_observed(&name).expect("quiet");
        assert_eq!(
            store.bands(&name).expect("made")["a"].id,
            id(&bytes),
            "trial {trial}, written before"
        );
        file.write_at(&[value ^ 0x80], trial * 91 % 40_000)
            .expect("written");
        bytes[usize::try_from(trial * 91 % 40_000).expect("small")] = value ^ 0x80;
        let name = format!("after{trial}");
        store.checkpoint_observed(&name).expect("quiet");
        assert_eq!(
            store.bands(&name).expect("made")["a"].id,
            id(&bytes),
            "trial {trial}, written after"
        );
    }
}

/// Stamps have ticks of 4 ms and no time passes between stamp and write, so only the same-tick rule
/// helps.
#[test]
fn a_write_that_keeps_the_stamp_is_never_missed() {
    for seed in 0..40 {
        let mut world = World::new(seed);
        world.init().expect("a store");
        let store = world.store.as_mut().expect("open");
        let name = world.live.keys().next().expect("a band").clone();
        let file = world
            .disk
            .open(&live_path().join(&name), Access::Write)
            .expect("open");
        file.write_at(b"one", 0).expect("written");
        store.checkpoint_observed("one").expect("quiet");
        file.write_at(b"two", 0).expect("written");
        if seed % 2 == 0 {
            world.disk.set_clock_by(-3_600_000_000_000);
            file.write_at(b"2", 1).expect("written");
        }
        store.checkpoint_observed("two").expect("quiet");
        let (first_state, second_state) = (
            store.bands("one").expect("made"),
            store.bands("two").expect("made"),
        );
        assert_ne!(first_state[&name].id, second_state[&name].id, "seed {seed}");
    }
}

/// The band is read by two threads, one half each.
#[test]
fn a_large_band_is_read_once_and_all_that_changed_in_it_is_logged() {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let mut bytes: Vec<u8> = (0..3_000_001_u32)
        .map(|at| (at / 251).to_le_bytes()[0])
        .collect();
    let file = disk
        .open(&live_path().join("a"), Access::Create)
        .expect("made");
    file.write_at(&bytes, 0).expect("written");
    disk.advance(1_000_000_000);
    let options = Options {
        segment_bytes: 1 << 20,
        skip_proven_syncs: true,
    };
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), options, "first").expect("new");
    for at in [0, 700_000, 1_499_999, 1_507_328, 2_500_000, 3_000_000] {
        bytes[at] ^= 0xFF;
        file.write_at(&bytes[at..=at], at as u64).expect("written");
    }
    disk.advance(1_000_000_000);
    let taken = store.checkpoint_observed("second").expect("quiet");
    // Six changed leaves of four pages, the last of one page.
    assert_eq!(
        (taken.read_bytes, taken.checkpoint.bytes),
        (3_000_001, (5 * 4 + 1) * 4096)
    );
    assert_eq!(store.bands("second").expect("made")["a"].id, id(&bytes));
    assert!(store.verify("second").expect("kept").wrong.is_empty());
}

/// A write of megabytes takes many ticks, and has the stamp of the first.
#[test]
fn a_write_that_began_before_the_stamp_is_awaited() {
    let (disk, mut store) = small();
    let path = live_path().join("a");
    for (name, offset) in [("second", 0), ("third", 9_000)] {
        disk.begin_write(&path, offset, &[7; 5000]).expect("begun");
        disk.advance(1_000_000_000);
        store.checkpoint_observed(name).expect("quiet");
        disk.open(&path, Access::Read).expect("open").await_writes();
        let lies = id(&crate::world::read_live(&disk)["a"]);
        assert_eq!(
            store.bands(name).expect("made")["a"].id,
            lies,
            "{name}: bytes came after the reading"
        );
        disk.advance(1_000_000_000);
    }
    let again = FakeDisk::default();
    again.make_dir(&live_path()).expect("made");
    again
        .open(&path, Access::Create)
        .and_then(|file| file.write_at(&[1; 9000], 0))
        .expect("written");
    again.begin_write(&path, 0, &[2; 9000]).expect("begun");
    again.advance(1_000_000_000);
    let store = Store::init(Arc::new(again.clone()), &live_path(), OPTIONS, "first").expect("new");
    assert_eq!(
        store.bands("first").expect("made")["a"].id,
        id(&[2; 9000]),
        "the base, likewise"
    );
}

/// A file without blocks is all zeros when it is looked at, but not necessarily when its stamp was
/// taken.
#[test]
fn a_hole_is_taken_for_zeros_only_while_it_is_one() {
    let path = live_path().join("a");
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let file = disk.open(&path, Access::Create).expect("made");
    file.set_len(90_000).expect("a hole");
    disk.begin_write(&path, 50_000, &[2; 9000]).expect("begun");
    disk.advance(1_000_000_000);
    assert_eq!(file.stamp().expect("there").blocks, 0);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    let lies = id(&crate::world::read_live(&disk)["a"]);
    assert_eq!(
        store.bands("first").expect("made")["a"].id,
        lies,
        "the base has zeros"
    );
    assert!(store.verify("first").expect("kept").wrong.is_empty());
    store.checkpoint_observed("second").expect("quiet");
    assert_eq!(store.bands("second").expect("made")["a"].id, lies);
}

/// All in one tick: two new bands, the first a hole, and writes to it and then to the other.
#[test]
fn a_young_hole_is_read_twice() {
    let paths = ["a", "b"].map(|name| live_path().join(name));
    let mut moments = 0;
    for moment in 1.. {
        let disk = FakeDisk::default();
        disk.make_dir(&live_path()).expect("made");
        let mut store =
            Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
        disk.open(&paths[0], Access::Create)
            .and_then(|file| file.set_len(90_000))
            .expect("a hole");
        disk.open(&paths[1], Access::Create)
            .and_then(|file| file.write_at(b"old", 0))
            .expect("written");
        let state = |disk: &FakeDisk| -> Vec<_> {
            crate::world::read_live(disk)
                .into_values()
                .map(|bytes| id(&bytes))
                .collect()
        };
        let (before, both) = (state(&disk), paths.clone());
        disk.meanwhile(moment, move |disk| {
            for path in both {
                disk.open(&path, Access::Write)
                    .and_then(|file| file.write_at(b"new", 0))
                    .expect("written");
            }
        });
        let taken = store.checkpoint_observed("second");
        if disk.is_meanwhile_due() {
            taken.expect("quiet");
            break;
        }
        moments += 1;
        if taken.is_ok() {
            let found: Vec<_> = store
                .bands("second")
                .expect("made")
                .into_values()
                .map(|state| state.id)
                .collect();
            assert!(
                found == before || found == state(&disk),
                "at {moment}: a state that live never had"
            );
        }
    }
    assert!(moments > 10, "{moments} moments");
}

fn small() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(name.as_bytes(), 20_000).expect("written");
    }
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    (disk, store)
}

#[test]
fn new_removed_grown_and_renamed_bands_are_found() {
    let (disk, mut store) = small();
    disk.rename(&live_path().join("a"), &live_path().join("c"))
        .expect("renamed");
    let file = disk
        .open(&live_path().join("b"), Access::Write)
        .expect("open");
    file.write_at(b"more", 90_000).expect("grown");
    store.checkpoint_observed("second").expect("quiet");
    let bands = store.bands("second").expect("made");
    assert_eq!(bands.keys().collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(bands["b"].size, 90_004);
    assert!(store.verify("second").expect("kept").wrong.is_empty());
    store.rollback_observed("first").expect("back");
    assert!(
        disk.stamp(&live_path().join("a")).is_ok() && disk.stamp(&live_path().join("c")).is_err()
    );
}

#[test]
fn a_symbolic_link_in_a_bands_place_is_refused_with_advice() {
    let (disk, mut store) = small();
    disk.remove(&live_path().join("a")).expect("removed");
    disk.make_symlink(&live_path().join("a")).expect("made");
    let error = store.checkpoint_observed("second").expect_err("a link");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(
        error
            .to_string()
            .contains(&live_path().join("a").display().to_string()),
        "{error}"
    );
    assert_eq!(store.list().len(), 1);
}

#[test]
fn a_band_that_keeps_changing_is_torn() {
    let (disk, mut store) = small();
    let mut asked = 0;
    let outcome = store.checkpoint_seen("second", &mut || {
        asked += 1;
        let file = disk
            .open(&live_path().join("a"), Access::Write)
            .expect("open");
        file.write_at(&[asked], 0).expect("written");
        disk.advance(10_000_000);
        paceline_checkpoint::Seen::Everything
    });
    assert_eq!(outcome.expect_err("it moves").kind(), ErrorKind::Torn);
    assert_eq!(store.list().len(), 1);
    store.checkpoint_observed("third").expect("quiet now");
}

#[test]
fn a_second_process_is_refused() {
    let (disk, store) = small();
    let again = Store::open(Arc::new(disk), Path::new("/bands"), OPTIONS);
    assert_eq!(again.expect_err("held").kind(), ErrorKind::Locked);
    drop(store);
}
