//! Takes a checkpoint while other threads write through the store: they wait while a few leaves are
//! read, and never for a hash, an append or a sync.
//!
//! ```text
//! Store::begin ─▶ Store::feed ─▶ Pending::run ─▶ Store::finish
//!  marks move      reads a few     hashes them;     the new epoch is the last one,
//!  to it           leaves    ◀──┘  at the end       or the marks move back
//!                                  appends, syncs
//! ```
//! The record holds live as it was at [`Store::begin`] (D15): a leaf that is about to change is
//! read first (*rescued*). Later writes are marked for the next checkpoint, and stay marked if this
//! one fails. Until it is finished, nothing else is appended to the log.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::attributes::KnownAttributes;
use crate::band::{Collecting, Marks};
use crate::capture::{Capture, Shot};
use crate::disk::Disk;
use crate::error::{Error, ErrorKind, Result};
use crate::history::BandReader;
use crate::index::cached_tree;
use crate::log::{Epoch, Tail};
use crate::record::{BandChange, BandState, Meta, StateSum};
use crate::store::{CollectedBand, Store, Taken, nanoseconds};
use crate::tree::Tree;

/// A running checkpoint. Dropping it gives it up; dropping it while it appends stops the store,
/// because it is unknown how much was written.
#[derive(Debug)]
pub struct Pending {
    name: String,
    begin: Instant,
    hash_ns: u64,
    read: u64,
    /// Trees that were read from the cache, and those that had to be computed.
    loads: u64,
    misses: u64,
    /// Bands that were not begun.
    left: VecDeque<String>,
    current: Option<Current>,
    /// Set if the last bytes that were read are not hashed yet.
    fed: bool,
    collected: Vec<CollectedBand>,
    pages: Vec<u8>,
    /// The sum over all bands, once everything was read.
    sum: StateSum,
    /// Lent by the log once everything was read.
    tail: Option<Tail>,
    outcome: Option<Result<Epoch>>,
    /// A band whose stored bytes of the last epoch are damaged.
    doubted: Option<String>,
    disk: Arc<dyn Disk>,
    root: PathBuf,
    out: Arc<()>,
    /// Keeps other processes from opening the store.
    _held: Arc<dyn Any + Send + Sync>,
}

/// The band that is being read.
#[derive(Debug)]
struct Current {
    name: String,
    head: Option<BandState>,
    size: u64,
    /// The attributes of its file, in the last epoch and now.
    attributes: [KnownAttributes; 2],
    way: Way,
    /// The first of the leaves that were read and not hashed, if any.
    first: Option<u64>,
    buffer: Vec<u8>,
    /// Set once the whole band was read.
    last: bool,
}

#[derive(Debug)]
enum Way {
    /// The hash tree of the last epoch must first be loaded from the cache or computed from the
    /// log.
    Past(Marks, Box<BandReader>),
    Collecting(Box<Collecting>),
}

impl Store {
    /// Takes a checkpoint like [`Store::checkpoint`], while other threads write through the store.
    /// Any other call on the store meanwhile returns `Locked`.
    ///
    /// # Errors
    /// As [`Store::checkpoint`]; `Locked` while another one is running; `Torn` when a page was
    /// marked by [`Store::mark_dirty`] after this began and before the page was read. Owners that
    /// write by their own means hold the lock of the store while they write, and use
    /// [`Store::checkpoint`].
    pub fn checkpoint_beside(store: &Mutex<Self>, name: &str) -> Result<Taken> {
        let held = || store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pending = held().begin(name)?;
        while held().feed(&mut pending) {
            pending.run();
        }
        held().finish(pending)
    }

    /// Begins a checkpoint of live as it is now.
    ///
    /// # Errors
    /// As [`Store::checkpoint_beside`]; then nothing was begun.
    pub fn begin(&mut self, name: &str) -> Result<Pending> {
        let begin = Instant::now();
        self.refuse_while_pending()?;
        self.log.refuse_if_stopped()?;
        self.check_name(name)?;
        let out = Arc::new(());
        let (mut marks, mut unread) = (BTreeMap::new(), BTreeMap::new());
        let (mut collected, mut left) = (Vec::new(), VecDeque::new());
        for name in &self.dirty {
            let band = self.bands.entry(name.clone()).or_default();
            let its = Marks {
                pages: std::mem::take(&mut band.dirty),
                unknown: std::mem::take(&mut band.unknown),
            };
            if let Some(size) = band.size {
                unread.insert(name.clone(), Shot::new(size, band.head, &its));
                left.push_back(name.clone());
            } else {
                let change = band.head.map(|_| BandChange::removed(name.clone()));
                collected.push(CollectedBand {
                    name: name.clone(),
                    change,
                    tree: None,
                });
            }
            marks.insert(name.clone(), its);
        }
        self.capture = Some(Capture {
            out: Arc::downgrade(&out),
            marks,
            unread,
            failed: None,
        });
        Ok(Pending {
            name: name.to_owned(),
            begin,
            hash_ns: 0,
            read: 0,
            loads: 0,
            misses: 0,
            left,
            current: None,
            fed: false,
            collected,
            pages: Vec::new(),
            sum: StateSum::default(),
            tail: None,
            outcome: None,
            doubted: None,
            disk: Arc::clone(&self.disk),
            root: self.root.clone(),
            out,
            _held: Arc::clone(&self.held),
        })
    }

    /// Reads the leaves that [`Pending::run`] works on next, unless it has some already. Returns
    /// whether there is anything to do; if not, finish it.
    pub fn feed(&mut self, pending: &mut Pending) -> bool {
        if pending.outcome.is_none() && pending.tail.is_none() && !pending.fed {
            pending.outcome = Some(Err(cut_short())); // if the call panics
            pending.outcome = self.read_on(pending).err().map(Err);
        }
        pending.outcome.is_none()
    }

    /// Reads a few leaves, or lends the end of the log once all were read.
    fn read_on(&mut self, pending: &mut Pending) -> Result<()> {
        let capture = self
            .capture
            .as_mut()
            .filter(|it| it.out.as_ptr() == Arc::as_ptr(&pending.out));
        let Some(capture) = capture else {
            return Err(unknown());
        };
        if let Some(error) = capture.failed.take() {
            return Err(error);
        }
        if pending.current.is_none() {
            pending.current = pending
                .left
                .pop_front()
                .map(|name| self.turn_to(name))
                .transpose()?;
        }
        let Some(current) = &mut pending.current else {
            self.refuse_unless_whole(pending)?;
            let changes: Vec<_> = pending
                .collected
                .iter()
                .filter_map(|band| band.change.clone())
                .collect();
            pending.sum = self.sum_after(&changes);
            pending.tail = Some(self.log.lend()?);
            return Ok(());
        };
        current.first = None;
        let next = self.shot(&current.name)?.next();
        if let Some((first, until, rescued)) = next {
            match rescued {
                Some(bytes) => current.buffer = bytes,
                None => self.read_shot(&current.name, first, until, &mut current.buffer)?,
            }
            current.first = Some(first);
            pending.read += current.buffer.len() as u64;
        }
        current.last = self.shot(&current.name)?.is_read();
        pending.fed = true;
        if let Some(capture) = self.capture.as_mut().filter(|_| current.last) {
            capture.unread.remove(&current.name);
        }
        Ok(())
    }

    fn shot(&mut self, name: &str) -> Result<&mut Shot> {
        self.capture
            .as_mut()
            .and_then(|capture| capture.unread.get_mut(name))
            .ok_or_else(unknown)
    }

    /// Returns an error unless everything that was marked was read and hashed.
    fn refuse_unless_whole(&self, pending: &Pending) -> Result<()> {
        let whole =
            |it: &Capture| it.unread.is_empty() && it.marks.len() == pending.collected.len();
        if self.capture.as_ref().is_some_and(whole) {
            Ok(())
        } else {
            Err(cut_short())
        }
    }

    fn turn_to(&mut self, name: String) -> Result<Current> {
        let Some(capture) = &self.capture else {
            return Err(unknown());
        };
        let (Some(shot), Some(marks)) = (capture.unread.get(&name), capture.marks.get(&name))
        else {
            return Err(unknown());
        };
        let (head, size, marks) = (shot.head, shot.size, marks.clone());
        let before = self.bands.get(&name);
        let before = before.and_then(|band| band.attributes.clone());
        let attributes = [before, self.shot_attributes(&name)?];
        // Shared until new leaves are added, because the store keeps the tree of the last epoch.
        let tree = match (
            self.bands.get(&name).and_then(|band| band.tree.clone()),
            head,
        ) {
            (Some(tree), _) => {
                self.work.count.hits += 1;
                Some(tree)
            }
            (None, None) => Some(Arc::new(Tree::of(&[]))),
            (None, Some(_)) => None,
        };
        let way = match tree {
            Some(tree) => {
                Way::Collecting(Box::new(Collecting::new(&name, head, size, marks, tree)))
            }
            None => Way::Past(
                marks,
                Box::new(self.history.band_at(&name, self.history.head())?),
            ),
        };
        Ok(Current {
            name,
            head,
            size,
            attributes,
            way,
            first: None,
            buffer: vec![],
            last: false,
        })
    }

    /// Adds a finished checkpoint to the store. A failed or unfinished one is given up, and its
    /// marks move back.
    ///
    /// # Errors
    /// As [`Store::checkpoint_beside`].
    pub fn finish(&mut self, mut pending: Pending) -> Result<Taken> {
        let ours = |capture: &mut Capture| capture.out.as_ptr() == Arc::as_ptr(&pending.out);
        let Some(capture) = self.capture.take_if(ours) else {
            return Err(unknown());
        };
        match pending.tail.take() {
            Some(tail) => self.log.give_back(tail),
            None => self.log.give_up_lent(), // lost with the step that had it
        }
        self.work.count.loads += pending.loads;
        self.work.count.misses += pending.misses;
        let given_up = || {
            let what = format!("{:?} was given up", pending.name);
            Error::new(
                ErrorKind::Refused,
                what,
                "run it to its end before it is finished",
            )
        };
        match pending.outcome.take().unwrap_or_else(|| Err(given_up())) {
            Err(error) => {
                self.put_back(capture);
                pending.doubted.iter().for_each(|name| self.doubt(name));
                Err(error)
            }
            Ok(epoch) => {
                let append_ns = nanoseconds(pending.begin).saturating_sub(pending.hash_ns);
                let (read_bytes, hash_ns) = (pending.read, pending.hash_ns);
                let (checkpoint, written_bytes) =
                    self.take_in(epoch, pending.pages.len() as u64, pending.collected);
                for name in capture.marks.keys() {
                    self.forget_if_clean(name);
                }
                Ok(Taken {
                    checkpoint,
                    read_bytes,
                    written_bytes,
                    hash_ns,
                    append_ns,
                })
            }
        }
    }

    /// Unmarks a band that was not written to since the checkpoint began: it equals the checkpoint.
    fn forget_if_clean(&mut self, name: &str) {
        let clean = self.bands.get(name).is_none_or(|band| {
            band.dirty.is_empty() && !band.unknown && band.size == band.head.map(|head| head.size)
        });
        if clean {
            self.dirty.remove(name);
        }
    }
}

/// The error for a [`Pending`] of another store, or of a store that continued without it.
fn unknown() -> Error {
    Error::new(
        ErrorKind::Refused,
        "not a checkpoint that this store has begun",
        "finish each one, once",
    )
}

/// The error after a step that did not end: what it left out is unknown.
fn cut_short() -> Error {
    let what = "a step of this checkpoint was cut short";
    Error::new(
        ErrorKind::Refused,
        what,
        "take another one: what was marked still is",
    )
}

impl Pending {
    /// Hashes what was read; once everything was, appends the record and syncs it. Needs no store,
    /// and takes most of a checkpoint's time. Failures are reported by [`Store::finish`].
    pub fn run(&mut self) {
        if self.outcome.is_some() {
            return;
        }
        let tail = self.tail.take();
        self.outcome = Some(Err(cut_short())); // if the call panics
        let done = match tail {
            Some(mut tail) => {
                let committed = self.commit(&mut tail);
                self.tail = Some(tail);
                Some(committed)
            }
            None => self.digest().err().map(Err),
        };
        self.outcome = done;
    }

    fn digest(&mut self) -> Result<()> {
        let Some(mut current) = self.current.take() else {
            return Ok(());
        };
        let mut collecting = match current.way {
            Way::Collecting(collecting) => collecting,
            Way::Past(ref marks, ref reader) => {
                let (marks, tree) = (marks.clone(), self.past_tree(&current, marks, reader)?);
                Box::new(Collecting::new(
                    &current.name,
                    current.head,
                    current.size,
                    marks,
                    tree,
                ))
            }
        };
        // Taken, so that it is not hashed twice.
        if let Some(first) = current.first.take() {
            collecting.take(first, &current.buffer, &mut self.pages);
        }
        if current.last {
            let [before, now] = current.attributes;
            let (change, tree) = collecting.done(before.as_deref(), now);
            self.collected.push(CollectedBand {
                name: current.name,
                change,
                tree: Some(tree),
            });
        } else {
            current.way = Way::Collecting(collecting);
            self.current = Some(current);
        }
        self.fed = false;
        Ok(())
    }

    fn commit(&mut self, tail: &mut Tail) -> Result<Epoch> {
        self.hash_ns = nanoseconds(self.begin);
        let created_ns = self.disk.now().wall_ns;
        let bands = self
            .collected
            .iter_mut()
            .filter_map(|band| band.change.take())
            .collect();
        let meta = Meta::Checkpoint {
            name: self.name.clone(),
            created_ns,
            bands,
        };
        tail.append(meta, &self.pages, self.sum)
    }

    /// Loads or computes the tree of a band as of the last epoch, which was not in memory.
    fn past_tree(
        &mut self,
        current: &Current,
        marks: &Marks,
        reader: &BandReader,
    ) -> Result<Arc<Tree>> {
        let Some(head) = current.head else {
            return Err(unknown());
        };
        if let Some(tree) = cached_tree(self.disk.as_ref(), &self.root, &current.name, head) {
            self.loads += 1;
            return Ok(Arc::new(tree));
        }
        self.misses += 1;
        let tree = reader.tree()?;
        if tree.id() == head.id || marks.unknown {
            return Ok(Arc::new(tree));
        }
        let name = &current.name;
        self.doubted = Some(name.clone()); // only marked pages are read this time
        Err(Error::damaged(format!(
            "band {name:?}: what is stored of the last epoch has another id"
        ))
        .advising("take the checkpoint again: it then reads all of the band"))
    }
}
