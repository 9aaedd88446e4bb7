//! The command `watch`: a checkpoint whenever the bands changed, until it is stopped.
//!
//! At least the given time passes between two lines, and a line's checkpoint contains everything
//! written before it. Folds and hash trees are made by a second thread. Any signal may stop it at
//! any moment without losing what was reported.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paceline_checkpoint::{Background, ErrorKind, Result, Store, Watcher};

use crate::Pace;
use crate::answer::{self, Answer};
use crate::commands::opened;
use crate::told;

/// When nothing changes there is nothing to do: only how long one wait lasts.
const LONG: Duration = Duration::from_secs(3600);

/// Takes checkpoints until there were as many as asked for, and hands each on; a failure to hand on ends it.
///
/// # Errors
/// What the library refuses. Bands that do not hold still are tried again after the pause.
pub(crate) fn watch(
    dir: &Path,
    pace: &Pace,
    tell: &mut dyn FnMut(&Answer) -> io::Result<()>,
    warn: &mut dyn FnMut(&str),
) -> Result<()> {
    let mut store = opened(dir)?;
    let mut watcher = Watcher::new(dir)?;
    let mut own = Vec::new();
    let mut taken = 0;
    // Its first answer is everything; what happens from here on is in the next, whatever the look sees of it.
    watcher.seen();
    store.look_at_live()?;
    let quiet = store.status()?.dirty.is_empty();
    let store = Arc::new(Mutex::new(store));
    let work = Background::start(Arc::clone(&store))
        .map_err(|error| warn(&error.to_string()))
        .ok();
    let _told = told::Told(dir);
    told::leave(dir, &locked(&store).status()?);
    if quiet {
        while !watcher.wait(Instant::now() + LONG) {}
    }
    loop {
        let last = Instant::now();
        let mut held = locked(&store);
        let name = free_name(&held, &pace.prefix)?;
        match held.checkpoint_seen(&name, &mut || watcher.seen()) {
            Ok(one) => {
                held.save_index();
                own.push(name);
                taken += 1;
                if tell(&answer::taken(&one)).is_err()
                    || pace.count.is_some_and(|count| taken >= count)
                {
                    return Ok(());
                }
                keep_last(&mut held, &mut own, pace.keep)?;
            }
            Err(error) if error.kind() == ErrorKind::Torn => warn(&error.to_string()),
            Err(error) => return Err(error),
        }
        told::leave(dir, &held.status()?);
        drop(held);
        work.iter().for_each(Background::nudge);
        watcher.gather(last + pace.every);
        while !watcher.wait(Instant::now() + LONG) {}
    }
}

fn locked(store: &Mutex<Store>) -> MutexGuard<'_, Store> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

fn free_name(store: &Store, prefix: &str) -> Result<String> {
    let mut number = store.status()?.epoch + 1;
    let names: Vec<String> = store
        .list()
        .into_iter()
        .map(|checkpoint| checkpoint.name)
        .collect();
    while names.contains(&format!("{prefix}{number}")) {
        number += 1;
    }
    Ok(format!("{prefix}{number}"))
}

/// Gives up the oldest of our own.
fn keep_last(store: &mut Store, own: &mut Vec<String>, keep: Option<usize>) -> Result<()> {
    let more = keep.map_or(0, |keep| own.len().saturating_sub(keep.max(1)));
    let old: Vec<String> = own.drain(..more).collect();
    store.prune(&old.iter().map(String::as_str).collect::<Vec<_>>())
}
