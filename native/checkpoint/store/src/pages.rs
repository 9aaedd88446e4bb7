//! Pages, leaves, and the set of a band's pages that may have changed.
//!
//! A page outside the set equals the last epoch; a page in it may be unchanged too.

/// Size of a page, the unit of marking and logging. It is the page size of the systems this runs
/// on, so that an application's write rarely touches more pages than it must.
pub const PAGE: u64 = 4096;
/// Size of a leaf, the unit of hashing: 16 chunks of BLAKE3, as many as AVX-512 has lanes.
pub const LEAF: u64 = 16 * 1024;
/// Pages of a leaf.
pub const PAGES_PER_LEAF: u64 = LEAF / PAGE;

/// A position in memory. Bands are far smaller than the address space; an impossible number becomes
/// one that every slice refuses.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Pages that may have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageSet {
    words: Vec<u64>,
}

impl PageSet {
    /// Adds every page that has any of `bytes` bytes from `offset` on.
    pub fn mark(&mut self, offset: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let (first, last) = (offset / PAGE, (offset + (bytes - 1)) / PAGE);
        if self.words.len() <= index(last / 64) {
            self.words.resize(index(last / 64) + 1, 0);
        }
        for page in first..=last {
            self.words[index(page / 64)] |= 1 << (page % 64);
        }
    }

    /// Whether a page is in it.
    #[must_use]
    pub fn contains(&self, page: u64) -> bool {
        self.words
            .get(index(page / 64))
            .is_some_and(|word| word >> (page % 64) & 1 == 1)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The number of pages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Adds all pages of another set.
    pub fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Its pages, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                if rest == 0 {
                    return None;
                }
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                Some(place as u64 * 64 + u64::from(bit))
            })
        })
    }

    /// The leaves of its pages, ascending, each once.
    #[must_use]
    pub fn leaves(&self) -> Vec<u64> {
        let mut leaves: Vec<u64> = self.iter().map(|page| page / PAGES_PER_LEAF).collect();
        leaves.dedup();
        leaves
    }
}

/// Ascending pages as runs of (first, count).
#[must_use]
pub fn runs(pages: &[u64]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for page in pages {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == *page => *count += 1,
            _ => runs.push((*page, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_marks_every_page_it_touches_and_no_other() {
        let mut pages = PageSet::default();
        pages.mark(PAGE - 1, 2);
        pages.mark(PAGE * 200, 0);
        pages.mark(PAGE * 64, 1);
        assert_eq!(pages.iter().collect::<Vec<_>>(), [0, 1, 64]);
        assert_eq!(
            (
                pages.count(),
                pages.contains(64),
                pages.contains(65),
                pages.contains(9999)
            ),
            (3, true, false, false)
        );
        assert_eq!(pages.leaves(), [0, 16]);
    }

    #[test]
    fn runs_join_neighbours() {
        assert_eq!(runs(&[1, 2, 3, 7, 9, 10]), [(1, 3), (7, 1), (9, 2)]);
        assert_eq!(runs(&[]), []);
    }
}
