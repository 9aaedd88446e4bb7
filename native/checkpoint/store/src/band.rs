//! A band's state in memory, and how its changed pages become part of a record.
//!
//! Each leaf is read once into one buffer, and what is hashed there is what is logged (D11). A page
//! of a leaf that was read but not logged equals that page in the last epoch, by its sum, whatever
//! was marked.

use std::path::Path;
use std::sync::Arc;

use crate::disk::{DiskFile, Stamp};
use crate::error::{Error, ErrorKind};
use crate::pages::{LEAF, PAGE, PAGES_PER_LEAF, PageSet, index, runs};
use crate::record::{BandChange, BandState};
use crate::tree::{Leaf, Tree, leaf_of, leaves_of};

/// Leaves that are read at a time, when they are neighbours: 256 KiB stay in the core's own cache.
pub(crate) const LEAVES_PER_READ: u64 = 16;
/// From so many leaves on (2 MiB) a band is read by two threads: hashing them takes ten times what a thread
/// takes to begin.
const LEAVES_BESIDE: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Band {
    /// As of the last epoch.
    pub(crate) head: Option<BandState>,
    /// The tree of `head`; read from the past when it is needed and not there.
    pub(crate) tree: Option<Arc<Tree>>,
    /// Bytes of the live file; nothing when there is none.
    pub(crate) size: Option<u64>,
    /// Pages in which live may differ from `head`.
    pub(crate) dirty: PageSet,
    /// Live may differ anywhere.
    pub(crate) unknown: bool,
    /// Live at the moment it was equal to `head`, and the wall clock then.
    pub(crate) seen: Option<(Stamp, i64)>,
    /// The last of these before a rollback linked its file, which moved the inode's time and nothing else.
    pub(crate) linked: Option<(Stamp, i64)>,
    /// Its pages were written back between that look and the reading: a store through a mapping moves the
    /// stamp from then on.
    pub(crate) settled: bool,
}

impl Band {
    /// Where it may differ from the last epoch.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            pages: self.dirty.clone(),
            unknown: self.unknown,
        }
    }

    /// The size changed to `bytes`: what may differ by that is marked.
    pub(crate) fn resize(&mut self, bytes: u64) {
        let old = self.size.unwrap_or(0);
        let (low, high) = (old.min(bytes), old.max(bytes));
        self.dirty.mark(low, high - low);
        // The page that either end lies in, and the first leaf: a band of one leaf is hashed in another way.
        self.dirty.mark(low.saturating_sub(1), u64::from(low > 0));
        self.dirty
            .mark(0, u64::from(low > 0 && low <= LEAF && high > LEAF));
        self.size = Some(bytes);
    }
}

/// What one checkpoint reads and carries; reused, so that the hot path does not allocate.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The pages of the record.
    pub(crate) pages: Vec<u8>,
    buffer: Vec<u8>,
    /// Bytes that were read.
    pub(crate) read: u64,
}

/// Why a band could not be collected.
#[derive(Debug)]
pub(crate) enum Miss {
    Io(std::io::Error),
    /// The file is shorter than it should be.
    Short,
}

impl Miss {
    /// Said of the live file of a band that should have `size` bytes.
    pub(crate) fn of(self, path: &Path, size: u64) -> Error {
        match self {
            Self::Io(error) => Error::io("reading", path, error),
            Self::Short => {
                let what = format!("{}: shorter than {size} bytes", path.display());
                let advice = "say `set_len` when you cut a band, or use the observed mode";
                Error::new(ErrorKind::Torn, what, advice)
            }
        }
    }
}

/// One band on its way into a record: its leaves go in, ascending; a change and a tree come out.
#[derive(Clone, Debug)]
pub(crate) struct Collecting {
    name: String,
    head: Option<BandState>,
    size: u64,
    marks: Marks,
    tree: Arc<Tree>,
    changed: Vec<(u64, Leaf)>,
    pages: Vec<u64>,
}

/// Where a band may differ from the last epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) pages: PageSet,
    /// Anywhere.
    pub(crate) unknown: bool,
}

impl Marks {
    /// The leaves that must be read of a band of `size` bytes, ascending.
    pub(crate) fn leaves(&self, size: u64) -> Vec<u64> {
        let end = leaves_of(size);
        if self.unknown {
            return (0..end).collect();
        }
        let mut leaves = self.pages.leaves();
        leaves.retain(|leaf| *leaf < end);
        leaves
    }
}

impl Collecting {
    /// Reads leaves, ascending, and takes them; answers how many bytes they were.
    fn take_all(
        &mut self,
        leaves: &[u64],
        file: &dyn DiskFile,
        buffer: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<u64, Miss> {
        let mut bytes = 0;
        for (first, count) in runs(leaves) {
            let end = first + count;
            let mut leaf = first;
            while leaf < end {
                let until = end.min(leaf + LEAVES_PER_READ);
                bytes += read(file, self.size, leaf, until, buffer)?;
                self.take(leaf, buffer, out);
                leaf = until;
            }
        }
        Ok(bytes)
    }

    /// What was found in later leaves.
    fn join(&mut self, mut later: Self) {
        self.changed.append(&mut later.changed);
        self.pages.append(&mut later.pages);
    }

    /// A band whose live file has `size` bytes; `tree` is that of `head`.
    pub(crate) fn new(
        name: &str,
        head: Option<BandState>,
        size: u64,
        marks: Marks,
        tree: Arc<Tree>,
    ) -> Self {
        let tree = if tree.size() == size {
            tree
        } else {
            Arc::new(tree.resized(size))
        };
        Self {
            name: name.to_owned(),
            head,
            size,
            marks,
            tree,
            changed: vec![],
            pages: vec![],
        }
    }

    /// Takes neighbouring leaves: hashes them, and keeps the pages of those that changed.
    pub(crate) fn take(&mut self, first: u64, bytes: &[u8], out: &mut Vec<u8>) {
        // The one leaf of an empty band has no bytes.
        let count = (bytes.len() as u64).div_ceil(LEAF).max(1);
        for leaf in first..first + count {
            let from = index((leaf - first) * LEAF);
            let bytes = &bytes[from..bytes.len().min(from + index(LEAF))];
            let (old, new) = (self.tree.leaf(leaf), leaf_of(self.size, leaf, bytes));
            if old.value == new.value && (self.head.is_some() || self.size > 0) {
                continue;
            }
            self.changed.push((leaf, new));
            self.carry(leaf, bytes, (&old, &new), out);
        }
    }

    /// Takes the pages of a changed leaf that may differ: those marked, and those that differ although nobody
    /// marked them; less zeros where the band had no bytes.
    fn carry(&mut self, leaf: u64, bytes: &[u8], (old, new): (&Leaf, &Leaf), out: &mut Vec<u8>) {
        let old_size = self.head.map_or(0, |head| head.size);
        for (place, page_bytes) in bytes.chunks(index(PAGE)).enumerate() {
            let page = leaf * PAGES_PER_LEAF + place as u64;
            let marked = self.marks.unknown
                || self.marks.pages.contains(page)
                || old.pages[place] != new.pages[place];
            let new_zeros = page * PAGE >= old_size && page_bytes.iter().all(|byte| *byte == 0);
            if marked && !new_zeros {
                self.pages.push(page);
                out.extend_from_slice(page_bytes);
                out.resize(out.len().next_multiple_of(index(PAGE)), 0);
            }
        }
    }

    /// What changed, if anything did, and the new tree.
    pub(crate) fn done(mut self) -> (Option<BandChange>, Arc<Tree>) {
        // The tree is of what can be read of `head`, which need not be what it should be.
        let is_head = |head: BandState| head.size == self.size && head.id == self.tree.id();
        if self.changed.is_empty() && self.head.is_some_and(is_head) {
            return (None, self.tree);
        }
        if !self.changed.is_empty() {
            Arc::make_mut(&mut self.tree).update(&self.changed);
        }
        let state = Some(BandState {
            size: self.size,
            id: self.tree.id(),
        });
        (
            Some(BandChange {
                name: self.name,
                state,
                runs: runs(&self.pages),
            }),
            self.tree,
        )
    }
}

/// What differs between the live file of `size` bytes and `head`. Answers the change, if there is any, and
/// the new tree; `tree` is that of `head`.
pub(crate) fn collect(
    name: &str,
    band: &Band,
    size: u64,
    file: &dyn DiskFile,
    tree: Arc<Tree>,
    scratch: &mut Scratch,
) -> Result<(Option<BandChange>, Arc<Tree>), Miss> {
    let marks = band.marks();
    let leaves = marks.leaves(size);
    let mut collecting = Collecting::new(name, band.head, size, marks, tree);
    let Scratch {
        pages,
        buffer,
        read,
    } = scratch;
    if leaves.len() < LEAVES_BESIDE {
        // At once: they grow to megabytes by moving, and what is not used is never touched.
        pages.reserve(leaves.len() * index(LEAF));
        *read += collecting.take_all(&leaves, file, buffer, pages)?;
        return Ok(collecting.done());
    }
    let (front, back) = leaves.split_at(leaves.len() / 2);
    let (mut rest, mut rest_buffer, mut rest_pages) = (collecting.clone(), Vec::new(), Vec::new());
    let (taken, beside) = std::thread::scope(|scope| {
        let take = || rest.take_all(back, file, &mut rest_buffer, &mut rest_pages);
        let beside = std::thread::Builder::new().spawn_scoped(scope, take);
        let taken = collecting.take_all(front, file, buffer, pages);
        (
            taken,
            beside.map(|it| {
                it.join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
        )
    });
    *read += taken?;
    *read += match beside {
        Ok(taken) => taken?,
        // There was no thread to be had.
        Err(_) => rest.take_all(back, file, &mut rest_buffer, &mut rest_pages)?,
    };
    collecting.join(rest);
    pages.append(&mut rest_pages);
    Ok(collecting.done())
}

/// Reads leaves, up to the end of a band of `size` bytes; answers how many bytes they are.
pub(crate) fn read(
    file: &dyn DiskFile,
    size: u64,
    leaf: u64,
    until: u64,
    buffer: &mut Vec<u8>,
) -> Result<u64, Miss> {
    let from = leaf * LEAF;
    buffer.resize(index((until * LEAF).min(size).saturating_sub(from)), 0);
    let got = file.read_at(buffer, from).map_err(Miss::Io)?;
    if got < buffer.len() {
        Err(Miss::Short)
    } else {
        Ok(got as u64)
    }
}
