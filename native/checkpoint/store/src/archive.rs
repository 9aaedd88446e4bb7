//! Writes a checkpoint as an archive: a tar of its bands behind a manifest of their ids.
//!
//! ```text
//! MANIFEST       "paceline-archive 2", "checkpoint TIME NAME", "ID SIZE ATTRIBUTES BAND" by name, its own BLAKE3
//! bands/BAND     one plain file for each line, in that order; pages of zeros are holes (GNU's sparse format)
//! ```
//! [`Store::export`] writes it, `import` reads it, any `tar` unpacks it and any `b3sum` verifies
//! it. Each band is checked against its id before any byte of it is written. Archives are neither
//! compressed nor signed. Where the attributes of no band are known the manifest has none, as in
//! version 1.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use crate::attributes::{Attributes, of_word, word};
use crate::bytes::{hex, sealed, unhex, unsealed};
use crate::disk::Disk;
use crate::error::{Doing, Error, Result};
use crate::history::{BandReader, Checkpoint};
use crate::names::{check_bands, check_checkpoint, is_band};
use crate::pages::{LEAF, PAGE, PageSet, index, runs};
use crate::record::{BandAt, BandState};
use crate::store::Store;
use crate::tree::{Tree, leaf_of, leaves_of};

const FIRST_LINE: &str = "paceline-archive 1";
const FIRST_LINE_WITH_ATTRIBUTES: &str = "paceline-archive 2";
/// The permissions of an entry whose own are not known.
const PRIVATE: u32 = 0o600;
/// The first entry.
pub(crate) const MANIFEST: &str = "MANIFEST";
/// The directory of all other entries.
pub(crate) const BANDS: &str = "bands/";
/// The archive's name in errors, because only the caller knows its path.
pub(crate) const ARCHIVE: &str = "the archive";
/// Bytes read at a time.
const PIECE: u64 = 16 * LEAF;

/// The bands that an archive declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) name: String,
    pub(crate) created_ns: i64,
    /// Ordered by name.
    pub(crate) bands: Vec<(String, BandAt)>,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Its bands.
    pub bands: u64,
    /// Total size of the bands.
    pub bytes: u64,
    /// How many of these bytes the archive carries; all others are zeros.
    pub carried: u64,
}

impl Contents {
    pub(crate) fn text(&self) -> String {
        let mut bands = self.bands.iter();
        let with_attributes = bands.any(|(_, band)| band.attributes.is_some());
        let first_line = if with_attributes {
            FIRST_LINE_WITH_ATTRIBUTES
        } else {
            FIRST_LINE
        };
        let mut text = format!(
            "{first_line}\ncheckpoint {} {}\n",
            self.created_ns, self.name
        );
        for (name, BandAt { state, attributes }) in &self.bands {
            // Writing to a string cannot fail.
            let _ = write!(text, "{} {} ", hex(&state.id), state.size);
            if with_attributes {
                text.extend([&word(attributes.as_deref()), " "]);
            }
            text.extend([name, "\n"]);
        }
        sealed(text)
    }

    /// Refuses names that cannot be bands on this disk, before anything is made.
    pub(crate) fn check_names(&self, disk: &dyn Disk) -> Result<()> {
        check_bands(disk, self.bands.iter().map(|(name, _)| name.as_str()))
    }

    /// Reads exactly what [`Contents::text`] wrote; every name in it is a valid file name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = unsealed(text)?.lines();
        let with_attributes = match lines.next()? {
            FIRST_LINE => false,
            FIRST_LINE_WITH_ATTRIBUTES => true,
            _ => return None,
        };
        let (created_ns, name) = lines.next()?.strip_prefix("checkpoint ")?.split_once(' ')?;
        check_checkpoint(name).ok()?;
        let band = |line: &str| {
            let mut words = line.splitn(if with_attributes { 4 } else { 3 }, ' ');
            let (id, size) = (unhex(words.next()?)?, words.next()?.parse().ok()?);
            let attributes = if with_attributes {
                of_word(words.next()?)?
            } else {
                None
            };
            // The archive may come from anybody, so its attributes are restricted.
            let harmless = |it: &Attributes| *it == it.for_archive();
            if !attributes.as_deref().is_none_or(harmless) {
                return None;
            }
            let name = words.next().filter(|name| is_band(name))?.to_owned();
            let state = BandState { size, id };
            Some((name, BandAt { state, attributes }))
        };
        let bands: Vec<_> = lines.map(band).collect::<Option<_>>()?;
        let ascending = bands.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let created_ns = created_ns.parse().ok()?;
        let read = Self {
            name: name.to_owned(),
            created_ns,
            bands,
        };
        (ascending && read.text() == text).then_some(read)
    }
}

impl Store {
    /// Writes a checkpoint as an archive. `out` is usable only if this succeeds; the caller syncs
    /// it.
    ///
    /// # Errors
    /// `NotFound`; `Damaged` when a band no longer has its id: then nothing of it is written; `Io`.
    pub fn export(&self, name: &str, out: impl Write) -> Result<Exported> {
        let checkpoint = self.history.find(name)?;
        let archive = Path::new(ARCHIVE);
        let mut bands: Vec<_> = self
            .history
            .bands_at(checkpoint.epoch)
            .into_iter()
            .collect();
        for (_, band) in &mut bands {
            let attributes = band.attributes.as_ref();
            band.attributes = attributes.map(|it| Arc::new(it.for_archive()));
        }
        let contents = Contents {
            name: name.to_owned(),
            created_ns: checkpoint.created_ns,
            bands,
        };
        let mut builder = tar::Builder::new(out);
        let text = contents.text();
        let unknown = Attributes {
            mode: PRIVATE,
            modified_ns: checkpoint.created_ns,
            ..Attributes::default()
        };
        let mut header = plain(text.len() as u64, &unknown);
        builder
            .append_data(&mut header, MANIFEST, text.as_bytes())
            .doing("writing", archive)?;
        let (bands, mut bytes, mut carried) = (contents.bands.len() as u64, 0, 0);
        for (name, BandAt { state, attributes }) in contents.bands {
            let reader = self.history.band_at(&name, checkpoint.epoch)?;
            let full = full_pages(&reader, &name, state)?;
            let attributes = attributes.as_deref().unwrap_or(&unknown);
            let (mut header, front) = sparse(state.size, &full, attributes);
            let data = Stretches {
                reader: &reader,
                left: full.iter().copied().collect(),
                buffer: vec![],
                taken: 0,
            };
            let path = [BANDS, &name].concat();
            let data = front.as_slice().chain(data);
            builder
                .append_data(&mut header, path, data)
                .doing("writing", archive)?;
            bytes += state.size;
            carried += full.iter().map(|(from, to)| to - from).sum::<u64>();
        }
        let mut out = builder.into_inner().doing("writing", archive)?;
        out.flush().doing("writing", archive)?;
        Ok(Exported {
            checkpoint,
            bands,
            bytes,
            carried,
        })
    }
}

/// Checks a band's id and returns the stretches that are not zeros, as (begin, end) in bytes.
fn full_pages(reader: &BandReader, name: &str, state: BandState) -> Result<Vec<(u64, u64)>> {
    let mut full = PageSet::default();
    let mut leaves = Vec::with_capacity(index(leaves_of(state.size)));
    reader.each(|at, bytes| {
        for (leaf, bytes) in bytes.chunks(index(LEAF)).enumerate() {
            leaves.push(leaf_of(reader.size, at / LEAF + leaf as u64, bytes));
        }
        for (page, bytes) in bytes.chunks(index(PAGE)).enumerate() {
            if bytes.iter().any(|byte| *byte != 0) {
                full.mark(at + page as u64 * PAGE, bytes.len() as u64);
            }
        }
        Ok(())
    })?;
    if state.size == 0 {
        leaves.push(leaf_of(0, 0, &[]));
    }
    if reader.size != state.size || Tree::new(reader.size, &leaves).id() != state.id {
        return Err(Error::damaged(format!(
            "band {name:?}: what is stored of it has another id"
        )));
    }
    let pages: Vec<u64> = full.iter().collect();
    let bytes =
        |(first, count): (u64, u64)| (first * PAGE, ((first + count) * PAGE).min(state.size));
    Ok(runs(&pages).into_iter().map(bytes).collect())
}

/// Makes the header of a file, with its permissions for other programs that unpack it.
fn plain(bytes: u64, attributes: &Attributes) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(attributes.mode);
    header.set_uid(u64::from(attributes.owner));
    header.set_gid(u64::from(attributes.group));
    header.set_mtime(u64::try_from(attributes.modified_ns / 1_000_000_000).unwrap_or(0));
    header.set_size(bytes);
    header
}

/// The header of a band and the blocks before its data, in GNU's old sparse format: the last
/// stretch ends at the size of the file.
fn sparse(size: u64, full: &[(u64, u64)], attributes: &Attributes) -> (tar::Header, Vec<u8>) {
    if full == [(0, size)] || size == 0 {
        return (plain(size, attributes), vec![]);
    }
    let mut stretches: Vec<(u64, u64)> = full.iter().map(|(from, to)| (*from, to - from)).collect();
    if full.last().is_none_or(|(_, end)| *end < size) {
        stretches.push((size, 0));
    }
    let carried = full.iter().map(|(from, to)| to - from).sum();
    let mut header = plain(carried, attributes);
    header.set_entry_type(tar::EntryType::GNUSparse);
    let mut stretches = stretches.into_iter();
    if let Some(gnu) = header.as_gnu_mut() {
        gnu.set_real_size(size);
        put(&mut gnu.sparse, &mut stretches);
        gnu.set_is_extended(stretches.len() > 0);
    }
    let mut front = Vec::new();
    while stretches.len() > 0 {
        let mut block = tar::GnuExtSparseHeader::new();
        put(&mut block.sparse, &mut stretches);
        block.set_is_extended(stretches.len() > 0);
        front.extend_from_slice(block.as_bytes());
    }
    (header, front)
}

fn put(places: &mut [tar::GnuSparseHeader], stretches: &mut impl Iterator<Item = (u64, u64)>) {
    for (place, (offset, bytes)) in places.iter_mut().zip(stretches) {
        place.set_offset(offset);
        place.set_length(bytes);
    }
}

/// Reads some stretches of a band, one after the other.
struct Stretches<'a> {
    reader: &'a BandReader,
    left: VecDeque<(u64, u64)>,
    buffer: Vec<u8>,
    taken: usize,
}

impl Read for Stretches<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.buffer.len() {
            let Some((from, to)) = self.left.front_mut() else {
                return Ok(0);
            };
            let count = PIECE.min(*to - *from);
            self.buffer.resize(index(count), 0);
            self.reader
                .read(*from, &mut self.buffer)
                .map_err(io::Error::other)?;
            (*from, self.taken) = (*from + count, 0);
            if from == to {
                self.left.pop_front();
            }
        }
        let count = out.len().min(self.buffer.len() - self.taken);
        out[..count].copy_from_slice(&self.buffer[self.taken..][..count]);
        self.taken += count;
        Ok(count)
    }
}
