//! Entry of fuzzing and of `finality/tests/mutated.rs`: any bytes, under a digest that fits, are
//! refused or are a graph that writes the same bytes again.

use paceline_finality::BlockGraph;
use sha2::{Digest, Sha256};

/// Panics where that does not hold.
pub(crate) fn enter(body: &[u8]) {
    let mut bytes = body.to_vec();
    bytes.extend(Sha256::digest(body));
    if let Ok(graph) = BlockGraph::restore(&bytes) {
        assert_eq!(graph.snapshot().expect("nothing panicked"), bytes);
    }
    if let Ok(graph) = BlockGraph::restore(body) {
        assert_eq!(
            graph.snapshot().expect("nothing panicked"),
            body,
            "with a digest of its own"
        );
    }
}
