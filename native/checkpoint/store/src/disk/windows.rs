//! What [`super::RealDisk`] needs of Windows.
//!
//! Every file is opened shared with readers, writers and removers, so the store never blocks a
//! band's owner. Constants state what Windows cannot guarantee. Most important: a file's times are
//! right only once its writer has closed it ("File Times" in Microsoft's documentation), so they
//! prove nothing here. No call exchanges two names, counts a file's blocks reliably, or names a
//! boot. The same functions are in `unix`.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ADD_SUBDIRECTORY, FILE_ATTRIBUTE_DIRECTORY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES, FILE_TYPE_DISK, FileBasicInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType,
};

use super::{Access, Attributes, Kind, Stamp};

pub(super) use super::real::sync_each_beneath as sync_beneath;

/// See [`super::Disk::names_alias`].
pub(super) const NAMES_ALIAS: bool = true;
/// See [`super::Disk::stamps_show_writes`].
pub(super) const STAMPS_SHOW_WRITES: bool = false;

/// From 1601, where the system's times begin, to 1970, in their units of 100 ns.
const EPOCH_UNITS: i64 = 116_444_736_000_000_000;

pub(super) fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(access != Access::Read)
        .create_new(matches!(access, Access::Create | Access::CreatePrivate));
    // Directories can be opened, too, so that they are refused for their kind, as on other systems,
    // and not for lack of rights.
    options
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
}

fn for_attributes(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags)
        .open(path)
}

fn information(file: &File) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut info = MaybeUninit::<BY_HANDLE_FILE_INFORMATION>::zeroed();
    // SAFETY: the handle is open for as long as the file is borrowed, and `info` is writable and of the type
    // that is written.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), info.as_mut_ptr()) } == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is numbers, for which zeros are good values, and was filled.
    Ok(unsafe { info.assume_init() })
}

/// Its times are units of 100 ns since 1601.
fn basic(file: &File) -> io::Result<FILE_BASIC_INFO> {
    let bytes = u32::try_from(size_of::<FILE_BASIC_INFO>()).unwrap_or(0);
    let mut info = MaybeUninit::<FILE_BASIC_INFO>::zeroed();
    // SAFETY: as above; the bytes that may be written are those of the type.
    let filled = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileBasicInfo,
            info.as_mut_ptr().cast(),
            bytes,
        )
    };
    if filled == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { info.assume_init() })
}

fn nanoseconds(units: i64) -> i64 {
    units.saturating_sub(EPOCH_UNITS).saturating_mul(100)
}

fn both(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

pub(super) fn stamp_of(file: &File) -> io::Result<Stamp> {
    // SAFETY: the handle is open for as long as the file is borrowed.
    let on_disk = unsafe { GetFileType(file.as_raw_handle()) } == FILE_TYPE_DISK;
    let (info, basic) = (information(file)?, basic(file)?);
    let has = |attribute: u32| info.dwFileAttributes & attribute != 0;
    let kind = match () {
        () if !on_disk || has(FILE_ATTRIBUTE_REPARSE_POINT) => Kind::Other,
        () if has(FILE_ATTRIBUTE_DIRECTORY) => Kind::Directory,
        () => Kind::File,
    };
    let size = both(info.nFileSizeHigh, info.nFileSizeLow);
    Ok(Stamp {
        kind,
        device: u64::from(info.dwVolumeSerialNumber),
        inode: both(info.nFileIndexHigh, info.nFileIndexLow),
        size,
        modified_ns: nanoseconds(basic.LastWriteTime),
        changed_ns: nanoseconds(basic.ChangeTime),
        blocks: size.div_ceil(512),
    })
}

pub(super) fn stamp_at(path: &Path) -> io::Result<Stamp> {
    stamp_of(&for_attributes(path, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

/// Volume and index of a path's target; links are followed.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let stamp = stamp_of(&for_attributes(path, 0)?)?;
    Ok((stamp.device, stamp.inode))
}

/// Moves the handle's position, which nobody uses.
pub(super) fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// As [`read_some_at`].
pub(super) fn write_some_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

/// It does so anyway.
pub(super) fn overwrite_in_place(_: &File) {}

/// Nothing shows when they have ended; callers read twice because of [`STAMPS_SHOW_WRITES`].
pub(super) fn await_writes(_: &File) {}

pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn clone_file(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A directory is flushed through a handle that may change it; the least of such rights is enough.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options
        .access_mode(FILE_ADD_SUBDIRECTORY)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(dir)?.sync_all()
}

pub(super) fn stamps_are_exact(_: &Path) -> bool {
    false
}

pub(super) fn stamps_show_mappings(_: &Path) -> bool {
    false
}

/// Unique to this process: an index that outlives it is of another boot, which is never trusted.
pub(super) fn steady_ns() -> i64 {
    static START: OnceLock<Instant> = OnceLock::new();
    i64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// All boots have one name, which is never trusted (`index::Index`).
pub(super) fn boot() -> [u8; 16] {
    [0; 16]
}

/// Links are opened and then refused for their kind.
pub(crate) fn is_link(_: &io::Error) -> bool {
    false
}

/// Whether an error says that another program has the file open without sharing it.
pub(crate) fn is_held_elsewhere(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(code, Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION))
}

/// Directories are skipped: files are not opened through them here.
pub(super) fn set_modified(path: &Path, ns: i64) -> io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    let since = std::time::Duration::from_nanos(ns.unsigned_abs());
    let time = if ns < 0 {
        std::time::UNIX_EPOCH - since
    } else {
        std::time::UNIX_EPOCH + since
    };
    open(path, Access::Write)?.set_modified(time)
}

/// A file has the access rights that its directory hands down.
pub(super) fn attributes(_: &File) -> io::Result<Option<Attributes>> {
    Ok(None)
}

pub(super) fn set_attributes(_: &File, _: &Attributes) -> io::Result<()> {
    Ok(())
}

/// The access rights of a directory apply to its contents, too; nothing else is copied.
pub(super) fn keep_attributes(like: &Path, _: &Path) -> io::Result<()> {
    std::fs::symlink_metadata(like).map(drop)
}

pub(super) fn make_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// With the system's default access.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
