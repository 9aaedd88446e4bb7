//! A watcher of live: which bands may have changed, by the system's change events.
//!
//! ```text
//! kernel's queue ─▶ notify's thread ─▶ a bounded channel ─▶ `seen`: fence, gather, names or everything
//! ```
//! [`Watcher::seen`] returns names only when it has every event of every write that ended before
//! the call. It proves that by a *fence*: a write of its own beside the store, whose event comes
//! after all others in the same queue. A lost event, a failed watch, another directory under live's
//! name or a missing fence give "everything", which is always right: all stamps are looked at.
//! [`Store::checkpoint_seen`](crate::Store::checkpoint_seen) asks before and after reading.
//!
//! Events miss stores through a mapping and writes through a hard link elsewhere. On Windows no
//! fence proves anything (each directory has its own queue, and events come when a writer closes
//! the file), so the answer is always "everything". This module alone bypasses the port and uses
//! the real filesystem.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::disk::{Access, Disk, DiskFile, RealDisk, os};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::observe::Seen;
use crate::store::store_path;

/// Events between the two threads. If nobody reads them, the kernel's queue fills and overflows:
/// memory is bounded, and the loss is reported.
const CHANNEL: usize = 4096;
/// A fence that takes longer is given up; then all stamps are looked at.
const FENCE_MOST: Duration = Duration::from_secs(2);
/// Whether a fence proves that all events were received.
const PROVES: bool = cfg!(not(windows));
/// The file that fences write, in the store's directory.
const FENCE: &str = "FENCE";

/// Watches a directory of bands that has a store.
#[derive(Debug)]
pub struct Watcher {
    live: PathBuf,
    root: PathBuf,
    watch: Option<Watch>,
    gathered: Gathered,
}

/// The two watches. The receiver is dropped first, so that a thread that waits for space continues.
#[derive(Debug)]
struct Watch {
    heard: Receiver<notify::Result<Event>>,
    _watcher: RecommendedWatcher,
    live: PathBuf,
    fence_path: PathBuf,
    /// Kept open where writes through an open file are reported too.
    fence: Option<Box<dyn DiskFile>>,
    /// Device and inode of live when its watch was started.
    identity: (u64, u64),
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Gathered {
    names: BTreeSet<String>,
    gap: bool,
    /// The watch may no longer work.
    broken: bool,
}

impl Watcher {
    /// Starts watching. The first answer of [`Watcher::seen`] is everything.
    ///
    /// # Errors
    /// `NotFound` without a directory or a store, `Refused` when the system grants no watch.
    pub fn new(live: &Path) -> Result<Self> {
        let root = store_path(live);
        live.metadata().doing("looking at", live)?;
        root.metadata().doing("looking at", &root)?;
        let watch = Watch::place(live, &root).map_err(|error| {
            let what = format!("{}: cannot be watched: {error}", live.display());
            Error::new(
                ErrorKind::Refused,
                what,
                "look instead (`checkpoint`), or raise the system's limit",
            )
        })?;
        let gathered = Gathered {
            gap: true,
            ..Gathered::default()
        };
        Ok(Self {
            live: live.to_owned(),
            root,
            watch: Some(watch),
            gathered,
        })
    }

    /// What may have changed since the last call.
    pub fn seen(&mut self) -> Seen {
        let placed = self
            .watch
            .as_ref()
            .is_some_and(|watch| watch.is_of(&self.live));
        if !placed || self.gathered.broken {
            // Started before live is looked at, so that no change is missed.
            self.watch = Watch::place(&self.live, &self.root).ok();
            self.gathered = Gathered {
                gap: true,
                ..Gathered::default()
            };
        } else if let Some(watch) = &self.watch
            && !watch.fence(&mut self.gathered)
        {
            (self.gathered.gap, self.gathered.broken) = (true, true);
        }
        let names = std::mem::take(&mut self.gathered.names);
        let gap = std::mem::take(&mut self.gathered.gap);
        if gap || self.watch.is_none() || !PROVES {
            Seen::Everything
        } else {
            Seen::Bands(names)
        }
    }

    /// Waits until something may have changed or the deadline has passed; returns whether it may
    /// have. Events are collected meanwhile, so none is lost.
    pub fn wait(&mut self, until: Instant) -> bool {
        loop {
            if self.gathered != Gathered::default() || self.watch.is_none() {
                return true;
            }
            if !self.take_one(until) {
                return false;
            }
        }
    }

    /// Collects events until the deadline.
    pub fn gather(&mut self, until: Instant) {
        while self.take_one(until) {}
    }

    /// Waits for an event or the deadline. Returns whether it was an event.
    fn take_one(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        let Some(watch) = &self.watch else {
            return false;
        };
        match watch.heard.recv_timeout(left) {
            Ok(event) => {
                self.gathered.take_in(event, watch);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                let first = !self.gathered.broken;
                self.gathered.broken = true;
                first
            }
        }
    }
}

impl Watch {
    fn place(live: &Path, root: &Path) -> notify::Result<Self> {
        let (live, root) = (live.canonicalize()?, root.canonicalize()?);
        let fence_path = root.join(FENCE);
        let open = |access| RealDisk.open(&fence_path, access);
        let fence = open(Access::Create).or_else(|_| open(Access::Write))?;
        let fence = PROVES.then_some(fence);
        let (say, heard) = sync_channel(CHANNEL);
        let mut watcher = notify::recommended_watcher(move |event| {
            let _ = say.send(event); // nobody listens: the watch is being replaced
        })?;
        // The store's directory first, because it is quiet: once live is watched, the thread may
        // wait for space.
        watcher.watch(&root, RecursiveMode::NonRecursive)?;
        let identity = os::identity(&live)?;
        watcher.watch(&live, RecursiveMode::NonRecursive)?;
        Ok(Self {
            heard,
            _watcher: watcher,
            live,
            fence_path,
            fence,
            identity,
        })
    }

    /// Whether the directory named live is the one that is watched.
    fn is_of(&self, live: &Path) -> bool {
        os::identity(live).is_ok_and(|identity| identity == self.identity)
    }

    fn write_fence(&self) -> std::io::Result<()> {
        match &self.fence {
            Some(fence) => fence.write_at(b"f", 0),
            None => RealDisk
                .open(&self.fence_path, Access::Write)?
                .write_at(b"f", 0),
        }
    }

    /// Collects all events up to now. Returns whether it has all of them.
    fn fence(&self, gathered: &mut Gathered) -> bool {
        let until = Instant::now() + FENCE_MOST;
        let mut again = true;
        loop {
            if std::mem::take(&mut again) && self.write_fence().is_err() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            let Ok(event) = self.heard.recv_timeout(left) else {
                return false;
            };
            // The queue was full, so the fence may be among the lost events.
            again = event.as_ref().map_or(true, Event::need_rescan);
            if gathered.take_in(event, self) {
                return true;
            }
        }
    }
}

impl Gathered {
    /// Records what an event names; returns whether it is the fence.
    fn take_in(&mut self, event: notify::Result<Event>, watch: &Watch) -> bool {
        let Ok(event) = event else {
            self.gap = true;
            return false;
        };
        self.gap |= event.need_rescan();
        if matches!(event.kind, EventKind::Access(_)) {
            return false; // reading changes nothing, and the store itself reads
        }
        let mut fence = false;
        for path in &event.paths {
            if *path == watch.fence_path {
                fence = matches!(
                    event.kind,
                    EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any)
                );
            } else if *path == watch.live {
                // The directory itself changed, so the watch may be gone.
                (self.gap, self.broken) = (true, true);
            } else if path.parent() == Some(watch.live.as_path()) {
                match path.file_name().and_then(|name| name.to_str()) {
                    Some(name) => _ = self.names.insert(name.to_owned()),
                    None => self.gap = true,
                }
            }
        }
        fence
    }
}
