//! Compacts the log: drops the records of checkpoints that were given up, between kept ones, too.
//!
//! ```text
//! base of the oldest kept checkpoint ─▶ a log of the other kept ones ─▶ read back ─▶ CURRENT ─▶ the
//!      and a record for the last epoch, if that is not kept             every hash     old log goes
//! ```
//! A fold frees only what lies before the oldest kept checkpoint; whoever keeps the first for ever
//! needs this. Replacing `CURRENT` decides in one step. The new segments carry the number that
//! follows from the old store's ([`compacted_id`]), so an opening knows those of an interrupted
//! compaction and removes them. Marks and trees stay valid, as the last epoch's state stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Doing, Error, ErrorKind, Result};
use crate::forget::remove;
use crate::history::{Checkpoint, History};
use crate::log::{Epoch, Log, segment_path};
use crate::manifest::{Manifest, base_path};
use crate::rebuild::Rebuilding;
use crate::record::Meta;
use crate::segment::segments;
use crate::store::Store;
use crate::walk::Place;

/// The result of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// Bytes of the log's records before.
    pub before_bytes: u64,
    /// Bytes of the log's records after.
    pub after_bytes: u64,
}

/// The number of the store that a compaction makes of a store.
pub(crate) fn compacted_id(store: [u8; 16]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"compacted").update(&store);
    let mut id = [0; 16];
    hasher.finalize_xof().fill(&mut id);
    id
}

impl Store {
    /// Bytes of the records in the log that no kept checkpoint has: those of checkpoints that were
    /// given up, and of giving them up. A page in them may still be part of a later checkpoint, and
    /// is then kept by [`Store::compact`].
    #[must_use]
    pub fn given_up_bytes(&self) -> u64 {
        let epochs = self.history.epochs.iter();
        let given_up = epochs.filter(|epoch| !self.history.keeps(epoch));
        given_up.map(|epoch| epoch.bytes).sum()
    }

    /// Whether [`Store::compact`] would pay: what was given up behind the oldest kept checkpoint,
    /// where no fold frees it, takes more than the kept records do, and more than four segments.
    #[must_use]
    pub fn is_compaction_due(&self) -> bool {
        let history = &self.history;
        let behind = |epochs: &dyn Fn(&Epoch) -> bool| -> u64 {
            let later = history
                .epochs
                .iter()
                .filter(|epoch| epoch.number > history.fold_target() && epochs(epoch));
            later.map(|epoch| epoch.bytes).sum()
        };
        let given_up = behind(&|epoch| !history.keeps(epoch));
        given_up > behind(&|epoch| history.keeps(epoch)) && given_up > 4 * self.log.capacity()
    }

    /// Writes a log of the kept checkpoints alone, with the oldest as the base, in place of the
    /// present one. Reads and hashes each band of each kept checkpoint that changed since the one
    /// before, and holds the pages of one record in memory. Epochs get other numbers; names, times
    /// and contents stay.
    ///
    /// # Errors
    /// `Damaged` when a band would get another id, `Locked` while a job or another checkpoint of
    /// this store is running, `Stopped`, `Io`. After an error nothing is lost: the store is as
    /// before, or compacted.
    pub fn compact(&mut self) -> Result<Compacted> {
        let before_bytes = self.history.record_bytes(self.history.head());
        if self.history.names.is_empty() {
            self.fold()?;
        } else if self.given_up_bytes() > 0 {
            self.clear_away()?;
            self.work.parked = None;
            self.remove_unnamed_segments()?;
            let made = self.rebuild();
            if made.is_err() {
                // Best effort, to free their space; the next opening and `gc` do it, too.
                let _ = self.remove_unnamed_segments();
                let _ = self.sweep(false);
            }
            let (history, log) = made?;
            self.switch_to(history, log)?;
        }
        let after_bytes = self.history.record_bytes(self.history.head());
        Ok(Compacted {
            before_bytes,
            after_bytes,
        })
    }

    /// Removes segments that are not the log's. An earlier attempt may have left some, which would
    /// be taken for part of the next one's log.
    fn remove_unnamed_segments(&self) -> Result<()> {
        let dir = self.root.join("log");
        let mut unnamed = segments(self.disk.as_ref(), &dir)?;
        unnamed.retain(|first| !self.log.segments.contains(first));
        let paths: Vec<_> = unnamed
            .into_iter()
            .map(|first| segment_path(&dir, first))
            .collect();
        remove(self.disk.as_ref(), &paths)?;
        self.disk.sync_dir(&dir).doing("syncing", &dir)
    }

    /// The compacted history and its log, durable, read back and hashed, but not named by `CURRENT`.
    fn rebuild(&self) -> Result<(History, Log)> {
        let past = &self.history;
        let mut states = past.checkpoints();
        let last = self.last_state(&states);
        states.extend(last.clone());
        let Some((first, later)) = states.split_first() else {
            return Err(Error::damaged("no checkpoint is kept"));
        };
        let last_segment = self.log.segments.last().copied().unwrap_or(0);
        let rebuilding = Rebuilding {
            disk: &self.disk,
            root: &self.root,
            past,
            store: compacted_id(past.manifest.store),
            epoch: past.head().max(last_segment) + 1,
            segment_bytes: self.log.capacity(),
        };
        let (manifest, mut log, mut epochs) = rebuilding.run(first, later)?;
        if let (Some(_), Some(state)) = (last, epochs.last()) {
            let meta = Meta::Prune {
                epochs: vec![state.number],
            };
            let sum = past.sum();
            epochs.push(log.append(meta, &[], sum)?);
        }
        self.refuse_unless_readable(&manifest, &epochs)?;
        let history = History::new(Arc::clone(&self.disk), &self.root, manifest, epochs);
        Ok((history, log))
    }

    /// The state of the last epoch, which live's marks are relative to, if it is not that of the
    /// last kept checkpoint.
    fn last_state(&self, kept: &[Checkpoint]) -> Option<Checkpoint> {
        let past = &self.history;
        let state = past.bands_at(past.head());
        if kept
            .last()
            .is_some_and(|last| past.bands_at(last.epoch) == state)
        {
            return None;
        }
        // One of these is free: there are more of them than names.
        let name = (0..=past.names.len() as u64)
            .map(|more| format!("epoch-{}", past.head() + more))
            .find(|name| !past.names.contains_key(name))?;
        let created_ns = past.epochs.iter().rev().find_map(|epoch| match epoch.meta {
            Meta::Checkpoint { created_ns, .. } => Some(created_ns),
            Meta::Prune { .. } => None,
        });
        Some(Checkpoint {
            epoch: past.head(),
            name,
            created_ns: created_ns.unwrap_or(past.manifest.created_ns),
            ..Checkpoint::default()
        })
    }

    /// Reads the new log back: every record has to be there, with the pages it was given.
    fn refuse_unless_readable(&self, manifest: &Manifest, epochs: &[Epoch]) -> Result<()> {
        let dir = self.root.join("log");
        let place = Place {
            disk: self.disk.as_ref(),
            dir: &dir,
            store: manifest.store,
            base: (manifest.epoch, manifest.chain),
            known: None,
        };
        let chains = |epochs: &[Epoch]| -> Vec<_> {
            epochs
                .iter()
                .map(|epoch| (epoch.number, epoch.chain))
                .collect()
        };
        let (_, read) = Log::look(place, None)?;
        if chains(&read) == chains(epochs) {
            return Ok(());
        }
        let what = format!("{}: the new log is not what was written", dir.display());
        let advice = "nothing was changed; check the disk, and report this";
        Err(Error::new(ErrorKind::Damaged, what, advice))
    }

    /// Makes the new base and log the store's, and removes the old ones (D7).
    fn switch_to(&mut self, history: History, log: Log) -> Result<()> {
        let disk = self.disk.as_ref();
        history.manifest.stage(disk, &self.root)?;
        Manifest::place(disk, &self.root)?;
        // As for a fold: after a failure it is unknown which of the two counts.
        let named = disk
            .sync_dir(&self.root)
            .doing("syncing", &self.root)
            .and_then(|()| history.manifest.copy(disk, &self.root));
        named.inspect_err(|_| self.log.stop())?;
        let dir = self.root.join("log");
        let mut old: Vec<_> = self
            .log
            .segments
            .iter()
            .map(|first| segment_path(&dir, *first))
            .collect();
        let named: BTreeSet<&str> = history
            .manifest
            .bands
            .iter()
            .map(|band| band.file.as_str())
            .collect();
        let bands = self.history.manifest.bands.iter();
        let replaced = bands.filter(|band| !named.contains(band.file.as_str()));
        old.extend(replaced.map(|band| base_path(&self.root, &band.file)));
        (self.history, self.log) = (history, log);
        self.work.leftovers = old;
        self.clear_away()
    }
}
