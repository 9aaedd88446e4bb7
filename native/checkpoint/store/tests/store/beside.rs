//! A running checkpoint beside its store: writes meanwhile, failures, and dropped checkpoints.

use std::sync::{Arc, Mutex};

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault, RealDisk};
use paceline_checkpoint::{ErrorKind, Options, Pending, Store};

use crate::world::{Bands, OPTIONS, live_path, read_live};

pub(crate) const BYTES: usize = 70_000;

/// Two bands; leaves 0, 2 and 4 of `a` and all of `b` are marked.
pub(crate) fn ready() -> (FakeDisk, Store) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b"] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![name.as_bytes()[0]; BYTES], 0)
            .expect("written");
    }
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    for offset in [10, 33_000, 66_000] {
        store.write_at("a", offset, b"marked").expect("written");
    }
    store.write_at("b", 0, &vec![7; BYTES]).expect("written");
    (disk, store)
}

fn to_the_end(store: &mut Store, pending: &mut Pending) {
    while store.feed(pending) {
        pending.run();
    }
}

pub(crate) fn assert_is(store: &Store, name: &str, bands: &Bands) {
    assert!(store.verify(name).expect("kept").wrong.is_empty(), "{name}");
    let ids: Vec<_> = store
        .bands(name)
        .expect("kept")
        .into_iter()
        .map(|(band, it)| (band, it.id))
        .collect();
    let theirs: Vec<_> = bands
        .iter()
        .map(|(band, bytes)| (band.clone(), *blake3::hash(bytes).as_bytes()))
        .collect();
    assert_eq!(ids, theirs, "{name}");
}

type Act = fn(&mut Store);

const ACTS: [(&str, Act); 6] = [
    ("written to", |store| {
        store
            .write_at("a", 30_000, &vec![9; 20_000])
            .expect("written");
    }),
    ("written to in a leaf that nobody marked", |store| {
        store.write_at("a", 17_000, b"x").expect("written");
    }),
    ("cut", |store| store.set_len("a", 5).expect("cut")),
    ("grown", |store| {
        store.write_at("a", 200_000, b"more").expect("written");
    }),
    ("removed", |store| store.remove("a").expect("removed")),
    ("removed and made again", |store| {
        store.remove("a").expect("removed");
        store.write_at("a", 40_000, b"another").expect("written");
    }),
];

#[test]
fn a_checkpoint_holds_the_moment_it_began_despite_later_writes() {
    let mut moments = 0;
    for (what, act) in ACTS {
        for moment in 0.. {
            let (disk, mut store) = ready();
            let (before, mut step) = (read_live(&disk), 0);
            let mut pending = store.begin("second").expect("begun");
            let mut now = |store: &mut Store| {
                if step == moment {
                    act(store);
                }
                step += 1;
            };
            now(&mut store);
            while store.feed(&mut pending) {
                now(&mut store);
                pending.run();
                now(&mut store);
            }
            store
                .finish(pending)
                .unwrap_or_else(|error| panic!("{what} at {moment}: {error}"));
            let done = step <= moment;
            if done {
                act(&mut store);
            }
            assert_is(&store, "second", &before);
            store.checkpoint("third").expect("taken");
            assert_is(&store, "third", &read_live(&disk));
            moments += 1;
            if done {
                break;
            }
        }
    }
    assert!(moments > 60, "{moments} moments");
}

#[test]
fn a_checkpoint_that_fails_beside_the_store_leaves_everything_marked() {
    let mut failures = 0;
    for operation in 1.. {
        let (disk, mut store) = ready();
        let mut pending = store.begin("second").expect("begun");
        store.write_at("a", 50_000, b"meanwhile").expect("written");
        disk.fail(Fault {
            at: disk.steps() + operation,
            count: 1,
            kind: std::io::ErrorKind::StorageFull,
        });
        to_the_end(&mut store, &mut pending);
        disk.fail(Fault {
            at: u64::MAX,
            count: 0,
            kind: std::io::ErrorKind::StorageFull,
        });
        let Err(error) = store.finish(pending) else {
            break;
        };
        failures += 1;
        assert_eq!(
            error.system(),
            Some(std::io::ErrorKind::StorageFull),
            "{error}"
        );
        assert_eq!(store.list().len(), 1, "failed, and there");
        match store.checkpoint("third") {
            // The sync failed, so it is unknown what is durable (D4).
            Err(stopped) => assert_eq!(stopped.kind(), ErrorKind::Stopped, "{stopped}"),
            Ok(_) => assert_is(&store, "third", &read_live(&disk)),
        }
        drop(store);
        let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
        store.checkpoint_observed("fourth").expect("taken");
        assert_is(&store, "fourth", &read_live(&disk));
    }
    assert!(failures >= 3, "{failures}: pages, header, sync");
}

#[test]
fn during_a_checkpoint_nothing_else_is_appended_or_removed() {
    let (_, mut store) = ready();
    let pending = store.begin("second").expect("begun");
    let refused = [
        store.checkpoint("x").err(),
        store.checkpoint_observed("x").err(),
        store.prune(&["first"]).err(),
        store.rollback("first").err(),
        store.fold().err(),
        store.gc().err(),
        store.begin("x").err(),
    ];
    for error in refused {
        assert_eq!(error.expect("one is on its way").kind(), ErrorKind::Locked);
    }
    drop(pending);
    store.rollback("first").expect("back");
}

#[test]
fn a_dropped_checkpoint_stops_the_store_only_if_it_was_appending() {
    for feeds in 0_u64.. {
        let (disk, mut store) = ready();
        let mut pending = store.begin("dropped").expect("begun");
        for _ in 0..feeds {
            assert!(store.feed(&mut pending));
            pending.run();
        }
        drop(pending);
        let Err(error) = store.checkpoint("second") else {
            assert_is(&store, "second", &read_live(&disk));
            continue;
        };
        assert_eq!(
            error.kind(),
            ErrorKind::Stopped,
            "nobody knows what it appended"
        );
        assert!(
            error.to_string().contains("was dropped"),
            "no sync failed: {error}"
        );
        assert!(feeds >= 4, "{feeds} feeds");
        drop(store);
        let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
        assert_is(&store, "dropped", &read_live(&disk));
        store.checkpoint("second").expect("taken");
        return;
    }
}

#[test]
fn a_page_marked_before_it_was_read_fails_the_checkpoint_and_is_in_the_next() {
    let (disk, mut store) = ready();
    let mut pending = store.begin("second").expect("begun");
    let file = disk
        .open(&live_path().join("a"), Access::Write)
        .expect("open");
    file.write_at(b"unheard of", 33_000).expect("written");
    store.mark_dirty("a", 33_000, 10).expect("a name");
    to_the_end(&mut store, &mut pending);
    assert_eq!(
        store.finish(pending).expect_err("its past is gone").kind(),
        ErrorKind::Torn
    );
    store.checkpoint("third").expect("taken");
    assert_is(&store, "third", &read_live(&disk));
}

#[test]
fn an_unfinished_checkpoint_or_one_of_another_store_is_refused() {
    let (disk, mut store) = ready();
    let (_, mut other) = ready();
    let theirs = other.begin("theirs").expect("begun");
    assert_eq!(
        store.finish(theirs).expect_err("not its own").kind(),
        ErrorKind::Refused
    );
    let pending = store.begin("second").expect("begun");
    assert_eq!(
        store.finish(pending).expect_err("nothing was read").kind(),
        ErrorKind::Refused
    );
    store.checkpoint("second").expect("taken");
    assert_is(&store, "second", &read_live(&disk));
}

/// The types prove that no writer waits: the part that hashes and syncs has no store.
#[test]
fn writers_continue_during_checkpoints_on_a_real_disk() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    for name in ["a", "b"] {
        std::fs::write(live.join(name), vec![7; 300_000]).expect("written");
    }
    let store = Store::init(
        Arc::new(RealDisk),
        &live,
        Options {
            segment_bytes: 256 << 10,
            skip_proven_syncs: true,
        },
        "first",
    );
    let store = Mutex::new(store.expect("new"));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..600_u64 {
                let mut store = store.lock().expect("fine");
                // The same number at both ends of both bands, so that a checkpoint between two
                // writes is noticed.
                for (name, offset) in [("a", 0), ("b", 290_000), ("a", 290_000), ("b", 0)] {
                    store
                        .write_at(name, offset, &number.to_le_bytes())
                        .expect("written");
                }
            }
        });
        for number in 0..40 {
            Store::checkpoint_beside(&store, &format!("c{number}")).expect("taken");
        }
        writer.join().expect("fine");
    });
    let mut store = store.into_inner().expect("fine");
    for number in (0..40).rev() {
        store.rollback(&format!("c{number}")).expect("back");
        let read = |name: &str, at: usize| {
            std::fs::read(live.join(name)).expect("a band")[at..at + 8].to_vec()
        };
        let ends = [
            read("a", 0),
            read("b", 290_000),
            read("a", 290_000),
            read("b", 0),
        ];
        assert!(
            ends.iter().all(|end| *end == ends[0]),
            "c{number} holds no one moment: {ends:?}"
        );
    }
}

#[test]
fn a_write_of_no_bytes_changes_no_size() {
    let (disk, mut store) = ready();
    let far = 1_000_000;
    for (number, name) in ["a", "new"].into_iter().enumerate() {
        store.write_at(name, far, b"").expect("nothing to write");
        store
            .checkpoint(&format!("written {number}"))
            .expect("taken");
        assert_is(&store, &format!("written {number}"), &read_live(&disk));
        store.write_at(name, 0, b"something").expect("written");
        store.mark_dirty(name, far, 0).expect("a name");
        store.mark_dirty("nobody's", far, 0).expect("a name");
        store
            .checkpoint(&format!("marked {number}"))
            .expect("taken");
        assert_is(&store, &format!("marked {number}"), &read_live(&disk));
    }
    disk.open(&live_path().join("empty"), Access::Create)
        .expect("made");
    store.mark_dirty("empty", 0, 0).expect("a name");
    store.checkpoint("empty").expect("taken");
    assert_is(&store, "empty", &read_live(&disk));
}
