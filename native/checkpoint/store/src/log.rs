//! The log: segments of zeros in which records follow each other (D2 to D5).
//!
//! [`Log::append`] returns once a record's [`Meta`] and pages are on stable storage. On opening,
//! segments are read in order; the first incomplete record ends the log. `store` interprets the
//! records.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile, Stamp};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::forget::remove;
use crate::index::Proof;
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, Meta, Seal, StateSum};
use crate::segment::{Segment, Wanted, has_spare, make_segment, page_bytes, place, segment_bytes};
use crate::walk::{Place, Walked};

/// The reason why a log takes no more records.
const FAILED: &str = "an earlier sync of the store failed";
/// The reason why a log that was opened for reading takes no records.
const READ_ONLY: &str = "the store was opened to be read";
const DROPPED: &str = "a checkpoint was dropped, or panicked, while it was being appended";

/// The least size of a segment, however little space there is, unless a smaller one is requested.
const LEAST: u64 = 256 << 10;

/// A durable record.
#[derive(Clone, Debug)]
pub(crate) struct Epoch {
    pub(crate) number: u64,
    pub(crate) chain: Chain,
    pub(crate) meta: Meta,
    /// First epoch of its segment.
    pub(crate) segment: u64,
    /// Where its pages begin there.
    pub(crate) pages_at: u64,
    /// Bytes of the record.
    pub(crate) bytes: u64,
    /// The sum of the state after it; none in records of versions without seals.
    pub(crate) sum: Option<StateSum>,
}

/// The end of the log, where the next record goes. The log has it, or the checkpoint that is
/// committed beside the store.
#[derive(Debug)]
pub(crate) struct Tail {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    store: [u8; 16],
    capacity: u64,
    file: Box<dyn DiskFile>,
    /// First epoch of the segment that is written to.
    segment: u64,
    /// Where the next record goes, and where its segment ends.
    at: u64,
    end: u64,
    next: u64,
    chain: Chain,
    stopped: bool,
}

#[derive(Debug)]
pub(crate) struct Log {
    dir: PathBuf,
    capacity: u64,
    /// First epochs, ascending; the last segment is written to.
    pub(crate) segments: Vec<u64>,
    /// None while it is lent.
    tail: Option<Tail>,
    /// Why nothing more is written.
    stopped: Option<&'static str>,
    proven: bool,
}

pub(crate) fn segment_path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:016x}.log"))
}

impl Log {
    /// A new, durable log on the disk whose first epoch is `first`.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        dir: &Path,
        store: [u8; 16],
        capacity: u64,
        after: (u64, Chain),
    ) -> Result<Self> {
        let (first, chain) = (after.0 + 1, after.1);
        let wanted = Wanted {
            own: capacity,
            bytes: capacity,
            least: LEAST.min(capacity),
        };
        let made = make_segment(disk.as_ref(), dir, store, (first, chain), &wanted)?;
        let (file, end) = place(disk.as_ref(), dir, first, made)?;
        let (dir, segment) = (dir.to_owned(), first);
        let (at, next, stopped) = (PAGE, first, false);
        let tail = Tail {
            disk,
            dir,
            store,
            capacity,
            file,
            segment,
            at,
            end,
            next,
            chain,
            stopped,
        };
        Ok(Self::with(tail, vec![first]))
    }

    /// Opens the log, with its epochs after that of the base. What a proof of this boot covers is
    /// neither hashed nor synced again. Nothing is changed before the log is known to be sound.
    ///
    /// # Errors
    /// `Damaged` when it is not sound, `Io`.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        place: Place<'_>,
        capacity: u64,
        proof: Option<Proof>,
    ) -> Result<(Self, Vec<Epoch>)> {
        let (walked, proven) = Self::walk(place, Access::Write, proof)?;
        remove(disk.as_ref(), &walked.obsolete)?;
        let Walked {
            epochs,
            next,
            chain,
            kept,
            last: (segment, at),
            ..
        } = walked;
        let Segment {
            file, end, first, ..
        } = segment;
        let (disk, store) = (Arc::clone(disk), place.store);
        let (dir, segment, stopped) = (place.dir.to_owned(), first, false);
        let tail = Tail {
            disk,
            dir,
            store,
            capacity,
            file,
            segment,
            at,
            end,
            next,
            chain,
            stopped,
        };
        if !proven {
            tail.confirm(epochs.last())?;
        }
        Ok((
            Self {
                proven,
                ..Self::with(tail, kept)
            },
            epochs,
        ))
    }

    /// Opens the log for reading only: nothing is written, synced or removed.
    ///
    /// # Errors
    /// As [`Log::open`].
    pub(crate) fn look(place: Place<'_>, proof: Option<Proof>) -> Result<(Self, Vec<Epoch>)> {
        let (walked, proven) = Self::walk(place, Access::Read, proof)?;
        Ok((
            Self {
                proven,
                ..Self::to_read(place.dir, walked.kept)
            },
            walked.epochs,
        ))
    }

    /// A log of these segments that takes no records.
    pub(crate) fn to_read(dir: &Path, segments: Vec<u64>) -> Self {
        let stopped = Some(READ_ONLY);
        Self {
            dir: dir.to_owned(),
            capacity: 0,
            segments,
            tail: None,
            stopped,
            proven: false,
        }
    }

    /// Reads the log; also returns whether a proof covers all of it.
    fn walk(place: Place<'_>, access: Access, proof: Option<Proof>) -> Result<(Walked, bool)> {
        let trusted = proof.map(|proof| proof.last);
        let walked = Walked::over(place, access, trusted)?;
        match trusted {
            Some(last) if walked.met(place.base, last) => {
                let proven = last == (walked.next - 1, walked.chain);
                Ok((walked, proven))
            }
            Some(_) => Ok((Walked::over(place, access, None)?, false)),
            None => Ok((walked, false)),
        }
    }

    /// Whether everything that was found when it was opened had been synced in this boot.
    pub(crate) fn is_proven(&self) -> bool {
        self.proven
    }

    /// The stamp of the segment for the next record, if all earlier records are durable. It is the
    /// stamp of the file that was written, whatever file has the name now.
    pub(crate) fn durable_segment(&self) -> Option<Stamp> {
        self.tail
            .as_ref()
            .filter(|_| self.stopped.is_none())?
            .file
            .stamp()
            .ok()
    }

    fn with(tail: Tail, segments: Vec<u64>) -> Self {
        let (dir, capacity) = (tail.dir.clone(), tail.capacity);
        Self {
            dir,
            capacity,
            segments,
            tail: Some(tail),
            stopped: None,
            proven: false,
        }
    }

    /// Makes a record durable. After a failure the record does not exist; only after a failed sync
    /// it may, and then the log takes nothing more.
    pub(crate) fn append(&mut self, meta: Meta, pages: &[u8], sum: StateSum) -> Result<Epoch> {
        let mut tail = self.lend()?;
        let epoch = tail.append(meta, pages, sum);
        self.give_back(tail);
        epoch
    }

    /// Lends the end of the log: until it is returned, nothing else is appended.
    pub(crate) fn lend(&mut self) -> Result<Tail> {
        self.refuse_if_stopped()?;
        self.tail.take().ok_or_else(lent)
    }

    /// Takes back the end of the log, which may be in another segment now.
    pub(crate) fn give_back(&mut self, tail: Tail) {
        if self.segments.last() != Some(&tail.segment) {
            self.segments.push(tail.segment);
        }
        if tail.stopped {
            self.stop();
        }
        self.tail = Some(tail);
    }

    /// Stops the log, because the borrower of its end is gone and what it wrote is unknown (D4).
    pub(crate) fn give_up_lent(&mut self) {
        if self.tail.is_none() {
            self.stopped.get_or_insert(DROPPED);
        }
    }

    /// Returns an error after a failed sync (D4): nothing more is written or removed.
    pub(crate) fn refuse_if_stopped(&self) -> Result<()> {
        let Some(why) = self.stopped else {
            return Ok(());
        };
        if why == READ_ONLY {
            return Err(Error::new(ErrorKind::Refused, why, "open it to be written"));
        }
        let what = format!("{why}, so nobody knows what is on the disk");
        Err(Error::new(
            ErrorKind::Stopped,
            what,
            "open the store again: what was reported is there",
        ))
    }

    /// Stops the log after a failed sync, because it is unknown what is durable.
    pub(crate) fn stop(&mut self) {
        self.stopped.get_or_insert(FAILED);
    }

    /// Begins a new segment, durable before its first record (D2), unless the current one has no
    /// records.
    pub(crate) fn rotate(&mut self) -> Result<()> {
        let mut tail = self.lend()?;
        let rotated = if tail.at == PAGE {
            Ok(())
        } else {
            tail.rotate(0)
        };
        self.give_back(tail);
        rotated
    }

    /// Drops the segments without records after `epoch` from the log, and returns their files,
    /// which can be removed (D7).
    pub(crate) fn drop_until(&mut self, epoch: u64) -> Vec<PathBuf> {
        let mut dropped = Vec::new();
        while self.segments.len() > 1 && self.segments[1] <= epoch + 1 {
            dropped.push(segment_path(&self.dir, self.segments.remove(0)));
        }
        dropped
    }

    /// Where a spare segment should be made, and its size; none while there is one, or half of the
    /// current segment is free.
    pub(crate) fn spare_wanted(&self) -> Option<(PathBuf, u64)> {
        let bytes = segment_bytes(self.capacity);
        let tail = self.tail.as_ref().filter(|tail| tail.at >= tail.end / 2)?;
        (self.stopped.is_none() && !has_spare(tail.disk.as_ref(), &self.dir, bytes))
            .then(|| (self.dir.clone(), bytes))
    }

    /// The least size of a segment.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }
}

pub(crate) fn lent() -> Error {
    let what = "a checkpoint is on its way";
    Error::new(ErrorKind::Locked, what, "finish it first, then try again")
}

impl Tail {
    /// Syncs what was read and the name of the last segment, which may only be in the cache (D5).
    fn confirm(&self, last: Option<&Epoch>) -> Result<()> {
        self.file.sync_data().doing("syncing", &self.dir)?;
        self.disk.sync_dir(&self.dir).doing("syncing", &self.dir)?;
        let Some(last) = last else { return Ok(()) };
        let path = segment_path(&self.dir, last.segment);
        let file = self
            .disk
            .open(&path, Access::Write)
            .doing("opening", &path)?;
        let begin = last.pages_at + page_bytes(&last.meta) - last.bytes;
        let mut bytes = vec![0; index(last.bytes)];
        file.read_at(&mut bytes, begin).doing("reading", &path)?;
        file.write_at(&bytes, begin).doing("confirming", &path)?;
        file.sync_data().doing("syncing", &path)
    }

    /// As [`Log::append`].
    pub(crate) fn append(&mut self, meta: Meta, pages: &[u8], sum: StateSum) -> Result<Epoch> {
        let (mut front, mut chain) = self.encode(&meta, pages, sum);
        if record::decode(&front).is_none() {
            let what = format!("epoch {}: a record that could not be read back", self.next);
            let advice =
                "nothing was written; take the checkpoint again, and report it if that fails, too";
            return Err(Error::new(ErrorKind::Refused, what, advice));
        }
        let bytes = (front.len() + pages.len()) as u64;
        if self.at + bytes > self.end {
            self.rotate(bytes)?;
            (front, chain) = self.encode(&meta, pages, sum); // its position changed
        }
        let (segment, path) = (self.segment, segment_path(&self.dir, self.segment));
        let pages_at = self.at + front.len() as u64;
        if !pages.is_empty() {
            self.file
                .write_at(pages, pages_at)
                .doing("appending to", &path)?;
        }
        self.file
            .write_at(&front, self.at)
            .doing("appending to", &path)?;
        self.stopped = true; // until the sync succeeds
        self.file.sync_data().doing("syncing", &path)?;
        self.stopped = false;
        let epoch = Epoch {
            number: self.next,
            chain,
            meta,
            segment,
            pages_at,
            bytes,
            sum: Some(sum),
        };
        (self.at, self.next, self.chain) = (self.at + bytes, self.next + 1, chain);
        Ok(epoch)
    }

    /// The record as it would lie at the end of the log.
    fn encode(&self, meta: &Meta, pages: &[u8], sum: StateSum) -> (Vec<u8>, Chain) {
        let seal = Seal {
            store: self.store,
            segment: self.segment,
            at: self.at,
            sum,
        };
        record::encode(self.next, &self.chain, meta, pages, &seal)
    }

    /// A new segment, durable before its first record (D2). It replaces one that is too small and
    /// has no record.
    fn rotate(&mut self, bytes: u64) -> Result<()> {
        let (own, least) = (self.capacity, bytes + PAGE);
        let wanted = Wanted {
            own,
            bytes: own.max(least),
            least: least.max(LEAST.min(own)),
        };
        let (disk, after) = (self.disk.as_ref(), (self.next, self.chain));
        let made = make_segment(disk, &self.dir, self.store, after, &wanted)?;
        // Until it is known which of the two has the name, nothing may be appended to either.
        self.stopped = self.segment == self.next;
        let (file, end) = place(disk, &self.dir, self.next, made)?;
        (self.file, self.at, self.end) = (file, PAGE, end);
        (self.segment, self.stopped) = (self.next, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FakeDisk;
    use crate::record::{BandChange, BandState};

    #[test]
    fn a_record_that_could_not_be_read_back_is_refused_and_the_log_goes_on() {
        let (disk, dir, base) = (FakeDisk::default(), Path::new("/log"), (1, [1; 32]));
        disk.make_dir(dir).expect("a fresh disk");
        let mut log =
            Log::create(Arc::new(disk.clone()), dir, [7; 16], 16 * PAGE, base).expect("made");
        let meta = |runs: &[(u64, u64)]| {
            let state = Some(BandState {
                size: 9 * PAGE,
                id: [1; 32],
            });
            let bands = vec![BandChange {
                name: "a".into(),
                state,
                attributes: None,
                runs: runs.to_vec(),
            }];
            Meta::Checkpoint {
                name: "c".into(),
                created_ns: 1,
                bands,
            }
        };
        let pages = vec![5; index(2 * PAGE)];
        for runs in [
            [(0, 1), (0, 1)].as_slice(),
            &[(2, 1), (1, 1)],
            &[(0, 3)],
            &[(8, 2)],
        ] {
            let refused = log
                .append(meta(runs), &pages, StateSum::default())
                .expect_err("nobody could read it");
            assert_eq!(refused.kind(), ErrorKind::Refused, "{runs:?}");
        }
        log.append(meta(&[(0, 2)]), &pages, StateSum::default())
            .expect("sound");
        drop(log);
        let place = Place {
            disk: &disk,
            dir,
            store: [7; 16],
            base,
            known: None,
        };
        let opened = Log::look(place, None).expect("whole");
        assert_eq!(opened.1.len(), 1);
    }

    /// A log of a version without seals is read and continued.
    #[test]
    fn a_log_of_a_version_without_seals_is_read_and_continued() {
        let (disk, dir, base) = (FakeDisk::default(), Path::new("/log"), (1, [1; 32]));
        disk.make_dir(dir).expect("a fresh disk");
        let port: Arc<dyn Disk> = Arc::new(disk.clone());
        drop(Log::create(Arc::clone(&port), dir, [7; 16], 16 * PAGE, base).expect("made"));
        let meta = |name: &str| {
            let state = Some(BandState {
                size: 9 * PAGE,
                id: [1; 32],
            });
            let bands = vec![BandChange {
                name: "a".into(),
                state,
                attributes: None,
                runs: vec![(3, 1)],
            }];
            Meta::Checkpoint {
                name: name.into(),
                created_ns: 1,
                bands,
            }
        };
        let page = vec![5; index(PAGE)];
        let (front, _) = record::encode(2, &base.1, &meta("old"), &page, &Seal::default());
        assert_eq!(front[96..160], [0; 64], "as it was written then");
        let file = disk
            .open(&segment_path(dir, 2), Access::Write)
            .expect("there");
        file.write_at(&[front, page.clone()].concat(), PAGE)
            .expect("written");
        let place = Place {
            disk: &disk,
            dir,
            store: [7; 16],
            base,
            known: None,
        };
        let (mut log, epochs) = Log::open(&port, place, 16 * PAGE, None).expect("sound");
        assert_eq!((epochs.len(), epochs[0].sum), (1, None));
        log.append(meta("new"), &page, StateSum::ZERO)
            .expect("appended");
        drop(log);
        let (_, epochs) = Log::look(place, None).expect("sound");
        assert_eq!(
            epochs.iter().map(|epoch| epoch.sum).collect::<Vec<_>>(),
            [None, Some(StateSum::ZERO)]
        );
    }
}
