//! What [`super::RealDisk`] needs of Unix: Linux and Android, and macOS where it differs.
//!
//! The same functions with the same meaning are in `windows`.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown,
};
use std::path::Path;
use std::sync::OnceLock;

use super::real::kind_of;
use super::{Access, Stamp, probe};

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
    let (from, to) = (fs::symlink_metadata(like)?, File::open(path)?);
    let now = to.metadata()?;
    let mut mode = from.mode() & 0o7777;
    if (from.uid(), from.gid()) != (now.uid(), now.gid())
        && fchown(&to, Some(from.uid()), Some(from.gid())).is_err()
    {
        // Only the superuser can give files away. Otherwise the file belongs to this user and is
        // accessible to nobody else.
        mode &= 0o1777;
        let _ = fchown(&to, None, Some(from.gid())); // a group of its own
    }
    let same_kind = from.is_dir() == now.is_dir();
    if !same_kind {
        mode &= 0o666; // permissions of a directory's contents
    }
    to.set_permissions(Permissions::from_mode(mode))?;
    if same_kind {
        keep_extended(like, &to)
    } else {
        Ok(())
    }
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

/// Extended attributes, which include access lists.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn keep_extended(like: &Path, to: &File) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fsetxattr, lgetxattr, llistxattr};
    use rustix::io::Errno;
    /// More than the systems allow.
    const MOST: usize = 64 << 10;
    let is_unknown =
        |error: Errno| [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS].contains(&error);
    let (mut names, mut value) = (vec![0; MOST], vec![0; MOST]);
    let count = match llistxattr(like, names.as_mut_slice()) {
        Err(error) if is_unknown(error) => return Ok(()),
        count => count?,
    };
    for name in names[..count]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let count = match lgetxattr(like, name, value.as_mut_slice()) {
            Err(error) if is_unknown(error) || error == Errno::PERM || error == Errno::ACCESS => {
                continue;
            }
            count => count?,
        };
        match fsetxattr(to, name, &value[..count], XattrFlags::empty()) {
            // Some belong to the system and cannot be set.
            Err(error) if is_unknown(error) || error == Errno::PERM || error == Errno::ACCESS => {}
            set => set?,
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn keep_extended(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

fn stamp_of_meta(meta: &Metadata) -> Stamp {
    let nanoseconds =
        |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
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

pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
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
            rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::XDEV | rustix::io::Errno::INVAL => {
                io::ErrorKind::Unsupported.into()
            }
            other => other.into(),
        }
    })
}

#[cfg(target_vendor = "apple")]
pub(super) fn clone_file(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, CloneFlags, fclonefileat};
    fclonefileat(File::open(from)?, CWD, to, CloneFlags::empty()).map_err(|error| match error {
        rustix::io::Errno::NOTSUP | rustix::io::Errno::XDEV => io::ErrorKind::Unsupported.into(),
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
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Whether an error says that another program has the file open without sharing it.
pub(crate) fn is_held_elsewhere(_: &io::Error) -> bool {
    false // impossible on Unix
}
