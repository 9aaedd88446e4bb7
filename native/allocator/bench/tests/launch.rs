//! The workload with its real parts: our library, the system's allocator and the bound, built here
//! by the suite's own script; other people's allocators are left out, which shows what happens to
//! an arm that is not there.
#![allow(
    clippy::unwrap_used,
    reason = "what cannot be read fails the test, which is meant"
)]

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use paceline_harness::reader::Reader;
use paceline_harness::{Event, Phase};

const HERE: &str = env!("CARGO_MANIFEST_DIR");
const THERE: [&str; 4] = ["paceline", "paceline_hardened", "system", "bound"];

/// A folder as `build.sh` makes it, with this build's workload.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allocator-bench");
    let script = Path::new(HERE).join("build.sh");
    let built = Command::new("sh")
        .arg(script)
        .arg("parts")
        .env("OUT", &folder)
        .status()
        .unwrap();
    assert!(built.success(), "build.sh parts failed");
    let program = folder.join("paceline-allocator-bench");
    std::fs::copy(env!("CARGO_BIN_EXE_paceline-allocator-bench"), &program).unwrap();
    folder
});

fn launch(args: &[&str]) -> (Output, Vec<Event>) {
    let program = FOLDER.join("paceline-allocator-bench");
    let output = Command::new(program)
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let events = Reader::new(output.stdout.as_slice())
        .collect::<Result<_, _>>()
        .unwrap();
    (output, events)
}

/// What a subject answers to `lines`, started with `arguments`.
fn subject(library: Option<&str>, arguments: &[&str], lines: &str) -> String {
    let mut command = Command::new(FOLDER.join("subject"));
    if let Some(library) = library {
        command.env(
            "LD_PRELOAD",
            FOLDER.join("lib").join(format!("lib{library}.so")),
        );
    }
    let mut child = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    match child.stdin.take().unwrap().write_all(lines.as_bytes()) {
        // One that refuses a trace says so and leaves; the rest of it has nobody to read it.
        Err(reason) if reason.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written.unwrap(),
    }
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn digest(said: &str) -> u64 {
    said.lines()
        .find_map(|line| line.strip_prefix("state "))
        .unwrap()
        .parse()
        .unwrap()
}

/// The draws of `random_mixed`, by the rules of the README and without an allocator: stamps of live slots.
fn model(
    seed_state: u32,
    slots: usize,
    times: u64,
    independent: bool,
) -> (u32, Vec<Option<(u8, u32)>>) {
    let draw = |mut x: u32| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^ x << 5
    };
    let (mut state, mut table) = (seed_state, vec![None; slots]);
    for _ in 0..times {
        state = draw(state);
        let slot = state as usize & (slots - 1);
        state = if independent { draw(state) } else { state };
        let size = 16 + ((if independent { state >> 11 } else { state }) & 1023);
        table[slot] = match table[slot] {
            Some(_) => None,
            None => Some((u8::try_from(state & 0xff).unwrap(), size)),
        };
    }
    (state, table)
}

fn fnv(hash: u64, value: u64) -> u64 {
    value.to_le_bytes().iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Which arms `suite.toml` gives a benchmark.
fn arms_of_the_manifest(benchmark: &str) -> HashSet<String> {
    let manifest = std::fs::read_to_string(Path::new(HERE).join("../suite.toml")).unwrap();
    let header = format!("[benchmarks.{benchmark}]\n");
    let table = manifest.split_once(&header).unwrap().1;
    let list = table.split_once("\narms = [").unwrap().1;
    let names = list
        .split_once(']')
        .unwrap()
        .0
        .split('"')
        .skip(1)
        .step_by(2);
    names.map(ToOwned::to_owned).collect()
}

#[test]
fn a_launch_measures_every_arm_that_is_there_in_interleaved_rounds_and_says_why_the_others_are_not()
{
    let quick = [
        "--rounds",
        "2",
        "--warmup-rounds",
        "1",
        "--seed",
        "5",
        "--launch",
        "3",
    ];
    let mixed = [
        "--benchmark",
        "random_mixed",
        "--params",
        "working_set=256",
        "--params",
        "mode=compat",
    ];
    let (output, events) =
        launch(&[&quick[..], &mixed, &["--params", "setup=preload|direct"]].concat());
    assert!(output.status.success());
    assert_eq!(events.last(), Some(&Event::Done));
    let (mut arms, mut missing, mut blocks) = (HashMap::new(), HashSet::new(), HashMap::new());
    let mut metrics = HashMap::new();
    for event in &events {
        match event {
            Event::Case {
                case,
                arm,
                unavailable: None,
                params,
                ..
            } => {
                arms.insert(*case, (arm.clone(), params.clone()));
            }
            Event::Case {
                arm,
                unavailable: Some(reason),
                ..
            } => {
                assert!(reason.contains("was not built"), "{reason}");
                missing.insert(arm.clone());
            }
            Event::Samples {
                case,
                metric,
                values,
                iterations,
                round,
                position,
                phase,
                ..
            } => {
                let (arm, params) = &arms[case];
                *metrics.entry(metric.clone()).or_insert(0) += values.len();
                if metric == "time" {
                    assert_eq!(
                        (*iterations, *phase == Phase::Measure),
                        (500_000, *round >= 1)
                    );
                    let key = (params.clone().last().unwrap().1.to_string(), *round);
                    blocks
                        .entry(key)
                        .or_insert_with(Vec::new)
                        .push((*position, arm.clone()));
                }
            }
            Event::Check(check) => assert!(check.ok, "{check:?}"),
            _ => {}
        }
    }
    let mut others = arms_of_the_manifest("random_mixed");
    others.retain(|arm| !THERE.contains(&arm.as_str()));
    assert_eq!(missing, others);
    assert_eq!(blocks.len(), 2 * 3, "two ways, three rounds");
    for block in blocks.values() {
        let names: HashSet<&str> = block.iter().map(|(_, arm)| arm.as_str()).collect();
        assert_eq!(names, HashSet::from(THERE), "every arm once in a round");
    }
    let cases = 2 * THERE.len();
    assert_eq!(metrics["chunk_time"], cases * 3 * 10, "every chunk is kept");
    for once in ["chunk_q10", "page_faults"] {
        assert_eq!(metrics[once], cases, "{once}: one value a launch");
    }
    for each in ["throughput", "op_p50", "op_p99", "rss_peak"] {
        assert_eq!(metrics[each], cases * 3, "{each}: one value a round");
    }
}

#[test]
fn every_trace_and_every_scenario_ends_with_equal_digests_in_all_arms() {
    let filters: [&[&str]; 4] = [
        &[
            "--benchmark",
            "churn",
            "--benchmark",
            "replay",
            "--benchmark",
            "realloc_growth",
        ],
        &["--benchmark", "server", "--benchmark", "producer_consumer"],
        &[
            "--benchmark",
            "fragmentation",
            "--benchmark",
            "everything_freed",
            "--params",
            "bytes=2097152",
            "--params",
            "idle_ms=0",
        ],
        &[
            "--case",
            "random_mixed_threads/system/working_set=256,mode=compat,remote_percent=50",
            "--case",
            "random_mixed_threads/paceline/working_set=256,mode=compat,remote_percent=50",
        ],
    ];
    for filter in filters {
        let (output, events) =
            launch(&[&["--rounds", "1", "--warmup-rounds", "1"], filter].concat());
        assert!(output.status.success(), "{filter:?}: {:?}", events.last());
        let checks = events.iter().filter_map(|event| match event {
            Event::Check(check) if check.name == "same_operations" => Some(check),
            _ => None,
        });
        let checks: Vec<_> = checks.collect();
        assert!(
            !checks.is_empty() && checks.iter().all(|check| check.ok),
            "{checks:?}"
        );
    }
}

#[test]
fn the_operations_are_those_of_the_model_whatever_the_allocator() {
    for (independent, slots) in [(false, 64), (true, 64), (false, 8192), (true, 2048)] {
        let seed = 11_u64;
        let first = u32::try_from(fnv(fnv(FNV_START, seed), 0) & 0xffff_ffff).unwrap() | 1;
        let (state, table) = model(first, slots, 300_000, independent);
        let live = table
            .iter()
            .enumerate()
            .filter_map(|(slot, object)| Some((slot, (*object)?.0)));
        let lane = live.fold(fnv(FNV_START, u64::from(state)), |hash, (slot, stamp)| {
            fnv(fnv(hash, slot as u64), u64::from(stamp))
        });
        let expected = fnv(FNV_START, lane);
        let arguments = format!(
            "random_mixed --seed {seed} --slots {slots} --independent {}",
            u8::from(independent)
        );
        let arguments: Vec<&str> = arguments.split(' ').collect();
        for library in [None, Some("paceline"), Some("bound")] {
            let said = subject(library, &arguments, "round 10 20000 100000 0\nstate\n");
            assert_eq!(digest(&said), expected, "{library:?} {arguments:?}");
        }
    }
}

#[test]
fn compat_never_drifts_for_a_slots_objects_keep_their_size() {
    for slots in [1024_usize, 8192, 65_536] {
        let (_, table) = model(12345, slots, 2_000_000, false);
        for (slot, object) in table.iter().enumerate() {
            if let Some((_, size)) = object {
                assert_eq!(*size as usize, 16 + (slot & 1023), "{slots} slots");
            }
        }
    }
    let (_, table) = model(12345, 256, 2_000_000, false);
    assert!(table.iter().enumerate().all(|(slot, object)| {
        object.is_none_or(|(_, size)| (size as usize - 16) & 255 == slot)
    }));
}

#[test]
fn an_allocator_that_hands_out_memory_twice_fails_the_check() {
    let source = FOLDER.join("twice.c");
    // Every sixteenth object of the system's is given to two callers.
    std::fs::write(
        &source,
        "#include <stddef.h>\nextern void *__libc_malloc(size_t);\nvoid *malloc(size_t n) {\n  \
         static void *last; static unsigned calls; static size_t room;\n  \
         if (++calls % 16 == 0 && last && n <= room) return last;\n  \
         last = __libc_malloc(n); room = n; return last;\n}\nvoid free(void *p) { (void)p; }\n",
    )
    .unwrap();
    let library = FOLDER.join("lib").join("libtwice.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut built = Command::new(compiler);
    built
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source);
    assert!(built.status().unwrap().success());
    assert!(!subject(Some("twice"), &["check", "--seed", "7"], "").contains("intact"));
    std::fs::remove_file(library).unwrap();
    assert_eq!(
        subject(Some("paceline"), &["check", "--seed", "7"], ""),
        "intact\n"
    );
}

#[test]
fn a_recorded_trace_replays_and_a_broken_one_is_refused() {
    let trace = FOLDER.join("recorded.trace");
    let _ = std::fs::remove_file(&trace);
    let recorder = FOLDER.join("lib").join("libpaceline_trace.so");
    let mut program = Command::new(FOLDER.join("subject"));
    program
        .args(["check", "--seed", "3"])
        .env("LD_PRELOAD", recorder);
    program
        .env("PACELINE_TRACE_FILE", &trace)
        .env("PACELINE_TRACE_EVENTS", "30000");
    assert_eq!(
        program.output().unwrap().stdout,
        b"intact\n",
        "recording changes nothing"
    );
    let bytes = std::fs::read(&trace).unwrap();
    let events = u32::from_le_bytes(bytes[12..16].try_into().unwrap());
    assert!(
        (30_000..30_003).contains(&events),
        "{events}: up to the limit"
    );
    let path = trace.to_string_lossy().into_owned();
    let replay = |path: &str| {
        subject(
            Some("paceline"),
            &["replay", "--trace", path],
            "round 1 2 0 0\nstate\n",
        )
    };
    let said = replay(&path);
    assert_eq!(
        digest(&said),
        digest(&subject(
            None,
            &["replay", "--trace", &path],
            "round 1 2 0 0\nstate\n"
        ))
    );
    for (at, name) in [(0, "magic"), (8, "objects"), (bytes.len() - 1, "end")] {
        let mut broken = bytes.clone();
        if name == "objects" {
            broken[at..at + 4].fill(0);
        } else {
            broken[at] = 0xff;
        }
        let file = FOLDER.join(format!("{name}.trace"));
        std::fs::write(&file, broken).unwrap();
        assert!(!replay(&file.to_string_lossy()).contains("state"), "{name}");
    }
}

#[test]
fn a_subject_that_uses_another_allocator_than_it_should_ends_the_launch() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allocator-wrong");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("lib")).unwrap();
    for name in ["subject", "paceline-allocator-bench"] {
        std::fs::copy(FOLDER.join(name), folder.join(name)).unwrap();
    }
    // A library without a malloc: preloaded, it changes nothing.
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let (source, library) = (
        folder.join("empty.c"),
        folder.join("lib").join("libmimalloc.so"),
    );
    std::fs::write(&source, "int paceline_nothing;\n").unwrap();
    let mut built = Command::new(compiler);
    assert!(
        built
            .args(["-shared", "-o"])
            .arg(library)
            .arg(source)
            .status()
            .unwrap()
            .success()
    );
    let args = [
        "--benchmark",
        "random_mixed",
        "--params",
        "working_set=64",
        "--rounds",
        "1",
    ];
    let output = Command::new(folder.join("paceline-allocator-bench"))
        .args(args)
        .output()
        .unwrap();
    let events: Vec<Event> = Reader::new(output.stdout.as_slice())
        .collect::<Result<_, _>>()
        .unwrap();
    let Some(Event::Error { code, text }) = events.last() else {
        panic!("{:?}", events.last())
    };
    assert_eq!(code, "wrong_allocator");
    assert!(text.starts_with("mimalloc: malloc comes from"), "{text}");
}

#[test]
fn the_manifest_and_the_workload_name_the_same_cases() {
    let (_, listed) = {
        let program = FOLDER.join("paceline-allocator-bench");
        let output = Command::new(program).arg("--list").output().unwrap();
        (
            output.status,
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap(),
        )
    };
    let manifest = std::fs::read_to_string(Path::new(HERE).join("../suite.toml")).unwrap();
    for case in listed["cases"].as_array().unwrap() {
        let (benchmark, arm) = (
            case["benchmark"].as_str().unwrap(),
            case["arm"].as_str().unwrap(),
        );
        assert!(
            manifest.contains(&format!("[benchmarks.{benchmark}]\n")),
            "{benchmark}"
        );
        assert!(manifest.contains(&format!("\"{arm}\"")), "{arm}");
        for metric in case["metrics"].as_array().unwrap() {
            let name = metric["name"].as_str().unwrap();
            assert!(
                manifest.contains(&format!("metrics.{name} = {{ unit = {}", metric["unit"])),
                "{name}"
            );
        }
        for (param, value) in case["params"].as_object().unwrap() {
            assert!(manifest.contains(&format!("params.{param} = ")), "{param}");
            let value = serde_json::from_value::<String>(value.clone())
                .map_or(value.to_string(), |text| text);
            assert!(manifest.contains(&value), "{param} = {value}");
        }
    }
}

/// A launch with nothing to be found but what the suite's own script needs, and these programs.
fn launch_where(name: &str, installed: &[(&str, &str)], args: &[&str]) -> Vec<Event> {
    let bin = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&bin);
    std::fs::create_dir_all(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for tool in ["sh", "awk", "sed", "dirname"] {
        let mut found = std::env::split_paths(&path)
            .map(|at| at.join(tool))
            .filter(|file| file.exists());
        std::os::unix::fs::symlink(found.next().unwrap(), bin.join(tool)).unwrap();
    }
    for (program, script) in installed {
        std::fs::write(bin.join(program), script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join(program), mode).unwrap();
    }
    let mut workload = Command::new(FOLDER.join("paceline-allocator-bench"));
    let output = workload
        .args(args)
        .args(["--rounds", "1", "--warmup-rounds", "1"])
        .env("PATH", bin)
        .output();
    Reader::new(output.unwrap().stdout.as_slice())
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn real_programs_are_run_by_every_arm_and_must_say_the_same() {
    let args = [
        "--benchmark",
        "programs",
        "--params",
        "program=perl",
        "--params",
        "percent=1",
    ];
    let said = |events: &[Event]| {
        let mut checks = events.iter().filter_map(|event| match event {
            Event::Check(check) if check.name == "same_operations" => {
                Some((check.ok, check.detail.clone()))
            }
            _ => None,
        });
        checks.next_back().unwrap()
    };
    let timed = |events: &[Event]| {
        let times = events.iter().filter(|event| match event {
            Event::Samples { metric, values, .. } => metric == "time" && values[0] > 0,
            _ => false,
        });
        times.count()
    };
    let honest = launch_where("honest", &[("perl", "#!/bin/sh\necho the same\n")], &args);
    assert_eq!(
        (said(&honest), timed(&honest)),
        ((true, "6 runs of programs".to_owned()), 6)
    );
    // One that says whose malloc it has.
    let other = launch_where(
        "other",
        &[("perl", "#!/bin/sh\necho \"$LD_PRELOAD\"\n")],
        &args,
    );
    let (ok, detail) = said(&other);
    assert!(
        !ok && detail.contains("perl under") && detail.contains("says something else"),
        "{detail}"
    );
    let failing = launch_where("failing", &[("perl", "#!/bin/sh\nexit 3\n")], &args);
    assert!(
        matches!(failing.last(), Some(Event::Error { code, .. }) if code == "program_failed"),
        "{:?}",
        failing.last()
    );
}

#[test]
fn a_program_that_is_not_installed_is_said_and_not_measured() {
    for (args, reason) in [
        (
            ["--benchmark", "programs", "--params", "program=perl"],
            "not installed here: perl",
        ),
        (
            ["--benchmark", "multithreaded", "--params", "load=redis"],
            "not installed here: redis",
        ),
    ] {
        let events = launch_where("nothing", &[], &args);
        let reasons = events.iter().filter_map(|event| match event {
            Event::Case {
                arm, unavailable, ..
            } if THERE.contains(&arm.as_str()) => unavailable.clone(),
            _ => None,
        });
        assert_eq!(reasons.collect::<Vec<_>>(), [reason; 3]);
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, Event::Samples { .. }))
        );
        assert_eq!(events.last(), Some(&Event::Done));
    }
}

#[test]
fn a_trace_that_is_put_beside_the_others_is_one_of_them() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allocator-traces");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("traces")).unwrap();
    std::fs::copy(FOLDER.join("subject"), folder.join("subject")).unwrap();
    let program = folder.join("paceline-allocator-bench");
    std::fs::copy(env!("CARGO_BIN_EXE_paceline-allocator-bench"), &program).unwrap();
    for name in ["own_one.trace", "Not-A-Name.trace", "notes.txt"] {
        std::fs::copy(
            FOLDER.join("traces").join("git.trace"),
            folder.join("traces").join(name),
        )
        .unwrap();
    }
    let asked = |trace: &str| {
        let trace = format!("trace={trace}");
        let args = [
            "--benchmark",
            "replay",
            "--params",
            &trace,
            "--rounds",
            "1",
            "--warmup-rounds",
            "1",
        ];
        let output = Command::new(&program).args(args).output().unwrap();
        Reader::new(output.stdout.as_slice())
            .collect::<Result<Vec<Event>, _>>()
            .unwrap()
    };
    assert_eq!(asked("own_one").last(), Some(&Event::Done));
    let refused = asked("git");
    assert!(
        matches!(refused.last(), Some(Event::Error { code, .. }) if code == "usage"),
        "{refused:?}"
    );
}
