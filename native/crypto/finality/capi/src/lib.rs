//! The block graph for callers in C, who read `include/paceline_finality.h`.
//!
//! No panic leaves (`PANICKED` is returned instead), no pointer is followed before it was compared
//! with null, and nothing of a caller's memory is kept after a call. Every `unsafe` relies on a
//! promise that the header demands.

mod calls;
mod status;

pub use calls::{
    paceline_graph_attest, paceline_graph_finalise, paceline_graph_free, paceline_graph_insert,
    paceline_graph_is_final, paceline_graph_new, paceline_graph_nothing, paceline_graph_prune,
    paceline_graph_restore, paceline_graph_snapshot,
};
pub use status::{Status, paceline_finality_abi, paceline_status_text};
