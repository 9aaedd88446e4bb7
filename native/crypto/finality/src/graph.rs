//! The graph as its users see it: one value that any number of threads share by reference.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{GraphError, SnapshotError};
use crate::id::BlockId;
use crate::index::FinalIndex;
use crate::snapshot;
use crate::state::{Record, State};

/// What is known of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It builds on the last final block and may become final.
    Building {
        /// One more than its highest parent's.
        height: u64,
        /// The sum of its attestations.
        weight: u64,
    },
    /// Another block became final that it does not build on. It becomes final if a descendant does.
    Merging {
        /// One more than its highest parent's.
        height: u64,
    },
    /// It is final, for good.
    Final {
        /// None if the block was pruned.
        height: Option<u64>,
    },
}

/// What one finalisation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalised {
    /// How many blocks became final: the block, and its ancestors that were not final before.
    pub finalised: usize,
    /// How many blocks were forgotten, because they can never become final now.
    pub abandoned: usize,
}

/// Blocks, their parents, and which of them are final.
///
/// Every method takes `&self`, so threads can share a graph. [`BlockGraph::is_final`] takes no lock, except for ids
/// that begin with eight zero bytes; the other methods share one lock.
pub struct BlockGraph {
    index: FinalIndex,
    state: Mutex<State>,
}

impl BlockGraph {
    /// Returns a graph with one block, `genesis`, which is final. Other blocks need the weight `threshold` to become
    /// final.
    #[must_use]
    pub fn new(genesis: BlockId, threshold: u64) -> Self {
        Self::with_capacity(genesis, threshold, 0)
    }

    /// Returns a new graph with room for `final_blocks`, each 80 to 160 bytes. Up to that number the index of final
    /// blocks is never copied into a larger table, and no outgrown table takes memory.
    #[must_use]
    pub fn with_capacity(genesis: BlockId, threshold: u64, final_blocks: usize) -> Self {
        let (index, mut state) = Self::empty(genesis, threshold, final_blocks);
        let record = Record {
            parents: Box::default(),
            height: 0,
            weight: 0,
        };
        state.settled.insert(genesis, record);
        state.make_final(&index, genesis);
        Self::from_parts(index, state)
    }

    pub(crate) fn empty(head: BlockId, threshold: u64, final_blocks: usize) -> (FinalIndex, State) {
        let secret = RandomState::new().build_hasher().finish();
        let (index, writer) = FinalIndex::new(final_blocks, secret);
        let (pending, settled, rare) = (HashMap::new(), HashMap::new(), BTreeSet::new());
        (
            index,
            State {
                writer,
                threshold,
                head,
                pending,
                settled,
                rare,
            },
        )
    }

    pub(crate) fn from_parts(index: FinalIndex, state: State) -> Self {
        Self {
            index,
            state: Mutex::new(state),
        }
    }

    /// Returns whether a block is final. Reads one cache line, or two for about one block in seven, and takes no lock
    /// unless the id begins with eight zero bytes. A final block stays final, and its ancestors became final before it.
    #[inline]
    #[must_use]
    pub fn is_final(&self, id: &BlockId) -> bool {
        let words = id.words();
        if words[0] == 0 {
            return self.is_rare(id);
        }
        self.index.contains(words)
    }

    /// Returns whether a block is final whose id begins with eight zero bytes. This takes the lock, but finding such an
    /// id takes about 2^64 hashes.
    #[cold]
    fn is_rare(&self, id: &BlockId) -> bool {
        self.state_to_read().rare.contains(id)
    }

    /// Adds a block; returns its height. Its first parent has no special meaning.
    ///
    /// # Errors
    /// `Parents`, `Duplicate`, `UnknownParent`; `BelowFinality` for one that does not build on the last final
    /// block.
    pub fn insert(&self, id: BlockId, parents: &[BlockId]) -> Result<u64, GraphError> {
        self.state()?.insert(&self.index, id, parents)
    }

    /// Adds weight to a block; returns its new weight. The block becomes final only by [`BlockGraph::finalise`]. The
    /// caller checks who attests, with how much weight, and that nobody attests twice.
    ///
    /// # Errors
    /// `Unknown`, `AlreadyFinal`, `Conflicts`, `WeightOverflow`.
    pub fn attest(&self, id: &BlockId, weight: u64) -> Result<u64, GraphError> {
        self.state()?.attest(&self.index, *id, weight)
    }

    /// Makes a block final whose weight reaches the threshold, and with it all its ancestors. Takes time linear in the
    /// number of blocks that are not final.
    ///
    /// # Errors
    /// `Unknown`, `AlreadyFinal`, `Conflicts`, `Underweight`.
    pub fn finalise(&self, id: &BlockId) -> Result<Finalised, GraphError> {
        self.state()?.finalise(&self.index, *id)
    }

    /// Forgets the parents, height and weight of final blocks lower than `below`, except those of the head. Their ids
    /// stay final. Returns how many blocks it pruned.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn prune(&self, below: u64) -> Result<usize, GraphError> {
        Ok(self.state()?.prune(below))
    }

    /// Returns what is known of a block; None if it was never inserted or was abandoned.
    #[must_use]
    pub fn status(&self, id: &BlockId) -> Option<Status> {
        let state = self.state_to_read();
        if let Some(pending) = state.pending.get(id) {
            let Record { height, weight, .. } = pending.record;
            let building = Status::Building { height, weight };
            return Some(if pending.building {
                building
            } else {
                Status::Merging { height }
            });
        }
        let height = state.settled.get(id).map(|record| record.height);
        state
            .is_final(&self.index, id)
            .then_some(Status::Final { height })
    }

    /// Returns the block that was finalised last; it is the highest of all final blocks.
    #[must_use]
    pub fn head(&self) -> BlockId {
        self.state_to_read().head
    }

    /// Returns how many blocks are final.
    #[must_use]
    pub fn final_count(&self) -> usize {
        self.state_to_read().final_count()
    }

    /// Returns how many blocks are known and not final.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.state_to_read().pending.len()
    }

    /// Returns the whole graph as bytes; equal graphs give equal bytes. `snapshot.rs` describes the format.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn snapshot(&self) -> Result<Vec<u8>, GraphError> {
        Ok(snapshot::write(&self.index, &*self.state()?))
    }

    /// Reads a graph that [`BlockGraph::snapshot`] wrote. The bytes may come from anybody: they are refused unless they
    /// are a state that a graph can reach, and memory use is proportional to their number.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        snapshot::read(bytes)
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, GraphError> {
        self.state.lock().map_err(|_| GraphError::Poisoned)
    }

    /// Returns the state even after a panic while it was locked: it may then be inconsistent, but reading it is safe.
    fn state_to_read(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
