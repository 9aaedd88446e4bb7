//! Benchmarks of other patterns than random replacement: bursts, growth, threads, fragmentation,
//! recorded traces.

use std::path::{Path, PathBuf};

use paceline_harness::{Benchmark, Context, Failure, Param};

use crate::arms::{self, Setup};
use crate::mixed::arm_names;
use crate::plan::{Plan, Reports, metrics, prepare};
use crate::subject::Asked;

const NONE: Reports = Reports {
    chunks: false,
    percentiles: false,
    leftovers: false,
};
const LEFTOVERS: Reports = Reports {
    leftovers: true,
    ..NONE
};
/// Pairs of a sample of `churn`, and objects of `producer_consumer`: some milliseconds.
const PAIRS: u64 = 100_000;
/// Replacements of a sample of `server`, by all threads: one life of each thread.
const REPLACEMENTS: u64 = 40_000;
/// Bytes that a sample of `realloc_growth` grows to, in all: so many series that small limits take as long.
const GROWN: u64 = 4 << 20;
const GROWN_MAX: u64 = 1 << 28;
/// Before the memory of an idle process is read.
const IDLE_MS: u64 = 2000;
/// Header of a trace: magic, objects, events (`recorder/trace.h`).
const HEADER_BYTES: usize = 16;

/// All of them.
pub(crate) fn benchmarks() -> Vec<Benchmark> {
    vec![
        of(
            "churn",
            NONE,
            vec![burst(), Param::words("order", &["lifo", "fifo", "random"])],
            churn,
        ),
        of(
            "server",
            NONE,
            vec![objects(), Param::int("threads", &[1, 2], 1, 2)],
            server,
        ),
        of("producer_consumer", NONE, vec![], producer_consumer),
        of(
            "fragmentation",
            LEFTOVERS,
            vec![bytes(), idle()],
            fragmentation,
        ),
        of(
            "everything_freed",
            LEFTOVERS,
            vec![bytes(), idle()],
            everything_freed,
        ),
        of(
            "realloc_growth",
            NONE,
            vec![Param::int("limit", &[4096, 1 << 20], 16, GROWN_MAX)],
            growth,
        ),
        of("replay", NONE, vec![traces()], replay),
    ]
}

/// Every file there is: who records a trace needs to build nothing anew.
fn traces() -> Param {
    let files = arms::folder().and_then(|folder| {
        let unread = |error: std::io::Error| Failure::new("no_trace", error.to_string());
        std::fs::read_dir(folder.join("traces")).map_err(unread)
    });
    let name_of = |path: PathBuf| {
        let name = path
            .file_name()?
            .to_str()?
            .strip_suffix(".trace")?
            .to_owned();
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        (!name.is_empty() && name.bytes().all(fits)).then_some(name)
    };
    let entries = files.into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| name_of(entry.path())).collect();
    names.sort_unstable();
    Param::words(
        "trace",
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    )
}

fn burst() -> Param {
    Param::int("burst", &[1000], 1, PAIRS)
}

fn objects() -> Param {
    Param::int("objects", &[1000], 1, 1 << 20)
}

fn bytes() -> Param {
    Param::int("bytes", &[128 << 20], 1 << 20, 1 << 32)
}

fn idle() -> Param {
    Param::int("idle_ms", &[IDLE_MS], 0, 60_000)
}

fn of(
    name: &str,
    reports: Reports,
    params: Vec<Param>,
    plan: fn(&Context<'_>) -> Result<Plan, Failure>,
) -> Benchmark {
    Benchmark {
        name: name.to_owned(),
        arms: arm_names(),
        params,
        metrics: metrics(reports),
        prepare: Box::new(move |context| prepare(&plan(context)?, context)),
    }
}

fn plan(scenario: &'static str, options: Vec<(&'static str, u64)>, times: u64, lead: u64) -> Plan {
    Plan {
        scenario,
        options,
        trace: None,
        setup: Setup::USUAL,
        asked: Asked {
            chunks: 1,
            times,
            lead,
            runs: 0,
        },
        cpus: 1,
        items: 1,
        reports: NONE,
    }
}

/// An iteration is a malloc and a free.
#[allow(clippy::unnecessary_wraps, reason = "other plans can fail")]
fn churn(context: &Context<'_>) -> Result<Plan, Failure> {
    let burst = context.int("burst");
    let order = match context.text("order") {
        "lifo" => 0,
        "fifo" => 1,
        _ => 2,
    };
    let whole = PAIRS - PAIRS % burst;
    Ok(plan(
        "churn",
        vec![("slots", burst), ("order", order)],
        whole,
        burst,
    ))
}

/// An iteration is a replacement.
#[allow(clippy::unnecessary_wraps, reason = "other plans can fail")]
fn server(context: &Context<'_>) -> Result<Plan, Failure> {
    let (objects, threads) = (context.int("objects"), context.int("threads"));
    let made = plan(
        "server",
        vec![("slots", objects), ("threads", threads)],
        REPLACEMENTS,
        REPLACEMENTS / 4,
    );
    Ok(Plan {
        cpus: usize::try_from(threads).unwrap_or(usize::MAX),
        ..made
    })
}

/// An iteration is an object.
#[allow(clippy::unnecessary_wraps, reason = "other plans can fail")]
fn producer_consumer(_: &Context<'_>) -> Result<Plan, Failure> {
    Ok(Plan {
        cpus: 2,
        ..plan("producer_consumer", vec![("lanes", 2)], PAIRS, PAIRS / 10)
    })
}

/// An iteration is a burst.
#[allow(clippy::unnecessary_wraps, reason = "other plans can fail")]
fn fragmentation(context: &Context<'_>) -> Result<Plan, Failure> {
    let options = vec![
        ("bytes", context.int("bytes")),
        ("idle-ms", context.int("idle_ms")),
    ];
    Ok(Plan {
        reports: LEFTOVERS,
        ..plan("fragmentation", options, 1, 0)
    })
}

/// An iteration is a burst of which nothing is left.
fn everything_freed(context: &Context<'_>) -> Result<Plan, Failure> {
    let mut made = fragmentation(context)?;
    made.options.push(("all", 1));
    Ok(made)
}

/// An iteration is a series of eight buffers.
#[allow(clippy::unnecessary_wraps, reason = "other plans can fail")]
fn growth(context: &Context<'_>) -> Result<Plan, Failure> {
    let limit = context.int("limit");
    Ok(plan(
        "realloc_growth",
        vec![("bytes", limit)],
        (GROWN / limit).max(1),
        1,
    ))
}

/// An iteration is a whole trace.
fn replay(context: &Context<'_>) -> Result<Plan, Failure> {
    let name = format!("{}.trace", context.text("trace"));
    let path = arms::folder()?.join("traces").join(name);
    let events = events_of(&path)?;
    Ok(Plan {
        trace: Some(path),
        items: events,
        ..plan("replay", vec![], 1, 1)
    })
}

/// How many events a trace says it has.
fn events_of(path: &Path) -> Result<u64, Failure> {
    let broken = |what: &str| {
        Failure::new(
            "no_trace",
            format!("{}: {what}", PathBuf::from(path).display()),
        )
    };
    let bytes = std::fs::read(path).map_err(|error| broken(&error.to_string()))?;
    match bytes
        .get(12..HEADER_BYTES)
        .and_then(|events| events.try_into().ok())
    {
        Some(events) if bytes.starts_with(b"PLTRACE1") => Ok(u64::from(u32::from_le_bytes(events))),
        _ => Err(broken("not a trace; the recorder's is in bench/recorder")),
    }
}
