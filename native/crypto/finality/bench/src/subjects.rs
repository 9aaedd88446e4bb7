//! The interface of what can be asked, and our graph as one of them.

use std::sync::Arc;

use paceline_finality::{BlockGraph, BlockId, GraphError};
use paceline_harness::fence::keep;

/// Names of arms, as `suite.toml` has them. The first is the reference.
pub(crate) const NAMES: [&str; 4] = ["rwlock_hashmap", "concurrent_map", "arc_swap", "ours"];
/// Every block gets this much, and needs it.
const WEIGHT: u64 = 1;
/// Blocks that become final at once while a graph is built, as a chain that catches up has them.
const BUILT_AT_ONCE: u64 = 256;

/// A structure that knows which blocks are final, shared by all readers and one writer.
pub(crate) trait Subject: Send + Sync + 'static {
    /// One that knows these blocks; each is the child of the one before.
    fn of(blocks: &mut dyn Iterator<Item = BlockId>, count: u64) -> Self
    where
        Self: Sized;

    /// The question.
    fn is_final(&self, id: &BlockId) -> bool;

    /// How one reader asks, again and again: with what it keeps for itself.
    fn reader(self: Arc<Self>) -> impl FnMut(&BlockId) -> bool + Send + 'static
    where
        Self: Sized,
    {
        move |id| self.is_final(id)
    }

    /// One more final block, a child of the last; false where it was refused.
    fn add(&self, id: BlockId) -> bool;
}

/// Knows nothing and does nothing: what is left of a loop without its work.
pub(crate) struct Nothing;

impl Subject for Nothing {
    fn of(_blocks: &mut dyn Iterator<Item = BlockId>, _count: u64) -> Self {
        Self
    }

    #[inline]
    fn is_final(&self, id: &BlockId) -> bool {
        keep(std::ptr::from_ref(id));
        false
    }

    fn add(&self, _id: BlockId) -> bool {
        true
    }
}

impl Subject for BlockGraph {
    fn of(blocks: &mut dyn Iterator<Item = BlockId>, count: u64) -> Self {
        let genesis = blocks.next().unwrap_or(BlockId([0; 32]));
        let graph = Self::with_capacity(genesis, WEIGHT, usize::try_from(count).unwrap_or(0));
        let mut last = genesis;
        for (number, id) in (1..).zip(blocks) {
            let inserted = graph.insert(id, &[last]);
            assert!(inserted.is_ok(), "ids are distinct: {inserted:?}");
            last = id;
            if number % BUILT_AT_ONCE == 0 {
                let done = settle(&graph, last).and_then(|()| graph.prune(u64::MAX));
                assert!(done.is_ok(), "it builds on the head: {done:?}");
            }
        }
        if last != graph.head() {
            let done = settle(&graph, last);
            assert!(done.is_ok(), "it builds on the head: {done:?}");
        }
        graph
    }

    #[inline]
    fn is_final(&self, id: &BlockId) -> bool {
        self.is_final(id)
    }

    fn add(&self, id: BlockId) -> bool {
        self.insert(id, &[self.head()])
            .and_then(|_| settle(self, id))
            .is_ok()
    }
}

fn settle(graph: &BlockGraph, id: BlockId) -> Result<(), GraphError> {
    graph.attest(&id, WEIGHT)?;
    graph.finalise(&id).map(|_| ())
}
