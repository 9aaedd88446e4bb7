//! Folds: makes a newer base of the oldest kept checkpoint, band by band, while the store is used.
//!
//! ```text
//! plan ─▶ a file for each band that changed, synced ─▶ sync base/, CURRENT.new ─▶ place ─▶ remove
//!  store          no store needed: only reads what never changes                  store    neither
//! ```
//! A fold goes to the oldest kept checkpoint (the last epoch if none is kept), so it never removes
//! a kept one (D6, D7). Base files are clones of base files with pages written into them. A file
//! that was patched often is rewritten, because cloning and reading cost per extent.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::disk::Access;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::History;
use crate::manifest::{BaseBand, Manifest, base_file, base_path};
use crate::pages::{PAGE, PageSet, index};
use crate::record::{BandAt, BandState, Meta};
use crate::restore::write_out;

/// A base file is rewritten once a quarter of its pages was written into clones of it.
pub(crate) const PATCHED_SHARE: u64 = 4;

/// The result of a fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Epoch of the base now.
    pub epoch: u64,
    /// Bands that got a new file in the base.
    pub bands: u64,
    /// How many of these were written whole instead of cloned.
    pub rewritten: u64,
    /// Removed segments of the log.
    pub segments: u64,
    /// Removed files of the base.
    pub files: u64,
}

/// A running fold, with its own view of the past.
#[derive(Debug)]
pub(crate) struct Folding {
    past: History,
    /// The new base as far as it is made; its bands are not in order yet.
    manifest: Manifest,
    left: VecDeque<(String, BandAt)>,
    pub(crate) folded: Folded,
    staged: bool,
}

impl Folding {
    /// The fold to do now; none when the base is already at its target.
    pub(crate) fn plan(history: &History) -> Result<Option<Self>> {
        let target = history.fold_target();
        let old = &history.manifest;
        if target <= old.epoch {
            return Ok(None);
        }
        let record = history.epochs.iter().find(|epoch| epoch.number == target);
        let record =
            record.ok_or_else(|| Error::damaged(format!("epoch {target} is not in the log")))?;
        let (name, created_ns, kept) = match &record.meta {
            Meta::Checkpoint {
                name, created_ns, ..
            } => (
                name.clone(),
                *created_ns,
                history.names.get(name) == Some(&target),
            ),
            Meta::Prune { .. } => (format!("epoch-{target}"), 0, false),
        };
        let touched = history.touched(old.epoch, target);
        let (mut bands, mut left) = (Vec::new(), VecDeque::new());
        for (name, band) in history.bands_at(target) {
            let same_bytes = touched.get(&name).is_none_or(PageSet::is_empty);
            match old.band(&name) {
                // Its rights may have changed.
                Some(old) if same_bytes && old.state == band.state => bands.push(BaseBand {
                    attributes: band.attributes,
                    ..old.clone()
                }),
                _ => left.push_back((name, band)),
            }
        }
        let (store, chain) = (old.store, record.chain);
        let manifest = Manifest {
            store,
            epoch: target,
            chain,
            kept,
            created_ns,
            name,
            bands,
        };
        let (past, folded) = (
            history.until(target),
            Folded {
                epoch: target,
                ..Folded::default()
            },
        );
        Ok(Some(Self {
            past,
            manifest,
            left,
            folded,
            staged: false,
        }))
    }

    /// The target epoch.
    pub(crate) fn target(&self) -> u64 {
        self.manifest.epoch
    }

    /// How many bands are still to be made.
    pub(crate) fn left(&self) -> u64 {
        self.left.len() as u64
    }

    /// The files made so far, to be removed if the fold is given up.
    pub(crate) fn made(&self) -> Vec<PathBuf> {
        let file = |name: &str| base_file(name, self.target());
        let made = self
            .manifest
            .bands
            .iter()
            .map(|band| &band.name)
            .filter(|name| {
                let old = self.past.manifest.band(name);
                old.is_none_or(|old| old.file != file(name))
            });
        let begun = self.left.front().map(|(name, _)| name);
        let paths = made
            .chain(begun)
            .map(|name| base_path(&self.past.root, &file(name)));
        paths
            .filter(|path| self.past.disk.stamp(path).is_ok())
            .collect()
    }

    /// Makes one band, or the steps after the last one. Returns whether only [`Folding::place`] is
    /// left. It can be repeated after an error.
    pub(crate) fn step(&mut self) -> Result<bool> {
        if let Some((name, band)) = self.left.front().cloned() {
            let before = self.past.manifest.band(&name).cloned();
            let band = self.fold_band(&name, band, before.as_ref())?;
            self.folded.bands += 1;
            self.folded.rewritten += u64::from(band.patched == 0);
            self.manifest.bands.push(band);
            self.left.pop_front();
        } else if !self.staged {
            let base = self.past.root.join("base");
            self.past.disk.sync_dir(&base).doing("syncing", &base)?;
            self.manifest.bands.sort_by(|a, b| a.name.cmp(&b.name));
            self.manifest
                .stage(self.past.disk.as_ref(), &self.past.root)?;
            self.staged = true;
        }
        Ok(self.staged)
    }

    /// Makes the new base the current one; this is durable once the store's directory was synced.
    /// Returns its manifest, and the files that it no longer names.
    pub(crate) fn place(self) -> Result<(Manifest, Vec<PathBuf>)> {
        Manifest::place(self.past.disk.as_ref(), &self.past.root)?;
        let is_named = |file: &str| self.manifest.bands.iter().any(|band| band.file == file);
        let old = self.past.manifest.bands.iter().filter(|band| {
            // Looked up by name, because there may be very many bands.
            self.manifest
                .band(&band.name)
                .is_none_or(|new| new.file != band.file)
                && !is_named(&band.file)
        });
        let old = old
            .map(|band| base_path(&self.past.root, &band.file))
            .collect();
        Ok((self.manifest, old))
    }

    /// A band's file as of the target: a clone with the log's pages, or rewritten.
    fn fold_band(&self, name: &str, band: BandAt, before: Option<&BaseBand>) -> Result<BaseBand> {
        let BandAt { state, attributes } = band;
        let (disk, root) = (self.past.disk.as_ref(), &self.past.root);
        let file = base_file(name, self.target());
        let path = base_path(root, &file);
        if disk.stamp(&path).is_ok() {
            disk.remove(&path).doing("removing", &path)?; // left by an interrupted fold
        }
        let reader = self.past.band_at(name, self.target())?;
        let logged = reader.logged();
        let patched = before.map_or(0, |band| band.patched) + logged.len() as u64;
        let (name, whole) = (name.to_owned(), state.size.div_ceil(PAGE) / PATCHED_SHARE);
        // A band that shrank in between has zeros where its base has bytes, so it is rewritten.
        let like = before.filter(|band| {
            band.state.size == state.size && patched <= whole && reader.keeps_base()
        });
        if let Some(before) = like {
            let old = base_path(root, &before.file);
            match disk.clone_file(&old, &path) {
                Ok(()) => {
                    self.patch(&path, &logged, &name, state)?;
                    return Ok(BaseBand {
                        name,
                        state,
                        attributes,
                        file,
                        patched,
                    });
                }
                Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {}
                Err(error) => return Err(Error::io("cloning", &old, error)),
            }
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

    fn patch(&self, path: &Path, pages: &[u64], name: &str, state: BandState) -> Result<()> {
        let reader = self.past.band_at(name, self.target())?;
        let file = self
            .past
            .disk
            .open(path, Access::Write)
            .doing("opening", path)?;
        let mut page_bytes = vec![0; index(PAGE)];
        for page in pages {
            let at = page * PAGE;
            let count = index(PAGE.min(state.size - at));
            reader.read(at, &mut page_bytes[..count])?;
            file.write_at(&page_bytes[..count], at)
                .doing("writing", path)?;
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
}
