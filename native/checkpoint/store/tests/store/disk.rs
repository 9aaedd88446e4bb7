//! The conformance test of the port, for the real disk and the fake one.

use std::io::ErrorKind;
use std::path::Path;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault, Kind, RealDisk};

fn bytes(disk: &dyn Disk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, Access::Read).expect("it is there");
    let mut bytes = vec![0; 64];
    let count = file.read_at(&mut bytes, 0).expect("readable");
    bytes.truncate(count);
    bytes
}

/// `d` and `e` exchange their names: in one step, or not at all and then by renames.
fn exchange(disk: &dyn Disk, root: &Path) {
    let (dir, other, aside) = (root.join("d"), root.join("e"), root.join("f"));
    match disk.exchange(&dir, &other) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            assert_eq!(bytes(disk, &dir.join("b")), b"z\0ab", "nothing was done");
            for (from, to) in [(&dir, &aside), (&other, &dir), (&aside, &other)] {
                disk.rename(from, to).expect("renamed");
            }
        }
        exchanged => exchanged.expect("exchanged"),
    }
}

fn conforms(disk: &dyn Disk, root: &Path) {
    let (dir, a, b) = (root.join("d"), root.join("d/a"), root.join("d/b"));
    disk.make_dir(&dir).expect("made");
    assert_eq!(
        disk.make_dir(&dir).expect_err("twice").kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        disk.open(&a, Access::Write).expect_err("missing").kind(),
        ErrorKind::NotFound
    );
    let file = disk.open(&a, Access::Create).expect("made");
    assert_eq!(
        disk.open(&a, Access::Create).expect_err("twice").kind(),
        ErrorKind::AlreadyExists
    );
    file.write_at(b"abc", 2).expect("written");
    file.set_len(7).expect("extended");
    assert_eq!(bytes(disk, &a), b"\0\0abc\0\0");
    file.write_at(b"", 40).expect("nothing written");
    assert_eq!(bytes(disk, &a), b"\0\0abc\0\0", "no bytes extend nothing");
    file.set_len(4).expect("cut");
    file.sync_data().expect("synced");
    assert_eq!(bytes(disk, &a), b"\0\0ab");
    assert_eq!(file.read_at(&mut [0; 8], 9).expect("beyond the end"), 0);
    let stamp = disk.stamp(&a).expect("its stamp");
    assert_eq!(
        (stamp.kind, stamp.size, stamp.inode),
        (Kind::File, 4, file.stamp().expect("open").inode)
    );

    disk.link(&a, &b).expect("a second name");
    assert_eq!(
        disk.link(&a, &b).expect_err("taken").kind(),
        ErrorKind::AlreadyExists
    );
    file.write_at(b"z", 0).expect("written");
    assert_eq!(bytes(disk, &b), b"z\0ab");
    drop(file); // Windows may keep an open file's name until it is closed, and moves no directory with one
    disk.remove(&a).expect("removed");
    let names: Vec<_> = disk
        .list(&dir)
        .expect("listed")
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["b"]);
    assert_eq!(
        disk.remove_dir(&dir).expect_err("not empty").kind(),
        ErrorKind::DirectoryNotEmpty
    );

    let other = root.join("e");
    disk.make_dir(&other).expect("made");
    exchange(disk, root);
    assert_eq!(bytes(disk, &root.join("e/b")), b"z\0ab");
    assert_eq!(disk.list(&dir).expect("listed"), []);
    disk.rename(&dir, &other).expect_err("it holds something");
    let c = disk.open(&root.join("e/c"), Access::Create).expect("made");
    c.write_at(b"new", 0).expect("written");
    disk.rename(&root.join("e/c"), &root.join("e/b"))
        .expect("over the old one");
    assert_eq!(bytes(disk, &root.join("e/b")), b"new");
    match disk.clone_file(&root.join("e/b"), &root.join("e/k")) {
        Ok(()) => assert_eq!(bytes(disk, &root.join("e/k")), b"new"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert_eq!(
                disk.stamp(&root.join("e/k"))
                    .expect_err("nothing made")
                    .kind(),
                ErrorKind::NotFound
            );
        }
    }
    disk.sync_dir(&other).expect("synced");
    disk.sync_beneath(root).expect("synced");

    let lock = disk.lock(&root.join("LOCK")).expect("free");
    assert_eq!(
        disk.lock(&root.join("LOCK")).expect_err("held").kind(),
        ErrorKind::WouldBlock
    );
    drop(lock);
    disk.lock(&root.join("LOCK")).expect("free again");
    assert!(disk.now().steady_ns <= disk.now().steady_ns);
}

#[test]
fn the_fake_disk_conforms() {
    let disk = FakeDisk::default();
    disk.make_dir(Path::new("/root")).expect("made");
    conforms(&disk, Path::new("/root"));
    disk.make_dir(Path::new("/windows")).expect("made");
    disk.be_as_on_windows();
    conforms(&disk, Path::new("/windows"));
    disk.make_symlink(Path::new("/root/link")).expect("made");
    assert!(disk.open(Path::new("/root/link"), Access::Read).is_err());
}

#[test]
fn the_real_disk_conforms() {
    let root = tempfile::tempdir().expect("a directory");
    conforms(&RealDisk, root.path());
    assert!(
        RealDisk.open(&root.path().join("e"), Access::Read).is_err(),
        "a directory"
    );
    assert_eq!(
        RealDisk.stamp(&root.path().join("e")).expect("itself").kind,
        Kind::Directory
    );
}

/// On Windows only administrators may make a link.
#[cfg(unix)]
#[test]
fn the_real_disk_follows_no_link() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("e"), "bytes").expect("made");
    std::os::unix::fs::symlink("e", root.path().join("link")).expect("made");
    assert!(
        RealDisk
            .open(&root.path().join("link"), Access::Read)
            .is_err()
    );
    assert_eq!(
        RealDisk
            .stamp(&root.path().join("link"))
            .expect("itself")
            .kind,
        Kind::Other
    );
}

/// A clone shares contents that are on the disk or will be.
#[test]
fn a_clone_on_the_fake_disk_lacks_what_a_failed_sync_lost() {
    let (disk, path, clone) = (FakeDisk::default(), Path::new("/a"), Path::new("/clone"));
    let file = disk.open(path, Access::Create).expect("made");
    file.write_at(b"kept", 0)
        .and_then(|()| file.sync_data())
        .expect("synced");
    file.write_at(b"lost", 0).expect("written");
    disk.fail(Fault {
        at: disk.steps() + 1,
        count: 1,
        kind: ErrorKind::Other,
    });
    file.sync_data().expect_err("nothing was written");
    file.write_at(b"!", 4).expect("written");
    disk.clone_file(path, clone).expect("cloned");
    assert_eq!(
        (bytes(&disk, path), bytes(&disk, clone)),
        (b"lost!".to_vec(), b"kept!".to_vec())
    );
}
