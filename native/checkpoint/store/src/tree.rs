//! A band's hash as a tree over leaves of 16 KiB, so that a changed leaf costs its own bytes and
//! one path.
//!
//! [`Tree::id`] equals the plain BLAKE3 of the band's bytes: BLAKE3 is a binary tree whose left
//! subtrees are complete. Pairing neighbours level by level, with an odd last one moving up, builds
//! the same tree (BLAKE3 paper §2.1; `blake3::hazmat`). Each leaf also keeps sums of its pages,
//! which show changed pages at a twentieth of a hash's cost.

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

pub(crate) use blake3::hazmat::ChainingValue;

use xxhash_rust::xxh3::xxh3_64;

use crate::pages::{LEAF, PAGE, PAGES_PER_LEAF, index};

/// The plain BLAKE3 of a band.
pub type Id = [u8; 32];

/// Hash and sums of one leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its node of the hash tree.
    pub value: ChainingValue,
    /// XXH3 of each of its pages; 0 beyond the end of the band.
    pub pages: [u64; PAGES],
}

/// Pages of a leaf.
#[allow(clippy::cast_possible_truncation, reason = "four")]
const PAGES: usize = PAGES_PER_LEAF as usize;
/// Bytes of a leaf in [`Tree::to_bytes`].
const LEAF_BYTES: usize = 32 + 8 * PAGES;

/// The hash tree of one band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// Sums of each leaf's pages.
    sums: Vec<[u64; PAGES]>,
    /// The leaves' values first; each level is half as long, down to two nodes or one.
    levels: Vec<Vec<ChainingValue>>,
}

/// The number of leaves of a band of `size` bytes; an empty band has one.
#[must_use]
pub fn leaves_of(size: u64) -> u64 {
    size.div_ceil(LEAF).max(1)
}

/// The value of a leaf of a band of `size` bytes. A band of one leaf has no tree: the leaf's value
/// is its id.
#[must_use]
pub fn leaf_of(size: u64, leaf: u64, bytes: &[u8]) -> Leaf {
    let value = if size <= LEAF {
        *blake3::hash(bytes).as_bytes()
    } else {
        blake3::Hasher::new()
            .set_input_offset(leaf * LEAF)
            .update(bytes)
            .finalize_non_root()
    };
    let mut pages = [0; PAGES];
    for (sum, page) in pages.iter_mut().zip(bytes.chunks(index(PAGE))) {
        *sum = xxh3_64(page);
    }
    Leaf { value, pages }
}

impl Tree {
    /// A tree over the leaves' values, in order.
    ///
    /// # Panics
    /// When their number does not fit `size`: a mistake in the caller.
    #[must_use]
    pub fn new(size: u64, leaves: &[Leaf]) -> Self {
        assert_eq!(
            leaves.len() as u64,
            leaves_of(size),
            "a value for each leaf"
        );
        let values = leaves.iter().map(|leaf| leaf.value).collect();
        Self::over(size, values, leaves.iter().map(|leaf| leaf.pages).collect())
    }

    fn over(size: u64, values: Vec<ChainingValue>, sums: Vec<[u64; PAGES]>) -> Self {
        let mut tree = Self {
            size,
            sums,
            levels: vec![values],
        };
        while tree.levels.last().is_some_and(|level| level.len() > 2) {
            let below = &tree.levels[tree.levels.len() - 1];
            let level = (0..below.len().div_ceil(2))
                .map(|node| parent(below, node))
                .collect();
            tree.levels.push(level);
        }
        tree
    }

    /// The tree of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let size = bytes.len() as u64;
        let mut leaves: Vec<_> = Vec::with_capacity(index(leaves_of(size)));
        for (leaf, bytes) in bytes.chunks(index(LEAF)).enumerate() {
            leaves.push(leaf_of(size, leaf as u64, bytes));
        }
        if bytes.is_empty() {
            leaves.push(leaf_of(0, 0, &[]));
        }
        Self::new(size, &leaves)
    }

    /// The bytes that [`Tree::from_bytes`] reads.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.levels[0].concat();
        bytes.extend(self.sums.iter().flatten().flat_map(|sum| sum.to_le_bytes()));
        let seal = xxh3_64(&bytes);
        bytes.extend_from_slice(&seal.to_le_bytes());
        bytes
    }

    /// The length of [`Tree::to_bytes`] for a band of `size` bytes.
    pub(crate) fn bytes_of(size: u64) -> usize {
        index(leaves_of(size)) * LEAF_BYTES + 8
    }

    /// Reads what [`Tree::to_bytes`] wrote of a band of `size` bytes; none if it is incomplete.
    pub(crate) fn from_bytes(size: u64, bytes: &[u8]) -> Option<Self> {
        let (body, seal) = bytes.split_at_checked(Self::bytes_of(size).checked_sub(8)?)?;
        if seal != xxh3_64(body).to_le_bytes() {
            return None;
        }
        let (values, sums) = body.split_at(index(leaves_of(size)) * 32);
        let values = values
            .chunks(32)
            .map(|value| value.try_into().ok())
            .collect::<Option<_>>()?;
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        let sums: Vec<u64> = sums.chunks(8).map(number).collect::<Option<_>>()?;
        let sums = sums
            .chunks(PAGES)
            .map(|leaf| leaf.try_into().ok())
            .collect::<Option<_>>()?;
        Some(Self::over(size, values, sums))
    }

    /// Size of the band.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A leaf of the band.
    ///
    /// # Panics
    /// When the band is shorter: a mistake in the caller.
    #[must_use]
    pub fn leaf(&self, leaf: u64) -> Leaf {
        Leaf {
            value: self.levels[0][index(leaf)],
            pages: self.sums[index(leaf)],
        }
    }

    /// The plain BLAKE3 of the band.
    #[must_use]
    pub fn id(&self) -> Id {
        match self.levels[self.levels.len() - 1].as_slice() {
            [left, right] => *merge_subtrees_root(left, right, Mode::Hash).as_bytes(),
            top => top[0],
        }
    }

    /// Sets new values of some leaves, ascending. A band of another size first needs
    /// [`Tree::resized`].
    pub fn update(&mut self, changed: &[(u64, Leaf)]) {
        let mut nodes = Vec::with_capacity(changed.len());
        for (leaf, new) in changed {
            self.levels[0][index(*leaf)] = new.value;
            self.sums[index(*leaf)] = new.pages;
            nodes.push(index(*leaf));
        }
        for upper in 1..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(upper);
            for node in &mut nodes {
                *node /= 2;
            }
            nodes.dedup();
            for node in &nodes {
                above[0][*node] = parent(&below[upper - 1], *node);
            }
        }
    }

    /// The tree for another size of the band. Set the values of new leaves next, and of those that
    /// the difference of the sizes touches.
    #[must_use]
    pub fn resized(&self, size: u64) -> Self {
        let (mut values, mut sums) = (self.levels[0].clone(), self.sums.clone());
        values.resize(index(leaves_of(size)), [0; 32]);
        sums.resize(index(leaves_of(size)), [0; PAGES]);
        Self::over(size, values, sums)
    }
}

fn parent(below: &[ChainingValue], node: usize) -> ChainingValue {
    match &below[node * 2..below.len().min(node * 2 + 2)] {
        [left, right] => merge_subtrees_non_root(left, right, Mode::Hash),
        alone => alone[0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(count: usize) -> Vec<u8> {
        (0..count)
            .map(|at| (at * 7 + at / 251).to_le_bytes()[0])
            .collect()
    }

    #[test]
    fn the_id_is_the_plain_blake3_at_every_shape_of_tree() {
        let leaf = index(LEAF);
        for leaves in 0..20 {
            for more in [0, 1, 1023, 1024, 1025, leaf - 1] {
                let band = bytes(leaves * leaf + more);
                assert_eq!(
                    Tree::of(&band).id(),
                    *blake3::hash(&band).as_bytes(),
                    "{} bytes",
                    band.len()
                );
            }
        }
    }

    #[test]
    fn a_tree_is_read_as_written_and_not_with_any_byte_changed() {
        for size in [0, 1, 5000, index(LEAF), 3 * index(LEAF) + 7] {
            let tree = Tree::of(&bytes(size));
            let mut written = tree.to_bytes();
            assert_eq!(written.len(), Tree::bytes_of(size as u64));
            assert_eq!(Tree::from_bytes(size as u64, &written), Some(tree));
            for at in (0..written.len()).step_by(7) {
                written[at] ^= 4;
                assert_eq!(
                    Tree::from_bytes(size as u64, &written),
                    None,
                    "{size} bytes, byte {at}"
                );
                written[at] ^= 4;
            }
        }
    }

    #[test]
    fn an_update_of_some_leaves_gives_the_id_of_the_changed_band() {
        let mut band = bytes(13 * index(LEAF) + 5);
        let mut tree = Tree::of(&band);
        for leaves in [vec![0], vec![12, 13], vec![3, 4, 9]] {
            let mut changed = Vec::new();
            for leaf in leaves {
                let (from, to) = (leaf * index(LEAF), band.len().min((leaf + 1) * index(LEAF)));
                band[from] ^= 0xFF;
                changed.push((
                    leaf as u64,
                    leaf_of(band.len() as u64, leaf as u64, &band[from..to]),
                ));
            }
            tree.update(&changed);
            assert_eq!(tree.id(), *blake3::hash(&band).as_bytes());
        }
    }
}
