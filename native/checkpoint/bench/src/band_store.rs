//! The band store as a strategy: it finds changes by marks, file stamps or change events.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{BandState, Options, Seen, Store, Watcher};

use crate::band_directory::{BandDirectory, name};
use crate::scenario::{Touch, WRITE_BYTES};
use crate::strategy::{Phases, Strategy, nanoseconds};

/// Kept checkpoints, where old ones are pruned.
const KEPT: usize = 10;
/// Epochs between two folds. Samples of `growth` differ in length, so they end anywhere between two
/// folds.
const FOLD_EVERY: u64 = 40;

/// Up to this many bands, every byte of a checkpoint is hashed again; with more, only ids are
/// compared.
const VERIFIED: u64 = 100;

/// How the store learns which bands changed.
#[derive(Clone, Copy)]
pub(crate) enum ChangeSource {
    /// The writer marks what it wrote.
    Marks,
    /// The store compares every file's stamp.
    Stamps,
    /// Change events name the bands whose stamps are compared.
    Events,
}

pub(crate) struct BandStore {
    store: Store,
    source: ChangeSource,
    /// For [`ChangeSource::Events`].
    watcher: Option<Watcher>,
    /// Checkpoints for which the watcher named bands; else the store looked at all of them.
    told: u64,
    taken: u64,
    /// Kept names, where old checkpoints are pruned and folded.
    kept: Option<VecDeque<String>>,
}

impl BandStore {
    pub(crate) fn new(
        bands_dir: &BandDirectory,
        source: ChangeSource,
        folded: bool,
    ) -> io::Result<Self> {
        let made = Store::init(
            Arc::new(RealDisk),
            &bands_dir.live(),
            Options::default(),
            "first",
        );
        let mut store = made.map_err(io::Error::other)?;
        let mut watcher = None;
        if matches!(source, ChangeSource::Events) {
            let mut events = Watcher::new(&bands_dir.live()).map_err(io::Error::other)?;
            // The first answer is "everything"; from the second checkpoint on it has names.
            store
                .checkpoint_seen("watched", &mut || events.seen())
                .map_err(io::Error::other)?;
            watcher = Some(events);
        }
        let kept = folded.then(|| VecDeque::from(["first".to_owned()]));
        Ok(Self {
            store,
            source,
            watcher,
            told: 0,
            taken: 0,
            kept,
        })
    }

    /// Prunes all but the newest checkpoints and folds, outside of any checkpoint.
    fn tidy(&mut self, newest: String) -> io::Result<()> {
        let Some(kept) = &mut self.kept else {
            return Ok(());
        };
        kept.push_back(newest);
        if self.taken.is_multiple_of(FOLD_EVERY) {
            let old: Vec<String> = kept.drain(..kept.len() - KEPT).collect();
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            self.store.prune(&old).map_err(io::Error::other)?;
            self.store.fold().map_err(io::Error::other)?;
        }
        Ok(())
    }
}

impl Strategy for BandStore {
    fn checkpoint(&mut self, _: &BandDirectory, touches: &[Touch]) -> io::Result<Phases> {
        self.taken += 1;
        let checkpoint = format!("c{}", self.taken);
        let mut told = false;
        let (begin, mut detect) = (Instant::now(), 0);
        let taken = match (self.source, &mut self.watcher) {
            (ChangeSource::Stamps, _) => self.store.checkpoint_observed(&checkpoint),
            (ChangeSource::Events, Some(watcher)) => {
                self.store.checkpoint_seen(&checkpoint, &mut || {
                    let asked = Instant::now();
                    let seen = watcher.seen();
                    detect += nanoseconds(asked);
                    told |= matches!(seen, Seen::Bands(_));
                    seen
                })
            }
            _ => {
                for touch in touches {
                    let marked =
                        self.store
                            .mark_dirty(&name(touch.band), touch.offset, WRITE_BYTES);
                    marked.map_err(io::Error::other)?;
                }
                self.store.checkpoint(&checkpoint)
            }
        };
        let taken = taken.map_err(io::Error::other)?;
        let durable = nanoseconds(begin);
        self.told += u64::from(told);
        self.tidy(checkpoint)?;
        let (hash, sync) = (taken.hash_ns.saturating_sub(detect), taken.append_ns);
        let (read, written) = (taken.read_bytes, taken.written_bytes);
        Ok(Phases {
            durable,
            detect,
            hash,
            sync,
            read,
            written,
            ..Phases::default()
        })
    }

    fn take_told(&mut self) -> Option<u64> {
        let told = std::mem::take(&mut self.told);
        self.watcher.as_ref().map(|_| told)
    }

    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>> {
        let newest = self
            .store
            .list()
            .pop()
            .ok_or_else(|| io::Error::other("no checkpoint"))?;
        if bands_dir.bands <= VERIFIED {
            let verified = self.store.verify(&newest.name).map_err(io::Error::other)?;
            if !verified.wrong.is_empty() {
                return Err(io::Error::other(verified.wrong.join("; ")));
            }
        }
        Ok(Some(holds_live_bands(
            &self.store,
            &newest.name,
            bands_dir,
        )?))
    }
}

/// Whether a checkpoint's ids are those of the present bands.
pub(crate) fn holds_live_bands(
    store: &Store,
    checkpoint: &str,
    bands_dir: &BandDirectory,
) -> io::Result<bool> {
    let ids = store.bands(checkpoint).map_err(io::Error::other)?;
    for band in bands_dir.changing() {
        let live = blake3::hash(&std::fs::read(bands_dir.live().join(&band))?);
        let id = ids.get(&band).map(|BandState { id, .. }| *id);
        if id.as_ref().is_none_or(|id| id[..] != live.as_bytes()[..]) {
            return Ok(false);
        }
    }
    Ok(true)
}
