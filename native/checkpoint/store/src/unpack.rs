//! Reads an archive: what `export` writes, and nothing else that a tar can hold.
//!
//! The archive may come from anybody. Each path is compared with the one that the manifest
//! requires, and never followed. The caller (`import` or `adopt`) checks the ids and trusts no
//! bytes before.

use std::io::{self, Read};
use std::path::Path;

use crate::archive::{ARCHIVE, BANDS, Contents, MANIFEST};
use crate::error::{Error, ErrorKind, Result};
use crate::names::is_band;
use crate::record::BandAt;

/// The size of a manifest of some hundred thousand bands; more is not read.
const MANIFEST_MOST: u64 = 64 << 20;

/// Hands on the declared contents, then each band's bytes, in that order. If it succeeds, the
/// archive was complete.
pub(crate) fn unpack(
    archive: impl Read,
    begin: impl FnOnce(&Contents) -> Result<()>,
    mut take: impl FnMut(&str, &BandAt, &mut dyn Read) -> Result<()>,
) -> Result<Contents> {
    let mut archive = tar::Archive::new(archive);
    let mut entries = archive.entries().map_err(unreadable)?;
    let first = entries
        .next()
        .ok_or_else(|| Error::damaged("the archive is empty"))?;
    let contents = manifest(first.map_err(unreadable)?)?;
    begin(&contents)?;
    let mut due = contents.bands.iter();
    for entry in entries {
        let mut entry = entry.map_err(unreadable)?;
        let path = path_of(&entry)?;
        let next = due.next();
        let (name, band) = match next {
            Some((name, band)) if path == [BANDS, name].concat() => (name, band),
            _ => return Err(refusal(&path, &contents, next)),
        };
        if entry.size() != band.state.size {
            let (is, due) = (entry.size(), band.state.size);
            return Err(refused(format!(
                "{path:?}: {is} bytes where the manifest says {due}"
            )));
        }
        take(name, band, &mut entry)?;
    }
    if let Some((name, _)) = due.next() {
        return Err(Error::damaged(format!(
            "the archive ends before band {name:?}"
        )));
    }
    Ok(contents)
}

fn manifest<R: Read>(entry: tar::Entry<'_, R>) -> Result<Contents> {
    let path = path_of(&entry)?;
    if path != MANIFEST {
        return Err(refused(format!(
            "{path:?} comes first, where the manifest should be"
        )));
    }
    if entry.size() > MANIFEST_MOST {
        return Err(refused(format!("a manifest of {} bytes", entry.size())));
    }
    let mut bytes = Vec::new();
    entry
        .take(MANIFEST_MOST)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).ok();
    text.and_then(Contents::parse)
        .ok_or_else(|| Error::damaged("the archive's manifest is not whole"))
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

/// Why an entry is not the required one.
fn refusal(path: &str, contents: &Contents, due: Option<&(String, BandAt)>) -> Error {
    let known = |name: &str| contents.bands.iter().any(|(known, _)| known == name);
    let name = path.strip_prefix(BANDS);
    refused(match name {
        _ if path.starts_with(['/', '\\']) => format!("{path:?}: an absolute path"),
        _ if path.split(['/', '\\']).any(|part| part == "..") => {
            format!("{path:?}: leads out of its place")
        }
        Some(name) if is_band(name) && known(name) => match due {
            Some((due, _)) if due.as_str() < name => {
                format!("{path:?} where band {due:?} should follow")
            }
            _ => format!("{path:?}: a second time"),
        },
        _ => format!("{path:?}: not in the manifest"),
    })
}

fn refused(what: impl Into<String>) -> Error {
    let advice = "this is no archive that `export` wrote; nothing of it was kept";
    Error::new(ErrorKind::Refused, what, advice)
}

/// The error of the archive's reader: invalid bytes, or a failure of the system.
pub(crate) fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Other
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput => Error::damaged(format!("{ARCHIVE}: {error}")),
        _ => Error::io("reading", Path::new(ARCHIVE), error),
    }
}
