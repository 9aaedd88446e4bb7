//! Syncing a directory file by file, for systems whose sync of a whole filesystem promises nothing.

use std::io;
use std::path::Path;

use super::real::list;
use super::{Access, Kind, os};

/// See [`super::Disk::sync_beneath`].
pub(super) fn sync_beneath(path: &Path) -> io::Result<()> {
    for entry in list(path)? {
        let path = path.join(entry.name);
        match entry.kind {
            Kind::Directory => sync_beneath(&path)?,
            Kind::File => os::open(&path, Access::Write)?.sync_all()?,
            Kind::Other => {}
        }
    }
    os::sync_dir(path)
}
