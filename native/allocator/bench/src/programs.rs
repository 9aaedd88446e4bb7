//! `programs` and `multithreaded`: real programs, as a geometric mean and one by one.
//!
//! In a round an arm runs every program once, each in a process of its own; its time is the
//! geometric mean, so the ratio of two arms is the mean of the programs' ratios. Allocators run as
//! shipped, huge pages included.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use paceline_harness::{
    Arm, Benchmark, Check, Context, Direction, Failure, Metric, Param, Prepared, Reading, Unit,
};

use crate::arms::{self, ALL, Allocator, Setup};
use crate::processes::{Used, ended, failed, run};
use crate::subject::{Asked, Subject};

/// Four, since a round takes seconds: ours, what is there anyway, and whom the targets name.
const ARMS: [&str; 4] = ["paceline", "paceline_hardened", "system", "mimalloc343"];
/// The geometric mean of all others.
const TOGETHER: &str = "all";
/// As `programs/prepare.sh` names them.
const PROGRAMS: [&str; 7] = [
    "python_start",
    "python",
    "sqlite",
    "cc1",
    "perl",
    "git_repack",
    "git_log",
];
const LOADS: [&str; 3] = ["server", "messages", "redis"];
/// Of the work that takes about a second per program.
const PERCENT: u64 = 25;
const PERCENT_MAX: u64 = 1000;
/// Operations of `server` and `messages` in a round: some milliseconds, and with a slow arm some tens.
const ROUND: Asked = Asked {
    chunks: 5,
    times: 40_000,
    lead: 10_000,
    runs: 0,
};
/// Longer than a server takes to listen, wherever that is.
const CONNECT_TRIES: u32 = 5000;
const CONNECT_PAUSE: Duration = Duration::from_millis(2);

/// What an arm does once in a round.
type Part = Box<dyn FnMut() -> Result<Used, Failure>>;
/// The same with what it said: equal for all arms.
type Saying = Box<dyn FnMut() -> Result<(Used, u64), Failure>>;
/// An arm's parts, or why it has none.
type Parts = (&'static str, Result<Vec<Part>, String>);

/// Both.
pub(crate) fn benchmarks() -> Vec<Benchmark> {
    let with_all = |names: &[&'static str]| [&[TOGETHER], names].concat();
    let metric = |name: &str, unit| Metric {
        name: name.to_owned(),
        unit,
        direction: Direction::Lower,
    };
    let arms: Vec<String> = ARMS.map(str::to_owned).into();
    vec![
        Benchmark {
            name: "programs".to_owned(),
            arms: arms.clone(),
            params: vec![
                Param::words("program", &with_all(&PROGRAMS)),
                Param::int("percent", &[PERCENT], 1, PERCENT_MAX),
            ],
            metrics: vec![
                metric("rss_peak", Unit::Bytes),
                metric("page_faults", Unit::Count),
            ],
            prepare: Box::new(programs),
        },
        Benchmark {
            name: "multithreaded".to_owned(),
            arms,
            params: vec![Param::words("load", &with_all(&LOADS))],
            metrics: vec![metric("rss_peak", Unit::Bytes)],
            prepare: Box::new(multithreaded),
        },
    ]
}

fn allocators() -> impl Iterator<Item = &'static Allocator> {
    ALL.iter().filter(|arm| ARMS.contains(&arm.name))
}

/// Inputs and commands of programs; the folder goes with the last who uses it.
struct Work {
    folder: PathBuf,
    commands: BTreeMap<String, Vec<String>>,
}

impl Work {
    fn made(here: &Path, percent: u64) -> Result<Rc<Self>, Failure> {
        let broken = |what: String| Failure::new("no_programs", what);
        let name = format!("paceline-programs-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // What an earlier launch with this number left when it was killed.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| broken(error.to_string()))?;
        let mut work = Self {
            folder,
            commands: BTreeMap::new(),
        };
        let script = here.join("programs").join("prepare.sh");
        let mut prepare = Command::new("sh");
        prepare
            .arg(script)
            .arg(&work.folder)
            .arg(percent.to_string());
        match prepare.stdout(Stdio::null()).status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(broken(format!("prepare.sh: {status}"))),
            Err(error) => return Err(broken(format!("prepare.sh: {error}"))),
        }
        let commands = std::fs::read_to_string(work.folder.join("commands"));
        for line in commands.map_err(|error| broken(error.to_string()))?.lines() {
            let mut words = line.split('\t').map(str::to_owned);
            work.commands
                .extend(words.next().map(|name| (name, words.collect())));
        }
        Ok(Rc::new(work))
    }

    /// Why these cannot be run here, if so.
    fn missing(&self, wanted: &[&str]) -> Option<String> {
        let gone: Vec<&str> = wanted
            .iter()
            .copied()
            .filter(|name| !self.commands.contains_key(*name))
            .collect();
        (!gone.is_empty()).then(|| format!("not installed here: {}", gone.join(", ")))
    }

    /// A program in this folder's world, where nothing of the user's decides, with an allocator around it.
    fn command(&self, allocator: &Allocator, here: &Path, words: &[String]) -> Command {
        let mut command = allocator.around(here, words);
        command
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("LC_ALL", "C");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([("PYTHONMALLOC", "malloc"), ("PYTHONHASHSEED", "0")]);
        command.envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ]);
        command
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What stays lies in the system's folder for such things.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What programs said, by name; equal whatever the allocator.
#[derive(Default)]
struct Outputs {
    first: BTreeMap<String, u64>,
    runs: u64,
    wrong: Vec<String>,
}

impl Outputs {
    fn note(&mut self, arm: &str, program: &str, said: u64) {
        self.runs += 1;
        let first = *self.first.entry(program.to_owned()).or_insert(said);
        if first != said {
            self.wrong
                .push(format!("{program} under {arm} says something else"));
        }
    }

    fn check(&self) -> Check {
        let ok = self.wrong.is_empty();
        let detail = if ok {
            format!("{} runs of programs", self.runs)
        } else {
            self.wrong.join("; ")
        };
        Check {
            name: "same_operations".to_owned(),
            ok,
            detail,
        }
    }
}

fn programs(context: &Context<'_>) -> Result<Prepared, Failure> {
    let here = arms::folder()?;
    let wanted = match context.text("program") {
        TOGETHER => PROGRAMS.to_vec(),
        one => PROGRAMS
            .iter()
            .copied()
            .filter(|name| *name == one)
            .collect(),
    };
    if let Some(prepared) = nothing_to_preload(&here) {
        return Ok(prepared);
    }
    let work = Work::made(&here, context.int("percent"))?;
    let outputs = Rc::new(RefCell::new(Outputs::default()));
    let why = work.missing(&wanted);
    let arms = each_arm(&here, why.as_ref(), |allocator| {
        let mut parts: Vec<Part> = Vec::new();
        for name in &wanted {
            let words = work.commands[*name].clone();
            let (work, outputs, here, name) = (
                Rc::clone(&work),
                Rc::clone(&outputs),
                here.clone(),
                (*name).to_owned(),
            );
            parts.push(Box::new(move || {
                let (used, said) = run(&mut work.command(allocator, &here, &words), &name)?;
                outputs.borrow_mut().note(allocator.name, &name, said);
                Ok(used)
            }));
        }
        Ok(parts)
    })?;
    Ok(prepared(arms, true, move || outputs.borrow().check()))
}

fn multithreaded(context: &Context<'_>) -> Result<Prepared, Failure> {
    let here = arms::folder()?;
    let wanted = match context.text("load") {
        TOGETHER => LOADS.to_vec(),
        one => LOADS.iter().copied().filter(|name| *name == one).collect(),
    };
    if let Some(prepared) = nothing_to_preload(&here) {
        return Ok(prepared);
    }
    let work = Work::made(&here, 100)?;
    let installed: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|name| *name == "redis")
        .collect();
    let why = work
        .missing(&installed)
        .or_else(|| (arms::cpus() < 2).then(|| "needs 2 CPUs".to_owned()));
    let outputs = Rc::new(RefCell::new(Outputs::default()));
    let seed = context.seed.to_string();
    let arms = each_arm(&here, why.as_ref(), |allocator| {
        let part = |load: &&str| match *load {
            "server" => threads(
                &["server", "--slots", "1000", "--threads", "2"],
                allocator,
                &here,
                &seed,
            ),
            "messages" => threads(
                &["producer_consumer", "--lanes", "2"],
                allocator,
                &here,
                &seed,
            ),
            _ => {
                let (work, here) = (Rc::clone(&work), here.clone());
                Ok(Box::new(move || redis(allocator, &here, &work)) as Saying)
            }
        };
        let noted = |load: &&str| Ok(noting(part(load)?, allocator.name, load, &outputs));
        wanted.iter().map(noted).collect()
    })?;
    Ok(prepared(arms, false, move || outputs.borrow().check()))
}

/// A part that also notes what it said, which depends on how often it ran.
fn noting(mut part: Saying, arm: &'static str, load: &str, outputs: &Rc<RefCell<Outputs>>) -> Part {
    let (outputs, load) = (Rc::clone(outputs), load.to_owned());
    let mut runs = 0;
    Box::new(move || {
        let (used, said) = part()?;
        runs += 1;
        outputs
            .borrow_mut()
            .note(arm, &format!("run {runs} of {load}"), said);
        Ok(used)
    })
}

/// A scenario of a subject, which says a digest of its state.
fn threads(
    scenario: &[&str],
    allocator: &'static Allocator,
    here: &Path,
    seed: &str,
) -> Result<Saying, Failure> {
    let words: Vec<String> = scenario
        .iter()
        .chain(&["--seed", seed])
        .map(|word| (*word).to_owned())
        .collect();
    let mut subject = Subject::start(allocator, here, Setup::Shipped, &words)?;
    Ok(Box::new(move || {
        let round = subject.round(ROUND)?;
        let used = Used {
            ns: round.total_ns,
            peak_bytes: round.peak_bytes,
            faults: 0,
        };
        Ok((used, subject.state()?))
    }))
}

/// A server for one load of requests, and how many kinds were answered; the client is always the same,
/// without any allocator of ours.
fn redis(allocator: &Allocator, here: &Path, work: &Work) -> Result<(Used, u64), Failure> {
    let [program, client, requests] = work.commands["redis"].as_slice() else {
        return Err(failed(
            "redis",
            "prepare.sh names a server, a client and a number",
        ));
    };
    let socket = work.folder.join("socket").to_string_lossy().into_owned();
    let words = [
        program,
        "--port",
        "0",
        "--unixsocket",
        &socket,
        "--save",
        "",
        "--loglevel",
        "warning",
    ];
    let words: Vec<String> = words.map(str::to_owned).into();
    let mut command = work.command(allocator, here, &words);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed("redis", &error.to_string()))?;
    let kinds_answered = connected(&socket).and_then(|mut connection| {
        let load = [
            "-s", &socket, "-q", "-n", requests, "-c", "20", "-P", "16", "-d", "300", "-r", "10000",
        ];
        let kinds = ["-t", "set,get,lpush,lpop,sadd,hset"];
        let client = Command::new(client).args(load).args(kinds).output().ok()?;
        connection.write_all(b"SHUTDOWN NOSAVE\r\n").ok()?;
        let report = String::from_utf8_lossy(&client.stdout).into_owned();
        client
            .status
            .success()
            .then(|| report.matches("requests per second").count() as u64)
    });
    match kinds_answered {
        Some(kinds) => Ok((ended(&child, "redis")?, kinds)),
        None => Err(stopped(&mut child)),
    }
}

/// Of a server that did not serve: no process may stay behind.
fn stopped(child: &mut Child) -> Failure {
    let _ = child.kill();
    let _ = child.wait();
    failed("redis", "it did not serve its client")
}

fn connected(socket: &str) -> Option<UnixStream> {
    (0..CONNECT_TRIES).find_map(|_| {
        let connection = UnixStream::connect(socket).ok();
        if connection.is_none() {
            std::thread::sleep(CONNECT_PAUSE);
        }
        connection
    })
}

/// Where no arm can be preloaded nothing is made ready, and each says why.
fn nothing_to_preload(here: &Path) -> Option<Prepared> {
    let missing: Option<Vec<Arm>> = allocators()
        .map(|allocator| {
            Some(Arm::unavailable(
                allocator.name,
                allocator.missing(here, Setup::Shipped)?,
            ))
        })
        .collect();
    missing.map(|arms| Prepared {
        arms,
        items_per_iteration: None,
        bytes_per_iteration: None,
        verify: Box::new(Vec::new),
    })
}

fn each_arm(
    here: &Path,
    why: Option<&String>,
    parts_of: impl Fn(&'static Allocator) -> Result<Vec<Part>, Failure>,
) -> Result<Vec<Parts>, Failure> {
    let mut arms = Vec::new();
    for allocator in allocators() {
        if let Some(reason) = allocator
            .missing(here, Setup::Shipped)
            .or_else(|| why.cloned())
        {
            arms.push((allocator.name, Err(reason)));
            continue;
        }
        // That the library is really preloaded is asked of a subject, which can say so.
        let words = ["random_mixed", "--slots", "64"].map(str::to_owned);
        drop(Subject::start(allocator, here, Setup::Shipped, &words)?);
        arms.push((allocator.name, Ok(parts_of(allocator)?)));
    }
    Ok(arms)
}

fn prepared(
    arms: Vec<Parts>,
    counts_faults: bool,
    check: impl Fn() -> Check + 'static,
) -> Prepared {
    let arms = arms.into_iter().map(|(name, parts)| match parts {
        Ok(parts) => arm(name, parts, counts_faults),
        Err(reason) => Arm::unavailable(name, reason),
    });
    Prepared {
        arms: arms.collect(),
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify: Box::new(move || vec![check()]),
    }
}

fn arm(name: &str, mut parts: Vec<Part>, counts_faults: bool) -> Arm {
    let last = Rc::new(Cell::new(Used::default()));
    let (peak, faults) = (Rc::clone(&last), Rc::clone(&last));
    let arm = Arm::elsewhere(name, move |_| {
        let used = parts
            .iter_mut()
            .map(|part| part())
            .collect::<Result<Vec<_>, _>>()?;
        last.set(Used::mean(&used));
        Ok(last.get().ns)
    })
    .with_iterations(1)
    .with_metric("rss_peak", move || {
        Reading::Each(vec![peak.get().peak_bytes])
    });
    if !counts_faults {
        return arm;
    }
    arm.with_metric("page_faults", move || {
        Reading::Each(vec![faults.get().faults])
    })
}
