//! The golden vectors of `native/protocol/vectors`, which every reader and every harness is held
//! by.
#![allow(
    clippy::unwrap_used,
    reason = "a vector that cannot be read fails the test, which is meant"
)]

use std::fs;
use std::path::{Path, PathBuf};

use paceline_harness::event::Params;
use paceline_harness::order::{Order, key};
use paceline_harness::reader::{ReadError, Reader};
use paceline_harness::{Event, Phase, Value};
use serde_json::{Value as Json, json};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/vectors")
}

fn json_of(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The stream of a vector: its file, or what its directive stands for.
fn stream(name: &str) -> Vec<u8> {
    let file = vectors().join(format!("{name}.jsonl"));
    if file.exists() {
        return fs::read(file).unwrap();
    }
    let directive = json_of(&vectors().join(format!("{name}.generate.json")));
    let lines = |field: &str| -> Vec<String> {
        let lines = directive[field].as_array().cloned().unwrap_or_default();
        lines
            .iter()
            .map(|line| line.as_str().unwrap().to_owned())
            .collect()
    };
    let (head, tail) = (r#"{"type":"warning","code":"padding","text":""#, r#""}"#);
    let bytes = usize::try_from(directive["line_bytes"].as_u64().unwrap()).unwrap();
    let giant = format!(
        "{head}{}{tail}",
        "x".repeat(bytes - head.len() - tail.len())
    );
    let all = [lines("prefix_lines"), vec![giant], lines("suffix_lines")].concat();
    all.iter()
        .flat_map(|line| [line.as_bytes(), b"\n"].concat())
        .collect()
}

/// What this crate's reader says about a stream, in the words of `*.expect.json`.
fn verdict(stream: &[u8]) -> Json {
    let (mut cases, mut samples, mut warnings, mut checks) = (0, 0, 0, 0);
    let (mut terminal, mut fault) = (Json::Null, Json::Null);
    for event in Reader::new(stream) {
        match event {
            Ok(Event::Case { .. }) => cases += 1,
            Ok(Event::Samples { .. }) => samples += 1,
            Ok(Event::Warning { .. }) => warnings += 1,
            Ok(Event::Check(_)) => checks += 1,
            Ok(Event::Done) => terminal = json!("done"),
            Ok(Event::Error { .. }) => terminal = json!("error"),
            Ok(Event::Start { .. } | Event::Progress { .. }) => {}
            Err(ReadError::Fault(found)) => {
                fault = json!({"code": found.code.wire(), "line": found.line});
            }
            Err(ReadError::Io(error)) => panic!("{error}"),
        }
    }
    json!({
        "ok": fault.is_null(), "fault": fault, "cases": cases, "samples": samples, "warnings": warnings,
        "checks": checks, "terminal": terminal,
    })
}

#[test]
fn every_vector_reads_as_expected() {
    let mut names: Vec<String> = fs::read_dir(vectors())
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".expect.json")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    assert!(names.len() >= 20, "vectors are missing: {names:?}");
    let wrong: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let expected = json_of(&vectors().join(format!("{name}.expect.json")));
            let actual = verdict(&stream(name));
            (actual != expected)
                .then(|| format!("{name}\n  expected {expected}\n  actual   {actual}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn orders_are_those_of_the_golden_file() {
    let groups = json_of(&vectors().join("interleaving.golden.json"));
    let groups = groups.as_array().unwrap();
    assert!(!groups.is_empty());
    for group in groups {
        let phase = if group["phase"] == "measure" {
            Phase::Measure
        } else {
            Phase::Warmup
        };
        let params: Params = group["params"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| {
                let text = || Value::Text(value.as_str().unwrap().to_owned());
                (name.clone(), value.as_u64().map_or_else(text, Value::Int))
            })
            .collect();
        let key = key(phase, group["benchmark"].as_str().unwrap(), &params);
        assert_eq!(key, group["key"].as_str().unwrap());
        let arms = usize::try_from(group["arms"].as_u64().unwrap()).unwrap();
        let mut order = Order::new(group["seed"].as_u64().unwrap(), &key, arms);
        for expected in group["orders"].as_array().unwrap() {
            assert_eq!(json!(order.next_round()), *expected, "{key}");
        }
    }
}
