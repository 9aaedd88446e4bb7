//! A band's hash as a tree over leaves of 16 KiB, so that a changed leaf costs its own bytes and a path.
//!
//! Invariant: [`Tree::id`] equals the plain BLAKE3 of the band's bytes. BLAKE3 is a binary tree whose left
//! subtrees are complete; pairing neighbours level by level, an odd last one moving up, builds the same tree
//! (BLAKE3 paper §2.1; `blake3::hazmat`). Absent on purpose: reading files.

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

pub(crate) use blake3::hazmat::ChainingValue;

use crate::pages::{LEAF, index};

/// The plain BLAKE3 of a band.
pub type Id = [u8; 32];

/// The hash tree of one band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    size: u64,
    /// The leaves' values first; each level half as long, down to two nodes or one.
    levels: Vec<Vec<ChainingValue>>,
}

/// How many leaves a band of `size` bytes has; an empty one has one.
#[must_use]
pub fn leaves_of(size: u64) -> u64 {
    size.div_ceil(LEAF).max(1)
}

/// The value of one leaf of a band of `size` bytes. A band of one leaf has no tree: the value is its id.
#[must_use]
pub fn leaf_value(size: u64, leaf: u64, bytes: &[u8]) -> ChainingValue {
    if size <= LEAF {
        return *blake3::hash(bytes).as_bytes();
    }
    blake3::Hasher::new().set_input_offset(leaf * LEAF).update(bytes).finalize_non_root()
}

impl Tree {
    /// A tree over the leaves' values, in order.
    ///
    /// # Panics
    /// When there are not as many as `size` asks for: a mistake in the caller.
    #[must_use]
    pub fn new(size: u64, leaves: Vec<ChainingValue>) -> Self {
        assert_eq!(leaves.len() as u64, leaves_of(size), "a value for each leaf");
        let mut tree = Self { size, levels: vec![leaves] };
        while tree.levels.last().is_some_and(|level| level.len() > 2) {
            let below = &tree.levels[tree.levels.len() - 1];
            let level = (0..below.len().div_ceil(2)).map(|node| parent(below, node)).collect();
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
            leaves.push(leaf_value(size, leaf as u64, bytes));
        }
        if bytes.is_empty() {
            leaves.push(leaf_value(0, 0, &[]));
        }
        Self::new(size, leaves)
    }

    /// Bytes of the band.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The leaves' values.
    #[must_use]
    pub fn leaves(&self) -> &[ChainingValue] {
        &self.levels[0]
    }

    /// The plain BLAKE3 of the band.
    #[must_use]
    pub fn id(&self) -> Id {
        match self.levels[self.levels.len() - 1].as_slice() {
            [left, right] => *merge_subtrees_root(left, right, Mode::Hash).as_bytes(),
            top => top[0],
        }
    }

    /// Puts new values of some leaves, ascending. A band of another size first needs [`Tree::resized`].
    pub fn update(&mut self, changed: &[(u64, ChainingValue)]) {
        let mut nodes = Vec::with_capacity(changed.len());
        for (leaf, value) in changed {
            self.levels[0][index(*leaf)] = *value;
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

    /// The tree of a band of another size; leaves beyond the old ones have values that must be put next,
    /// and so must those that the sizes' difference touches.
    #[must_use]
    pub fn resized(&self, size: u64) -> Self {
        let mut leaves = self.levels[0].clone();
        leaves.resize(index(leaves_of(size)), [0; 32]);
        Self::new(size, leaves)
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
        (0..count).map(|at| (at * 7 + at / 251).to_le_bytes()[0]).collect()
    }

    #[test]
    fn the_id_is_the_plain_blake3_at_every_shape_of_tree() {
        let leaf = index(LEAF);
        for leaves in 0..20 {
            for more in [0, 1, 1023, 1024, 1025, leaf - 1] {
                let band = bytes(leaves * leaf + more);
                assert_eq!(Tree::of(&band).id(), *blake3::hash(&band).as_bytes(), "{} bytes", band.len());
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
                changed.push((leaf as u64, leaf_value(band.len() as u64, leaf as u64, &band[from..to])));
            }
            tree.update(&changed);
            assert_eq!(tree.id(), *blake3::hash(&band).as_bytes());
        }
    }
}
