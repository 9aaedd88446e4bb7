//! Puts `swap/` in live's place and clears up afterwards, also after an interrupted rollback.
//!
//! ```text
//! swap/ ⇄ live                                           where the system exchanges names; elsewhere
//! live ─▶ replaced/, swap/ ─▶ live, replaced/ ─▶ swap/   three renames, each of a whole directory
//! ─▶ sync both parents ─▶ remove swap/                   in both cases
//! ```
//! A directory is emptied only under the name `swap`, and only once it is durable that live is
//! another one (D9). `replaced/` is the complete previous live. If it exists without live, the
//! renames were interrupted and it becomes live again; if it exists without `swap/`, the new state
//! is live. An error between the first two renames undoes the first, and so does the next opening
//! after a crash. If somebody made another directory in live's place meanwhile, it stays, and the
//! store is refused until it is moved away.

use std::io;
use std::path::Path;

use crate::disk::{Kind, os};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::restore::parent;
use crate::store::Store;

impl Store {
    /// Makes `swap/` live; [`Store::remove_swap`] does the rest.
    pub(crate) fn put_in_place(&self) -> Result<()> {
        let (swap, replaced) = (self.root.join("swap"), self.root.join("replaced"));
        match self.disk.exchange(&swap, &self.live) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            exchanged => return exchanged.doing("exchanging", &self.live),
        }
        self.disk.rename(&self.live, &replaced).map_err(|error| {
            if error.kind() != io::ErrorKind::PermissionDenied && !os::is_held_elsewhere(&error) {
                return Error::io("moving", &self.live, error);
            }
            let what = format!("{}: cannot be moved away: {error}", self.live.display());
            Error::new(
                ErrorKind::Refused,
                what,
                "close its bands wherever they are open, then try again",
            )
        })?;
        self.disk.rename(&swap, &self.live).map_err(|error| {
            if self.disk.rename(&replaced, &self.live).is_ok() {
                return Error::io("moving", &swap, error);
            }
            let what = format!(
                "{}: lies in {} now: {error}",
                self.live.display(),
                replaced.display()
            );
            Error::new(
                ErrorKind::Io,
                what,
                "open the store again, which moves it back where nothing has its name",
            )
        })
    }

    /// Removes what a rollback left: the new state if it did not become live, else the old one,
    /// which is a checkpoint. It waits until the exchange is durable, because otherwise a power
    /// loss could bring back the emptied directory as live.
    pub(crate) fn remove_swap(&mut self) -> Result<()> {
        let swap = self.root.join("swap");
        self.end_renames(&swap)?;
        if self
            .disk
            .stamp(&swap)
            .is_ok_and(|stamp| stamp.kind != Kind::Directory)
        {
            let what = format!("{}: not a directory", swap.display());
            return Err(Error::new(
                ErrorKind::Refused,
                what,
                "remove it: the store did not make it",
            ));
        }
        let entries = match self.disk.list(&swap) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed.doing("listing", &swap)?,
        };
        self.disk
            .sync_dir(parent(&self.root))
            .doing("syncing", &self.live)?;
        self.disk
            .sync_dir(&self.root)
            .doing("syncing", &self.root)?;
        for entry in entries {
            let path = swap.join(&entry.name);
            self.disk.remove(&path).doing("removing", &path)?;
        }
        self.disk.remove_dir(&swap).doing("removing", &swap)
    }

    /// Finishes or undoes the renames of a rollback.
    fn end_renames(&self, swap: &Path) -> Result<()> {
        let replaced = self.root.join("replaced");
        if !self.is_there(&replaced)? {
            return Ok(());
        }
        let live = self.is_there(&self.live)?;
        if !live && !self.is_there(swap)? {
            let what = format!(
                "{}: not there, and its rollback had ended",
                self.live.display()
            );
            let advice = "put back what a rollback had put there; `replaced` in the store is what was before";
            return Err(Error::new(ErrorKind::Refused, what, advice));
        }
        if !live {
            return self
                .disk
                .rename(&replaced, &self.live)
                .doing("moving back", &self.live);
        }
        if !self.is_there(swap)? {
            return self.disk.rename(&replaced, swap).doing("moving", &replaced);
        }
        let what = format!(
            "{}: was made while a rollback was cut short; what it was is in {}",
            self.live.display(),
            replaced.display()
        );
        Err(Error::new(
            ErrorKind::Refused,
            what,
            "move it away and open the store again, which moves that back",
        ))
    }

    fn is_there(&self, path: &Path) -> Result<bool> {
        match self.disk.stamp(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("looking at", path, error)),
        }
    }
}
