//! A disk in memory that loses what was not synced, and stops or fails where a test says so.
//!
//! It is part of the crate so that embedders can test their own crashes. It is exactly as weak as
//! POSIX allows: unsynced sectors are kept, dropped or torn in any order, unsynced names likewise,
//! and after a failed sync data can be read but is never written. Reads never fail. Disks that lie
//! about a sync and decaying bits are not modelled.

use std::any::Any;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::image::{Contents, Image, Names, Node, Write};
use super::{Access, Disk, DiskFile, Moment, Stamp};

/// Stamps advance in steps, as kernels' do: 4 ms is Linux's default.
const TICK_NS: i64 = 4_000_000;
/// How long an operation takes.
const STEP_NS: i64 = 1_000;

/// An operation that fails.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The first operation that fails; operations that change or sync something are counted from 1.
    pub at: u64,
    /// How many operations fail.
    pub count: u64,
    /// How it fails.
    pub kind: io::ErrorKind,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) image: Image,
    now_ns: i64,
    set_by_ns: i64,
    steps: u64,
    stop_at: u64,
    pub(super) stopped: bool,
    fault: Option<Fault>,
    /// The number of readers that hold a lock; none when a writer does.
    locks: BTreeMap<PathBuf, Option<usize>>,
    boot: u8,
    /// What it claims about its stamps.
    exact: bool,
    /// See [`FakeDisk::be_as_on_windows`].
    pub(super) windows: bool,
    meanwhile: Option<(u64, Act)>,
    pub(super) looks: u64,
    /// Unfinished writes, by file.
    pub(super) begun: Vec<(u64, Write)>,
}

/// What somebody else does while the store looks.
struct Act(Box<dyn FnOnce(&FakeDisk) + Send>);

impl std::fmt::Debug for Act {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Act")
    }
}

/// The fake [`Disk`]. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct FakeDisk(Arc<Mutex<State>>);

#[derive(Debug)]
pub(super) struct FakeFile {
    pub(super) disk: FakeDisk,
    pub(super) node: u64,
}

impl Default for FakeDisk {
    fn default() -> Self {
        Self::of(Image::new(), 1)
    }
}

impl FakeDisk {
    fn of(image: Image, boot: u8) -> Self {
        Self(Arc::new(Mutex::new(State {
            image,
            now_ns: 1_700_000_000_000_000_000,
            set_by_ns: 0,
            steps: 0,
            stop_at: u64::MAX,
            stopped: false,
            fault: None,
            locks: BTreeMap::new(),
            boot,
            exact: false,
            windows: false,
            meanwhile: None,
            looks: 0,
            begun: Vec::new(),
        })))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of operations that changed or synced something: the points at which a crash can
    /// happen.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.state().steps
    }

    /// From the given operation on everything fails, as after a power loss; that operation may have
    /// happened in part.
    pub fn stop_at(&self, step: u64) {
        self.state().stop_at = step;
    }

    /// One operation, or several in a row, will fail.
    pub fn fail(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    /// The disk after a restart of the machine; `seed` decides what survived.
    #[must_use]
    pub fn after_power_loss(&self, seed: u64) -> Self {
        let state = self.state();
        Self::of(state.image.clone().lose(seed), state.boot.wrapping_add(1))
    }

    /// The disk after the process was killed.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = self.state();
        Self::of(state.image.clone(), state.boot)
    }

    /// Advances the time.
    pub fn advance(&self, ns: i64) {
        self.state().now_ns += ns;
    }

    /// Sets the wall clock; the steady clock continues.
    pub fn set_clock_by(&self, ns: i64) {
        self.state().set_by_ns += ns;
    }

    /// Its stamps are now said to differ after every write. They advance in ticks, so let time
    /// pass.
    pub fn say_stamps_are_exact(&self) {
        self.state().exact = true;
    }

    /// Somebody else acts once, right before the given look (at a stamp, a file, a directory) from
    /// now.
    pub fn meanwhile(&self, look: u64, act: impl FnOnce(&FakeDisk) + Send + 'static) {
        self.state().meanwhile = Some((look, Act(Box::new(act))));
    }

    /// Whether that has not happened yet.
    #[must_use]
    pub fn is_meanwhile_due(&self) -> bool {
        self.state().meanwhile.is_some()
    }

    pub(super) fn look(&self) {
        let mut state = self.state();
        state.looks += 1;
        let Some((left, act)) = state.meanwhile.take() else {
            return;
        };
        if left > 1 {
            state.meanwhile = Some((left - 1, act));
            return;
        }
        drop(state); // the action uses the disk like anybody else
        (act.0)(self);
    }
}

impl State {
    /// Whether the next operation fails before it begins, and whether the machine stops during it.
    pub(super) fn step(&mut self) -> io::Result<bool> {
        if self.stopped {
            return Err(io::Error::other("the machine has stopped"));
        }
        self.steps += 1;
        self.now_ns += STEP_NS;
        self.stopped = self.steps >= self.stop_at;
        match self.fault {
            Some(fault) if (fault.at..fault.at + fault.count).contains(&self.steps) => {
                Err(fault.kind.into())
            }
            _ => Ok(self.stopped),
        }
    }

    pub(super) fn tick(&self) -> i64 {
        let wall = self.now_ns + self.set_by_ns;
        wall - wall % TICK_NS
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<u64> {
        let mut node = 0;
        for part in path.iter().skip(1) {
            let Some(Node::Dir(entries)) = self.image.nodes.get(&node) else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            let name = part.to_string_lossy();
            node = *entries.get(name.as_ref()).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(node)
    }

    pub(super) fn parent(&self, path: &Path) -> io::Result<(u64, String)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let dir = self.find(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        Ok((dir, name.to_string_lossy().into_owned()))
    }

    /// The directory for a new name.
    fn vacant(&self, path: &Path) -> io::Result<(u64, String)> {
        if self.find(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.parent(path)
    }

    pub(super) fn contents(&mut self, node: u64) -> io::Result<&mut Contents> {
        match self.image.nodes.get_mut(&node) {
            Some(Node::File(contents)) => Ok(contents),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn create(&mut self, path: &Path, node: Node) -> io::Result<u64> {
        let (dir, name) = self.vacant(path)?;
        let node = self.image.add(node);
        self.rename(Names(vec![(dir, name, Some(node))]));
        Ok(node)
    }
}

/// The error of an operation during which the machine stopped.
pub(super) fn ended<T>(stopped: bool, value: T) -> io::Result<T> {
    if stopped {
        Err(io::Error::other("the machine has stopped"))
    } else {
        Ok(value)
    }
}

pub(super) fn position(offset: u64) -> io::Result<usize> {
    usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

impl Disk for FakeDisk {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.look();
        let mut state = self.state();
        let node = if matches!(access, Access::Create | Access::CreatePrivate) {
            let stopped = state.step()?;
            let node = state.create(path, Node::File(Contents::new(access)))?;
            ended(stopped, node)?
        } else {
            let node = state.find(path)?;
            state.contents(node)?; // a regular file
            node
        };
        drop(state);
        Ok(Box::new(FakeFile {
            disk: self.clone(),
            node,
        }))
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.look();
        let state = self.state();
        state.stamp(state.find(path)?)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<super::Entry>> {
        self.look();
        let state = self.state();
        let node = state.find(dir)?;
        let Some(Node::Dir(entries)) = state.image.nodes.get(&node) else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let entry = |(name, node): (&String, &u64)| {
            Ok(super::Entry {
                name: name.clone(),
                kind: state.stamp(*node)?.kind,
            })
        };
        entries.iter().map(entry).collect()
    }

    fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        state.create(path, Node::Dir(BTreeMap::new()))?;
        ended(stopped, ())
    }

    fn set_modified(&self, path: &Path, ns: i64) -> io::Result<()> {
        let mut state = self.state();
        let (stopped, now_ns, node) = (state.step()?, state.tick(), state.find(path)?);
        // A directory's time is that of its names.
        if let Ok(contents) = state.contents(node) {
            (contents.modified_ns, contents.changed_ns) = (ns, now_ns);
        }
        ended(stopped, ())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.remove(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        state.find(path)?;
        let (dir, name) = state.parent(path)?;
        state.rename(Names(vec![(dir, name, None)]));
        ended(stopped, ())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        let node = state.find(from)?;
        state.refuse_full(to)?;
        let ((dir, name), (to_dir, to_name)) = (state.parent(from)?, state.parent(to)?);
        state.rename(Names(vec![
            (dir, name, None),
            (to_dir, to_name, Some(node)),
        ]));
        ended(stopped, ())
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.windows {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let stopped = state.step()?;
        let (a_node, b_node) = (state.find(a)?, state.find(b)?);
        let ((a_dir, a_name), (b_dir, b_name)) = (state.parent(a)?, state.parent(b)?);
        state.rename(Names(vec![
            (a_dir, a_name, Some(b_node)),
            (b_dir, b_name, Some(a_node)),
        ]));
        ended(stopped, ())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        let node = state.find(from)?;
        let (dir, name) = state.vacant(to)?;
        state.rename(Names(vec![(dir, name, Some(node))]));
        state.touch(node);
        ended(stopped, ())
    }

    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        let source = state.find(from)?;
        let bytes = state.contents(source)?.on_disk();
        let node = state.create(to, Node::File(Contents::new(Access::CreatePrivate)))?;
        state.write(node, Write::Data { offset: 0, bytes })?;
        ended(stopped, ())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        let node = state.find(dir)?;
        if !stopped {
            state.image.sync_dir(node);
        }
        ended(stopped, ())
    }

    fn sync_beneath(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        let stopped = state.step()?;
        if !stopped {
            state.image.sync_all();
        }
        ended(stopped, ())
    }

    fn stamps_are_exact(&self, _: &Path) -> bool {
        self.state().exact
    }

    fn stamps_show_mappings(&self, _: &Path) -> bool {
        false // there are no mappings
    }

    fn stamps_show_writes(&self) -> bool {
        !self.state().windows
    }

    fn names_alias(&self) -> bool {
        self.state().windows
    }

    fn now(&self) -> Moment {
        let state = self.state();
        let boot = [if state.windows { 0 } else { state.boot }; 16];
        Moment {
            wall_ns: state.now_ns + state.set_by_ns,
            steady_ns: state.now_ns,
            boot,
        }
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        match self.state().locks.entry(path.to_owned()) {
            Entry::Occupied(_) => return Err(io::ErrorKind::WouldBlock.into()),
            Entry::Vacant(free) => free.insert(None),
        };
        Ok(Box::new(Held(self.clone(), path.to_owned())))
    }

    fn lock_to_read(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        match self.state().locks.entry(path.to_owned()).or_insert(Some(0)) {
            None => return Err(io::ErrorKind::WouldBlock.into()),
            Some(readers) => *readers += 1,
        }
        Ok(Box::new(Held(self.clone(), path.to_owned())))
    }
}

struct Held(FakeDisk, PathBuf);

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.0.state();
        match state.locks.get_mut(&self.1) {
            Some(Some(readers)) if *readers > 1 => *readers -= 1,
            _ => drop(state.locks.remove(&self.1)),
        }
    }
}
