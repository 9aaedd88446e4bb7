//! The implementation of [`super::Disk`] on this machine's filesystem.
//!
//! Every call is one system call of the same meaning (reads and writes repeat until complete), or
//! the nearest one that the system has: `unix` and `windows` document the differences.

use std::any::Any;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Access, Attributes, Disk, DiskFile, Entry, Kind, Moment, Stamp, os};

/// The real [`Disk`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

pub(super) fn kind_of(kind: FileType) -> Kind {
    match (kind.is_file(), kind.is_dir()) {
        (true, _) => Kind::File,
        (_, true) => Kind::Directory,
        _ => Kind::Other,
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match os::read_some_at(&self.0, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match os::write_some_at(&self.0, &bytes[written..], offset + written as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn stamp(&self) -> io::Result<Stamp> {
        os::stamp_of(&self.0)
    }

    fn attributes(&self) -> io::Result<Option<Attributes>> {
        os::attributes(&self.0)
    }

    fn set_attributes(&self, attributes: &Attributes) -> io::Result<()> {
        os::set_attributes(&self.0, attributes)
    }

    fn overwrite_in_place(&self) {
        os::overwrite_in_place(&self.0);
    }

    fn await_writes(&self) {
        os::await_writes(&self.0);
    }
}

pub(super) fn list(dir: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = kind_of(entry.file_type()?);
        let name = entry.file_name().into_string().map_err(|name| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the name {} is not UTF-8", name.display()),
            )
        })?;
        entries.push(Entry { name, kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// [`Disk::sync_beneath`] file by file, for systems whose sync of a whole filesystem guarantees
/// nothing.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn sync_each_beneath(path: &Path) -> io::Result<()> {
    for entry in list(path)? {
        let path = path.join(entry.name);
        match entry.kind {
            Kind::Directory => sync_each_beneath(&path)?,
            Kind::File => os::open(&path, Access::Write)?.sync_all()?,
            Kind::Other => {}
        }
    }
    os::sync_dir(path)
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let file = os::open(path, access)?;
        if os::stamp_of(&file)?.kind != Kind::File {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(Box::new(RealFile(file)))
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        os::stamp_at(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        list(dir)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn make_private_dir(&self, path: &Path) -> io::Result<()> {
        os::make_private_dir(path)
    }

    fn keep_attributes(&self, like: &Path, path: &Path) -> io::Result<()> {
        os::keep_attributes(like, path)
    }

    fn set_modified(&self, path: &Path, ns: i64) -> io::Result<()> {
        os::set_modified(path, ns)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        os::exchange(a, b)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        os::clone_file(from, to)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        os::sync_dir(dir)
    }

    fn sync_beneath(&self, path: &Path) -> io::Result<()> {
        os::sync_beneath(path)
    }

    fn stamps_are_exact(&self, dir: &Path) -> bool {
        os::stamps_are_exact(dir)
    }

    fn stamps_show_mappings(&self, dir: &Path) -> bool {
        os::stamps_show_mappings(dir)
    }

    fn stamps_show_writes(&self) -> bool {
        os::STAMPS_SHOW_WRITES
    }

    fn names_alias(&self) -> bool {
        os::NAMES_ALIAS
    }

    fn now(&self) -> Moment {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let wall_ns = i64::try_from(wall).unwrap_or(i64::MAX);
        Moment {
            wall_ns,
            steady_ns: os::steady_ns(),
            boot: os::boot(),
        }
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        let file =
            os::private(OpenOptions::new().create(true).truncate(false).write(true)).open(path)?;
        let locked = file.try_lock();
        held(file, locked)
    }

    fn lock_to_read(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        let file = File::open(path)?;
        let locked = file.try_lock_shared();
        held(file, locked)
    }
}

fn held(
    file: File,
    locked: Result<(), fs::TryLockError>,
) -> io::Result<Box<dyn Any + Send + Sync>> {
    match locked {
        Ok(()) => Ok(Box::new(file)),
        Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}
