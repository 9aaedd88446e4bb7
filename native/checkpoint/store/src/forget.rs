//! Removes history: `prune` drops names, `fold` moves the base forward, `gc` deletes unused files.
//!
//! Nothing is deleted before the `CURRENT` that no longer needs it is durable (D7). Folds that
//! nobody asked for are in [`crate::work`].

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
    /// Checkpoints of these names are no longer wanted. Durable when it returns; space comes back by
    /// [`Store::fold`].
    ///
    /// # Errors
    /// `NotFound` (then none is pruned), `Stopped`, `Io`.
    pub fn prune(&mut self, names: &[&str]) -> Result<()> {
        self.refuse_while_pending()?;
        let found: Result<BTreeSet<u64>> = names
            .iter()
            .map(|name| Ok(self.history.find(name)?.epoch))
            .collect();
        let epochs: Vec<u64> = found?.into_iter().collect();
        if epochs.is_empty() {
            return Ok(());
        }
        let epoch = self
            .log
            .append(Meta::Prune { epochs }, &[], self.history.sum())?;
        self.history.push(epoch);
        Ok(())
    }

    /// Moves the base to the oldest checkpoint that is kept, and drops the log before it.
    ///
    /// # Errors
    /// `Damaged` when a band would get another id (then nothing changed), `Locked` while a job of this store
    /// is out, `Stopped`, `Io`.
    pub fn fold(&mut self) -> Result<Folded> {
        self.clear_away()?;
        self.work.parked = None; // from the beginning: what is already made is made again
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
            self.log.rotate()?; // all records are in the base: the full segment can go, too
        }
        let segments = self.log.drop_until(self.history.manifest.epoch);
        folded.segments = segments.len() as u64;
        remove(self.disk.as_ref(), &segments)?;
        folded.files = self.sweep(false)?;
        Ok(folded)
    }

    /// The base is the one that was made. Answers the files of the old one.
    pub(crate) fn take_base(&mut self, folding: Folding) -> Result<Vec<PathBuf>> {
        let (manifest, old) = folding.place()?;
        let target = manifest.epoch;
        // Which of the two counts after a failure is unknown: files of neither may go.
        self.disk
            .sync_dir(&self.root)
            .doing("syncing", &self.root)
            .inspect_err(|_| self.log.stop())?;
        // Until the copy names it, too, what the old one names stays; after a failure the next opening knows.
        manifest
            .copy(self.disk.as_ref(), &self.root)
            .inspect_err(|_| self.log.stop())?;
        self.history.manifest = manifest;
        self.history.epochs.retain(|epoch| epoch.number > target);
        Ok(old)
    }

    /// Removes files of the base that `CURRENT` does not name, what a job left in the log's directory, what a
    /// repair moved aside, the index that an older version did not come to rename, and the log's spare, which takes space and can be
    /// made again. Answers how many.
    ///
    /// # Errors
    /// `Locked` while a job of this store is out, `Stopped`, `Io`.
    pub fn gc(&mut self) -> Result<u64> {
        self.sweep(true)
    }

    fn sweep(&mut self, spares: bool) -> Result<u64> {
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

    /// Removes what jobs left; their names may be used again. A job that is out may be writing what the
    /// caller would remove, or removing what it would count.
    fn clear_away(&mut self) -> Result<()> {
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

/// Removes files, one after the other; those that are gone already are as good.
pub(crate) fn remove(disk: &dyn Disk, paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| match disk.remove(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.doing("removing", path),
    })
}
