//! On a real disk: a rollback keeps permissions, owners, times and attributes, and a store is
//! private to its owner.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store, store_path};
use rustix::fs::{XattrFlags, getxattr, setxattr};

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
        chown(live.join("a"), Some(NOBODY), Some(NOBODY)).expect("given away");
        chown(&live, Some(NOBODY), Some(NOBODY)).expect("given away");
    }
    let extended = setxattr(
        live.join("a"),
        "user.paceline",
        b"kept",
        XattrFlags::empty(),
    )
    .is_ok();
    let mut store = Store::init(Arc::new(RealDisk), &live, OPTIONS, "first").expect("new");
    let first_ns = store.first().expect("new").created_ns;
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
    assert_eq!(
        (after[0], after[2], after[3]),
        (before[0], before[2], before[3])
    );
    assert_eq!(
        after[1].0, 0o640,
        "it was gone: what the directory lets others do with its contents"
    );
    assert_eq!(
        (after[1].1, after[1].2),
        (after[3].1, after[3].2),
        "and whose that is"
    );
    assert_eq!(
        fs::metadata(live.join("c"))
            .expect("there")
            .modified()
            .expect("a time"),
        untouched
    );
    let meta = fs::metadata(live.join("a")).expect("there");
    assert_eq!(
        meta.mtime() * 1_000_000_000 + meta.mtime_nsec(),
        first_ns,
        "the time of its contents"
    );
    if extended {
        let mut value = [0; 16];
        let count = getxattr(live.join("a"), "user.paceline", value.as_mut_slice()).expect("kept");
        assert_eq!(&value[..count], b"kept");
    }
    assert_eq!(fs::read(live.join("b")).expect("back"), vec![1; 50_000]);
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
    let set = fs::File::open(&live).and_then(|dir| dir.set_modified(LONG_AGO));
    set.expect("an old time");
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
