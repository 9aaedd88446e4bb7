//! A rollback keeps permissions, owners, times and attributes and never widens them, and a store is
//! private to its owner.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::SystemTime;

use paceline_checkpoint::disk::{Access, Attributes, Disk, DiskFile, FakeDisk, RealDisk};
use paceline_checkpoint::{Options, Store, store_path};
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::world::live_path;

const OPTIONS: Options = Options {
    segment_bytes: 1 << 20,
    skip_proven_syncs: true,
};
const NOBODY: u32 = 65534;

fn what_it_is(path: &Path) -> (u32, u32, u32) {
    let meta = fs::metadata(path).expect("there");
    (meta.mode() & 0o7777, meta.uid(), meta.gid())
}

#[test]
fn a_rollback_keeps_owners_permissions_and_attributes() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    for (name, mode) in [("a", 0o600), ("b", 0o640), ("c", 0o604)] {
        fs::write(live.join(name), vec![1; 50_000]).expect("written");
        fs::set_permissions(live.join(name), Permissions::from_mode(mode)).expect("set");
    }
    fs::set_permissions(&live, Permissions::from_mode(0o750)).expect("set");
    let is_root = fs::metadata(&live).expect("there").uid() == 0;
    if is_root {
        for name in ["a", "b"] {
            chown(live.join(name), Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        chown(&live, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    let extended = ["a", "b"].iter().all(|name| {
        setxattr(
            live.join(name),
            "user.paceline",
            b"kept",
            XattrFlags::empty(),
        )
        .is_ok()
    });
    set_modified(&live.join("b"), LONG_AGO);
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    let then = modified_ns(&live.join("a"));
    let before: Vec<_> = ["a", "b", "c", ""]
        .map(|name| what_it_is(&live.join(name)))
        .into();
    for name in ["a", "b"] {
        store
            .write_at(name, 20_000, b"other bytes")
            .expect("written");
    }
    store.checkpoint("second").expect("taken");
    let untouched = fs::metadata(live.join("c"))
        .expect("there")
        .modified()
        .expect("a time");
    store.remove("b").expect("removed");
    store.rollback("first").expect("back");
    let after: Vec<_> = ["a", "b", "c", ""]
        .map(|name| what_it_is(&live.join(name)))
        .into();
    assert_eq!(after, before, "also of `b`, which was gone");
    assert_eq!(
        fs::metadata(live.join("c"))
            .expect("there")
            .modified()
            .expect("a time"),
        untouched
    );
    assert_eq!(
        modified_ns(&live.join("a")),
        then,
        "the time of its contents"
    );
    assert_eq!(modified_ns(&live.join("b")), 0);
    if extended {
        for name in ["a", "b"] {
            assert_eq!(attribute(&live.join(name), "user.paceline"), b"kept");
        }
    }
    assert_eq!(fs::read(live.join("b")).expect("back"), vec![1; 50_000]);
}

/// A directory with the band `a`, for everybody, and `secret`, for one user; of another one where
/// the test may give it away.
fn with_a_secret(root: &Path) -> PathBuf {
    let live = root.join("bands");
    fs::create_dir(&live).expect("made");
    fs::write(live.join("a"), vec![1; 50_000]).expect("written");
    let secret = live.join("secret");
    fs::write(&secret, b"secret").expect("written");
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).expect("set");
    if fs::metadata(&live).expect("there").uid() == 0 {
        chown(&secret, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    set_modified(&secret, LONG_AGO);
    live
}

fn assert_is_the_secret(live: &Path, owner: u32, what: &str) {
    let secret = live.join("secret");
    assert_eq!(fs::read(&secret).expect("back"), b"secret", "{what}");
    let (mode, uid, _) = what_it_is(&secret);
    assert_eq!((mode, uid), (0o600, owner), "{what}");
    assert_eq!(modified_ns(&secret), 0, "{what}");
}

/// What it had travels with a band through every form in which a checkpoint is kept.
#[test]
fn a_band_that_is_gone_comes_back_as_it_was_however_its_checkpoint_was_kept() {
    for how in [
        "base", "log", "fold", "compact", "repair", "import", "adopt",
    ] {
        let root = tempfile::tempdir().expect("a directory");
        let live = with_a_secret(root.path());
        let owner = what_it_is(&live.join("secret")).1;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let hidden = root.path().join("hidden");
        if how != "base" {
            fs::rename(live.join("secret"), &hidden).expect("away");
        }
        let mut store = Store::init(Arc::clone(&disk), &live, OPTIONS, "first").expect("new");
        if how != "base" {
            fs::rename(&hidden, live.join("secret")).expect("here");
        }
        store.checkpoint_observed("kept").expect("taken");
        store.write_at("a", 0, b"more").expect("written");
        store.checkpoint_observed("last").expect("taken");
        match how {
            "fold" => {
                store.prune(&["first"]).expect("given up");
                store.fold().expect("folded");
            }
            "compact" => {
                store.write_at("a", 0, b"most").expect("written");
                store.checkpoint_observed("more").expect("taken");
                store.prune(&["last"]).expect("given up");
                store.compact().expect("compacted");
            }
            "repair" => {
                drop(store);
                let current = store_path(&live).join("CURRENT");
                let mut text = fs::read(&current).expect("there");
                text[3] ^= 1;
                fs::write(&current, text).expect("decayed");
                let repaired = Store::repair(&disk, &live, OPTIONS).expect("repaired");
                assert_eq!(repaired.kept.len(), 3);
                store = Store::open(Arc::clone(&disk), &live, OPTIONS).expect("sound");
            }
            _ => {}
        }
        let (mut live, mut store) = (live, store);
        if how == "import" || how == "adopt" {
            let mut archive = Vec::new();
            store.export("kept", &mut archive).expect("exported");
            live = root.path().join("others");
            if how == "import" {
                let made = Store::import(Arc::clone(&disk), &live, OPTIONS, &archive[..]);
                store = made.expect("imported");
                assert_is_the_secret(&live, owner, "right after the import");
            } else {
                fs::create_dir(&live).expect("made");
                store = Store::init(Arc::clone(&disk), &live, OPTIONS, "first").expect("new");
                store.adopt(&archive[..], None).expect("adopted");
            }
        }
        let _ = fs::remove_file(live.join("secret"));
        store.rollback_observed("kept").expect("back");
        assert_is_the_secret(&live, owner, how);
    }
}

/// A change of rights alone has no pages, and each checkpoint has its own.
#[test]
fn a_change_of_rights_alone_is_a_change_of_the_record() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    let band = live.join("a");
    fs::write(&band, vec![1; 50_000]).expect("written");
    let allow = |mode| fs::set_permissions(&band, Permissions::from_mode(mode)).expect("set");
    allow(0o644);
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "open").expect("new");
    allow(0o600);
    let closed = store
        .checkpoint_observed("closed")
        .expect("taken")
        .checkpoint;
    assert_eq!((closed.bands, closed.bytes), (1, 0));
    set_modified(&band, LONG_AGO);
    let touched = store.checkpoint_observed("touched").expect("taken");
    assert_eq!(touched.checkpoint.bands, 0, "a time alone is no change");
    for (name, mode) in [("open", 0o644), ("closed", 0o600)] {
        fs::remove_file(&band).expect("gone");
        store.rollback_observed(name).expect("back");
        assert_eq!(what_it_is(&band).0, mode, "{name}");
    }
}

/// Neither a band that was closed since gets its old rights back, nor one that was replaced by an
/// open file the rights of that.
#[test]
fn a_rollback_gives_no_right_that_either_the_checkpoint_or_live_does_not() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    let modes = [("closed", 0o644, 0o600), ("opened", 0o640, 0o606)];
    let allow = |name: &str, mode| {
        fs::set_permissions(live.join(name), Permissions::from_mode(mode)).expect("set");
    };
    for (name, then, _) in modes {
        fs::write(live.join(name), b"then").expect("written");
        allow(name, then);
    }
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    for (name, _, now) in modes {
        fs::write(live.join(name), b"now!").expect("written");
        allow(name, now);
    }
    store.rollback_observed("first").expect("back");
    for (name, _, _) in modes {
        assert_eq!(fs::read(live.join(name)).expect("back"), b"then");
        assert_eq!(what_it_is(&live.join(name)).0, 0o600, "{name}");
    }
}

const ANOTHER: u32 = 65533;
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Attributes of a file of mode 0640 that belongs to nobody, with these extended attributes.
fn of_nobody(extended: &[(&str, &[u8])]) -> Attributes {
    Attributes {
        mode: 0o640,
        owner: NOBODY,
        group: NOBODY,
        modified_ns: 0,
        extended: extended
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()))
            .collect(),
    }
}

/// What a band had, what live's has now, and what is left of both after a rollback, by what changed. `made` is what
/// the user who restores gives a new file.
fn changes_of_rights(made: &Attributes) -> Vec<(&'static str, [Attributes; 3])> {
    const NO_ID: u32 = u32::MAX;
    let list = |users: &[u32]| {
        let mut entries = vec![(0x01, 6, NO_ID)];
        entries.extend(users.iter().map(|user| (0x02, 4, *user)));
        entries.extend([(0x04, 0, NO_ID), (0x10, 4, NO_ID), (0x20, 0, NO_ID)]);
        access_list(&entries)
    };
    let (one, two) = (list(&[ANOTHER]), list(&[1, ANOTHER]));
    let [one, two] = [&one, &two].map(|list| of_nobody(&[(ACCESS_LIST, list)]));
    // linux/capability.h: version 2, without any
    let capability = [&0x0200_0000_u32.to_le_bytes()[..], &[0; 16]].concat();
    let capable = of_nobody(&[("security.capability", &capability)]);
    let plain = of_nobody(&[]);
    let closed = Attributes {
        mode: 0o600,
        ..plain.clone()
    };
    let group = Attributes {
        group: ANOTHER,
        ..plain.clone()
    };
    let owner = Attributes {
        owner: ANOTHER,
        ..plain.clone()
    };
    let others = Attributes {
        mode: 0o604,
        ..plain.clone()
    };
    let restorers = Attributes {
        owner: made.owner,
        group: made.group,
        ..closed.clone()
    };
    let closed_group = Attributes {
        mode: 0o600,
        ..group.clone()
    };
    let tags = ["then", "now"].map(|value| of_nobody(&[("user.paceline", value.as_bytes())]));
    let [tagged, retagged] = tags;
    let changes = [
        ("nothing", [&plain, &plain, &plain]),
        ("nothing beside a list", [&two, &two, &two]),
        ("mode", [&plain, &others, &closed]),
        ("group", [&plain, &group, &closed_group]),
        ("owner", [&plain, &owner, &restorers]),
        ("entry of the list, taken away", [&two, &one, &closed]),
        ("entry of the list, added", [&one, &two, &closed]),
        ("list, taken away", [&one, &plain, &closed]),
        ("list, added", [&plain, &one, &closed]),
        ("capability, taken away", [&capable, &plain, &plain]),
        ("capability, added", [&plain, &capable, &plain]),
        ("no right", [&tagged, &retagged, &tagged]),
    ];
    changes
        .map(|(what, all)| (what, all.map(Clone::clone)))
        .into()
}

/// Of an owner, a group, an access list or a capability that a band had then and live's has not now, or the other
/// way round, nobody has a right afterwards.
#[test]
fn a_rollback_gives_no_right_to_those_who_have_it_on_one_side_only() {
    let root = tempfile::tempdir().expect("a directory");
    let mut disks: Vec<(Arc<dyn Disk>, PathBuf)> =
        vec![(Arc::new(FakeDisk::default()), live_path())];
    if fs::metadata(root.path()).expect("there").uid() == 0 {
        disks.push((Arc::new(RealDisk), root.path().join("bands"))); // only root gives files away
    }
    for (disk, live) in disks {
        disk.make_dir(&live).expect("made");
        let give = |name: &str, access, bytes: &[u8], rights: &Attributes| {
            let file = disk.open(&live.join(name), access).expect("opened");
            file.write_at(bytes, 0).expect("written");
            file.set_attributes(rights).expect("set");
            rights_of(file.as_ref()).same_rights(rights)
        };
        let probe = live.join("probe");
        let file = disk.open(&probe, Access::CreatePrivate).expect("made");
        let mut changes = changes_of_rights(&rights_of(file.as_ref()));
        drop(file);
        disk.remove(&probe).expect("removed");
        // Not every filesystem has access lists, and not every root may set a capability.
        changes.retain(|(what, [then, now, _])| {
            let keeps_now = give(what, Access::Create, b"then", now);
            let keeps = give(what, Access::Write, b"then", then) && keeps_now;
            if !keeps {
                disk.remove(&live.join(what)).expect("removed");
            }
            keeps
        });
        let mut store = Store::init(Arc::clone(&disk), &live, OPTIONS, "first").expect("new");
        for (what, [_, now, _]) in &changes {
            give(what, Access::Write, b"now!", now);
        }
        store.rollback_observed("first").expect("back");
        assert!(changes.len() >= 5, "{changes:?}");
        for (what, [_, _, left]) in changes {
            let file = disk.open(&live.join(what), Access::Read).expect("back");
            let mut bytes = [0; 4];
            file.read_at(&mut bytes, 0).expect("read");
            let back = rights_of(file.as_ref());
            assert_eq!(&bytes, b"then", "{what}");
            assert!(back.same_rights(&left), "{what}: {back:?}");
        }
    }
}

fn rights_of(file: &dyn DiskFile) -> Attributes {
    file.attributes().expect("there").expect("known")
}

/// Names the directory of the test in the process that is no superuser.
const AS_NOBODY: &str = "CHECKPOINT_AS_NOBODY";

/// Only the superuser can give files away. What another user brings back is then his alone,
/// without the access list of its owner.
#[test]
fn what_cannot_be_given_to_its_owner_is_for_nobody_else() {
    if let Some(root) = std::env::var_os(AS_NOBODY) {
        let live = Path::new(&root).join("bands");
        let mut store = Store::open(Arc::new(RealDisk), &live, OPTIONS).expect("opened");
        store.rollback_observed("first").expect("back");
        return;
    }
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    let band = live.join("a");
    fs::write(&band, b"bytes").expect("written");
    fs::set_permissions(&band, Permissions::from_mode(0o644)).expect("set");
    if fs::metadata(&band).expect("there").uid() != 0 {
        return; // whoever is not root cannot give it away in the first place
    }
    drop(Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new"));
    fs::remove_file(&band).expect("gone");
    let test = root.path().join("test"); // where nobody else may look for it
    fs::copy(std::env::current_exe().expect("this"), &test).expect("copied");
    let mut left = vec![root.path().to_owned()];
    while let Some(path) = left.pop() {
        chown(&path, Some(NOBODY), Some(NOBODY)).expect("given away");
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("readable");
            left.extend(entries.map(|entry| entry.expect("readable").path()));
        }
    }
    let name = "attributes::what_cannot_be_given_to_its_owner_is_for_nobody_else";
    let ran = Command::new(&test)
        .args(["--exact", name])
        .env(AS_NOBODY, root.path())
        .current_dir(root.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("started");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stdout)
    );
    assert_eq!(what_it_is(&band), (0o600, NOBODY, NOBODY));
    assert_eq!(fs::read(&band).expect("back"), b"bytes");
}

/// The machine stops at any operation of a rollback: a band is not there, or as it was.
#[test]
fn a_band_that_comes_back_has_its_rights_whenever_the_machine_stops() {
    let secret = live_path().join("secret");
    for operation in 1.. {
        let disk = FakeDisk::default();
        disk.make_dir(&live_path()).expect("made");
        let file = disk.open(&secret, Access::Create).expect("made");
        file.write_at(b"secret", 0).expect("written");
        let mut rights = file.attributes().expect("there").expect("known");
        (rights.mode, rights.owner) = (0o600, NOBODY);
        file.set_attributes(&rights).expect("set");
        disk.sync_beneath(Path::new("/")).expect("synced");
        disk.advance(1_000_000_000);
        let mut store =
            Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
        disk.remove(&secret).expect("gone");
        disk.stop_at(disk.steps() + operation);
        let done = store.rollback_observed("first").is_ok();
        drop(store);
        for seed in 0..8 {
            let left = disk.after_power_loss(seed);
            let Ok(file) = left.open(&secret, Access::Read) else {
                assert!(!done, "stopped at {operation}, {seed}");
                continue;
            };
            let left = file.attributes().expect("there").expect("known");
            assert_eq!(
                (left.mode, left.owner),
                (0o600, NOBODY),
                "stopped at {operation}, {seed}"
            );
        }
        if done {
            break;
        }
    }
}

#[test]
fn a_store_is_accessible_to_its_owner_only() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    fs::write(live.join("a"), b"secret").expect("written");
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    store.write_at("a", 0, b"others").expect("written");
    store.checkpoint("second").expect("taken");
    store.prune(&["first"]).expect("given up");
    store.fold().expect("folded");
    store.save_index();
    let mut seen = 0;
    let mut left = vec![store_path(&live)];
    while let Some(path) = left.pop() {
        let meta = fs::metadata(&path).expect("there");
        assert_eq!(
            meta.mode() & 0o077,
            0,
            "{}: {:o}",
            path.display(),
            meta.mode()
        );
        seen += 1;
        if meta.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .expect("readable")
                    .map(|entry| entry.expect("readable").path()),
            );
        }
    }
    assert!(seen >= 9, "{seen}");
}

fn set_modified(path: &Path, time: SystemTime) {
    let set = fs::File::open(path).and_then(|file| file.set_modified(time));
    set.expect("set");
}

fn modified_ns(path: &Path) -> i64 {
    let meta = fs::metadata(path).expect("there");
    meta.mtime() * 1_000_000_000 + meta.mtime_nsec()
}

/// A time long ago, which only an explicit setting can restore.
const LONG_AGO: SystemTime = SystemTime::UNIX_EPOCH;

#[test]
fn a_rollback_keeps_the_directorys_time_unless_names_changed() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    fs::write(live.join("a"), vec![1; 50_000]).expect("written");
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    store.write_at("a", 0, b"others").expect("written");
    store.checkpoint("second").expect("taken");
    set_modified(&live, LONG_AGO);
    store.rollback("first").expect("back");
    assert_eq!(modified_ns(&live), 0, "no name came or went");

    store.write_at("b", 0, b"new").expect("written");
    let third = store.checkpoint("third").expect("taken").checkpoint;
    store.remove("b").expect("removed");
    store.checkpoint("fourth").expect("taken");
    store.rollback("third").expect("back");
    assert_eq!(modified_ns(&live), third.created_ns, "when `b` came");
    store.rollback("first").expect("back");
    let first_ns = store.first().expect("there").created_ns;
    assert_eq!(modified_ns(&live), first_ns, "before any name came");
}

/// The extended attribute of an access list on Linux: version 2, then entries of tag, permissions
/// and id.
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

fn attribute(path: &Path, name: &str) -> Vec<u8> {
    let mut value = [0; 256];
    let count = getxattr(path, name, value.as_mut_slice()).expect("there");
    value[..count].to_vec()
}

#[cfg(target_os = "linux")]
#[test]
fn a_rollback_keeps_access_lists() {
    // linux/posix_acl.h: the owner, another user, the group, the mask, all others
    const NO_ID: u32 = u32::MAX;
    let list = access_list(&[
        (0x01, 6, NO_ID),
        (0x02, 4, NOBODY),
        (0x04, 0, NO_ID),
        (0x10, 4, NO_ID),
        (0x20, 0, NO_ID),
    ]);
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    fs::create_dir(&live).expect("made");
    fs::write(live.join("a"), vec![1; 50_000]).expect("written");
    let names = ["system.posix_acl_access", "system.posix_acl_default"];
    let set = setxattr(live.join("a"), names[0], &list, XattrFlags::empty());
    if set == Err(rustix::io::Errno::OPNOTSUPP) {
        return; // this filesystem has no access lists
    }
    set.expect("set");
    for name in names {
        setxattr(&live, name, &list, XattrFlags::empty()).expect("set");
    }
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    store.write_at("a", 0, b"others").expect("written");
    store.checkpoint("second").expect("taken");
    store.rollback("first").expect("back");
    assert_eq!(fs::read(live.join("a")).expect("back"), vec![1; 50_000]);
    assert_eq!(attribute(&live.join("a"), names[0]), list);
    for name in names {
        assert_eq!(attribute(&live, name), list, "{name} of the directory");
    }
}
