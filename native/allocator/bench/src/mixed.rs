//! `random_mixed` and `random_mixed_threads`: objects replaced at random, in one thread or freed by
//! another.

use paceline_harness::{Benchmark, Context, Param};

use crate::arms::{ALL, Setup};
use crate::plan::{Plan, Reports, metrics, prepare};
use crate::subject::Asked;

/// Slots of the table, of each thread; the seed has 256 and 8,192.
const WORKING_SETS: [u64; 5] = [64, 256, 2048, 8192, 65_536];
const WORKING_SET_MAX: u64 = 1 << 24;
/// One chunk: a two-hundredth of the seed's 10,000,000 operations.
const CHUNK: u64 = 50_000;
/// Chunks of a round: 20 measured rounds are 200 chunks.
const CHUNKS: u64 = 10;
/// Short runs for the percentiles: as many operations as half a chunk.
const RUNS: u64 = 780;
const THREADS: u64 = 2;

/// Both.
pub(crate) fn benchmarks() -> Vec<Benchmark> {
    let alone = Reports {
        chunks: true,
        percentiles: true,
        leftovers: false,
    };
    let together = Reports {
        percentiles: false,
        ..alone
    };
    let working_set = || Param::int("working_set", &WORKING_SETS, 1, WORKING_SET_MAX);
    let mode = || Param::words("mode", &["compat", "independent"]);
    vec![
        Benchmark {
            name: "random_mixed".to_owned(),
            arms: arm_names(),
            params: vec![working_set(), mode(), Param::words("setup", &Setup::NAMES)],
            metrics: metrics(alone),
            prepare: Box::new(move |context| {
                let setup = Setup::named(context.text("setup"));
                prepare(&plan(context, setup, 1, 0, alone), context)
            }),
        },
        Benchmark {
            name: "random_mixed_threads".to_owned(),
            arms: arm_names(),
            params: vec![
                working_set(),
                mode(),
                Param::int("remote_percent", &[0, 1, 50], 0, 100),
            ],
            metrics: metrics(together),
            prepare: Box::new(move |context| {
                let remote = context.int("remote_percent");
                prepare(
                    &plan(context, Setup::USUAL, THREADS, remote, together),
                    context,
                )
            }),
        },
    ]
}

pub(crate) fn arm_names() -> Vec<String> {
    ALL.iter().map(|arm| arm.name.to_owned()).collect()
}

/// An iteration is an operation of each thread.
fn plan(context: &Context<'_>, setup: Setup, threads: u64, remote: u64, reports: Reports) -> Plan {
    Plan {
        scenario: "random_mixed",
        options: vec![
            ("slots", context.int("working_set")),
            (
                "independent",
                u64::from(context.text("mode") == "independent"),
            ),
            ("lanes", threads),
            ("remote", remote),
        ],
        trace: None,
        setup,
        asked: Asked {
            chunks: CHUNKS,
            times: CHUNK,
            lead: CHUNK,
            runs: if reports.percentiles { RUNS } else { 0 },
        },
        cpus: usize::try_from(threads).unwrap_or(usize::MAX),
        items: threads,
        reports,
    }
}
