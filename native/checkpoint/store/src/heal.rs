//! Restores pages that decayed in the store from live, if live still has them.
//!
//! It is not known which bytes of a band decayed, only that together they do not have its id. So
//! pages of live are tried in place of stored ones: all that differ, each run of neighbours, and
//! each page alone. Bytes that have the id are right, whatever the stamps and times of live say.
//! They are kept in memory as they were hashed, and a repair writes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::DiskFile;
use crate::history::BandReader;
use crate::pages::{LEAF, PAGE, PAGES_PER_LEAF, index, runs};
use crate::tree::{Id, Tree, leaf_of};

/// The right bytes for decayed ones, by file and offset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Healed(BTreeMap<PathBuf, BTreeMap<u64, Vec<u8>>>);

impl Healed {
    /// Takes in pages of a band that [`pages_from`] found; false if one of them is stored nowhere.
    pub(crate) fn take_in(&mut self, reader: &BandReader, pages: BTreeMap<u64, Vec<u8>>) -> bool {
        let places = pages.into_iter().map(|(page, mut bytes)| {
            let (path, at, count) = reader.place_of(page)?;
            bytes.truncate(index(count));
            Some((path, at, bytes))
        });
        let Some(places) = places.collect::<Option<Vec<_>>>() else {
            return false;
        };
        for (path, at, bytes) in places {
            self.0.entry(path).or_default().insert(at, bytes);
        }
        true
    }

    /// Returns whether bytes of a file are replaced.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    /// Replaces what was read of a file from `offset` on.
    pub(crate) fn correct(&self, path: &Path, offset: u64, read: &mut [u8]) {
        let end = offset + read.len() as u64;
        let pages = self.0.get(path).map(|pages| pages.range(offset..end));
        for (at, bytes) in pages.into_iter().flatten() {
            let from = index(at - offset);
            let count = bytes.len().min(read.len() - from);
            read[from..from + count].copy_from_slice(&bytes[..count]);
        }
    }
}

/// Returns pages of live with which the stored bytes have the id, if there are any. `tree` is that
/// of the stored bytes.
pub(crate) fn pages_from(
    live: &dyn DiskFile,
    reader: &BandReader,
    mut tree: Tree,
    id: Id,
) -> Option<BTreeMap<u64, Vec<u8>>> {
    let all = differing(live, &tree);
    let mut choices = vec![all.clone()];
    let stretches = runs(&all).into_iter().filter(|(_, count)| *count > 1);
    choices.extend(stretches.map(|(first, count)| (first..first + count).collect()));
    choices.extend(all.into_iter().map(|page| vec![page]));
    choices
        .into_iter()
        .filter(|pages| !pages.is_empty())
        .find_map(|pages| try_pages(live, reader, &mut tree, id, &pages))
}

/// Returns the pages in which live differs from the stored bytes.
fn differing(live: &dyn DiskFile, tree: &Tree) -> Vec<u64> {
    let (size, mut bytes, mut pages) = (tree.size(), vec![0; index(PAGE)], Vec::new());
    for page in 0..size.div_ceil(PAGE) {
        let count = index(PAGE.min(size - page * PAGE));
        let whole = live.read_at(&mut bytes[..count], page * PAGE).ok() == Some(count);
        let sums = tree.leaf(page / PAGES_PER_LEAF).pages;
        if whole && xxh3_64(&bytes[..count]) != sums[index(page % PAGES_PER_LEAF)] {
            pages.push(page);
        }
    }
    pages
}

/// Returns these pages of live if the band has the id with them. The tree stays unchanged.
fn try_pages(
    live: &dyn DiskFile,
    reader: &BandReader,
    tree: &mut Tree,
    id: Id,
    pages: &[u64],
) -> Option<BTreeMap<u64, Vec<u8>>> {
    let size = tree.size();
    let (mut before, mut after, mut taken) = (Vec::new(), Vec::new(), BTreeMap::new());
    for neighbours in pages.chunk_by(|a, b| a / PAGES_PER_LEAF == b / PAGES_PER_LEAF) {
        let leaf = neighbours[0] / PAGES_PER_LEAF;
        let begin = leaf * LEAF;
        let mut bytes = vec![0; index(LEAF.min(size - begin))];
        reader.read(begin, &mut bytes).ok()?;
        for page in neighbours {
            let from = index(page * PAGE - begin);
            let end = bytes.len().min(from + index(PAGE));
            let count = live.read_at(&mut bytes[from..end], page * PAGE).ok()?;
            if count < end - from {
                return None; // it was cut meanwhile
            }
            taken.insert(*page, bytes[from..end].to_vec());
        }
        before.push((leaf, tree.leaf(leaf)));
        after.push((leaf, leaf_of(size, leaf, &bytes)));
    }
    tree.update(&after);
    let found = tree.id() == id;
    tree.update(&before);
    found.then_some(taken)
}
