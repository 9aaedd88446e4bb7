//! Changes of a band at every moment of an observed checkpoint.

use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{ErrorKind, Store};

use crate::world::{Bands, OPTIONS, ids, kept, live_path, read_live};

type Act = fn(&FakeDisk);

fn band(disk: &FakeDisk) -> Box<dyn paceline_checkpoint::disk::DiskFile> {
    disk.open(&live_path().join("b"), Access::Write)
        .expect("open")
}

fn remove(disk: &FakeDisk) {
    disk.remove(&live_path().join("b")).expect("removed");
}

const ACTS: [(&str, Act); 9] = [
    ("written to", |disk| {
        band(disk).write_at(b"meanwhile", 30_000).expect("written");
    }),
    ("cut", |disk| band(disk).set_len(5_000).expect("cut")),
    ("grown", |disk| {
        band(disk).write_at(b"more", 90_000).expect("written");
    }),
    ("deleted", remove),
    ("renamed", |disk| {
        disk.rename(&live_path().join("b"), &live_path().join("bb"))
            .expect("renamed");
    }),
    ("replaced by another band", |disk| {
        disk.rename(&live_path().join("b"), &live_path().join("c"))
            .expect("renamed");
    }),
    ("replaced by a symbolic link", |disk| {
        remove(disk);
        disk.make_symlink(&live_path().join("b")).expect("made");
    }),
    ("replaced by a directory", |disk| {
        remove(disk);
        disk.make_dir(&live_path().join("b")).expect("made");
    }),
    ("written to as the clock is set back", |disk| {
        disk.set_clock_by(-3_600_000_000_000);
        band(disk).write_at(b"in the past", 10).expect("written");
    }),
];

/// Size of a band that two threads read, one half each.
const LARGE: usize = (2 << 20) + 777;

/// Operations on the back half of such a band, and on its front half.
const LARGE_ACTS: [(&str, Act); 5] = [
    ("written to in front", |disk| {
        band(disk).write_at(b"meanwhile", 30_000).expect("written");
    }),
    ("written to at the back", |disk| {
        band(disk).write_at(b"meanwhile", 3 << 19).expect("written");
    }),
    ("cut", |disk| band(disk).set_len(5_000).expect("cut")),
    ("grown", |disk| {
        band(disk)
            .write_at(b"more", LARGE as u64 + 90_000)
            .expect("written");
    }),
    ("deleted", remove),
];

/// Three bands, one of the given size; two were written to. Stamps show every write, or only later
/// ones.
fn ready(bytes: usize, exact: bool) -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    if exact {
        disk.say_stamps_are_exact();
    }
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b", "c"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        let bytes = if name == "b" { bytes } else { 40_000 };
        file.write_at(&vec![name.as_bytes()[0]; bytes], 0)
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    disk.advance(1_000_000_000);
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Write)
            .expect("open");
        file.write_at(b"changed", 20_000).expect("written");
    }
    disk.advance(if exact { 1_000_000_000 } else { 0 }); // they advance in ticks
    (disk, store)
}

/// The contents of live, if all of it is plain files.
fn plain(disk: &FakeDisk) -> Option<Bands> {
    let entries = disk.list(&live_path()).expect("listed");
    entries
        .iter()
        .all(|entry| entry.kind == paceline_checkpoint::disk::Kind::File)
        .then(|| read_live(disk))
}

#[test]
fn a_checkpoint_is_one_state_of_live_or_fails_whatever_happens_to_a_band() {
    let (moments, taken, refused) = at_every_moment(40_000, false, &ACTS);
    assert!(
        moments > 200 && taken > 100 && refused > 10,
        "{moments} moments: {taken} taken, {refused} refused"
    );
}

#[test]
fn a_checkpoint_of_a_band_that_two_threads_read_is_one_state() {
    let (moments, taken, _) = at_every_moment(LARGE, false, &LARGE_ACTS);
    assert!(
        moments > 100 && taken > 60,
        "{moments} moments: {taken} taken"
    );
}

/// Then nothing is read twice, and unchanged bands are stamped once.
#[test]
fn a_checkpoint_is_one_state_where_stamps_show_every_write() {
    let (moments, taken, refused) = at_every_moment(40_000, true, &ACTS);
    assert!(
        moments > 150 && taken > 100 && refused > 10,
        "{moments} moments: {taken} taken, {refused} refused"
    );
}

/// A writer writes to one band and then to another, in either order of stamping: the state with
/// only the second write never existed.
#[test]
fn writes_to_two_bands_keep_their_order() {
    let (moments, between) = writes_to_two_bands(true);
    assert!(
        moments > 200 && between > 10,
        "{moments} moments, {between} between the two"
    );
    let (moments, _) = writes_to_two_bands(false);
    assert!(moments > 200, "{moments} moments in one tick");
}

/// Returns the number of moments, and how many checkpoints had only the first write.
fn writes_to_two_bands(exact: bool) -> (u64, u64) {
    let names = ["a", "b", "c"];
    let (mut moments, mut between) = (0, 0);
    for (first, second) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        for gap in [0, 1, 2, 3, 5, 8, 13] {
            for moment in 1.. {
                let (disk, mut store) = ready(40_000, exact);
                let write = move |disk: &FakeDisk, band: usize| {
                    disk.advance(if exact { 1_000_000_000 } else { 0 });
                    let file = disk
                        .open(&live_path().join(names[band]), Access::Write)
                        .expect("open");
                    file.write_at(b"meanwhile", 30_000).expect("written");
                };
                let mut states = vec![ids(&read_live(&disk))];
                disk.meanwhile(moment, move |disk| {
                    write(disk, first);
                    let later = move |disk: &FakeDisk| write(disk, second);
                    if gap == 0 {
                        later(disk);
                    } else {
                        disk.meanwhile(gap, later);
                    }
                });
                store.checkpoint_observed("second").expect("two writes");
                disk.meanwhile(u64::MAX, |_| ());
                let after = ids(&read_live(&disk));
                let missed = after == states[0];
                let mut first_changed = states[0].clone();
                first_changed[first] = after[first].clone();
                states.extend([first_changed, after]);
                let kept_state = kept(&store, "second");
                let at = states.iter().position(|state| *state == kept_state);
                assert!(
                    at.is_some(),
                    "{first}, {second} at {moment}, {gap}: a state that live never had"
                );
                if missed {
                    break;
                }
                moments += 1;
                between += u64::from(at == Some(1));
            }
        }
    }
    (moments, between)
}

/// Returns the number of moments, and how many checkpoints were taken and refused.
fn at_every_moment(bytes: usize, exact: bool, acts: &[(&str, Act)]) -> (u64, u64, u64) {
    let (mut moments, mut taken, mut refused) = (0, 0, 0);
    for (what, act) in acts {
        for moment in 1.. {
            let (disk, mut store) = ready(bytes, exact);
            let before = read_live(&disk);
            let (act, tick) = (*act, if exact { 10_000_000 } else { 0 });
            disk.meanwhile(moment, move |disk| {
                disk.advance(tick);
                act(disk);
                disk.advance(tick);
            });
            let outcome = store.checkpoint_observed("second");
            if disk.is_meanwhile_due() {
                assert!(outcome.is_ok() && moment > 10, "{what}: {outcome:?}");
                break;
            }
            moments += 1;
            let after = plain(&disk);
            match outcome {
                Ok(_) => {
                    let second = kept(&store, "second");
                    let is_known_state = second == ids(&before)
                        || after.as_ref().is_some_and(|after| second == ids(after));
                    assert!(
                        is_known_state,
                        "{what} at {moment}: a state that live never had"
                    );
                    taken += 1;
                }
                Err(error) => {
                    let clear = [ErrorKind::Torn, ErrorKind::Refused].contains(&error.kind());
                    assert!(clear, "{what} at {moment}: {error}");
                    assert_eq!(
                        store.list().len(),
                        1,
                        "{what} at {moment}: refused, and there"
                    );
                    refused += 1;
                }
            }
            if after.is_none() {
                let other = Path::new("/aside");
                disk.rename(&live_path().join("b"), other)
                    .expect("what is in the way is moved");
            }
            store
                .checkpoint_observed("third")
                .unwrap_or_else(|error| panic!("{what} at {moment}: {error}"));
            assert_eq!(
                kept(&store, "third"),
                ids(&read_live(&disk)),
                "{what} at {moment}: seen by the next"
            );
        }
    }
    (moments, taken, refused)
}

/// Bands that no record since the target changes keep their files; linking changes their stamps.
#[test]
fn writes_during_a_rollback_are_found_by_the_next_process() {
    let (mut moments, mut spared) = (0, 0);
    for moment in 1.. {
        let (disk, mut store) = ready(40_000, false);
        disk.advance(1_000_000_000);
        disk.meanwhile(moment, |disk| {
            let file = disk
                .open(&live_path().join("c"), Access::Write)
                .expect("open");
            file.write_at(b"meanwhile", 30_000).expect("written");
        });
        store.rollback_observed("first").expect("back");
        disk.advance(1_000_000_000);
        store.save_index();
        drop(store);
        let missed = disk.is_meanwhile_due();
        disk.meanwhile(u64::MAX, |_| ());
        disk.advance(1_000_000_000);
        let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
        let taken = store.checkpoint_observed("next").expect("quiet");
        assert_eq!(
            kept(&store, "next"),
            ids(&read_live(&disk)),
            "written at {moment}"
        );
        // Both rewritten bands are read again each time.
        spared += u64::from(taken.read_bytes == 80_000);
        if missed {
            assert_eq!(
                taken.read_bytes, 80_000,
                "nobody wrote, so nothing else is read again"
            );
            break;
        }
        moments += 1;
    }
    assert!(
        moments > 30 && spared < moments,
        "{moments} moments, {spared}"
    );
}
