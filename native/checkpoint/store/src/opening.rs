//! Opening: from what is on the disk to a store in memory.
//!
//! Invariant: a band is clean only when the index vouches for it; whoever is not known is unknown, and will
//! be read.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::band::Band;
use crate::band::Scratch;
use crate::disk::{Access, Disk, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::History;
use crate::index::Index;
use crate::log::Log;
use crate::manifest::Manifest;
use crate::mapped::Mapped;
use crate::names::{check_band, check_bands};
use crate::observe::Look;
use crate::record::BandState;
use crate::store::{Options, Store, refuse_unless_directory, store_path};
use crate::work::Work;

impl Store {
    /// Opens the store of a directory of bands, and finishes or undoes what a crash left half done.
    ///
    /// # Errors
    /// `NotFound` without a store, `Locked` while another process has it, `Damaged`, `Io`; `Refused` for
    /// names that bands cannot have on this system, or when something else took live's place in a rollback
    /// that was cut short.
    pub fn open(disk: Arc<dyn Disk>, live: &Path, options: Options) -> Result<Self> {
        refuse_unless_directory(disk.as_ref(), live)?;
        let root = store_path(live);
        // Before the lock, which makes a file: where there is no store nothing is left.
        Manifest::look_for(disk.as_ref(), &root)?;
        let lock = lock(disk.as_ref(), &root)?;
        // Behind it: until then another process may fold.
        let manifest = Manifest::read(disk.as_ref(), &root)?;
        let base = (manifest.epoch, manifest.chain);
        let index = Index::read(disk.as_ref(), &root);
        let dir = root.join("log");
        let proof = index.as_ref().and_then(|index| index.proof(disk.as_ref(), &root, base));
        if proof.is_none() {
            // What is seen may only be in memory: nothing is removed on the word of a manifest that may
            // vanish (D7).
            let current = root.join("CURRENT");
            let file = disk.open(&current, Access::Write).doing("opening", &current)?;
            file.sync_data().doing("syncing", &current)?;
            disk.sync_dir(&root).doing("syncing", &root)?;
        }
        let bytes = options.segment_bytes;
        let (log, epochs) = Log::open(Arc::clone(&disk), &dir, manifest.store, bytes, base, proof)?;
        let history = History::new(Arc::clone(&disk), &root, manifest, epochs);
        if disk.names_alias() {
            check_bands(disk.as_ref(), history.every_name()).map_err(|error| {
                error.advising("export a checkpoint without such names where it was made, and import that")
            })?;
        }
        Self::assemble(disk, live, log, history, lock, index)
    }

    /// Everything that is not on the disk, with all bands unknown that no index vouches for.
    pub(crate) fn assemble(
        disk: Arc<dyn Disk>,
        live: &Path,
        log: Log,
        history: History,
        lock: Box<dyn Any + Send + Sync>,
        index: Option<Index>,
    ) -> Result<Self> {
        let root = history.root.clone();
        let heads = history.bands_at(history.head());
        let band = |head: BandState| Band { head: Some(head), unknown: true, ..Band::default() };
        let bands: BTreeMap<_, _> = heads.into_iter().map(|(name, head)| (name, band(head))).collect();
        let dirty = bands.keys().cloned().collect();
        let (files, scratch, live) = (HashMap::new(), Scratch::default(), live.to_owned());
        let (listed, fresh_trees) = (None, BTreeSet::new());
        let tried = index.as_ref().filter(|_| log.is_proven()).map(|index| index.exact);
        let exact = tried.unwrap_or_else(|| disk.stamps_are_exact(&root));
        let mapped = if disk.stamps_show_writes() { Mapped::Ignored } else { Mapped::Hidden };
        let mut store = Self {
            disk,
            live,
            root,
            log,
            history,
            bands,
            dirty,
            fresh_trees,
            files,
            scratch,
            listed,
            exact,
            blind: false,
            mapped,
            told: BTreeMap::new(),
            capture: None,
            work: Work::default(),
            held: Arc::from(lock),
        };
        store.remove_swap()?;
        let looked = store.list_live()?;
        if let Some(index) = index {
            store.believe(index, &looked);
        }
        Ok(store)
    }

    /// Reads the names of live, and the sizes of bands that had none. Bands nobody knew are unknown from now
    /// on. Answers the stamps that it took.
    pub(crate) fn list_live(&mut self) -> Result<Look> {
        let live = self.live.clone();
        let stamp = self.disk.stamp(&live).doing("looking at", &live)?;
        let now_ns = self.disk.now().wall_ns;
        let mut found = BTreeSet::new();
        for entry in self.disk.list(&live).doing("listing", &live)? {
            let path = live.join(&entry.name);
            if entry.kind != Kind::File {
                let what = format!("{}: not a regular file", path.display());
                return Err(Error::new(
                    ErrorKind::Refused,
                    what,
                    "the directory may hold bands only; move it away",
                ));
            }
            check_band(self.disk.as_ref(), &entry.name)?;
            if !self.bands.contains_key(&entry.name) {
                let band = Band { unknown: true, ..Band::default() };
                self.bands.insert(entry.name.clone(), band);
                self.dirty.insert(entry.name.clone());
            }
            found.insert(entry.name);
        }
        let mut looked = Look::new();
        for (name, band) in &mut self.bands {
            if !found.contains(name) {
                if band.size.is_some() || band.head.is_some() {
                    self.dirty.insert(name.clone());
                }
                (band.size, band.seen) = (None, None);
            } else if band.size.is_none() {
                band.size = match self.disk.stamp(&live.join(name)) {
                    Ok(stamp) => {
                        looked.insert(name.clone(), stamp);
                        Some(stamp.size)
                    }
                    // It went right after it was listed.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                    Err(error) => return Err(Error::io("looking at", &live.join(name), error)),
                };
                band.unknown = true;
                self.dirty.insert(name.clone());
            }
        }
        self.listed = Some((stamp, now_ns));
        Ok(looked)
    }
}

pub(crate) fn lock(disk: &dyn Disk, root: &Path) -> Result<Box<dyn Any + Send + Sync>> {
    let path = root.join("LOCK");
    disk.lock(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            let what = format!("{}: another process has this store open", root.display());
            Error::new(ErrorKind::Locked, what, "wait for it, or ask it for what you need")
        }
        _ => Error::io("locking", &path, error),
    })
}
