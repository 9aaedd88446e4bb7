//! Reads the past without changing anything: verify, diff, status.
//!
//! `verify` computes every hash from the bytes that a rollback would write, and trusts no stored
//! one.

use std::collections::BTreeMap;

use crate::disk::Stamp;
use crate::error::{Doing, Error, Result};
use crate::pages::PAGE;
use crate::record::BandState;
use crate::store::Store;
use crate::work::Waiting;

/// What verify found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Bands whose bytes have the id they should have.
    pub bands: u64,
    /// Bytes that were hashed.
    pub bytes: u64,
    /// What is wrong, band by band, in words.
    pub wrong: Vec<String>,
}

/// How a band differs between two checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub band: String,
    /// As of the first.
    pub from: Option<BandState>,
    /// As of the second.
    pub to: Option<BandState>,
    /// Bytes of pages that records between the two carry: an upper bound of what differs.
    pub bytes: u64,
}

/// How a store stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Bands of live.
    pub bands: u64,
    /// Bytes of live.
    pub live_bytes: u64,
    /// Bands that may differ from the last epoch, by name; unknown ones without a count of pages.
    pub dirty: Vec<(String, Option<u64>)>,
    /// Last epoch.
    pub epoch: u64,
    /// Epoch of the base.
    pub base_epoch: u64,
    /// Checkpoints that are kept.
    pub checkpoints: u64,
    /// Segments of the log.
    pub segments: u64,
    /// Bytes of all files of the log, which are written whole: the segments, those that are to be removed,
    /// and the spare.
    pub log_bytes: u64,
    /// Bytes of records that the log holds.
    pub record_bytes: u64,
    /// Bytes that the base's files take on the disk; what files share is counted in each.
    pub base_bytes: u64,
    /// What goes on beside the hot path.
    pub work: Waiting,
}

impl Store {
    /// Hashes every band of a checkpoint as a rollback would write it.
    ///
    /// # Errors
    /// `NotFound`, `Io`. What is wrong with the bytes is no error but in the answer.
    pub fn verify(&self, name: &str) -> Result<Verified> {
        let checkpoint = self.history.find(name)?;
        let mut verified = Verified::default();
        for (band, state) in self.history.bands_at(checkpoint.epoch) {
            let read = self
                .history
                .band_at(&band, checkpoint.epoch)
                .and_then(|reader| reader.tree());
            match read {
                Ok(tree) if tree.id() == state.id && tree.size() == state.size => {
                    verified.bands += 1;
                }
                Ok(_) => verified
                    .wrong
                    .push(format!("band {band:?}: its bytes have another id")),
                Err(error) => verified.wrong.push(format!("band {band:?}: {error}")),
            }
            verified.bytes += state.size;
        }
        Ok(verified)
    }

    /// Which bands differ between two checkpoints, by name.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn diff(&self, from: &str, to: &str) -> Result<Vec<Difference>> {
        let (from, to) = (self.history.find(from)?.epoch, self.history.find(to)?.epoch);
        let (old, new) = (self.history.bands_at(from), self.history.bands_at(to));
        let touched = self.history.touched(from.min(to), from.max(to));
        let mut differences = Vec::new();
        for band in touched.keys() {
            let (from, to) = (old.get(band).copied(), new.get(band).copied());
            if from != to {
                let bytes = touched[band].count() * PAGE;
                differences.push(Difference {
                    band: band.clone(),
                    from,
                    to,
                    bytes,
                });
            }
        }
        Ok(differences)
    }

    /// The ids of a checkpoint's bands, by name: each is what `b3sum` says of the band.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn bands(&self, name: &str) -> Result<BTreeMap<String, BandState>> {
        Ok(self.history.bands_at(self.history.find(name)?.epoch))
    }

    /// How the store stands.
    ///
    /// # Errors
    /// `Io`.
    pub fn status(&self) -> Result<Status> {
        let count = |name: &String| {
            let band = self.bands.get(name)?;
            (!band.unknown).then(|| band.dirty.count())
        };
        Ok(Status {
            bands: self
                .bands
                .values()
                .filter(|band| band.size.is_some())
                .count() as u64,
            live_bytes: self.bands.values().filter_map(|band| band.size).sum(),
            dirty: self
                .dirty
                .iter()
                .map(|name| (name.clone(), count(name)))
                .collect(),
            epoch: self.history.head(),
            base_epoch: self.history.manifest.epoch,
            checkpoints: self.history.names.len() as u64,
            segments: self.log.segments.len() as u64,
            log_bytes: self.bytes_in("log", |stamp| stamp.size)?,
            record_bytes: self.history.record_bytes(self.history.head()),
            base_bytes: self.bytes_in("base", |stamp| stamp.blocks * 512)?,
            work: self.waiting(),
        })
    }

    /// The sum over the files of a directory of the store.
    fn bytes_in(&self, dir: &str, bytes: fn(&Stamp) -> u64) -> Result<u64> {
        let dir = self.root.join(dir);
        self.disk
            .list(&dir)
            .doing("listing", &dir)?
            .iter()
            .try_fold(0, |sum, entry| {
                match self.disk.stamp(&dir.join(&entry.name)) {
                    Ok(stamp) => Ok(sum + bytes(&stamp)),
                    // A job removed or renamed it right after it was listed.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(sum),
                    Err(error) => Err(Error::io("looking at", &dir.join(&entry.name), error)),
                }
            })
    }
}
