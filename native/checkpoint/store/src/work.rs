//! Background jobs: hash trees for the next checkpoint, the log's next segment, and folds.
//!
//! ```text
//! Store::next_job ─▶ Job::run, anywhere, without the store ─▶ Store::take_back
//! ```
//! Most urgent first: trees of bands with marks; trees of bands that the log names, newest first;
//! zeros for the next segment once half of this one is used; a fold, band by band; all other trees.
//! At most one job runs at a time; meanwhile nothing is removed that it may read or write. A tree
//! is accepted only for the id it was made for, so one that comes late is dropped. The thread is in
//! `background`.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::fold::Folding;
use crate::forget::remove;
use crate::history::BandReader;
use crate::index::cached_tree;
use crate::record::BandState;
use crate::segment::make_spare;
use crate::store::Store;
use crate::tree::{Tree, leaves_of};

/// Trees are made ahead until those in memory take this many bytes; bands that were written to get
/// theirs in any case. 64 MiB are the trees of 16 GiB of bands.
const WARM_BYTES: u64 = 64 << 20;
/// Bytes of a leaf in a tree: its value, and half as much again on each level above.
const LEAF_BYTES: u64 = 64;

/// How urgent a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Its band has marks: the next checkpoint needs it.
    Urgent,
    /// A record in the log has its band: it is written to now and then.
    Soon,
    /// It will be needed some day.
    Idle,
}

/// Finished and waiting background work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Bands without a tree in memory: urgent, soon, idle.
    pub hash_queue: [u64; 3],
    /// Trees in memory, and their approximate size.
    pub trees: u64,
    /// See `trees`.
    pub tree_bytes: u64,
    /// Trees that a checkpoint found in memory, found in the cache on the disk, or had to make.
    pub hits: u64,
    /// See `hits`.
    pub loads: u64,
    /// See `hits`.
    pub misses: u64,
    /// Trees that were made or loaded ahead.
    pub warmed: u64,
    /// Bytes of records that a fold would move into the base now.
    pub foldable_bytes: u64,
    /// A running fold: bands that are made, and bands that are left.
    pub fold: Option<(u64, u64)>,
    /// Folds that were completed here.
    pub folds: u64,
    /// Bands whose base file is fragmented, and the number of their patched pages.
    pub fragmented: u64,
    /// See `fragmented`.
    pub patched_pages: u64,
    /// Why the last job failed.
    pub failure: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Count {
    pub(crate) hits: u64,
    pub(crate) loads: u64,
    pub(crate) misses: u64,
    warmed: u64,
    folds: u64,
}

/// The store's background work.
#[derive(Debug, Default)]
pub(crate) struct Work {
    out: Weak<()>,
    /// Progress of the fold whose job is running: made, left.
    out_fold: Option<(u64, u64)>,
    /// A fold between two jobs.
    pub(crate) parked: Option<Box<Folding>>,
    /// Files that are no longer named. They are removed before the next fold begins, which may use
    /// their names.
    pub(crate) leftovers: Vec<PathBuf>,
    /// Bands that were not considered since the store was opened.
    backlog: Option<VecDeque<(String, Priority)>>,
    /// Bands whose past cannot be read; they are tried once.
    unreadable: BTreeSet<String>,
    /// The segment for which no spare could be made; it is tried once.
    spare_failed: Option<u64>,
    failure: Option<String>,
    pub(crate) count: Count,
}

/// A job that needs no store. It keeps other processes from opening the store.
#[derive(Debug)]
pub struct Job {
    task: Task,
    failed: Option<Error>,
    _out: Arc<()>,
    _held: Arc<dyn Any + Send + Sync>,
}

#[derive(Debug)]
enum Task {
    Tree(Box<Hashing>),
    Fold(Box<Folding>, bool),
    Remove(Vec<PathBuf>, Arc<dyn Disk>),
    /// Makes zeros of the log's next segment: path and size.
    Spare(PathBuf, u64, Arc<dyn Disk>),
}

#[derive(Debug)]
struct Hashing {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    name: String,
    head: BandState,
    priority: Priority,
    reader: BandReader,
    /// The tree, and whether it was in the cache.
    made: Option<(Tree, bool)>,
}

impl Job {
    /// Runs the job: reads a band, writes one, or removes files. [`Store::take_back`] reports
    /// failures.
    pub fn run(&mut self) {
        self.failed = self.attempt().err();
    }

    fn attempt(&mut self) -> Result<()> {
        match &mut self.task {
            Task::Fold(folding, done) => *done = folding.step()?,
            Task::Remove(paths, disk) => remove(disk.as_ref(), paths)?,
            Task::Spare(dir, bytes, disk) => make_spare(disk.as_ref(), dir, *bytes)?,
            Task::Tree(it) => {
                let cached = cached_tree(it.disk.as_ref(), &it.root, &it.name, it.head);
                it.made = match cached {
                    Some(tree) => Some((tree, true)),
                    None => Some((it.reader.tree()?, false)),
                };
            }
        }
        Ok(())
    }

    /// The band whose tree it makes, and how urgent that is; none for other jobs.
    #[must_use]
    pub fn band(&self) -> Option<(&str, Priority)> {
        match &self.task {
            Task::Tree(it) => Some((&it.name, it.priority)),
            _ => None,
        }
    }
}

impl Work {
    pub(crate) fn is_out(&self) -> bool {
        self.out.strong_count() > 0
    }

    fn hand_out(&mut self, task: Task, held: &Arc<dyn Any + Send + Sync>) -> Job {
        let out = Arc::new(());
        self.out = Arc::downgrade(&out);
        self.out_fold = match &task {
            Task::Fold(folding, _) => Some((folding.folded.bands, folding.left())),
            _ => None,
        };
        Job {
            task,
            failed: None,
            _out: out,
            _held: Arc::clone(held),
        }
    }
}

impl Store {
    /// The most useful job now; none when there is nothing to do or another job is running.
    ///
    /// # Errors
    /// `Io`, `Damaged`.
    pub fn next_job(&mut self) -> Result<Option<Job>> {
        if self.work.is_out() {
            return Ok(None);
        }
        let task = match self.next_tree(false)? {
            Some(tree) => Some(tree),
            None => match self.next_spare() {
                Some(spare) => Some(spare),
                None => match self.next_fold()? {
                    Some(fold) => Some(fold),
                    None => self.next_tree(true)?,
                },
            },
        };
        Ok(task.map(|task| self.work.hand_out(task, &self.held)))
    }

    /// Takes in the result of a job.
    ///
    /// # Errors
    /// Why it failed; then nothing has changed, and [`Store::next_job`] may return the same job
    /// again.
    pub fn take_back(&mut self, job: Job) -> Result<()> {
        let Job { task, failed, .. } = job;
        let taken = match failed {
            None => self.take_task(task),
            Some(error) => {
                match task {
                    Task::Tree(it) => _ = self.work.unreadable.insert(it.name),
                    Task::Fold(folding, _) => self.work.leftovers = folding.made(),
                    Task::Remove(..) => {}
                    Task::Spare(..) => self.work.spare_failed = self.log.segments.last().copied(),
                }
                Err(error)
            }
        };
        self.work.failure = taken.as_ref().err().map(ToString::to_string);
        taken
    }

    fn take_task(&mut self, task: Task) -> Result<()> {
        match task {
            Task::Remove(..) | Task::Spare(..) => {}
            Task::Fold(folding, false) => self.work.parked = Some(folding),
            Task::Fold(folding, true) => {
                self.log.refuse_if_stopped()?;
                self.work.leftovers = self.take_base(*folding)?;
                self.work
                    .leftovers
                    .extend(self.log.drop_until(self.history.manifest.epoch));
                self.work.count.folds += 1;
            }
            Task::Tree(it) => {
                let Some((tree, cached)) = it.made else {
                    return Ok(());
                };
                if tree.id() != it.head.id {
                    self.work.unreadable.insert(it.name.clone());
                    self.doubt(&it.name); // the next checkpoint reads all of it
                    let what = format!("band {:?}: what is stored of it has another id", it.name);
                    return Err(Error::damaged(what));
                }
                if let Some(band) = self.bands.get_mut(&it.name)
                    && band.tree.is_none()
                    && band.head == Some(it.head)
                {
                    band.tree = Some(Arc::new(tree));
                    self.work.count.warmed += 1;
                    if !cached {
                        self.fresh_trees.insert(it.name);
                    }
                }
            }
        }
        Ok(())
    }

    fn wants_tree(&self, name: &str) -> bool {
        let lacks = self
            .bands
            .get(name)
            .is_some_and(|band| band.head.is_some() && band.tree.is_none());
        lacks && !self.work.unreadable.contains(name)
    }

    fn next_tree(&mut self, idle: bool) -> Result<Option<Task>> {
        if let Some(name) = self
            .dirty
            .iter()
            .find(|name| self.wants_tree(name))
            .cloned()
        {
            return self.hashing(name, Priority::Urgent).map(Some);
        }
        let mut backlog = match self.work.backlog.take() {
            Some(backlog) => backlog,
            None => self.backlog(),
        };
        let mut next = None;
        while let Some((name, priority)) = backlog.front().cloned() {
            let cold = priority == Priority::Idle;
            if cold && (!idle || self.tree_bytes() >= WARM_BYTES) {
                break;
            }
            backlog.pop_front();
            if self.wants_tree(&name) {
                next = Some((name, priority));
                break;
            }
        }
        self.work.backlog = Some(backlog);
        next.map(|(name, priority)| self.hashing(name, priority))
            .transpose()
    }

    /// All bands: first those that the log names, newest first, then the others.
    fn backlog(&self) -> VecDeque<(String, Priority)> {
        let (mut known, mut backlog) = (BTreeSet::new(), VecDeque::new());
        let changes: Vec<&str> = self
            .history
            .changes(self.history.manifest.epoch, self.history.head())
            .map(|(_, change)| change.name.as_str())
            .collect();
        for name in changes.into_iter().rev() {
            if known.insert(name) {
                backlog.push_back((name.to_owned(), Priority::Soon));
            }
        }
        let others = self
            .bands
            .keys()
            .filter(|name| !known.contains(name.as_str()));
        backlog.extend(others.map(|name| (name.clone(), Priority::Idle)));
        backlog
    }

    fn hashing(&self, name: String, priority: Priority) -> Result<Task> {
        let head = self.bands.get(&name).and_then(|band| band.head);
        let head =
            head.ok_or_else(|| Error::damaged(format!("band {name:?} has no last epoch")))?;
        let reader = self.history.band_at(&name, self.history.head())?;
        let (disk, root) = (Arc::clone(&self.disk), self.root.clone());
        Ok(Task::Tree(Box::new(Hashing {
            disk,
            root,
            name,
            head,
            priority,
            reader,
            made: None,
        })))
    }

    /// Makes zeros for the next segment; after a failure it is tried again for the segment after
    /// that.
    fn next_spare(&self) -> Option<Task> {
        let (dir, bytes) = self.log.spare_wanted()?;
        let failed = self.work.spare_failed.is_some()
            && self.work.spare_failed == self.log.segments.last().copied();
        (!failed).then(|| Task::Spare(dir, bytes, Arc::clone(&self.disk)))
    }

    /// Begins a fold if it would empty a segment.
    fn next_fold(&mut self) -> Result<Option<Task>> {
        let leftovers = std::mem::take(&mut self.work.leftovers);
        if !leftovers.is_empty() {
            return Ok(Some(Task::Remove(leftovers, Arc::clone(&self.disk))));
        }
        if let Some(folding) = self.work.parked.take() {
            return Ok(Some(Task::Fold(folding, false)));
        }
        if self.history.record_bytes(self.history.fold_target()) < self.log.capacity() {
            return Ok(None);
        }
        let plan = Folding::plan(&self.history)?;
        Ok(plan.map(|folding| Task::Fold(Box::new(folding), false)))
    }

    fn tree_bytes(&self) -> u64 {
        let sizes = self.bands.values().filter_map(|band| band.tree.as_ref());
        sizes.map(|tree| leaves_of(tree.size()) * LEAF_BYTES).sum()
    }

    /// Finished and waiting background work.
    pub(crate) fn waiting(&self) -> Waiting {
        let mut queue = [0; 3];
        let logged = self
            .history
            .touched(self.history.manifest.epoch, self.history.head());
        for name in self.bands.keys().filter(|name| self.wants_tree(name)) {
            let priority = match name {
                name if self.dirty.contains(name) => Priority::Urgent,
                name if logged.contains_key(name) => Priority::Soon,
                _ => Priority::Idle,
            };
            queue[priority as usize] += 1;
        }
        let base = self
            .history
            .manifest
            .bands
            .iter()
            .filter(|band| band.patched > 0);
        let parked = self
            .work
            .parked
            .as_ref()
            .map(|folding| (folding.folded.bands, folding.left()));
        let Count {
            hits,
            loads,
            misses,
            warmed,
            folds,
        } = self.work.count;
        Waiting {
            hash_queue: queue,
            trees: self
                .bands
                .values()
                .filter(|band| band.tree.is_some())
                .count() as u64,
            tree_bytes: self.tree_bytes(),
            hits,
            loads,
            misses,
            warmed,
            foldable_bytes: self.history.record_bytes(self.history.fold_target()),
            fold: parked.or_else(|| self.work.out_fold.filter(|_| self.work.is_out())),
            folds,
            fragmented: base.clone().count() as u64,
            patched_pages: base.map(|band| band.patched).sum(),
            failure: self.work.failure.clone(),
        }
    }
}
