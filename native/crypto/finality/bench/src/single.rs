//! `finality_check`, `finality_flat` and `finality_unknown`: one thread, one check per iteration;
//! `finality_latency`: the same, each check begun when the one before has its answer.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use paceline_finality::BlockGraph;
use paceline_harness::fence::keep;
use paceline_harness::{Arm, Benchmark, Check, Context, Param, Prepared};

use crate::ids::{self, Queries};
use crate::rivals::{Concurrent, Locked, Swapped};
use crate::subjects::{NAMES, Subject};

/// The loop around nothing.
pub(crate) const EMPTY_LOOP: &str = "empty_loop";
/// From what the seed measured to far beyond any cache.
const SIZES: [u64; 6] = [10, 100, 1000, 100_000, 1_000_000, 10_000_000];
/// The seed's own, which fit into the first caches.
const SMALL: [u64; 3] = [10, 100, 1000];
const UNKNOWN: [u64; 2] = [1000, 100_000];
const LATENCY: [u64; 2] = [1000, 1_000_000];
/// 10 GB of maps in one process.
const SIZE_MAX: u64 = 20_000_000;
/// Ids asked for a correctness check.
const VERIFIED: u64 = 10_000;

/// Final blocks, any size.
pub(crate) fn finality_check() -> Benchmark {
    benchmark("finality_check", &SIZES, Questions::Known)
}

/// The same at the sizes over which the cost has to be flat.
pub(crate) fn finality_flat() -> Benchmark {
    benchmark("finality_flat", &SMALL, Questions::Known)
}

/// Blocks that nobody knows.
pub(crate) fn finality_unknown() -> Benchmark {
    benchmark("finality_unknown", &UNKNOWN, Questions::Unknown)
}

/// Final blocks, one check after the other: what a caller waits who does something with the answer.
pub(crate) fn finality_latency() -> Benchmark {
    benchmark("finality_latency", &LATENCY, Questions::OneByOne)
}

/// What is asked, and whether checks may overlap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Questions {
    Known,
    Unknown,
    OneByOne,
}

fn benchmark(name: &str, sizes: &[u64], questions: Questions) -> Benchmark {
    Benchmark {
        name: name.to_owned(),
        arms: [EMPTY_LOOP]
            .into_iter()
            .chain(NAMES)
            .map(str::to_owned)
            .collect(),
        params: vec![Param::int("blocks", sizes, 2, SIZE_MAX)],
        metrics: vec![],
        prepare: Box::new(move |context| Ok(prepare(context, questions))),
    }
}

/// The four structures over the same blocks.
pub(crate) struct Subjects {
    pub(crate) locked: Arc<Locked>,
    pub(crate) concurrent: Arc<Concurrent>,
    pub(crate) swapped: Arc<Swapped>,
    pub(crate) ours: Arc<BlockGraph>,
}

impl Subjects {
    pub(crate) fn new(blocks: u64, seed: u64) -> Self {
        fn of<S: Subject>(blocks: u64, seed: u64) -> Arc<S> {
            Arc::new(S::of(
                &mut (0..blocks).map(|number| ids::block(seed, number)),
                blocks,
            ))
        }
        Self {
            locked: of(blocks, seed),
            concurrent: of(blocks, seed),
            swapped: of(blocks, seed),
            ours: of(blocks, seed),
        }
    }

    /// All four say `yes` of the first `VERIFIED` blocks, and no of as many that nobody knows.
    pub(crate) fn agree(&self, blocks: u64, seed: u64) -> Check {
        let all: [&dyn Subject; 4] = [
            &*self.locked,
            &*self.concurrent,
            &*self.swapped,
            &*self.ours,
        ];
        let count = blocks.min(VERIFIED);
        let wrong = (0..count).find_map(|number| {
            let (known, unknown) = (
                ids::block(seed, number),
                ids::block(seed, SIZE_MAX * 2 + number),
            );
            let wrong =
                |subject: &&dyn Subject| !subject.is_final(&known) || subject.is_final(&unknown);
            all.iter()
                .position(wrong)
                .map(|arm| format!("{}: block {number}", NAMES[arm]))
        });
        let detail = wrong
            .clone()
            .unwrap_or_else(|| format!("{count} final blocks, {count} unknown ones"));
        Check {
            name: "arms_agree".to_owned(),
            ok: wrong.is_none(),
            detail,
        }
    }
}

fn prepare(context: &Context<'_>, questions: Questions) -> Prepared {
    let (blocks, seed) = (context.int("blocks"), context.seed);
    let unknown = questions == Questions::Unknown;
    let subjects = Subjects::new(blocks, seed);
    let queries = Rc::new(Queries::new(blocks, unknown, seed));
    let nothing = Rc::clone(&queries);
    let position = Cell::new(0);
    let arms = if questions == Questions::OneByOne {
        let empty = Arm::looped(EMPTY_LOOP, move |iterations| {
            nothing.each(&position, iterations, |id| {
                keep(std::ptr::from_ref(id));
                settle();
            });
        });
        arms(empty, &subjects, &queries, |answer| {
            keep(answer);
            settle();
        })
    } else {
        let empty = Arm::looped(EMPTY_LOOP, move |iterations| {
            nothing.each(&position, iterations, |id| keep(std::ptr::from_ref(id)));
        });
        arms(empty, &subjects, &queries, keep)
    };
    Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify: Box::new(move || {
            let wrong = queries
                .iter()
                .take(1 << 16)
                .filter(|id| subjects.ours.is_final(id) == unknown);
            let wrong = wrong.count();
            let detail =
                format!("{wrong} of the ids asked about have another answer than they should");
            let asked = Check {
                name: "answers_expected".to_owned(),
                ok: wrong == 0,
                detail,
            };
            vec![subjects.agree(blocks, seed), asked]
        }),
    }
}

fn arms(
    empty: Arm,
    subjects: &Subjects,
    queries: &Rc<Queries>,
    answered: impl Fn(bool) + Copy + 'static,
) -> Vec<Arm> {
    vec![
        empty,
        checking(NAMES[0], &subjects.locked, queries, answered),
        checking(NAMES[1], &subjects.concurrent, queries, answered),
        checking(NAMES[2], &subjects.swapped, queries, answered),
        checking(NAMES[3], &subjects.ours, queries, answered),
    ]
}

fn checking<S: Subject>(
    name: &str,
    subject: &Arc<S>,
    queries: &Rc<Queries>,
    answered: impl Fn(bool) + 'static,
) -> Arm {
    let (queries, position) = (Rc::clone(queries), Cell::new(0));
    let mut is_final = Arc::clone(subject).reader();
    Arm::looped(name, move |iterations| {
        queries.each(&position, iterations, |id| answered(is_final(id)));
    })
}

/// Lets nothing begin before everything before it is done.
#[inline]
fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}
