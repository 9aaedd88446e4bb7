//! Adds a checkpoint from an archive to an existing store.
//!
//! ```text
//! each band of the archive ─▶ its id holds? ─▶ pages that differ from the last epoch ─▶ one record
//! ```
//! The checkpoint is one record, so it is added whole or not at all. Nothing is written before the
//! id of every band was checked (D12). Live does not change; bands that now differ from the last
//! epoch are marked.

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use crate::archive::Contents;
use crate::attributes::have_changed;
use crate::error::{Error, Result};
use crate::history::{BandReader, Checkpoint};
use crate::pages::{LEAF, PAGE, PageSet, index, runs};
use crate::record::{BandAt, BandChange, Meta};
use crate::store::{Store, Taken, nanoseconds};
use crate::tree::{Tree, leaf_of};
use crate::unpack::{unpack, unreadable};

/// Bytes compared at a time.
const PIECE: u64 = 16 * LEAF;

/// What an archive changes: the bands of the record, their trees, and its pages.
#[derive(Default)]
struct Adopted {
    bands: Vec<(BandChange, Option<Arc<Tree>>)>,
    pages: Vec<u8>,
    read: u64,
}

impl Store {
    /// Adds an archive that [`Store::export`] wrote, in any store, as one more checkpoint. It keeps
    /// the archive's time, and its name unless another is given. Live does not change.
    ///
    /// # Errors
    /// `Exists` or `Refused` for the name; `Refused` for an archive with anything but the bands of
    /// its manifest; `Damaged` when it is incomplete or a band has another id; `Stopped`, `Io`.
    /// After an error there is no such checkpoint.
    pub fn adopt(&mut self, archive: impl Read, name: Option<&str>) -> Result<Taken> {
        self.refuse_while_pending()?;
        let begin = Instant::now();
        let mut adopted = Adopted::default();
        let chosen = |contents: &Contents| name.unwrap_or(&contents.name).to_owned();
        let heads = self.history.bands_at(self.history.head());
        let contents = unpack(
            archive,
            |contents| {
                contents.check_names(self.disk.as_ref())?;
                self.check_name(&chosen(contents))
            },
            |name, band, bytes| self.compare(name, band, heads.get(name), bytes, &mut adopted),
        )?;
        let name = chosen(&contents);
        for gone in heads
            .into_keys()
            .filter(|name| !contents.bands.iter().any(|(kept, _)| kept == name))
        {
            adopted.bands.push((BandChange::removed(gone), None));
        }
        let hash_ns = nanoseconds(begin);
        let begin = Instant::now();
        let (bands, trees): (Vec<_>, Vec<_>) = adopted.bands.into_iter().unzip();
        let (count, bytes) = (bands.len() as u64, adopted.pages.len() as u64);
        let sum = self.sum_after(&bands);
        let meta = Meta::Checkpoint {
            name: name.clone(),
            created_ns: contents.created_ns,
            bands,
        };
        let epoch = self.log.append(meta, &adopted.pages, sum)?;
        let (number, written_bytes) = (epoch.number, epoch.bytes);
        self.history.push(epoch);
        self.fall_behind(number, trees);
        let created_ns = contents.created_ns;
        let checkpoint = Checkpoint {
            epoch: number,
            name,
            created_ns,
            bands: count,
            bytes,
        };
        let append_ns = nanoseconds(begin);
        Ok(Taken {
            checkpoint,
            read_bytes: adopted.read,
            written_bytes,
            hash_ns,
            append_ns,
        })
    }

    /// Checks the id of a band of the archive, and keeps the pages that differ from the last epoch.
    fn compare(
        &self,
        name: &str,
        band: &BandAt,
        head: Option<&BandAt>,
        bytes: &mut dyn Read,
        adopted: &mut Adopted,
    ) -> Result<()> {
        let state = band.state;
        let before = match head {
            Some(head) if head.state != state => {
                Some(self.history.band_at(name, self.history.head())?)
            }
            _ => None,
        };
        let same = head.is_some_and(|head| head.state == state);
        let same_rights = head.is_some_and(|head| {
            !have_changed(head.attributes.as_deref(), band.attributes.as_deref())
        });
        let (mut pages, mut leaves) = (Vec::new(), Vec::new());
        let mut buffer = vec![0; index(PIECE.min(state.size.max(1)))];
        let mut at = 0;
        while at < state.size {
            let count = buffer.len().min(index(state.size - at));
            bytes.read_exact(&mut buffer[..count]).map_err(unreadable)?;
            for (leaf, bytes) in buffer[..count].chunks(index(LEAF)).enumerate() {
                leaves.push(leaf_of(state.size, at / LEAF + leaf as u64, bytes));
            }
            if !same {
                differing(
                    before.as_ref(),
                    state.size,
                    at,
                    &buffer[..count],
                    &mut pages,
                    &mut adopted.pages,
                )?;
            }
            at += count as u64;
        }
        if state.size == 0 {
            leaves.push(leaf_of(0, 0, &[]));
        }
        let tree = Tree::new(state.size, &leaves);
        if tree.id() != state.id {
            return Err(Error::damaged(format!(
                "band {name} of the archive has another id"
            )));
        }
        adopted.read += state.size;
        if !same || !same_rights {
            let change = BandChange {
                name: name.to_owned(),
                state: Some(state),
                attributes: band.attributes.clone(),
                runs: runs(&pages),
            };
            adopted.bands.push((change, Some(Arc::new(tree))));
        }
        Ok(())
    }

    /// Marks the pages that the record carries, because they differ from the new last epoch.
    fn fall_behind(&mut self, epoch: u64, trees: Vec<Option<Arc<Tree>>>) {
        let changes: Vec<BandChange> = self
            .history
            .changes(epoch - 1, epoch)
            .map(|(_, change)| change.clone())
            .collect();
        for (change, tree) in changes.into_iter().zip(trees) {
            let band = self.bands.entry(change.name.clone()).or_default();
            let steady = match (band.head, change.state) {
                (Some(old), Some(new)) => old.size == new.size,
                _ => false,
            };
            let mut pages = PageSet::default();
            for (first, count) in &change.runs {
                pages.mark(first * PAGE, count * PAGE);
            }
            band.dirty.add(&pages);
            // The band appeared, vanished or changed its size, so pages alone do not say what
            // differs.
            band.unknown |= !steady;
            band.set_head(change.after());
            (band.tree, band.seen) = (tree, None);
            self.dirty.insert(change.name.clone());
            self.fresh_trees.insert(change.name);
        }
    }
}

/// Keeps the pages of a piece that differ from the last epoch, which has zeros beyond its end. If
/// the sizes differ, the page in which either state ends is always kept, as for a band that was
/// cut.
pub(crate) fn differing(
    before: Option<&BandReader>,
    size: u64,
    at: u64,
    piece: &[u8],
    pages: &mut Vec<u64>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let old_size = before.map_or(0, |before| before.size);
    let mut old = vec![0; piece.len()];
    if let Some(before) = before.filter(|before| at < before.size) {
        let count = piece.len().min(index(before.size - at));
        before.read(at, &mut old[..count])?;
    }
    let ends =
        (old_size != size && old_size.min(size) > 0).then(|| (old_size.min(size) - 1) / PAGE);
    for (place, (new, old)) in piece
        .chunks(index(PAGE))
        .zip(old.chunks(index(PAGE)))
        .enumerate()
    {
        let page = at / PAGE + place as u64;
        if new != old || ends == Some(page) {
            pages.push(page);
            out.extend_from_slice(new);
            out.resize(out.len().next_multiple_of(index(PAGE)), 0);
        }
    }
    Ok(())
}
