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
    /// Another block became final beside it; it becomes final if a block that merges it does.
    Merging {
        /// One more than its highest parent's.
        height: u64,
    },
    /// It is final, for good.
    Final {
        /// None: it was pruned.
        height: Option<u64>,
    },
}

/// What one finalisation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalised {
    /// Blocks that became final: the block and its ancestors that were not.
    pub finalised: usize,
    /// Blocks that can never become final now, and were forgotten.
    pub abandoned: usize,
}

/// Blocks, their parents, and which of them are final.
///
/// `&BlockGraph` is all that any call needs. [`BlockGraph::is_final`] takes no lock and never waits; the
/// other calls take one lock among themselves.
pub struct BlockGraph {
    index: FinalIndex,
    state: Mutex<State>,
}

impl BlockGraph {
    /// A graph whose one block, `genesis`, is final; blocks need `threshold` weight to become so.
    #[must_use]
    pub fn new(genesis: BlockId, threshold: u64) -> Self {
        Self::with_capacity(genesis, threshold, 0)
    }

    /// The same with room for `final_blocks`, each 80 to 160 bytes: until there are as many, nothing is
    /// copied and nothing outgrown is kept.
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

    /// Whether a block is final: one cache line, for about one block in seven two. Never waits. A block that
    /// is final stays so, and so do its ancestors, which became final before it did.
    #[inline]
    #[must_use]
    pub fn is_final(&self, id: &BlockId) -> bool {
        let words = id.words();
        if words[0] == 0 {
            return self.is_rare(id);
        }
        self.index.contains(words)
    }

    /// Ids that begin with eight zero bytes: finding one takes 2^64 hashes, so here it may wait.
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

    /// Adds weight to a block; returns its weight. It becomes final only by [`BlockGraph::finalise`]. Who may
    /// give how much, and only once, is the caller's to know.
    ///
    /// # Errors
    /// `Unknown`, `AlreadyFinal`, `Conflicts`, `WeightOverflow`.
    pub fn attest(&self, id: &BlockId, weight: u64) -> Result<u64, GraphError> {
        self.state()?.attest(&self.index, *id, weight)
    }

    /// Makes a block that has the weight, and all its ancestors, final. Takes time linear in the blocks that
    /// are not final.
    ///
    /// # Errors
    /// `Unknown`, `AlreadyFinal`, `Conflicts`, `Underweight`.
    pub fn finalise(&self, id: &BlockId) -> Result<Finalised, GraphError> {
        self.state()?.finalise(&self.index, *id)
    }

    /// Forgets parents, height and weight of final blocks lower than `below`, the last one excepted; their
    /// ids stay final. Returns how many.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn prune(&self, below: u64) -> Result<usize, GraphError> {
        Ok(self.state()?.prune(below))
    }

    /// What is known of a block; None: nothing, or it was abandoned.
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

    /// The block that became final last, of all final ones the highest.
    #[must_use]
    pub fn head(&self) -> BlockId {
        self.state_to_read().head
    }

    /// How many blocks are final.
    #[must_use]
    pub fn final_count(&self) -> usize {
        self.state_to_read().final_count()
    }

    /// How many blocks are known and not final.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.state_to_read().pending.len()
    }

    /// Everything, as bytes; equal graphs give equal bytes. The format is in `snapshot.rs`.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn snapshot(&self) -> Result<Vec<u8>, GraphError> {
        Ok(snapshot::write(&self.index, &*self.state()?))
    }

    /// The graph that [`BlockGraph::snapshot`] wrote. Any bytes may be given: what is no state of a graph is
    /// refused, and memory is taken in proportion to the bytes that are there.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        snapshot::read(bytes)
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, GraphError> {
        self.state.lock().map_err(|_| GraphError::Poisoned)
    }

    /// What a panic left may be out of step, but can be looked at.
    fn state_to_read(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
