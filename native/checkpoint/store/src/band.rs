//! A band's state in memory, and how its changed pages become part of a record.
//!
//! Each leaf is read once into one buffer, so the bytes that are hashed are the bytes that are
//! logged (D11). A page that was read but not logged equals the same page in the last epoch,
//! whatever was marked.

use std::path::Path;
use std::sync::Arc;

use crate::attributes::{Attributes, KnownAttributes, have_changed};
use crate::disk::{DiskFile, Stamp};
use crate::error::{Error, ErrorKind};
use crate::pages::{LEAF, PAGE, PAGES_PER_LEAF, PageSet, index, runs};
use crate::record::{BandAt, BandChange, BandState};
use crate::tree::{Leaf, Tree, leaf_of, leaves_of};

/// Neighbouring leaves read at a time: 256 KiB stay in the core's own cache.
pub(crate) const LEAVES_PER_READ: u64 = 16;
/// From this many leaves on (2 MiB), two threads read a band: hashing them takes ten times as long
/// as starting a thread.
const LEAVES_BESIDE: usize = 128;

#[derive(Debug, Default)]
pub(crate) struct Band {
    /// State in the last epoch.
    pub(crate) head: Option<BandState>,
    /// The attributes of its file in the last epoch.
    pub(crate) attributes: KnownAttributes,
    /// The tree of `head`; read from the log when it is needed and not in memory.
    pub(crate) tree: Option<Arc<Tree>>,
    /// Size of the live file; none when there is no file.
    pub(crate) size: Option<u64>,
    /// Pages in which live may differ from `head`.
    pub(crate) dirty: PageSet,
    /// Set if live may differ anywhere.
    pub(crate) unknown: bool,
    /// A stamp of the live file while it was equal to `head`, and the wall clock at that moment.
    pub(crate) seen: Option<(Stamp, i64)>,
    /// The last such stamp before a rollback linked the file, which changes the inode's time and
    /// nothing else.
    pub(crate) linked: Option<(Stamp, i64)>,
    /// Set if pages were written back between that stamp and the reading, so that any later store
    /// through a mapping changes the stamp.
    pub(crate) settled: bool,
}

impl Band {
    /// The band in the last epoch.
    pub(crate) fn at_head(&self) -> Option<BandAt> {
        self.head.map(|state| BandAt {
            state,
            attributes: self.attributes.clone(),
        })
    }

    /// Sets the state in the last epoch.
    pub(crate) fn set_head(&mut self, head: Option<BandAt>) {
        (self.head, self.attributes) = match head {
            Some(head) => (Some(head.state), head.attributes),
            None => (None, None),
        };
    }

    /// Returns where live may differ from the last epoch.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            pages: self.dirty.clone(),
            unknown: self.unknown,
        }
    }

    /// Sets the size and marks what may differ because of it.
    pub(crate) fn resize(&mut self, bytes: u64) {
        let old = self.size.unwrap_or(0);
        let (low, high) = (old.min(bytes), old.max(bytes));
        self.dirty.mark(low, high - low);
        // Both pages in which an end lies, and the first leaf, because a band of a single leaf is
        // hashed differently.
        self.dirty.mark(low.saturating_sub(1), u64::from(low > 0));
        self.dirty
            .mark(0, u64::from(low > 0 && low <= LEAF && high > LEAF));
        self.size = Some(bytes);
    }
}

/// Buffers of a checkpoint; reused, so that the hot path does not allocate.
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
    /// The error, for the live file of a band that should have `size` bytes.
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

/// Builds the record of one band: takes its leaves in ascending order, returns a change and a tree.
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
    /// The leaves of a band of `size` bytes that must be read, ascending.
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
    /// Reads leaves in ascending order and hands them on; returns their size in bytes.
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

    /// Appends the results of later leaves.
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

    /// Hashes neighbouring leaves and keeps the pages of those that changed.
    pub(crate) fn take(&mut self, first: u64, bytes: &[u8], out: &mut Vec<u8>) {
        // An empty band has one leaf without bytes.
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

    /// Keeps the pages of a changed leaf that may differ: marked pages, and pages that differ
    /// without a mark; but no zeros where the band had no bytes.
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

    /// The change, if there is one, and the new tree. `before` are the attributes in the last epoch,
    /// `now` those of the file.
    pub(crate) fn done(
        mut self,
        before: Option<&Attributes>,
        now: KnownAttributes,
    ) -> (Option<BandChange>, Arc<Tree>) {
        // The tree is that of the readable bytes of `head`, which may be damaged.
        let is_head = |head: BandState| head.size == self.size && head.id == self.tree.id();
        let same_rights = !have_changed(before, now.as_deref());
        if self.changed.is_empty() && self.head.is_some_and(is_head) && same_rights {
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
                attributes: now,
                runs: runs(&self.pages),
            }),
            self.tree,
        )
    }
}

/// Collects what differs between the live file of `size` bytes and `head`. Returns the change, if
/// there is one, and the new tree; `tree` is that of `head`.
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
    let before = band.attributes.as_deref();
    let mut collecting = Collecting::new(name, band.head, size, marks, tree);
    let Scratch {
        pages,
        buffer,
        read,
    } = scratch;
    if leaves.len() < LEAVES_BESIDE {
        // Reserved at once: growing to megabytes would move them, and unused memory is never
        // touched.
        pages.reserve(leaves.len() * index(LEAF));
        *read += collecting.take_all(&leaves, file, buffer, pages)?;
        return Ok(collecting.done(before, attributes_of(file)?));
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
        // No thread could be started.
        Err(_) => rest.take_all(back, file, &mut rest_buffer, &mut rest_pages)?,
    };
    collecting.join(rest);
    pages.append(&mut rest_pages);
    Ok(collecting.done(before, attributes_of(file)?))
}

fn attributes_of(file: &dyn DiskFile) -> Result<KnownAttributes, Miss> {
    Ok(file.attributes().map_err(Miss::Io)?.map(Arc::new))
}

/// Reads leaves up to the end of a band of `size` bytes; returns their size in bytes.
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
