//! Arms with a process of their own, through a whole launch: whose clock counts, how often they
//! run, what they report once, and how they fail.
#![allow(
    clippy::unwrap_used,
    reason = "what cannot be read fails the test, which is meant"
)]

use std::cell::Cell;
use std::rc::Rc;

use paceline_harness::reader::Reader;
use paceline_harness::{
    Arm, Benchmark, Context, Direction, Event, Failure, Metric, Phase, Prepared, Unit, Workload,
    session,
};

const FIXED: u64 = 500;
const ROUNDS: u64 = 3;
const WARMUP: u64 = 2;

/// Says that an iteration takes 3 ns, and dies when it has been asked `dies_after` times.
fn other_process(name: &str, dies_after: u64) -> Arm {
    let asked = Rc::new(Cell::new(0));
    let at_end = Rc::clone(&asked);
    Arm::elsewhere(name, move |iterations| {
        asked.set(asked.get() + 1);
        if asked.get() > dies_after {
            return Err(Failure::new(
                "subject_died",
                "It was killed. Look at its messages.",
            ));
        }
        Ok(iterations * 3)
    })
    .with_iterations(FIXED)
    .with_launch_metric("asked", move || Ok(at_end.get()))
}

fn events(dies_after: u64) -> Vec<Event> {
    let prepare = move |context: &Context<'_>| {
        assert_eq!(
            (context.launch, context.rounds),
            (4, ROUNDS),
            "a preparation knows its launch"
        );
        Ok(Prepared {
            arms: vec![other_process("a", u64::MAX), other_process("b", dies_after)],
            items_per_iteration: None,
            bytes_per_iteration: None,
            verify: Box::new(Vec::new),
        })
    };
    let workload = Workload {
        suite: "example".to_owned(),
        name: "elsewhere".to_owned(),
        benchmarks: vec![Benchmark {
            name: "b".to_owned(),
            arms: vec!["a".to_owned(), "b".to_owned()],
            params: Vec::new(),
            metrics: vec![Metric {
                name: "asked".to_owned(),
                unit: Unit::Count,
                direction: Direction::Lower,
            }],
            prepare: Box::new(prepare),
        }],
        knobs: Vec::new(),
        open: Box::new(|| Ok(Vec::new())),
        checks: Box::new(Vec::new),
    };
    let args = ["--launch", "4", "--rounds", "3", "--warmup-rounds", "2"].map(str::to_owned);
    let mut out = Vec::new();
    session::run(&workload, &args, &mut out);
    Reader::new(out.as_slice())
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn a_sample_is_what_the_other_process_measured_over_the_fixed_iterations() {
    let mut seen = 0;
    for event in events(u64::MAX) {
        if let Event::Samples {
            metric,
            iterations,
            values,
            ..
        } = event
            && metric == "time"
        {
            assert_eq!((iterations, values), (FIXED, vec![FIXED * 3]));
            seen += 1;
        }
    }
    assert_eq!(seen, 2 * (WARMUP + ROUNDS));
}

#[test]
fn a_launch_metric_is_one_value_with_the_last_measured_round() {
    let mut seen = Vec::new();
    for event in events(u64::MAX) {
        if let Event::Samples {
            metric,
            iterations,
            values,
            round,
            phase,
            launch,
            case,
            ..
        } = event
            && metric == "asked"
        {
            // Calibration asked nothing, or this would be more than the rounds.
            assert_eq!(
                (iterations, values, round),
                (1, vec![WARMUP + ROUNDS], WARMUP + ROUNDS - 1)
            );
            assert_eq!((phase, launch), (Phase::Measure, 4));
            seen.push(case);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1]);
}

#[test]
fn a_process_that_dies_ends_the_launch_in_an_error() {
    let events = events(3);
    let Some(Event::Error { code, .. }) = events.last() else {
        panic!("{:?}", events.last())
    };
    assert_eq!(code, "subject_died");
    let whole = events
        .iter()
        .filter(|event| matches!(event, Event::Samples { .. }))
        .count();
    assert_eq!(
        whole,
        2 * 3,
        "the rounds before it stand, half a round does not"
    );
}
