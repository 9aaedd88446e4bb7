//! The operating system as the store sees it: the interface [`Disk`] and its two implementations.
//!
//! [`RealDisk`] is this machine's filesystem (`unix` and `windows` hold what differs); [`FakeDisk`]
//! is one in memory that loses what was not synced. Both pass the conformance test `tests/disk.rs`.
//! Nothing else in this crate uses `std::fs`.
//!
//! Conventions: a symbolic link as the last component of a path is never followed. Data is on
//! stable storage after a sync of its file, a name after [`Disk::sync_dir`] of its directory.
//! Nothing is retried or buffered.

mod fake;
mod fake_file;
mod image;
#[cfg(unix)]
mod probe;
mod real;
#[cfg(unix)]
pub(crate) mod unix;
#[cfg(windows)]
pub(crate) mod windows;

use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::path::Path;

pub use crate::attributes::Attributes;
pub use fake::{FakeDisk, Fault};
pub use real::RealDisk;
#[cfg(unix)]
pub(crate) use unix as os;
#[cfg(windows)]
pub(crate) use windows as os;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It exists; for reading only.
    Read,
    /// It exists; for reading and writing.
    Write,
    /// It must not exist yet; for reading and writing, with the system's default access.
    Create,
    /// The same, accessible to its owner only.
    CreatePrivate,
}

/// The kind of a directory's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a device, a socket: the store touches none of them.
    Other,
}

/// Identifies a state of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The kind.
    pub kind: Kind,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Last change of the contents, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub changed_ns: i64,
    /// Allocated units of 512 bytes: 0 means that it is all zeros.
    pub blocks: u64,
}

impl Stamp {
    /// Whether `later` may be the same state: everything but the allocation is equal.
    #[must_use]
    pub fn same(&self, later: &Self) -> bool {
        Self { blocks: 0, ..*self }
            == Self {
                blocks: 0,
                ..*later
            }
    }
}

/// A moment by the machine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since 1970, as stamps have them.
    pub wall_ns: i64,
    /// Nanoseconds of a clock that cannot be set.
    pub steady_ns: i64,
    /// Different after every start of the machine.
    pub boot: [u8; 16],
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; names that are not UTF-8 are an error of [`Disk::list`].
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

/// An open file.
pub trait DiskFile: Send + Sync + Debug {
    /// Fills `buffer` from `offset` on, up to the end of the file; returns how many bytes there
    /// were.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. After an error any part of it may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts or extends (with zeros).
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// Syncs data and size to stable storage.
    fn sync_data(&self) -> io::Result<()>;
    /// Syncs also everything else of the file: its owner, its times.
    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }
    /// Its stamp now.
    fn stamp(&self) -> io::Result<Stamp>;
    /// Its attributes now; none where the system has none of this kind.
    fn attributes(&self) -> io::Result<Option<Attributes>> {
        Ok(None)
    }
    /// Gives it these attributes except for the time. What this process may not give away, or not
    /// with its access list, is then accessible to its owner only.
    fn set_attributes(&self, _attributes: &Attributes) -> io::Result<()> {
        Ok(())
    }
    /// Asks the system to overwrite the contents of this file, which is empty, where they are. Only
    /// time depends on it.
    fn overwrite_in_place(&self) {}
    /// Waits for the end of every write that began before, where the system can do so. A write
    /// changes the stamp when it begins.
    fn await_writes(&self);
}

/// The operating system.
pub trait Disk: Send + Sync + Debug {
    /// Opens a regular file; refuses a symbolic link.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// The stamp of `path`.
    fn stamp(&self, path: &Path) -> io::Result<Stamp>;
    /// Entries, sorted by name.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;
    /// Makes a directory in an existing one.
    fn make_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a directory that is accessible to its owner only.
    fn make_private_dir(&self, path: &Path) -> io::Result<()> {
        self.make_dir(path)
    }
    /// Gives a directory the owner, permissions, extended attributes and access lists of another
    /// one, as far as this process may and the system has them.
    fn keep_attributes(&self, _like: &Path, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Sets the time of the last change of a file's contents or a directory's names, in nanoseconds
    /// since 1970. Systems that cannot do so for directories leave them alone.
    fn set_modified(&self, _path: &Path, _ns: i64) -> io::Result<()> {
        Ok(())
    }
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Renames a file in one step, replacing an existing file.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Exchanges two names of files or directories in one step. `Unsupported` where the system
    /// cannot; then nothing was done.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;
    /// Makes a second name for a file.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes a new file that shares the extents of another. `Unsupported` where the filesystem
    /// cannot; then nothing was made.
    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Syncs the names in a directory to stable storage.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Syncs everything in the directory `path` to stable storage, names and contents at any depth.
    fn sync_beneath(&self, path: &Path) -> io::Result<()>;
    /// Whether every write changes a file's stamp, however soon it follows a look (multigrain
    /// stamps, Linux 6.13 and later). Tested in `dir`; in doubt the answer is no.
    fn stamps_are_exact(&self, dir: &Path) -> bool;
    /// Whether a store through a mapping changes the stamp of a file that was synced since the page
    /// was last stored to. Tested in `dir`; in doubt the answer is no.
    fn stamps_show_mappings(&self, dir: &Path) -> bool;
    /// Whether a write has changed its file's stamp when it returns. Where it has not, a file's
    /// times are right only once its writer has closed it, and stamps prove nothing.
    fn stamps_show_writes(&self) -> bool;
    /// Whether a file has other names than its own (in capitals, with a dot at the end, a short
    /// name), and whether some names are devices.
    fn names_alias(&self) -> bool;
    /// The current time.
    fn now(&self) -> Moment;
    /// Locks a file for this process until the result is dropped; `WouldBlock` when another one
    /// holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>>;
    /// Keeps callers of [`Disk::lock`] out until the result is dropped; the file must exist, and
    /// nothing is written. `WouldBlock` when one of them holds it.
    fn lock_to_read(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>>;
}
