//! The block graph for callers of C: `include/paceline_finality.h` is what they read.
//!
//! Place in the journey: between `paceline-finality` and whoever loads the shared library. Invariants:
//! no panic leaves (`PANICKED` is returned instead); no pointer is followed before it was compared with null;
//! nothing is kept of a caller's memory after a call. Every `unsafe` here rests
//! on a promise that the header makes its caller give.

mod calls;
mod status;

pub use calls::{
    paceline_graph_attest, paceline_graph_finalise, paceline_graph_free, paceline_graph_insert,
    paceline_graph_is_final, paceline_graph_new, paceline_graph_nothing, paceline_graph_prune,
    paceline_graph_restore, paceline_graph_snapshot,
};
pub use status::{Status, paceline_finality_abi, paceline_status_text};
