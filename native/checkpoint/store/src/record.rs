//! One record of the log: what it says, and its bytes.
//!
//! A checkpoint becomes a [`Meta`] and pages; [`crate::log`] writes and reads both. The README has
//! the layout. [`decode`] accepts exactly what [`encode`] wrote. Each record carries a [`Seal`]
//! that proves where it was written. So a record after a damaged one is known to be genuine, and
//! its state to be complete.

use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use crate::attributes::{Attributes, KnownAttributes};
use crate::bytes::{Reader, put_count, put_text, put_u64};
use crate::names::{check_checkpoint, is_band};
use crate::pages::{PAGE, index};
use crate::tree::Id;

/// Size of the header; its last 32 bytes are the hash over the rest and the meta.
pub(crate) const HEADER: usize = 192;
const MAGIC: &[u8; 8] = b"PLCKREC1";
const KIND_CHECKPOINT: u8 = 1;
const KIND_PRUNE: u8 = 2;
const BAND_REMOVED: u8 = 0;
/// The tag that versions before attributes wrote for every band.
const BAND_OF_UNKNOWN_ATTRIBUTES: u8 = 1;
const BAND_WITH_ATTRIBUTES: u8 = 2;
/// More than any checkpoint needs; a record that claims more is not read.
const META_MOST: u64 = 1 << 30;

/// Identifies a record and everything before it.
pub(crate) type Chain = [u8; 32];

/// A band at some epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandState {
    /// Size in bytes.
    pub size: u64,
    /// Plain BLAKE3.
    pub id: Id,
}

/// A band at some epoch, with the attributes of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandAt {
    pub(crate) state: BandState,
    pub(crate) attributes: KnownAttributes,
}

/// The change of one band in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandChange {
    /// Its name.
    pub name: String,
    /// Its new state; none when it was removed.
    pub state: Option<BandState>,
    /// The attributes of its file; none when it was removed, or they are not known.
    pub attributes: KnownAttributes,
    /// The pages that the record carries: (first, count), ascending.
    pub runs: Vec<(u64, u64)>,
}

impl BandChange {
    /// The removal of a band.
    pub(crate) fn removed(name: String) -> Self {
        Self {
            name,
            state: None,
            attributes: None,
            runs: vec![],
        }
    }

    /// Returns the band after the change.
    pub(crate) fn after(&self) -> Option<BandAt> {
        self.state.map(|state| BandAt {
            state,
            attributes: self.attributes.clone(),
        })
    }

    /// The number of pages that the record carries of it.
    pub(crate) fn pages(&self) -> u64 {
        self.runs.iter().map(|(_, count)| count).sum()
    }
}

/// The contents of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    /// A named state. Its pages follow in the order of `bands` and of their runs.
    Checkpoint {
        /// Its name.
        name: String,
        /// When, in nanoseconds since 1970, by the wall clock.
        created_ns: i64,
        /// The changes since the epoch before.
        bands: Vec<BandChange>,
    },
    /// These epochs are no longer kept.
    Prune {
        /// Ascending.
        epochs: Vec<u64>,
    },
}

/// A sum over the names, sizes, ids and known attributes of all bands of a state: two states with equal sums are
/// equal. Changing one band changes the sum by that band alone, so updating it does not depend on
/// the number of bands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateSum([u64; 4]);

impl StateSum {
    /// The sum of no bands.
    pub(crate) const ZERO: Self = Self([0; 4]);

    /// The sum of a state.
    pub(crate) fn of<'a>(bands: impl IntoIterator<Item = (&'a String, &'a BandAt)>) -> Self {
        bands.into_iter().fold(Self::ZERO, |mut sum, (name, band)| {
            sum += Self::of_band(name, band);
            sum
        })
    }

    /// Without known attributes, the result is what versions before them computed.
    pub(crate) fn of_band(name: &str, band: &BandAt) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(&band.state.size.to_le_bytes())
            .update(&band.state.id)
            .update(name.as_bytes());
        if let Some(attributes) = &band.attributes {
            let mut bytes = vec![0]; // no name has it
            attributes.put(&mut bytes);
            hasher.update(&bytes);
        }
        let hash = hasher.finalize();
        Self::read(&mut Reader(hash.as_bytes())).unwrap_or_default() // a hash has 32 bytes
    }

    fn put(self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|part| put_u64(out, *part));
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self([
            reader.u64()?,
            reader.u64()?,
            reader.u64()?,
            reader.u64()?,
        ]))
    }
}

impl AddAssign for StateSum {
    fn add_assign(&mut self, other: Self) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(part, more)| *part = part.wrapping_add(more));
    }
}

impl SubAssign for StateSum {
    fn sub_assign(&mut self, other: Self) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(part, less)| *part = part.wrapping_sub(less));
    }
}

/// Where a record was written, and the sum of its state. Before there were seals, its bytes were
/// zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) store: [u8; 16],
    /// First epoch of the segment.
    pub(crate) segment: u64,
    /// Where the record begins in it.
    pub(crate) at: u64,
    /// The sum of the state after the record.
    pub(crate) sum: StateSum,
}

/// A header that was checked with its meta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) epoch: u64,
    pub(crate) meta_bytes: u64,
    pub(crate) page_bytes: u64,
    pub(crate) pages_hash: Id,
    pub(crate) previous: Chain,
    /// None in records of versions without seals.
    pub(crate) seal: Option<Seal>,
}

impl Head {
    /// Returns whether the record may be at this position; a record without a seal may be anywhere.
    pub(crate) fn may_lie(&self, store: [u8; 16], segment: u64, at: u64) -> bool {
        self.seal
            .is_none_or(|seal| (seal.store, seal.segment, seal.at) == (store, segment, at))
    }

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
pub(crate) fn encode(
    epoch: u64,
    previous: &Chain,
    meta: &Meta,
    pages: &[u8],
    seal: &Seal,
) -> (Vec<u8>, Chain) {
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
    head.extend_from_slice(&seal.store);
    put_u64(&mut head, seal.segment);
    put_u64(&mut head, seal.at);
    seal.sum.put(&mut head);
    front[..head.len()].copy_from_slice(&head);
    let chain = chain_of(&front);
    front[HEADER - 32..HEADER].copy_from_slice(&chain);
    front.resize(front.len().next_multiple_of(index(PAGE)), 0);
    (front, chain)
}

fn chain_of(front: &[u8]) -> Chain {
    *blake3::Hasher::new()
        .update(&front[..HEADER - 32])
        .update(&front[HEADER..])
        .finalize()
        .as_bytes()
}

/// The lengths that a header claims: how much to read for [`decode`].
pub(crate) fn peek(header: &[u8]) -> Option<Head> {
    let mut reader = Reader(header.get(..HEADER)?);
    if reader.take(8)? != MAGIC {
        return None;
    }
    let (epoch, meta_bytes, page_bytes) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let (pages_hash, previous) = (reader.array()?, reader.array()?);
    let seal = Seal {
        store: reader.array()?,
        segment: reader.u64()?,
        at: reader.u64()?,
        sum: StateSum::read(&mut reader)?,
    };
    let seal = (seal.store != [0; 16]).then_some(seal);
    let sane =
        meta_bytes <= META_MOST && page_bytes % PAGE == 0 && page_bytes <= i64::MAX.cast_unsigned();
    sane.then_some(Head {
        epoch,
        meta_bytes,
        page_bytes,
        pages_hash,
        previous,
        seal,
    })
}

/// Reads header and meta; none unless every byte is as it was written.
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
    (reader.0.is_empty() && carried.checked_mul(PAGE)? == head.page_bytes)
        .then_some((head, meta, chain))
}

/// Repairs a header and meta with one flipped bit, and returns whether that succeeded. Only the
/// right repair has the right hash.
pub(crate) fn mend(front: &mut [u8], fits: impl Fn(&Head) -> bool) -> bool {
    /// Metas up to this size are tried in full; of larger ones only the header.
    const META_TRIED: u64 = 16 << 10;
    let whole = |front: &[u8]| decode(front).is_some_and(|(head, _, _)| fits(&head));
    if whole(front) {
        return true;
    }
    let claimed = peek(front).map_or(0, |head| head.meta_bytes);
    let end = HEADER
        + if claimed <= META_TRIED {
            index(claimed)
        } else {
            0
        };
    for at in 0..end.min(front.len()) {
        for bit in 0..8 {
            front[at] ^= 1 << bit;
            if whole(front) {
                return true;
            }
            front[at] ^= 1 << bit;
        }
    }
    false
}

/// The epoch and the checkpoint's name, as far as they can be read in an incomplete header and
/// meta.
pub(crate) fn glean(front: &[u8]) -> Option<(u64, Option<String>)> {
    let epoch = Reader(front.get(8..)?).u64()?;
    let mut meta = Reader(front.get(HEADER..)?);
    let mut name = || {
        let name = (meta.byte()? == KIND_CHECKPOINT).then(|| meta.text())??;
        check_checkpoint(&name).ok().map(|()| name)
    };
    Some((epoch, name()))
}

/// Returns whether these bytes may have been a header: at most one bit of its first bytes differs.
pub(crate) fn may_begin(page: &[u8]) -> bool {
    let differing = |(a, b): (&u8, &u8)| (a ^ b).count_ones();
    page.len() >= HEADER && page.iter().zip(MAGIC).map(differing).sum::<u32>() <= 1
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
        Meta::Checkpoint {
            name,
            created_ns,
            bands,
        } => {
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
    out.push(match (&band.state, &band.attributes) {
        (None, _) => BAND_REMOVED,
        (Some(_), None) => BAND_OF_UNKNOWN_ATTRIBUTES,
        (Some(_), Some(_)) => BAND_WITH_ATTRIBUTES,
    });
    if let Some(state) = &band.state {
        put_u64(out, state.size);
        out.extend_from_slice(&state.id);
        if let Some(attributes) = &band.attributes {
            attributes.put(out);
        }
    }
    put_count(out, band.runs.len());
    for (first, count) in &band.runs {
        put_u64(out, *first);
        put_u64(out, *count);
    }
}

/// Reads what [`put_meta`] wrote, as far as it makes sense.
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
            Some(Meta::Checkpoint {
                name,
                created_ns,
                bands,
            })
        }
        _ => None,
    }
}

fn band(reader: &mut Reader<'_>) -> Option<BandChange> {
    let name = reader.text()?;
    let kind = reader.byte()?;
    let state = match kind {
        BAND_REMOVED => None,
        BAND_OF_UNKNOWN_ATTRIBUTES | BAND_WITH_ATTRIBUTES => Some(BandState {
            size: reader.u64()?,
            id: reader.array()?,
        }),
        _ => return None,
    };
    let attributes = if kind == BAND_WITH_ATTRIBUTES {
        Some(Arc::new(Attributes::read(reader)?))
    } else {
        None
    };
    let count = reader.count(16)?;
    let runs: Vec<(u64, u64)> = (0..count)
        .map(|_| Some((reader.u64()?, reader.u64()?)))
        .collect::<Option<_>>()?;
    // Runs ascend, do not touch, and lie in the band, so that no sum of them overflows.
    let end = state.map_or(0, |state| state.size.div_ceil(PAGE));
    let mut free = 0;
    for (first, count) in &runs {
        if *first < free || *count == 0 || first.checked_add(*count)? > end {
            return None;
        }
        free = first + count;
    }
    is_band(&name).then_some(BandChange {
        name,
        state,
        attributes,
        runs,
    })
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
            let state = Some(BandState { size, id });
            let attributes = size.is_multiple_of(2).then(|| Arc::new(Attributes { mode: 0o600, owner: 5, ..Attributes::default() }));
            let bands = vec![BandChange { name: "a".into(), state, attributes, runs }];
            let meta = Meta::Checkpoint { name: "c".into(), created_ns: -1, bands };
            let seal = Seal { store: [3; 16], segment: epoch, at: size, sum: StateSum([5, epoch, size, 1]) };
            let (front, chain) = encode(epoch, &[7; 32], &meta, &[1; 4096], &seal);
            let (head, read, read_chain) = decode(&front).expect("whole");
            prop_assert_eq!((head.epoch, head.page_bytes, &read, read_chain), (epoch, 4096, &meta, chain));
            let mut bad = front.clone();
            bad[place.index(HEADER + index(head.meta_bytes))] ^= 1 << bit;
            prop_assert!(decode(&bad).is_none());
            prop_assert!(mend(&mut bad, |head| head.seal == Some(seal)) && bad == front);
        }

        #[test]
        fn any_meta_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (peek(&bytes), glean(&bytes), mend(&mut bytes.clone(), |_| true));
            let _ = decode(&bytes);
            let _ = meta(&mut Reader(&bytes));
            let _ = crate::manifest::Manifest::parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
