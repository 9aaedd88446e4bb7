//! The store: a directory of bands, its past, and how marked pages become a durable checkpoint.
//!
//! [`Store::write_at`] and [`Store::mark_dirty`] mark pages; [`Store::checkpoint`] collects them,
//! appends and syncs once. A page of live that differs from the last epoch is marked, or its whole
//! band counts as unknown. A failed checkpoint changes nothing: the marks stay. The owner decides
//! when to call; the only thread here helps to read a band with many marked leaves. Other modes are
//! in `observe` and `beside`, looking back in `audit` and `restore`, space in `forget` and `work`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::band::{Band, Scratch, collect};
use crate::capture::Capture;
use crate::disk::{Access, Disk, DiskFile, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::{Checkpoint, History};
use crate::index::cached_tree;
use crate::log::{Epoch, Log};
use crate::mapped::Mapped;
use crate::names::{check_band, check_checkpoint};
use crate::pages::PageSet;
use crate::record::{BandChange, Meta, StateSum};
use crate::tree::Tree;
use crate::work::Work;

/// Live files that are kept open: far below any system's limit.
const FILES_OPEN: usize = 128;

/// Settings of a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Size of a segment of the log. A checkpoint that needs more gets a segment of its own.
    pub segment_bytes: u64,
    /// Skip syncs on opening that `INDEX` proves unnecessary: it was saved in this boot, by the
    /// same clock, for exactly these files (D5). By default every opening for writing syncs the
    /// log's end again. Set this only where no disk can lose its own cache and no filesystem is
    /// unmounted and mounted again within one boot; it helps processes that open the store once per
    /// checkpoint.
    pub skip_proven_syncs: bool,
}

impl Default for Options {
    /// 64 MiB: some hundred checkpoints of the original product's size, written in less than a
    /// second.
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            skip_proven_syncs: false,
        }
    }
}

/// The result of a checkpoint, with its costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Bytes of live that were read.
    pub read_bytes: u64,
    /// Bytes of the record.
    pub written_bytes: u64,
    /// Time for reading and hashing.
    pub hash_ns: u64,
    /// Time for append and sync.
    pub append_ns: u64,
}

/// A store of checkpoints of a directory of bands.
#[derive(Debug)]
pub struct Store {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) live: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) log: Log,
    pub(crate) history: History,
    pub(crate) bands: BTreeMap<String, Band>,
    /// Bands that are marked or unknown.
    pub(crate) dirty: BTreeSet<String>,
    /// Bands whose cached tree is older than the one in memory.
    pub(crate) fresh_trees: BTreeSet<String>,
    pub(crate) files: HashMap<String, Box<dyn DiskFile>>,
    pub(crate) scratch: Scratch,
    /// Stamp of live's directory when it was last listed, and the wall clock then.
    pub(crate) listed: Option<(crate::disk::Stamp, i64)>,
    /// Stamps of this filesystem show every write.
    pub(crate) exact: bool,
    /// Events of a watcher were consumed without a checkpoint: until the next one, all bands are
    /// looked at.
    pub(crate) blind: bool,
    /// How writes through mappings are found.
    pub(crate) mapped: Mapped,
    /// Bands whose owner reported all its writes, with their stamps at that moment, during one
    /// checkpoint.
    pub(crate) reported: BTreeMap<String, crate::disk::Stamp>,
    /// The running checkpoint, if there is one.
    pub(crate) capture: Option<Capture>,
    /// Background work.
    pub(crate) work: Work,
    /// Keeps other processes out; running jobs hold it, too.
    pub(crate) held: Arc<dyn Any + Send + Sync>,
}

/// The path of the store of a directory of bands.
#[must_use]
pub fn store_path(live: &Path) -> PathBuf {
    let mut path = live.components().collect::<PathBuf>().into_os_string(); // without a slash at the end
    path.push(".paceline");
    PathBuf::from(path)
}

/// Refuses a directory without a name of its own, because the store lies beside it.
pub(crate) fn refuse_nameless(live: &Path) -> Result<()> {
    if live.file_name().is_some() {
        return Ok(());
    }
    let what = format!(
        "{}: not the directory's own name, which its store takes",
        live.display()
    );
    Err(Error::new(
        ErrorKind::Refused,
        what,
        "name it, as `../bands` instead of `.`",
    ))
}

/// Refuses a link: a rollback would exchange the link itself, and no listing would show changes.
pub(crate) fn refuse_unless_directory(disk: &dyn Disk, live: &Path) -> Result<()> {
    refuse_nameless(live)?;
    match disk.stamp(live) {
        Ok(stamp) if stamp.kind != Kind::Directory => {
            let what = format!("{}: a link or a file, not a directory", live.display());
            Err(Error::new(
                ErrorKind::Refused,
                what,
                "name the directory itself",
            ))
        }
        _ => Ok(()), // whoever lists it reports the error
    }
}

impl Store {
    fn marked(&mut self, name: &str) -> &mut Band {
        if !self.dirty.contains(name) {
            self.dirty.insert(name.to_owned());
        }
        if !self.bands.contains_key(name) {
            self.bands.insert(name.to_owned(), Band::default());
        }
        self.bands.entry(name.to_owned()).or_default()
    }

    /// Writes into a band, which is made or extended as needed, and marks its pages.
    ///
    /// # Errors
    /// `Refused` for a name that no band can have, `Io`. After an error any part may be written;
    /// all of it is marked.
    pub fn write_at(&mut self, name: &str, offset: u64, bytes: &[u8]) -> Result<()> {
        check_band(self.disk.as_ref(), name)?;
        let end = end_of(name, offset, bytes.len() as u64)?;
        self.rescue(name, offset, end);
        self.mark(name, offset, bytes.len() as u64);
        let path = self.live.join(name);
        let written = self
            .file(name, true)
            .and_then(|file| file.write_at(bytes, offset).doing("writing", &path));
        written.inspect_err(|_| self.measure(name))
    }

    /// After a failure, takes the size from the file.
    fn measure(&mut self, name: &str) {
        let stamp = self.disk.stamp(&self.live.join(name));
        let band = self.marked(name);
        match stamp {
            Ok(stamp) => band.resize(stamp.size),
            Err(_) => band.size = None,
        }
    }

    /// Marks `bytes` bytes at `offset` of a band, which its owner wrote by its own means.
    ///
    /// # Errors
    /// `Refused` for a name that no band can have, and for bytes beyond the band; then nothing is
    /// marked.
    pub fn mark_dirty(&mut self, name: &str, offset: u64, bytes: u64) -> Result<()> {
        check_band(self.disk.as_ref(), name)?;
        let end = end_of(name, offset, bytes)?;
        if bytes == 0 {
            // It can only have made the band.
            if self.bands.get(name).is_none_or(|band| band.size.is_none()) {
                self.measure(name);
            }
            return Ok(());
        }
        if self
            .bands
            .get(name)
            .and_then(|band| band.size)
            .is_none_or(|size| size < end)
        {
            let path = self.live.join(name);
            let size = self.disk.stamp(&path).doing("looking at", &path)?.size;
            if size < end {
                let what = format!("band {name:?} has {size} bytes, not {bytes} from {offset} on");
                return Err(Error::new(
                    ErrorKind::Refused,
                    what,
                    "say it after they were written",
                ));
            }
        }
        self.miss(name, offset, end);
        self.mark(name, offset, bytes);
        Ok(())
    }

    fn mark(&mut self, name: &str, offset: u64, bytes: u64) {
        let band = self.marked(name);
        band.dirty.mark(offset, bytes);
        // Writing no bytes extends nothing, but makes the file.
        let end = if bytes == 0 { 0 } else { offset + bytes };
        if band.size.is_none_or(|size| size < end) {
            band.resize(end);
        }
    }

    /// Cuts a band or extends it with zeros; makes it if needed.
    ///
    /// # Errors
    /// As [`Store::write_at`].
    pub fn set_len(&mut self, name: &str, bytes: u64) -> Result<()> {
        check_band(self.disk.as_ref(), name)?;
        end_of(name, bytes, 0)?;
        self.rescue(name, bytes, u64::MAX);
        self.marked(name).resize(bytes);
        let path = self.live.join(name);
        let cut = self
            .file(name, true)
            .and_then(|file| file.set_len(bytes).doing("resizing", &path));
        cut.inspect_err(|_| self.measure(name))
    }

    /// Removes a band from live.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Io`.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let path = self.live.join(name);
        if self.bands.get(name).is_none_or(|band| band.size.is_none()) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("no band {name:?}"),
                "`status` shows the bands",
            ));
        }
        self.rescue_file(name);
        self.files.remove(name);
        self.disk.remove(&path).doing("removing", &path)?;
        let band = self.marked(name);
        (band.size, band.unknown, band.seen) = (None, true, None);
        Ok(())
    }

    /// The live file of a band, open for writing.
    pub(crate) fn file(&mut self, name: &str, make: bool) -> Result<&dyn DiskFile> {
        let path = self.live.join(name);
        if !self.files.contains_key(name) {
            if self.files.len() >= FILES_OPEN {
                self.files.clear();
            }
            let opened = match self.disk.open(&path, Access::Write) {
                Err(error) if make && error.kind() == std::io::ErrorKind::NotFound => {
                    self.disk.open(&path, Access::Create)
                }
                other => other,
            };
            self.files
                .insert(name.to_owned(), opened.doing("opening", &path)?);
        }
        self.files
            .get(name)
            .map(AsRef::as_ref)
            .ok_or_else(|| Error::damaged("no file"))
    }

    /// Makes the state of all bands durable under a name, from the pages marked since the last
    /// checkpoint.
    ///
    /// # Errors
    /// `Exists` or `Refused` for the name, `Torn` when a band is shorter than its owner reported,
    /// `Stopped`, `Io`. After an error the checkpoint does not exist and all marks stay; after a
    /// failed sync it may exist when the store is opened again.
    pub fn checkpoint(&mut self, name: &str) -> Result<Taken> {
        self.refuse_while_pending()?;
        self.check_name(name)?;
        let begin = Instant::now();
        let mut collected = self.collect_dirty()?;
        let hash_ns = nanoseconds(begin);
        self.commit(name, &mut collected, hash_ns)
    }

    pub(crate) fn check_name(&self, name: &str) -> Result<()> {
        check_checkpoint(name)?;
        if self.history.names.contains_key(name) {
            let what = format!("a checkpoint is already named {name:?}");
            return Err(Error::new(
                ErrorKind::Exists,
                what,
                "choose another name, or prune that one first",
            ));
        }
        Ok(())
    }

    /// Reads what is marked. The store does not change until [`Store::commit`].
    pub(crate) fn collect_dirty(&mut self) -> Result<Vec<CollectedBand>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.pages.clear();
        scratch.read = 0;
        let dirty: Vec<String> = self.dirty.iter().cloned().collect();
        let collected = dirty
            .iter()
            .map(|name| self.collect_band(name, &mut scratch))
            .collect();
        self.scratch = scratch;
        collected
    }

    fn collect_band(&mut self, name: &str, scratch: &mut Scratch) -> Result<CollectedBand> {
        let band = &self.bands[name];
        let Some(size) = band.size else {
            let gone = BandChange::removed(name.to_owned());
            return Ok(CollectedBand {
                name: name.to_owned(),
                change: band.head.map(|_| gone),
                tree: None,
            });
        };
        let tree = self.tree_of(name)?;
        let path = self.live.join(name);
        self.file(name, false)?;
        let collected = collect(
            name,
            &self.bands[name],
            size,
            self.files[name].as_ref(),
            tree,
            scratch,
        );
        let (change, tree) = collected.map_err(|miss| miss.of(&path, size))?;
        Ok(CollectedBand {
            name: name.to_owned(),
            change,
            tree: Some(tree),
        })
    }

    /// The tree of a band as of the last epoch.
    fn tree_of(&mut self, name: &str) -> Result<Arc<Tree>> {
        let band = self.bands.entry(name.to_owned()).or_default();
        // Taken, not shared: the tree is changed in place, and a failure leaves it to be read
        // again.
        if let Some(tree) = band.tree.take() {
            self.work.count.hits += 1;
            return Ok(tree);
        }
        let Some(head) = band.head else {
            return Ok(Arc::new(Tree::of(&[])));
        };
        if let Some(tree) = cached_tree(self.disk.as_ref(), &self.root, name, head) {
            self.work.count.loads += 1;
            return Ok(Arc::new(tree));
        }
        self.work.count.misses += 1;
        let tree = self.history.band_at(name, self.history.head())?.tree()?;
        if tree.id() != head.id {
            self.doubt(name); // the last epoch is damaged; the next one must not be
        }
        Ok(Arc::new(tree))
    }

    /// The stored bytes of a band's last epoch are damaged: compares all of live with them next
    /// time.
    pub(crate) fn doubt(&mut self, name: &str) {
        self.marked(name).unknown = true;
    }

    /// Appends what was collected.
    pub(crate) fn commit(
        &mut self,
        name: &str,
        collected: &mut Vec<CollectedBand>,
        hash_ns: u64,
    ) -> Result<Taken> {
        let begin = Instant::now();
        let created_ns = self.disk.now().wall_ns;
        let bands: Vec<_> = collected
            .iter_mut()
            .filter_map(|band| band.change.take())
            .collect();
        let sum = self.sum_after(&bands);
        let meta = Meta::Checkpoint {
            name: name.to_owned(),
            created_ns,
            bands,
        };
        let epoch = self.log.append(meta, &self.scratch.pages, sum)?;
        for name in std::mem::take(&mut self.dirty) {
            let band = self.bands.entry(name).or_default();
            (band.dirty, band.unknown) = (PageSet::default(), false);
        }
        let (checkpoint, written_bytes) = self.take_in(
            epoch,
            self.scratch.pages.len() as u64,
            std::mem::take(collected),
        );
        let read_bytes = self.scratch.read;
        Ok(Taken {
            checkpoint,
            read_bytes,
            written_bytes,
            hash_ns,
            append_ns: nanoseconds(begin),
        })
    }

    /// The sum of all bands after these changes of the last epoch.
    pub(crate) fn sum_after(&self, changes: &[BandChange]) -> StateSum {
        let mut sum = self.history.sum();
        for change in changes {
            let before = self.bands.get(&change.name).and_then(Band::at_head);
            if let Some(before) = before {
                sum -= StateSum::of_band(&change.name, &before);
            }
            if let Some(after) = change.after() {
                sum += StateSum::of_band(&change.name, &after);
            }
        }
        sum
    }

    /// Makes the epoch the last one. Returns its checkpoint and the size of its record.
    pub(crate) fn take_in(
        &mut self,
        epoch: Epoch,
        page_bytes: u64,
        collected: Vec<CollectedBand>,
    ) -> (Checkpoint, u64) {
        let mut checkpoint = Checkpoint {
            epoch: epoch.number,
            bytes: page_bytes,
            ..Checkpoint::default()
        };
        if let Meta::Checkpoint {
            name,
            created_ns,
            bands,
        } = &epoch.meta
        {
            (checkpoint.name, checkpoint.created_ns) = (name.clone(), *created_ns);
            checkpoint.bands = bands.len() as u64;
            for change in bands {
                let band = self.bands.entry(change.name.clone()).or_default();
                band.set_head(change.after());
            }
        }
        let written_bytes = epoch.bytes;
        self.history.push(epoch);
        for taken in collected {
            let band = self.bands.entry(taken.name.clone()).or_default();
            (band.tree, band.seen, band.linked) = (taken.tree, None, None);
            if band.size.is_none() && band.head.is_none() {
                self.bands.remove(&taken.name);
            }
            self.fresh_trees.insert(taken.name);
        }
        (checkpoint, written_bytes)
    }

    /// Closes all live files, because their names may belong to other files now.
    pub(crate) fn forget_files(&mut self) {
        self.files.clear();
    }

    /// Kept checkpoints, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<Checkpoint> {
        self.history.checkpoints()
    }
}

/// The offset at which bytes of a band end.
fn end_of(name: &str, offset: u64, bytes: u64) -> Result<u64> {
    // No file is larger: systems count offsets as signed numbers.
    offset
        .checked_add(bytes)
        .filter(|end| i64::try_from(*end).is_ok())
        .ok_or_else(|| {
            let what = format!("band {name:?} cannot have {bytes} bytes from {offset} on");
            Error::new(ErrorKind::Refused, what, "check the offset")
        })
}

/// A marked band that was read: its change against the last epoch, if any, and its hash tree.
#[derive(Debug)]
pub(crate) struct CollectedBand {
    pub(crate) name: String,
    pub(crate) change: Option<BandChange>,
    pub(crate) tree: Option<Arc<Tree>>,
}

pub(crate) fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
