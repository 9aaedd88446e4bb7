//! The walk over the log's segments: from their bytes to its epochs (D3).
//!
//! Invariant: it takes records in order and without gaps, and stops at the first that is not whole. Segments
//! that a crash brought back, or left half made, are removed on the way.

use std::path::Path;

use crate::bytes::hex;
use crate::disk::Disk;
use crate::error::{Doing, Error, Result};
use crate::forget::remove;
use crate::log::{Epoch, segment_path};
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, HEADER, Head};
use crate::segment::{Segment, ZEROS, open_segment, segments, unfinished};

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

/// What a walk found: the epochs, the first epochs of the segments that count, and the last of these with
/// where its next record goes.
pub(crate) struct Walked {
    pub(crate) scan: Scan,
    pub(crate) kept: Vec<u64>,
    pub(crate) last: (Segment, u64),
}

impl Walked {
    /// Walks from the base on; pages of records up to the one that is `trusted` are not hashed.
    pub(crate) fn over(
        disk: &dyn Disk,
        dir: &Path,
        store: [u8; 16],
        base: (u64, Chain),
        trusted: Option<(u64, Chain)>,
    ) -> Result<Self> {
        let mut scan = Scan::new(base, trusted.map_or(0, |(epoch, _)| epoch));
        remove(disk, &unfinished(disk, dir))?;
        let firsts = segments(disk, dir)?;
        let begin = begin(disk, dir, store, &firsts, base.0)?;
        let (mut kept, mut last) = (Vec::new(), None);
        for (place, first) in firsts.iter().enumerate() {
            let path = segment_path(dir, *first);
            if place < begin {
                disk.remove(&path).doing("removing", &path)?;
                continue;
            }
            match open_segment(disk, &path, store, *first)? {
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
        match last {
            Some(last) if scan.next.is_none_or(|next| next > base.0) => Ok(Self { scan, kept, last }),
            _ => {
                let what =
                    format!("{}: the log ends before epoch {}, which the base needs", dir.display(), base.0);
                Err(Error::damaged(what))
            }
        }
    }
}

/// The walk over all segments.
pub(crate) struct Scan {
    base: (u64, Chain),
    /// Up to this epoch the pages were whole when they were synced.
    trusted: u64,
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) next: Option<u64>,
    pub(crate) chain: Chain,
}

impl Scan {
    /// A walk that begins at the segment with the base's epoch.
    fn new(base: (u64, Chain), trusted: u64) -> Self {
        Self { base, trusted, epochs: Vec::new(), next: None, chain: [0; 32] }
    }

    /// Reads a segment's records; answers where the next one goes.
    fn segment(&mut self, segment: &Segment, path: &Path) -> Result<u64> {
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
    fn is_left_over(&self, segment: &Segment) -> std::io::Result<bool> {
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
        // A record begins at a page of its own, and what it says seldom takes more.
        let mut front = vec![0; index(PAGE)];
        if at + PAGE > segment.end || segment.file.read_at(&mut front, at)? < front.len() {
            return Ok(None);
        }
        let Some(claim) = record::peek(&front) else { return Ok(None) };
        let room = segment.end - at;
        if claim.front_bytes().checked_add(claim.page_bytes).is_none_or(|bytes| bytes > room) {
            return Ok(None);
        }
        let size = HEADER + index(claim.meta_bytes);
        if size > front.len() {
            front.resize(size, 0);
            segment.file.read_at(&mut front, at)?;
        }
        let Some((head, meta, chain)) = record::decode(&front) else { return Ok(None) };
        if Some(head.epoch) != self.next || head.previous != self.chain {
            return Ok(None);
        }
        if head.epoch > self.trusted && !pages_whole(segment, &head, at)? {
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
