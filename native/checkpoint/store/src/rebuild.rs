//! Writes some states of a store's past anew: a base and a log that hold these and nothing else.
//!
//! `repair` does this with what is left of a damaged store, `compact` with the checkpoints that are
//! kept. What is made is durable, but nothing names it until `CURRENT` is replaced; its segments
//! carry another store's number, so that they are not taken for part of the present log. Every
//! band that is copied is hashed, and a wrong one ends it.

use std::path::Path;
use std::sync::Arc;

use crate::adopt::differing;
use crate::disk::{Access, Disk};
use crate::error::{Doing, Error, Result};
use crate::history::{Checkpoint, History};
use crate::log::{Epoch, Log};
use crate::manifest::{BaseBand, Manifest, base_file, base_path};
use crate::pages::runs;
use crate::record::{BandAt, BandChange, Meta, StateSum};
use crate::restore::write_out;

/// The states to write, and where.
pub(crate) struct Rebuilding<'a> {
    pub(crate) disk: &'a Arc<dyn Disk>,
    pub(crate) root: &'a Path,
    pub(crate) past: &'a History,
    /// The new store's number.
    pub(crate) store: [u8; 16],
    /// The new base's epoch: greater than any number in the old log, so that all of that lies before
    /// the new base.
    pub(crate) epoch: u64,
    pub(crate) segment_bytes: u64,
}

impl Rebuilding<'_> {
    /// Writes the new base with the state of `first` and the new log with the states of `later`,
    /// ascending. Both are durable afterwards.
    ///
    /// # Errors
    /// `Damaged` when a band has another id, `Io`; then some new files may be there, unnamed.
    pub(crate) fn run(
        &self,
        first: &Checkpoint,
        later: &[Checkpoint],
    ) -> Result<(Manifest, Log, Vec<Epoch>)> {
        let (disk, dir) = (self.disk.as_ref(), self.root.join("log"));
        let (store, epoch, past) = (self.store, self.epoch, self.past);
        let chain = *blake3::hash(&store).as_bytes();
        let mut bands = Vec::new();
        for (name, band) in past.bands_at(first.epoch) {
            bands.push(self.base_band(name, band, first.epoch)?);
        }
        let base = self.root.join("base");
        disk.sync_dir(&base).doing("syncing", &base)?;
        let (name, created_ns) = (first.name.clone(), first.created_ns);
        let manifest = Manifest {
            store,
            epoch,
            chain,
            kept: true,
            created_ns,
            name,
            bands,
        };
        let mut log = Log::create(
            Arc::clone(self.disk),
            &dir,
            store,
            self.segment_bytes,
            (epoch, chain),
        )?;
        let (mut epochs, mut before) = (Vec::new(), first.epoch);
        for checkpoint in later {
            let (changes, pages) = self.between(before, checkpoint.epoch)?;
            let sum = StateSum::of(&past.bands_at(checkpoint.epoch));
            let (name, created_ns) = (checkpoint.name.clone(), checkpoint.created_ns);
            let meta = Meta::Checkpoint {
                name,
                created_ns,
                bands: changes,
            };
            epochs.push(log.append(meta, &pages, sum)?);
            before = checkpoint.epoch;
        }
        Ok((manifest, log, epochs))
    }

    /// Adds a band to the new base: the file of the old base if it has these bytes, otherwise a new file.
    fn base_band(&self, name: String, band: BandAt, at: u64) -> Result<BaseBand> {
        let (disk, past) = (self.disk.as_ref(), self.past);
        let BandAt { state, attributes } = band;
        let reader = past.band_at(&name, at)?;
        let old = past
            .manifest
            .band(&name)
            .filter(|old| old.state == state && reader.logged().is_empty() && reader.keeps_base())
            .filter(|_| !reader.heals_base());
        if let Some(old) = old {
            return Ok(BaseBand {
                attributes,
                ..old.clone()
            });
        }
        let file = base_file(&name, self.epoch);
        let path = base_path(self.root, &file);
        if disk.stamp(&path).is_ok() {
            disk.remove(&path).doing("removing", &path)?; // left by an interrupted attempt
        }
        let target = disk
            .open(&path, Access::CreatePrivate)
            .doing("making", &path)?;
        write_out(&reader, target.as_ref(), &path, state)?;
        target.sync_data().doing("syncing", &path)?;
        Ok(BaseBand {
            name,
            state,
            attributes,
            file,
            patched: 0,
        })
    }

    /// Returns the changes of a record between two states, with its pages.
    fn between(&self, from: u64, to: u64) -> Result<(Vec<BandChange>, Vec<u8>)> {
        let past = self.past;
        let (before, after) = (past.bands_at(from), past.bands_at(to));
        let (mut changes, mut bytes) = (Vec::new(), Vec::new());
        for (name, band) in &after {
            if before.get(name) == Some(band) {
                continue;
            }
            let state = band.state;
            let old = before
                .get(name)
                .map(|_| past.band_at(name, from))
                .transpose()?;
            let (mut pages, mut hasher) = (Vec::new(), blake3::Hasher::new());
            past.band_at(name, to)?.each(|at, piece| {
                hasher.update(piece);
                differing(old.as_ref(), state.size, at, piece, &mut pages, &mut bytes)
            })?;
            if *hasher.finalize().as_bytes() != state.id {
                let what = format!("band {name:?}: what is stored of epoch {to} has another id");
                return Err(Error::damaged(what));
            }
            changes.push(BandChange {
                name: name.clone(),
                state: Some(state),
                attributes: band.attributes.clone(),
                runs: runs(&pages),
            });
        }
        for name in before.into_keys().filter(|name| !after.contains_key(name)) {
            changes.push(BandChange::removed(name));
        }
        Ok((changes, bytes))
    }
}
