//! The watcher of change events, on a real filesystem, beside an unreported writer.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, RealDisk};
use paceline_checkpoint::{ErrorKind, Options, Seen, Store, Watcher};
use tempfile::TempDir;

use crate::world::{OPTIONS, Random, live_path, size};

fn ready(bands: &[&str]) -> (TempDir, PathBuf, Store) {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    for name in bands {
        fs::write(live.join(name), vec![7; 50_000]).expect("written");
    }
    let options = Options {
        segment_bytes: 4 << 20,
        skip_proven_syncs: true,
    };
    let store = Store::init(Arc::new(RealDisk), &live, options, "first").expect("new");
    (root, live, store)
}

/// The checkpoint equals the files.
fn same(store: &Store, name: &str, live: &Path) {
    let mut lies: Vec<_> = fs::read_dir(live)
        .expect("listed")
        .map(|entry| {
            let path = entry.expect("readable").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (
                name,
                *blake3::hash(&fs::read(&path).expect("a band")).as_bytes(),
            )
        })
        .collect();
    lies.sort();
    let kept = store
        .bands(name)
        .expect("made")
        .into_iter()
        .map(|(name, state)| (name, state.id));
    assert_eq!(kept.collect::<Vec<_>>(), lies, "{name}");
}

fn random_change(live: &Path, random: &mut Random) {
    let name = |random: &mut Random| live.join(format!("band{}", random.below(6)));
    let path = name(random);
    let make = || {
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .expect("open")
    };
    let file = || {
        drop(make());
        RealDisk.open(&path, Access::Write).expect("open")
    };
    match random.below(10) {
        0 => drop(fs::remove_file(&path)),
        1 => drop(fs::rename(&path, name(random))),
        2 => file()
            .set_len(random.below(60_000))
            .expect("cut or extended"),
        3 => fs::write(&path, vec![9; 3000]).expect("made anew"),
        _ => {
            file()
                .write_at(&random.below(1 << 40).to_le_bytes(), random.below(50_000))
                .expect("written");
        }
    }
}

/// Where events come late or not at all (Windows), the answer is always "everything", which is
/// right, too.
#[test]
fn a_watcher_names_every_band_that_a_writer_changed() {
    let (_root, live, mut store) = ready(&["band0", "band1", "band2"]);
    let mut watcher = Watcher::new(&live).expect("watched");
    let mut random = Random(11);
    let rounds = size("CHECKPOINT_WATCHED", 60);
    let (everything, named) = (Cell::new(0), Cell::new(0));
    for round in 0..rounds {
        (0..random.below(5)).for_each(|_| random_change(&live, &mut random));
        let mut ask = || {
            let seen = watcher.seen();
            match &seen {
                Seen::Everything => everything.set(everything.get() + 1),
                Seen::Bands(bands) => named.set(named.get() + bands.len()),
            }
            seen
        };
        let name = format!("c{round}");
        store
            .checkpoint_seen(&name, &mut ask)
            .expect("quiet while it is read");
        same(&store, &name, &live);
        if round % 20 == 19 {
            // Another directory has live's name now; a watch of the old one would see nothing.
            store.rollback_observed("first").expect("back");
        }
    }
    if cfg!(windows) {
        assert!(
            everything.get() >= 2 * rounds && named.get() == 0,
            "no fence proves anything there"
        );
        return;
    }
    assert_eq!(
        everything.get(),
        1 + (rounds - 1) / 20,
        "each new directory, and nothing else, is looked at whole"
    );
    assert!(named.get() > 20, "{} bands were named", named.get());
}

/// The kernel's queue is filled: more is written than it and the channel hold before the watcher is
/// asked. Windows does not report the loss, so events are not used there.
#[cfg(unix)]
#[test]
fn a_queue_that_overflowed_makes_the_store_look_at_everything() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events");
    let Ok(limit) = limit.as_deref().map_or("16384", str::trim).parse::<u64>() else {
        return;
    };
    let (_root, live, mut store) = ready(&["a", "b", "c"]);
    let mut watcher = Watcher::new(&live).expect("watched");
    store
        .checkpoint_seen("c0", &mut || watcher.seen())
        .expect("quiet");
    let open = |name: &str| {
        RealDisk
            .open(&live.join(name), Access::Write)
            .expect("open")
    };
    let (a, b) = (open("a"), open("b"));
    // Equal events in a row would be merged.
    for write in 0..limit + 12_000 {
        let file = if write % 2 == 0 { &a } else { &b };
        file.write_at(&[write.to_le_bytes()[0]], write % 50_000)
            .expect("written");
    }
    open("c")
        .write_at(b"its event is lost", 9)
        .expect("written");
    let mut answers = vec![];
    let taken = store.checkpoint_seen("c1", &mut || {
        answers.push(watcher.seen());
        answers[answers.len() - 1].clone()
    });
    taken.expect("quiet");
    assert_eq!(answers[0], Seen::Everything);
    same(&store, "c1", &live);
    open("c")
        .write_at(b"and this is heard", 99)
        .expect("written");
    assert_eq!(watcher.seen(), Seen::Bands(["c".to_owned()].into()));
}

#[test]
fn waiting_ends_with_a_change_or_at_the_deadline() {
    let (_root, live, mut store) = ready(&["a"]);
    let mut watcher = Watcher::new(&live).expect("watched");
    store
        .checkpoint_seen("c0", &mut || watcher.seen())
        .expect("quiet");
    assert!(
        !watcher.wait(Instant::now()),
        "nothing happened, and reading is nothing"
    );
    let write = |bytes: &[u8]| {
        RealDisk
            .open(&live.join("a"), Access::Write)
            .and_then(|file| file.write_at(bytes, 0))
    };
    write(b"x").expect("written");
    assert!(
        watcher.wait(Instant::now() + Duration::from_secs(60)),
        "a change"
    );
    watcher.gather(Instant::now());
    let lost = "waiting lost it";
    if cfg!(windows) {
        assert_eq!(watcher.seen(), Seen::Everything, "{lost}");
    } else {
        assert_eq!(
            watcher.seen(),
            Seen::Bands(["a".to_owned()].into()),
            "{lost}"
        );
    }
    assert_eq!(
        Watcher::new(&live.join("none"))
            .expect_err("no directory")
            .kind(),
        ErrorKind::Io
    );
}

/// Names are reported once; they must not be lost when the checkpoint fails.
#[test]
fn events_consumed_by_a_failed_checkpoint_are_in_the_next() {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    let write = |name: &str, bytes: &[u8]| {
        let path = live_path().join(name);
        let file = disk
            .open(&path, Access::Write)
            .or_else(|_| disk.open(&path, Access::Create))
            .expect("open");
        file.write_at(bytes, 0).expect("written");
        disk.advance(1_000_000_000);
    };
    let bands = |names: &[&str]| Seen::Bands(names.iter().map(|name| (*name).to_owned()).collect());
    for name in ["a", "b", "c"] {
        write(name, b"first");
    }
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
    let id = |store: &Store, name: &str, band: &str| store.bands(name).expect("kept")[band].id;
    // While the named band is read, another one changes: reported once, after the reading.
    write("a", b"second");
    let mut answers = vec![bands(&[]), bands(&[]), bands(&["b"]), bands(&["a"])];
    let taken = store.checkpoint_seen("second", &mut || {
        if answers.len() == 3 {
            write("b", b"second");
        }
        answers.pop().unwrap_or_else(|| bands(&[]))
    });
    taken.expect("the second reading is quiet");
    assert_eq!(
        id(&store, "second", "b"),
        *blake3::hash(b"second").as_bytes()
    );
    // The checkpoint fails before it looks at what was reported.
    write("a", b"third.");
    write("c", b"third.");
    disk.rename(&live_path().join("b"), Path::new("/aside"))
        .expect("moved");
    disk.make_symlink(&live_path().join("b")).expect("made");
    let refused = store.checkpoint_seen("third", &mut || bands(&["a", "b", "c"]));
    assert_eq!(refused.expect_err("a link").kind(), ErrorKind::Refused);
    disk.rename(Path::new("/aside"), &live_path().join("b"))
        .expect("put back");
    store
        .checkpoint_seen("third", &mut || bands(&[]))
        .expect("quiet");
    for band in ["a", "c"] {
        assert_eq!(
            id(&store, "third", band),
            *blake3::hash(b"third.").as_bytes(),
            "{band}"
        );
    }
}
