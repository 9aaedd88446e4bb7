//! A writer is killed at random moments on a real filesystem; exactly what it reported must be
//! there.
//!
//! `CHECKPOINT_KILLS` sets how often, `CHECKPOINT_KILL_DIR` where; `kill.sh` beside this makes
//! filesystems and runs 500 kills on each. A kill leaves the page cache. A power loss is simulated
//! on the fake disk (`tests/store/crash.rs`) and, where the kernel can shut a filesystem down under
//! its writer, here: `CHECKPOINT_KILL_CUT` is a program that does so and mounts it again (`kill.sh`
//! has one).

mod judge;
mod report;
mod writer;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use judge::Judge;
use paceline_checkpoint::disk::RealDisk;
use report::{Random, Report};

/// Tells the other half of this program where to write, and its seed.
const WRITER: &str = "CHECKPOINT_KILL_WRITER";
const SEED: &str = "CHECKPOINT_KILL_SEED";
/// A kill comes after at most so many reports, and then at most so much later.
const REPORTS_MOST: u64 = 24;
const LATER_MOST_US: u64 = 6_000;

const CUT: &str = "CHECKPOINT_KILL_CUT";
/// The status of a killed process: on Windows the killer chooses it, and std chooses 1.
const KILLED: Option<i32> = if cfg!(windows) { Some(1) } else { None };

fn as_usize(number: u64) -> usize {
    usize::try_from(number).expect("small")
}

fn size(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// Runs a writer until it is killed at a random moment; returns its report, in order.
fn killed(live: &Path, seed: u64, random: &mut Random) -> Vec<Report> {
    let mut writer = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "the_writer_that_is_killed",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(WRITER, live)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let lines = BufReader::new(writer.stdout.take().expect("piped")).lines();
    let (say, heard) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            // An incomplete line does not count: the writer was killed while reporting.
            if let Some(report) = Report::parse(&line) {
                say.send(report).expect("somebody listens");
            }
        }
    });
    // From the first operation on, because making the store may be interrupted, too.
    let mut reports: Vec<Report> = heard
        .iter()
        .take(as_usize(random.below(REPORTS_MOST)))
        .collect();
    let moment = Duration::from_micros(random.below(LATER_MOST_US));
    let begin = std::time::Instant::now();
    while let Some(left) = moment.checked_sub(begin.elapsed()) {
        match heard.recv_timeout(left) {
            Ok(report) => reports.push(report),
            Err(mpsc::RecvTimeoutError::Timeout) => break,
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                panic!("the writer ended by itself: {reports:?}")
            }
        }
    }
    let cut = std::env::var_os(CUT);
    if let Some(program) = &cut {
        assert!(
            Command::new(program)
                .arg("off")
                .status()
                .expect("it starts")
                .success(),
            "the power stays on"
        );
    }
    writer.kill().expect("it runs");
    let output = writer.wait_with_output().expect("it ends");
    assert!(
        output.status.code() == KILLED || cut.is_some(),
        "{output:?}"
    );
    reader.join().expect("it reads");
    reports.extend(heard.try_iter());
    if let Some(program) = &cut {
        assert!(
            Command::new(program)
                .arg("on")
                .status()
                .expect("it starts")
                .success(),
            "the power is back"
        );
    }
    reports
}

#[test]
fn a_writer_killed_at_any_moment_leaves_what_it_reported_and_nothing_else() {
    let kills = size("CHECKPOINT_KILLS", 15);
    let root = match std::env::var_os("CHECKPOINT_KILL_DIR") {
        Some(dir) => tempfile::TempDir::new_in(dir),
        None => tempfile::TempDir::new(),
    };
    let root = root.expect("a directory");
    let mut random = Random(size(SEED, 7));
    let mut sum = judge::Sum::default();
    let mut kill = 0;
    while kill < kills {
        // A new store for every 25 kills, so that both its making and a long life are tested.
        let live: PathBuf = root.path().join(format!("bands{kill}"));
        writer::prepare(&live, kill);
        let mut judge = Judge::new(&live, std::env::var_os(CUT).is_some());
        for _ in 0..25.min(kills - kill) {
            let reports = killed(&live, kill, &mut random);
            judge.hear(&reports);
            sum.add(&judge.check(&RealDisk, kill));
            kill += 1;
        }
    }
    say_summary(&sum, kills);
    assert!(
        sum.reported > kills,
        "{sum:?}: hardly anything was reported before the kills"
    );
    assert!(
        kills < 100 || sum.in_flight_lost > 0 && sum.in_flight_kept > 0,
        "{sum:?}: no kill was in flight"
    );
}

/// For whoever runs it by hand with `--nocapture`.
fn say_summary(sum: &judge::Sum, kills: u64) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{kills} kills: {sum:?}").expect("stdout");
}

#[test]
#[ignore = "runs for ever; the test above starts and kills it"]
fn the_writer_that_is_killed() {
    if let Some(live) = std::env::var_os(WRITER) {
        writer::write_for_ever(Path::new(&live), size(SEED, 0));
    }
}
