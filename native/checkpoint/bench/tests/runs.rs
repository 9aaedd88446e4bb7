//! The workload as the agent starts it: every benchmark with small sizes, and a killed run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn bench(dir: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paceline-checkpoint-bench"));
    command
        .env("PACELINE_CHECKPOINT_DIR", dir)
        .args(arguments.split(' '));
    command
}

/// The events of a small run, which ends with `done` and whose checks are all ok.
fn events(dir: &Path, arguments: &str) -> Vec<Value> {
    let small = format!("--rounds 1 --warmup-rounds 0 --min-time-ns 0 {arguments}");
    let output = bench(dir, &small).output().expect("started");
    let text = String::from_utf8(output.stdout).expect("text");
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let bad = |event: &&Value| event["type"] == "error" || event["ok"] == false;
    assert_eq!(events.iter().find(bad), None, "{arguments}");
    assert_eq!(
        events.last().expect("events")["type"],
        "done",
        "{arguments}"
    );
    assert!(output.status.success());
    events
}

/// Arms of a benchmark with a sample of a metric, and arms with a reason why they have none.
fn arms_with_and_without(events: &[Value], metric: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let arm = |event: &Value| event["arm"].as_str().expect("an arm").to_owned();
    let cases = events.iter().filter(|event| event["type"] == "case");
    let (without, with): (Vec<&Value>, Vec<&Value>) =
        cases.partition(|case| case["unavailable"].is_string());
    let sampled = |case: &&&Value| {
        let here = |event: &Value| event["case"] == case["case"] && event["metric"] == metric;
        events
            .iter()
            .any(|event| event["type"] == "samples" && here(event))
    };
    let with = with.iter().filter(sampled).map(|case| arm(case)).collect();
    (with, without.into_iter().map(arm).collect())
}

fn names(words: &str) -> BTreeSet<String> {
    words.split(' ').map(str::to_owned).collect()
}

/// Whether the run can mount filesystems of its own: as root, with the programs installed.
fn can_mount(events: &[Value]) -> bool {
    events.iter().any(|event| event["type"] == "samples")
}

#[test]
fn benchmarks_of_the_store_end_with_their_checks_ok_and_leave_nothing() {
    let dir = TempDir::new().expect("a directory");
    for (arguments, metric, arms) in [
        (
            "--benchmark detect --params bands=8",
            "time",
            "scan look events",
        ),
        (
            "--benchmark dirty --params dirty=2 --params writes=3 --params band_kib=64",
            "durable",
            "mtime_blake3 events_clone observed watched tracked bare_append",
        ),
        (
            "--benchmark ageing --params age=0|3 --params band_kib=64",
            "durable",
            "events_clone observed tracked bare_append",
        ),
        (
            "--benchmark growth --params band_kib=64",
            "disk",
            "live events_clone tracked tracked_folded",
        ),
        (
            "--benchmark stall --params band_kib=64",
            "write",
            "quiet events_clone observed tracked",
        ),
        (
            "--benchmark rollback --params band_kib=64",
            "back",
            "copy_back tracked",
        ),
    ] {
        let events = events(dir.path(), &format!("{arguments} --params filesystem=here"));
        assert_eq!(
            arms_with_and_without(&events, metric),
            (names(arms), BTreeSet::new()),
            "{arguments}"
        );
    }
    assert_eq!(
        fs::read_dir(dir.path()).expect("listed").count(),
        0,
        "a run leaves nothing"
    );
}

#[test]
fn the_watchers_time_is_reported_apart_from_hashing_and_it_says_that_events_told_it() {
    let dir = TempDir::new().expect("a directory");
    let small = "--benchmark dirty --params dirty=2 --params band_kib=64 --params filesystem=here";
    let events = events(dir.path(), small);
    let case = events
        .iter()
        .find(|event| event["type"] == "case" && event["arm"] == "watched");
    let case = &case.expect("announced")["case"];
    let took = |metric: &str| {
        let of = |event: &&Value| event["case"] == *case && event["metric"] == metric;
        events
            .iter()
            .find(of)
            .and_then(|event| event["values"][0].as_u64())
            .expect("a sample")
    };
    let told = |event: &Value| event["work"]["told_by_events"].as_u64();
    let all_told: Vec<_> = events
        .iter()
        .filter_map(|event| told(event).map(|told| (&event["case"], told)))
        .collect();
    assert!(!all_told.is_empty() && all_told.iter().all(|(of, told)| *of == case && *told > 0));
    assert!(took("detect") > 0 && took("hash") > 0);
    assert!(took("detect") + took("hash") + took("sync") <= took("durable"));
}

#[test]
fn a_tool_is_measured_after_its_copy_was_compared_or_is_unavailable() {
    let dir = TempDir::new().expect("a directory");
    let small = "--benchmark tools --params bands=8 --params band_kib=64 --params filesystem=here";
    let (with, without) = arms_with_and_without(&events(dir.path(), small), "durable");
    let all = "rsync git borg restic casync btrfs_snapshot btrfs_snapshot_cli cli cli_dirty observed tracked";
    assert_eq!(&with | &without, names(all));
    assert!(with.is_superset(&names("observed tracked")));
}

#[test]
fn a_filesystem_of_the_suite_is_measured_or_its_arms_are_unavailable() {
    let dir = TempDir::new().expect("a directory");
    let small = "--benchmark rollback --params band_kib=64 --params filesystem=ext4";
    let events = events(dir.path(), small);
    let (with, without) = arms_with_and_without(&events, "back");
    let expected = if can_mount(&events) { with } else { without };
    assert_eq!(expected, names("copy_back tracked"));
    assert_eq!(
        fs::read_dir(dir.path()).expect("listed").count(),
        0,
        "a run leaves nothing"
    );
}

/// Loop devices whose file lies below a directory.
fn loops(dir: &Path) -> Vec<String> {
    let dir = dir.to_string_lossy().into_owned();
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices
        .filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    files.filter(|file| file.contains(&dir)).collect()
}

#[test]
fn a_killed_run_leaves_no_mount_and_no_loop_device_and_the_next_one_removes_its_directory() {
    let dir = TempDir::new().expect("a directory");
    let long = "--rounds 1000000 --benchmark ageing --params age=0 --params filesystem=ext4 --params band_kib=64";
    let mut child = bench(dir.path(), long)
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The first sample, or the end, shows whether it can mount.
    let measuring = lines
        .map_while(Result::ok)
        .any(|line| line.contains(r#""type":"samples""#));
    assert_eq!(
        loops(dir.path()).len(),
        usize::from(measuring),
        "one image while it runs"
    );
    child.kill().expect("killed");
    child.wait().expect("gone");
    let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
    assert!(!mounts.contains(&*dir.path().to_string_lossy()), "{mounts}");
    // The kernel detaches once the last page is written, on another thread; a sync waits for pages.
    let synced = || Command::new("sync").status().expect("ran").success();
    assert!(
        (0..100).any(|_| synced() && loops(dir.path()).is_empty()),
        "{:?}",
        loops(dir.path())
    );
    events(
        dir.path(),
        "--benchmark detect --params bands=8 --params filesystem=here",
    );
    assert_eq!(
        fs::read_dir(dir.path()).expect("listed").count(),
        0,
        "what the dead one left is gone"
    );
}
