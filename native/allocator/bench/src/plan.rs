//! A round of a benchmark: what every arm does in it, and how arms are made ready.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use paceline_harness::{Arm, Check, Context, Direction, Failure, Metric, Prepared, Reading, Unit};

use crate::arms::{self, ALL, Allocator, Setup};
use crate::subject::{Asked, End, Round, Subject};

/// Operations of a short run; as in `subject/main.c`.
const RUN_TIMES: u64 = 32;
const NS_PER_S: u128 = 1_000_000_000;
/// The share of chunks that `chunk_q10` leaves below itself.
const QUICK_DIVISOR: usize = 10;

/// One group of a benchmark.
pub(crate) struct Plan {
    pub(crate) scenario: &'static str,
    pub(crate) options: Vec<(&'static str, u64)>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) setup: Setup,
    pub(crate) asked: Asked,
    /// Threads that work at once.
    pub(crate) cpus: usize,
    /// Operations, as people count them, of one iteration.
    pub(crate) items: u64,
    pub(crate) reports: Reports,
}

/// Which metrics a benchmark has besides `time`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reports {
    /// `chunk_time` and `chunk_q10`.
    pub(crate) chunks: bool,
    /// `op_p50` and `op_p99`.
    pub(crate) percentiles: bool,
    /// `rss_after` and `rss_idle`.
    pub(crate) leftovers: bool,
}

/// The metrics of a benchmark, as `suite.toml` has them.
pub(crate) fn metrics(reports: Reports) -> Vec<Metric> {
    let metric = |name: &str, unit| {
        let direction = if name == "throughput" {
            Direction::Higher
        } else {
            Direction::Lower
        };
        Metric {
            name: name.to_owned(),
            unit,
            direction,
        }
    };
    let mut metrics = vec![metric("throughput", Unit::OperationsPerSecond)];
    if reports.chunks {
        metrics.extend(["chunk_time", "chunk_q10"].map(|name| metric(name, Unit::Nanoseconds)));
    }
    if reports.percentiles {
        metrics.extend(["op_p50", "op_p99"].map(|name| metric(name, Unit::Nanoseconds)));
    }
    if reports.leftovers {
        metrics.extend(["rss_after", "rss_idle"].map(|name| metric(name, Unit::Bytes)));
    }
    metrics.push(metric("rss_peak", Unit::Bytes));
    metrics.push(metric("page_faults", Unit::Count));
    metrics
}

/// A subject and what it said last.
struct Seat {
    subject: Subject,
    last: Round,
    /// Rounds it worked; none for an arm that was not asked for.
    rounds: u64,
    /// Chunks of all rounds so far, warm-up included.
    chunks_ns: Vec<u64>,
    end: Option<End>,
}

impl Seat {
    fn end(&mut self) -> Result<End, Failure> {
        if let Some(end) = self.end {
            return Ok(end);
        }
        let end = self.subject.end()?;
        self.end = Some(end);
        Ok(end)
    }
}

/// Starts a subject for each arm that can run.
pub(crate) fn prepare(plan: &Plan, context: &Context<'_>) -> Result<Prepared, Failure> {
    let folder = arms::folder()?;
    let mut arguments = vec![plan.scenario.to_owned()];
    let shared = [("seed", context.seed), ("layout", layout(context))];
    for (name, value) in plan.options.iter().chain(&shared) {
        arguments.extend([format!("--{name}"), value.to_string()]);
    }
    if let Some(trace) = &plan.trace {
        arguments.extend(["--trace".to_owned(), trace.to_string_lossy().into_owned()]);
    }
    let mut prepared = Vec::new();
    let mut seats = Vec::new();
    for allocator in &ALL {
        let missing = allocator
            .missing(&folder, plan.setup)
            .or_else(|| too_few_cpus(plan.cpus));
        if let Some(reason) = missing {
            prepared.push(Arm::unavailable(allocator.name, reason));
            continue;
        }
        let subject = Subject::start(allocator, &folder, plan.setup, &arguments)?;
        let seat = Seat {
            subject,
            last: Round::default(),
            rounds: 0,
            chunks_ns: Vec::new(),
            end: None,
        };
        let seat = Rc::new(RefCell::new(seat));
        prepared.push(arm(allocator, &seat, plan, context.rounds));
        seats.push((allocator.name, seat));
    }
    Ok(Prepared {
        arms: prepared,
        items_per_iteration: Some(plan.items),
        bytes_per_iteration: None,
        verify: Box::new(move || vec![same_operations(&seats)]),
    })
}

/// Where the slots lie in their page, in cache lines: equal for all arms of a launch, another in the next.
fn layout(context: &Context<'_>) -> u64 {
    (context.seed.wrapping_add(context.launch)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58
}

fn too_few_cpus(needed: usize) -> Option<String> {
    (arms::cpus() < needed).then(|| format!("needs {needed} CPUs"))
}

fn arm(allocator: &Allocator, seat: &Rc<RefCell<Seat>>, plan: &Plan, rounds: u64) -> Arm {
    let (asked, reports, items) = (plan.asked, plan.reports, plan.items);
    let iterations = asked.chunks * asked.times;
    let at = || Rc::clone(seat);
    let (work, rate, peak, faults) = (at(), at(), at(), at());
    let mut arm = Arm::elsewhere(allocator.name, move |_| {
        let seat = &mut *work.borrow_mut();
        seat.last = seat.subject.round(asked)?;
        seat.rounds += 1;
        seat.chunks_ns.extend(&seat.last.chunks_ns);
        Ok(seat.last.total_ns)
    })
    .with_iterations(iterations)
    .with_work(move || {
        // `Subject::start` ends the launch of an arm whose process has another malloc.
        ["items", "own_malloc"]
            .map(|counter| (counter.to_owned(), iterations * items))
            .into()
    })
    .with_metric("throughput", move || {
        Reading::Total(per_second(iterations * items, rate.borrow().last.total_ns))
    })
    .with_metric("rss_peak", move || {
        Reading::Each(vec![peak.borrow().last.peak_bytes])
    })
    .with_launch_metric("page_faults", move || Ok(faults.borrow_mut().end()?.faults));
    if reports.chunks {
        let (each, quick) = (at(), at());
        let measured = usize::try_from(rounds * asked.chunks).unwrap_or(usize::MAX);
        arm = arm
            .with_metric("chunk_time", move || {
                Reading::Each(each.borrow().last.chunks_ns.clone())
            })
            .with_launch_metric("chunk_q10", move || {
                Ok(quick_chunk(&quick.borrow().chunks_ns, measured))
            });
    }
    if reports.percentiles {
        let (p50, p99) = (at(), at());
        // A run's time as a total over the round's iterations, so that readers see one operation's.
        let total = move |run_ns: u64| Reading::Total(run_ns * iterations / RUN_TIMES);
        arm = arm
            .with_metric("op_p50", move || total(p50.borrow().last.run_p50_ns))
            .with_metric("op_p99", move || total(p99.borrow().last.run_p99_ns));
    }
    if reports.leftovers {
        let (after, idle) = (at(), at());
        arm = arm
            .with_metric("rss_after", move || {
                Reading::Each(vec![after.borrow().last.settled_bytes])
            })
            .with_launch_metric("rss_idle", move || Ok(idle.borrow_mut().end()?.idle_bytes));
    }
    arm
}

fn per_second(items: u64, total_ns: u64) -> u64 {
    let rate = u128::from(items) * NS_PER_S / u128::from(total_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// The 10 % quantile (the lower of two) of the last `measured` chunks: those before were warm-up.
fn quick_chunk(chunks_ns: &[u64], measured: usize) -> u64 {
    let mut counted = chunks_ns[chunks_ns.len().saturating_sub(measured)..].to_vec();
    counted.sort_unstable();
    counted
        .get(counted.len().saturating_sub(1) / QUICK_DIVISOR)
        .copied()
        .unwrap_or(0)
}

/// Every arm drew the same, holds the same objects, and finds in each what it wrote there.
fn same_operations(seats: &[(&'static str, Rc<RefCell<Seat>>)]) -> Check {
    let most = seats
        .iter()
        .map(|(_, seat)| seat.borrow().rounds)
        .max()
        .unwrap_or(0);
    let asked: Vec<_> = seats
        .iter()
        .filter(|(_, seat)| seat.borrow().rounds == most)
        .collect();
    let mut first = None;
    let mut wrong = Vec::new();
    for (name, seat) in &asked {
        match seat.borrow_mut().subject.state() {
            Ok(digest) => {
                let expected = *first.get_or_insert(digest);
                if digest != expected {
                    wrong.push(format!("{name}: digest {digest:x}, not {expected:x}"));
                }
            }
            Err(failure) => wrong.push(failure.text),
        }
    }
    let ok = wrong.is_empty();
    let detail = if ok {
        format!("{} arms, {most} rounds", asked.len())
    } else {
        wrong.join("; ")
    };
    Check {
        name: "same_operations".to_owned(),
        ok,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_chunk_is_the_tenth_percentile_of_the_measured_ones() {
        let warmup = [1; 50]; // quicker than any measured one, and not counted
        let chunks: Vec<u64> = warmup
            .into_iter()
            .chain((1..=200).rev().map(|n| n * 10))
            .collect();
        assert_eq!(quick_chunk(&chunks, 200), 200, "19 of 200 are quicker");
        assert_eq!(quick_chunk(&[7], 200), 7);
        assert_eq!(quick_chunk(&[], 200), 0);
    }

    #[test]
    fn a_rate_is_items_over_time_whatever_their_size() {
        assert_eq!(per_second(500_000, 8_000_000), 62_500_000);
        assert_eq!(per_second(u64::MAX, 1), u64::MAX);
        assert_eq!(per_second(1, 0), 1_000_000_000, "no time is one nanosecond");
    }
}
