//! `two_threads`: what a second thread gains, with the other cores idle and with all of them busy.

use std::cell::RefCell;
use std::hint::{black_box, spin_loop};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use paceline_harness::{Arm, Benchmark, Check, Context, Failure, Param, Prepared, Value};
use paceline_hashing_core::parallel::Crew;
use paceline_hashing_core::{Algorithm, Choice, digest_ragged};

use crate::inputs::{FINGERPRINT_BYTES, Messages};

/// About one and ten milliseconds of work for one thread; waking another costs a part of the first.
const BATCHES: [u64; 2] = [10_000, 100_000];
const BATCH_MAX: u64 = 1_000_000;
const THREADS: usize = 2;

/// One large batch of fingerprints, by the calling thread alone and by a crew of two.
pub(crate) fn two_threads() -> Benchmark {
    Benchmark {
        name: "two_threads".to_owned(),
        arms: vec!["one_thread".to_owned(), "two_threads".to_owned()],
        params: vec![
            Param::int("batch", &BATCHES, 1, BATCH_MAX),
            Param::words("neighbour", &["idle", "busy"]),
        ],
        metrics: vec![],
        prepare: Box::new(prepare),
    }
}

/// Threads that spin from preparation until the group is dropped, one for each core but one.
struct Neighbours {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbours {
    fn spin(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |stop: Arc<AtomicBool>| {
            while !stop.load(Ordering::Relaxed) {
                spin_loop();
            }
        };
        let threads = (0..count)
            .map(|_| {
                let stop = Arc::clone(&stop);
                thread::spawn(move || spin(stop))
            })
            .collect();
        Self { stop, threads }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A spinning thread cannot panic.
            let _ = thread.join();
        }
    }
}

struct Group {
    messages: Messages,
    digests: RefCell<Vec<u8>>,
    crew: Crew,
    _neighbours: Neighbours,
}

impl Group {
    fn one_thread(&self) -> bool {
        let messages = black_box(&self.messages);
        let mut digests = self.digests.borrow_mut();
        let (bytes, offsets) = (messages.bytes(), messages.offsets());
        let engine = digest_ragged(
            Algorithm::Sha256,
            Choice::Best,
            bytes,
            offsets,
            &mut digests,
        );
        engine.is_ok()
    }

    fn two_threads(&self) -> bool {
        let messages = black_box(&self.messages);
        let mut digests = self.digests.borrow_mut();
        let (bytes, offsets) = (messages.bytes(), messages.offsets());
        let engine = self.crew.digest_ragged(
            Algorithm::Sha256,
            Choice::Best,
            bytes,
            offsets,
            &mut digests,
        );
        engine.is_ok()
    }

    /// Both ways give the same digests.
    fn agree(&self) -> Check {
        let mut both = Vec::new();
        for way in [Self::one_thread, Self::two_threads] {
            self.digests.borrow_mut().fill(0);
            let ok = way(self);
            both.push((ok, self.digests.borrow().clone()));
        }
        let ok = both.iter().all(|(ok, _)| *ok) && both[0].1 == both[1].1;
        let detail = format!(
            "{} messages, one thread and {THREADS}",
            self.messages.count()
        );
        Check {
            name: "engines_agree".to_owned(),
            ok,
            detail,
        }
    }
}

fn prepare(context: &Context<'_>) -> Result<Prepared, Failure> {
    let messages = Messages::batch(context.int("batch"), FINGERPRINT_BYTES, context.seed);
    let busy = context
        .params
        .iter()
        .any(|(_, value)| *value == Value::Text("busy".to_owned()));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let crew = Crew::new(THREADS).map_err(|error| {
        Failure::new("no_thread", format!("The system gives no thread: {error}."))
    })?;
    let group = Rc::new(Group {
        digests: RefCell::new(vec![0; messages.count() * Algorithm::Sha256.digest_bytes()]),
        crew,
        _neighbours: Neighbours::spin(if busy { cores - 1 } else { 0 }),
        messages,
    });
    let two = if cores < THREADS {
        Arm::unavailable("two_threads", "needs two cores")
    } else {
        arm("two_threads", &group, Group::two_threads)
    };
    Ok(Prepared {
        arms: vec![arm("one_thread", &group, Group::one_thread), two],
        items_per_iteration: Some(group.messages.count() as u64),
        bytes_per_iteration: Some(group.messages.total_bytes()),
        verify: Box::new(move || vec![group.agree()]),
    })
}

fn arm(name: &str, group: &Rc<Group>, way: fn(&Group) -> bool) -> Arm {
    let group = Rc::clone(group);
    Arm::counted(name, group.messages.count(), move || way(&group))
}
