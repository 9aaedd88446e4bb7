//! A band as the store knows it, and the step from its changed pages to what a record says.
//!
//! Invariant (D11): each leaf is read once into one buffer; what is hashed there is what is logged. A page
//! not logged is, byte for byte, what the epoch before has at that place.

use std::sync::Arc;

use crate::disk::DiskFile;
use crate::disk::Stamp;
use crate::pages::{LEAF, PAGE, PAGES_PER_LEAF, PageSet, index, runs};
use crate::record::{BandChange, BandState};
use crate::tree::{Tree, leaf_value, leaves_of};

/// Leaves that are read at a time, when they are neighbours: 256 KiB stay in the core's own cache.
const LEAVES_PER_READ: u64 = 16;

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
    /// Its pages were written back between that look and the reading: a store through a mapping moves the
    /// stamp from then on.
    pub(crate) settled: bool,
}

impl Band {
    /// The size changed to `bytes`: what may differ by that is marked.
    pub(crate) fn resize(&mut self, bytes: u64) {
        let old = self.size.unwrap_or(0);
        let (low, high) = (old.min(bytes), old.max(bytes));
        self.dirty.mark(low, high - low);
        // The page that either end lies in, and the first leaf: a band of one leaf is hashed in another way.
        self.dirty.mark(low.saturating_sub(1), u64::from(low > 0));
        self.dirty.mark(0, u64::from(low > 0 && low <= LEAF && high > LEAF));
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
pub(crate) enum Miss {
    Io(std::io::Error),
    /// The file is shorter than it should be.
    Short,
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
    let old_size = band.head.map_or(0, |head| head.size);
    let mut tree = if tree.size() == size { tree } else { Arc::new(tree.resized(size)) };
    let leaves = if band.unknown { (0..leaves_of(size)).collect() } else { band.dirty.leaves() };
    let mut changed = Vec::with_capacity(leaves.len());
    let mut pages = Vec::new();
    for (first, count) in runs(&leaves) {
        let end = (first + count).min(leaves_of(size));
        let mut leaf = first;
        while leaf < end {
            let until = end.min(leaf + LEAVES_PER_READ);
            read(file, size, leaf * LEAF, until * LEAF, scratch)?;
            for leaf_now in leaf..until {
                let from = index((leaf_now - leaf) * LEAF).min(scratch.buffer.len());
                let to = scratch.buffer.len().min(from + index(LEAF));
                let value = leaf_value(size, leaf_now, &scratch.buffer[from..to]);
                if tree.leaves()[index(leaf_now)] == value && (band.head.is_some() || size > 0) {
                    continue;
                }
                changed.push((leaf_now, value));
                let bytes = &scratch.buffer[from..to];
                carry(band, old_size, leaf_now, bytes, &mut pages, &mut scratch.pages);
            }
            leaf = until;
        }
    }
    if changed.is_empty() && band.head.is_some_and(|head| head.size == size) {
        return Ok((None, tree));
    }
    if !changed.is_empty() {
        Arc::make_mut(&mut tree).update(&changed);
    }
    let state = Some(BandState { size, id: tree.id() });
    Ok((Some(BandChange { name: name.to_owned(), state, runs: runs(&pages) }), tree))
}

fn read(file: &dyn DiskFile, size: u64, from: u64, to: u64, scratch: &mut Scratch) -> Result<(), Miss> {
    let wanted = index(to.min(size).saturating_sub(from));
    scratch.buffer.resize(wanted, 0);
    let got = file.read_at(&mut scratch.buffer, from).map_err(Miss::Io)?;
    scratch.read += got as u64;
    if got < wanted { Err(Miss::Short) } else { Ok(()) }
}

/// Takes the pages of a changed leaf that may differ: those marked, less zeros where the band had no bytes.
fn carry(band: &Band, old_size: u64, leaf: u64, bytes: &[u8], pages: &mut Vec<u64>, out: &mut Vec<u8>) {
    for (place, page_bytes) in bytes.chunks(index(PAGE)).enumerate() {
        let page = leaf * PAGES_PER_LEAF + place as u64;
        let marked = band.unknown || band.dirty.contains(page);
        let new_zeros = page * PAGE >= old_size && page_bytes.iter().all(|byte| *byte == 0);
        if marked && !new_zeros {
            pages.push(page);
            out.extend_from_slice(page_bytes);
            out.resize(out.len().next_multiple_of(index(PAGE)), 0);
        }
    }
}
