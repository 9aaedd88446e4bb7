//! The writer's side of a graph: what is known of every block, and which transitions are allowed.
//!
//! ```text
//!            insert            finalise: weight ≥ threshold
//!   (unknown) ───▶ building ─────────────────────────────────▶ final ──prune──▶ final, forgotten but its id
//!                  │     ▲                                       ▲
//!   another block  │     └ never: what merges stays so           │ a descendant becomes final
//!   becomes final  ├──▶ merging (an ancestor of a building one) ─┘
//!                  └──▶ (unknown): abandoned
//! ```
//! Invariants: final blocks are closed under ancestors; every building block has the last final
//! block (the head) among its ancestors, every merging block a building one among its descendants;
//! heights are one more than the highest parent's. A refused call changes nothing.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::PARENTS_MAX;
use crate::error::GraphError;
use crate::graph::Finalised;
use crate::id::BlockId;
use crate::index::{FinalIndex, Writer};

/// What is remembered of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) parents: Box<[BlockId]>,
    pub(crate) height: u64,
    pub(crate) weight: u64,
}

/// A block that is not final.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) record: Record,
    /// The head is among its ancestors; otherwise it waits to be merged.
    pub(crate) building: bool,
}

/// Everything behind a graph's lock.
pub(crate) struct State {
    pub(crate) writer: Writer,
    pub(crate) threshold: u64,
    pub(crate) head: BlockId,
    pub(crate) pending: HashMap<BlockId, Pending>,
    /// Final blocks that were not pruned; the head always.
    pub(crate) settled: HashMap<BlockId, Record>,
    /// Final ids that the index cannot hold: they begin with eight zero bytes.
    pub(crate) rare: BTreeSet<BlockId>,
}

impl State {
    pub(crate) fn is_final(&self, index: &FinalIndex, id: &BlockId) -> bool {
        let words = id.words();
        if words[0] == 0 {
            self.rare.contains(id)
        } else {
            index.contains(words)
        }
    }

    pub(crate) fn make_final(&mut self, index: &FinalIndex, id: BlockId) {
        let words = id.words();
        if words[0] == 0 {
            self.rare.insert(id);
        } else {
            index.insert(&mut self.writer, words);
        }
    }

    pub(crate) fn final_count(&self) -> usize {
        self.writer.count() + self.rare.len()
    }

    /// The height of the new block.
    pub(crate) fn insert(
        &mut self,
        index: &FinalIndex,
        id: BlockId,
        parents: &[BlockId],
    ) -> Result<u64, GraphError> {
        let distinct = (1..parents.len()).all(|i| !parents[..i].contains(&parents[i]));
        if parents.is_empty() || parents.len() > PARENTS_MAX || !distinct {
            return Err(GraphError::Parents(parents.len()));
        }
        if self.pending.contains_key(&id) || self.is_final(index, &id) {
            return Err(GraphError::Duplicate(id));
        }
        let (mut building, mut height) = (false, 0);
        for parent in parents {
            building |= *parent == self.head;
            if let Some(pending) = self.pending.get(parent) {
                building |= pending.building;
                height = height.max(pending.record.height);
            } else if let Some(record) = self.settled.get(parent) {
                height = height.max(record.height);
            } else if !self.is_final(index, parent) {
                return Err(GraphError::UnknownParent(*parent));
            } // a pruned parent is lower than the head, and so never the highest
        }
        if !building {
            return Err(GraphError::BelowFinality(id));
        }
        let record = Record {
            parents: parents.into(),
            height: height + 1,
            weight: 0,
        };
        self.pending.insert(id, Pending { record, building });
        Ok(height + 1)
    }

    /// The block's weight afterwards.
    pub(crate) fn attest(
        &mut self,
        index: &FinalIndex,
        id: BlockId,
        weight: u64,
    ) -> Result<u64, GraphError> {
        let open = self.open(index, id)?;
        let sum = open
            .record
            .weight
            .checked_add(weight)
            .ok_or(GraphError::WeightOverflow(id))?;
        open.record.weight = sum;
        Ok(sum)
    }

    pub(crate) fn finalise(
        &mut self,
        index: &FinalIndex,
        id: BlockId,
    ) -> Result<Finalised, GraphError> {
        let threshold = self.threshold;
        let weight = self.open(index, id)?.record.weight;
        if weight < threshold {
            return Err(GraphError::Underweight { weight, threshold });
        }
        let past = self.pending_past(id);
        for id in &past {
            if let Some(pending) = self.pending.remove(id) {
                self.settled.insert(*id, pending.record);
                self.make_final(index, *id);
            }
        }
        self.head = id;
        Ok(Finalised {
            finalised: past.len(),
            abandoned: self.sort_out(),
        })
    }

    /// Forgets final blocks below a height, the head excepted; their ids stay final. How many.
    pub(crate) fn prune(&mut self, below: u64) -> usize {
        let before = self.settled.len();
        let head = self.head;
        self.settled
            .retain(|id, record| record.height >= below || *id == head);
        before - self.settled.len()
    }

    /// A block that may gain weight and become final by itself.
    fn open(&mut self, index: &FinalIndex, id: BlockId) -> Result<&mut Pending, GraphError> {
        if self.is_final(index, &id) {
            return Err(GraphError::AlreadyFinal(id));
        }
        match self.pending.get_mut(&id) {
            Some(pending) if pending.building => Ok(pending),
            Some(_) => Err(GraphError::Conflicts(id)),
            None => Err(GraphError::Unknown(id)),
        }
    }

    /// A pending block and its pending ancestors, ancestors first.
    fn pending_past(&self, id: BlockId) -> Vec<BlockId> {
        let mut past = HashSet::from([id]);
        self.add_ancestors(&mut past, vec![id]);
        self.by_height(past)
    }

    fn add_ancestors(&self, known: &mut HashSet<BlockId>, mut open: Vec<BlockId>) {
        while let Some(id) = open.pop() {
            let parents = self
                .pending
                .get(&id)
                .map_or(&[][..], |pending| &pending.record.parents);
            let new = parents
                .iter()
                .filter(|parent| self.pending.contains_key(parent));
            open.extend(new.copied().filter(|parent| known.insert(*parent)));
        }
    }

    fn by_height(&self, ids: impl IntoIterator<Item = BlockId>) -> Vec<BlockId> {
        let height = |id: &BlockId| {
            self.pending
                .get(id)
                .map_or(0, |pending| pending.record.height)
        };
        let mut ids: Vec<BlockId> = ids.into_iter().collect();
        ids.sort_unstable_by_key(|id| (height(id), *id));
        ids
    }

    /// After the head moved: what builds on it, what such a block merges, and what is abandoned. How many
    /// were.
    pub(crate) fn sort_out(&mut self) -> usize {
        let mut building = HashSet::from([self.head]);
        for id in self.by_height(self.pending.keys().copied()) {
            let parents = self
                .pending
                .get(&id)
                .map_or(&[][..], |pending| &pending.record.parents);
            if parents.iter().any(|parent| building.contains(parent)) {
                building.insert(id);
            }
        }
        let mut kept = building.clone();
        self.add_ancestors(&mut kept, building.iter().copied().collect());
        let before = self.pending.len();
        self.pending.retain(|id, pending| {
            pending.building = building.contains(id);
            kept.contains(id)
        });
        before - self.pending.len()
    }
}
