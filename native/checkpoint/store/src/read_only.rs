//! A store opened only for reading, also on a read-only filesystem or when it is damaged.
//!
//! It changes, makes, removes and syncs nothing, not even leftovers of a crash. So its last record
//! may never have been reported; the next opening for writing makes it durable.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::{ErrorKind, Result};
use crate::history::History;
use crate::index::Index;
use crate::log::Log;
use crate::manifest::Manifest;
use crate::opening::{OnDisk, check_names, lock_to_read};
use crate::store::{Store, refuse_nameless, store_path};
use crate::survey::Damage;

/// A store opened for reading: every method of [`Store`] that changes nothing. It keeps writers out
/// while it exists, but no other readers.
#[derive(Debug)]
pub struct StoreReader {
    store: Store,
    damage: Option<Damage>,
    index: Option<Index>,
}

impl Deref for StoreReader {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Store {
    /// Opens the store of a directory of bands for reading. The bands need not exist. Of a damaged
    /// store, the intact checkpoints can be read, and [`StoreReader::damage`] names the others.
    ///
    /// # Errors
    /// `NotFound` without a store, `Locked` while a process writes to it, `Damaged` when neither
    /// `CURRENT` nor its copy can be read, `Refused` for names that bands cannot have on this
    /// system, `Io`.
    pub fn open_read_only(disk: Arc<dyn Disk>, live: &Path) -> Result<StoreReader> {
        refuse_nameless(live)?;
        let root = store_path(live);
        Manifest::look_for(disk.as_ref(), &root)?;
        let lock = lock_to_read(disk.as_ref(), &root)?;
        let on_disk = OnDisk::find(disk.as_ref(), &root)?;
        let (dir, base) = (
            root.join("log"),
            (on_disk.manifest.epoch, on_disk.manifest.chain),
        );
        let index = on_disk
            .index
            .as_ref()
            .filter(|index| index.is_of_this_boot(disk.as_ref()));
        let proof = index.and_then(|index| index.proof(disk.as_ref(), &root, base));
        let looked = match &on_disk.decayed {
            Some(_) => None,
            None => Some(Log::look(on_disk.place(disk.as_ref(), &dir), proof)),
        };
        let (log, history, damage) = match looked {
            Some(Ok((log, epochs))) => {
                let manifest = on_disk.manifest.clone();
                (
                    log,
                    History::new(Arc::clone(&disk), &root, manifest, epochs),
                    None,
                )
            }
            Some(Err(error)) if error.kind() != ErrorKind::Damaged => return Err(error),
            doubted => {
                let why = doubted
                    .and_then(std::result::Result::err)
                    .map(|error| error.what());
                let survey = on_disk.survey(&disk, &root, why, None)?;
                (
                    Log::to_read(&dir, survey.segments),
                    survey.history,
                    Some(survey.damage),
                )
            }
        };
        check_names(disk.as_ref(), &history)?;
        let index = on_disk
            .index
            .filter(|index| index.is_of_this_boot(disk.as_ref()));
        let exact = index
            .as_ref()
            .filter(|_| log.is_proven())
            .is_some_and(|index| index.exact);
        let store = Self::assemble(disk, live, log, history, lock, exact);
        Ok(StoreReader {
            store,
            damage,
            index,
        })
    }
}

impl StoreReader {
    /// The damage of the store, if there is any: contradictions of its log and its manifest.
    /// Decayed bytes that nothing has read since are found by [`Store::verify`].
    #[must_use]
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Looks at live, for [`Store::status`].
    ///
    /// # Errors
    /// As [`Store::look_at_live`].
    pub fn look_at_live(&mut self) -> Result<()> {
        self.store.meet_live(self.index.take())?;
        self.store.look_at_live()
    }
}
