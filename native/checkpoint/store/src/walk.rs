//! Walks over the log's segments, from their bytes to the epochs (D3).
//!
//! Records are taken in order and without gaps; nothing is changed. The end is a torn tail only if
//! nothing shows that more existed: no complete record after it, no later segment, not the base,
//! not the index. Anything else is damage, and `survey` finds what is left.

use std::io;
use std::path::{Path, PathBuf};

use crate::bytes::hex;
use crate::compact::compacted_id;
use crate::disk::{Access, Disk, DiskFile};
use crate::error::{Doing, Error, Result};
use crate::log::{Epoch, segment_path};
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, Head, Meta};
use crate::segment::{Segment, ZEROS, open_segment, read_head, segments, unfinished};

/// The input of a walk: where the log is, and what is known of it from elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) dir: &'a Path,
    pub(crate) store: [u8; 16],
    /// Epoch and chain value of the base.
    pub(crate) base: (u64, Chain),
    /// The last epoch that the index knew to be durable, however old the index is.
    pub(crate) known: Option<(u64, Chain)>,
}

/// The result of a walk over a sound log.
pub(crate) struct Walked {
    /// Epochs after that of the base.
    pub(crate) epochs: Vec<Epoch>,
    pub(crate) next: u64,
    pub(crate) chain: Chain,
    /// First epochs of the segments that count.
    pub(crate) kept: Vec<u64>,
    /// The last of these, and where its next record goes.
    pub(crate) last: (Segment, u64),
    /// Files that can be removed: segments that a crash brought back, incomplete ones, and those of
    /// an interrupted compaction.
    pub(crate) obsolete: Vec<PathBuf>,
}

impl Walked {
    /// Walks from the base on. Pages of records up to `trusted` are not hashed, and nothing is
    /// searched after it.
    ///
    /// # Errors
    /// `Damaged` when the log is not sound, `Io`.
    pub(crate) fn over(
        place: Place<'_>,
        access: Access,
        trusted: Option<(u64, Chain)>,
    ) -> Result<Self> {
        let Place {
            disk,
            dir,
            store,
            base,
            ..
        } = place;
        let firsts = segments(disk, dir)?;
        let begin = begin(&place, &firsts)?;
        let mut obsolete = unfinished(disk, dir);
        obsolete.extend(
            firsts[..begin]
                .iter()
                .map(|first| segment_path(dir, *first)),
        );
        // The base replaces older records, so their pages do not matter.
        let mut scan = Scan::new(
            place,
            trusted.map_or(base.0, |(epoch, _)| epoch.max(base.0)),
        );
        let (mut kept, mut last) = (Vec::new(), None);
        for first in &firsts[begin..] {
            let path = segment_path(dir, *first);
            match open_segment(disk, &path, store, *first, access)? {
                Some(segment) if scan.is_left_over(&segment).doing("reading", &path)? => {
                    obsolete.push(path);
                }
                Some(segment) => {
                    let at = scan.segment(&segment, &path)?;
                    kept.push(*first);
                    last = Some((segment, at));
                }
                None if was_never_begun(disk, &path).doing("reading", &path)?
                    || is_of_a_compaction(disk, &path, store).doing("reading", &path)? =>
                {
                    obsolete.push(path);
                }
                None => {
                    let what = format!(
                        "{}: its first page is not that of a segment of this store",
                        path.display()
                    );
                    return Err(Error::damaged(what));
                }
            }
        }
        let Scan {
            epochs,
            next,
            chain,
            ..
        } = scan;
        let Some((last, next)) = last.zip(next).filter(|(_, next)| *next > base.0) else {
            let what = format!(
                "{}: the log ends before epoch {}, which the base needs",
                dir.display(),
                base.0
            );
            return Err(Error::damaged(what));
        };
        let walked = Self {
            epochs,
            next,
            chain,
            kept,
            last,
            obsolete,
        };
        walked.refuse_unknown_end(&place)?;
        let proven = trusted == Some((walked.next - 1, walked.chain));
        if !proven {
            walked.refuse_more(&place)?;
        }
        Ok(walked)
    }

    /// Whether it reached this epoch, which is the base or a record's.
    pub(crate) fn met(&self, base: (u64, Chain), (number, chain): (u64, Chain)) -> bool {
        base == (number, chain)
            || self
                .epochs
                .iter()
                .any(|epoch| (epoch.number, epoch.chain) == (number, chain))
    }

    /// Refuses a log that ends before an epoch that the index knew to be durable, or has another
    /// record there.
    fn refuse_unknown_end(&self, place: &Place<'_>) -> Result<()> {
        let Some(known) = place.known.filter(|(epoch, _)| *epoch > place.base.0) else {
            return Ok(());
        };
        if self.met(place.base, known) {
            return Ok(());
        }
        let (dir, ours, known) = (place.dir.display(), self.next - 1, known.0);
        let what = if known > ours {
            format!("{dir}: the log ends with epoch {ours}, and INDEX knows epoch {known}")
        } else {
            format!("{dir}: the log has another epoch {known} than INDEX")
        };
        Err(Error::damaged(what))
    }

    /// Refuses a log with a whole record after its end: then the end is no torn tail.
    fn refuse_more(&self, place: &Place<'_>) -> Result<()> {
        let (segment, at) = &self.last;
        let path = segment_path(place.dir, segment.first);
        let mut fronts = Fronts {
            file: segment.file.as_ref(),
            end: segment.end,
            at: *at,
        };
        while let Some((at, front)) = fronts.next().doing("reading", &path)? {
            let Some((head, ..)) = record::decode(&front) else {
                continue;
            };
            // It was unfinished when the machine stopped, so its pages are incomplete and may hold
            // anything.
            if at == self.last.1 && head.epoch == self.next && head.previous == self.chain {
                fronts.at = at.saturating_add(head.bytes());
            } else if head.epoch >= self.next && head.may_lie(place.store, segment.first, at) {
                let what = format!(
                    "{}: nothing whole at byte {}, where epoch {} should be, and epoch {} at byte {at}",
                    path.display(),
                    self.last.1,
                    self.next,
                    head.epoch
                );
                return Err(Error::damaged(what));
            }
        }
        Ok(())
    }
}

/// Where the walk begins: at the last whole segment that may hold the base's epoch. A crash may
/// bring back some of the removed segments; they do not count.
fn begin(place: &Place<'_>, firsts: &[u64]) -> Result<usize> {
    for (at, first) in firsts.iter().enumerate().rev() {
        let path = segment_path(place.dir, *first);
        if *first <= place.base.0 + 1
            && open_segment(place.disk, &path, place.store, *first, Access::Read)?.is_some()
        {
            return Ok(at);
        }
    }
    Ok(0)
}

/// Whether a file with a segment's name is all zeros: a version that gave the name before the first
/// page was complete left it, and it never had a record.
fn was_never_begun(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    let file = disk.open(path, Access::Read)?;
    let end = file.stamp()?.size;
    let mut piece = vec![0; ZEROS];
    let mut at = 0;
    while at < end {
        let count = file.read_at(&mut piece, at)?;
        if count == 0 || piece[..count].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += count as u64;
    }
    Ok(true)
}

/// Whether a compaction of this store made a segment that `CURRENT` never came to name.
fn is_of_a_compaction(disk: &dyn Disk, path: &Path, store: [u8; 16]) -> io::Result<bool> {
    let head = read_head(disk.open(path, Access::Read)?.as_ref())?;
    Ok(head.is_some_and(|head| head.store == compacted_id(store)))
}

/// The pages of a file that may begin a record, ascending, each with all bytes that its header
/// claims.
pub(crate) struct Fronts<'a> {
    pub(crate) file: &'a dyn DiskFile,
    pub(crate) end: u64,
    /// Where to look next; may be moved past a record.
    pub(crate) at: u64,
}

impl Fronts<'_> {
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut piece = Vec::new();
        while self.at < self.end {
            piece.resize(ZEROS.min(index(self.end - self.at)), 0);
            let count = self.file.read_at(&mut piece, self.at)?;
            if count == 0 {
                break;
            }
            for (place, page) in piece[..count].chunks(index(PAGE)).enumerate() {
                if record::may_begin(page) {
                    let at = self.at + place as u64 * PAGE;
                    self.at = at + PAGE;
                    return read_front(self.file, self.end, at).map(|front| Some((at, front)));
                }
            }
            self.at += (count as u64).next_multiple_of(PAGE);
        }
        Ok(None)
    }
}

/// The page at `at`, and more if a header there claims a larger meta that fits before `end`.
fn read_front(file: &dyn DiskFile, end: u64, at: u64) -> io::Result<Vec<u8>> {
    let mut front = vec![0; index(PAGE)];
    let mut count = file.read_at(&mut front, at)?;
    let claimed = record::peek(&front[..count]).map_or(0, |head| head.front_bytes());
    if claimed > PAGE && claimed <= end.saturating_sub(at) {
        front.resize(index(claimed), 0);
        count = file.read_at(&mut front, at)?;
    }
    front.truncate(count);
    Ok(front)
}

/// The walk over all segments.
struct Scan<'a> {
    place: Place<'a>,
    /// Up to this epoch the pages are known to be whole.
    trusted: u64,
    epochs: Vec<Epoch>,
    next: Option<u64>,
    chain: Chain,
}

impl<'a> Scan<'a> {
    /// A walk that begins at the segment with the base's epoch.
    fn new(place: Place<'a>, trusted: u64) -> Self {
        Self {
            place,
            trusted,
            epochs: Vec::new(),
            next: None,
            chain: [0; 32],
        }
    }

    /// Reads a segment's records; returns where the next one goes.
    fn segment(&mut self, segment: &Segment, path: &Path) -> Result<u64> {
        let expected = self.next.unwrap_or(segment.first);
        let chained = self.next.is_none() || segment.previous == self.chain;
        let base = self.place.base.0;
        if segment.first != expected
            || !chained
            || (self.next.is_none() && segment.first > base + 1)
        {
            let what = format!(
                "{}: epoch {expected} should follow, not {}",
                path.display(),
                segment.first
            );
            return Err(Error::damaged(what));
        }
        (self.next, self.chain) = (Some(expected), segment.previous);
        self.meet_base(path)?;
        let mut at = PAGE;
        while let Some(epoch) = self.record(segment, at).doing("reading", path)? {
            at += epoch.bytes;
            (self.next, self.chain) = (Some(epoch.number + 1), epoch.chain);
            self.meet_base(path)?;
            if epoch.number > base {
                self.epochs.push(epoch);
            }
        }
        Ok(at)
    }

    /// Whether a failed rotation left it: its epoch is in the segment before it, and it has no
    /// record.
    fn is_left_over(&self, segment: &Segment) -> io::Result<bool> {
        if self.next.is_none_or(|next| segment.first >= next) {
            return Ok(false);
        }
        let mut fronts = Fronts {
            file: segment.file.as_ref(),
            end: segment.end,
            at: PAGE,
        };
        Ok(fronts.next()?.is_none())
    }

    /// Checks that the base is an epoch of this log.
    fn meet_base(&self, path: &Path) -> Result<()> {
        let base = self.place.base;
        if self.next == Some(base.0 + 1) && self.chain != base.1 {
            let (ours, base) = (hex(&self.chain), hex(&base.1));
            return Err(Error::damaged(format!(
                "{}: chain {ours} where the base has {base}",
                path.display()
            )));
        }
        Ok(())
    }

    fn record(&self, segment: &Segment, at: u64) -> io::Result<Option<Epoch>> {
        if at + PAGE > segment.end {
            return Ok(None);
        }
        let front = read_front(segment.file.as_ref(), segment.end, at)?;
        let Some((head, meta, chain)) = record::decode(&front) else {
            return Ok(None);
        };
        let room = segment.end - at;
        if head
            .front_bytes()
            .checked_add(head.page_bytes)
            .is_none_or(|bytes| bytes > room)
            || Some(head.epoch) != self.next
            || head.previous != self.chain
            || !head.may_lie(self.place.store, segment.first, at)
            || (head.epoch > self.trusted && !pages_whole(segment.file.as_ref(), &head, at)?)
        {
            return Ok(None);
        }
        Ok(Some(epoch_of(head, meta, chain, segment.first, at)))
    }
}

/// A record that was read at this position.
pub(crate) fn epoch_of(head: Head, meta: Meta, chain: Chain, segment: u64, at: u64) -> Epoch {
    Epoch {
        number: head.epoch,
        chain,
        meta,
        segment,
        pages_at: at + head.front_bytes(),
        bytes: head.bytes(),
        sum: head.seal.map(|seal| seal.sum),
    }
}

/// Whether the pages are those the header was written with.
pub(crate) fn pages_whole(file: &dyn DiskFile, head: &Head, at: u64) -> io::Result<bool> {
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; ZEROS.min(index(head.page_bytes))];
    let mut done = 0;
    while done < head.page_bytes {
        let want = piece.len().min(index(head.page_bytes - done));
        let count = file.read_at(&mut piece[..want], at + head.front_bytes() + done)?;
        if count < want {
            return Ok(false);
        }
        hasher.update(&piece[..count]);
        done += count as u64;
    }
    Ok(*hasher.finalize().as_bytes() == head.pages_hash)
}
