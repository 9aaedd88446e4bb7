//! Errors of the store, with advice.

use std::fmt;
use std::io;
use std::path::Path;

use crate::disk::os;

/// The kind of a failure, for callers to decide by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The system refused or failed; [`Error::source`](std::error::Error::source) has its error.
    Io,
    /// What is stored contradicts itself.
    Damaged,
    /// There is no such checkpoint, band or store.
    NotFound,
    /// The name is taken.
    Exists,
    /// A band kept changing while it was read.
    Torn,
    /// The store does not do what was requested.
    Refused,
    /// An earlier sync failed, or a checkpoint was dropped while it was being appended; nothing is
    /// written until the store is opened again.
    Stopped,
    /// Another process has the store open, or in this one a checkpoint beside the store or a
    /// background job is running.
    Locked,
}

/// A failure of the store.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    what: String,
    advice: &'static str,
    source: Option<io::Error>,
}

/// The store's results.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, what: impl Into<String>, advice: &'static str) -> Self {
        Self {
            kind,
            what: what.into(),
            advice,
            source: None,
        }
    }

    /// The same error with better advice.
    pub(crate) fn advising(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::new(
            ErrorKind::Damaged,
            what,
            "run `verify`; keep what verifies, restore the rest from elsewhere",
        )
    }

    pub(crate) fn io(doing: &str, path: &Path, source: io::Error) -> Self {
        let advice = match source.kind() {
            _ if os::is_held_elsewhere(&source) => {
                "another program has it open and shares it with nobody; close it there, then try again"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free space (`prune` and `gc` do), then try again; nothing was lost"
            }
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                "the store and its bands must be writable; check the mount and the owner"
            }
            io::ErrorKind::NotFound => {
                "it was removed or renamed meanwhile; check the path and try again"
            }
            _ if os::is_link(&source) => "a band must be a regular file; remove the symbolic link",
            _ => "nothing that was reported is lost; see the system's message",
        };
        let what = format!("{doing} {}: {source}", path.display());
        Self {
            kind: ErrorKind::Io,
            what,
            advice,
            source: Some(source),
        }
    }

    /// The kind of the failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The system's error kind, if the system failed.
    #[must_use]
    pub fn system(&self) -> Option<io::ErrorKind> {
        self.source.as_ref().map(io::Error::kind)
    }

    /// Whether the opened file is no longer a plain file.
    pub(crate) fn is_of_another_kind(&self) -> bool {
        self.source.as_ref().is_some_and(|source| {
            os::is_link(source)
                || matches!(
                    source.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory
                )
        })
    }

    /// Returns what happened, without the advice.
    pub(crate) fn what(&self) -> String {
        self.what.clone()
    }

    /// Returns what to do next.
    #[must_use]
    pub fn advice(&self) -> &str {
        self.advice
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.advice)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}

/// Adds to a system error what was done to which path.
pub(crate) trait Doing<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: &str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(what, path, source))
    }
}
