//! `INDEX`: a cache that spares an opening from reading all of live and from syncing again.
//!
//! Losing it costs time and nothing else (D10), so it is written without syncs and failures are
//! ignored. A stamp proves that a band is unchanged only within the same boot and an unmoved wall
//! clock, if it was old enough when taken and no later record names the band; a tree only if its
//! root is the id of the last epoch.
//!
//! Its *proof* (D5) names the base and the last record that this process knew to be on stable
//! storage, with the stamps of their files. Within the same boot those need no sync when they are
//! found unchanged. An inode number alone does not identify them, because a replacement may get the
//! same one; its change time cannot be set while the filesystem is mounted. Appending moves a
//! segment's times, syncing does not.

use std::path::{Path, PathBuf};

use crate::band::Band;
use crate::bytes::{Reader, put_count, put_text, put_u64};
use crate::disk::{Access, Disk, Kind, Moment, Stamp};
use crate::log::segment_path;
use crate::observe::Look;
use crate::pages::index;
use crate::record::{BandState, Chain};
use crate::segment::segments;
use crate::store::Store;
use crate::tree::{Tree, leaves_of};

const MAGIC: &[u8; 8] = b"PLCKIDX4";
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
    /// `CURRENT`, and the segment that takes the next record; nothing when a sync had failed, or a checkpoint
    /// was on its way.
    files: Option<[Stamp; 2]>,
}

impl Proof {
    /// Whether `CURRENT` and the newest segment are the files that were synced, and as they were then.
    fn is_of(&self, disk: &dyn Disk, root: &Path) -> bool {
        let log = root.join("log");
        let newest = segments(disk, &log)
            .ok()
            .and_then(|firsts| firsts.last().copied());
        let (Some(files), Some(newest)) = (self.files, newest) else {
            return false;
        };
        let paths = [root.join("CURRENT"), segment_path(&log, newest)];
        let found =
            |(stamp, path): (&Stamp, &PathBuf)| disk.stamp(path).is_ok_and(|now| now.same(stamp));
        files.iter().zip(&paths).all(found)
    }
}

/// An index that was saved, in whatever boot.
#[derive(Debug)]
pub(crate) struct Index {
    boot: [u8; 16],
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
        for (epoch, chain) in [self.history.last(), self.history.base()] {
            put_u64(&mut out, epoch);
            out.extend_from_slice(&chain);
        }
        let files = self.log.durable_segment().and_then(|segment| {
            let current = self.disk.stamp(&self.root.join("CURRENT")).ok()?;
            Some([current, segment])
        });
        out.push(u8::from(files.is_some()));
        files
            .iter()
            .flatten()
            .for_each(|stamp| put_stamp(&mut out, stamp));
        out.push(u8::from(self.exact));
        let clean = self
            .bands
            .iter()
            .filter(|(name, _)| !self.dirty.contains(*name));
        let known =
            clean.filter_map(|(name, band)| Some((name, band, self.vouched(name, band, &moment)?)));
        let known: Vec<_> = known.collect();
        put_count(&mut out, known.len());
        for (name, band, (stamp, seen_ns)) in known {
            put_text(&mut out, name);
            put_stamp(&mut out, &stamp);
            out.extend_from_slice(&seen_ns.to_le_bytes());
            out.push(u8::from(band.settled && band.seen.is_some()));
        }
        out.extend_from_slice(blake3::hash(&out).as_bytes());
        self.replace(Path::new("INDEX"), &out);
        for (name, band) in &self.bands {
            if let (Some(tree), Some(head)) = (&band.tree, band.head)
                && self.fresh_trees.contains(name)
                && tree.id() == head.id
            {
                self.replace(&Path::new("trees").join(name), &tree.to_bytes());
            }
        }
        self.fresh_trees.clear();
    }

    /// The stamp that vouches for a clean band, and when it was taken; nothing when none does.
    fn vouched(&self, name: &str, band: &Band, moment: &Moment) -> Option<(Stamp, i64)> {
        if band.seen.is_some() {
            return band.seen;
        }
        // A band that this store itself wrote was never looked at: look now, the owner is done with it.
        let now = self.disk.stamp(&self.live.join(name)).ok()?;
        // Of one that was looked at and then linked nobody but its stamp says that it was not written since.
        let written = band.linked.is_some_and(|(old, at)| {
            is_young(&old, at, self.exact)
                || !old.same(&Stamp {
                    changed_ns: old.changed_ns,
                    ..now
                })
        });
        (!written).then_some((now, moment.wall_ns))
    }

    /// Writes over what is there: what comes of that half done has not the hash that is asked for. A rename
    /// would make filesystems write the new file out first.
    fn replace(&self, name: &Path, bytes: &[u8]) {
        let path = self.root.join(name);
        let open = |access| self.disk.open(&path, access);
        let _ = open(Access::Write)
            .or_else(|_| open(Access::CreatePrivate))
            .and_then(|file| {
                file.write_at(bytes, 0)?;
                let size = bytes.len() as u64;
                if file.stamp()?.size > size {
                    file.set_len(size)
                } else {
                    Ok(())
                }
            });
    }

    /// Takes every band for clean that the index vouches for, by the stamps that this opening took. What is
    /// written behind them moves a stamp once more, and is found as any other writing: by the next look.
    pub(crate) fn believe(&mut self, index: Index, looked: &Look) {
        let unmoved = index.is_unmoved(self.disk.as_ref());
        let (epoch, chain) = index.proof.last;
        let mut known = self
            .history
            .epochs
            .iter()
            .map(|epoch| (epoch.number, epoch.chain));
        if !unmoved
            || !(self.history.base() == (epoch, chain)
                || known.any(|known| known == (epoch, chain)))
        {
            return;
        }
        let (later, proven) = (
            self.history.touched(epoch, self.history.head()),
            self.log.is_proven(),
        );
        for (name, stamp, seen_ns, settled) in index.bands {
            let Some(band) = self
                .bands
                .get_mut(&name)
                .filter(|_| !later.contains_key(&name))
            else {
                continue;
            };
            let Some(now) = looked.get(&name) else {
                continue;
            };
            let fits = band.head.is_some_and(|head| head.size == stamp.size);
            if !fits || is_young(&stamp, seen_ns, self.exact) {
                continue;
            }
            let same = now.same(&stamp);
            if same || proven {
                // Also of one that moved since: what it moved from is what its owner's word is held against.
                band.seen = Some((stamp, seen_ns));
            }
            if same {
                (band.unknown, band.settled) = (false, settled);
                self.dirty.remove(&name);
            }
        }
    }
}

impl Index {
    /// The store's index, if it is whole.
    pub(crate) fn read(disk: &dyn Disk, root: &Path) -> Option<Self> {
        let file = disk.open(&root.join("INDEX"), Access::Read).ok()?;
        let mut bytes = vec![0; index(file.stamp().ok()?.size)];
        let count = file.read_at(&mut bytes, 0).ok()?;
        let (body, hash) = bytes
            .get(..count)?
            .split_at_checked(count.checked_sub(32)?)?;
        let mut reader = Reader(body);
        if blake3::hash(body).as_bytes() != hash || reader.take(8)? != MAGIC {
            return None;
        }
        let (boot, moved): ([u8; 16], i64) = (reader.array()?, i64::from_le_bytes(reader.array()?));
        let (last, base) = (
            (reader.u64()?, reader.array()?),
            (reader.u64()?, reader.array()?),
        );
        let known = reader.byte()? == 1;
        let files = if known {
            Some([read_stamp(&mut reader)?, read_stamp(&mut reader)?])
        } else {
            None
        };
        let proof = Proof { base, last, files };
        let exact = reader.byte()? == 1;
        let count = reader.count(53)?;
        let mut bands = Vec::with_capacity(count);
        for _ in 0..count {
            let name = reader.text()?;
            let (stamp, seen_ns) = (
                read_stamp(&mut reader)?,
                i64::from_le_bytes(reader.array()?),
            );
            bands.push((name, stamp, seen_ns, reader.byte()? == 1));
        }
        Some(Self {
            boot,
            moved,
            proof,
            exact,
            bands,
        })
    }

    /// Whether stamps and proof still mean anything.
    pub(crate) fn is_of_this_boot(&self, disk: &dyn Disk) -> bool {
        self.boot == disk.now().boot && self.boot != [0; 16]
    }

    /// The last epoch when it was saved, which was durable then: in every boot.
    pub(crate) fn last(&self) -> (u64, Chain) {
        self.proof.last
    }

    /// What it proves of a store with this base, if its files are what they were, by the same clock.
    pub(crate) fn proof(&self, disk: &dyn Disk, root: &Path, base: (u64, Chain)) -> Option<Proof> {
        let holds =
            self.proof.base == base && self.is_unmoved(disk) && self.proof.is_of(disk, root);
        holds.then_some(self.proof)
    }

    /// Whether nobody set the wall clock since it was saved.
    fn is_unmoved(&self, disk: &dyn Disk) -> bool {
        self.moved.abs_diff(offset(&disk.now())) < TICKS_NS.unsigned_abs() / 2
    }
}

fn put_stamp(out: &mut Vec<u8>, stamp: &Stamp) {
    for number in [stamp.device, stamp.inode, stamp.size] {
        put_u64(out, number);
    }
    for time in [stamp.modified_ns, stamp.changed_ns] {
        out.extend_from_slice(&time.to_le_bytes());
    }
}

/// Of a file: nothing else is ever put.
fn read_stamp(reader: &mut Reader<'_>) -> Option<Stamp> {
    let (device, inode, size) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let mut time = || Some(i64::from_le_bytes(reader.array()?));
    let (modified_ns, changed_ns) = (time()?, time()?);
    Some(Stamp {
        kind: Kind::File,
        device,
        inode,
        size,
        modified_ns,
        changed_ns,
        blocks: 0,
    })
}

/// The tree of a band from the cache, if it is that of the last epoch.
pub(crate) fn cached_tree(
    disk: &dyn Disk,
    root: &Path,
    name: &str,
    head: BandState,
) -> Option<Tree> {
    if leaves_of(head.size) > LEAVES_MOST {
        return None;
    }
    let file = disk
        .open(&root.join("trees").join(name), Access::Read)
        .ok()?;
    let mut bytes = vec![0; Tree::bytes_of(head.size)];
    let count = file.read_at(&mut bytes, 0).ok()?;
    Tree::from_bytes(head.size, &bytes[..count]).filter(|tree| tree.id() == head.id)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, File};
    use std::sync::Arc;

    use super::*;
    use crate::disk::RealDisk;
    use crate::store::Options;

    /// On whatever filesystem this runs.
    #[test]
    fn a_proof_outlives_every_sync_and_no_write() {
        let root = tempfile::tempdir().expect("a directory");
        let live = root.path().join("bands");
        fs::create_dir(&live).expect("made");
        let options = Options {
            segment_bytes: 1 << 20,
            skip_proven_syncs: true,
        };
        let mut store = Store::init(Arc::new(RealDisk), &live, options, "first").expect("new");
        store.write_at("a", 0, b"bytes").expect("written");
        store.checkpoint("second").expect("taken");
        store.save_index();
        let segment = segment_path(&store.root.join("log"), 2);
        drop(store);
        let proven = || {
            Store::open(Arc::new(RealDisk), &live, options)
                .expect("opened")
                .log
                .is_proven()
        };
        assert!(proven());
        let file = File::open(&segment).expect("there");
        file.sync_data()
            .and_then(|()| file.sync_all())
            .expect("synced");
        RealDisk.sync_beneath(root.path()).expect("synced");
        assert!(
            proven(),
            "a sync moved the stamp of a file that nobody wrote to"
        );
        let (before, bytes) = (
            RealDisk.stamp(&segment).expect("there"),
            fs::read(&segment).expect("there"),
        );
        // Until the clock of stamps has moved on: a tick takes at most 10 ms, a second where it is coarse.
        let probe = root.path().join("probe");
        let later = |_: &u64| {
            fs::write(&probe, "p").expect("written");
            RealDisk.stamp(&probe).expect("there").changed_ns > before.changed_ns
        };
        assert!((0..50_000_000).any(|look| later(&look)), "no tick");
        fs::write(&segment, bytes).expect("written");
        let now = RealDisk.stamp(&segment).expect("there");
        assert_eq!((now.inode, now.size), (before.inode, before.size));
        assert!(!proven(), "other bytes, which nobody synced");
    }
}
