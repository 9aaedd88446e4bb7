//! Every command as a process on a real directory, and its messages when it refuses.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use paceline_checkpoint::disk::{Access, Disk, RealDisk};
use serde_json::Value;
use tempfile::TempDir;

const BAND: usize = 1 << 20;

/// `bands` with three bands, and a store.
fn store_of_three_bands() -> (TempDir, std::path::PathBuf) {
    let root = TempDir::new().expect("a directory");
    let dir = root.path().join("bands");
    fs::create_dir(&dir).expect("created");
    for (name, fill) in [("0", 1), ("1", 2), ("2a", 3)] {
        fs::write(dir.join(name), vec![fill; BAND]).expect("written");
    }
    run_ok(&dir, &["init"], &["first"]);
    (root, dir)
}

fn run(dir: &Path, before: &[&str], after: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_paceline-checkpoint"))
        .args(before)
        .arg(dir)
        .args(after)
        .output()
        .expect("it starts")
}

fn run_ok(dir: &Path, before: &[&str], after: &[&str]) -> String {
    let output = run(dir, before, after);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

fn json(dir: &Path, command: &str, after: &[&str]) -> Value {
    serde_json::from_str(&run_ok(dir, &["--json", command], after)).expect("JSON")
}

#[test]
fn a_state_is_kept_compared_and_brought_back() {
    let (_root, dir) = store_of_three_bands();
    fs::write(dir.join("1"), vec![9; BAND]).expect("written");
    fs::write(dir.join("3"), b"short").expect("written");
    let status = run_ok(&dir, &["status"], &[]);
    assert!(
        status.contains("  1: ") && status.contains("  3: "),
        "{status}"
    );
    assert!(run_ok(&dir, &["checkpoint"], &["upgrade"]).contains("2 bands changed"));
    let differences = run_ok(&dir, &["diff"], &["first", "upgrade"]);
    assert!(
        differences.contains("changed  1") && differences.contains("added    3"),
        "{differences}"
    );
    fs::write(dir.join("0"), b"a mistake").expect("written");
    let back = run_ok(&dir, &["rollback"], &["first"]);
    assert!(back.contains("before-rollback-"), "{back}");
    assert_eq!(fs::read(dir.join("0")).expect("there"), vec![1; BAND]);
    assert_eq!(fs::read(dir.join("1")).expect("there"), vec![2; BAND]);
    assert!(!dir.join("3").exists());
    let kept = json(&dir, "list", &[]);
    let names: Vec<&str> = kept
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names[..2], ["first", "upgrade"]);
    assert_eq!(names.len(), 3);
    let replaced = names[2];
    run_ok(&dir, &["rollback"], &[replaced]);
    assert_eq!(fs::read(dir.join("0")).expect("there"), b"a mistake");
}

#[test]
fn ids_are_those_of_the_plain_bytes() {
    let (_root, dir) = store_of_three_bands();
    let plain = blake3::hash(&vec![1; BAND]).to_hex();
    let listed = run_ok(&dir, &["bands"], &["first"]);
    assert_eq!(
        listed.lines().next(),
        Some(format!("{plain}  0").as_str()),
        "as b3sum writes it"
    );
    let ids = json(&dir, "bands", &["first"]);
    assert_eq!(
        (ids[0]["id"].as_str(), ids[0]["size"].as_u64()),
        (Some(plain.as_str()), Some(BAND as u64))
    );
}

#[test]
fn the_next_fold_removes_pruned_checkpoints() {
    let (_root, dir) = store_of_three_bands();
    fs::write(dir.join("2a"), vec![7; BAND]).expect("written");
    run_ok(&dir, &["checkpoint"], &["second"]);
    run_ok(&dir, &["prune"], &["first"]);
    let folded = json(&dir, "fold", &[]);
    assert_eq!(folded["bands"], 1);
    assert_eq!(json(&dir, "list", &[])[0]["name"], "second");
    assert_eq!(run_ok(&dir, &["gc"], &[]), "0 files removed\n");
    assert!(run_ok(&dir, &["verify"], &[]).starts_with("good  second: 3 bands, 3.0 MiB"));
}

#[test]
fn a_compaction_frees_what_was_given_up_behind_the_oldest_checkpoint() {
    let (_root, dir) = store_of_three_bands();
    for (name, fill) in [("second", 7), ("third", 8)] {
        fs::write(dir.join("2a"), vec![fill; BAND]).expect("written");
        run_ok(&dir, &["checkpoint"], &[name]);
    }
    run_ok(&dir, &["prune"], &["second"]);
    let compacted = json(&dir, "compact", &[]);
    let bytes = |key: &str| compacted[key].as_u64().expect("bytes");
    let band = BAND as u64;
    assert!(bytes("before_bytes") > 2 * band, "{compacted}");
    assert!(bytes("after_bytes") < band + 100_000, "{compacted}");
    let kept = json(&dir, "list", &[]);
    assert_eq!([&kept[0]["name"], &kept[1]["name"]], ["first", "third"]);
    let verified = run_ok(&dir, &["verify"], &[]);
    assert_eq!(verified.matches("good").count(), 2, "{verified}");
    assert!(run_ok(&dir, &["compact"], &[]).starts_with("the log has"));
}

#[test]
fn damage_is_named_and_has_its_own_exit_status() {
    let (root, dir) = store_of_three_bands();
    let base = root.path().join("bands.paceline/base");
    let file = fs::read_dir(&base)
        .expect("a base")
        .next()
        .expect("a file")
        .expect("readable")
        .path();
    fs::write(&file, vec![0; BAND]).expect("damaged");
    let output = run(&dir, &["verify"], &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("DAMAGED  first"));
}

#[test]
fn a_refusal_says_what_to_do_and_changes_nothing() {
    let (root, dir) = store_of_three_bands();
    for (before, after, expected) in [
        (vec!["init"], vec!["again"], "there is a store already"),
        (vec!["rollback"], vec!["nothing-of-it"], "nothing-of-it"),
        (vec!["checkpoint"], vec!["first"], "first"),
        (vec!["checkpoint"], vec![" blank"], " blank"),
        (vec!["prune"], vec!["first", "other"], "other"),
    ] {
        let output = run(&dir, &before, &after);
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{before:?}: {why}");
        assert!(
            why.starts_with("paceline-checkpoint: ") && why.contains(expected),
            "{before:?}: {why}"
        );
        assert!(why.contains("; "), "advice follows: {why}");
    }
    assert_eq!(json(&dir, "list", &[]).as_array().expect("a list").len(), 1);
    let none = run(&root.path().join("elsewhere"), &["status"], &[]);
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn mapped_and_all_exclude_each_other() {
    let (_root, dir) = store_of_three_bands();
    fs::write(dir.join("1"), vec![9; BAND]).expect("written");
    assert!(run_ok(&dir, &["checkpoint", "--mapped"], &["second"]).contains("1 band changed"));
    let both = run(&dir, &["checkpoint", "--mapped", "--all"], &["third"]);
    assert_eq!(
        both.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&both.stderr)
    );
}

#[test]
fn only_reported_ranges_of_a_band_are_read() {
    let (_root, dir) = store_of_three_bands();
    let write = |band: &str, bytes: &[u8], offset: u64| {
        let file = RealDisk.open(&dir.join(band), Access::Write).expect("open");
        file.write_at(bytes, offset).expect("written");
    };
    write("1", &vec![9; 20_000], 30_000);
    write("2a", &[8; 5], 16_380);
    write("0", b"nobody says this", 500_000);
    let options = [
        "--json",
        "checkpoint",
        "--dirty",
        "1@30000+20000",
        "--dirty",
        "2a@16380+5",
    ];
    let taken: Value = serde_json::from_str(&run_ok(&dir, &options, &["second"])).expect("JSON");
    let exact = RealDisk.stamps_are_exact(dir.parent().expect("a parent"));
    // Three leaves of one, two of the other, all of the third.
    let leaves = if exact { 5 * 16_384 + BAND } else { 3 * BAND };
    assert_eq!(taken["read_bytes"].as_u64(), Some(leaves as u64), "{taken}");
    let ids = json(&dir, "bands", &["second"]);
    for (place, band) in ["0", "1", "2a"].into_iter().enumerate() {
        let plain = blake3::hash(&fs::read(dir.join(band)).expect("there")).to_hex();
        assert_eq!(
            ids[place]["id"].as_str(),
            Some(plain.as_str()),
            "band {band}"
        );
    }
    assert!(run_ok(&dir, &["verify"], &["second"]).starts_with("good"));
    write("1", b"again", 0);
    let whole = ["--json", "checkpoint", "--dirty", "1", "--dirty=1@0+5"];
    let taken: Value = serde_json::from_str(&run_ok(&dir, &whole, &["third"])).expect("JSON");
    assert!(taken["read_bytes"].as_u64() >= Some(BAND as u64), "{taken}");
}

#[test]
fn impossible_reports_are_refused_with_advice() {
    let (_root, dir) = store_of_three_bands();
    for (options, status, says) in [
        (
            vec!["--dirty", "1@30000"],
            2,
            "after '@' come two decimal numbers",
        ),
        (vec!["--dirty", "1@-1+5"], 2, "3f@4096+16384"),
        (vec!["--dirty", "@1+5"], 2, "no band is named"),
        (
            vec!["--dirty", "1@0+5", "--all"],
            2,
            "cannot be used with '--all'",
        ),
        (vec!["--mapped", "--dirty", "1"], 2, "cannot be used with"),
        (
            vec!["--dirty", "1@0+5", "--dirty", "7@0+5"],
            1,
            "no band \"7\"; `status` shows",
        ),
        (
            vec!["--dirty", "../bands/1@0+5"],
            1,
            "no band \"../bands/1\"; `status` shows",
        ),
        (
            vec!["--dirty", "1@1048570+7"],
            1,
            "has 1048576 bytes, not 7 from 1048570 on; say",
        ),
    ] {
        let output = run(
            &dir,
            &[vec!["checkpoint"], options.clone()].concat(),
            &["second"],
        );
        let why = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{options:?}: {why}");
        assert!(why.contains(says), "{options:?}: {why}");
        assert_eq!(
            json(&dir, "list", &[]).as_array().expect("a list").len(),
            1,
            "{options:?}"
        );
    }
}

/// The command as another user than root, in a directory of that user.
#[cfg(unix)]
struct Nobody {
    _root: TempDir,
    dir: std::path::PathBuf,
    program: std::path::PathBuf,
    is_root: bool,
}

#[cfg(unix)]
impl Nobody {
    const ID: u32 = 65534;

    fn new() -> Self {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let root = TempDir::new().expect("a directory");
        let is_root = fs::metadata(root.path()).expect("there").uid() == 0;
        let dir = root.path().join("bands");
        fs::create_dir(&dir).expect("created");
        fs::write(dir.join("a"), vec![1; BAND]).expect("written");
        fs::set_permissions(dir.join("a"), fs::Permissions::from_mode(0o600)).expect("set");
        // Copied, because it was built where other users may not look.
        let program = root.path().join("program");
        fs::copy(env!("CARGO_BIN_EXE_paceline-checkpoint"), &program).expect("copied");
        if is_root {
            for path in [root.path(), &dir, &dir.join("a"), &program] {
                chown(path, Some(Self::ID), Some(Self::ID)).expect("given away");
            }
        }
        Self {
            _root: root,
            dir,
            program,
            is_root,
        }
    }

    fn run(&self, command: &str, after: &[&str]) -> Output {
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups"].map(str::to_owned);
        let mut started = if self.is_root {
            let mut started = Command::new("setpriv"); // of util-linux; needed when this runs as root
            started.args(user).arg(&self.program);
            started
        } else {
            Command::new(&self.program)
        };
        started
            .arg(command)
            .arg(&self.dir)
            .args(after)
            .output()
            .expect("it starts")
    }

    fn run_ok(&self, command: &str, after: &[&str]) -> String {
        let output = self.run(command, after);
        assert!(
            output.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }
}

#[cfg(unix)]
#[test]
fn a_rollback_by_a_user_who_is_not_root_gives_no_band_to_others() {
    use std::os::unix::fs::MetadataExt;
    let nobody = Nobody::new();
    let owner_and_mode = |path: &Path| {
        let meta = fs::metadata(path).expect("there");
        (meta.mode() & 0o7777, meta.uid(), meta.gid())
    };
    let paths = [nobody.dir.clone(), nobody.dir.join("a")];
    let before = paths.each_ref().map(|path| owner_and_mode(path));
    nobody.run_ok("init", &["first"]);
    fs::write(nobody.dir.join("a"), vec![2; BAND]).expect("written");
    nobody.run_ok("checkpoint", &["second"]);
    nobody.run_ok("rollback", &["first"]);
    assert_eq!(paths.each_ref().map(|path| owner_and_mode(path)), before);
    assert_eq!(fs::read(nobody.dir.join("a")).expect("back"), vec![1; BAND]);
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_to_is_listed_verified_and_exported() {
    use std::os::unix::fs::PermissionsExt;
    let nobody = Nobody::new();
    nobody.run_ok("init", &["first"]);
    let mut left = vec![
        nobody.dir.with_file_name("bands.paceline"),
        nobody.dir.clone(),
    ];
    let mut all = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .expect("readable")
                    .map(|entry| entry.expect("readable").path()),
            );
        }
        all.push(path);
    }
    let permit = |file, dir| {
        for path in &all {
            let mode = if path.is_dir() { dir } else { file };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        }
    };
    permit(0o400, 0o500);
    assert!(nobody.run_ok("list", &[]).contains("first"));
    assert!(
        nobody
            .run_ok("verify", &[])
            .starts_with("good  first: 1 band")
    );
    assert!(nobody.run_ok("status", &[]).contains("1 checkpoint"));
    assert_eq!(nobody.run_ok("bands", &["first"]).lines().count(), 1);
    let output = nobody.run("export", &["first", "-"]);
    assert!(
        output.status.success() && output.stdout.len() > BAND,
        "{output:?}"
    );
    assert_eq!(nobody.run("checkpoint", &["second"]).status.code(), Some(1));
    permit(0o600, 0o700);
}

/// After a bit in the middle of the log has changed, commands that read name what is lost, commands that
/// write are refused, and `repair` keeps the rest.
#[test]
fn a_damaged_log_is_read_refused_and_repaired() {
    let (root, dir) = store_of_three_bands();
    for (number, band) in ["0", "1", "2a", "0", "1"].into_iter().enumerate() {
        fs::write(
            dir.join(band),
            vec![10 + u8::try_from(number).expect("few"); BAND],
        )
        .expect("written");
        run_ok(&dir, &["checkpoint"], &[&format!("cp{}", number + 1)]);
    }
    let log = root.path().join("bands.paceline/log");
    let segment = fs::read_dir(&log)
        .expect("a log")
        .next()
        .expect("a segment")
        .expect("readable")
        .path();
    let mut bytes = fs::read(&segment).expect("readable");
    let begins = (1..bytes.len() / 4096)
        .map(|page| page * 4096)
        .filter(|at| bytes[*at..].starts_with(b"PLCKREC1"));
    let third = begins.clone().nth(2).expect("five records");
    bytes[third + 4096 + 300_000] ^= 16;
    fs::write(&segment, &bytes).expect("damaged");
    for command in ["list", "status", "verify"] {
        let output = run(&dir, &[command], &[]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{command}: {text}");
        assert!(
            text.contains("LOST     checkpoint \"cp3\" (epoch 4) is lost"),
            "{command}: {text}"
        );
        assert!(text.contains("`repair`"), "{command}: {text}");
    }
    let refused = run(&dir, &["checkpoint"], &["cp6"]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(1) && why.contains("\"cp3\"") && why.contains("`repair`"),
        "{why}"
    );
    assert_eq!(
        fs::read(&segment).expect("there"),
        bytes,
        "nothing was written"
    );
    // From a band that still has these bytes the repair would take them.
    fs::write(dir.join("2a"), vec![99; BAND]).expect("written");
    let repaired = run_ok(&dir, &["repair"], &[]);
    assert!(
        repaired.ends_with("repaired: 3 checkpoints kept\n"),
        "{repaired}"
    );
    assert_eq!(
        json(&dir, "list", &[]).as_array().expect("sound").len(),
        3,
        "first, cp1, cp2"
    );
    run_ok(&dir, &["checkpoint"], &["cp6"]);
    assert!(run_ok(&dir, &["verify"], &["cp6"]).starts_with("good"));
    assert!(run_ok(&dir, &["repair"], &[]).starts_with("nothing to repair"));
}
