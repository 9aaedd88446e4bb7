//! Archives: an import equals what was exported, and anything else is refused.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{ErrorKind, Result, Store, hex};
use tar::{Builder, EntryType, Header};

use crate::world::{Bands, OPTIONS, World, is_stop, read_live};

fn exported(store: &Store, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.export(name, &mut bytes).expect("it is kept");
    bytes
}

fn import(disk: &FakeDisk, archive: &[u8]) -> Result<Store> {
    Store::import(
        Arc::new(disk.clone()),
        Path::new("/bands"),
        OPTIONS,
        archive,
    )
}

fn names(disk: &FakeDisk, dir: &str) -> Vec<String> {
    disk.list(Path::new(dir))
        .expect("it is there")
        .into_iter()
        .map(|entry| entry.name)
        .collect()
}

#[test]
fn every_checkpoint_of_a_random_history_comes_back_from_its_archive() {
    for seed in 0..12 {
        let mut world = World::new(seed);
        world.init().expect("a store");
        (0..40).for_each(|_| world.step().expect("no fault"));
        let store = world.store.as_ref().expect("open");
        for (name, bands) in &world.kept {
            let archive = exported(store, name);
            let disk = FakeDisk::default();
            let copy = import(&disk, &archive)
                .unwrap_or_else(|error| panic!("seed {seed}, {name}: {error}"));
            assert_eq!(&read_live(&disk), bands, "seed {seed}, {name}");
            assert!(copy.verify(name).expect("its first").wrong.is_empty());
            let when = |store: &Store| {
                store
                    .list()
                    .into_iter()
                    .find(|it| &it.name == name)
                    .expect("kept")
                    .created_ns
            };
            assert_eq!(when(&copy), when(store));
            assert_eq!(exported(&copy, name), archive, "seed {seed}: {name} again");
        }
    }
}

/// Alternating full and empty pages need more entries than a header has, and several blocks of
/// them.
#[test]
fn zeros_are_holes_in_the_archive_and_every_tar_reads_it() {
    let disk = FakeDisk::default();
    disk.make_dir(Path::new("/bands")).expect("made");
    let mut bands = Bands::new();
    for (name, pages, tail) in [
        ("alternating", 70, 0),
        ("cut", 70, 100),
        ("hole", 64, 0),
        ("none", 0, 0),
    ] {
        let file = disk
            .open(&Path::new("/bands").join(name), Access::Create)
            .expect("made");
        let mut bytes = vec![0; pages * 4096 + tail];
        for page in (1..pages).step_by(2).filter(|_| name != "hole") {
            bytes[page * 4096..][..4096].fill(u8::try_from(page).expect("small"));
        }
        bytes[pages * 4096..].fill(9);
        file.write_at(&bytes, 0).expect("written");
        bands.insert(name.to_owned(), bytes);
    }
    let long = "n".repeat(200);
    disk.open(&Path::new("/bands").join(&long), Access::Create)
        .expect("made");
    bands.insert(long, vec![]);
    disk.advance(1_000_000_000);
    let store = Store::init(Arc::new(disk), Path::new("/bands"), OPTIONS, "first").expect("new");
    let archive = exported(&store, "first");
    let carried = store
        .export("first", std::io::sink())
        .expect("kept")
        .carried;
    assert_eq!(carried, 35 * 4096 * 2 + 100);
    assert!(archive.len() < 330_000, "{} bytes", archive.len());
    let copied = FakeDisk::default();
    import(&copied, &archive).expect("good");
    assert_eq!(read_live(&copied), bands);
    if cfg!(windows) {
        return; // not every Windows brings a tar
    }
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("a.tar"), &archive).expect("written");
    let unpacked = std::process::Command::new("tar")
        .args(["xf", "a.tar"])
        .current_dir(&root)
        .status();
    assert!(unpacked.expect("tar is there").success());
    for (name, bytes) in bands {
        assert!(
            std::fs::read(root.path().join("bands").join(&name)).expect("unpacked") == bytes,
            "{name}"
        );
    }
}

/// An archive with a valid manifest of two bands, followed by `rest`.
fn forged(rest: impl FnOnce(&mut Builder<Vec<u8>>)) -> Vec<u8> {
    let mut text = "paceline-archive 1\ncheckpoint 7 sent\n".to_owned();
    for name in ["a", "b"] {
        text.extend([
            hex(blake3::hash(b"abc").as_bytes()).as_str(),
            " 3 ",
            name,
            "\n",
        ]);
    }
    let whole = hex(blake3::hash(text.as_bytes()).as_bytes());
    text.extend(["whole ", &whole, "\n"]);
    let mut builder = Builder::new(Vec::new());
    put(
        &mut builder,
        "MANIFEST",
        EntryType::Regular,
        text.as_bytes(),
    );
    rest(&mut builder);
    builder.into_inner().expect("memory")
}

/// An entry with an unusual path, written as it is.
fn put(builder: &mut Builder<Vec<u8>>, path: &str, kind: EntryType, bytes: &[u8]) {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    if kind != EntryType::Regular {
        header.as_old_mut().linkname[..11].copy_from_slice(b"/etc/passwd");
    }
    header.set_mode(0o644);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    builder.append(&header, bytes).expect("memory");
}

#[test]
fn an_archive_that_export_did_not_write_is_refused_and_leaves_nothing() {
    use EntryType::{Char, Directory, Link, Regular, Symlink};
    type Entry = (&'static str, EntryType, &'static [u8]);
    let a: Entry = ("bands/a", Regular, b"abc");
    let cases: &[(&[Entry], &str)] = &[
        (&[("/etc/passwd", Regular, b"abc")], "an absolute path"),
        (&[("/bands/a", Regular, b"abc")], "an absolute path"),
        (
            &[("bands/../../a", Regular, b"abc")],
            "leads out of its place",
        ),
        (&[("../a", Regular, b"abc")], "leads out of its place"),
        (&[("bands/./a", Regular, b"abc")], "not in the manifest"),
        (&[("bands/a", Symlink, b"")], "a symbolic link"),
        (&[("bands/a", Link, b"")], "a hard link"),
        (&[("bands/a", Directory, b"")], "a directory"),
        (&[("bands/a", Char, b"")], "no plain file"),
        (&[a, a], "a second time"),
        (&[a, ("bands/b", Regular, b"abc"), a], "a second time"),
        (
            &[("bands/b", Regular, b"abc")],
            "where band \"a\" should follow",
        ),
        (&[a, ("bands/c", Regular, b"abc")], "not in the manifest"),
        (&[a, ("MANIFEST", Regular, b"abc")], "not in the manifest"),
        (
            &[("bands/a", Regular, b"ab")],
            "2 bytes where the manifest says 3",
        ),
        (
            &[("bands/a", Regular, b"abcd")],
            "4 bytes where the manifest says 3",
        ),
        (&[("bands/a", Regular, b"abd")], "another id"),
        (&[a], "ends before band \"b\""),
    ];
    for (entries, expected) in cases {
        let archive = forged(|builder| {
            for (path, kind, bytes) in *entries {
                put(builder, path, *kind, bytes);
            }
        });
        let disk = FakeDisk::default();
        let error = import(&disk, &archive).expect_err(expected);
        assert!(
            matches!(error.kind(), ErrorKind::Refused | ErrorKind::Damaged),
            "{expected}: {error}"
        );
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert_eq!(
            names(&disk, "/"),
            Vec::<String>::new(),
            "{expected}: something is left"
        );
    }
    let good = forged(|builder| {
        for path in ["bands/a", "bands/b"] {
            put(builder, path, Regular, b"abc");
        }
    });
    import(&FakeDisk::default(), &good).expect("the forger can do it right");
}

#[test]
fn an_archive_that_is_cut_or_changed_anywhere_is_never_taken_for_another_state() {
    let mut world = World::new(3);
    world.init().expect("a store");
    let archive = exported(world.store.as_ref().expect("open"), "first");
    for cut in (0..archive.len() - 1024).step_by(997) {
        let disk = FakeDisk::default();
        let error = import(&disk, &archive[..cut]).expect_err("cut");
        assert!(
            matches!(error.kind(), ErrorKind::Refused | ErrorKind::Damaged),
            "cut at {cut}: {error}"
        );
        assert_eq!(names(&disk, "/"), Vec::<String>::new(), "cut at {cut}");
    }
    let mut refused = 0;
    for at in (0..archive.len()).step_by(101) {
        let mut bad = archive.clone();
        bad[at] ^= 1 << (at % 8);
        let disk = FakeDisk::default();
        if import(&disk, &bad).is_ok() {
            assert_eq!(read_live(&disk), world.live, "changed at {at}");
        } else {
            refused += 1;
            assert_eq!(names(&disk, "/"), Vec::<String>::new(), "changed at {at}");
        }
    }
    assert!(
        refused > archive.len() / 101 / 2,
        "{refused} changes were noticed"
    );
}

#[test]
fn an_import_never_changes_existing_files() {
    let mut world = World::new(5);
    world.init().expect("a store");
    let archive = exported(world.store.as_ref().expect("open"), "first");
    assert_eq!(
        import(&world.disk, &archive).expect_err("a store").kind(),
        ErrorKind::Exists
    );
    let disk = FakeDisk::default();
    disk.make_dir(Path::new("/bands")).expect("made");
    assert_eq!(
        import(&disk, &archive).expect_err("a directory").kind(),
        ErrorKind::Exists
    );
    assert_eq!(names(&disk, "/"), ["bands"]);
    assert_eq!(read_live(&world.disk), world.live);
}

#[test]
fn an_interrupted_import_is_complete_or_can_be_repeated() {
    let mut world = World::new(6);
    world.init().expect("a store");
    let archive = exported(world.store.as_ref().expect("open"), "first");
    let whole = FakeDisk::default();
    import(&whole, &archive).expect("good");
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for stop in 1..=whole.steps() {
        let disk = FakeDisk::default();
        disk.stop_at(stop);
        let outcome = import(&disk, &archive);
        let error = outcome.expect_err("the machine stopped");
        assert!(is_stop(&error), "{error}");
        let disk = if stop % 4 == 0 {
            disk.after_kill()
        } else {
            disk.after_power_loss(stop)
        };
        let live = PathBuf::from("/bands");
        match Store::open(Arc::new(disk.clone()), &live, OPTIONS) {
            Ok(store) => {
                assert_eq!(read_live(&disk), world.live, "stopped at {stop}");
                assert!(
                    store.verify("first").expect("there").wrong.is_empty(),
                    "stopped at {stop}"
                );
                *states.entry("all").or_default() += 1;
            }
            Err(error) => {
                assert_eq!(
                    error.kind(),
                    ErrorKind::NotFound,
                    "stopped at {stop}: {error}"
                );
                if disk.stamp(&live).is_ok() {
                    assert_eq!(
                        read_live(&disk),
                        world.live,
                        "stopped at {stop}: bands without a store"
                    );
                    Store::init(Arc::new(disk), &live, OPTIONS, "first").expect("begun again");
                    *states.entry("bands").or_default() += 1;
                } else {
                    import(&disk, &archive)
                        .unwrap_or_else(|error| panic!("stopped at {stop}: {error}"));
                    assert_eq!(
                        read_live(&disk),
                        world.live,
                        "stopped at {stop}: done again"
                    );
                    *states.entry("nothing").or_default() += 1;
                }
            }
        }
    }
    assert_eq!(states.len(), 3, "{states:?}");
}

/// Every state of a history is imported into another store, in the middle of its own work.
#[test]
fn an_archive_becomes_a_checkpoint_of_an_existing_store_and_live_stays() {
    let mut from = World::new(7);
    from.init().expect("a store");
    (0..60).for_each(|_| from.step().expect("no fault"));
    let mut to = World::new(8);
    to.init().expect("a store");
    for (number, (name, bands)) in from.kept.iter().enumerate() {
        to.step().expect("no fault");
        let archive = exported(from.store.as_ref().expect("open"), name);
        let kept = format!("from-{name}");
        let store = to.store.as_mut().expect("open");
        let taken = store.adopt(archive.as_slice(), Some(&kept)).expect("good");
        assert_eq!(taken.checkpoint.name, kept);
        assert_eq!(read_live(&to.disk), to.live, "{name}: live moved");
        assert_eq!(
            exported(store, &kept).len(),
            archive.len(),
            "{name}: the same bands go out again"
        );
        to.kept.insert(kept.clone(), bands.clone());
        match number % 3 {
            0 => {
                let taken = to
                    .store
                    .as_mut()
                    .expect("open")
                    .rollback(&kept)
                    .expect("back");
                to.kept.insert(
                    taken.checkpoint.name,
                    std::mem::replace(&mut to.live, bands.clone()),
                );
                assert_eq!(
                    read_live(&to.disk),
                    to.live,
                    "{name}: rolled back to what came in"
                );
            }
            1 => to.open().expect("opened again"),
            _ => {}
        }
        to.store
            .as_mut()
            .expect("open")
            .checkpoint(&format!("after-{name}"))
            .expect("taken");
        to.kept.insert(format!("after-{name}"), to.live.clone());
    }
    to.check(to.store.as_ref().expect("open"));
}

#[test]
fn an_invalid_archive_leaves_a_store_unchanged() {
    let mut world = World::new(9);
    world.init().expect("a store");
    let archive = exported(world.store.as_ref().expect("open"), "first");
    let store = world.store.as_mut().expect("open");
    let error = store
        .adopt(archive.as_slice(), None)
        .expect_err("the name is taken");
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
    let traversal = forged(|builder| put(builder, "bands/../../a", EntryType::Regular, b"abc"));
    let error = store
        .adopt(traversal.as_slice(), None)
        .expect_err("leads out");
    assert!(
        error.to_string().contains("leads out of its place"),
        "{error}"
    );
    let before = world.disk.steps();
    for cut in (0..archive.len() - 1024).step_by(997) {
        let error = store.adopt(&archive[..cut], Some("cut")).expect_err("cut");
        assert!(
            matches!(error.kind(), ErrorKind::Refused | ErrorKind::Damaged),
            "cut at {cut}: {error}"
        );
    }
    assert_eq!(world.disk.steps(), before, "something was written");
    assert_eq!(store.list().len(), 1);
    world.check(world.store.as_ref().expect("open"));
}
