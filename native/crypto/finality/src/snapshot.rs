//! A graph as bytes.
//!
//! ```text
//! "PLFGRAPH"  u32 version  u32 0  u64 threshold  id head  u64 finals  u64 settled  u64 pending
//! finals × id, ascending
//! settled × record, then pending × record, each ascending by (height, id)
//! SHA-256 of everything before
//!     record: id  u64 height  u64 weight  u32 parents  parents × id
//! ```
//! Integers are little endian. A snapshot may come from anybody and its digest only catches
//! accidents, so `read` accepts exactly the states that `State` can reach. That its final blocks
//! are really final cannot be checked: the caller must trust the writer.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::PARENTS_MAX;
use crate::error::SnapshotError;
use crate::graph::BlockGraph;
use crate::id::BlockId;
use crate::index::FinalIndex;
use crate::state::{Pending, Record, State};

const MAGIC: &[u8; 8] = b"PLFGRAPH";
const VERSION: u32 = 1;
const ID_BYTES: usize = 32;
const DIGEST_BYTES: usize = 32;
/// Higher than any graph grows, and far from where heights would overflow.
const HEIGHT_MAX: u64 = 1 << 62;

type Named = (BlockId, Record);

pub(crate) fn write(index: &FinalIndex, state: &State) -> Vec<u8> {
    let mut finals: Vec<BlockId> = index.ids().map(BlockId::of_words).collect();
    finals.extend(&state.rare);
    finals.sort_unstable();
    let mut out = Vec::with_capacity(128 + finals.len() * ID_BYTES);
    out.extend(MAGIC);
    out.extend(VERSION.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend(state.threshold.to_le_bytes());
    out.extend(state.head.0);
    for count in [finals.len(), state.settled.len(), state.pending.len()] {
        out.extend((count as u64).to_le_bytes());
    }
    out.extend(finals.iter().flat_map(|id| id.0));
    write_records(&mut out, state.settled.iter().collect());
    write_records(
        &mut out,
        state
            .pending
            .iter()
            .map(|(id, pending)| (id, &pending.record))
            .collect(),
    );
    let digest = Sha256::digest(&out);
    out.extend(digest);
    out
}

fn write_records(out: &mut Vec<u8>, mut records: Vec<(&BlockId, &Record)>) {
    records.sort_unstable_by_key(|(id, record)| (record.height, **id));
    for (id, record) in records {
        out.extend(id.0);
        out.extend(record.height.to_le_bytes());
        out.extend(record.weight.to_le_bytes());
        #[allow(clippy::cast_possible_truncation, reason = "at most PARENTS_MAX")]
        out.extend((record.parents.len() as u32).to_le_bytes());
        out.extend(record.parents.iter().flat_map(|parent| parent.0));
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<BlockGraph, SnapshotError> {
    let body = checked(bytes)?;
    let mut rest = Cursor(&body[MAGIC.len() + 8..]);
    let threshold = rest.u64()?;
    let head = rest.id()?;
    let counts = [rest.u64()?, rest.u64()?, rest.u64()?];
    let finals = rest.finals(counts[0])?;
    let settled = rest.records(counts[1])?;
    let pending = rest.records(counts[2])?;
    if !rest.0.is_empty() {
        return Err(SnapshotError::Length);
    }
    let (index, mut state) = BlockGraph::empty(head, threshold, finals.len());
    for id in &finals {
        state.make_final(&index, *id);
    }
    settle(&index, &mut state, settled)?;
    add_pending(&index, &mut state, pending)?;
    Ok(BlockGraph::from_parts(index, state))
}

/// The bytes without their digest, which matches.
fn checked(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let mut rest = Cursor(bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NoSnapshot)?);
    match (rest.u32()?, rest.u32()?) {
        (VERSION, 0) => {}
        (version, _) => return Err(SnapshotError::Version(version)),
    }
    let end = bytes
        .len()
        .checked_sub(DIGEST_BYTES)
        .filter(|end| *end >= MAGIC.len() + 8);
    let (body, digest) = bytes.split_at(end.ok_or(SnapshotError::Length)?);
    if Sha256::digest(body).as_slice() == digest {
        Ok(body)
    } else {
        Err(SnapshotError::Digest)
    }
}

/// Final blocks that were not pruned: they are final, their parents too and lower, the head the highest.
fn settle(index: &FinalIndex, state: &mut State, settled: Vec<Named>) -> Result<(), SnapshotError> {
    let count = settled.len();
    state.settled.extend(settled);
    if state.settled.len() != count {
        return Err(SnapshotError::Invalid("a final block is there twice"));
    }
    let head = state
        .settled
        .get(&state.head)
        .ok_or(SnapshotError::Invalid("the head is not settled"))?;
    let mut parentless = 0;
    for (id, record) in &state.settled {
        let lower = |parent: &BlockId| {
            let known = state.settled.get(parent).map(|parent| parent.height);
            state.is_final(index, parent) && known.is_none_or(|height| height < record.height)
        };
        parentless += usize::from(record.parents.is_empty());
        if !state.is_final(index, id) || !record.parents.iter().all(lower) {
            return Err(SnapshotError::Invalid(
                "a final block or its parent is not final, or not in order",
            ));
        }
        if record.parents.is_empty() != (record.height == 0) || parentless > 1 {
            return Err(SnapshotError::Invalid(
                "one block has no parents, and it has height 0",
            ));
        }
        if *id != state.head && record.height >= head.height {
            return Err(SnapshotError::Invalid(
                "the head is not the highest final block",
            ));
        }
    }
    Ok(())
}

/// Blocks that are not final: each one higher than its parents, and none that would have been abandoned.
fn add_pending(
    index: &FinalIndex,
    state: &mut State,
    pending: Vec<Named>,
) -> Result<(), SnapshotError> {
    let count = pending.len();
    for (id, record) in pending {
        let known = record.parents.iter().all(|parent| {
            state.pending.contains_key(parent) || state.is_final(index, parent) // each after its parents
        });
        if record.parents.is_empty() || !known || state.is_final(index, &id) {
            return Err(SnapshotError::Invalid(
                "a pending block is final, or its parents are not known",
            ));
        }
        state.pending.insert(
            id,
            Pending {
                record,
                building: false,
            },
        );
    }
    if state.pending.len() != count || state.sort_out() > 0 {
        return Err(SnapshotError::Invalid(
            "a pending block is there twice, or leads nowhere",
        ));
    }
    let height = |id: &BlockId| {
        let pending = state.pending.get(id).map(|pending| &pending.record);
        pending
            .or_else(|| state.settled.get(id))
            .map(|record| record.height)
    };
    let wrong = |pending: &Pending| {
        let highest = pending.record.parents.iter().filter_map(height).max();
        // What waits to be merged may have had its highest parent pruned: then it is higher than that.
        let own = pending.record.height;
        highest.map_or(own == 0, |highest| {
            own <= highest || pending.building && own != highest + 1
        })
    };
    if state.pending.values().any(wrong) {
        return Err(SnapshotError::Invalid(
            "a pending block has not the height its parents give it",
        ));
    }
    Ok(())
}

/// What was not read yet.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let (first, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(SnapshotError::Length)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u32(&mut self) -> Result<u32, SnapshotError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        self.array().map(u64::from_le_bytes)
    }

    fn id(&mut self) -> Result<BlockId, SnapshotError> {
        self.array().map(BlockId)
    }

    /// Room is taken for no more than the bytes that are there can hold.
    fn many<T>(&self, count: u64, bytes_each: usize) -> Result<Vec<T>, SnapshotError> {
        let count = usize::try_from(count).map_err(|_| SnapshotError::Length)?;
        if count > self.0.len() / bytes_each {
            return Err(SnapshotError::Length);
        }
        Ok(Vec::with_capacity(count))
    }

    fn finals(&mut self, count: u64) -> Result<Vec<BlockId>, SnapshotError> {
        let mut ids: Vec<BlockId> = self.many(count, ID_BYTES)?;
        for _ in 0..count {
            let id = self.id()?;
            if ids.last().is_some_and(|last| *last >= id) {
                return Err(SnapshotError::Invalid("final ids do not ascend"));
            }
            ids.push(id);
        }
        Ok(ids)
    }

    fn records(&mut self, count: u64) -> Result<Vec<Named>, SnapshotError> {
        let mut records: Vec<Named> = self.many(count, ID_BYTES + 20)?;
        for _ in 0..count {
            let (id, height, weight) = (self.id()?, self.u64()?, self.u64()?);
            if height > HEIGHT_MAX {
                return Err(SnapshotError::Invalid("a block is too high"));
            }
            let parents = self.u32()? as usize;
            if parents > PARENTS_MAX {
                return Err(SnapshotError::Invalid("a block has too many parents"));
            }
            let parents = (0..parents)
                .map(|_| self.id())
                .collect::<Result<Box<[BlockId]>, _>>()?;
            if parents.iter().collect::<HashSet<_>>().len() != parents.len() {
                return Err(SnapshotError::Invalid("a block names a parent twice"));
            }
            if records
                .last()
                .is_some_and(|(last, record)| (record.height, *last) >= (height, id))
            {
                return Err(SnapshotError::Invalid("blocks do not ascend"));
            }
            records.push((
                id,
                Record {
                    parents,
                    height,
                    weight,
                },
            ));
        }
        Ok(records)
    }
}
