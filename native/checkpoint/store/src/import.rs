//! A store from an archive: bands and a first checkpoint that are what some other store exported.
//!
//! ```text
//! DIR.paceline/swap/ ─ each band written, checked, synced ─▶ sync swap/ ─▶ rename to DIR, sync
//!    ─▶ base, log, CURRENT as for any new store
//! ```
//! Invariant: the archive is whatever somebody sent. A path in it is compared with the one that the manifest
//! makes due, and never followed; a band is named only after its bytes had its id. When an import fails,
//! nothing of it is left; when the machine stops, DIR is not there, or whole and without a store, or all of
//! it is there. Absent on purpose: unpacking of anything else that a tar can hold.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use crate::archive::{ARCHIVE, BANDS, Contents, MANIFEST};
use crate::create::{begin, make_empty, refuse_store};
use crate::disk::{Access, Disk, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::names::is_band;
use crate::pages::{LEAF, index};
use crate::record::BandState;
use crate::restore::parent;
use crate::store::{Options, Store, store_path};

/// A manifest of some hundred thousand bands; more is not read.
const MANIFEST_MOST: u64 = 64 << 20;

impl Store {
    /// Makes a directory of bands and its store from an archive that [`Store::export`] wrote. The first
    /// checkpoint has the archive's name and time.
    ///
    /// # Errors
    /// `Exists` when there is a directory or a store already; `Refused` for an archive with anything in it
    /// but the bands of its manifest; `Damaged` when it is not whole or a band has another id; `Io`.
    pub fn import(disk: Arc<dyn Disk>, live: &Path, options: Options, archive: impl Read) -> Result<Self> {
        let root = store_path(live);
        refuse_store(disk.as_ref(), &root)?;
        if disk.stamp(live).is_ok() {
            let what = format!("{}: there is something already", live.display());
            return Err(Error::new(ErrorKind::Exists, what, "import makes a new directory: choose another"));
        }
        let lock = begin(disk.as_ref(), &root)?;
        let (mut placed, port) = (false, Arc::clone(&disk));
        let made = take(port.as_ref(), live, archive, &mut placed)
            .and_then(|named| Self::found(disk, live, options, named, lock));
        if made.is_err() {
            // A directory that somebody else made meanwhile is theirs.
            remove_all(port.as_ref(), placed.then_some(live), &root);
        }
        made
    }
}

/// Takes the bands out of the archive; live is there, durable, when it returns, and `placed` as soon as it
/// has its name. Answers name and time.
fn take(
    disk: &dyn Disk,
    live: &Path,
    archive: impl Read,
    placed: &mut bool,
) -> Result<(String, Option<i64>)> {
    let root = store_path(live);
    let swap = root.join("swap");
    make_empty(disk, &swap)?;
    let mut archive = tar::Archive::new(archive);
    let mut entries = archive.entries().map_err(unreadable)?;
    let first = entries.next().ok_or_else(|| Error::damaged("the archive is empty"))?;
    let contents = manifest(first.map_err(unreadable)?)?;
    let mut due = contents.bands.iter();
    for entry in entries {
        let mut entry = entry.map_err(unreadable)?;
        let path = path_of(&entry)?;
        let next = due.next();
        let (name, state) = match next {
            Some((name, state)) if path == [BANDS, name].concat() => (name, *state),
            _ => return Err(refusal(&path, &contents, next)),
        };
        if entry.size() != state.size {
            let (is, due) = (entry.size(), state.size);
            return Err(refused(format!("{path:?}: {is} bytes where the manifest says {due}")));
        }
        take_band(disk, &mut entry, &swap.join(name), state)?;
    }
    if let Some((name, _)) = due.next() {
        return Err(Error::damaged(format!("the archive ends before band {name:?}")));
    }
    disk.sync_dir(&swap).doing("syncing", &swap)?;
    disk.rename(&swap, live).doing("placing", live)?;
    *placed = true;
    disk.sync_dir(&root).doing("syncing", &root)?;
    disk.sync_dir(parent(&root)).doing("syncing", &root)?;
    Ok((contents.name, Some(contents.created_ns)))
}

fn manifest<R: Read>(entry: tar::Entry<'_, R>) -> Result<Contents> {
    let path = path_of(&entry)?;
    if path != MANIFEST {
        return Err(refused(format!("{path:?} comes first, where the manifest should be")));
    }
    if entry.size() > MANIFEST_MOST {
        return Err(refused(format!("a manifest of {} bytes", entry.size())));
    }
    let mut bytes = Vec::new();
    entry.take(MANIFEST_MOST).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).ok();
    text.and_then(Contents::parse).ok_or_else(|| Error::damaged("the archive's manifest is not whole"))
}

/// The path of an entry that is a plain file.
fn path_of<R: Read>(entry: &tar::Entry<'_, R>) -> Result<String> {
    let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let kind = match entry.header().entry_type() {
        tar::EntryType::Regular | tar::EntryType::GNUSparse => return Ok(path),
        tar::EntryType::Symlink => "a symbolic link",
        tar::EntryType::Link => "a hard link",
        tar::EntryType::Directory => "a directory",
        _ => "no plain file",
    };
    Err(refused(format!("{path:?}: {kind}")))
}

/// Why an entry is not the one that is due.
fn refusal(path: &str, contents: &Contents, due: Option<&(String, BandState)>) -> Error {
    let known = |name: &str| contents.bands.iter().any(|(known, _)| known == name);
    let name = path.strip_prefix(BANDS);
    refused(match name {
        _ if path.starts_with(['/', '\\']) => format!("{path:?}: an absolute path"),
        _ if path.split(['/', '\\']).any(|part| part == "..") => format!("{path:?}: leads out of its place"),
        Some(name) if is_band(name) && known(name) => match due {
            Some((due, _)) if due.as_str() < name => format!("{path:?} where band {due:?} should follow"),
            _ => format!("{path:?}: a second time"),
        },
        _ => format!("{path:?}: not in the manifest"),
    })
}

fn refused(what: impl Into<String>) -> Error {
    let advice = "this is no archive that `export` wrote; nothing of it was kept";
    Error::new(ErrorKind::Refused, what, advice)
}

/// What the reader of the archive says: that the bytes make no sense, or that the system failed.
fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Other
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput => Error::damaged(format!("{ARCHIVE}: {error}")),
        _ => Error::io("reading", Path::new(ARCHIVE), error),
    }
}

/// Writes a band, with zeros as holes, and checks what it wrote.
fn take_band(disk: &dyn Disk, entry: &mut impl Read, path: &Path, state: BandState) -> Result<()> {
    let file = disk.open(path, Access::Create).doing("making", path)?;
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
        return Err(Error::damaged(format!("band {name} of the archive has another id")));
    }
    file.sync_data().doing("syncing", path)
}

/// Takes back what a failed import made. Best effort: the failure itself is what the caller hears of, and
/// the next `import` or `init` begins by emptying the same places.
fn remove_all(disk: &dyn Disk, live: Option<&Path>, root: &Path) {
    // CURRENT first: without it there is no store, whatever else remains.
    let _ = disk.remove(&root.join("CURRENT"));
    let parts = ["swap", "log", "base", "trees"].map(|part| root.join(part));
    for dir in parts.iter().map(std::path::PathBuf::as_path).chain(live).chain([root]) {
        for entry in disk.list(dir).unwrap_or_default() {
            if entry.kind == Kind::File {
                let _ = disk.remove(&dir.join(entry.name));
            }
        }
        let _ = disk.remove_dir(dir);
    }
}
