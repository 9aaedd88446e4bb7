//! Reads the store's past: the base, the records after it, and any band at any of their epochs.
//!
//! The state of an epoch is the base plus the records up to it, in order. A band that shrank loses
//! what was beyond its new end, in the base too; where it grows later it holds zeros unless a
//! record has its bytes. Checkpoints append here; verify, diff, rollback, fold and export read.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::heal::Healed;
use crate::log::{Epoch, segment_path};
use crate::manifest::{Manifest, base_path};
use crate::pages::{LEAF, PAGE, PageSet, index};
use crate::record::{BandAt, BandChange, Chain, Meta, StateSum};
use crate::survey::Lost;
use crate::tree::{Tree, leaf_of, leaves_of};

/// A listed checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its epoch.
    pub epoch: u64,
    /// Its name.
    pub name: String,
    /// Its time in nanoseconds since 1970, by the wall clock of that moment.
    pub created_ns: i64,
    /// Bands that changed since the epoch before; for the base, all of them.
    pub bands: u64,
    /// Bytes of the pages in its record.
    pub bytes: u64,
}

#[derive(Debug)]
pub(crate) struct History {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) root: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) epochs: Vec<Epoch>,
    pruned: BTreeSet<u64>,
    /// The epochs of the checkpoints that are kept, by name.
    pub(crate) names: BTreeMap<String, u64>,
    /// Kept checkpoints that damage has made unreadable, by epoch.
    lost: BTreeMap<u64, Lost>,
    /// Bytes from the live directory that replace decayed ones; only a repair has any.
    pub(crate) healed: Arc<Healed>,
}

impl History {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        root: &Path,
        manifest: Manifest,
        epochs: Vec<Epoch>,
    ) -> Self {
        let names = if manifest.kept {
            vec![(manifest.name.clone(), manifest.epoch)]
        } else {
            vec![]
        };
        let (root, pruned, names) = (
            root.to_owned(),
            BTreeSet::new(),
            names.into_iter().collect(),
        );
        let lost = BTreeMap::new();
        let mut history = Self {
            disk,
            root,
            manifest,
            epochs: vec![],
            pruned,
            names,
            lost,
            healed: Arc::default(),
        };
        for epoch in epochs {
            history.push(epoch);
        }
        history
    }

    pub(crate) fn push(&mut self, epoch: Epoch) {
        match &epoch.meta {
            Meta::Prune { epochs } => {
                self.pruned.extend(epochs);
                self.names.retain(|_, number| !epochs.contains(number));
            }
            Meta::Checkpoint { name, .. } => {
                self.names.insert(name.clone(), epoch.number);
            }
        }
        self.epochs.push(epoch);
    }

    /// Returns the history up to an epoch of the log, without the records after it.
    pub(crate) fn until(&self, epoch: u64) -> Self {
        let (disk, root, manifest) = (
            Arc::clone(&self.disk),
            self.root.clone(),
            self.manifest.clone(),
        );
        let epochs = self
            .epochs
            .iter()
            .filter(|record| record.number <= epoch)
            .cloned()
            .collect();
        let (pruned, names, lost) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        Self {
            disk,
            root,
            manifest,
            epochs,
            pruned,
            names,
            lost,
            healed: Arc::clone(&self.healed),
        }
    }

    /// Marks these checkpoints as lost.
    pub(crate) fn lose(&mut self, lost: Vec<Lost>) {
        for loss in lost {
            self.names.retain(|_, epoch| *epoch != loss.epoch);
            self.pruned.insert(loss.epoch);
            self.lost.insert(loss.epoch, loss);
        }
    }

    /// Prunes all but the last of checkpoints with the same name, because the record that pruned
    /// them is lost.
    pub(crate) fn give_up_namesakes(&mut self) {
        let all = self.checkpoints();
        let older = all
            .iter()
            .filter(|checkpoint| self.names.get(&checkpoint.name) != Some(&checkpoint.epoch));
        let older: Vec<u64> = older.map(|checkpoint| checkpoint.epoch).collect();
        self.pruned.extend(older);
    }

    /// Returns the sum over all bands of the last epoch.
    pub(crate) fn sum(&self) -> StateSum {
        let known = self.epochs.last().and_then(|epoch| epoch.sum);
        known.unwrap_or_else(|| StateSum::of(&self.bands_at(self.head())))
    }

    /// Returns the target of a fold: the oldest kept checkpoint, or the last epoch if none is kept.
    pub(crate) fn fold_target(&self) -> u64 {
        self.names.values().min().copied().unwrap_or(self.head())
    }

    /// Returns whether a record is that of a kept checkpoint.
    pub(crate) fn keeps(&self, epoch: &Epoch) -> bool {
        match &epoch.meta {
            Meta::Checkpoint { name, .. } => self.names.get(name) == Some(&epoch.number),
            Meta::Prune { .. } => false,
        }
    }

    /// Returns the bytes of the records up to an epoch.
    pub(crate) fn record_bytes(&self, until: u64) -> u64 {
        self.epochs
            .iter()
            .filter(|epoch| epoch.number <= until)
            .map(|epoch| epoch.bytes)
            .sum()
    }

    /// Returns the last epoch.
    pub(crate) fn head(&self) -> u64 {
        self.epochs
            .last()
            .map_or(self.manifest.epoch, |epoch| epoch.number)
    }

    /// Returns the last epoch, with its chain value.
    pub(crate) fn last(&self) -> (u64, Chain) {
        self.epochs
            .last()
            .map_or_else(|| self.base(), |epoch| (epoch.number, epoch.chain))
    }

    /// Returns the base's epoch, with its chain value.
    pub(crate) fn base(&self) -> (u64, Chain) {
        (self.manifest.epoch, self.manifest.chain)
    }

    /// Returns the names of all files that may be read: the bands of every epoch and the base.
    pub(crate) fn every_name(&self) -> impl Iterator<Item = &str> {
        let base = self
            .manifest
            .bands
            .iter()
            .flat_map(|band| [band.name.as_str(), band.file.as_str()]);
        base.chain(
            self.changes(self.manifest.epoch, self.head())
                .map(|(_, change)| change.name.as_str()),
        )
    }

    pub(crate) fn checkpoints(&self) -> Vec<Checkpoint> {
        let base = &self.manifest;
        let mut all = Vec::new();
        if base.kept && !self.pruned.contains(&base.epoch) {
            let (name, created_ns) = (base.name.clone(), base.created_ns);
            all.push(Checkpoint {
                epoch: base.epoch,
                name,
                created_ns,
                bands: base.bands.len() as u64,
                bytes: 0,
            });
        }
        for epoch in &self.epochs {
            if let Meta::Checkpoint {
                name,
                created_ns,
                bands,
            } = &epoch.meta
                && !self.pruned.contains(&epoch.number)
            {
                let (name, bytes) = (
                    name.clone(),
                    bands.iter().map(BandChange::pages).sum::<u64>() * PAGE,
                );
                let bands = bands.len() as u64;
                all.push(Checkpoint {
                    epoch: epoch.number,
                    name,
                    created_ns: *created_ns,
                    bands,
                    bytes,
                });
            }
        }
        all
    }

    /// Returns the checkpoint of that name.
    pub(crate) fn find(&self, name: &str) -> Result<Checkpoint> {
        self.checkpoints()
            .into_iter()
            .find(|checkpoint| checkpoint.name == name)
            .ok_or_else(|| {
                if let Some(lost) = self
                    .lost
                    .values()
                    .find(|lost| lost.name.as_deref() == Some(name))
                {
                    return Error::damaged(lost.to_string())
                        .advising("`list` shows those that are intact");
                }
                Error::new(
                    ErrorKind::NotFound,
                    format!("no checkpoint is named {name:?}"),
                    "`list` shows those there are",
                )
            })
    }

    /// Returns the changes of bands in the records after one epoch and up to another, in order.
    pub(crate) fn changes(
        &self,
        after: u64,
        until: u64,
    ) -> impl Iterator<Item = (&Epoch, &BandChange)> {
        let within = self
            .epochs
            .iter()
            .filter(move |epoch| epoch.number > after && epoch.number <= until);
        within.flat_map(|epoch| {
            let bands: &[BandChange] = match &epoch.meta {
                Meta::Checkpoint { bands, .. } => bands,
                Meta::Prune { .. } => &[],
            };
            bands.iter().map(move |band| (epoch, band))
        })
    }

    /// Returns all bands at an epoch, by name.
    pub(crate) fn bands_at(&self, epoch: u64) -> BTreeMap<String, BandAt> {
        let mut bands = self.manifest.bands_at();
        for (_, change) in self.changes(self.manifest.epoch, epoch) {
            match change.after() {
                Some(band) => bands.insert(change.name.clone(), band),
                None => bands.remove(&change.name),
            };
        }
        bands
    }

    /// Returns the pages in which each band may differ between two epochs, which are those that the
    /// records between them have.
    pub(crate) fn touched(&self, after: u64, until: u64) -> BTreeMap<String, PageSet> {
        let mut touched: BTreeMap<String, PageSet> = BTreeMap::new();
        for (_, change) in self.changes(after, until) {
            let pages = touched.entry(change.name.clone()).or_default();
            for (first, count) in &change.runs {
                pages.mark(first * PAGE, count * PAGE);
            }
        }
        touched
    }

    /// Returns the time of the checkpoint that last changed a band, as of an epoch.
    pub(crate) fn changed_ns(&self, name: &str, epoch: u64) -> i64 {
        let changes = self
            .changes(self.manifest.epoch, epoch)
            .filter(|(_, change)| change.name == name);
        match changes.last().map(|(epoch, _)| &epoch.meta) {
            Some(Meta::Checkpoint { created_ns, .. }) => *created_ns,
            _ => self.manifest.created_ns,
        }
    }

    /// Returns the time at which a band was last added or removed, up to an epoch: the directory's
    /// modification time.
    pub(crate) fn names_changed_ns(&self, epoch: u64) -> i64 {
        let mut names: BTreeSet<&str> =
            self.manifest.bands.iter().map(|band| &*band.name).collect();
        let mut changed_ns = self.manifest.created_ns;
        for record in self.epochs.iter().filter(|record| record.number <= epoch) {
            let Meta::Checkpoint {
                created_ns, bands, ..
            } = &record.meta
            else {
                continue;
            };
            for change in bands {
                let moved = match change.state {
                    Some(_) => names.insert(&change.name),
                    None => names.remove(&*change.name),
                };
                if moved {
                    changed_ns = *created_ns;
                }
            }
        }
        changed_ns
    }

    /// Returns a reader of a band at an epoch.
    pub(crate) fn band_at(&self, name: &str, epoch: u64) -> Result<BandReader> {
        let base = self.manifest.band(name);
        let mut size = base.map(|band| band.state.size);
        let mut valid = size.unwrap_or(0);
        let mut pages = BTreeMap::new();
        for record in self.epochs.iter().filter(|record| record.number <= epoch) {
            let Meta::Checkpoint { bands, .. } = &record.meta else {
                continue;
            };
            let mut at = record.pages_at;
            for change in bands {
                if change.name == name {
                    size = change.state.map(|state| state.size);
                    let now = size.unwrap_or(0);
                    valid = valid.min(now);
                    pages.split_off(&now.div_ceil(PAGE));
                    for page in change
                        .runs
                        .iter()
                        .flat_map(|(first, count)| *first..*first + *count)
                    {
                        pages.insert(page, (record.segment, at));
                        at += PAGE;
                    }
                } else {
                    at += change.pages() * PAGE;
                }
            }
        }
        let missing = || {
            Error::new(
                ErrorKind::NotFound,
                format!("no band {name:?} at epoch {epoch}"),
                "see `diff`",
            )
        };
        let size = size.ok_or_else(missing)?;
        let base = match base {
            Some(band) if valid > 0 => {
                let path = base_path(&self.root, &band.file);
                let file = self
                    .disk
                    .open(&path, Access::Read)
                    .doing("opening", &path)?;
                Some((file, path))
            }
            _ => None,
        };
        let mut segments = HashMap::new();
        for (segment, _) in pages.values() {
            if !segments.contains_key(segment) {
                let path = segment_path(&self.root.join("log"), *segment);
                let file = self
                    .disk
                    .open(&path, Access::Read)
                    .doing("opening", &path)?;
                segments.insert(*segment, (file, path));
            }
        }
        Ok(BandReader {
            size,
            base,
            valid,
            pages,
            segments,
            healed: Arc::clone(&self.healed),
        })
    }
}

type Opened = (Box<dyn DiskFile>, PathBuf);

/// Reads a band of the past.
#[derive(Debug)]
pub(crate) struct BandReader {
    pub(crate) size: u64,
    base: Option<Opened>,
    /// The number of bytes, from the start, that the base's file still provides.
    valid: u64,
    /// Maps a page to the segment and the position of its last contents.
    pages: BTreeMap<u64, (u64, u64)>,
    segments: HashMap<u64, Opened>,
    healed: Arc<Healed>,
}

impl BandReader {
    /// Returns the pages that come from the log.
    pub(crate) fn logged(&self) -> Vec<u64> {
        self.pages.keys().copied().collect()
    }

    /// Returns whether the base provides all bytes that no page of the log covers.
    pub(crate) fn keeps_base(&self) -> bool {
        self.valid == self.size
    }

    /// Returns whether bytes of the live directory replace some of the base's file.
    pub(crate) fn heals_base(&self) -> bool {
        let base = self.base.as_ref();
        base.is_some_and(|(_, path)| self.healed.has(path))
    }

    /// Returns the file and offset at which a page is stored, and how many of its bytes are valid.
    pub(crate) fn place_of(&self, page: u64) -> Option<(PathBuf, u64, u64)> {
        let begin = page * PAGE;
        if let Some((segment, at)) = self.pages.get(&page) {
            let (_, path) = self.segments.get(segment)?;
            return Some((path.clone(), *at, PAGE.min(self.size - begin)));
        }
        let (_, path) = self.base.as_ref().filter(|_| begin < self.valid)?;
        Some((path.clone(), begin, PAGE.min(self.valid - begin)))
    }

    /// Fills the buffer from `offset`, which must be the start of a page. The caller stays within
    /// the band.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(0);
        if let Some((file, path)) = &self.base
            && offset < self.valid
        {
            let count = buffer.len().min(index(self.valid - offset));
            let got = file
                .read_at(&mut buffer[..count], offset)
                .doing("reading", path)?;
            if got < count {
                return Err(Error::damaged(format!(
                    "{}: shorter than its band",
                    path.display()
                )));
            }
            self.healed.correct(path, offset, &mut buffer[..count]);
        }
        let end = offset + buffer.len() as u64;
        for (page, (segment, at)) in self.pages.range(offset / PAGE..end.div_ceil(PAGE)) {
            let Some((file, path)) = self.segments.get(segment) else {
                continue;
            };
            let from = index(page * PAGE - offset);
            let to = buffer.len().min(from + index(PAGE));
            let got = file
                .read_at(&mut buffer[from..to], *at)
                .doing("reading", path)?;
            if got < to - from {
                return Err(Error::damaged(format!(
                    "{}: shorter than its records",
                    path.display()
                )));
            }
            self.healed.correct(path, *at, &mut buffer[from..to]);
        }
        Ok(())
    }

    /// Calls `take` with the offset and bytes of each piece of the band, in whole leaves.
    pub(crate) fn each(&self, mut take: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = vec![0; index((LEAF * 16).min(self.size.max(1)))];
        let mut at = 0;
        while at < self.size {
            let count = buffer.len().min(index(self.size - at));
            self.read(at, &mut buffer[..count])?;
            take(at, &buffer[..count])?;
            at += count as u64;
        }
        Ok(())
    }

    /// Computes the band's hash tree from its bytes.
    pub(crate) fn tree(&self) -> Result<Tree> {
        let mut leaves = Vec::with_capacity(index(leaves_of(self.size)));
        self.each(|at, bytes| {
            for (leaf, bytes) in bytes.chunks(index(LEAF)).enumerate() {
                leaves.push(leaf_of(self.size, at / LEAF + leaf as u64, bytes));
            }
            Ok(())
        })?;
        if self.size == 0 {
            leaves.push(leaf_of(0, 0, &[]));
        }
        Ok(Tree::new(self.size, &leaves))
    }
}
