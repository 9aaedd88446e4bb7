//! Makes and opens segments of the log, and the zeros of the next one ahead of need (D2).
//!
//! A file named as a spare holds zeros on stable storage, except for a header that is written anew
//! when it becomes a segment. A segment without a complete header never had a record. Nothing is
//! removed before its replacement is durable.

use std::io;
use std::path::{Path, PathBuf};

use crate::bytes::{Reader, put_u64};
use crate::disk::{Access, Disk, DiskFile, Kind};
use crate::error::{Doing, Result};
use crate::log::segment_path;
use crate::pages::{PAGE, index};
use crate::record::{self, Chain, Meta};

const MAGIC: &[u8; 8] = b"PLCKSEG1";
/// Zeros written at a time.
pub(crate) const ZEROS: usize = 1 << 20;
/// The name of a segment's zeros, made ahead; and the name while they are made.
const SPARE: &str = "SPARE";
const NEXT_SPARE: &str = "SPARE.new";
/// The name of a segment without a spare while it is made.
const NEXT_SEGMENT: &str = "SEGMENT.new";

/// A segment that is being read.
pub(crate) struct Segment {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) first: u64,
    pub(crate) previous: Chain,
    pub(crate) end: u64,
}

pub(crate) fn page_bytes(meta: &Meta) -> u64 {
    match meta {
        Meta::Checkpoint { bands, .. } => {
            bands.iter().map(record::BandChange::pages).sum::<u64>() * PAGE
        }
        Meta::Prune { .. } => 0,
    }
}

pub(crate) fn segments(disk: &dyn Disk, dir: &Path) -> Result<Vec<u64>> {
    let entries = disk.list(dir).doing("listing", dir)?;
    let files = entries.iter().filter(|entry| entry.kind == Kind::File);
    let digits = files.filter_map(|entry| entry.name.strip_suffix(".log"));
    Ok(digits
        .filter_map(|digits| u64::from_str_radix(digits, 16).ok())
        .collect())
}

/// The size of a segment for this many bytes.
pub(crate) fn segment_bytes(capacity: u64) -> u64 {
    capacity.next_multiple_of(PAGE).max(2 * PAGE)
}

/// Whether there is a spare of this size: zeros that were synced before they got this name.
pub(crate) fn has_spare(disk: &dyn Disk, dir: &Path, bytes: u64) -> bool {
    disk.stamp(&dir.join(SPARE))
        .is_ok_and(|stamp| stamp.kind == Kind::File && stamp.size == bytes)
}

/// Makes the zeros of the next segment, so that no checkpoint has to (D2).
pub(crate) fn make_spare(disk: &dyn Disk, dir: &Path, bytes: u64) -> Result<()> {
    let (new, path) = (dir.join(NEXT_SPARE), dir.join(SPARE));
    if disk.stamp(&new).is_ok() {
        disk.remove(&new).doing("removing", &new)?; // left by an interrupted attempt
    }
    let made = zeros(disk, &new, bytes)
        .and_then(|file| file.sync_data().doing("syncing", &new))
        .and_then(|()| disk.rename(&new, &path).doing("renaming", &new));
    if made.is_err() {
        let _ = disk.remove(&new); // best effort: frees its space; `gc` removes it, too
    }
    made?;
    disk.sync_dir(dir).doing("syncing", dir)
}

/// The path of the spare, if there is one.
pub(crate) fn spare(disk: &dyn Disk, dir: &Path) -> Option<PathBuf> {
    Some(dir.join(SPARE)).filter(|path| disk.stamp(path).is_ok())
}

/// Segments and spares that were left incomplete.
pub(crate) fn unfinished(disk: &dyn Disk, dir: &Path) -> Vec<PathBuf> {
    let names = [NEXT_SPARE, NEXT_SEGMENT].map(|name| dir.join(name));
    names
        .into_iter()
        .filter(|path| disk.stamp(path).is_ok())
        .collect()
}

/// A whole and durable segment, under a name that is not read as part of the log.
pub(crate) struct Made {
    file: Box<dyn DiskFile>,
    end: u64,
    from: PathBuf,
}

/// The size of a new segment.
pub(crate) struct Wanted {
    /// The log's own size, which the spare has.
    pub(crate) own: u64,
    /// Exactly this size.
    pub(crate) bytes: u64,
    /// The least size that is enough, where there is less space.
    pub(crate) least: u64,
}

/// Makes a segment of the wanted size, or a smaller one where space is short. It uses the spare if
/// that has the log's own size; while such a spare exists no job makes another, so none takes its
/// name meanwhile. A segment with the new one's name stays until [`place`].
pub(crate) fn make_segment(
    disk: &dyn Disk,
    dir: &Path,
    store: [u8; 16],
    after: (u64, Chain),
    wanted: &Wanted,
) -> Result<Made> {
    let (mut end, least) = (segment_bytes(wanted.bytes), segment_bytes(wanted.least));
    let (spare, new) = (dir.join(SPARE), dir.join(NEXT_SEGMENT));
    loop {
        let taken = if end == segment_bytes(wanted.own) {
            open_spare(disk, dir, end)
        } else {
            None
        };
        let from = if taken.is_some() { &spare } else { &new };
        let file = begun(disk, from, taken, &header(store, after, end), end);
        if file.is_err() {
            let _ = disk.remove(from); // best effort: frees its space; opening and `gc` do it, too
        }
        match file {
            Ok(file) => {
                return Ok(Made {
                    file,
                    end,
                    from: from.clone(),
                });
            }
            Err(error) if error.system() == Some(io::ErrorKind::StorageFull) && end > least => {
                // A quarter leaves most of the free space to others.
                end = segment_bytes(end / 4).max(least);
            }
            Err(error) => return Err(error),
        }
    }
}

/// A spare that cannot be used counts as none.
fn open_spare(disk: &dyn Disk, dir: &Path, bytes: u64) -> Option<Box<dyn DiskFile>> {
    let file =
        has_spare(disk, dir, bytes).then(|| disk.open(&dir.join(SPARE), Access::Write).ok())??;
    file.stamp()
        .is_ok_and(|stamp| stamp.size == bytes)
        .then_some(file)
}

/// Zeros with a header, synced; from the spare, if there is one.
fn begun(
    disk: &dyn Disk,
    from: &Path,
    spare: Option<Box<dyn DiskFile>>,
    header: &[u8],
    end: u64,
) -> Result<Box<dyn DiskFile>> {
    let file = if let Some(file) = spare {
        file
    } else {
        if disk.stamp(from).is_ok() {
            disk.remove(from).doing("removing", from)?; // left by an interrupted attempt
        }
        zeros(disk, from, end)?
    };
    file.write_at(header, 0).doing("preallocating", from)?;
    file.sync_data().doing("syncing", from)?;
    Ok(file)
}

/// Gives a segment its name in one step: at every moment the name has the new or the old segment.
/// After an error it is unknown which.
pub(crate) fn place(
    disk: &dyn Disk,
    dir: &Path,
    first: u64,
    made: Made,
) -> Result<(Box<dyn DiskFile>, u64)> {
    let path = segment_path(dir, first);
    disk.rename(&made.from, &path)
        .doing("renaming", &made.from)?;
    disk.sync_dir(dir).doing("syncing", dir)?;
    Ok((made.file, made.end))
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
    let file = disk
        .open(path, Access::CreatePrivate)
        .doing("making", path)?;
    // btrfs writes what is written to a new place, so each record would change metadata and leave the
    // log in as many pieces, in spite of its zeros (D2). It gives up its own checksums of such a
    // file; a record has hashes. It takes this of an empty file only, and whoever refuses it has a
    // slower log.
    file.overwrite_in_place();
    let zeros = vec![0; ZEROS.min(index(end))];
    let mut at = 0;
    while at < end {
        let count = zeros.len().min(index(end - at));
        file.write_at(&zeros[..count], at)
            .doing("preallocating", path)?;
        at += count as u64;
    }
    Ok(file)
}

/// Opens a segment with a whole header; none if it is incomplete.
pub(crate) fn open_segment(
    disk: &dyn Disk,
    path: &Path,
    store: [u8; 16],
    name: u64,
    access: Access,
) -> Result<Option<Segment>> {
    let file = disk.open(path, access).doing("opening", path)?;
    let size = file.stamp().doing("looking at", path)?.size;
    let head = read_head(file.as_ref()).doing("reading", path)?;
    let fits = |head: &SegmentHead| head.store == store && head.first == name && head.end <= size;
    let head = head.filter(fits);
    Ok(head.map(
        |SegmentHead {
             first,
             previous,
             end,
             ..
         }| Segment {
            file,
            first,
            previous,
            end,
        },
    ))
}

/// The first page of a segment.
pub(crate) struct SegmentHead {
    pub(crate) store: [u8; 16],
    pub(crate) first: u64,
    pub(crate) previous: Chain,
    pub(crate) end: u64,
}

/// Reads the first page of a segment of any store; none if it is incomplete.
pub(crate) fn read_head(file: &dyn DiskFile) -> io::Result<Option<SegmentHead>> {
    let mut header = vec![0; 8 + 16 + 8 + 32 + 8 + 32];
    let count = file.read_at(&mut header, 0)?;
    let read = || -> Option<SegmentHead> {
        let body = header.get(..count)?.len().checked_sub(32)?;
        let mut reader = Reader(&header[..count]);
        let known = reader.take(8)? == MAGIC;
        let (store, first) = (reader.array()?, reader.u64()?);
        let (previous, end) = (reader.array()?, reader.u64()?);
        let whole = reader.0 == blake3::hash(&header[..body]).as_bytes();
        (known && whole).then_some(SegmentHead {
            store,
            first,
            previous,
            end,
        })
    };
    Ok(read())
}
