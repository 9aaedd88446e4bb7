//! `watch` as a process: written to, read line by line, and stopped.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use paceline_checkpoint::disk::{Access, Disk, RealDisk};
use serde_json::Value;
use tempfile::TempDir;

fn program(arguments: &[&str], dir: &Path, after: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paceline-checkpoint"));
    command.args(arguments).arg(dir).args(after);
    command
}

fn run_ok(arguments: &[&str], dir: &Path) -> String {
    let output = program(arguments, dir, &[]).output().expect("it starts");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_change_is_kept_and_the_oldest_checkpoints_are_pruned() {
    const CHANGES: u8 = 6;
    let root = TempDir::new().expect("a directory");
    let dir = root.path().join("bands");
    fs::create_dir(&dir).expect("created");
    fs::write(dir.join("0"), vec![0; 300_000]).expect("written");
    run_ok(&["init"], &dir);
    let write = |value: u8| {
        let band = RealDisk.open(&dir.join("0"), Access::Write).expect("open");
        band.write_at(&[value; 4096], u64::from(value) * 8192)
            .expect("written");
    };
    write(1); // before it looks for the first time
    let count = CHANGES.to_string();
    let pace = [
        "--every", "0s", "--count", &count, "--keep", "2", "--prefix", "auto-",
    ];
    let mut watch = program(&["--json", "watch"], &dir, &pace)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("piped")).lines();
    let mut names = Vec::new();
    for change in 1..=CHANGES {
        let line = lines
            .next()
            .expect("a line for every change")
            .expect("text");
        let taken: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(taken["checkpoint"]["bands"], 1, "{line}");
        names.push(
            taken["checkpoint"]["name"]
                .as_str()
                .expect("a name")
                .to_owned(),
        );
        if change < CHANGES {
            if change == 3 {
                // It holds the store, but `status` still works.
                let status: Value =
                    serde_json::from_str(&run_ok(&["--json", "status"], &dir)).expect("JSON");
                assert!(
                    status["work"]["trees"].is_u64() && status["epoch"].as_u64() >= Some(3),
                    "{status}"
                );
                let list = program(&["list"], &dir, &[]).output().expect("it starts");
                assert!(
                    String::from_utf8_lossy(&list.stderr)
                        .contains("another process has this store open")
                );
            }
            write(change + 1);
        }
    }
    assert!(watch.wait().expect("it ends").success());
    assert!(
        run_ok(&["status"], &dir).contains("1 band"),
        "it is no longer held"
    );
    assert!(
        names.iter().all(|name| name.starts_with("auto-")),
        "{names:?}"
    );
    let kept: Value = serde_json::from_str(&run_ok(&["--json", "list"], &dir)).expect("JSON");
    let kept: Vec<&str> = kept
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|checkpoint| checkpoint["name"].as_str())
        .collect();
    // The last one was taken as it ended; pruning comes with the next one.
    let last: Vec<&str> = names[names.len() - 3..]
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(kept, [&["first"], last.as_slice()].concat());
    let last = program(&["bands"], &dir, &[names[names.len() - 1].as_str()])
        .output()
        .expect("it starts");
    let plain = blake3::hash(&fs::read(dir.join("0")).expect("there")).to_hex();
    assert_eq!(
        String::from_utf8_lossy(&last.stdout),
        format!("{plain}  0\n")
    );
}

#[test]
fn watching_the_impossible_is_refused_with_a_reason() {
    let root = TempDir::new().expect("a directory");
    let output = program(&["watch"], &root.path().join("none"), &[])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no store"));
}
