//! The operating system as the store sees it: the interface [`Disk`] and its two implementations.
//!
//! [`RealDisk`] is this machine's filesystem (`unix` and `windows` hold what differs), [`FakeDisk`]
//! is one in memory that loses what was not synced. Both pass the conformance test `tests/disk.rs`.
//! Nothing else in this crate uses `std::fs`.
//!
//! Conventions: the last component of a path is never followed when it is a symbolic link. Data is
//! on stable storage after a sync of its file, a name after [`Disk::sync_dir`] of its directory. No
//! retries, no buffering.

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod each;
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

pub use fake::{FakeDisk, Fault};
pub use real::RealDisk;
#[cfg(unix)]
pub(crate) use unix as os;
#[cfg(windows)]
pub(crate) use windows as os;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It exists and is only read.
    Read,
    /// It exists and is read and written.
    Write,
    /// It must not exist yet; read and written. As the system makes files.
    Create,
    /// The same, for nobody but its owner.
    CreatePrivate,
}

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a device, a socket: nothing the store touches.
    Other,
}

/// What identifies a state of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// What it is.
    pub kind: Kind,
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// Last change of the contents, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Last change of the inode, nanoseconds since 1970.
    pub changed_ns: i64,
    /// Units of 512 bytes that are allocated: 0 means that it is all zeros.
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

/// One moment by the machine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since 1970, as stamps have them.
    pub wall_ns: i64,
    /// Nanoseconds of a clock that nobody sets.
    pub steady_ns: i64,
    /// Different after every start of the machine.
    pub boot: [u8; 16],
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; names that are not UTF-8 are an error of [`Disk::list`].
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// An open file.
pub trait DiskFile: Send + Sync + Debug {
    /// Fills `buffer` from `offset` on, up to the end of the file; answers how many bytes there were.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. After an error any part of it may be written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Cuts or extends (with zeros).
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// Data and size reach stable storage.
    fn sync_data(&self) -> io::Result<()>;
    /// The same, and everything else of the file: whose it is, its times.
    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }
    /// Its stamp now.
    fn stamp(&self) -> io::Result<Stamp>;
    /// Waits until every write that began before has ended, where the system can say so. A write moves the
    /// stamp when it begins.
    fn await_writes(&self);
}

/// The operating system.
pub trait Disk: Send + Sync + Debug {
    /// Opens a regular file; a symbolic link is refused.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;
    /// The stamp of what `path` names.
    fn stamp(&self, path: &Path) -> io::Result<Stamp>;
    /// Entries, sorted by name.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;
    /// Makes a directory; its parent exists.
    fn make_dir(&self, path: &Path) -> io::Result<()>;
    /// The same, for nobody but its owner.
    fn make_private_dir(&self, path: &Path) -> io::Result<()> {
        self.make_dir(path)
    }
    /// Makes `path` belong to whom `like` belongs, with the same permissions, extended attributes and access
    /// lists, as far as this process may and the system has them. A file like a directory gets what others
    /// may do with the directory's contents.
    fn keep_attributes(&self, _like: &Path, _path: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Sets the time at which the contents of a file, or the names of a directory, last changed, in
    /// nanoseconds since 1970. Systems that cannot say so of a directory leave it alone.
    fn set_modified(&self, _path: &Path, _ns: i64) -> io::Result<()> {
        Ok(())
    }
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Renames a file over whatever file has the name, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Two names, of files or directories, change places in one step. `Unsupported` where the system cannot;
    /// then nothing was done.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;
    /// A second name for a file.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// A new file that shares the extents of another. `Unsupported` where the filesystem cannot; then
    /// nothing was made.
    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// The names in a directory reach stable storage.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Everything in the directory `path` reaches stable storage, names and contents, however deep.
    fn sync_beneath(&self, path: &Path) -> io::Result<()>;
    /// Whether a write after a look at a file always moves its stamp, however soon it follows (multigrain
    /// stamps, Linux 6.13 and later). Tried out in `dir`; when in doubt the answer is no.
    fn stamps_are_exact(&self, dir: &Path) -> bool;
    /// Whether a store through a mapping moves the stamp of a file that was synced since the page was last
    /// stored to. Tried out in `dir`; when in doubt the answer is no.
    fn stamps_show_mappings(&self, dir: &Path) -> bool;
    /// Whether a write has moved its file's stamp when it returns. Where it has not, the times of a file are
    /// only right once its writer has closed it, and stamps vouch for nothing.
    fn stamps_show_writes(&self) -> bool;
    /// Whether a file can be had by other names than the one that it was given: in capitals, with a dot at
    /// the end, by a short name; and whether some names are of devices.
    fn names_alias(&self) -> bool;
    /// Now.
    fn now(&self) -> Moment;
    /// Holds a file for this process until the answer is dropped; `WouldBlock` when another one holds it.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>>;
    /// Keeps those out that call [`Disk::lock`], until the answer is dropped; the file exists, and nothing is
    /// written. `WouldBlock` when one of those holds it.
    fn lock_to_read(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>>;
}
