//! The store on a disk that guarantees no more than Windows: on every system, on the fake disk.

use std::io::ErrorKind as Failure;
use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault};
use paceline_checkpoint::{Error, ErrorKind, Store, Written};

use crate::world::{OPTIONS, World, live_path, read_live, size};

/// A disk with old bands, and their store.
fn ready(bands: &[&str]) -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.be_as_on_windows();
    disk.make_dir(&live_path()).expect("made");
    for name in bands {
        disk.open(&live_path().join(name), Access::Create)
            .and_then(|file| file.write_at(&vec![1; 50_000], 0))
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    disk.advance(1_000_000_000);
    (disk, store)
}

/// The disk after a restart of the machine or the process.
fn like_windows(disk: FakeDisk) -> FakeDisk {
    disk.be_as_on_windows();
    disk
}

fn open(disk: &FakeDisk) -> Result<Store, Error> {
    Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS)
}

#[test]
fn random_steps_are_as_the_model_has_them() {
    let steps = size("CHECKPOINT_STEPS", 150);
    for seed in 0..3 {
        let mut world = World::new(seed);
        world.disk.be_as_on_windows();
        world.init().expect("a store");
        for step in 0..steps {
            world
                .step()
                .unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error}"));
        }
        world.check(world.store.as_ref().expect("open"));
    }
}

#[test]
fn a_write_that_no_stamp_shows_is_in_the_next_checkpoint() {
    let (disk, mut store) = ready(&["a", "b"]);
    let stamp = || disk.stamp(&live_path().join("a")).expect("there");
    let a = disk
        .open(&live_path().join("a"), Access::Write)
        .expect("open");
    let before = stamp();
    let written = Written {
        band: "a".to_owned(),
        range: Some((0, 1)),
    };
    for (round, name) in ["second", "third", "fourth", "fifth"]
        .into_iter()
        .enumerate()
    {
        a.write_at(name.as_bytes(), 40_000).expect("written");
        disk.advance(1_000_000_000);
        match round {
            0 => store.checkpoint_observed(name),
            1 => store.checkpoint_mapped(name),
            2 => store.checkpoint_marked(name, std::slice::from_ref(&written)),
            _ => store.checkpoint_seen(name, &mut || paceline_checkpoint::Seen::Everything),
        }
        .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(stamp(), before, "{name}: the stamp shows it");
        let id = store.bands(name).expect("taken")["a"].id;
        assert_eq!(
            id,
            *blake3::hash(&read_live(&disk)["a"]).as_bytes(),
            "{name}"
        );
    }
    disk.open(&live_path().join("c"), Access::Create)
        .expect("made");
    store.checkpoint_observed("sixth").expect("quiet");
    assert!(
        store.bands("sixth").expect("taken").contains_key("c"),
        "no stamp of its directory shows it"
    );
}

#[test]
fn a_write_that_no_stamp_shows_is_in_the_base_whole_or_not_at_all() {
    const BYTES: usize = 600_000;
    let mut met = 0;
    for look in 1..20 {
        let disk = like_windows(FakeDisk::default());
        disk.make_dir(&live_path()).expect("made");
        let path = live_path().join("a");
        let file = disk.open(&path, Access::Create).expect("made");
        file.write_at(&vec![1; BYTES], 0).expect("written");
        disk.meanwhile(look, move |_| {
            file.write_at(&vec![2; BYTES], 0).expect("written");
        });
        let store =
            Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
        let id = store.bands("first").expect("made")["a"].id;
        let whole = [1, 2].map(|value| *blake3::hash(&vec![value; BYTES]).as_bytes());
        assert!(whole.contains(&id), "look {look}");
        met += u64::from(id == whole[1]);
    }
    assert!(met > 3, "the write fell into {met} copies");
}

#[test]
fn a_write_that_no_stamp_shows_is_no_part_of_a_band_that_was_read_before_it() {
    for look in 1..60 {
        let (disk, mut store) = ready(&["a", "b"]);
        let write = |disk: &FakeDisk, name: &str, bytes: &[u8]| {
            let file = disk
                .open(&live_path().join(name), Access::Write)
                .expect("open");
            file.write_at(bytes, 0).expect("written");
        };
        write(&disk, "a", b"one");
        write(&disk, "b", b"one");
        disk.meanwhile(look, move |disk| {
            write(disk, "a", b"two");
            write(disk, "b", b"two");
        });
        store.checkpoint_observed("second").expect("quiet but once");
        let states = store.bands("second").expect("taken");
        assert_eq!(
            states["a"].id, states["b"].id,
            "look {look}: they were never different"
        );
    }
}

/// The machine stops at any operation of a rollback, and again at any operation of the opening after it.
#[test]
fn an_interrupted_rollback_by_renames_is_undone_or_finished() {
    let whole = ["a b c", "b c d"];
    let names = |disk: &FakeDisk| read_live(disk).into_keys().collect::<Vec<_>>().join(" ");
    let (mut undone, mut finished) = (0, 0);
    for operation in 1.. {
        let (disk, mut store) = ready(&["a", "b", "c"]);
        store.checkpoint("old").expect("taken");
        store
            .remove("a")
            .and_then(|()| store.write_at("d", 0, b"new"))
            .expect("changed");
        disk.sync_beneath(Path::new("/")).expect("synced");
        disk.stop_at(disk.steps() + operation);
        let done = store.rollback("old").is_ok();
        drop(store);
        for seed in 0..12 {
            let left = if seed == 0 {
                disk.after_kill()
            } else {
                disk.after_power_loss(seed)
            };
            let left = like_windows(left);
            let what = format!("stopped at {operation}, seed {seed}");
            let there = left.stamp(&live_path()).is_ok().then(|| names(&left));
            assert!(
                there.iter().all(|names| whole.contains(&names.as_str())),
                "{what}: {there:?}"
            );
            for again in (1..).take_while(|again| *again < 40) {
                let next = like_windows(left.after_kill());
                next.stop_at(again);
                let opened = open(&next).is_ok();
                let next = like_windows(next.after_power_loss(seed));
                drop(open(&next).unwrap_or_else(|error| panic!("{what}, {again}: {error}")));
                let now = names(&next);
                assert!(whole.contains(&now.as_str()), "{what}, {again}: {now}");
                let same = there.as_ref().is_none_or(|there| *there == now);
                assert!(
                    same || !opened,
                    "{what}, {again}: {there:?}, opened, then {now}"
                );
                for rest in ["swap", "replaced"] {
                    let path = live_path().with_file_name("bands.paceline").join(rest);
                    assert!(
                        next.stamp(&path).is_err(),
                        "{what}, {again}: {rest} is left"
                    );
                }
                if opened {
                    break;
                }
            }
            undone += u64::from(there.is_none());
            finished += u64::from(there.is_some_and(|names| names == whole[0]));
        }
        if done {
            break;
        }
    }
    assert!(
        undone > 0 && finished > 0,
        "{undone} were undone, {finished} finished"
    );
}

#[test]
fn a_rename_that_fails_leaves_live_where_it_was() {
    let mut failed = 0;
    for at in 1..40 {
        for count in 1..3 {
            let (disk, mut store) = ready(&["a", "b"]);
            store.write_at("c", 0, b"new").expect("written");
            let before = read_live(&disk);
            disk.fail(Fault {
                at: disk.steps() + at,
                count,
                kind: Failure::PermissionDenied,
            });
            let outcome = store.rollback("first");
            disk.fail(Fault {
                at: 0,
                count: 0,
                kind: Failure::Other,
            });
            drop(store);
            if let Err(error) = outcome {
                failed += 1;
                let (there, says) = (disk.stamp(&live_path()).is_ok(), "open the store again");
                assert!(
                    there || count > 1 && error.advice().contains(says),
                    "{at}, {count}: {error}"
                );
                open(&disk).unwrap_or_else(|error| panic!("{at}, {count}: {error}"));
                let (live, advice) = (read_live(&disk), error.to_string());
                assert!(
                    live == before || !live.contains_key("c"),
                    "{at}, {count}: {advice}"
                );
            }
        }
    }
    assert!(failed > 10);
}

/// If live is missing, somebody may make it: their directory and the old live are both kept.
#[test]
fn a_directory_made_in_lives_place_meanwhile_is_not_changed() {
    let (disk, mut store) = ready(&["a", "b"]);
    store.write_at("c", 0, b"new").expect("written");
    let (mut before, mut operation) = (read_live(&disk), 1);
    let left = loop {
        let disk = like_windows(disk.after_kill());
        let mut store = open(&disk).expect("opened");
        before = if operation == 1 {
            read_live(&disk)
        } else {
            before
        };
        disk.stop_at(disk.steps() + operation);
        assert!(
            store.rollback_observed("first").is_err(),
            "there is no moment without live"
        );
        drop(store);
        let left = like_windows(disk.after_kill());
        if left.stamp(&live_path()).is_err() {
            break left;
        }
        operation += 1;
    };
    left.make_dir(&live_path()).expect("made");
    left.open(&live_path().join("mine"), Access::Create)
        .expect("made");
    let refused = open(&left).expect_err("two directories");
    assert!(
        refused.kind() == ErrorKind::Refused && refused.advice().contains("move it away"),
        "{refused}"
    );
    assert!(read_live(&left).contains_key("mine"));
    left.rename(&live_path(), Path::new("/mine"))
        .expect("moved away");
    drop(open(&left).expect("opened"));
    assert_eq!(read_live(&left), before);
}

#[test]
fn names_that_alias_are_refused_and_nothing_is_lost() {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    store.write_at("plain", 0, b"bytes").expect("written");
    store.checkpoint("good").expect("taken");
    for name in ["Band", "band"] {
        store
            .write_at(name, 0, name.as_bytes())
            .expect("two files here");
    }
    store.checkpoint("both").expect("taken");
    let archive = |name: &str| {
        let mut archive = Vec::new();
        store.export(name, &mut archive).expect("kept");
        archive
    };
    let (good, both) = (archive("good"), archive("both"));
    store
        .rollback("good")
        .expect("live has plain names, its past has others");
    drop(store);
    disk.be_as_on_windows();
    let refused = open(&disk).expect_err("a name");
    assert_eq!(refused.kind(), ErrorKind::Refused, "{refused}");
    let back = disk.after_kill();
    assert_eq!(open(&back).expect("where it was made").list().len(), 4);

    let other = like_windows(FakeDisk::default());
    let import =
        |archive: &[u8]| Store::import(Arc::new(other.clone()), &live_path(), OPTIONS, archive);
    assert_eq!(
        import(&both).expect_err("a name").kind(),
        ErrorKind::Refused
    );
    assert_eq!(
        other.list(Path::new("/")).expect("listed"),
        [],
        "nothing of it is left"
    );
    let mut store = import(&good).expect("good");
    assert_eq!(
        store
            .adopt(both.as_slice(), None)
            .expect_err("a name")
            .kind(),
        ErrorKind::Refused
    );
    for name in ["Plain", "plain.", "con", "plain:x"] {
        let refusals = [
            store.write_at(name, 0, b"x"),
            store.set_len(name, 5),
            store.mark_dirty(name, 0, 1),
        ];
        for refused in refusals {
            assert_eq!(
                refused.expect_err(name).kind(),
                ErrorKind::Refused,
                "{name}"
            );
        }
    }
    assert_eq!((store.list().len(), read_live(&other).len()), (1, 1));
}
