//! Opens a store, for writing or only for reading.
//!
//! A band counts as unchanged only if the index proves it; every other one will be read. A damaged
//! store opens for reading only, and opening for reading changes nothing on the disk. `survey`
//! finds what a damaged store still holds.

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
use crate::record::{BandAt, Chain};
use crate::store::{Options, Store, refuse_unless_directory, store_path};
use crate::survey::Survey;
use crate::walk::Place;
use crate::work::Work;

impl Store {
    /// Opens the store of a directory of bands, and finishes or undoes what a crash interrupted.
    ///
    /// # Errors
    /// `NotFound` without a store, `Locked` while another process has it, `Damaged`, `Io`;
    /// `Refused` for names that bands cannot have on this system, or when something else took
    /// live's place during an interrupted rollback.
    pub fn open(disk: Arc<dyn Disk>, live: &Path, options: Options) -> Result<Self> {
        refuse_unless_directory(disk.as_ref(), live)?;
        let root = store_path(live);
        // Before taking the lock, which makes a file: without a store nothing is left behind.
        Manifest::look_for(disk.as_ref(), &root)?;
        let lock = lock(disk.as_ref(), &root)?;
        // After taking the lock, because until then another process may fold.
        let on_disk = OnDisk::find(disk.as_ref(), &root)?;
        if on_disk.decayed.is_some() {
            return Err(on_disk
                .survey(&disk, &root, None, None)?
                .damage
                .refusal(&root));
        }
        let (dir, base) = (
            root.join("log"),
            (on_disk.manifest.epoch, on_disk.manifest.chain),
        );
        let index = on_disk
            .index
            .as_ref()
            .filter(|index| index.is_of_this_boot(disk.as_ref()));
        let proof = index
            .filter(|_| options.skip_proven_syncs)
            .and_then(|index| index.proof(disk.as_ref(), &root, base));
        if proof.is_none() {
            // The manifest that was read may only be in memory. It is synced first, as files are
            // removed only once the manifest that no longer needs them is durable (D7).
            let current = root.join("CURRENT");
            let file = disk
                .open(&current, Access::Write)
                .doing("opening", &current)?;
            file.sync_data().doing("syncing", &current)?;
            disk.sync_dir(&root).doing("syncing", &root)?;
        }
        let opened = Log::open(
            &disk,
            on_disk.place(disk.as_ref(), &dir),
            options.segment_bytes,
            proof,
        );
        let (log, epochs) = opened.map_err(|error| match error.kind() {
            ErrorKind::Damaged => match on_disk.survey(&disk, &root, Some(error.what()), None) {
                Ok(survey) => survey.damage.refusal(&root),
                Err(error) => error,
            },
            _ => error,
        })?;
        let OnDisk {
            manifest, index, ..
        } = on_disk;
        if !log.is_proven()
            && Manifest::read_copy(disk.as_ref(), &root).ok().as_ref() != Some(&manifest)
        {
            manifest.copy(disk.as_ref(), &root)?;
        }
        let index = index.filter(|index| index.is_of_this_boot(disk.as_ref()));
        let history = History::new(Arc::clone(&disk), &root, manifest, epochs);
        check_names(disk.as_ref(), &history)?;
        let exact = index
            .as_ref()
            .filter(|_| log.is_proven())
            .map(|index| index.exact);
        let exact = exact.unwrap_or_else(|| disk.stamps_are_exact(&root));
        let mut store = Self::assemble(disk, live, log, history, lock, exact);
        store.settle_in(index)?;
        Ok(store)
    }

    /// Builds the store in memory, with all bands unknown, without reading the disk.
    pub(crate) fn assemble(
        disk: Arc<dyn Disk>,
        live: &Path,
        log: Log,
        history: History,
        lock: Box<dyn Any + Send + Sync>,
        exact: bool,
    ) -> Self {
        let root = history.root.clone();
        let heads = history.bands_at(history.head());
        let band = |head: BandAt| Band {
            head: Some(head.state),
            attributes: head.attributes,
            unknown: true,
            ..Band::default()
        };
        let bands: BTreeMap<_, _> = heads
            .into_iter()
            .map(|(name, head)| (name, band(head)))
            .collect();
        let dirty = bands.keys().cloned().collect();
        let (files, scratch, live) = (HashMap::new(), Scratch::default(), live.to_owned());
        let (listed, fresh_trees) = (None, BTreeSet::new());
        let mapped = if disk.stamps_show_writes() {
            Mapped::Ignored
        } else {
            Mapped::Hidden
        };
        Self {
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
            reported: BTreeMap::new(),
            capture: None,
            work: Work::default(),
            held: Arc::from(lock),
        }
    }

    /// Ends an interrupted rollback, then reads the live directory.
    pub(crate) fn settle_in(&mut self, index: Option<Index>) -> Result<()> {
        self.remove_swap()?;
        self.meet_live(index)
    }

    /// Lists the live directory, and marks bands as clean if the index proves that they are.
    pub(crate) fn meet_live(&mut self, index: Option<Index>) -> Result<()> {
        let looked = self.list_live()?;
        if let Some(index) = index {
            self.believe(index, &looked);
        }
        Ok(())
    }

    /// Reads the names in the live directory, and the sizes of bands whose size is not known. New
    /// bands are unknown. Returns the stamps that it read.
    pub(crate) fn list_live(&mut self) -> Result<Look> {
        let live = self.live.clone();
        let stamp = self.disk.stamp(&live).doing("looking at", &live)?;
        let now_ns = self.disk.now().wall_ns;
        let mut listed = BTreeSet::new();
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
                let band = Band {
                    unknown: true,
                    ..Band::default()
                };
                self.bands.insert(entry.name.clone(), band);
                self.dirty.insert(entry.name.clone());
            }
            listed.insert(entry.name);
        }
        let mut looked = Look::new();
        for (name, band) in &mut self.bands {
            if !listed.contains(name) {
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
                    // It was removed right after the listing.
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
    disk.lock(&path)
        .map_err(|error| not_locked(root, &path, error))
}

/// Takes a lock that keeps writers out, without creating a file. If no writer ever was there, there
/// is nothing to lock.
pub(crate) fn lock_to_read(disk: &dyn Disk, root: &Path) -> Result<Box<dyn Any + Send + Sync>> {
    let path = root.join("LOCK");
    match disk.lock_to_read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Box::new(())),
        held => held.map_err(|error| not_locked(root, &path, error)),
    }
}

fn not_locked(root: &Path, path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            let what = format!("{}: another process has this store open", root.display());
            Error::new(
                ErrorKind::Locked,
                what,
                "wait for it, or ask it for what you need",
            )
        }
        _ => Error::io("locking", path, error),
    }
}

/// Refuses a store whose bands cannot have their names on this system.
pub(crate) fn check_names(disk: &dyn Disk, history: &History) -> Result<()> {
    if !disk.names_alias() {
        return Ok(());
    }
    check_bands(disk, history.every_name()).map_err(|error| {
        error.advising("export a checkpoint without such names where it was made, and import that")
    })
}

/// The files of a store except its log.
pub(crate) struct OnDisk {
    pub(crate) manifest: Manifest,
    /// What is damaged in the manifest, if its copy was read instead.
    pub(crate) decayed: Option<String>,
    /// The index, which an earlier boot may have written.
    pub(crate) index: Option<Index>,
}

impl OnDisk {
    pub(crate) fn find(disk: &dyn Disk, root: &Path) -> Result<Self> {
        let (manifest, decayed) = match Manifest::read(disk, root) {
            Err(error) if error.kind() == ErrorKind::Damaged => {
                let what = error.what();
                // Without a copy, the error of the original counts.
                (
                    Manifest::read_copy(disk, root).map_err(|_| error)?,
                    Some(what),
                )
            }
            read => (read?, None),
        };
        Ok(Self {
            manifest,
            decayed,
            index: Index::read(disk, root),
        })
    }

    /// Returns where the log is and what is known of it.
    pub(crate) fn place<'a>(&self, disk: &'a dyn Disk, dir: &'a Path) -> Place<'a> {
        let Manifest {
            store,
            epoch,
            chain,
            ..
        } = &self.manifest;
        Place {
            disk,
            dir,
            store: *store,
            base: (*epoch, *chain),
            known: self.known(),
        }
    }

    fn known(&self) -> Option<(u64, Chain)> {
        self.index.as_ref().map(Index::last)
    }

    /// Finds what is left of a damaged store. `why` says what is wrong with the log; `live` is as in
    /// [`Survey::of`].
    pub(crate) fn survey(
        &self,
        disk: &Arc<dyn Disk>,
        root: &Path,
        why: Option<String>,
        live: Option<&Path>,
    ) -> Result<Survey> {
        let first = self.decayed.clone().or(why);
        Survey::of(disk, root, self.manifest.clone(), self.known(), first, live)
    }
}
