//! A thread that runs a store's background jobs, for owners who share the store behind a lock.
//!
//! It holds the lock while it fetches a job ([`Store::next_job`]) and while it returns one
//! ([`Store::take_back`]), but not while the job runs. It does not poll: whoever changes the store
//! wakes it. Dropping it ends the thread after the current job. A failed job is not retried until
//! the store changes again.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::store::Store;

/// Runs a store's jobs until it is dropped.
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
    /// Set if something may have changed since the thread last found no work.
    again: bool,
    /// Set when the thread must end.
    end: bool,
    thread: Thread,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Thread {
    #[default]
    Working,
    Idle,
    /// The thread has ended, for any reason.
    Ended,
}

/// Sets `gone` when the thread ends, even if it panics.
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
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system cannot start a thread.
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

    /// Wakes the thread: there may be work. Cheap; call it after checkpoints and prunes.
    pub fn nudge(&self) {
        lock(&self.bell.rung).again = true;
        self.bell.heard.notify_all();
    }

    /// Waits until there is no work left.
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
    /// Waits until it is woken; returns whether to continue.
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

    /// Runs jobs until there is none or one fails, which `status` reports; returns whether to
    /// continue.
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
            let _ = thread.join(); // after a panic, whose message was already printed
        }
    }
}
