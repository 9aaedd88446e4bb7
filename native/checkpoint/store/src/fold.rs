//! Forgetting: prune says what is no longer wanted, fold moves the base forward, gc removes what nothing
//! names.
//!
//! Invariants: D6 and D7. A fold goes to the oldest checkpoint that is kept (or the last epoch when there
//! is none), so it never takes a kept one away. Base files are clones of base files with pages written into
//! them; one that was patched often is written whole again, because cloning and reading cost by the extent.

use std::collections::BTreeSet;

use crate::disk::{Access, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::manifest::{BaseBand, Manifest, base_file, base_path};
use crate::pages::{PAGE, index};
use crate::record::{BandState, Meta};
use crate::restore::write_out;
use crate::store::Store;

/// A base file is written whole again once a quarter of its pages was written into clones of it.
const PATCHED_SHARE: u64 = 4;

/// What a fold did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Epoch of the base now.
    pub epoch: u64,
    /// Bands that got a new file in the base.
    pub bands: u64,
    /// Of these, written whole and not cloned.
    pub rewritten: u64,
    /// Segments of the log that went.
    pub segments: u64,
    /// Files of the base that went.
    pub files: u64,
}

impl Store {
    /// Checkpoints of these names are no longer wanted. Durable when it returns; space comes back by
    /// [`Store::fold`].
    ///
    /// # Errors
    /// `NotFound` (then none is pruned), `Stopped`, `Io`.
    pub fn prune(&mut self, names: &[&str]) -> Result<()> {
        let found: Result<BTreeSet<u64>> =
            names.iter().map(|name| Ok(self.history.find(name)?.epoch)).collect();
        let epochs: Vec<u64> = found?.into_iter().collect();
        if epochs.is_empty() {
            return Ok(());
        }
        let epoch = self.log.append(Meta::Prune { epochs }, &[])?;
        self.history.push(epoch);
        Ok(())
    }

    /// Moves the base to the oldest checkpoint that is kept, and drops the log before it.
    ///
    /// # Errors
    /// `Damaged` when a band would get another id (then nothing changed), `Io`.
    pub fn fold(&mut self) -> Result<Folded> {
        let oldest = self.history.names.values().min().copied();
        let target = oldest.unwrap_or(self.history.head());
        let mut folded = Folded { epoch: target, ..Folded::default() };
        if target > self.history.manifest.epoch {
            self.move_base(target, &mut folded)?;
        }
        if !self.log.is_fresh() && self.history.head() == self.history.manifest.epoch {
            self.log.rotate(0)?; // all records are in the base: the full segment can go, too
        }
        folded.segments = self.log.drop_until(self.history.manifest.epoch)?;
        folded.files = self.gc()?;
        Ok(folded)
    }

    fn move_base(&mut self, target: u64, folded: &mut Folded) -> Result<()> {
        let old = &self.history.manifest;
        let record = self.history.epochs.iter().find(|epoch| epoch.number == target);
        let record = record.ok_or_else(|| Error::damaged(format!("epoch {target} is not in the log")))?;
        let (name, created_ns, kept) = match &record.meta {
            Meta::Checkpoint { name, created_ns, .. } => {
                (name.clone(), *created_ns, self.history.names.get(name) == Some(&target))
            }
            Meta::Prune { .. } => (format!("epoch-{target}"), 0, false),
        };
        let touched = self.history.touched(old.epoch, target);
        let mut bands = Vec::new();
        for (name, state) in self.history.bands_at(target) {
            match old.band(&name) {
                Some(band) if !touched.contains_key(&name) => bands.push(band.clone()),
                before => {
                    let band = self.fold_band(&name, target, state, before)?;
                    folded.bands += 1;
                    folded.rewritten += u64::from(band.patched == 0);
                    bands.push(band);
                }
            }
        }
        let (store, chain) = (old.store, record.chain);
        let base = self.root.join("base");
        self.disk.sync_dir(&base).doing("syncing", &base)?;
        let manifest = Manifest { store, epoch: target, chain, kept, created_ns, name, bands };
        manifest.install(self.disk.as_ref(), &self.root)?;
        self.history.manifest = manifest;
        self.history.epochs.retain(|epoch| epoch.number > target);
        Ok(())
    }

    /// A band's file as of an epoch: a clone with the log's pages, or all of it.
    fn fold_band(
        &self,
        name: &str,
        epoch: u64,
        state: BandState,
        before: Option<&BaseBand>,
    ) -> Result<BaseBand> {
        let file = base_file(name, epoch);
        let path = base_path(&self.root, &file);
        if self.disk.stamp(&path).is_ok() {
            self.disk.remove(&path).doing("removing", &path)?; // of a fold that was cut short
        }
        let reader = self.history.band_at(name, epoch)?;
        let logged = reader.logged();
        let patched = before.map_or(0, |band| band.patched) + logged.len() as u64;
        let (name, whole) = (name.to_owned(), state.size.div_ceil(PAGE) / PATCHED_SHARE);
        // A band that shrank in between has zeros where its base has bytes: it is written whole.
        let like =
            before.filter(|band| band.state.size == state.size && patched <= whole && reader.keeps_base());
        if let Some(before) = like {
            let old = base_path(&self.root, &before.file);
            match self.disk.clone_file(&old, &path) {
                Ok(()) => {
                    self.patch(&path, &logged, epoch, &name, state)?;
                    return Ok(BaseBand { name, state, file, patched });
                }
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(error) => return Err(Error::io("cloning", &old, error)),
            }
        }
        let target = self.disk.open(&path, Access::Create).doing("making", &path)?;
        write_out(&reader, target.as_ref(), &path, state)?;
        target.sync_data().doing("syncing", &path)?;
        Ok(BaseBand { name, state, file, patched: 0 })
    }

    fn patch(
        &self,
        path: &std::path::Path,
        pages: &[u64],
        epoch: u64,
        name: &str,
        state: BandState,
    ) -> Result<()> {
        let reader = self.history.band_at(name, epoch)?;
        let file = self.disk.open(path, Access::Write).doing("opening", path)?;
        let mut page_bytes = vec![0; index(PAGE)];
        for page in pages {
            let at = page * PAGE;
            let count = index(PAGE.min(state.size - at));
            reader.read(at, &mut page_bytes[..count])?;
            file.write_at(&page_bytes[..count], at).doing("writing", path)?;
        }
        if reader.tree()?.id() != state.id {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("{}: another id", path.display()),
                "run `verify`",
            ));
        }
        file.sync_data().doing("syncing", path)
    }

    /// Removes files of the base that `CURRENT` does not name. Answers how many.
    ///
    /// # Errors
    /// `Io`.
    pub fn gc(&mut self) -> Result<u64> {
        let base = self.root.join("base");
        let named: BTreeSet<&str> =
            self.history.manifest.bands.iter().map(|band| band.file.as_str()).collect();
        let mut removed = 0;
        for entry in self.disk.list(&base).doing("listing", &base)? {
            if entry.kind == Kind::File && !named.contains(entry.name.as_str()) {
                let path = base.join(&entry.name);
                self.disk.remove(&path).doing("removing", &path)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}
