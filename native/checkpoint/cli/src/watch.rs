//! `watch`: a checkpoint whenever the bands changed, until it is stopped.
//!
//! Invariant: between two lines at least the given time passes, and what was written before a line is in its
//! checkpoint. Stopping it at any moment, by any signal, loses nothing that was said. Absent on purpose:
//! running in the background; whoever starts programs can do that.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use paceline_checkpoint::{ErrorKind, Result, Store, Watcher};

use crate::Pace;
use crate::answer::{self, Answer};
use crate::commands::opened;

/// When nothing changes there is nothing to do: only how long one wait lasts.
const LONG: Duration = Duration::from_secs(3600);
/// Checkpoints that are given up before their space is taken back: a fold writes each changed band once.
const FOLD_AFTER: u64 = 32;

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
    let (mut taken, mut given_up) = (0, 0);
    // Its first answer is everything; what happens from here on is in the next, whatever the look sees of it.
    watcher.seen();
    store.look_at_live()?;
    if store.status()?.dirty.is_empty() {
        while !watcher.wait(Instant::now() + LONG) {}
    }
    loop {
        let name = free_name(&store, &pace.prefix)?;
        let last = Instant::now();
        match store.checkpoint_seen(&name, &mut || watcher.seen()) {
            Ok(one) => {
                store.save_index();
                own.push(name);
                taken += 1;
                if tell(&answer::taken(&one)).is_err() || pace.count.is_some_and(|count| taken >= count) {
                    return Ok(());
                }
                given_up += keep_last(&mut store, &mut own, pace.keep)?;
                if given_up >= FOLD_AFTER {
                    store.fold()?;
                    given_up = 0;
                }
            }
            Err(error) if error.kind() == ErrorKind::Torn => warn(&error.to_string()),
            Err(error) => return Err(error),
        }
        watcher.gather(last + pace.every);
        while !watcher.wait(Instant::now() + LONG) {}
    }
}

fn free_name(store: &Store, prefix: &str) -> Result<String> {
    let mut number = store.status()?.epoch + 1;
    let names: Vec<String> = store.list().into_iter().map(|checkpoint| checkpoint.name).collect();
    while names.contains(&format!("{prefix}{number}")) {
        number += 1;
    }
    Ok(format!("{prefix}{number}"))
}

/// Gives up the oldest of our own.
fn keep_last(store: &mut Store, own: &mut Vec<String>, keep: Option<usize>) -> Result<u64> {
    let more = keep.map_or(0, |keep| own.len().saturating_sub(keep.max(1)));
    let old: Vec<String> = own.drain(..more).collect();
    store.prune(&old.iter().map(String::as_str).collect::<Vec<_>>())?;
    Ok(old.len() as u64)
}
