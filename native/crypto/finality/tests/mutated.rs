//! The entry of fuzzing (`../../fuzz`) over seeded changes of snapshots, under digests that fit.
//! `FINALITY_CASES=1000000` is a long run.

#[path = "../../fuzz/entries/mutation.rs"]
mod mutation;
#[path = "../../fuzz/entries/snapshot.rs"]
mod snapshot;

use mutation::{Random, mutated};
use paceline_finality::{BlockGraph, BlockId};

const DIGEST_BYTES: usize = 32;

/// A snapshot without its digest: a chain with a fork and a merge, partly final, pruned and weighed.
fn right() -> Vec<u8> {
    let id = |number: u8| BlockId([number; 32]);
    let graph = BlockGraph::new(id(0), 2);
    let blocks = [
        (1, vec![0]),
        (2, vec![1]),
        (3, vec![1]),
        (4, vec![2, 3]),
        (5, vec![4]),
        (6, vec![4]),
    ];
    for (number, parents) in blocks {
        let parents: Vec<BlockId> = parents.into_iter().map(id).collect();
        graph
            .insert(id(number), &parents)
            .expect("it builds on what is there");
    }
    for (number, weight) in [(2, 2), (5, 1)] {
        graph.attest(&id(number), weight).expect("it is known");
    }
    graph.finalise(&id(2)).expect("it has the weight");
    graph.prune(1).expect("nothing panicked");
    let mut bytes = graph.snapshot().expect("nothing panicked");
    bytes.truncate(bytes.len() - DIGEST_BYTES);
    bytes
}

#[test]
fn changed_snapshots_are_refused_or_write_themselves_again() {
    let asked = std::env::var("FINALITY_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let (mut random, right) = (Random(8), right());
    snapshot::enter(&right);
    for _ in 0..asked.unwrap_or(4_000) {
        snapshot::enter(&mutated(&mut random, &right));
    }
}
