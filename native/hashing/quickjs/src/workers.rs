//! Threads that hash beside the JS thread.
//!
//! ```text
//!   JS thread, end of turn ──submit──▶ queue ──▶ worker: a fair share of it ──▶ completed
//!             ◀────────────────────── collect / wait ─────────────────────────────┘
//! ```
//! Every submitted job is collected exactly once or dropped by [`Workers::stop`], after which no
//! worker reads memory any more. No thread spins. A worker takes several pieces at once, because
//! the engines hash them side by side, but never more than its share. A worker is free as soon as
//! its pieces are seen as completed, so the next pieces are shared with it. Pieces complete in any
//! order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use paceline_hashing_core::{Algorithm, Choice, digest_buffers, panic_text};

use crate::failure::Failure;
use crate::hasher::{DIGEST_BYTES, Digest, Hasher};

/// The widest engine's lanes; more pieces at once gain nothing.
pub(crate) const LANES: usize = 16;

/// What digests a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digester {
    /// This library's engines.
    Native,
    /// The host's hasher, over the bytes where they lie.
    Hasher,
}

/// A piece to hash. Its maker keeps the memory mapped and unwritten until the job was collected, or until
/// `Workers::stop` returned.
#[derive(Debug)]
pub(crate) struct Job {
    number: u64,
    digester: Digester,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is not tied to a thread, and it is only read while the job lives.
unsafe impl Send for Job {}

impl Job {
    pub(crate) fn new(number: u64, digester: Digester, start: NonNull<u8>, bytes: usize) -> Self {
        Self {
            number,
            digester,
            start,
            bytes,
        }
    }

    fn as_slice(&self) -> &[u8] {
        // SAFETY: what the type promises.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

/// The result of a job.
pub(crate) struct Completion {
    pub(crate) number: u64,
    pub(crate) digest: Result<Digest, Failure>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// Idle workers, including those whose threads have not begun yet.
    free: usize,
    completed: Vec<Completion>,
    stopping: bool,
}

impl Queue {
    /// Takes a free worker's share of the waiting jobs.
    fn take(&mut self) -> Option<Vec<Job>> {
        let digester = self.waiting.front()?.digester;
        // A hasher takes one piece at a time; a larger share would only keep pieces from other workers.
        let share = if digester == Digester::Native {
            self.waiting.len().div_ceil(self.free).min(LANES)
        } else {
            1
        };
        let alike = self
            .waiting
            .iter()
            .take(share)
            .take_while(|job| job.digester == digester)
            .count();
        self.free -= 1;
        Some(self.waiting.drain(..alike).collect())
    }

    /// Adds the results of a worker and marks it as free, in one step: otherwise a script that submits its next
    /// pieces as soon as these complete might find a single free worker, which would take them all.
    fn complete(&mut self, completed: Vec<Completion>) {
        self.completed.extend(completed);
        self.free += 1;
    }
}

struct Shared {
    queue: Mutex<Queue>,
    work: Condvar,
    completed: Condvar,
    digest_ns: AtomicU64,
    hasher: Arc<dyn Hasher>,
}

impl Shared {
    /// A panic while it is held cannot leave the queue half changed, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The worker threads of a host.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(count: usize, hasher: Arc<dyn Hasher>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                free: count,
                ..Queue::default()
            }),
            work: Condvar::new(),
            completed: Condvar::new(),
            digest_ns: AtomicU64::new(0),
            hasher,
        });
        let mut workers = Self {
            shared,
            threads: Vec::with_capacity(count),
        };
        for index in 0..count {
            let shared = Arc::clone(&workers.shared);
            let thread = Builder::new()
                .name(format!("piece-{index}"))
                .spawn(move || work(&shared));
            match thread {
                Ok(thread) => workers.threads.push(thread),
                Err(error) => {
                    workers.stop();
                    return Err(error);
                }
            }
        }
        Ok(workers)
    }

    pub(crate) fn submit(&self, jobs: Vec<Job>) {
        if !jobs.is_empty() {
            self.shared.lock().waiting.extend(jobs);
            self.shared.work.notify_one(); // that worker wakes the next; see `next`
        }
    }

    /// The jobs completed since the last call; with `wait`, waits for the first one. Call it only while a
    /// submitted job has not been collected, as it would wait for ever.
    pub(crate) fn collect(&self, wait: bool) -> Vec<Completion> {
        let mut queue = self.shared.lock();
        while wait && queue.completed.is_empty() {
            queue = self
                .shared
                .completed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut queue.completed)
    }

    /// Time that native digests took, in all workers together.
    pub(crate) fn digest_ns(&self) -> u64 {
        self.shared.digest_ns.load(Ordering::Relaxed)
    }

    /// Waits for the pieces being hashed, drops those that wait and ends the threads.
    pub(crate) fn stop(self) {
        {
            let mut queue = self.shared.lock();
            queue.stopping = true;
            queue.waiting.clear();
        }
        self.shared.work.notify_all();
        for thread in self.threads {
            // Workers catch panics, so their ends hold no error.
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared) {
    while let Some(jobs) = next(shared) {
        let completed =
            catch_unwind(AssertUnwindSafe(|| digest(shared, &jobs))).unwrap_or_else(|payload| {
                let failure = Failure::new(panic_text(payload.as_ref()));
                jobs.iter()
                    .map(|job| Completion {
                        number: job.number,
                        digest: Err(failure.clone()),
                    })
                    .collect()
            });
        shared.lock().complete(completed);
        shared.completed.notify_one();
    }
}

/// Waits for work and takes this worker's share of it; `None` once the workers are stopped.
fn next(shared: &Shared) -> Option<Vec<Job>> {
    let mut queue = shared.lock();
    loop {
        if queue.stopping {
            return None;
        }
        if let Some(jobs) = queue.take() {
            // The JS thread wakes one worker, which wakes the next: if all were woken at once while the JS thread
            // still runs, two might be scheduled on the only idle core.
            if !queue.waiting.is_empty() {
                shared.work.notify_one();
            }
            return Some(jobs);
        }
        queue = shared
            .work
            .wait(queue)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

fn digest(shared: &Shared, jobs: &[Job]) -> Vec<Completion> {
    if jobs.iter().any(|job| job.digester == Digester::Hasher) {
        let by_hasher = |job: &Job| {
            // SAFETY: what `Job` promises.
            let digest = unsafe { shared.hasher.direct(job.start, job.bytes) };
            Completion {
                number: job.number,
                digest,
            }
        };
        return jobs.iter().map(by_hasher).collect();
    }
    let pieces: Vec<&[u8]> = jobs.iter().map(Job::as_slice).collect();
    let mut digests = vec![[0; DIGEST_BYTES]; jobs.len()];
    let begin = Instant::now();
    let outcome = digest_buffers(
        Algorithm::Sha1,
        Choice::Best,
        &pieces,
        digests.as_flattened_mut(),
    );
    let elapsed = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    shared.digest_ns.fetch_add(elapsed, Ordering::Relaxed);
    let completion = |(job, digest): (&Job, Digest)| Completion {
        number: job.number,
        digest: outcome.map(|_| digest).map_err(Failure::new),
    };
    jobs.iter().zip(digests).map(completion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(workers: usize) -> Queue {
        Queue {
            free: workers,
            ..Queue::default()
        }
    }

    fn submit(queue: &mut Queue, digester: Digester, count: u64) {
        queue
            .waiting
            .extend((0..count).map(|number| Job::new(number, digester, NonNull::dangling(), 0)));
    }

    fn taken(queue: &mut Queue) -> usize {
        queue.take().map_or(0, |jobs| jobs.len())
    }

    #[test]
    fn pieces_of_one_turn_are_shared_evenly_up_to_the_lanes() {
        for (workers, pieces, expected) in [
            (2, 16, [8, 8]),
            (2, 5, [3, 2]),
            (2, 40, [16, 16]),
            (1, 9, [9, 0]),
        ] {
            let mut queue = queue(workers);
            submit(&mut queue, Digester::Native, pieces);
            let shares = [
                taken(&mut queue),
                if workers > 1 { taken(&mut queue) } else { 0 },
            ];
            assert_eq!(shares, expected, "{pieces} pieces");
        }
    }

    #[test]
    fn a_worker_is_free_as_soon_as_its_pieces_are_completed() {
        let mut queue = queue(2);
        for _ in 0..3 {
            submit(&mut queue, Digester::Native, 16);
            assert_eq!([taken(&mut queue), taken(&mut queue)], [8, 8]);
            queue.complete(Vec::new());
            queue.complete(Vec::new());
        }
        assert_eq!(queue.free, 2);
    }

    #[test]
    fn pieces_for_a_hasher_are_taken_one_at_a_time() {
        let mut queue = queue(3);
        submit(&mut queue, Digester::Hasher, 2);
        submit(&mut queue, Digester::Native, 2);
        assert_eq!(
            [taken(&mut queue), taken(&mut queue), taken(&mut queue)],
            [1, 1, 2]
        );
    }
}
