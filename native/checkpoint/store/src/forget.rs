//! Removes history: `prune` drops names, `fold` moves the base forward, `gc` deletes unused files.
//!
//! Nothing is deleted before the `CURRENT` that no longer needs it is durable (D7). [`crate::work`]
//! starts folds by itself.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::disk::{Disk, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::fold::{Folded, Folding};
use crate::record::Meta;
use crate::repair::DAMAGED;
use crate::segment::{spare, unfinished};
use crate::store::Store;

impl Store {
    /// Gives up the checkpoints of these names, durably. [`Store::fold`] frees their space.
    ///
    /// # Errors
    /// `NotFound` (then none is pruned), `Stopped`, `Io`.
    pub fn prune(&mut self, names: &[&str]) -> Result<()> {
        self.refuse_while_pending()?;
        let epochs: Result<BTreeSet<u64>> = names
            .iter()
            .map(|name| Ok(self.history.find(name)?.epoch))
            .collect();
        let epochs: Vec<u64> = epochs?.into_iter().collect();
        if epochs.is_empty() {
            return Ok(());
        }
        let epoch = self
            .log
            .append(Meta::Prune { epochs }, &[], self.history.sum())?;
        self.history.push(epoch);
        Ok(())
    }

    /// Moves the base to the oldest kept checkpoint and drops the log before it.
    ///
    /// # Errors
    /// `Damaged` when a band would get another id (then nothing changed), `Locked` while a job of
    /// this store is running, `Stopped`, `Io`.
    pub fn fold(&mut self) -> Result<Folded> {
        self.clear_away()?;
        self.work.parked = None; // started from the beginning
        let mut folded = Folded {
            epoch: self.history.fold_target(),
            ..Folded::default()
        };
        if let Some(mut folding) = Folding::plan(&self.history)? {
            while !folding.step()? {}
            folded = folding.folded;
            self.take_base(folding)?;
        }
        if self.history.head() == self.history.manifest.epoch {
            self.log.rotate()?; // all records are in the base, so the full segment can be removed
        }
        let segments = self.log.drop_until(self.history.manifest.epoch);
        folded.segments = segments.len() as u64;
        remove(self.disk.as_ref(), &segments)?;
        folded.files = self.sweep(false)?;
        Ok(folded)
    }

    /// Switches to the new base and returns the files of the old one.
    pub(crate) fn take_base(&mut self, folding: Folding) -> Result<Vec<PathBuf>> {
        let (manifest, old) = folding.place()?;
        let target = manifest.epoch;
        // After a failure it is unknown which of the two counts, so no file of either may be
        // removed.
        self.disk
            .sync_dir(&self.root)
            .doing("syncing", &self.root)
            .inspect_err(|_| self.log.stop())?;
        // The old files stay until the copy of `CURRENT` names the new base, too; after a failure
        // the next opening finds out which one counts.
        manifest
            .copy(self.disk.as_ref(), &self.root)
            .inspect_err(|_| self.log.stop())?;
        self.history.manifest = manifest;
        self.history.epochs.retain(|epoch| epoch.number > target);
        Ok(old)
    }

    /// Removes files that the store does not need, and returns how many: files of a base that
    /// `CURRENT` does not name, files left by jobs in the log's directory or moved aside by a
    /// repair, an index that an older version did not rename, and the log's spare segment, which
    /// can be made again.
    ///
    /// # Errors
    /// `Locked` while a job of this store is running, `Stopped`, `Io`.
    pub fn gc(&mut self) -> Result<u64> {
        self.sweep(true)
    }

    pub(crate) fn sweep(&mut self, spares: bool) -> Result<u64> {
        self.clear_away()?;
        self.work.parked = None;
        let base = self.root.join("base");
        let named: BTreeSet<&str> = self
            .history
            .manifest
            .bands
            .iter()
            .map(|band| band.file.as_str())
            .collect();
        let entries = self.disk.list(&base).doing("listing", &base)?;
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        let unnamed = files.filter(|entry| !named.contains(entry.name.as_str()));
        let mut unnamed: Vec<PathBuf> = unnamed.map(|entry| base.join(&entry.name)).collect();
        let log = self.root.join("log");
        unnamed.extend(unfinished(self.disk.as_ref(), &log));
        let damaged = self.root.join(DAMAGED);
        let aside = self.disk.list(&damaged).unwrap_or_default();
        unnamed.extend(
            aside
                .into_iter()
                .filter(|_| spares)
                .map(|entry| damaged.join(entry.name)),
        );
        let index = self.root.join("INDEX.new");
        unnamed.extend(Some(index).filter(|path| self.disk.stamp(path).is_ok()));
        unnamed.extend(spare(self.disk.as_ref(), &log).filter(|_| spares));
        remove(self.disk.as_ref(), &unnamed)?;
        Ok(unnamed.len() as u64)
    }

    /// Removes files that jobs left; their names may be used again. A running job may be writing
    /// what the caller would remove, or removing what it would count.
    pub(crate) fn clear_away(&mut self) -> Result<()> {
        self.refuse_while_pending()?;
        self.log.refuse_if_stopped()?;
        if self.work.is_out() {
            let what = "work in the background has not come back";
            return Err(Error::new(
                ErrorKind::Locked,
                what,
                "stop it, or wait until `status` shows none",
            ));
        }
        remove(
            self.disk.as_ref(),
            &std::mem::take(&mut self.work.leftovers),
        )
    }
}

/// Removes files one after the other; files that are already gone are fine.
pub(crate) fn remove(disk: &dyn Disk, paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| match disk.remove(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.doing("removing", path),
    })
}
