//! `export` and `import` as a process, through a file and through a pipe.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_paceline-checkpoint"))
}

fn run(root: &Path, arguments: &[&str]) -> Output {
    program()
        .args(arguments)
        .current_dir(root)
        .output()
        .expect("it starts")
}

fn run_ok(root: &Path, arguments: &[&str]) -> String {
    let output = run(root, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// `bands` with two bands, one of them mostly holes, and a store with a second checkpoint.
fn ready() -> TempDir {
    let root = TempDir::new().expect("a directory");
    let dir = root.path().join("bands");
    fs::create_dir(&dir).expect("created");
    fs::write(dir.join("0"), vec![5; 100_000]).expect("written");
    File::create(dir.join("1"))
        .and_then(|file| file.set_len(1 << 20))
        .expect("a hole");
    run_ok(root.path(), &["init", "bands"]);
    fs::write(dir.join("0"), vec![6; 100_000]).expect("written");
    run_ok(root.path(), &["checkpoint", "bands", "second"]);
    root
}

#[test]
fn a_checkpoint_moves_as_a_file() {
    let root = ready();
    let output = run_ok(root.path(), &["export", "bands", "second", "second.tar"]);
    assert!(
        output.contains("2 bands, 1.1 MiB, of which 97.7 KiB are not zeros"),
        "{output}"
    );
    let output = run_ok(root.path(), &["import", "copy", "second.tar"]);
    assert!(output.starts_with("2 bands kept as \"second\""), "{output}");
    assert_eq!(
        fs::read(root.path().join("copy/0")).expect("there"),
        vec![6; 100_000]
    );
    let bands = |dir: &str| run_ok(root.path(), &["bands", dir, "second"]);
    assert_eq!(bands("copy"), bands("bands"));
    assert!(run_ok(root.path(), &["verify", "copy"]).starts_with("good  second"));
    assert!(run_ok(root.path(), &["status", "copy"]).contains("2 bands"));
}

#[test]
fn a_checkpoint_moves_through_a_pipe_of_two_processes() {
    let root = ready();
    let mut from = program()
        .args(["export", "bands", "first", "-"])
        .current_dir(&root)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pipe = Stdio::from(from.stdout.take().expect("piped"));
    let to = program()
        .args(["import", "copy", "-"])
        .current_dir(&root)
        .stdin(pipe)
        .output()
        .expect("it starts");
    let from = from.wait_with_output().expect("it ends");
    assert!(
        from.status.success() && to.status.success(),
        "{}",
        String::from_utf8_lossy(&to.stderr)
    );
    assert!(String::from_utf8_lossy(&from.stderr).starts_with("\"first\": 2 bands"));
    assert_eq!(
        fs::read(root.path().join("copy/0")).expect("there"),
        vec![5; 100_000]
    );
}

#[test]
fn impossible_requests_are_explained_and_leave_nothing() {
    let root = ready();
    run_ok(root.path(), &["export", "bands", "first", "good.tar"]);
    let mut bytes = fs::read(root.path().join("good.tar")).expect("there");
    bytes[3000] ^= 1;
    fs::write(root.path().join("bad.tar"), &bytes).expect("written");
    let left = || {
        let names = fs::read_dir(&root)
            .expect("listed")
            .map(|entry| entry.expect("readable").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let before = left();
    for (arguments, expected) in [
        (
            ["import", "copy", "bad.tar"].as_slice(),
            "band 0 of the archive has another id",
        ),
        (&["import", "copy", "none.tar"], "check the path"),
        (
            &["import", "bands", "good.tar"],
            "a checkpoint is already named \"first\"",
        ),
        (
            &["import", "copy", "good.tar", "--as", "x"],
            "leave `--as` out",
        ),
        (
            &["export", "bands", "first", "good.tar"],
            "no file is replaced",
        ),
        (&["export", "bands", "third", "third.tar"], "third"),
        (
            &["export", "bands", "first", "none/first.tar"],
            "check the path",
        ),
    ] {
        let output = run(root.path(), arguments);
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {why}");
        assert!(
            why.starts_with("paceline-checkpoint: ") && why.contains(expected),
            "{arguments:?}: {why}"
        );
        assert_eq!(left(), before, "{arguments:?}");
    }
}

#[test]
fn an_archive_is_added_to_an_existing_store() {
    let root = ready();
    run_ok(root.path(), &["export", "bands", "first", "first.tar"]);
    run_ok(root.path(), &["import", "copy", "first.tar"]);
    fs::write(root.path().join("copy/0"), vec![8; 70_000]).expect("written");
    fs::write(root.path().join("copy/2"), b"new").expect("written");
    run_ok(root.path(), &["checkpoint", "copy", "own"]);
    run_ok(root.path(), &["export", "copy", "own", "own.tar"]);
    let output = run_ok(
        root.path(),
        &["import", "bands", "own.tar", "--as", "theirs"],
    );
    assert!(
        output.starts_with("\"theirs\" is kept (epoch 3): 2 bands changed"),
        "{output}"
    );
    assert_eq!(
        fs::read(root.path().join("bands/0")).expect("there"),
        vec![6; 100_000],
        "live stays"
    );
    assert!(run_ok(root.path(), &["verify", "bands"]).contains("good  theirs: 3 bands"));
    run_ok(root.path(), &["rollback", "bands", "theirs"]);
    assert_eq!(
        fs::read(root.path().join("bands/0")).expect("there"),
        vec![8; 70_000]
    );
    assert_eq!(
        fs::read(root.path().join("bands/2")).expect("there"),
        b"new"
    );
}
