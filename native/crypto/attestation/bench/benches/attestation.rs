//! The seed's criterion bench, with its settings, for people at a terminal; the suite measures the same calls
//! interleaved, by its own harness (`../src`).

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use paceline_attestation::{Domain, Item, Signature, SigningKey, generate_attestation, verify_batch};

const SEED: [u8; 32] = [7; 32];

/// The seed's first setting: 1,000 samples at significance 0.05.
fn standard() -> Criterion {
    settings(0.05, 1_000)
}

/// The seed's second setting: 10,000 samples at significance 0.01.
fn high_precision() -> Criterion {
    settings(0.01, 10_000)
}

fn settings(significance: f64, samples: usize) -> Criterion {
    Criterion::default()
        .significance_level(significance)
        .sample_size(samples)
        .warm_up_time(Duration::from_secs(3))
}

fn key() -> SigningKey {
    SigningKey::from_seed(&SEED).expect("an engine signs")
}

fn sizes(criterion: &mut Criterion) {
    let key = key();
    for bytes in [32, 128, 256] {
        let message = vec![42; bytes];
        let signature = key.sign(&message);
        let mut group = criterion.benchmark_group("attestation");
        group.throughput(Throughput::Elements(1));
        group.bench_with_input(BenchmarkId::new("generation", bytes), &message, |bencher, message| {
            bencher.iter(|| key.sign(black_box(message)));
        });
        group.bench_with_input(BenchmarkId::new("verification", bytes), &message, |bencher, message| {
            bencher.iter(|| key.verifying_key().verify(black_box(message), &signature));
        });
        group.finish();
    }
}

fn production(criterion: &mut Criterion) {
    let (key, domain) = (key(), Domain::new("poi.block").expect("a label"));
    criterion.bench_function("single_signature_generation", |bencher| {
        bencher.iter(|| key.sign(black_box(&[42; 32])));
    });
    criterion.bench_function("generate_attestation", |bencher| {
        bencher.iter(|| generate_attestation(&key, &domain, black_box(&[42; 32])).into_bytes());
    });
}

fn batches(criterion: &mut Criterion) {
    let key = key();
    let messages: Vec<[u8; 32]> = (0..=255).map(|byte| [byte; 32]).collect();
    let signatures: Vec<Signature> = messages.iter().map(|message| key.sign(message)).collect();
    let items: Vec<Item<'_>> = messages
        .iter()
        .zip(&signatures)
        .map(|(message, signature)| Item { key: key.verifying_key(), message, signature })
        .collect();
    criterion.bench_function("verify_batch_256", |bencher| {
        bencher.iter(|| verify_batch(black_box(&items)));
    });
}

criterion_group! { name = seed_standard; config = standard(); targets = sizes, batches }
criterion_group! { name = seed_high_precision; config = high_precision(); targets = production }
criterion_main!(seed_standard, seed_high_precision);
