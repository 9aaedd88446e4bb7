//! Creates a store and its bands from an archive.
//!
//! ```text
//! DIR.paceline/swap/ ─ each band written, checked, synced ─▶ sync swap/ ─▶ rename to DIR, sync
//!    ─▶ base, log, CURRENT as for any new store
//! ```
//! The archive may come from anybody; `unpack` reads it. A failed import leaves nothing behind. If
//! the machine stops, DIR does not exist, or is complete with or without a store. For existing
//! stores there is `adopt`.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::create::{begin, make_empty, refuse_store};
use crate::disk::{Access, Disk, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::pages::{LEAF, index};
use crate::record::BandAt;
use crate::restore::parent;
use crate::store::{Options, Store, refuse_nameless, store_path};
use crate::unpack::{unpack, unreadable};

impl Store {
    /// Makes a directory of bands and its store from an archive that [`Store::export`] wrote. The
    /// first checkpoint has the archive's name and time.
    ///
    /// # Errors
    /// `Exists` when there is a directory or a store already; `Refused` for an archive with
    /// anything but the bands of its manifest; `Damaged` when it is incomplete or a band has
    /// another id; `Io`.
    pub fn import(
        disk: Arc<dyn Disk>,
        live: &Path,
        options: Options,
        archive: impl Read,
    ) -> Result<Self> {
        refuse_nameless(live)?;
        let root = store_path(live);
        refuse_store(disk.as_ref(), &root)?;
        if disk.stamp(live).is_ok() {
            let what = format!("{}: there is something already", live.display());
            return Err(Error::new(
                ErrorKind::Exists,
                what,
                "import makes a new directory: choose another",
            ));
        }
        let lock = begin(disk.as_ref(), &root)?;
        let (mut placed, port) = (false, Arc::clone(&disk));
        let made = take(port.as_ref(), live, archive, &mut placed)
            .and_then(|named| Self::create_in(disk, live, options, named, lock));
        if made.is_err() {
            // A directory that somebody else made meanwhile is theirs.
            remove_all(port.as_ref(), placed.then_some(live), &root);
        }
        made
    }
}

/// Unpacks the bands of the archive. Live is durable when this returns; `placed` is set as soon as
/// it has its name. Returns name and time.
fn take(
    disk: &dyn Disk,
    live: &Path,
    archive: impl Read,
    placed: &mut bool,
) -> Result<(String, Option<i64>)> {
    let root = store_path(live);
    let swap = root.join("swap");
    make_empty(disk, &swap, disk.make_dir(&swap))?; // becomes live
    let contents = unpack(
        archive,
        |it| it.check_names(disk),
        |name, band, bytes| take_band(disk, bytes, &swap.join(name), band),
    )?;
    disk.sync_dir(&swap).doing("syncing", &swap)?;
    disk.rename(&swap, live).doing("placing", live)?;
    *placed = true;
    disk.sync_dir(&root).doing("syncing", &root)?;
    disk.sync_dir(parent(&root)).doing("syncing", &root)?;
    Ok((contents.name, Some(contents.created_ns)))
}

/// Writes a band, with zeros as holes, and checks what it wrote. It gets the rights that the
/// archive says, and stays its owner's alone where that says none.
fn take_band(disk: &dyn Disk, entry: &mut dyn Read, path: &Path, band: &BandAt) -> Result<()> {
    let state = band.state;
    let file = disk
        .open(path, Access::CreatePrivate)
        .doing("making", path)?;
    file.set_len(state.size).doing("making", path)?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; index((16 * LEAF).min(state.size.max(1)))];
    let mut at = 0;
    while at < state.size {
        let count = buffer.len().min(index(state.size - at));
        entry.read_exact(&mut buffer[..count]).map_err(unreadable)?;
        hasher.update(&buffer[..count]);
        if buffer[..count].iter().any(|byte| *byte != 0) {
            file.write_at(&buffer[..count], at).doing("writing", path)?;
        }
        at += count as u64;
    }
    if *hasher.finalize().as_bytes() != state.id {
        let name = path.file_name().unwrap_or_default().display();
        return Err(Error::damaged(format!(
            "band {name} of the archive has another id"
        )));
    }
    if let Some(attributes) = &band.attributes {
        file.set_attributes(attributes)
            .doing("setting the rights of", path)?;
        disk.set_modified(path, attributes.modified_ns)
            .doing("setting the time of", path)?;
    }
    file.sync_all().doing("syncing", path)
}

/// Removes what a failed import made. Best effort: the caller needs the failure itself, and the
/// next `import` or `init` begins by emptying the same places.
fn remove_all(disk: &dyn Disk, live: Option<&Path>, root: &Path) {
    // CURRENT first: without it there is no store, whatever else remains.
    let _ = disk.remove(&root.join("CURRENT"));
    let parts = ["swap", "log", "base", "trees"].map(|part| root.join(part));
    for dir in parts
        .iter()
        .map(std::path::PathBuf::as_path)
        .chain(live)
        .chain([root])
    {
        for entry in disk.list(dir).unwrap_or_default() {
            if entry.kind == Kind::File {
                let _ = disk.remove(&dir.join(entry.name));
            }
        }
        let _ = disk.remove_dir(dir);
    }
}
