//! Chooses the engine for each message: by CPU, algorithm, number and lengths.
//!
//! A batch is cut into windows. If the messages of a window differ in blocks, they are visited
//! longest first, so that the lanes of a group end together. Each group goes to the widest kernel
//! that is faster for its size. Unfinished messages continue in a narrower kernel, and the last
//! ones are digested one at a time.

use crate::algorithm::{Algorithm, State};
use crate::lanes::{Group, Lanes, Padding, Step};
use crate::messages::{Messages, Places};
use crate::order::{Order, WINDOW};
use crate::plan::{Kernel, LANES_MAX, Plan};
use crate::streams::Pending;

/// A message and the position of its digest.
#[derive(Clone, Copy)]
struct Job<'a> {
    message: &'a [u8],
    place: usize,
}

/// Jobs that have compressed `done` whole blocks each.
struct Rest<'a> {
    jobs: [Job<'a>; LANES_MAX],
    states: [State; LANES_MAX],
    count: usize,
    done: usize,
}

/// Digests every message; `digests` has a position for each.
pub(crate) fn run(algorithm: Algorithm, plan: &Plan, messages: &Messages<'_>, digests: &mut [u8]) {
    let mut run = Run {
        algorithm,
        plan: *plan,
        places: Places::of(algorithm, digests),
        padding: None,
    };
    let count = messages.count();
    if algorithm == Algorithm::Sha256 && count >= LANES_MAX {
        run.padding = messages.message_bytes().and_then(Padding::of);
    }
    for start in (0..count).step_by(WINDOW) {
        run.window(messages, start, count.min(start + WINDOW));
    }
}

/// One call's work.
struct Run<'p> {
    algorithm: Algorithm,
    plan: Plan,
    places: Places<'p>,
    /// The last block of messages of one length, if it holds none of their bytes and is worth
    /// preparing.
    padding: Option<Padding>,
}

impl Run<'_> {
    fn window(&mut self, messages: &Messages<'_>, start: usize, end: usize) {
        let window = Order::of(messages, start, end);
        let mut order = window.as_slice();
        let job = |i: u16| {
            let place = start + usize::from(i);
            Job {
                message: messages.get(place),
                place,
            }
        };
        for level in 0..self.plan.tiers.len() {
            let Some(tier) = self.plan.tiers[level] else {
                continue;
            };
            while order.len() >= tier.least {
                let lanes = tier.kernel.lanes();
                if let Some(blocks) = window.alike.filter(|_| order.len() >= lanes) {
                    self.alike(tier.kernel, messages, start + usize::from(order[0]), blocks);
                    order = &order[lanes..];
                    continue;
                }
                let (group, rest) = order.split_at(order.len().min(lanes));
                let jobs: [Job<'_>; LANES_MAX] =
                    core::array::from_fn(|lane| job(*group.get(lane).unwrap_or(&group[0])));
                self.lanes(level, &jobs[..group.len()], None);
                order = rest;
            }
        }
        for pair in order.chunks(2) {
            let second = pair.last().map_or(job(pair[0]), |i| job(*i));
            self.streams(
                &[job(pair[0]), second][..pair.len()],
                0,
                &[self.algorithm.initial_state(); 2],
            );
        }
    }

    /// Digests as many messages as the kernel has lanes, from `first` on, each of `blocks` blocks.
    fn alike(&mut self, kernel: Kernel, messages: &Messages<'_>, first: usize, blocks: usize) {
        match kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => self.full(kernel, messages, first, blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Half(kernel) => self.full(kernel, messages, first, blocks),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => self.full(kernel, messages, first, blocks),
        }
    }

    fn full<const N: usize>(
        &mut self,
        kernel: impl Lanes<N>,
        messages: &Messages<'_>,
        first: usize,
        blocks: usize,
    ) {
        let group = messages.group(first);
        let padding = self.padding.as_ref();
        let step = if messages.message_bytes().is_some() {
            Step::equal(&group, blocks - usize::from(padding.is_some()))
        } else {
            Step::new(&group, 0, blocks, u32::MAX)
        };
        self.places.fill(first, |rows| {
            kernel.alike(self.algorithm, &step, padding, rows);
        });
    }

    /// Runs the kernel of a tier on a group, from the beginning or from where another kernel
    /// stopped.
    fn lanes(&mut self, level: usize, jobs: &[Job<'_>], after: Option<(usize, &[State])>) {
        let Some(tier) = self.plan.tiers[level] else {
            return;
        };
        match tier.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(kernel) => self.group(kernel, level, jobs, after),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Half(kernel) => self.group(kernel, level, jobs, after),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(kernel) => self.group(kernel, level, jobs, after),
        }
    }

    fn group<const N: usize>(
        &mut self,
        kernel: impl Lanes<N>,
        level: usize,
        jobs: &[Job<'_>],
        after: Option<(usize, &[State])>,
    ) {
        // Lanes without a job repeat the message of the first lane and are never live.
        let messages = core::array::from_fn(|lane| jobs.get(lane).unwrap_or(&jobs[0]).message);
        let mut group = match after {
            None => Group::new(self.algorithm, jobs.len()),
            Some((done, states)) => Group::resume(done, states),
        };
        let least = self.plan.tiers[level].map_or(1, |tier| tier.least);
        group.run(kernel, self.algorithm, &messages, least);
        let mut rows = [[0; 32]; N];
        kernel.digests(&group.columns, &mut rows);
        for (lane, job) in jobs
            .iter()
            .enumerate()
            .filter(|(lane, _)| !group.is_live(*lane))
        {
            self.places.put(job.place, &rows[lane]);
        }
        if group.live != 0 {
            let mut rest = Rest {
                jobs: [jobs[0]; LANES_MAX],
                states: [[0; 8]; LANES_MAX],
                count: 0,
                done: group.done,
            };
            for (lane, job) in jobs
                .iter()
                .enumerate()
                .filter(|(lane, _)| group.is_live(*lane))
            {
                (rest.jobs[rest.count], rest.states[rest.count]) = (*job, group.state(lane));
                rest.count += 1;
            }
            self.settle(level + 1, &rest);
        }
    }

    /// Finishes the messages that a wider tier left, in tiers from `level` on or in streams.
    fn settle(&mut self, level: usize, rest: &Rest<'_>) {
        let (mut jobs, mut states) = (&rest.jobs[..rest.count], &rest.states[..rest.count]);
        for level in level..self.plan.tiers.len() {
            let Some(tier) = self.plan.tiers[level] else {
                continue;
            };
            while jobs.len() >= tier.least {
                let taken = jobs.len().min(tier.kernel.lanes());
                self.lanes(level, &jobs[..taken], Some((rest.done, &states[..taken])));
                (jobs, states) = (&jobs[taken..], &states[taken..]);
            }
        }
        for (jobs, states) in jobs.chunks(2).zip(states.chunks(2)) {
            self.streams(jobs, rest.done, states);
        }
    }

    /// Finishes one or two messages from their states.
    fn streams(&mut self, jobs: &[Job<'_>], done: usize, states: &[State]) {
        match (jobs, states) {
            ([first, second], [a, b]) => {
                let pair = [(first.message, a), (second.message, b)];
                let pair = pair.map(|(message, state)| Pending {
                    message,
                    done,
                    state: *state,
                });
                let states = self.plan.stream.finish_pair(self.algorithm, &pair);
                self.places.put_state(first.place, &states[0]);
                self.places.put_state(second.place, &states[1]);
            }
            ([job], [state, ..]) => {
                let pending = Pending {
                    message: job.message,
                    done,
                    state: *state,
                };
                self.places.put_state(
                    job.place,
                    &self.plan.stream.finish(self.algorithm, &pending),
                );
            }
            _ => {}
        }
    }
}
