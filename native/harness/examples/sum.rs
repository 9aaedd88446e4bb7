//! The smallest native workload: two ways to sum numbers.
//!
//!     cargo run --release --example sum -- --list
//!     cargo run --release --example sum -- --rounds 20 --seed 1

use std::hint::black_box;
use std::process::ExitCode;

use paceline_harness::order::SplitMix64;
use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Knob, Param, Prepared, Workload};

fn main() -> ExitCode {
    Workload {
        suite: "example".to_owned(),
        name: "sum".to_owned(),
        benchmarks: vec![Benchmark {
            name: "sum".to_owned(),
            arms: vec!["indexed".to_owned(), "iterator".to_owned()],
            params: vec![Param::int("numbers", &[1_000, 10_000], 1, 1_000_000)],
            metrics: Vec::new(),
            prepare: Box::new(prepare),
        }],
        knobs: vec![Knob {
            name: "iterator_repeats".to_owned(),
            minimum: 0,
            maximum: 9,
            default: 0,
            demonstration: true,
            what: "the iterator arm does its work again that many times.".to_owned(),
        }],
        open: Box::new(|| Ok(vec![("profile".to_owned(), profile().to_owned())])),
        checks: Box::new(|| {
            let ok = iterator(&[1, 2, 3]) == 6;
            vec![Check {
                name: "known_sum".to_owned(),
                ok,
                detail: "1 + 2 + 3".to_owned(),
            }]
        }),
    }
    .main()
}

fn profile() -> &'static str {
    if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    }
}

// Clippy cannot know that the signature is the harness's.
#[allow(
    clippy::unnecessary_wraps,
    reason = "a workload's preparation may fail; this one cannot"
)]
fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let mut random = SplitMix64::new(context.seed);
    let numbers: Vec<u64> = (0..context.int("numbers"))
        .map(|_| random.draw() >> 32)
        .collect();
    let count = numbers.len() as u64;
    let (for_indexed, for_iterator) = (numbers.clone(), numbers.clone());
    let repeats = context.knobs[0].1;
    Ok(Prepared {
        arms: vec![
            // black_box keeps the compiler from computing the sum of a known input in advance.
            Arm::new("indexed", move || indexed(black_box(&for_indexed))),
            Arm::new("iterator", move || {
                for _ in 0..repeats {
                    black_box(iterator(black_box(&for_iterator)));
                }
                iterator(black_box(&for_iterator))
            }),
        ],
        items_per_iteration: Some(count),
        bytes_per_iteration: Some(count * 8),
        verify: Box::new(move || {
            let ok = indexed(&numbers) == iterator(&numbers);
            vec![Check {
                name: "arms_agree".to_owned(),
                ok,
                detail: format!("{count} numbers"),
            }]
        }),
    })
}

fn indexed(numbers: &[u64]) -> u64 {
    let mut sum = 0_u64;
    let mut i = 0;
    while i < numbers.len() {
        sum = sum.wrapping_add(numbers[i]);
        i += 1;
    }
    sum
}

fn iterator(numbers: &[u64]) -> u64 {
    numbers
        .iter()
        .fold(0, |sum, number| sum.wrapping_add(*number))
}
