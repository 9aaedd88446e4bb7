//! The index: what spares an opening from reading all of live again, and from syncing what is synced.
//!
//! Invariant (D10): it is a cache. A stamp vouches for a band only in the same boot, under an unmoved wall
//! clock, when it was old enough at the time it was taken, and when no record after the index's epoch names
//! the band; a tree only when its root is the id of the last epoch. A missing or broken index costs time
//! and nothing else; so it is written without syncs, and failures to write it are ignored.
//!
//! The same of its *proof* (D5): it names the base and the last record that its process knew to be on stable
//! storage, and the file that record is in. In the same boot no power was lost since, so both need no sync
//! when they are what is found, in that very file: a copy of a store has others.

use std::path::Path;

use crate::bytes::{Reader, put_count, put_text, put_u64};
use crate::disk::{Access, Disk, Kind, Moment, Stamp};
use crate::pages::index;
use crate::record::{BandState, Chain};
use crate::store::Store;
use crate::tree::{Tree, leaves_of};

const MAGIC: &[u8; 8] = b"PLCKIDX3";
/// Two ticks of the slowest kernel clock in use (100 Hz): files that were written later than this before a
/// look may be written again without another stamp.
const TICKS_NS: i64 = 20_000_000;
/// Leaves of the largest tree that is kept: bands up to 16 GiB.
const LEAVES_MOST: u64 = 1 << 20;

/// Whether a write after the look at `now_ns` could leave this stamp as it is (the same-tick rule). A stamp
/// of the future says that the clock was set back: it is young, too. Exact stamps
/// (`Disk::stamps_are_exact`) hide nothing.
pub(crate) fn is_young(stamp: &Stamp, now_ns: i64, exact: bool) -> bool {
    !exact && stamp.modified_ns.max(stamp.changed_ns) > now_ns - TICKS_NS
}

/// What the process that saved the index knew to be on stable storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// Of the base: its epoch and chain value.
    pub(crate) base: (u64, Chain),
    /// The last record, or the base: likewise.
    pub(crate) last: (u64, Chain),
    /// Device and inode of the segment that takes the next record.
    pub(crate) segment: (u64, u64),
}

/// An index that was saved in this boot.
pub(crate) struct Index {
    /// [`offset`] when it was saved.
    moved: i64,
    proof: Proof,
    /// What [`Disk::stamps_are_exact`] said.
    pub(crate) exact: bool,
    bands: Vec<(String, Stamp, i64, bool)>,
}

/// Wall minus steady clock: moves only when the wall clock is set.
fn offset(moment: &Moment) -> i64 {
    moment.wall_ns.wrapping_sub(moment.steady_ns)
}

impl Store {
    /// Leaves for the next opening what this one knows. Called when the store is closed; never needed.
    pub fn save_index(&mut self) {
        let moment = self.disk.now();
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&moment.boot);
        out.extend_from_slice(&offset(&moment).to_le_bytes());
        let segment = self.log.durable_segment().unwrap_or((0, 0));
        for (epoch, chain) in [self.history.last(), self.history.base()] {
            put_u64(&mut out, epoch);
            out.extend_from_slice(&chain);
        }
        for number in [segment.0, segment.1] {
            put_u64(&mut out, number);
        }
        out.push(u8::from(self.exact));
        let known: Vec<_> = self.bands.iter().filter(|(name, _)| !self.dirty.contains(*name)).collect();
        put_count(&mut out, known.len());
        for (name, band) in known {
            // A band that this store itself wrote was never looked at: look now, the owner is done with it.
            let seen =
                band.seen.or_else(|| Some((self.disk.stamp(&self.live.join(name)).ok()?, moment.wall_ns)));
            let Some((stamp, seen_ns)) = seen else { return };
            put_text(&mut out, name);
            for number in [stamp.device, stamp.inode, stamp.size] {
                put_u64(&mut out, number);
            }
            for time in [stamp.modified_ns, stamp.changed_ns, seen_ns] {
                out.extend_from_slice(&time.to_le_bytes());
            }
            out.push(u8::from(band.settled && band.seen.is_some()));
        }
        out.extend_from_slice(blake3::hash(&out).as_bytes());
        self.replace("INDEX", &out);
        for (name, band) in &self.bands {
            if let (Some(tree), Some(head)) = (&band.tree, band.head)
                && self.fresh_trees.contains(name)
                && tree.id() == head.id
            {
                self.replace(&format!("trees/{name}"), &tree.leaves().concat());
            }
        }
        self.fresh_trees.clear();
    }

    fn replace(&self, name: &str, bytes: &[u8]) {
        let (new, path) = (self.root.join("INDEX.new"), self.root.join(name));
        let _ = self.disk.remove(&new);
        let written = self.disk.open(&new, Access::Create).and_then(|file| file.write_at(bytes, 0));
        let _ = written.and_then(|()| self.disk.rename(&new, &path));
    }

    /// Takes every band for clean that the index vouches for.
    pub(crate) fn believe(&mut self, index: Index) {
        let unmoved = index.moved.abs_diff(offset(&self.disk.now())) < TICKS_NS.unsigned_abs() / 2;
        let (epoch, chain) = index.proof.last;
        let mut known = self.history.epochs.iter().map(|epoch| (epoch.number, epoch.chain));
        if !unmoved || !(self.history.base() == (epoch, chain) || known.any(|known| known == (epoch, chain)))
        {
            return;
        }
        let later = self.history.touched(epoch, self.history.head());
        for (name, stamp, seen_ns, settled) in index.bands {
            let Some(band) = self.bands.get_mut(&name).filter(|_| !later.contains_key(&name)) else {
                continue;
            };
            let Ok(now) = self.disk.stamp(&self.live.join(&name)) else { continue };
            let fits = band.head.is_some_and(|head| head.size == now.size);
            if fits && now.same(&stamp) && !is_young(&stamp, seen_ns, self.exact) {
                (band.unknown, band.seen, band.settled) = (false, Some((stamp, seen_ns)), settled);
                self.dirty.remove(&name);
            }
        }
    }
}

impl Index {
    /// The store's index, if it is whole and of this boot.
    pub(crate) fn read(disk: &dyn Disk, root: &Path) -> Option<Self> {
        let file = disk.open(&root.join("INDEX"), Access::Read).ok()?;
        let mut bytes = vec![0; index(file.stamp().ok()?.size)];
        let count = file.read_at(&mut bytes, 0).ok()?;
        let (body, hash) = bytes.get(..count)?.split_at_checked(count.checked_sub(32)?)?;
        let mut reader = Reader(body);
        if blake3::hash(body).as_bytes() != hash || reader.take(8)? != MAGIC {
            return None;
        }
        let (boot, moved): ([u8; 16], i64) = (reader.array()?, i64::from_le_bytes(reader.array()?));
        if boot != disk.now().boot || boot == [0; 16] {
            return None;
        }
        let (last, base) = ((reader.u64()?, reader.array()?), (reader.u64()?, reader.array()?));
        let proof = Proof { base, last, segment: (reader.u64()?, reader.u64()?) };
        let exact = reader.byte()? == 1;
        let count = reader.count(53)?;
        let mut bands = Vec::with_capacity(count);
        for _ in 0..count {
            let name = reader.text()?;
            let (device, inode, size) = (reader.u64()?, reader.u64()?, reader.u64()?);
            let mut time = || Some(i64::from_le_bytes(reader.array()?));
            let (modified_ns, changed_ns, seen_ns) = (time()?, time()?, time()?);
            let settled = reader.byte()? == 1;
            let kind = Kind::File;
            let stamp = Stamp { kind, device, inode, size, modified_ns, changed_ns, blocks: 0 };
            bands.push((name, stamp, seen_ns, settled));
        }
        Some(Self { moved, proof, exact, bands })
    }

    /// What it proves of a store with this base; nothing when the store was stopped as it was saved.
    pub(crate) fn proof(&self, base: (u64, Chain)) -> Option<Proof> {
        (self.proof.segment != (0, 0) && self.proof.base == base).then_some(self.proof)
    }
}

/// The tree of a band from the cache, if it is that of the last epoch.
pub(crate) fn cached_tree(disk: &dyn Disk, root: &Path, name: &str, head: BandState) -> Option<Tree> {
    let leaves = leaves_of(head.size);
    if leaves > LEAVES_MOST {
        return None;
    }
    let file = disk.open(&root.join("trees").join(name), Access::Read).ok()?;
    let mut bytes = vec![0; index(leaves * 32)];
    if file.read_at(&mut bytes, 0).ok()? < bytes.len() {
        return None;
    }
    let values = bytes.chunks(32).map(|value| value.try_into().ok()).collect::<Option<Vec<[u8; 32]>>>()?;
    Some(Tree::new(head.size, values)).filter(|tree| tree.id() == head.id)
}
