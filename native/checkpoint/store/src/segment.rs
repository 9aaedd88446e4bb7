//! Segments of the log on the disk: making one, or its zeros ahead of need (D2), and opening one.
//!
//! Invariant: whatever has a spare's name is zeros on stable storage, but for a header that is written anew
//! when it becomes a segment; and a segment without a whole header never had a record.

use std::path::{Path, PathBuf};

use crate::bytes::{Reader, put_u64};
use crate::disk::{Access, Disk, DiskFile, Kind};
use crate::error::{Doing, Result};
use crate::log::segment_path;
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, Meta};

const MAGIC: &[u8; 8] = b"PLCKSEG1";
/// Zeros are written this many bytes at a time.
pub(crate) const ZEROS: usize = 1 << 20;
/// A segment's zeros, made ahead of need; and while they are made.
const SPARE: &str = "SPARE";
const NEXT_SPARE: &str = "SPARE.new";

/// One segment while it is read.
pub(crate) struct Segment {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) first: u64,
    pub(crate) previous: Chain,
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

/// Bytes of a segment that is to hold so many.
pub(crate) fn segment_bytes(capacity: u64) -> u64 {
    capacity.next_multiple_of(PAGE).max(2 * PAGE)
}

/// Whether a spare of so many bytes is there: zeros that were synced before they got this name.
pub(crate) fn has_spare(disk: &dyn Disk, dir: &Path, bytes: u64) -> bool {
    disk.stamp(&dir.join(SPARE)).is_ok_and(|stamp| stamp.kind == Kind::File && stamp.size == bytes)
}

/// Makes the zeros of a segment to come, so that the checkpoint that needs it does not (D2).
pub(crate) fn make_spare(disk: &dyn Disk, dir: &Path, bytes: u64) -> Result<()> {
    let (new, path) = (dir.join(NEXT_SPARE), dir.join(SPARE));
    if disk.stamp(&new).is_ok() {
        disk.remove(&new).doing("removing", &new)?; // its making was cut short
    }
    let made = zeros(disk, &new, bytes)
        .and_then(|file| file.sync_data().doing("syncing", &new))
        .and_then(|()| disk.rename(&new, &path).doing("renaming", &new));
    if made.is_err() {
        let _ = disk.remove(&new); // best effort: gives its space back; `gc` removes it, too
    }
    made?;
    disk.sync_dir(dir).doing("syncing", dir)
}

/// What a spare is called while it is not whole.
pub(crate) fn unfinished_spare(dir: &Path) -> PathBuf {
    dir.join(NEXT_SPARE)
}

pub(crate) fn new_segment(
    disk: &dyn Disk,
    dir: &Path,
    store: [u8; 16],
    after: (u64, Chain),
    capacity: u64,
) -> Result<(Box<dyn DiskFile>, u64)> {
    let end = segment_bytes(capacity);
    let path = segment_path(dir, after.0);
    if disk.stamp(&path).is_ok() {
        disk.remove(&path).doing("removing", &path)?; // an earlier try that failed: it holds no record
    }
    let header = header(store, after, end);
    let spare = dir.join(SPARE);
    let from = if has_spare(disk, dir, end) { &spare } else { &path };
    let made = begun(disk, from, &path, &header, end);
    if made.is_err() {
        for path in [from, &path] {
            let _ = disk.remove(path); // best effort: gives its space back; opening removes it, too
        }
    }
    let file = made?;
    disk.sync_dir(dir).doing("syncing", dir)?;
    Ok((file, end))
}

/// A segment with its header, synced, under its name: of the spare, if that is where it comes from.
fn begun(disk: &dyn Disk, from: &Path, path: &Path, header: &[u8], end: u64) -> Result<Box<dyn DiskFile>> {
    let file = if from == path {
        zeros(disk, path, end)?
    } else {
        disk.open(from, Access::Write).doing("opening", from)?
    };
    file.write_at(header, 0).doing("preallocating", from)?;
    file.sync_data().doing("syncing", from)?;
    if from != path {
        disk.rename(from, path).doing("renaming", from)?;
    }
    Ok(file)
}

fn header(store: [u8; 16], after: (u64, Chain), end: u64) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&store);
    put_u64(&mut header, after.0);
    header.extend_from_slice(&after.1);
    put_u64(&mut header, end);
    let hash = blake3::hash(&header);
    header.extend_from_slice(hash.as_bytes());
    header
}

fn zeros(disk: &dyn Disk, path: &Path, end: u64) -> Result<Box<dyn DiskFile>> {
    let file = disk.open(path, Access::Create).doing("making", path)?;
    let zeros = vec![0; ZEROS.min(index(end))];
    let mut at = 0;
    while at < end {
        let count = zeros.len().min(index(end - at));
        file.write_at(&zeros[..count], at).doing("preallocating", path)?;
        at += count as u64;
    }
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
