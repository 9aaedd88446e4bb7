//! One record of the log: what it says, and its bytes.
//!
//! Place in the journey: a checkpoint becomes a [`Meta`] and pages; [`crate::log`] puts both on the disk and
//! reads them back. Layout in the README. Invariant: [`decode`] accepts exactly what [`encode`] wrote; its
//! input is whatever a crash left. Absent on purpose: reading and writing files.

use crate::bytes::{Reader, put_count, put_text, put_u64};
use crate::names::{check_checkpoint, is_band};
use crate::pages::{PAGE, index};
use crate::tree::Id;

/// Bytes of the header, of which the last 32 are the hash over the rest and the meta.
pub(crate) const HEADER: usize = 192;
const MAGIC: &[u8; 8] = b"PLCKREC1";
const KIND_CHECKPOINT: u8 = 1;
const KIND_PRUNE: u8 = 2;
/// More than any checkpoint says; what claims more is not read.
const META_MOST: u64 = 1 << 30;

/// Names a record and everything before it.
pub(crate) type Chain = [u8; 32];

/// A band at some epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandState {
    /// Bytes.
    pub size: u64,
    /// Plain BLAKE3.
    pub id: Id,
}

/// What a record says about one band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandChange {
    /// Its name.
    pub name: String,
    /// What it is now; nothing when it was removed.
    pub state: Option<BandState>,
    /// The pages that the record carries: (first, count), ascending.
    pub runs: Vec<(u64, u64)>,
}

impl BandChange {
    /// Pages that the record carries of it.
    pub(crate) fn pages(&self) -> u64 {
        self.runs.iter().map(|(_, count)| count).sum()
    }
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    /// A named state. Its pages follow in the order of `bands` and of their runs.
    Checkpoint {
        /// Its name.
        name: String,
        /// When, in nanoseconds since 1970, by the wall clock.
        created_ns: i64,
        /// What changed since the epoch before.
        bands: Vec<BandChange>,
    },
    /// These epochs are no longer wanted.
    Prune {
        /// Ascending.
        epochs: Vec<u64>,
    },
}

/// A header that was checked with its meta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) epoch: u64,
    pub(crate) meta_bytes: u64,
    pub(crate) page_bytes: u64,
    pub(crate) pages_hash: Id,
    pub(crate) previous: Chain,
}

impl Head {
    /// Bytes before the pages.
    pub(crate) fn front_bytes(&self) -> u64 {
        (HEADER as u64 + self.meta_bytes).next_multiple_of(PAGE)
    }

    /// Bytes of the whole record.
    pub(crate) fn bytes(&self) -> u64 {
        self.front_bytes() + self.page_bytes
    }
}

/// Header and meta, padded to whole pages, and the record's chain value.
pub(crate) fn encode(epoch: u64, previous: &Chain, meta: &Meta, pages: &[u8]) -> (Vec<u8>, Chain) {
    let mut front = vec![0; HEADER];
    put_meta(&mut front, meta);
    let meta_bytes = (front.len() - HEADER) as u64;
    let mut head = Vec::with_capacity(HEADER);
    head.extend_from_slice(MAGIC);
    for number in [epoch, meta_bytes, pages.len() as u64] {
        put_u64(&mut head, number);
    }
    head.extend_from_slice(blake3::hash(pages).as_bytes());
    head.extend_from_slice(previous);
    front[..head.len()].copy_from_slice(&head);
    let chain = chain_of(&front);
    front[HEADER - 32..HEADER].copy_from_slice(&chain);
    front.resize(front.len().next_multiple_of(index(PAGE)), 0);
    (front, chain)
}

fn chain_of(front: &[u8]) -> Chain {
    *blake3::Hasher::new().update(&front[..HEADER - 32]).update(&front[HEADER..]).finalize().as_bytes()
}

/// The lengths that a header claims: enough to know how much to read for [`decode`].
pub(crate) fn peek(header: &[u8]) -> Option<Head> {
    let mut reader = Reader(header.get(..HEADER)?);
    if reader.take(8)? != MAGIC {
        return None;
    }
    let (epoch, meta_bytes, page_bytes) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let (pages_hash, previous) = (reader.array()?, reader.array()?);
    let sane = meta_bytes <= META_MOST && page_bytes % PAGE == 0 && page_bytes <= i64::MAX.cast_unsigned();
    sane.then_some(Head { epoch, meta_bytes, page_bytes, pages_hash, previous })
}

/// Header and meta as they were written; nothing when any byte is another.
pub(crate) fn decode(front: &[u8]) -> Option<(Head, Meta, Chain)> {
    let head = peek(front)?;
    let front = front.get(..HEADER + index(head.meta_bytes))?;
    let chain = chain_of(front);
    if front[HEADER - 32..HEADER] != chain {
        return None;
    }
    let mut reader = Reader(&front[HEADER..]);
    let meta = meta(&mut reader)?;
    let carried: u64 = match &meta {
        Meta::Checkpoint { bands, .. } => bands.iter().map(BandChange::pages).sum(),
        Meta::Prune { .. } => 0,
    };
    (reader.0.is_empty() && carried.checked_mul(PAGE)? == head.page_bytes).then_some((head, meta, chain))
}

fn put_meta(out: &mut Vec<u8>, meta: &Meta) {
    match meta {
        Meta::Prune { epochs } => {
            out.push(KIND_PRUNE);
            put_count(out, epochs.len());
            for epoch in epochs {
                put_u64(out, *epoch);
            }
        }
        Meta::Checkpoint { name, created_ns, bands } => {
            out.push(KIND_CHECKPOINT);
            put_text(out, name);
            out.extend_from_slice(&created_ns.to_le_bytes());
            put_count(out, bands.len());
            for band in bands {
                put_band(out, band);
            }
        }
    }
}

fn put_band(out: &mut Vec<u8>, band: &BandChange) {
    put_text(out, &band.name);
    out.push(u8::from(band.state.is_some()));
    if let Some(state) = &band.state {
        put_u64(out, state.size);
        out.extend_from_slice(&state.id);
    }
    put_count(out, band.runs.len());
    for (first, count) in &band.runs {
        put_u64(out, *first);
        put_u64(out, *count);
    }
}

/// What [`put_meta`] wrote, as far as it makes sense.
pub(crate) fn meta(reader: &mut Reader<'_>) -> Option<Meta> {
    match reader.byte()? {
        KIND_PRUNE => {
            let count = reader.count(8)?;
            let epochs: Vec<u64> = (0..count).map(|_| reader.u64()).collect::<Option<_>>()?;
            epochs.is_sorted().then_some(Meta::Prune { epochs })
        }
        KIND_CHECKPOINT => {
            let name = reader.text()?;
            check_checkpoint(&name).ok()?;
            let created_ns = i64::from_le_bytes(reader.array()?);
            let count = reader.count(9)?;
            let bands = (0..count).map(|_| band(reader)).collect::<Option<_>>()?;
            Some(Meta::Checkpoint { name, created_ns, bands })
        }
        _ => None,
    }
}

fn band(reader: &mut Reader<'_>) -> Option<BandChange> {
    let name = reader.text()?;
    let state = match reader.byte()? {
        0 => None,
        1 => Some(BandState { size: reader.u64()?, id: reader.array()? }),
        _ => return None,
    };
    let count = reader.count(16)?;
    let runs: Vec<(u64, u64)> =
        (0..count).map(|_| Some((reader.u64()?, reader.u64()?))).collect::<Option<_>>()?;
    // Runs ascend, do not touch, and lie in the band, so that no sum of them overflows.
    let end = state.map_or(0, |state| state.size.div_ceil(PAGE));
    let mut free = 0;
    for (first, count) in &runs {
        if *first < free || *count == 0 || first.checked_add(*count)? > end {
            return None;
        }
        free = first + count;
    }
    is_band(&name).then_some(BandChange { name, state, runs })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_is_read_as_written_and_refused_with_any_bit_changed(
            epoch: u64, size in 1_u64..1 << 40, id: [u8; 32], place: prop::sample::Index, bit in 0_u32..8,
        ) {
            let runs = vec![(0, 1)];
            let bands = vec![BandChange { name: "a".into(), state: Some(BandState { size, id }), runs }];
            let meta = Meta::Checkpoint { name: "c".into(), created_ns: -1, bands };
            let (front, chain) = encode(epoch, &[7; 32], &meta, &[1; 4096]);
            let (head, read, read_chain) = decode(&front).expect("whole");
            prop_assert_eq!((head.epoch, head.page_bytes, &read, read_chain), (epoch, 4096, &meta, chain));
            let mut bad = front.clone();
            bad[place.index(HEADER + index(head.meta_bytes))] ^= 1 << bit;
            prop_assert!(decode(&bad).is_none());
        }

        #[test]
        fn whatever_a_meta_claims_it_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = peek(&bytes);
            let _ = decode(&bytes);
            let _ = meta(&mut Reader(&bytes));
            let _ = crate::manifest::Manifest::parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
