//! The log: segments of zeros, and records behind each other in them (invariants D2 to D5).
//!
//! Place in the journey: `store` hands it a [`Meta`] and pages; [`Log::append`] returns when both are on
//! stable storage. Segments are opened one after the other at the start; the first record that is not whole
//! ends the log. Absent on purpose: what records mean.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, DiskFile};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, Meta};
use crate::segment::{Scan, Segment, new_segment, open_segment, page_bytes, segments};

/// A record that is durable.
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
}

#[derive(Debug)]
pub(crate) struct Log {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    store: [u8; 16],
    capacity: u64,
    /// First epochs, ascending; the last one is written.
    pub(crate) segments: Vec<u64>,
    file: Box<dyn DiskFile>,
    /// Where the next record goes, and where its segment ends.
    at: u64,
    end: u64,
    next: u64,
    chain: Chain,
    stopped: bool,
}

pub(crate) fn segment_path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:016x}.log"))
}

/// Where the walk begins: at the last whole segment that may hold the base's epoch. A crash may bring back
/// segments that were removed, and not all of them; those before go. One whose making was cut short does
/// not count.
fn begin(disk: &dyn Disk, dir: &Path, store: [u8; 16], firsts: &[u64], base: u64) -> Result<usize> {
    for (place, first) in firsts.iter().enumerate().rev() {
        if *first <= base + 1 && open_segment(disk, &segment_path(dir, *first), store, *first)?.is_some() {
            return Ok(place);
        }
    }
    Ok(0)
}

impl Log {
    /// A log whose first epoch is `first`, on the disk and durable.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        dir: &Path,
        store: [u8; 16],
        capacity: u64,
        after: (u64, Chain),
    ) -> Result<Self> {
        let (first, chain) = (after.0 + 1, after.1);
        let (file, end) = new_segment(disk.as_ref(), dir, store, (first, chain), capacity)?;
        let dir = dir.to_owned();
        let segments = vec![first];
        Ok(Self {
            disk,
            dir,
            store,
            capacity,
            segments,
            file,
            at: PAGE,
            end,
            next: first,
            chain,
            stopped: false,
        })
    }

    /// Opens what is there: the log, and its epochs after that of the base.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        store: [u8; 16],
        capacity: u64,
        base: (u64, Chain),
    ) -> Result<(Self, Vec<Epoch>)> {
        let mut scan = Scan::new(base);
        let firsts = segments(disk.as_ref(), dir)?;
        let begin = begin(disk.as_ref(), dir, store, &firsts, base.0)?;
        let mut kept = Vec::new();
        let mut last = None;
        for (place, first) in firsts.iter().enumerate() {
            let path = segment_path(dir, *first);
            if place < begin {
                disk.remove(&path).doing("removing", &path)?;
                continue;
            }
            match open_segment(disk.as_ref(), &path, store, *first)? {
                Some(segment) if scan.is_left_over(&segment).doing("reading", &path)? => {
                    disk.remove(&path).doing("removing", &path)?;
                }
                Some(segment) => {
                    let at = scan.segment(&segment, &path)?;
                    kept.push(*first);
                    last = Some((segment, at));
                }
                // Its making was cut short, so nothing was ever appended behind it.
                None if place + 1 == firsts.len() => disk.remove(&path).doing("removing", &path)?,
                None => {
                    return Err(Error::damaged(format!("{}: not a segment of this store", path.display())));
                }
            }
        }
        let next = scan.next.unwrap_or(base.0 + 1);
        if next <= base.0 || last.is_none() {
            let what =
                format!("{}: the log ends before epoch {}, which the base needs", dir.display(), base.0);
            return Err(Error::damaged(what));
        }
        let (segment, at) = last.ok_or_else(|| Error::damaged("no log"))?;
        let Segment { file, end, .. } = segment;
        let (dir, chain) = (dir.to_owned(), scan.chain);
        let log =
            Self { disk, dir, store, capacity, segments: kept, file, at, end, next, chain, stopped: false };
        log.confirm(scan.epochs.last())?;
        Ok((log, scan.epochs))
    }

    /// D5: what was read, and the name of the last segment, may only be in the cache.
    fn confirm(&self, last: Option<&Epoch>) -> Result<()> {
        self.file.sync_data().doing("syncing", &self.dir)?;
        self.disk.sync_dir(&self.dir).doing("syncing", &self.dir)?;
        let Some(last) = last else { return Ok(()) };
        let path = segment_path(&self.dir, last.segment);
        let file = self.disk.open(&path, Access::Write).doing("opening", &path)?;
        let begin = last.pages_at + page_bytes(&last.meta) - last.bytes;
        let mut bytes = vec![0; index(last.bytes)];
        file.read_at(&mut bytes, begin).doing("reading", &path)?;
        file.write_at(&bytes, begin).doing("confirming", &path)?;
        file.sync_data().doing("syncing", &path)
    }

    /// The chain value of the last record.
    pub(crate) fn chain(&self) -> Chain {
        self.chain
    }

    /// Bytes that all segments take.
    pub(crate) fn bytes(&self) -> Result<u64> {
        self.segments.iter().try_fold(0, |sum, first| {
            let path = segment_path(&self.dir, *first);
            Ok(sum + self.disk.stamp(&path).doing("looking at", &path)?.size)
        })
    }

    /// Makes a record durable. After a failure nothing of it will be found, except that a failed sync
    /// leaves it open: then the log takes nothing more.
    pub(crate) fn append(&mut self, meta: Meta, pages: &[u8]) -> Result<Epoch> {
        self.refuse_if_stopped()?;
        let (front, chain) = record::encode(self.next, &self.chain, &meta, pages);
        let bytes = (front.len() + pages.len()) as u64;
        if self.at + bytes > self.end {
            self.rotate(bytes)?;
        }
        let path = segment_path(&self.dir, self.segments[self.segments.len() - 1]);
        let pages_at = self.at + front.len() as u64;
        if !pages.is_empty() {
            self.file.write_at(pages, pages_at).doing("appending to", &path)?;
        }
        self.file.write_at(&front, self.at).doing("appending to", &path)?;
        self.stopped = true; // until the sync says otherwise
        self.file.sync_data().doing("syncing", &path)?;
        self.stopped = false;
        let segment = self.segments[self.segments.len() - 1];
        let epoch = Epoch { number: self.next, chain, meta, segment, pages_at, bytes };
        (self.at, self.next, self.chain) = (self.at + bytes, self.next + 1, chain);
        Ok(epoch)
    }

    /// After a failed sync (D4) nothing more is written, and nothing is removed.
    pub(crate) fn refuse_if_stopped(&self) -> Result<()> {
        if !self.stopped {
            return Ok(());
        }
        let what = "an earlier sync of the store failed, so nobody knows what is on the disk";
        Err(Error::new(ErrorKind::Stopped, what, "open the store again: what was reported is there"))
    }

    /// A sync failed somewhere else: what counts is unknown here, too.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// A new segment, durable before its first record (D2).
    pub(crate) fn rotate(&mut self, bytes: u64) -> Result<()> {
        let capacity = self.capacity.max(bytes + PAGE);
        let after = (self.next, self.chain);
        if self.segments.last() == Some(&self.next) {
            // Nothing was appended to it, and it is too small.
            self.segments.pop();
            self.stopped = true; // its file goes before the new one is there
        }
        let (file, end) = new_segment(self.disk.as_ref(), &self.dir, self.store, after, capacity)?;
        self.segments.push(self.next);
        (self.file, self.at, self.end, self.stopped) = (file, PAGE, end, false);
        Ok(())
    }

    /// Whether the current segment has records.
    pub(crate) fn is_fresh(&self) -> bool {
        self.at == PAGE
    }

    /// The segments that hold nothing after `epoch` are no longer of this log. Answers their files, which can
    /// be removed (D7).
    pub(crate) fn drop_until(&mut self, epoch: u64) -> Vec<PathBuf> {
        let mut dropped = Vec::new();
        while self.segments.len() > 1 && self.segments[1] <= epoch + 1 {
            dropped.push(segment_path(&self.dir, self.segments.remove(0)));
        }
        dropped
    }

    /// Bytes that a segment has at least.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }
}
