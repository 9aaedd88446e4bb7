//! The library's functions in static programs for devices: linked in, for the checks only.

use paceline_finality_capi as library;

use crate::library::Functions;

/// The name of the library in messages.
pub(crate) const FILE: &str = "the library's own code";
/// The reason why no library is loaded.
pub(crate) const AWAY: Option<&str> =
    Some("this program is static, as programs for devices are, and loads no library");
/// A linked library needs nothing to stay loaded.
pub(crate) type Held = ();
/// The graph of the linked library.
pub(crate) type Graph = paceline_finality::BlockGraph;

#[allow(
    clippy::unnecessary_wraps,
    reason = "where a library is loaded, it may be missing"
)]
pub(crate) fn find() -> Result<Functions<Held>, String> {
    Ok(Functions {
        abi: library::paceline_finality_abi(),
        new: library::paceline_graph_new,
        is_final: library::paceline_graph_is_final,
        nothing: library::paceline_graph_nothing,
        insert: library::paceline_graph_insert,
        attest: library::paceline_graph_attest,
        finalise: library::paceline_graph_finalise,
        free: library::paceline_graph_free,
        _held: (),
    })
}
