//! What [`super::RealDisk`] needs of Unix: Linux and Android, and macOS where it differs.
//!
//! The same functions with the same meaning are in `windows`.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown,
};
use std::path::Path;
use std::sync::OnceLock;

use rustix::io::Errno;

use super::real::kind_of;
use super::{Access, Attributes, Stamp, probe};
use crate::attributes::{ACCESS_LIST, OWNERS_BITS};

/// The error for an extended attribute that a file does not have.
#[cfg(any(target_os = "linux", target_os = "android"))]
const GONE: Errno = Errno::NODATA;
#[cfg(target_vendor = "apple")]
const GONE: Errno = Errno::NOATTR;

/// See [`super::Disk::names_alias`]. On macOS case may be ignored; bands have the names that the
/// system lists.
pub(super) const NAMES_ALIAS: bool = false;
/// See [`super::Disk::stamps_show_writes`].
pub(super) const STAMPS_SHOW_WRITES: bool = true;

pub(super) fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(access != Access::Read)
        .create_new(matches!(access, Access::Create | Access::CreatePrivate));
    if access == Access::CreatePrivate {
        private(&mut options);
    }
    // Non-blocking: opening a band that became a pipe must not hang the store. It has no effect on
    // files.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed()).open(path)
}

/// Files made with these options are accessible to their owner only.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

pub(super) fn make_private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

pub(super) fn keep_attributes(like: &Path, path: &Path) -> io::Result<()> {
    match attributes(&File::open(like)?)? {
        Some(attributes) => set_attributes(&File::open(path)?, &attributes),
        None => Ok(()),
    }
}

pub(super) fn attributes(file: &File) -> io::Result<Option<Attributes>> {
    let meta = file.metadata()?;
    Ok(Some(Attributes {
        mode: meta.mode() & 0o7777,
        owner: meta.uid(),
        group: meta.gid(),
        modified_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        extended: extended(file)?,
    }))
}

pub(super) fn set_attributes(file: &File, wanted: &Attributes) -> io::Result<()> {
    let (now, mut mode) = (file.metadata()?, wanted.mode & 0o7777);
    // Only the superuser can give files away. Otherwise the file belongs to this user, and the
    // rights of others were those beside another owner.
    let given = (wanted.owner, wanted.group) == (now.uid(), now.gid())
        || fchown(file, Some(wanted.owner), Some(wanted.group)).is_ok();
    if !set_extended(file, &wanted.extended, given)? || !given {
        mode &= OWNERS_BITS;
    }
    // Last: it also limits what the access list allows.
    file.set_permissions(Permissions::from_mode(mode))
}

pub(super) fn set_modified(path: &Path, ns: i64) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};
    const SECOND_NS: i64 = 1_000_000_000;
    let times = Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: ns.div_euclid(SECOND_NS),
            tv_nsec: ns.rem_euclid(SECOND_NS),
        },
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_unknown(error: Errno) -> bool {
    [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS].contains(&error)
}

/// Extended attributes, which include access lists, as far as they may be read and fit a record:
/// the access list does in any case.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn extended(file: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    use rustix::fs::{fgetxattr, flistxattr, flistxattr_query};
    /// Bytes of one file's attributes in a record; Linux allows as many in one value.
    const MOST: usize = 64 << 10;
    let mut all = BTreeMap::new();
    // Most files have none: asking for their size first allocates nothing.
    let bytes = match flistxattr_query(file) {
        Err(error) if is_unknown(error) => 0,
        bytes => bytes?,
    };
    if bytes == 0 {
        return Ok(all);
    }
    let (mut names, mut value) = (vec![0; MOST], vec![0; MOST]);
    let count = flistxattr(file, names.as_mut_slice())?;
    let names = names[..count].split(|byte| *byte == 0);
    let mut names: Vec<&[u8]> = names.filter(|name| !name.is_empty()).collect();
    names.sort_by_key(|name| (*name != ACCESS_LIST, *name));
    let mut left = MOST;
    for name in names {
        let count = match fgetxattr(file, name, value.as_mut_slice()) {
            Err(Errno::PERM | Errno::ACCESS | Errno::RANGE) => continue,
            Err(error) if is_unknown(error) || error == GONE => continue,
            count => count?,
        };
        if let Some(rest) = left.checked_sub(name.len() + count) {
            left = rest;
            all.insert(name.to_vec(), value[..count].to_vec());
        }
    }
    Ok(all)
}

/// Sets extended attributes, as far as this process may; returns whether the file has the access
/// list that it should have, or none. A file that was not given to its owner gets none.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn set_extended(file: &File, wanted: &BTreeMap<Vec<u8>, Vec<u8>>, given: bool) -> io::Result<bool> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};
    let mut listed = match wanted.get(ACCESS_LIST) {
        Some(_) => false,
        // A new file may have the list that its directory hands down.
        None => match fremovexattr(file, ACCESS_LIST) {
            Ok(()) => true,
            Err(error) => error == GONE || error == Errno::INVAL || is_unknown(error),
        },
    };
    for (name, value) in wanted {
        if !given && name.starts_with(b"system.") {
            continue;
        }
        match fsetxattr(file, name.as_slice(), value, XattrFlags::empty()) {
            Ok(()) => listed |= name == ACCESS_LIST,
            // Some belong to the system and cannot be set.
            Err(Errno::PERM | Errno::ACCESS) => {}
            Err(error) if is_unknown(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(listed)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn extended(_: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    Ok(BTreeMap::new())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn set_extended(_: &File, wanted: &BTreeMap<Vec<u8>, Vec<u8>>, _: bool) -> io::Result<bool> {
    Ok(!wanted.contains_key(ACCESS_LIST))
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

fn stamp_of_meta(meta: &Metadata) -> Stamp {
    Stamp {
        kind: kind_of(meta.file_type()),
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.len(),
        modified_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        changed_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        blocks: meta.blocks(),
    }
}

pub(super) fn stamp_of(file: &File) -> io::Result<Stamp> {
    Ok(stamp_of_meta(&file.metadata()?))
}

pub(super) fn stamp_at(path: &Path) -> io::Result<Stamp> {
    Ok(stamp_of_meta(&fs::symlink_metadata(path)?))
}

/// Device and inode of a path's target; links are followed.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let meta = fs::metadata(path)?;
    Ok((meta.dev(), meta.ino()))
}

pub(super) fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

pub(super) fn write_some_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(bytes, offset)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn await_writes(file: &File) {
    // A buffered write holds the inode's lock until its end, and asking where data begins takes it,
    // too (ext4, btrfs, tmpfs); xfs takes it for every reading. It does not matter if there is no
    // data.
    let _ = rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0));
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn await_writes(_: &File) {}

/// Sets what `chattr +C` does. Filesystems other than btrfs overwrite in place, and refuse it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn overwrite_in_place(file: &File) {
    use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
    if let Ok(flags) = ioctl_getflags(file) {
        let _ = ioctl_setflags(file, flags | IFlags::NOCOW);
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn overwrite_in_place(_: &File) {}

pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    // Errors of filesystems and kernels without an exchange.
    const UNKNOWN: [Errno; 4] = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP];
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).map_err(|error| {
        if UNKNOWN.contains(&error) {
            io::ErrorKind::Unsupported.into()
        } else {
            error.into()
        }
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn clone_file(from: &Path, to: &Path) -> io::Result<()> {
    let source = File::open(from)?;
    let target = private(OpenOptions::new().write(true).create_new(true)).open(to)?;
    let cloned = rustix::fs::ioctl_ficlone(&target, &source);
    cloned.map_err(|error| {
        // The empty file is removed, because the caller could not copy over it.
        let _ = fs::remove_file(to);
        match error {
            Errno::OPNOTSUPP | Errno::XDEV | Errno::INVAL => io::ErrorKind::Unsupported.into(),
            other => other.into(),
        }
    })
}

#[cfg(target_vendor = "apple")]
pub(super) fn clone_file(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, CloneFlags, fclonefileat};
    fclonefileat(File::open(from)?, CWD, to, CloneFlags::empty()).map_err(|error| match error {
        Errno::NOTSUP | Errno::XDEV => io::ErrorKind::Unsupported.into(),
        other => other.into(),
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn clone_file(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn sync_beneath(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}

/// Outside of Linux `sync` need not wait, so each file is synced (on macOS by `F_FULLFSYNC`, which
/// `sync_all` calls there).
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use super::real::sync_each_beneath as sync_beneath;

pub(super) fn stamps_are_exact(dir: &Path) -> bool {
    probe::tried(dir, probe::stamps_are_exact)
}

pub(super) fn stamps_show_mappings(dir: &Path) -> bool {
    probe::tried(dir, probe::stamps_show_mappings)
}

pub(super) fn steady_ns() -> i64 {
    let steady = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    steady
        .tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(steady.tv_nsec)
}

/// Linux names each boot. Elsewhere all boots have one name, which is never trusted
/// (`index::Index`).
pub(super) fn boot() -> [u8; 16] {
    static BOOT: OnceLock<[u8; 16]> = OnceLock::new();
    *BOOT.get_or_init(read_boot)
}

fn read_boot() -> [u8; 16] {
    let mut id = [0; 16];
    if let Ok(text) = fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        for (place, digits) in id.iter_mut().zip(digits.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(digits).unwrap_or("0");
            *place = u8::from_str_radix(pair, 16).unwrap_or(0);
        }
    }
    id
}

/// Whether an error says that the file to be opened is a link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Whether an error says that another program has the file open without sharing it.
pub(crate) fn is_held_elsewhere(_: &io::Error) -> bool {
    false // impossible on Unix
}
