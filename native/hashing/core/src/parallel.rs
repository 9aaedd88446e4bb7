//! Digests on several threads: parked threads help the caller.
//!
//! A call offers its messages. Every thread, the caller first, claims some, digests them and claims
//! again until none are left. Claims shrink towards the end, so no thread waits long for the last
//! one. A thread that wakes late finds the offer withdrawn; a delayed one costs the caller at most
//! its claim. No thread spins: on busy cores a spinning thread takes the time of the one it waits
//! for.
//!
//! A call returns only after every thread has left its offer, and with every digest, whatever
//! happened to the helpers. Nothing is allocated after [`Crew::new`]. There is one offer at a time;
//! a second caller digests alone.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::algorithm::{Algorithm, BLOCK_BYTES};
use crate::batch::{self, BatchError, Choice};
use crate::dispatch;
use crate::engine::Engine;
use crate::messages::Messages;
use crate::plan::{LANES_MAX, Plan};

/// The caller digests less work than this alone: about 50 µs for one stream, which waking a thread and
/// waiting for it can cost.
const SHARED_MIN_BYTES: usize = 64 << 10;
/// The least work of a claim, about 10 µs for one stream, so that the cost of claiming does not
/// matter.
const CLAIM_MIN_BYTES: usize = 16 << 10;
/// A claim is this fraction of each thread's share of the rest: small enough that threads of
/// different speed end together, large enough that there are few claims.
const CLAIM_PARTS: usize = 2;

/// Threads that help the calling thread; they sleep between calls and end when the crew is dropped.
pub struct Crew {
    shared: Arc<Shared>,
    /// Held by the call that made the current offer.
    turn: Mutex<()>,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}

impl Crew {
    /// A crew of `threads` threads including the caller; at least one.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn new(threads: usize) -> std::io::Result<Self> {
        let mut crew = Self {
            shared: Arc::default(),
            turn: Mutex::new(()),
            threads: Vec::new(),
        };
        for i in 1..threads {
            let shared = Arc::clone(&crew.shared);
            let thread = thread::Builder::new().name(format!("digest-{i}"));
            // If this fails, dropping `crew` ends the threads that were started.
            crew.threads.push(thread.spawn(move || shared.serve())?);
        }
        Ok(crew)
    }

    /// The number of threads including the caller.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.len() + 1
    }

    /// [`digest_equal`](crate::digest_equal) by the crew.
    ///
    /// # Errors
    /// As [`digest_equal`](crate::digest_equal).
    pub fn digest_equal(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        messages: &[u8],
        message_bytes: usize,
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        let messages = batch::equal(algorithm, messages, message_bytes, digests)?;
        self.digest(algorithm, choice, messages, digests)
    }

    /// [`digest_ragged`](crate::digest_ragged) by the crew.
    ///
    /// # Errors
    /// As [`digest_ragged`](crate::digest_ragged).
    pub fn digest_ragged(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        messages: &[u8],
        offsets: &[u32],
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        let messages = batch::ragged(algorithm, messages, offsets, digests)?;
        self.digest(algorithm, choice, messages, digests)
    }

    /// [`digest_buffers`](crate::digest_buffers) by the crew.
    ///
    /// # Errors
    /// As [`digest_buffers`](crate::digest_buffers).
    pub fn digest_buffers(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        buffers: &[&[u8]],
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        let messages = batch::scattered(algorithm, buffers, digests)?;
        self.digest(algorithm, choice, messages, digests)
    }

    fn digest(
        &self,
        algorithm: Algorithm,
        choice: Choice,
        messages: Messages<'_>,
        digests: &mut [u8],
    ) -> Result<Engine, BatchError> {
        let plan = Plan::new(algorithm, choice)?;
        let count = messages.count();
        let bytes: usize = (0..count).map(|i| messages.bytes(i) + BLOCK_BYTES).sum();
        if bytes < SHARED_MIN_BYTES || count < 2 {
            dispatch::run(algorithm, &plan, &messages, digests);
            return Ok(plan.engine(count));
        }
        let least = (CLAIM_MIN_BYTES * count).div_ceil(bytes);
        self.share_out(algorithm, messages, digests, least, &|messages, digests| {
            dispatch::run(algorithm, &plan, messages, digests);
        });
        Ok(plan.engine(count))
    }

    /// Lets every thread run `run` on what it claims, until all digests are there.
    fn share_out(
        &self,
        algorithm: Algorithm,
        messages: Messages<'_>,
        digests: &mut [u8],
        least: usize,
        run: &(dyn Fn(&Messages<'_>, &mut [u8]) + Sync),
    ) {
        let threads = self.threads();
        let digested = AtomicUsize::new(0);
        let left = Left {
            messages,
            digests: &mut *digests,
            next: 0,
            least,
            group: None,
            threads,
        };
        let left = Mutex::new((algorithm, left));
        self.offer(&|| {
            while let Some((messages, digests)) = claim(&left) {
                run(&messages, digests);
                digested.fetch_add(messages.count(), Ordering::Relaxed); // leaving an offer orders it
            }
        });
        if digested.into_inner() < messages.count() {
            // A helper panicked within its claim. Digesting all messages here either panics as
            // well, where the caller sees it, or gives every digest.
            run(&messages, digests);
        }
    }

    /// Runs `task` on the calling thread and on every thread that wakes in time, and returns when
    /// all have left it.
    fn offer(&self, task: &(dyn Fn() + Sync)) {
        let Ok(_turn) = self.turn.try_lock() else {
            return task();
        };
        // SAFETY: only the lifetime changes. `Withdrawal` ends the offer before this function
        // returns or unwinds: after that no thread can enter the task, and all threads have left
        // it.
        let task_of_any_lifetime: &'static (dyn Fn() + Sync) = unsafe { std::mem::transmute(task) };
        {
            let mut offer = self.shared.lock();
            offer.task = Some(Task(std::ptr::from_ref(task_of_any_lifetime)));
            offer.number = offer.number.wrapping_add(1);
        }
        let _withdrawal = Withdrawal(&self.shared);
        self.shared.offered.notify_all();
        task();
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.offered.notify_all();
        for thread in self.threads.drain(..) {
            // A task's panic was caught, so the result holds no error.
            let _ = thread.join();
        }
    }
}

/// The state that the threads of a crew share and wait on.
#[derive(Default)]
struct Shared {
    offer: Mutex<Offer>,
    /// Signalled when there is a new offer or the crew ends.
    offered: Condvar,
    /// Signalled when the last thread has left a task.
    left: Condvar,
}

#[derive(Default)]
struct Offer {
    task: Option<Task>,
    /// The number of the offer.
    number: u64,
    /// Threads in the task, without the caller.
    inside: usize,
    over: bool,
}

/// A task on some caller's stack.
#[derive(Clone, Copy)]
struct Task(*const (dyn Fn() + Sync));

// SAFETY: the task is `Sync`, so any thread may call it; `Offer::inside` keeps it alive meanwhile.
unsafe impl Send for Task {}

impl Shared {
    /// Takes the lock. Nothing panics while holding it, so a poisoned lock still protects valid data.
    fn lock(&self) -> MutexGuard<'_, Offer> {
        self.offer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a thread of the crew.
    fn serve(&self) {
        let mut seen = 0;
        let mut offer = self.lock();
        loop {
            if offer.over {
                return;
            }
            match offer.task {
                Some(task) if offer.number != seen => {
                    seen = offer.number;
                    offer.inside += 1;
                    drop(offer);
                    {
                        let _presence = Presence(self);
                        // SAFETY: this thread was counted while the offer was open, and the caller
                        // returns only after `_presence` has uncounted it.
                        let task = unsafe { &*task.0 };
                        // The caller digests what a panic left undone; this thread waits for the
                        // next offer.
                        let _ = catch_unwind(AssertUnwindSafe(task));
                    }
                    offer = self.lock();
                }
                _ => {
                    offer = self
                        .offered
                        .wait(offer)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// A thread in a task; uncounts itself when it leaves, even by a panic.
struct Presence<'s>(&'s Shared);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        let mut offer = self.0.lock();
        offer.inside -= 1;
        if offer.inside == 0 {
            self.0.left.notify_all();
        }
    }
}

/// Ends an offer: no thread can enter any more, and all have left when the drop returns.
struct Withdrawal<'s>(&'s Shared);

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let mut offer = self.0.lock();
        offer.task = None;
        while offer.inside > 0 {
            offer = self
                .0
                .left
                .wait(offer)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The unclaimed messages, and the positions of their digests.
struct Left<'a> {
    messages: Messages<'a>,
    digests: &'a mut [u8],
    next: usize,
    /// The least number of messages in a claim.
    least: usize,
    /// Messages per claim once a share is no larger than a group of lanes: from then on all claims
    /// are equal.
    group: Option<usize>,
    threads: usize,
}

/// Claimed messages and the positions of their digests.
fn claim<'a>(left: &Mutex<(Algorithm, Left<'a>)>) -> Option<(Messages<'a>, &'a mut [u8])> {
    let (algorithm, left) = &mut *left.lock().unwrap_or_else(PoisonError::into_inner);
    let count = left.messages.count() - left.next;
    if count == 0 {
        return None;
    }
    let taken = share(count, left.threads, left.least, &mut left.group);
    let (now, later) =
        std::mem::take(&mut left.digests).split_at_mut(taken * algorithm.digest_bytes());
    let messages = left.messages.range(left.next, left.next + taken);
    left.digests = later;
    left.next += taken;
    Some((messages, now))
}

/// How many of `count` messages to claim: whole groups of lanes where there are enough, else an
/// even share of what was left at that point. A share of the current rest would halve again and
/// again: 8, 4, 2, 1 of 16 pieces, of which 8 and 4 take the lanes equally long.
fn share(count: usize, threads: usize, least: usize, group: &mut Option<usize>) -> usize {
    let fair = count.div_ceil(threads);
    if fair <= LANES_MAX {
        return (*group.get_or_insert(fair)).max(least).min(count);
    }
    (fair / CLAIM_PARTS)
        .max(least)
        .next_multiple_of(LANES_MAX)
        .min(count)
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::*;

    #[test]
    fn the_caller_digests_what_a_panicking_thread_left() {
        let (algorithm, count, bytes) = (Algorithm::Sha256, 64, 4096);
        let text: Vec<u8> = (0..=250).cycle().take(count * bytes).collect();
        let plan = Plan::new(algorithm, Choice::Best).expect("always there");
        let messages = Messages::equal(&text, bytes, count).expect("fits");
        let mut expected = vec![0; count * algorithm.digest_bytes()];
        dispatch::run(algorithm, &plan, &messages, &mut expected);
        let (crew, caller) = (Crew::new(2).expect("a thread"), thread::current().id());
        // Twice: the thread outlives its panic.
        for _ in 0..2 {
            let panics = AtomicUsize::new(0);
            let mut digests = vec![0; expected.len()];
            crew.share_out(
                algorithm,
                messages,
                &mut digests,
                1,
                &|messages, digests| {
                    if thread::current().id() != caller {
                        panics.fetch_add(1, Ordering::SeqCst);
                        resume_unwind(Box::new("asked for")); // without the hook's message on stderr
                    }
                    while panics.load(Ordering::SeqCst) == 0 {
                        thread::yield_now(); // until the helper has come, and failed
                    }
                    dispatch::run(algorithm, &plan, messages, digests);
                },
            );
            assert_eq!(panics.into_inner(), 1);
            assert!(digests == expected, "a digest is missing");
        }
    }

    #[test]
    fn claims_cover_every_message_once_and_do_not_grow() {
        for threads in 1..5 {
            for least in [1, 7, 64] {
                for count in [1, 2, 16, 17, 100, 1000, 10_000] {
                    let (mut left, mut before, mut group) = (count, usize::MAX, None);
                    while left > 0 {
                        let taken = share(left, threads, least, &mut group);
                        assert!(taken >= 1 && taken <= left, "{taken} of {left}");
                        assert!(taken <= before.max(LANES_MAX), "{taken} after {before}");
                        (left, before) = (left - taken, taken);
                    }
                }
            }
        }
    }

    #[test]
    fn few_buffers_are_claimed_in_even_groups_in_any_order() {
        for (count, threads, expected) in [
            (16, 2, vec![8, 8]),
            (8, 2, vec![4, 4]),
            (10, 4, vec![3, 3, 3, 1]),
            (24, 2, vec![12, 12]),
        ] {
            let (mut left, mut group, mut claims) = (count, None, Vec::new());
            while left > 0 {
                claims.push(share(left, threads, 1, &mut group));
                left -= claims[claims.len() - 1];
            }
            assert_eq!(claims, expected, "{count} between {threads}");
        }
    }
}
