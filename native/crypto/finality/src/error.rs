//! The reasons why a graph refuses a call.

use std::fmt;

use crate::PARENTS_MAX;
use crate::id::BlockId;

/// The reason why a call changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// The block is known already.
    Duplicate(BlockId),
    /// A block needs 1 to [`PARENTS_MAX`] parents, each named once.
    Parents(usize),
    /// A parent is neither known nor final.
    UnknownParent(BlockId),
    /// The block would not build on the last final block: a reorganisation below finality.
    BelowFinality(BlockId),
    /// There is no such block, or it was abandoned.
    Unknown(BlockId),
    /// The block is final: it takes no more weight.
    AlreadyFinal(BlockId),
    /// The block waits to be merged and cannot become final by itself: the last final block is not among its
    /// ancestors.
    Conflicts(BlockId),
    /// The block has less weight than finality requires.
    Underweight {
        /// The weight that the block has.
        weight: u64,
        /// The weight that finality requires.
        threshold: u64,
    },
    /// The sum of the block's weights does not fit into 64 bits.
    WeightOverflow(BlockId),
    /// A thread panicked while it changed the graph; it answers finality checks and takes no change.
    Poisoned,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate(id) => write!(f, "block {id} is known already"),
            Self::Parents(count) => {
                write!(
                    f,
                    "a block names 1 to {PARENTS_MAX} different parents, not these {count}"
                )
            }
            Self::UnknownParent(id) => write!(f, "its parent {id} is not known"),
            Self::BelowFinality(id) => {
                write!(f, "block {id} does not build on the last final block")
            }
            Self::Unknown(id) => write!(f, "block {id} is not known"),
            Self::AlreadyFinal(id) => write!(f, "block {id} is final already"),
            Self::Conflicts(id) => write!(f, "block {id} can become final only by being merged"),
            Self::Underweight { weight, threshold } => {
                write!(f, "weight {weight} is below {threshold}")
            }
            Self::WeightOverflow(id) => write!(f, "the weight of block {id} leaves 64 bits"),
            Self::Poisoned => f.write_str("a thread panicked while it changed the graph"),
        }
    }
}

impl std::error::Error for GraphError {}

/// The reason why bytes are not a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotError {
    /// The bytes do not begin with a snapshot's mark.
    NoSnapshot,
    /// The snapshot has another version of the format.
    Version(u32),
    /// The bytes end too early or too late.
    Length,
    /// The digest differs: these are not the bytes that were written.
    Digest,
    /// The bytes are whole, but no graph can have this state; the text says why.
    Invalid(&'static str),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSnapshot => f.write_str("this is no snapshot of a block graph"),
            Self::Version(version) => write!(f, "version {version} of the format is not known"),
            Self::Length => f.write_str("the snapshot has another length than it says"),
            Self::Digest => f.write_str("the snapshot's digest does not match its bytes"),
            Self::Invalid(what) => write!(f, "no graph has this state: {what}"),
        }
    }
}

impl std::error::Error for SnapshotError {}
