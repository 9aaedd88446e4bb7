//! The results of a call: the numbers of the header's `PACELINE_…` constants.

use std::ffi::{CStr, c_char};

use paceline_finality::{GraphError, SnapshotError};

/// Grows when a function or a number changes its meaning.
const ABI: u32 = 1;

/// 0 or negative, so that a count or a yes can be told from it.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the header says each in words, and `text` in a sentence"
)]
pub enum Status {
    Ok = 0,
    Argument = -1,
    Duplicate = -2,
    Parents = -3,
    UnknownParent = -4,
    BelowFinality = -5,
    Unknown = -6,
    AlreadyFinal = -7,
    Conflicts = -8,
    Underweight = -9,
    WeightOverflow = -10,
    Snapshot = -11,
    TooSmall = -12,
    Panicked = -13,
}

impl Status {
    const ALL: [Self; 14] = [
        Self::Ok,
        Self::Argument,
        Self::Duplicate,
        Self::Parents,
        Self::UnknownParent,
        Self::BelowFinality,
        Self::Unknown,
        Self::AlreadyFinal,
        Self::Conflicts,
        Self::Underweight,
        Self::WeightOverflow,
        Self::Snapshot,
        Self::TooSmall,
        Self::Panicked,
    ];

    fn text(self) -> &'static CStr {
        match self {
            Self::Ok => c"done",
            Self::Argument => c"a pointer is null or a size cannot be",
            Self::Duplicate => c"the block is known already",
            Self::Parents => c"a block names 1 to 16 different parents",
            Self::UnknownParent => c"a parent is not known",
            Self::BelowFinality => c"the block does not build on the last final block",
            Self::Unknown => c"the block is not known",
            Self::AlreadyFinal => c"the block is final already",
            Self::Conflicts => c"the block can become final only by being merged",
            Self::Underweight => c"the block has not enough weight",
            Self::WeightOverflow => c"the block's weight leaves 64 bits",
            Self::Snapshot => c"these bytes are no snapshot of a graph",
            Self::TooSmall => c"the buffer is too small; the size it needs was written",
            Self::Panicked => c"a bug: the call panicked, and the graph may take no more changes",
        }
    }
}

impl From<GraphError> for Status {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Duplicate(_) => Self::Duplicate,
            GraphError::Parents(_) => Self::Parents,
            GraphError::UnknownParent(_) => Self::UnknownParent,
            GraphError::BelowFinality(_) => Self::BelowFinality,
            GraphError::Unknown(_) => Self::Unknown,
            GraphError::AlreadyFinal(_) => Self::AlreadyFinal,
            GraphError::Conflicts(_) => Self::Conflicts,
            GraphError::Underweight { .. } => Self::Underweight,
            GraphError::WeightOverflow(_) => Self::WeightOverflow,
            GraphError::Poisoned => Self::Panicked,
        }
    }
}

impl From<SnapshotError> for Status {
    fn from(_: SnapshotError) -> Self {
        Self::Snapshot
    }
}

/// A sentence about a status, static and ended by 0; never null.
// SAFETY: no other library of this name exports it; the prefix is ours.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_status_text(status: i32) -> *const c_char {
    let known = Status::ALL
        .into_iter()
        .find(|known| *known as i32 == status);
    known
        .map_or(c"no status of this library", Status::text)
        .as_ptr()
}

/// The version of this interface that the library has: compare it with `PACELINE_FINALITY_ABI`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_finality_abi() -> u32 {
    ABI
}
