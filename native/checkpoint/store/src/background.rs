//! A thread that does a store's background jobs, for owners who share the store behind a lock.
//!
//! It holds the lock to fetch a job ([`Store::next_job`]) and to hand it back
//! ([`Store::take_back`]), never while the job runs. It does not poll: whoever changes the store
//! wakes it. Dropping it ends the thread after the current job. A failed job is not retried at
//! once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::store::Store;

/// Does a store's jobs until it is dropped.
#[derive(Debug)]
pub struct Background {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Bell {
    rung: Mutex<Rung>,
    heard: Condvar,
}

#[derive(Debug, Default)]
struct Rung {
    /// Something may have changed since the thread found nothing to do.
    again: bool,
    /// It is to end.
    end: bool,
    thread: Thread,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Thread {
    #[default]
    Working,
    Idle,
    /// There is none any more, for whatever reason.
    Ended,
}

/// Says so.
struct Ended(Arc<Bell>);

impl Drop for Ended {
    fn drop(&mut self) {
        lock(&self.0.rung).thread = Thread::Ended;
        self.0.heard.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Background {
    /// Begins.
    ///
    /// # Errors
    /// When the system grants no thread.
    pub fn start(store: Arc<Mutex<Store>>) -> std::io::Result<Self> {
        let bell = Arc::new(Bell::default());
        lock(&bell.rung).again = true;
        let ours = Ended(Arc::clone(&bell));
        let thread = std::thread::Builder::new().name("checkpoint-work".to_owned());
        let thread = thread.spawn(move || while ours.0.wait() && ours.0.work(&store) {})?;
        Ok(Self {
            bell,
            thread: Some(thread),
        })
    }

    /// Something changed: there may be work. Called after checkpoints and prunes; cheap.
    pub fn nudge(&self) {
        lock(&self.bell.rung).again = true;
        self.bell.heard.notify_all();
    }

    /// Waits until nothing is left to do.
    pub fn settle(&self) {
        let mut rung = lock(&self.bell.rung);
        while rung.thread != Thread::Ended && (rung.again || rung.thread != Thread::Idle) {
            rung = self
                .bell
                .heard
                .wait(rung)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Bell {
    /// Waits until it is rung; answers whether to go on.
    fn wait(&self) -> bool {
        let mut rung = lock(&self.rung);
        while !rung.again && !rung.end {
            rung.thread = Thread::Idle;
            self.heard.notify_all();
            rung = self
                .heard
                .wait(rung)
                .unwrap_or_else(PoisonError::into_inner);
        }
        (rung.again, rung.thread) = (false, Thread::Working);
        !rung.end
    }

    /// Does jobs until there is none, or one fails, which `status` tells; answers whether to go on.
    fn work(&self, store: &Mutex<Store>) -> bool {
        loop {
            if lock(&self.rung).end {
                return false;
            }
            let Ok(Some(mut job)) = lock(store).next_job() else {
                return true;
            };
            job.run();
            if lock(store).take_back(job).is_err() {
                return true;
            }
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        lock(&self.bell.rung).end = true;
        self.bell.heard.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it panicked: it has said so itself
        }
    }
}
