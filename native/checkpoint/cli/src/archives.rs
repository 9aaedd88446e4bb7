//! Archives as files, around the library's streams.
//!
//! A file gets its name only when it is complete and synced. An existing file is never replaced.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::Path;

use paceline_checkpoint::Store;
use paceline_checkpoint::disk::{Disk, RealDisk};
use tempfile::NamedTempFile;

use crate::answer::{self, Answer};

/// Why a command failed, with advice.
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: impl std::fmt::Display, advice: &str) -> Self {
        Self(format!("{what}; {advice}"))
    }

    fn of(archive: &Path, error: &io::Error) -> Self {
        let advice = match error.kind() {
            io::ErrorKind::AlreadyExists => "choose another name: no file is replaced",
            io::ErrorKind::NotFound => "check the path",
            _ => "nothing of it was kept; see the system's message",
        };
        Self(format!("{}: {error}; {advice}", archive.display()))
    }
}

impl From<paceline_checkpoint::Error> for Failure {
    fn from(error: paceline_checkpoint::Error) -> Self {
        Self(error.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// # Errors
/// When the library or the system refuses; then there is no such file.
pub(crate) fn export(store: &Store, name: &str, archive: &Path) -> Result<Answer, Failure> {
    if archive == Path::new("-") {
        let exported = store.export(name, io::stdout().lock())?;
        return Ok(answer::exported(&exported, archive));
    }
    let of = |error: &io::Error| Failure::of(archive, error);
    if archive.symlink_metadata().is_ok() {
        return Err(of(&io::ErrorKind::AlreadyExists.into()));
    }
    let dir = archive
        .parent()
        .filter(|dir| !dir.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(dir).map_err(|error| of(&error))?;
    let exported = store.export(name, BufWriter::with_capacity(1 << 20, &mut file))?;
    file.as_file().sync_all().map_err(|error| of(&error))?;
    file.persist_noclobber(archive)
        .map_err(|failed| of(&failed.error))?;
    RealDisk.sync_dir(dir).map_err(|error| of(&error))?;
    Ok(answer::exported(&exported, archive))
}

/// Opens the archive and passes its bytes on.
///
/// # Errors
/// When the library or the system refuses.
pub(crate) fn read<T>(
    archive: &Path,
    take: impl FnOnce(Box<dyn Read>) -> paceline_checkpoint::Result<T>,
) -> Result<T, Failure> {
    if archive == Path::new("-") {
        return Ok(take(Box::new(io::stdin().lock()))?);
    }
    let file = File::open(archive).map_err(|error| Failure::of(archive, &error))?;
    Ok(take(Box::new(BufReader::with_capacity(1 << 20, file)))?)
}
