//! Runs the commands: each opens the store, calls the library and returns an answer to print. Most of
//! those that change the store also save its index.

use std::path::Path;
use std::sync::Arc;

use paceline_checkpoint::disk::{Disk, RealDisk};
use paceline_checkpoint::{ErrorKind, Options, Result, Store, StoreReader, store_path};
use serde_json::json;

use crate::Command;
use crate::answer::{self, Answer, count};
use crate::archives::{self, Failure};
use crate::status_file;

/// Skips syncs that the index proves needless: each command is a process that opens the store, and these
/// syncs would cost as much as a checkpoint.
fn options() -> Options {
    Options {
        skip_proven_syncs: true,
        ..Options::default()
    }
}

pub(crate) fn opened(dir: &Path) -> Result<Store> {
    Store::open(Arc::new(RealDisk), dir, options())
}

/// Opens a store for a command that only reads it.
fn looked_at(dir: &Path) -> Result<StoreReader> {
    Store::open_read_only(Arc::new(RealDisk), dir)
}

/// Runs a command.
///
/// # Errors
/// The library's error with its advice, if the library refuses the command.
pub(crate) fn answer(command: &Command) -> std::result::Result<Answer, Failure> {
    Ok(match command {
        Command::Init { dir, name } => init(dir, name)?,
        Command::Checkpoint {
            dir,
            name,
            mapped,
            all,
            dirty,
        } => {
            let mut store = opened(dir)?;
            let taken = match (mapped, all) {
                (true, _) => store.checkpoint_mapped(name)?,
                (_, true) => store.checkpoint_everything(name)?,
                _ if dirty.is_empty() => store.checkpoint_observed(name)?,
                _ => store.checkpoint_marked(name, dirty)?,
            };
            store.save_index();
            answer::taken(&taken)
        }
        Command::List { dir } => {
            let store = looked_at(dir)?;
            answer::listed(&store.list()).with_damage(store.damage())
        }
        Command::Bands { dir, name } => answer::bands(&looked_at(dir)?.bands(name)?),
        Command::Verify { dir, names } => verify(dir, names)?,
        Command::Diff { dir, from, to } => answer::differences(&looked_at(dir)?.diff(from, to)?),
        Command::Rollback { dir, name } => {
            let mut store = opened(dir)?;
            let kept = store.rollback_observed(name)?;
            store.save_index();
            let replaced = &kept.checkpoint.name;
            let text = format!(
                "{} is as of {name:?}; what it was is kept as {replaced:?}\n",
                dir.display()
            );
            Answer::done(text, json!({"name": name, "replaced": replaced}))
        }
        Command::Prune { dir, names } => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut store = opened(dir)?;
            store.prune(&names)?;
            store.save_index();
            Answer::done(
                format!("given up: {}\n", names.join(", ")),
                json!({"pruned": names}),
            )
        }
        Command::Fold { dir } => fold(dir)?,
        Command::Compact { dir } => {
            let mut store = opened(dir)?;
            let done = store.compact()?;
            store.save_index();
            let (before, after) = (done.before_bytes, done.after_bytes);
            Answer::done(
                format!("the log has {after} bytes of records; it had {before}\n"),
                json!({"before_bytes": before, "after_bytes": after}),
            )
        }
        Command::Gc { dir } => {
            let removed = opened(dir)?.gc()?;
            Answer::done(
                format!("{} removed\n", count(removed, "file")),
                json!({"removed": removed}),
            )
        }
        Command::Export { dir, name, archive } => {
            let store = looked_at(dir)?;
            archives::export(&store, name, archive)?
        }
        Command::Import { dir, archive, name } => import(dir, archive, name.as_deref())?,
        Command::Status { dir } => status(dir)?,
        Command::Repair { dir } => {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            answer::repaired(&Store::repair(&disk, dir, options())?)
        }
    })
}

fn import(dir: &Path, archive: &Path, name: Option<&str>) -> std::result::Result<Answer, Failure> {
    let adopted = match opened(dir) {
        Ok(mut store) => {
            let taken = archives::read(archive, |bytes| store.adopt(bytes, name))?;
            store.save_index();
            return Ok(answer::taken(&taken));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => name,
        Err(error) => return Err(error.into()),
    };
    if adopted.is_some() {
        let what = format!(
            "{}: no store, and a new one takes the archive's name",
            dir.display()
        );
        return Err(Failure::new(what, "leave `--as` out"));
    }
    let (disk, options) = (Arc::new(RealDisk), options());
    let mut store = archives::read(archive, |bytes| Store::import(disk, dir, options, bytes))?;
    store.save_index();
    Ok(made(&store, dir)?)
}

fn fold(dir: &Path) -> Result<Answer> {
    let mut store = opened(dir)?;
    let done = store.fold()?;
    store.save_index();
    let text = format!(
        "the base is of epoch {}: {} moved, {} and {} removed\n",
        done.epoch,
        count(done.bands, "band"),
        count(done.segments, "segment"),
        count(done.files, "file")
    );
    let json = json!({
        "epoch": done.epoch, "bands": done.bands, "rewritten": done.rewritten,
        "segments": done.segments, "files": done.files,
    });
    Ok(Answer::done(text, json))
}

/// Returns the status of the store; while another process holds it, the status that it wrote last.
fn status(dir: &Path) -> Result<Answer> {
    match (looked_at(dir), status_file::read(dir)) {
        (Err(error), Some((json, text))) if error.kind() == ErrorKind::Locked => Ok(Answer::done(
            ["held by `watch`, which says:\n", &text].concat(),
            json,
        )),
        (store, _) => {
            let mut store = store?;
            store.look_at_live()?;
            Ok(answer::status(&store.status()?).with_damage(store.damage()))
        }
    }
}

fn init(dir: &Path, name: &str) -> Result<Answer> {
    let mut store = Store::init(Arc::new(RealDisk), dir, options(), name)?;
    store.save_index();
    made(&store, dir)
}

fn made(store: &Store, dir: &Path) -> Result<Answer> {
    let name = store.first().map(|first| first.name).unwrap_or_default();
    let bands = store.bands(&name)?.len() as u64;
    let root = store_path(dir);
    let text = format!(
        "{} kept as {name:?} in {}\n",
        count(bands, "band"),
        root.display()
    );
    Ok(Answer::done(
        text,
        json!({"name": name, "bands": bands, "store": root}),
    ))
}

fn verify(dir: &Path, names: &[String]) -> Result<Answer> {
    let store = looked_at(dir)?;
    let names = if names.is_empty() {
        store
            .list()
            .into_iter()
            .map(|checkpoint| checkpoint.name)
            .collect()
    } else {
        names.to_vec()
    };
    let all: Result<Vec<_>> = names
        .into_iter()
        .map(|name| Ok((name.clone(), store.verify(&name)?)))
        .collect();
    Ok(answer::verified(&all?).with_damage(store.damage()))
}
