//! This machine's filesystem.
//!
//! Invariant: every call is one system call of the same meaning (reads and writes are repeated until they
//! are whole). It decides nothing.

use std::any::Any;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Access, Disk, DiskFile, Entry, Kind, Moment, Stamp, probe};

/// The real [`Disk`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

#[derive(Debug)]
struct RealFile(File);

pub(super) fn stamp_of(meta: &fs::Metadata) -> Stamp {
    let kind = if meta.is_file() {
        Kind::File
    } else if meta.is_dir() {
        Kind::Directory
    } else {
        Kind::Other
    };
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    Stamp {
        kind,
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.len(),
        modified_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
        changed_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        blocks: meta.blocks(),
    }
}

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Ok(stamp_of(&self.0.metadata()?))
    }

    fn await_writes(&self) {
        // A buffered write holds the inode's lock to its end, and asking where data begins takes it, too
        // (ext4, btrfs, tmpfs); xfs takes it for every reading. There may be no data: no matter.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = rustix::fs::seek(&self.0, rustix::fs::SeekFrom::Data(0));
    }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(access != Access::Read).create_new(access == Access::Create);
        // Non-blocking: a band that became a pipe must not hang the store. It means nothing for files.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(RealFile(file)))
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        Ok(stamp_of(&fs::symlink_metadata(path)?))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name().into_string().map_err(|name| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("the name {} is not UTF-8", name.display()),
                )
            })?;
            let kind = match (kind.is_file(), kind.is_dir()) {
                (true, _) => Kind::File,
                (_, true) => Kind::Directory,
                _ => Kind::Other,
            };
            entries.push(Entry { name, kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
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
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        let source = File::open(from)?;
        let target = OpenOptions::new().write(true).create_new(true).open(to)?;
        let cloned = rustix::fs::ioctl_ficlone(&target, &source);
        cloned.map_err(|error| {
            // The empty file was never named to anybody; were it left, the caller could not copy there.
            let _ = fs::remove_file(to);
            match error {
                rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::XDEV | rustix::io::Errno::INVAL => {
                    io::ErrorKind::Unsupported.into()
                }
                other => other.into(),
            }
        })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn clone_file(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn sync_beneath(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(path)?)?)
    }

    /// `sync` need not wait for anything outside of Linux, so each file is asked for (on macOS by
    /// `F_FULLFSYNC`, which `sync_all` is there).
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn sync_beneath(&self, path: &Path) -> io::Result<()> {
        for entry in self.list(path)? {
            let path = path.join(entry.name);
            match entry.kind {
                Kind::Directory => self.sync_beneath(&path)?,
                Kind::File => File::open(&path)?.sync_all()?,
                Kind::Other => {}
            }
        }
        self.sync_dir(path)
    }

    fn stamps_are_exact(&self, dir: &Path) -> bool {
        probe::tried(dir, probe::stamps_are_exact)
    }

    fn stamps_show_mappings(&self, dir: &Path) -> bool {
        probe::tried(dir, probe::stamps_show_mappings)
    }

    fn now(&self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let steady = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Moment {
            wall_ns: i64::try_from(wall).unwrap_or(i64::MAX),
            steady_ns: steady.tv_sec.saturating_mul(1_000_000_000).saturating_add(steady.tv_nsec),
            boot: boot(),
        }
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(fs::TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Linux names each boot. Elsewhere all boots are one, which is never believed (`index::Index`).
fn boot() -> [u8; 16] {
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
