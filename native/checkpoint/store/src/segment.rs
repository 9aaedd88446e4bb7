//! Segments of the log on the disk: making one (D2), and walking through all of them (D3).
//!
//! Invariant: a walk takes records in order and without gaps, and stops at the first that is not whole.

use std::path::Path;

use crate::bytes::{Reader, hex, put_u64};
use crate::disk::{Access, Disk, DiskFile, Kind};
use crate::error::{Doing, Error, Result};
use crate::log::{Epoch, segment_path};
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, HEADER, Head, Meta};

const MAGIC: &[u8; 8] = b"PLCKSEG1";
/// Zeros are written this many bytes at a time.
const ZEROS: usize = 1 << 20;

/// One segment while it is read.
pub(crate) struct Segment {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) first: u64,
    previous: Chain,
    pub(crate) end: u64,
}

pub(crate) fn page_bytes(meta: &Meta) -> u64 {
    match meta {
        Meta::Checkpoint { bands, .. } => bands.iter().map(record::BandChange::pages).sum::<u64>() * PAGE,
        Meta::Prune { .. } => 0,
    }
}

pub(crate) fn segments(disk: &dyn Disk, dir: &Path) -> Result<Vec<u64>> {
    let entries = disk.list(dir).doing("listing", dir)?;
    let files = entries.iter().filter(|entry| entry.kind == Kind::File);
    let digits = files.filter_map(|entry| entry.name.strip_suffix(".log"));
    Ok(digits.filter_map(|digits| u64::from_str_radix(digits, 16).ok()).collect())
}

pub(crate) fn new_segment(
    disk: &dyn Disk,
    dir: &Path,
    store: [u8; 16],
    after: (u64, Chain),
    capacity: u64,
) -> Result<(Box<dyn DiskFile>, u64)> {
    let (first, previous) = after;
    let end = capacity.next_multiple_of(PAGE).max(2 * PAGE);
    let path = segment_path(dir, first);
    if disk.stamp(&path).is_ok() {
        disk.remove(&path).doing("removing", &path)?; // an earlier try that failed: it holds no record
    }
    let made = fill(disk, &path, store, (first, previous), end);
    if made.is_err() {
        let _ = disk.remove(&path); // best effort: gives its space back; opening removes it, too
    }
    let file = made?;
    disk.sync_dir(dir).doing("syncing", dir)?;
    Ok((file, end))
}

fn fill(
    disk: &dyn Disk,
    path: &Path,
    store: [u8; 16],
    after: (u64, Chain),
    end: u64,
) -> Result<Box<dyn DiskFile>> {
    let file = disk.open(path, Access::Create).doing("making", path)?;
    let zeros = vec![0; ZEROS.min(index(end))];
    let mut at = 0;
    while at < end {
        let count = zeros.len().min(index(end - at));
        file.write_at(&zeros[..count], at).doing("preallocating", path)?;
        at += count as u64;
    }
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&store);
    put_u64(&mut header, after.0);
    header.extend_from_slice(&after.1);
    put_u64(&mut header, end);
    let hash = blake3::hash(&header);
    header.extend_from_slice(hash.as_bytes());
    file.write_at(&header, 0).doing("preallocating", path)?;
    file.sync_data().doing("syncing", path)?;
    Ok(file)
}

/// A segment whose header is whole; nothing when it is not.
pub(crate) fn open_segment(
    disk: &dyn Disk,
    path: &Path,
    store: [u8; 16],
    name: u64,
) -> Result<Option<Segment>> {
    let file = disk.open(path, Access::Write).doing("opening", path)?;
    let mut header = vec![0; 8 + 16 + 8 + 32 + 8 + 32];
    let count = file.read_at(&mut header, 0).doing("reading", path)?;
    let size = file.stamp().doing("looking at", path)?.size;
    let read = || -> Option<(u64, Chain, u64)> {
        let body = header.get(..count)?.len().checked_sub(32)?;
        let mut reader = Reader(&header[..count]);
        let known = reader.take(8)? == MAGIC && reader.take(16)? == store;
        let read = (reader.u64()?, reader.array()?, reader.u64()?);
        let whole = reader.0 == blake3::hash(&header[..body]).as_bytes();
        (known && whole && read.0 == name && read.2 <= size).then_some(read)
    };
    Ok(read().map(|(first, previous, end)| Segment { file, first, previous, end }))
}

/// The walk over all segments.
pub(crate) struct Scan {
    base: (u64, Chain),
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) next: Option<u64>,
    pub(crate) chain: Chain,
}

impl Scan {
    /// A walk that begins at the segment with the base's epoch.
    pub(crate) fn new(base: (u64, Chain)) -> Self {
        Self { base, epochs: Vec::new(), next: None, chain: [0; 32] }
    }

    /// Reads a segment's records; answers where the next one goes.
    pub(crate) fn segment(&mut self, segment: &Segment, path: &Path) -> Result<u64> {
        let expected = self.next.unwrap_or(segment.first);
        let chained = self.next.is_none() || segment.previous == self.chain;
        if segment.first != expected || !chained || (self.next.is_none() && segment.first > self.base.0 + 1) {
            let what = format!("{}: epoch {expected} should follow, not {}", path.display(), segment.first);
            return Err(Error::damaged(what));
        }
        (self.next, self.chain) = (Some(expected), segment.previous);
        self.meet_base(path)?;
        let mut at = PAGE;
        while let Some(epoch) = self.record(segment, at).doing("reading", path)? {
            at += epoch.bytes;
            (self.next, self.chain) = (Some(epoch.number + 1), epoch.chain);
            self.meet_base(path)?;
            if epoch.number > self.base.0 {
                self.epochs.push(epoch);
            }
        }
        Ok(at)
    }

    /// Whether a failed rotation left it: it has no record, and its epoch is in the segment before it.
    pub(crate) fn is_left_over(&self, segment: &Segment) -> std::io::Result<bool> {
        if self.next.is_none_or(|next| segment.first >= next) {
            return Ok(false);
        }
        let mut header = vec![0; HEADER];
        segment.file.read_at(&mut header, PAGE)?;
        Ok(record::peek(&header).is_none())
    }

    /// The base is an epoch of this log.
    fn meet_base(&self, path: &Path) -> Result<()> {
        if self.next == Some(self.base.0 + 1) && self.chain != self.base.1 {
            let (ours, base) = (hex(&self.chain), hex(&self.base.1));
            return Err(Error::damaged(format!(
                "{}: chain {ours} where the base has {base}",
                path.display()
            )));
        }
        Ok(())
    }

    fn record(&self, segment: &Segment, at: u64) -> std::io::Result<Option<Epoch>> {
        let mut front = vec![0; HEADER];
        if at + PAGE > segment.end || segment.file.read_at(&mut front, at)? < HEADER {
            return Ok(None);
        }
        let Some(claim) = record::peek(&front) else { return Ok(None) };
        let room = segment.end - at;
        if claim.front_bytes().checked_add(claim.page_bytes).is_none_or(|bytes| bytes > room) {
            return Ok(None);
        }
        front.resize(HEADER + index(claim.meta_bytes), 0);
        segment.file.read_at(&mut front, at)?;
        let Some((head, meta, chain)) = record::decode(&front) else { return Ok(None) };
        if Some(head.epoch) != self.next || head.previous != self.chain {
            return Ok(None);
        }
        if !pages_whole(segment, &head, at)? {
            return Ok(None);
        }
        let pages_at = at + head.front_bytes();
        Ok(Some(Epoch {
            number: head.epoch,
            chain,
            meta,
            segment: segment.first,
            pages_at,
            bytes: head.bytes(),
        }))
    }
}

/// Whether the pages are those the header was written with.
fn pages_whole(segment: &Segment, head: &Head, at: u64) -> std::io::Result<bool> {
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; ZEROS.min(index(head.page_bytes))];
    let mut done = 0;
    while done < head.page_bytes {
        let want = piece.len().min(index(head.page_bytes - done));
        let count = segment.file.read_at(&mut piece[..want], at + head.front_bytes() + done)?;
        if count < want {
            return Ok(false);
        }
        hasher.update(&piece[..count]);
        done += count as u64;
    }
    Ok(*hasher.finalize().as_bytes() == head.pages_hash)
}
