//! The band store as an arm: told what changed, looking for it, or told by events.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{BandState, Options, Store, Watcher};

use crate::arms::{Kind, Phases, Strategy, nanoseconds};
use crate::scenario::{Touch, WRITE_BYTES};
use crate::site::{Site, name};

/// Checkpoints that are kept where old ones are given up.
const KEPT: usize = 10;
/// Epochs between two folds. The samples of `growth` are longer or shorter, so they end anywhere between two.
const FOLD_EVERY: u64 = 40;

/// Up to so many bands every byte of a checkpoint is hashed again; of more, only ids are compared.
const VERIFIED: u64 = 100;

/// Where the store knows from what changed.
enum Told {
    /// The writer says it.
    Marks,
    /// It looks at every stamp.
    Stamps,
    /// Change events; a look at the stamps of what they name.
    Events(Watcher),
}

pub(crate) struct Ours {
    store: Store,
    told: Told,
    taken: u64,
    /// Names that are kept, where old ones are given up and folded.
    kept: Option<VecDeque<String>>,
}

impl Ours {
    pub(crate) fn new(site: &Site, kind: Kind) -> io::Result<Self> {
        let made = Store::init(
            Arc::new(RealDisk),
            &site.live(),
            Options::default(),
            "first",
        );
        let mut store = made.map_err(io::Error::other)?;
        let told = match kind {
            Kind::Observed => Told::Stamps,
            Kind::Watched => {
                let mut watcher = Watcher::new(&site.live()).map_err(io::Error::other)?;
                // The first answer is everything; from the second checkpoint on, names.
                store
                    .checkpoint_seen("watched", &mut || watcher.seen())
                    .map_err(io::Error::other)?;
                Told::Events(watcher)
            }
            _ => Told::Marks,
        };
        let kept = (kind == Kind::TrackedFolded).then(|| VecDeque::from(["first".to_owned()]));
        Ok(Self {
            store,
            told,
            taken: 0,
            kept,
        })
    }

    /// Gives up all but the newest, and folds: the owner's care of the store, outside of any checkpoint.
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

impl Strategy for Ours {
    fn checkpoint(&mut self, _: &Site, touches: &[Touch]) -> io::Result<Phases> {
        self.taken += 1;
        let checkpoint = format!("c{}", self.taken);
        let (begin, mut detect) = (Instant::now(), 0);
        let taken = match &mut self.told {
            Told::Stamps => self.store.checkpoint_observed(&checkpoint),
            Told::Events(watcher) => self.store.checkpoint_seen(&checkpoint, &mut || {
                let asked = Instant::now();
                let seen = watcher.seen();
                detect += nanoseconds(asked);
                seen
            }),
            Told::Marks => {
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

    fn holds(&self, site: &Site) -> io::Result<Option<bool>> {
        let newest = self
            .store
            .list()
            .pop()
            .ok_or_else(|| io::Error::other("no checkpoint"))?;
        if site.bands <= VERIFIED {
            let verified = self.store.verify(&newest.name).map_err(io::Error::other)?;
            if !verified.wrong.is_empty() {
                return Err(io::Error::other(verified.wrong.join("; ")));
            }
        }
        Ok(Some(same(&self.store, &newest.name, site)?))
    }
}

/// Whether a checkpoint's ids are those of the bands as they lie there.
pub(crate) fn same(store: &Store, checkpoint: &str, site: &Site) -> io::Result<bool> {
    let ids = store.bands(checkpoint).map_err(io::Error::other)?;
    for band in site.changing() {
        let live = blake3::hash(&std::fs::read(site.live().join(&band))?);
        let id = ids.get(&band).map(|BandState { id, .. }| *id);
        if id.as_ref().is_none_or(|id| id[..] != live.as_bytes()[..]) {
            return Ok(false);
        }
    }
    Ok(true)
}
