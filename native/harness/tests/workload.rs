//! A Rust workload end to end: the `sum` example as a process, judged through the reader as the
//! agent would.
#![allow(
    clippy::unwrap_used,
    reason = "what cannot be read fails the test, which is meant"
)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use paceline_harness::reader::Reader;
use paceline_harness::{Event, Phase};
use serde_json::Value as Json;

/// `cargo test` builds examples beside tests: target/PROFILE/deps/this → target/PROFILE/examples/sum.
fn sum() -> Command {
    let this = std::env::current_exe().unwrap();
    let example: PathBuf = this
        .parent()
        .unwrap()
        .with_file_name("examples")
        .join("sum");
    let example = example.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        example.exists(),
        "build it first: cargo build -p paceline-harness --example sum"
    );
    Command::new(example)
}

fn run(args: &[&str]) -> (Output, Vec<Event>) {
    let output = sum().args(args).stderr(Stdio::inherit()).output().unwrap();
    let events = Reader::new(output.stdout.as_slice())
        .collect::<Result<_, _>>()
        .unwrap();
    (output, events)
}

/// Case, position, iterations and phase of each sample of one round.
type Block = Vec<(u64, u64, u64, Phase)>;

const QUICK: [&str; 8] = [
    "--rounds",
    "6",
    "--min-time-ns",
    "1000",
    "--seed",
    "11",
    "--launch",
    "2",
];

#[test]
fn list_names_every_case() {
    let output = sum().arg("--list").output().unwrap();
    assert!(output.status.success());
    let list: Json = serde_json::from_slice(&output.stdout).unwrap();
    let cases: Vec<String> = list["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            format!(
                "{} {}",
                case["arm"].as_str().unwrap(),
                case["params"]["numbers"]
            )
        })
        .collect();
    assert_eq!(
        cases,
        [
            "indexed 1000",
            "iterator 1000",
            "indexed 10000",
            "iterator 10000"
        ]
    );
    assert_eq!(list["cases"][0]["metrics"][0]["unit"], "ns");
}

#[test]
fn a_launch_measures_every_case_in_interleaved_rounds_and_ends_in_done() {
    let (output, events) = run(&QUICK);
    assert!(output.status.success());
    assert!(matches!(
        &events[0],
        Event::Start {
            launch: 2,
            seed: 11,
            resolution_ns: 1..,
            ..
        }
    ));
    assert_eq!(events.last(), Some(&Event::Done));
    assert!(
        events
            .iter()
            .all(|event| !matches!(event, Event::Check(check) if !check.ok))
    );
    let mut arms = HashMap::new();
    let mut blocks: HashMap<(u64, u64), Block> = HashMap::new();
    let mut last_end = 0;
    for event in &events {
        if let Event::Case {
            case, arm, params, ..
        } = event
        {
            arms.insert(
                *case,
                (arm.clone(), params[0].1.to_string().parse::<u64>().unwrap()),
            );
        }
        if let Event::Samples {
            case,
            round,
            position,
            iterations,
            phase,
            t_ns,
            ..
        } = event
        {
            let block = blocks.entry((arms[case].1, *round)).or_default();
            block.push((*case, *position, *iterations, *phase));
            assert!(
                *t_ns >= last_end,
                "samples are emitted in the order they ran"
            );
            last_end = *t_ns;
        }
    }
    assert_eq!(
        blocks.len(),
        2 * (5 + 6),
        "two groups of 5 warm-up and 6 measured rounds"
    );
    for ((_, round), block) in &blocks {
        assert_eq!(
            block.iter().map(|sample| sample.1).collect::<Vec<_>>(),
            [0, 1],
            "both positions"
        );
        assert_ne!(block[0].0, block[1].0, "both arms");
        assert_eq!(block[0].2, block[1].2, "one loop count");
        let phase = if *round < 5 {
            Phase::Warmup
        } else {
            Phase::Measure
        };
        assert!(block.iter().all(|sample| sample.3 == phase));
    }
    for numbers in [1000, 10_000] {
        let measured = |round: &u64| blocks[&(numbers, *round)][0].0.is_multiple_of(2);
        assert_eq!(
            (5..11).filter(measured).count(),
            3,
            "each arm is first in half of the measured rounds"
        );
    }
}

#[test]
fn the_same_seed_runs_in_the_same_order_and_another_does_not() {
    let order = |seed: &str| -> Vec<u64> {
        let (_, events) = run(&[
            "--rounds",
            "20",
            "--min-time-ns",
            "1000",
            "--seed",
            seed,
            "--params",
            "numbers=1",
        ]);
        events
            .iter()
            .filter_map(|event| {
                if let Event::Samples { case, .. } = event {
                    Some(*case)
                } else {
                    None
                }
            })
            .collect()
    };
    assert_eq!(order("5"), order("5"));
    assert_ne!(order("5"), order("6"));
}

#[test]
fn filters_select_cases_and_values_in_range() {
    let (_, events) = run(&[&QUICK[..], &["--case", "sum/iterator/numbers=77"]].concat());
    let cases: Vec<_> = events
        .iter()
        .filter(|event| matches!(event, Event::Case { .. }))
        .collect();
    let [Event::Case { arm, params, .. }] = cases[..] else {
        panic!("{cases:?}")
    };
    assert_eq!(
        (arm.as_str(), params[0].1.to_string().as_str()),
        ("iterator", "77")
    );
}

#[test]
fn a_demonstration_knob_is_in_the_build_facts_and_a_warning() {
    for knob in ["iterator_repeats", "iterator_slowdown_percent"] {
        let setting = format!("{knob}=3");
        let (_, events) = run(&[&QUICK[..], &["--knob", &setting]].concat());
        let Event::Start { build, .. } = &events[0] else {
            panic!("{:?}", events[0])
        };
        assert!(
            build.contains(&(format!("knob.{knob}"), "3".to_owned())),
            "{build:?}"
        );
        assert!(
            events.iter().any(
                |event| matches!(event, Event::Warning { code, .. } if code == "demonstration")
            )
        );
    }
}

#[test]
fn a_wrong_command_line_gives_a_stream_that_ends_in_error() {
    for (args, code) in [
        (&["--rounds", "none"][..], "usage"),
        (&["--params", "size=1"][..], "usage"),
        (&["--params", "numbers=0"][..], "usage"),
        (&["--params", "numbers=+5"][..], "usage"),
        (&["--case", "sum/faster"][..], "usage"),
        (&["--benchmark", "product"][..], "usage"),
        (&["--knob", "iterator_repeats=10"][..], "usage"),
        (&["--knob", "iterator_slowdown_percent=2001"][..], "usage"),
        (&["--knob", "product_slowdown_percent=5"][..], "usage"),
        (
            &["--case", "sum/indexed/numbers=5", "--params", "numbers=6"][..],
            "no_case",
        ),
    ] {
        let (output, events) = run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(
            matches!(&events[..], [Event::Start { .. }, Event::Error { code: found, .. }] if found == code),
            "{args:?}: {events:?}"
        );
    }
}

#[test]
fn a_closed_output_ends_the_workload() {
    let mut child = sum()
        .args(["--rounds", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
