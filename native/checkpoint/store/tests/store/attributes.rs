//! On a real disk: a rollback keeps permissions, owners, times and attributes, and a store is
//! private to its owner.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store, store_path};
use rustix::fs::{XattrFlags, getxattr, setxattr};

const OPTIONS: Options = Options {
    segment_bytes: 1 << 20,
};
const NOBODY: u32 = 65534;

fn what_it_is(path: &Path) -> (u32, u32, u32) {
    let meta = fs::metadata(path).expect("there");
    (meta.mode() & 0o7777, meta.uid(), meta.gid())
}

#[test]
fn a_rollback_keeps_what_files_and_their_directory_are() {
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
fn a_store_is_for_its_owner_alone() {
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
