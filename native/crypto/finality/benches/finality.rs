//! The finality check for people at a terminal: `cargo bench -p paceline-finality`, with the settings of the
//! seed. The suite runs the same code under our harness, beside other structures (`bench/`).

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use paceline_finality::{BlockGraph, BlockId};
use sha2::{Digest, Sha256};

/// The seed's graphs.
const SIZES: [u64; 3] = [10, 100, 1000];
const WEIGHT: u64 = 1;
/// The seed's two settings: (significance, samples).
const STANDARD: (f64, usize) = (0.05, 1_000);
const PRECISE: (f64, usize) = (0.01, 10_000);
const WARM_UP: Duration = Duration::from_secs(3);

fn id(number: u64) -> BlockId {
    BlockId(Sha256::digest(number.to_le_bytes()).into())
}

fn chain(blocks: u64) -> BlockGraph {
    let graph = BlockGraph::new(id(0), WEIGHT);
    for number in 1..blocks {
        let added = graph.insert(id(number), &[id(number - 1)]).and_then(|_| {
            graph.attest(&id(number), WEIGHT)?;
            graph.finalise(&id(number))
        });
        assert!(added.is_ok(), "{added:?}");
    }
    graph
}

fn single(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("finality_single");
    group.significance_level(PRECISE.0).sample_size(PRECISE.1).warm_up_time(WARM_UP);
    let (graph, asked) = (chain(1000), id(500));
    group.bench_function("BlockGraph", |bencher| bencher.iter(|| graph.is_final(black_box(&asked))));
    group.finish();
}

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("finality_sizes");
    group.significance_level(STANDARD.0).sample_size(STANDARD.1).warm_up_time(WARM_UP);
    for blocks in SIZES {
        let (graph, ids) = (chain(blocks), (0..blocks).map(id).collect::<Vec<_>>());
        group.throughput(criterion::Throughput::Elements(blocks));
        group.bench_with_input(BenchmarkId::from_parameter(blocks), &ids, |bencher, ids| {
            bencher.iter(|| ids.iter().filter(|id| graph.is_final(black_box(id))).count());
        });
    }
    group.finish();
}

criterion_group!(benches, single, sizes);
criterion_main!(benches);
