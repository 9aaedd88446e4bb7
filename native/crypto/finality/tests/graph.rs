//! What the graph promises, one claim per test; long random runs are in `model.rs`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use paceline_finality::{BlockGraph, BlockId, Finalised, GraphError, SnapshotError, Status};
use sha2::{Digest, Sha256};

const THRESHOLD: u64 = 67;

fn id(number: u64) -> BlockId {
    BlockId(Sha256::digest(number.to_le_bytes()).into())
}

fn graph() -> BlockGraph {
    BlockGraph::new(id(0), THRESHOLD)
}

/// Inserts block `number` on `parents`.
fn add(graph: &BlockGraph, number: u64, parents: &[u64]) -> Result<u64, GraphError> {
    let parents: Vec<BlockId> = parents.iter().map(|number| id(*number)).collect();
    graph.insert(id(number), &parents)
}

fn finalise(graph: &BlockGraph, number: u64) -> Result<Finalised, GraphError> {
    graph.attest(&id(number), THRESHOLD)?;
    graph.finalise(&id(number))
}

#[test]
fn a_block_becomes_final_with_its_weight_and_takes_its_ancestors_along() {
    let graph = graph();
    assert_eq!(
        (
            add(&graph, 1, &[0]),
            add(&graph, 2, &[1]),
            add(&graph, 3, &[2])
        ),
        (Ok(1), Ok(2), Ok(3))
    );
    assert_eq!(graph.attest(&id(2), 66), Ok(66));
    assert_eq!(
        graph.finalise(&id(2)),
        Err(GraphError::Underweight {
            weight: 66,
            threshold: 67
        })
    );
    assert!(
        !graph.is_final(&id(2)),
        "a refused transition changes nothing"
    );
    assert_eq!(graph.attest(&id(2), 1), Ok(67));
    assert_eq!(
        graph.finalise(&id(2)),
        Ok(Finalised {
            finalised: 2,
            abandoned: 0
        })
    );
    assert!(graph.is_final(&id(1)) && graph.is_final(&id(2)) && !graph.is_final(&id(3)));
    assert_eq!(graph.finalise(&id(2)), Err(GraphError::AlreadyFinal(id(2))));
    assert_eq!(
        graph.attest(&id(1), 1),
        Err(GraphError::AlreadyFinal(id(1)))
    );
}

#[test]
fn a_reorganisation_below_finality_is_refused() {
    let graph = graph();
    for (number, parent) in [(1, 0), (2, 1), (11, 0), (12, 11)] {
        assert!(add(&graph, number, &[parent]).is_ok());
    }
    assert_eq!(
        finalise(&graph, 2),
        Ok(Finalised {
            finalised: 2,
            abandoned: 2
        })
    );
    assert_eq!(
        add(&graph, 21, &[1]),
        Err(GraphError::BelowFinality(id(21)))
    );
    assert_eq!(
        add(&graph, 13, &[12]),
        Err(GraphError::UnknownParent(id(12))),
        "it was abandoned"
    );
    assert_eq!(graph.attest(&id(12), 1), Err(GraphError::Unknown(id(12))));
    assert_eq!(add(&graph, 3, &[2]), Ok(3));
}

#[test]
fn a_branch_that_is_merged_becomes_final_with_the_merging_block_only() {
    let graph = graph();
    for (number, parents) in [(1, &[0][..]), (11, &[0]), (2, &[1, 11])] {
        assert!(add(&graph, number, parents).is_ok());
    }
    assert_eq!(
        finalise(&graph, 1),
        Ok(Finalised {
            finalised: 1,
            abandoned: 0
        })
    );
    assert_eq!(graph.status(&id(11)), Some(Status::Merging { height: 1 }));
    assert_eq!(finalise(&graph, 11), Err(GraphError::Conflicts(id(11))));
    assert_eq!(
        add(&graph, 12, &[11]),
        Err(GraphError::BelowFinality(id(12)))
    );
    assert_eq!(
        finalise(&graph, 2),
        Ok(Finalised {
            finalised: 2,
            abandoned: 0
        })
    );
    assert!(graph.is_final(&id(11)));
}

#[test]
fn what_is_no_block_is_refused() {
    let graph = graph();
    let many: Vec<u64> = (0..17).collect();
    assert_eq!(add(&graph, 1, &[]), Err(GraphError::Parents(0)));
    assert_eq!(add(&graph, 1, &[0, 0]), Err(GraphError::Parents(2)));
    assert_eq!(add(&graph, 99, &many), Err(GraphError::Parents(17)));
    assert_eq!(
        add(&graph, 1, &[1]),
        Err(GraphError::UnknownParent(id(1))),
        "itself"
    );
    assert_eq!(add(&graph, 0, &[0]), Err(GraphError::Duplicate(id(0))));
    assert!(add(&graph, 1, &[0]).is_ok());
    assert_eq!(graph.attest(&id(1), u64::MAX), Ok(u64::MAX));
    assert_eq!(
        graph.attest(&id(1), 1),
        Err(GraphError::WeightOverflow(id(1)))
    );
}

#[test]
fn pruning_forgets_everything_but_that_a_block_is_final() {
    let graph = graph();
    (1..=5).for_each(|number| assert!(add(&graph, number, &[number - 1]).is_ok()));
    assert!(finalise(&graph, 4).is_ok());
    assert_eq!(graph.prune(u64::MAX), Ok(4), "all but the head");
    assert!((0..=4).all(|number| graph.is_final(&id(number))));
    assert_eq!(graph.status(&id(3)), Some(Status::Final { height: None }));
    assert_eq!(
        graph.status(&id(4)),
        Some(Status::Final { height: Some(4) })
    );
    assert_eq!(
        add(&graph, 6, &[5, 1]),
        Ok(6),
        "a pruned block can still be merged"
    );
}

#[test]
fn a_graph_grows_from_one_block_to_many_and_answers_for_each() {
    let graph = graph();
    for number in 1..=3000 {
        assert!(add(&graph, number, &[number - 1]).is_ok());
        if number % 7 == 0 {
            assert!(finalise(&graph, number).is_ok());
        }
    }
    let last = 3000 / 7 * 7;
    assert!((0..=3000).all(|number| graph.is_final(&id(number)) == (number <= last)));
    assert!(
        (10_000..20_000).all(|number| !graph.is_final(&id(number))),
        "ids nobody inserted"
    );
}

#[test]
fn readers_beside_a_writer_see_finality_in_order_and_for_good() {
    const BLOCKS: u64 = 2000;
    let (graph, seen) = (graph(), AtomicUsize::new(0));
    let read = || {
        let mut last = 0;
        while last < BLOCKS {
            // The highest first: then everything below it must be there already.
            let highest = (last..=BLOCKS)
                .rev()
                .step_by(97)
                .find(|number| graph.is_final(&id(*number)));
            last = highest.unwrap_or(last).max(last);
            assert!((last.saturating_sub(40)..=last).all(|number| graph.is_final(&id(number))));
            seen.fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(read);
        scope.spawn(read);
        for number in 1..=BLOCKS {
            assert!(add(&graph, number, &[number - 1]).is_ok() && finalise(&graph, number).is_ok());
        }
    });
    assert!(seen.load(Ordering::Relaxed) >= 2);
}

fn a_snapshot() -> Vec<u8> {
    let graph = graph();
    (1..=9).for_each(|number| assert!(add(&graph, number, &[number - 1]).is_ok()));
    assert!(add(&graph, 20, &[3]).is_ok() && add(&graph, 21, &[5, 20]).is_ok());
    assert!(finalise(&graph, 4).is_ok());
    assert_eq!(graph.prune(2), Ok(2));
    graph.snapshot().expect("nothing panicked")
}

/// The bytes with a correct digest, so that only their content can be refused.
fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len().saturating_sub(32);
    let digest = Sha256::digest(&bytes[..end]);
    bytes.truncate(end);
    bytes.extend(digest);
    bytes
}

#[test]
fn a_snapshot_gives_the_same_graph() {
    let bytes = a_snapshot();
    let graph = BlockGraph::restore(&bytes).expect("it was just written");
    assert_eq!(graph.snapshot(), Ok(bytes));
    assert_eq!(graph.status(&id(20)), Some(Status::Merging { height: 4 }));
    assert_eq!(graph.status(&id(1)), Some(Status::Final { height: None }));
    assert_eq!(
        finalise(&graph, 21),
        Ok(Finalised {
            finalised: 3,
            abandoned: 4
        })
    );
}

#[test]
fn damage_to_a_snapshot_is_found_at_every_byte() {
    let bytes = a_snapshot();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        assert!(BlockGraph::restore(&damaged).is_err(), "byte {at}");
        assert!(BlockGraph::restore(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert_eq!(
        BlockGraph::restore(b"").err(),
        Some(SnapshotError::NoSnapshot)
    );
    let longer = signed([bytes.as_slice(), &[0]].concat());
    assert!(BlockGraph::restore(&longer).is_err());
}

#[test]
fn a_snapshot_with_a_fitting_digest_is_a_graph_that_can_be_used_or_is_refused() {
    let bytes = a_snapshot();
    let mut accepted = 0;
    for at in 0..bytes.len() - 32 {
        for change in [1, 0x80, 0xff] {
            let mut crafted = bytes.clone();
            crafted[at] ^= change;
            if let Ok(graph) = BlockGraph::restore(&signed(crafted)) {
                accepted += 1;
                let head = graph.head();
                let child = graph
                    .insert(id(1000), &[head])
                    .expect("a block builds on the head");
                assert!(child < 1 << 63, "heights do not overflow");
                let written = graph.snapshot().expect("nothing panicked");
                assert!(
                    BlockGraph::restore(&written).is_ok(),
                    "byte {at}: it wrote what it cannot read"
                );
                assert!(
                    graph.attest(&id(1000), u64::MAX).is_ok() && graph.finalise(&id(1000)).is_ok()
                );
            }
        }
    }
    assert!(accepted > 0, "thresholds and weights may be anything");
}

#[test]
fn a_count_that_is_not_there_takes_no_memory() {
    let mut bytes = a_snapshot();
    bytes[56..64].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(
        BlockGraph::restore(&signed(bytes)).err(),
        Some(SnapshotError::Length)
    );
}
