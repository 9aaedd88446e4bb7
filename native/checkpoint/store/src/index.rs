//! `INDEX`: a cache that spares an opening from reading all of live and from syncing again.
//!
//! Losing it costs only time (D10), so it is written without syncs and failures are ignored. A
//! stamp proves that a band is unchanged only within the same boot and an unmoved wall clock, if it
//! was old enough when taken and no later record names the band. A tree counts only if its root is
//! the id of the last epoch.
//!
//! Its *proof* (D5) names the base and the last record that this process knew to be on stable
//! storage, with the stamps of their files. Within the same boot they need no sync if they are
//! unchanged. An inode number alone does not identify a file, because a replacement may get the
//! same one; the change time cannot be set while the filesystem is mounted. Appending changes a
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
/// Two ticks of the slowest kernel clock in use (100 Hz): a file that was written less than this
/// before its stamp was taken may be written again without another stamp.
const TICKS_NS: i64 = 20_000_000;
/// Leaves of the largest tree that is kept: bands up to 16 GiB.
const LEAVES_MOST: u64 = 1 << 20;

/// Whether a write after `now_ns` could leave this stamp as it is (the same-tick rule). A stamp of
/// the future means that the clock was set back; it is young, too. Exact stamps
/// (`Disk::stamps_are_exact`) hide nothing.
pub(crate) fn is_young(stamp: &Stamp, now_ns: i64, exact: bool) -> bool {
    !exact && stamp.modified_ns.max(stamp.changed_ns) > now_ns - TICKS_NS
}

/// What the process that saved the index knew to be on stable storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// Epoch and chain value of the base.
    pub(crate) base: (u64, Chain),
    /// Epoch and chain value of the last record, or of the base.
    pub(crate) last: (u64, Chain),
    /// Stamps of `CURRENT` and of the segment for the next record; none when a sync had failed or a
    /// checkpoint was running.
    files: Option<[Stamp; 2]>,
}

impl Proof {
    /// Returns whether `CURRENT` and the newest segment are the synced files, unchanged.
    fn is_of(&self, disk: &dyn Disk, root: &Path) -> bool {
        let log = root.join("log");
        let newest = segments(disk, &log)
            .ok()
            .and_then(|firsts| firsts.last().copied());
        let (Some(files), Some(newest)) = (self.files, newest) else {
            return false;
        };
        let paths = [root.join("CURRENT"), segment_path(&log, newest)];
        let unchanged =
            |(stamp, path): (&Stamp, &PathBuf)| disk.stamp(path).is_ok_and(|now| now.same(stamp));
        files.iter().zip(&paths).all(unchanged)
    }
}

/// A saved index, of any boot.
#[derive(Debug)]
pub(crate) struct Index {
    boot: [u8; 16],
    /// [`offset`] when it was saved.
    moved: i64,
    proof: Proof,
    /// [`Disk::stamps_are_exact`] when it was saved.
    pub(crate) exact: bool,
    bands: Vec<(String, Stamp, i64, bool)>,
}

/// Wall clock minus steady clock: changes only when the wall clock is set.
fn offset(moment: &Moment) -> i64 {
    moment.wall_ns.wrapping_sub(moment.steady_ns)
}

impl Store {
    /// Saves what this store knows for the next opening. Called when the store is closed; it may be
    /// skipped.
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

    /// Returns the stamp that proves a band clean and when it was taken; none if nothing proves it.
    fn vouched(&self, name: &str, band: &Band, moment: &Moment) -> Option<(Stamp, i64)> {
        if band.seen.is_some() {
            return band.seen;
        }
        // A band that this store wrote has no stamp yet: take one now, as the owner has finished.
        let now = self.disk.stamp(&self.live.join(name)).ok()?;
        // A band that was linked after its stamp was taken: only that stamp proves that it was not
        // written since.
        let written = band.linked.is_some_and(|(old, at)| {
            is_young(&old, at, self.exact)
                || !old.same(&Stamp {
                    changed_ns: old.changed_ns,
                    ..now
                })
        });
        (!written).then_some((now, moment.wall_ns))
    }

    /// Overwrites the file; a half-written index fails its checksum. A rename would make
    /// filesystems write the new file out first.
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

    /// Marks every band as clean that the index proves, by the stamps of this opening. A later
    /// write changes the stamp again and is found by the next look.
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
                // This holds even if the band changed since, because marks of its owner are compared with it.
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
    /// The store's index, if it is intact.
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

    /// Returns whether stamps and proof are still valid.
    pub(crate) fn is_of_this_boot(&self, disk: &dyn Disk) -> bool {
        self.boot == disk.now().boot && self.boot != [0; 16]
    }

    /// The last epoch when it was saved, which was durable then, whatever the boot.
    pub(crate) fn last(&self) -> (u64, Chain) {
        self.proof.last
    }

    /// The proof for a store with this base, if its files are unchanged by the same clock.
    pub(crate) fn proof(&self, disk: &dyn Disk, root: &Path, base: (u64, Chain)) -> Option<Proof> {
        let holds =
            self.proof.base == base && self.is_unmoved(disk) && self.proof.is_of(disk, root);
        holds.then_some(self.proof)
    }

    /// Returns whether the wall clock was not set since the index was saved.
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

/// Puts the stamp of a file; other entries have none.
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

    /// Saves and reads an index on any filesystem.
    #[test]
    fn a_proof_stays_valid_after_a_sync_but_not_after_a_write() {
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
        // Waits until the clock of stamps has advanced: a tick takes at most 10 ms, or a second
        // where it is coarse.
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
