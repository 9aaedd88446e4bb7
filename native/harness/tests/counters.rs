//! Counters, metrics besides `time`, text params and arms that cannot run here, through a whole
//! launch.
#![allow(
    clippy::unwrap_used,
    reason = "what cannot be read fails the test, which is meant"
)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use paceline_harness::event::Work;
use paceline_harness::reader::Reader;
use paceline_harness::{
    Arm, Benchmark, Context, Direction, Event, Failure, Metric, Param, Phase, Prepared, Reading,
    Unit, Workload, session,
};

const CALLS_BEYOND_ONE_EVENT: u64 = 1001;

/// An arm that counts its calls and remembers one value per call.
fn counted(name: &str) -> Arm {
    let calls = Rc::new(Cell::new(0_u64));
    let each = Rc::new(RefCell::new(Vec::new()));
    let (in_arm, in_values, for_work) = (Rc::clone(&calls), Rc::clone(&each), Rc::clone(&calls));
    Arm::new(name, move || {
        in_arm.set(in_arm.get() + 1);
        in_values.borrow_mut().push(in_arm.get());
    })
    .with_work(move || vec![("items".to_owned(), for_work.get() * 10)])
    .with_metric("call_time", move || Reading::Each(each.take()))
    .with_metric("copied", move || Reading::Total(calls.replace(0) * 3))
}

// Clippy cannot know that the signature is the harness's.
#[allow(
    clippy::unnecessary_wraps,
    reason = "a workload's preparation may fail; this one cannot"
)]
fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let lanes = match context.text("engine") {
        "here" => counted("lanes"),
        engine => Arm::unavailable("lanes", format!("this CPU has no {engine}")),
    };
    Ok(Prepared {
        arms: vec![counted("plain"), lanes],
        items_per_iteration: Some(10),
        bytes_per_iteration: None,
        verify: Box::new(Vec::new),
    })
}

fn metric(name: &str, unit: Unit) -> Metric {
    Metric {
        name: name.to_owned(),
        unit,
        direction: Direction::Lower,
    }
}

fn launch(args: &[&str]) -> Vec<u8> {
    let workload = Workload {
        suite: "example".to_owned(),
        name: "counting".to_owned(),
        benchmarks: vec![Benchmark {
            name: "count".to_owned(),
            arms: vec!["plain".to_owned(), "lanes".to_owned()],
            params: vec![Param::words("engine", &["here", "avx9"])],
            metrics: vec![
                metric("call_time", Unit::Nanoseconds),
                metric("copied", Unit::Bytes),
            ],
            prepare: Box::new(prepare),
        }],
        knobs: Vec::new(),
        open: Box::new(|| Ok(Vec::new())),
        checks: Box::new(Vec::new),
    };
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let mut out = Vec::new();
    session::run(&workload, &args, &mut out);
    out
}

fn events(args: &[&str]) -> Vec<Event> {
    Reader::new(launch(args).as_slice())
        .collect::<Result<_, _>>()
        .unwrap()
}

const QUICK: [&str; 4] = ["--rounds", "3", "--min-time-ns", "1000"];

#[test]
fn counters_are_those_of_the_timed_region_alone() {
    let mut counted = 0;
    for event in events(&QUICK) {
        if let Event::Samples {
            metric,
            iterations,
            work,
            ..
        } = event
        {
            // Calibration ran the arms, too: had it been counted, the first round would show it.
            let expected = if metric == "time" {
                counted += 1;
                vec![("items".to_owned(), iterations * 10)]
            } else {
                Work::new()
            };
            assert_eq!(work, expected, "{metric}");
        }
    }
    assert_eq!(
        counted,
        3 * (5 + 3),
        "two arms in one group, one in the other, 5 + 3 rounds"
    );
}

#[test]
fn totals_cover_all_iterations_and_calls_are_single_values() {
    let mut iterations_by_round = std::collections::HashMap::new();
    let mut calls = std::collections::HashMap::new();
    for event in events(&[&QUICK[..], &["--min-time-ns", "200000"]].concat()) {
        let Event::Samples {
            case,
            metric,
            round,
            iterations,
            values,
            ..
        } = event
        else {
            continue;
        };
        match metric.as_str() {
            "time" => {
                iterations_by_round.insert((case, round), iterations);
            }
            "copied" => {
                assert_eq!(
                    (iterations, values),
                    (iterations_by_round[&(case, round)], vec![iterations * 3])
                );
            }
            _ => {
                assert_eq!(iterations, 1);
                calls
                    .entry((case, round))
                    .or_insert_with(Vec::new)
                    .extend(values);
            }
        }
    }
    assert!(
        iterations_by_round
            .values()
            .any(|calls| *calls >= CALLS_BEYOND_ONE_EVENT),
        "needs several events"
    );
    for (block, iterations) in iterations_by_round {
        assert_eq!(
            calls[&block],
            (1..=iterations).collect::<Vec<_>>(),
            "every call once, in order"
        );
    }
}

#[test]
fn an_arm_that_cannot_run_here_is_announced_with_its_reason_and_not_measured() {
    let events = events(&QUICK);
    let missing: Vec<(u64, &str)> = events
        .iter()
        .filter_map(|event| match event {
            Event::Case {
                case,
                arm,
                unavailable: Some(reason),
                ..
            } if arm == "lanes" => Some((*case, reason.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(missing, [(3, "this CPU has no avx9")]);
    assert!(
        events
            .iter()
            .all(|event| !matches!(event, Event::Samples { case: 3, .. }))
    );
    let alone = |event: &&Event| match event {
        Event::Samples {
            case: 2,
            position: 0,
            phase: Phase::Measure,
            metric,
            ..
        } => metric == "time",
        _ => false,
    };
    assert_eq!(
        events.iter().filter(alone).count(),
        3,
        "the arm that can run is measured, alone in its rounds"
    );
    assert_eq!(events.last(), Some(&Event::Done));
}

#[test]
fn the_list_names_every_metric_of_a_case() {
    let list: serde_json::Value = serde_json::from_slice(&launch(&["--list"])).unwrap();
    let names = list["cases"][0]["metrics"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .map(|metric| metric["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["time", "call_time", "copied"]);
}
