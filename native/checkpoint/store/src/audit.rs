//! Reads the past without changing anything: verify, diff, status.
//!
//! `verify` computes every hash from the bytes that a rollback would write, and trusts no stored
//! hash.

use std::collections::BTreeMap;

use crate::disk::Stamp;
use crate::error::{Doing, Error, Result};
use crate::pages::PAGE;
use crate::record::{BandAt, BandState};
use crate::store::Store;
use crate::work::Waiting;

/// The result of verifying a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Bands whose bytes have the right id.
    pub bands: u64,
    /// Bytes that were hashed.
    pub bytes: u64,
    /// One sentence per damaged band.
    pub wrong: Vec<String>,
}

/// How a band differs between two checkpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name.
    pub band: String,
    /// Its state in the first checkpoint.
    pub from: Option<BandState>,
    /// Its state in the second checkpoint.
    pub to: Option<BandState>,
    /// Bytes of the pages that records between the two carry: an upper bound of the difference.
    pub bytes: u64,
}

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Number of bands in live.
    pub bands: u64,
    /// Bytes of live.
    pub live_bytes: u64,
    /// Bands that may differ from the last epoch, by name, with the number of changed pages if it
    /// is known.
    pub dirty: Vec<(String, Option<u64>)>,
    /// Last epoch.
    pub epoch: u64,
    /// Epoch of the base.
    pub base_epoch: u64,
    /// Checkpoints that are kept.
    pub checkpoints: u64,
    /// Segments of the log.
    pub segments: u64,
    /// Size of all files of the log: segments, segments to be removed, and the spare one.
    pub log_bytes: u64,
    /// Bytes of the records in the log.
    pub record_bytes: u64,
    /// Disk space of the base's files; bytes that files share are counted in each of them.
    pub base_bytes: u64,
    /// The state of background work.
    pub work: Waiting,
}

impl Store {
    /// Hashes every band of a checkpoint as a rollback would write it.
    ///
    /// # Errors
    /// `NotFound`, `Io`. Damaged bytes are part of the result and no error.
    pub fn verify(&self, name: &str) -> Result<Verified> {
        let checkpoint = self.history.find(name)?;
        let mut verified = Verified::default();
        for (band, BandAt { state, .. }) in self.history.bands_at(checkpoint.epoch) {
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

    /// Lists the bands whose bytes differ between two checkpoints, by name.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn diff(&self, from: &str, to: &str) -> Result<Vec<Difference>> {
        let (from, to) = (self.history.find(from)?.epoch, self.history.find(to)?.epoch);
        let (old, new) = (self.history.bands_at(from), self.history.bands_at(to));
        let touched = self.history.touched(from.min(to), from.max(to));
        let mut differences = Vec::new();
        for band in touched.keys() {
            let state = |bands: &BTreeMap<String, BandAt>| bands.get(band).map(|it| it.state);
            let (from, to) = (state(&old), state(&new));
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

    /// The ids of a checkpoint's bands, by name; `b3sum` prints the same for each band.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn bands(&self, name: &str) -> Result<BTreeMap<String, BandState>> {
        let bands = self.history.bands_at(self.history.find(name)?.epoch);
        let states = bands.into_iter().map(|(name, band)| (name, band.state));
        Ok(states.collect())
    }

    /// Summarises the store.
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

    /// The total size of the files in a directory of the store.
    fn bytes_in(&self, dir: &str, bytes: fn(&Stamp) -> u64) -> Result<u64> {
        let dir = self.root.join(dir);
        self.disk
            .list(&dir)
            .doing("listing", &dir)?
            .iter()
            .try_fold(0, |sum, entry| {
                match self.disk.stamp(&dir.join(&entry.name)) {
                    Ok(stamp) => Ok(sum + bytes(&stamp)),
                    // A background job removed or renamed it after the listing.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(sum),
                    Err(error) => Err(Error::io("looking at", &dir.join(&entry.name), error)),
                }
            })
    }
}
