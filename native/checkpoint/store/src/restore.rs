//! Rollback: live becomes an earlier checkpoint in one step (D9), and no right becomes wider (D17).
//!
//! ```text
//! log live as before-rollback-N ─▶ build swap/ ─▶ sync swap/ ─▶ exchange with live (`swap`)
//!    ─▶ sync both parents ─▶ remove swap/
//! ```
//! Bands of `swap/` are built by several threads; what follows waits for all of them.
//!
//! Live is one whole directory at every moment, and its previous state is a checkpoint before
//! anything moves. A band that is equal in both states keeps its file. Owners must open their bands
//! again, because an open file of a replaced band is a file of the past.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::disk::{Access, Attributes, DiskFile, Kind, Stamp};
use crate::error::{Doing, Error, Result};
use crate::history::BandReader;
use crate::pages::PageSet;
use crate::record::{BandAt, BandState};
use crate::store::{Store, Taken};

/// From this many bytes on, several threads restore bands. Most of a band's time is waiting for its
/// sync, and the disk writes several files in little more time than one.
const BYTES_BESIDE: u64 = 2 << 20;
/// More threads than cores, because most of them wait.
const THREADS: usize = 8;

/// The directory whose sync makes a name durable: for a bare name the current one; the root is its
/// own.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

impl Store {
    /// Makes live what it was at a checkpoint. Returns the checkpoint of the state that it
    /// replaced. Marks must be complete: in the observed mode, [`Store::rollback_observed`] looks
    /// first.
    ///
    /// # Errors
    /// `NotFound`, `Damaged` when the checkpoint does not verify, `Refused` where the system cannot
    /// move a directory with an open file and somebody has one open, `Io`. After an error live is
    /// whole: as before, or as requested; or it is missing, which the error says, until the store
    /// is opened again.
    pub fn rollback(&mut self, name: &str) -> Result<Taken> {
        let target = self.history.find(name)?.epoch;
        self.refuse_while_pending()?;
        self.doubt_what_goes(target)?;
        let kept = self.checkpoint(&self.replaced_name())?;
        self.go_back(target)?;
        Ok(kept)
    }

    /// Like [`Store::rollback`], after reading what changed in live.
    ///
    /// # Errors
    /// As [`Store::rollback`], and `Torn`.
    pub fn rollback_observed(&mut self, name: &str) -> Result<Taken> {
        let target = self.history.find(name)?.epoch;
        let kept = self.checkpoint_observed(&self.replaced_name())?;
        self.go_back(target)?;
        Ok(kept)
    }

    /// Compares each file that will be replaced with the last epoch, so that unmarked writes to it
    /// are in the checkpoint of the replaced state, too.
    fn doubt_what_goes(&mut self, target: u64) -> Result<()> {
        let touched = self
            .history
            .touched(target, self.history.head())
            .into_keys();
        let names: BTreeSet<String> = touched.chain(self.dirty.iter().cloned()).collect();
        for name in names {
            let path = self.live.join(&name);
            match self.disk.stamp(&path) {
                Ok(stamp) if stamp.kind == Kind::File => {
                    self.files.remove(&name); // the name may belong to another file now
                    self.doubt(&name);
                    self.bands.entry(name).or_default().size = Some(stamp.size);
                }
                Ok(_) => {} // no band: nothing of it can be kept
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.doubt(&name);
                    self.bands.entry(name).or_default().size = None;
                }
                Err(error) => return Err(Error::io("looking at", &path, error)),
            }
        }
        Ok(())
    }

    fn replaced_name(&self) -> String {
        let mut epoch = self.history.head() + 1;
        while self
            .history
            .names
            .contains_key(&format!("before-rollback-{epoch}"))
        {
            epoch += 1;
        }
        format!("before-rollback-{epoch}")
    }

    fn go_back(&mut self, target: u64) -> Result<()> {
        let touched = self.history.touched(target, self.history.head());
        let wanted = self.history.bands_at(target);
        let swap = self.root.join("swap");
        self.remove_swap()?;
        self.disk.make_private_dir(&swap).doing("making", &swap)?;
        let (changed, kept): (Vec<_>, Vec<_>) = wanted
            .iter()
            .partition(|(name, _)| touched.contains_key(*name));
        self.restore_all(target, &changed)?;
        for (name, _) in kept {
            let (live, to) = (self.live.join(name), swap.join(name));
            self.disk.link(&live, &to).doing("linking", &live)?;
        }
        self.disk
            .keep_attributes(&self.live, &swap)
            .doing("keeping the attributes of", &self.live)?;
        let modified_ns = self.directory_time(target)?;
        self.disk
            .set_modified(&swap, modified_ns)
            .doing("setting the time of", &swap)?;
        self.disk.sync_dir(&swap).doing("syncing", &swap)?;
        // The entry `swap` must be durable before the exchange.
        self.disk
            .sync_dir(&self.root)
            .doing("syncing", &self.root)?;
        self.forget_files();
        self.put_in_place()?;
        self.take_over(target, touched, &wanted);
        self.remove_swap()
    }

    /// The time of live's directory as of an epoch: its own time if no name appeared or vanished
    /// since, else that of the last checkpoint in which one did.
    fn directory_time(&self, target: u64) -> Result<i64> {
        let names = |epoch| self.history.bands_at(epoch).into_keys();
        let changed_ns = self.history.names_changed_ns(target);
        let head = self.history.head();
        if changed_ns != self.history.names_changed_ns(head) || !names(target).eq(names(head)) {
            return Ok(changed_ns);
        }
        let stamp = self.disk.stamp(&self.live);
        Ok(stamp.doing("looking at", &self.live)?.modified_ns)
    }

    /// Live was replaced: it differs from the last epoch in what the records since the target
    /// carry.
    fn take_over(
        &mut self,
        target: u64,
        touched: BTreeMap<String, PageSet>,
        wanted: &BTreeMap<String, BandAt>,
    ) {
        let head = self.history.head();
        let heads = self.history.bands_at(head);
        let size = |name: &str| wanted.get(name).map(|band| band.state.size);
        let mut steady: BTreeSet<String> = touched.keys().cloned().collect();
        for (_, change) in self.history.changes(target, head) {
            if change.state.map(|state| state.size) != size(&change.name) {
                steady.remove(&change.name);
            }
        }
        for (name, pages) in touched {
            let state = wanted.get(&name).map(|band| band.state);
            let head = heads.get(&name);
            if state.is_none() && head.is_none() {
                continue;
            }
            let band = self.bands.entry(name.clone()).or_default();
            band.set_head(head.cloned());
            band.seen = None;
            band.size = head.map(|head| head.state.size);
            match state {
                Some(state) if steady.contains(&name) => {
                    band.dirty.add(&pages);
                    band.size = Some(state.size);
                }
                // It appeared, vanished or changed its size meanwhile, so pages alone do not say
                // what differs.
                Some(state) => (band.unknown, band.size) = (true, Some(state.size)),
                None => (band.unknown, band.size) = (true, None),
            }
            self.dirty.insert(name);
        }
        for band in self.bands.values_mut() {
            // Links changed the stamps; the stamp from before still shows whether the contents
            // changed since.
            band.linked = band.seen.take().or(band.linked);
        }
        self.listed = None;
    }

    /// Writes bands as of an epoch into `swap/`; each is checked and synced when this returns.
    fn restore_all(&self, epoch: u64, bands: &[(&String, &BandAt)]) -> Result<()> {
        let sizes = bands.iter().map(|(_, band)| band.state.size);
        let bytes = sizes.fold(0, u64::saturating_add); // holes may have any size
        let most = if bytes < BYTES_BESIDE { 1 } else { THREADS };
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some((name, band)) = bands.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.restore(name, epoch, band).inspect_err(|_| {
                    next.store(bands.len(), Ordering::Relaxed); // the others need not go on
                })?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let others = 1..most.min(bands.len());
            // Where no thread can be started, those that run do its work.
            let others: Vec<_> = others
                .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
                .collect();
            others.into_iter().fold(work(), |done, other| {
                let its = other.join();
                done.and(its.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })
        })
    }

    /// Writes a band as of an epoch into `swap/`, checked and synced.
    fn restore(&self, name: &str, epoch: u64, band: &BandAt) -> Result<()> {
        let path = self.root.join("swap").join(name);
        let reader = self.history.band_at(name, epoch)?;
        let file = self
            .disk
            .open(&path, Access::CreatePrivate)
            .doing("making", &path)?;
        write_out(&reader, file.as_ref(), &path, band.state)?;
        let recorded = band.attributes.as_deref();
        if let Some(attributes) = self.rights_of_restored(name, recorded, file.as_ref())? {
            file.set_attributes(&attributes)
                .doing("setting the rights of", &path)?;
        }
        let modified_ns = recorded.map(|it| it.modified_ns);
        let modified_ns = modified_ns.unwrap_or_else(|| self.history.changed_ns(name, epoch));
        self.disk
            .set_modified(&path, modified_ns)
            .doing("setting the time of", &path)?;
        file.sync_all().doing("syncing", &path)
    }

    /// The rights of a band of the past, made as `file`: those that it had, without any that the band of its name in
    /// live does not give ([`Attributes::where_live_has`]). Where live has no such band, those that it had; where it
    /// is not known what it had, those of live. Where neither is known it stays as it was made: accessible to the
    /// user who restores it only.
    fn rights_of_restored(
        &self,
        name: &str,
        recorded: Option<&Attributes>,
        file: &dyn DiskFile,
    ) -> Result<Option<Attributes>> {
        let path = self.live.join(name);
        let is_band = |stamp: Stamp| stamp.kind == Kind::File;
        let live = match self.disk.open(&path, Access::Read) {
            Ok(file) => file.attributes().doing("reading the rights of", &path)?,
            // A band whose rights cannot be seen may give none.
            Err(error) if self.disk.stamp(&path).is_ok_and(is_band) => {
                return Err(Error::io("opening", &path, error));
            }
            Err(_) => None,
        };
        let made = file.attributes().doing("reading the rights of", &path)?;
        Ok(match (recorded, live, made) {
            (Some(recorded), Some(live), Some(made)) => Some(recorded.where_live_has(&live, &made)),
            (recorded, live, _) => recorded.cloned().or(live),
        })
    }
}

/// Writes a band of the past into a new file with zeros as holes, and checks its id.
pub(crate) fn write_out(
    reader: &BandReader,
    file: &dyn DiskFile,
    path: &Path,
    state: BandState,
) -> Result<()> {
    file.set_len(state.size).doing("making", path)?;
    let mut hasher = blake3::Hasher::new();
    reader.each(|at, bytes| {
        hasher.update(bytes);
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        file.write_at(bytes, at).doing("writing", path)
    })?;
    if *hasher.finalize().as_bytes() == state.id {
        return Ok(());
    }
    Err(Error::damaged(format!(
        "{}: what is stored of it has another id",
        path.display()
    )))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::Arc;

    use crate::disk::RealDisk;
    use crate::manifest::Manifest;
    use crate::store::{Options, Store, store_path};

    /// A store of a version that recorded no attributes opens; a band that is gone comes back for
    /// nobody but the user who restores it, and one that live has keeps its rights.
    #[test]
    fn what_an_older_version_did_not_record_comes_back_for_its_restorer_only() {
        let root = tempfile::tempdir().expect("a directory");
        let live = root.path().join("bands");
        fs::create_dir(&live).expect("made");
        let options = Options {
            segment_bytes: 1 << 20,
            skip_proven_syncs: false,
        };
        for name in ["gone", "there"] {
            fs::write(live.join(name), b"then").expect("written");
            let mode = Permissions::from_mode(0o644);
            fs::set_permissions(live.join(name), mode).expect("set");
        }
        drop(Store::init(Arc::new(RealDisk), &live, options, "first").expect("new"));
        let store = store_path(&live);
        let mut manifest = Manifest::read(&RealDisk, &store).expect("whole");
        for band in &mut manifest.bands {
            assert!(band.attributes.take().is_some(), "{}", band.name);
        }
        assert!(manifest.text().starts_with("paceline-checkpoint 1\n"));
        manifest.install(&RealDisk, &store).expect("as it was then");
        fs::remove_file(live.join("gone")).expect("removed");
        fs::write(live.join("there"), b"now!").expect("written");
        let mut store = Store::open(Arc::new(RealDisk), &live, options).expect("opened");
        store.rollback_observed("first").expect("back");
        let owner = fs::metadata(root.path()).expect("there").uid();
        for (name, mode) in [("gone", 0o600), ("there", 0o644)] {
            let meta = fs::metadata(live.join(name)).expect("back");
            assert_eq!((meta.mode() & 0o7777, meta.uid()), (mode, owner), "{name}");
            assert_eq!(fs::read(live.join(name)).expect("back"), b"then");
        }
        // From now on it is known what they have.
        fs::remove_file(live.join("there")).expect("removed");
        store.rollback_observed("before-rollback-2").expect("back");
        let meta = fs::metadata(live.join("there")).expect("back");
        assert_eq!(meta.mode() & 0o7777, 0o644);
    }
}
