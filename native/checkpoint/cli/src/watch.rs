//! The command `watch`: a checkpoint whenever the bands changed, until it is stopped.
//!
//! At least the given time passes between two lines, and a line's checkpoint contains everything
//! written before it. A second thread makes folds and hash trees. Any signal may stop it at any
//! moment without losing a reported checkpoint.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paceline_checkpoint::{Background, ErrorKind, Result, Store, Watcher};

use crate::Pace;
use crate::answer::{self, Answer};
use crate::commands::opened;
use crate::status_file::StatusFile;

/// Length of one wait for changes; it is repeated until something changes.
const LONG: Duration = Duration::from_secs(3600);

/// Takes checkpoints and reports each, until there are as many as requested or a report fails.
///
/// # Errors
/// When the library refuses. Bands that keep changing are tried again after the pause.
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
    // The first answer is always "everything". Changes from here on are in the next answer, even if
    // the look below sees them.
    watcher.seen();
    store.look_at_live()?;
    let quiet = store.status()?.dirty.is_empty();
    let store = Arc::new(Mutex::new(store));
    let work = Background::start(Arc::clone(&store))
        .map_err(|error| warn(&error.to_string()))
        .ok();
    let status_file = StatusFile(dir);
    status_file.write(&locked(&store).status()?);
    if quiet {
        while !watcher.wait(Instant::now() + LONG) {}
    }
    loop {
        let last = Instant::now();
        let mut held = locked(&store);
        let name = free_name(&held, &pace.prefix)?;
        match held.checkpoint_seen(&name, &mut || watcher.seen()) {
            Ok(checkpoint) => {
                held.save_index();
                own.push(name);
                taken += 1;
                if tell(&answer::taken(&checkpoint)).is_err()
                    || pace.count.is_some_and(|count| taken >= count)
                {
                    return Ok(());
                }
                keep_last(&mut held, &mut own, pace.keep)?;
                compact_if_due(&mut held, warn)?;
            }
            Err(error) if error.kind() == ErrorKind::Torn => warn(&error.to_string()),
            Err(error) => return Err(error),
        }
        status_file.write(&held.status()?);
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

/// Prunes the oldest of our own checkpoints.
fn keep_last(store: &mut Store, own: &mut Vec<String>, keep: Option<usize>) -> Result<()> {
    let more = keep.map_or(0, |keep| own.len().saturating_sub(keep.max(1)));
    let old: Vec<String> = own.drain(..more).collect();
    store.prune(&old.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Compacts the log when that pays. While a background job is running it is left for the next time.
fn compact_if_due(store: &mut Store, warn: &mut dyn FnMut(&str)) -> Result<()> {
    if !store.is_compaction_due() {
        return Ok(());
    }
    match store.compact() {
        Ok(_) => store.save_index(),
        Err(error) if error.kind() == ErrorKind::Locked => {}
        Err(error) if error.kind() == ErrorKind::Stopped => return Err(error),
        Err(error) => warn(&error.to_string()),
    }
    Ok(())
}
