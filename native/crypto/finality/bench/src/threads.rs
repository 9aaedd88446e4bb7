//! `finality_readers`: one or two threads that ask, alone or beside a writer that adds 1,000 blocks
//! a second.
//!
//! One iteration is a pass of [`PASS`] checks by every reader; a pass without checks, with threads
//! and clock, is an arm of its own. The first reader's first check of each pass is timed by itself
//! as `call_time`, whose percentiles are what a caller waits. So every pass contains two clock
//! reads, about one check's time. The writer adds to the arm being measured and rests between arms.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use paceline_finality::BlockId;
use paceline_harness::fence::keep;
use paceline_harness::{
    Arm, Benchmark, Check, Context, Direction, Failure, Metric, Param, Prepared, Reading, Unit,
};

use crate::ids::{self, Queries};
use crate::single::{EMPTY_LOOP, Subjects};
use crate::subjects::{NAMES, Nothing, Subject};

/// Checks of one reader in one iteration: a thread that is woken costs a part of the whole.
const PASS: u64 = 1024;
/// The seed's largest graph, and one beyond the second cache.
const SIZES: [u64; 2] = [1000, 100_000];
const SIZE_MAX: u64 = 1_000_000;
const READERS_MAX: u64 = 2;
/// Between two blocks of the writer: 1,000 in a second.
const WRITE_EVERY: Duration = Duration::from_millis(1);
/// A writer that was let write for so long and has written nothing is none.
const WRITES_WITHIN: Duration = Duration::from_millis(100);
/// The writer's blocks have numbers of their own.
const WRITTEN_FROM: u64 = 1 << 40;

/// Readers, with and without a writer.
pub(crate) fn finality_readers() -> Benchmark {
    let call_time = Metric {
        name: "call_time".to_owned(),
        unit: Unit::Nanoseconds,
        direction: Direction::Lower,
    };
    Benchmark {
        name: "finality_readers".to_owned(),
        arms: [EMPTY_LOOP]
            .into_iter()
            .chain(NAMES)
            .map(str::to_owned)
            .collect(),
        params: vec![
            Param::int("blocks", &SIZES, 2, SIZE_MAX),
            Param::int("readers", &[1, 2], 1, READERS_MAX),
            Param::words("writer", &["none", "1k"]),
        ],
        metrics: vec![call_time],
        prepare: Box::new(prepare),
    }
}

fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let (blocks, seed, readers) = (context.int("blocks"), context.seed, context.int("readers"));
    let subjects = Subjects::new(blocks, seed);
    let group = Group {
        queries: Arc::new(Queries::new(blocks, false, seed)),
        readers,
        seed,
        writes: context.text("writer") != "none",
    };
    let (arms, tallies): (Vec<_>, Vec<_>) = [
        group.arm(EMPTY_LOOP, &Arc::new(Nothing))?,
        group.arm(NAMES[0], &subjects.locked)?,
        group.arm(NAMES[1], &subjects.concurrent)?,
        group.arm(NAMES[2], &subjects.swapped)?,
        group.arm(NAMES[3], &subjects.ours)?,
    ]
    .into_iter()
    .unzip();
    Ok(Prepared {
        arms,
        items_per_iteration: Some(readers * PASS),
        bytes_per_iteration: None,
        verify: Box::new(move || {
            let written = tallies.iter().flatten().map(|tally| tally.check());
            [subjects.agree(blocks, seed)]
                .into_iter()
                .chain(written)
                .collect()
        }),
    })
}

struct Group {
    queries: Arc<Queries>,
    readers: u64,
    seed: u64,
    writes: bool,
}

impl Group {
    fn arm<S: Subject>(
        &self,
        name: &str,
        subject: &Arc<S>,
    ) -> Result<(Arm, Option<Rc<Tally>>), Failure> {
        let cores = thread::available_parallelism().map_or(1, usize::from) as u64;
        if self.readers > cores {
            return Ok((
                Arm::unavailable(name, format!("needs {} cores", self.readers)),
                None,
            ));
        }
        let no_thread =
            |error| Failure::new("no_thread", format!("The system gives no thread: {error}."));
        let (subject, queries) = (Arc::clone(subject), Arc::clone(&self.queries));
        let second = (self.readers > 1)
            .then(|| Second::new(&subject, &queries))
            .transpose()
            .map_err(no_thread)?;
        let writer = self
            .writes
            .then(|| Writer::new(&subject, self.seed))
            .transpose()
            .map_err(no_thread)?;
        let tally = writer
            .as_ref()
            .map(|writer| Rc::new(Tally::new(name, &writer.written)));
        let counting = tally.clone();
        let (calls, position) = (Rc::new(RefCell::new(Vec::new())), Cell::new(0));
        let (timed, mut is_final) = (Rc::clone(&calls), subject.reader());
        let arm = Arm::looped(name, move |iterations| {
            let _writing = writer
                .as_ref()
                .zip(counting.as_ref())
                .map(|(writer, tally)| writer.resume(tally));
            let both = second.as_ref().map(|second| second.begin(iterations));
            let mut timed = timed.borrow_mut();
            for _ in 0..iterations {
                timed.push(pass(&mut is_final, &queries, &position));
            }
            drop(both); // waits for the second
        });
        let arm = arm.with_metric("call_time", move || {
            Reading::Each(std::mem::take(&mut calls.borrow_mut()))
        });
        Ok((arm, tally))
    }
}

/// What the writer beside an arm did. A check and no work of the arm: the writer keeps to the clock, so a
/// faster arm sees less of it in an iteration.
struct Tally {
    arm: String,
    written: Arc<AtomicU64>,
    let_write: Cell<Duration>,
}

impl Tally {
    fn new(arm: &str, written: &Arc<AtomicU64>) -> Self {
        Self {
            arm: arm.to_owned(),
            written: Arc::clone(written),
            let_write: Cell::new(Duration::ZERO),
        }
    }

    fn check(&self) -> Check {
        let (written, long) = (self.written.load(Ordering::Relaxed), self.let_write.get());
        let detail = format!(
            "{}: {written} blocks in {:.1} s",
            self.arm,
            long.as_secs_f64()
        );
        Check {
            name: "writer_writes".to_owned(),
            ok: written > 0 || long < WRITES_WITHIN,
            detail,
        }
    }
}

/// A pass; how long its first check took.
#[inline]
fn pass(
    is_final: &mut impl FnMut(&BlockId) -> bool,
    queries: &Queries,
    position: &Cell<usize>,
) -> u64 {
    let begin = Instant::now();
    queries.each(position, 1, |id| keep(is_final(id)));
    let took = begin.elapsed();
    queries.each(position, PASS - 1, |id| keep(is_final(id)));
    u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
}

/// Another reader, which sleeps between samples.
struct Second {
    both: Arc<Barrier>,
    iterations: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Until it is dropped, the second reads; dropping waits for it.
struct SecondReads<'a>(&'a Barrier);

impl Drop for SecondReads<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

impl Second {
    fn new<S: Subject>(subject: &Arc<S>, queries: &Arc<Queries>) -> std::io::Result<Self> {
        let both = Arc::new(Barrier::new(2));
        let iterations = Arc::new(AtomicU64::new(0));
        let (mut is_final, queries) = (Arc::clone(subject).reader(), Arc::clone(queries));
        let (meet, told) = (Arc::clone(&both), Arc::clone(&iterations));
        let read = move || {
            let position = Cell::new(0);
            loop {
                meet.wait();
                let iterations = told.load(Ordering::Relaxed); // the barrier orders it
                if iterations == 0 {
                    return;
                }
                for _ in 0..iterations {
                    keep(pass(&mut is_final, &queries, &position));
                }
                meet.wait();
            }
        };
        let thread = Some(
            thread::Builder::new()
                .name("reader".to_owned())
                .spawn(read)?,
        );
        Ok(Self {
            both,
            iterations,
            thread,
        })
    }

    fn begin(&self, iterations: u64) -> SecondReads<'_> {
        self.iterations.store(iterations, Ordering::Relaxed);
        self.both.wait();
        SecondReads(&self.both)
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        self.iterations.store(0, Ordering::Relaxed);
        self.both.wait();
        // A reader does not panic.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A thread that adds a block every millisecond while it is told to.
struct Writer {
    writes: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// Until it is dropped, the writer writes.
struct Writing<'a> {
    may: &'a AtomicBool,
    tally: &'a Tally,
    since: Instant,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.may.store(false, Ordering::Relaxed);
        self.tally
            .let_write
            .set(self.tally.let_write.get() + self.since.elapsed());
    }
}

impl Writer {
    fn new<S: Subject>(subject: &Arc<S>, seed: u64) -> std::io::Result<Self> {
        let [writes, stop] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let written = Arc::new(AtomicU64::new(0));
        let (subject, count) = (Arc::clone(subject), Arc::clone(&written));
        let (may, ends) = (Arc::clone(&writes), Arc::clone(&stop));
        let write = move || {
            let mut number = WRITTEN_FROM;
            let mut due = Instant::now();
            while !ends.load(Ordering::Relaxed) {
                if !may.load(Ordering::Relaxed) {
                    thread::park();
                    due = Instant::now();
                } else if subject.add(ids::block(seed, number)) {
                    number += 1;
                    count.fetch_add(1, Ordering::Relaxed);
                    due += WRITE_EVERY;
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                } else {
                    return; // nothing is refused; if it were, `written` would stand still
                }
            }
        };
        let thread = Some(
            thread::Builder::new()
                .name("writer".to_owned())
                .spawn(write)?,
        );
        Ok(Self {
            writes,
            stop,
            written,
            thread,
        })
    }

    fn resume<'a>(&'a self, tally: &'a Tally) -> Writing<'a> {
        self.writes.store(true, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
        Writing {
            may: &self.writes,
            tally,
            since: Instant::now(),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Whatever it died of, the group is over.
            let _ = thread.join();
        }
    }
}
