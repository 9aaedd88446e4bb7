//! `batch_thresholds`: the batch size from which 100,000, 280,000, 420,000 and 1,000,000 signatures
//! a second are reached, and by which engine.
//!
//! Each threshold is an arm that only waits as long as a batch may take at its rate. So reaching it
//! is a crossover of two arms, decided like any other. These arms verify nothing, so they count no items.

use std::hint;
use std::rc::Rc;
use std::time::{Duration, Instant};

use paceline_harness::{Arm, Benchmark};

use crate::batches::{inputs, params, prepared, threads};
use crate::peers::{self, DALEK, DALEK_IFMA, ZEBRA_IFMA};
use crate::vectorised;

/// The seed's gate, and its roadmap: by batching, by vectors, by more than one core or an accelerator.
const PACES: [(&str, u64); 4] = [
    ("at_100k", 100_000),
    ("at_280k", 280_000),
    ("at_420k", 420_000),
    ("at_1m", 1_000_000),
];
const OWN: [&str; 2] = ["one_thread", "two_threads"];
const NS_PER_S: u128 = 1_000_000_000;

/// Who is quicker than a rate, by size and keys.
pub(crate) fn batch_thresholds() -> Benchmark {
    let libraries = [DALEK, DALEK_IFMA, ZEBRA_IFMA];
    let names = PACES
        .iter()
        .map(|(name, _)| *name)
        .chain(libraries)
        .chain(OWN);
    Benchmark {
        name: "batch_thresholds".to_owned(),
        arms: names.map(str::to_owned).collect(),
        params: params(),
        metrics: vec![],
        prepare: Box::new(|context| {
            let inputs = inputs(context);
            let (count, one) = (inputs.messages.len(), peers::of(&inputs)?);
            let mut arms: Vec<Arm> = PACES
                .map(|(name, rate)| pace(name, count as u64, rate))
                .into();
            arms.push(Arm::counted(DALEK, count, move || one.dalek_batch()));
            let second = [
                (DALEK_IFMA, "paceline_peers_dalek_batch"),
                (ZEBRA_IFMA, "paceline_peers_zebra_batch"),
            ];
            arms.extend(vectorised::arms(&inputs, count, second)?);
            arms.extend(threads(OWN, &inputs));
            Ok(prepared(arms, Rc::clone(&inputs)))
        }),
    }
}

/// Waits until a sample has taken what its signatures take at `rate` a second: once for the whole sample, so
/// that a look at the clock more or less is nothing.
fn pace(name: &str, signatures: u64, rate: u64) -> Arm {
    Arm::looped(name, move |iterations| {
        let (begin, whole) = (Instant::now(), time_for(iterations, signatures, rate));
        while begin.elapsed() < whole {
            hint::spin_loop();
        }
    })
}

fn time_for(iterations: u64, signatures: u64, rate: u64) -> Duration {
    let ns = u128::from(iterations) * u128::from(signatures) * NS_PER_S / u128::from(rate);
    Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_its_time_for_any_number_of_signatures() {
        assert_eq!(time_for(1, 256, 280_000), Duration::from_nanos(914_285));
        assert_eq!(time_for(3, 8, 1_000_000), Duration::from_micros(24));
        assert_eq!(
            time_for(1 << 40, 1024, 1),
            Duration::from_nanos(u64::MAX),
            "no overflow"
        );
    }

    #[test]
    fn a_threshold_is_named_by_its_rate() {
        let name_of = |rate: u64| match rate {
            1_000_000 => "at_1m".to_owned(),
            _ => format!("at_{}k", rate / 1000),
        };
        assert!(PACES.iter().all(|(name, rate)| *name == name_of(*rate)));
    }
}
