//! Makes a sound store of what is left of a damaged checkpoint.
//!
//! ```text
//! survey, every byte hashed, decayed ones from live ─▶ base files of the first intact checkpoint ─▶ a log of the others, with epochs
//!    that nobody ever used ─▶ all of it hashed again ─▶ CURRENT ─▶ the old segments move to damaged/
//! ```
//! Replacing `CURRENT` decides in one step; until then nothing that existed changes, and the new
//! segments carry another store's number, so that they are not taken for part of the damaged log.
//! Lost data stays in `damaged/` until `gc`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::create::store_id;
use crate::disk::Disk;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::{Checkpoint, History};
use crate::log::{Log, segment_path};
use crate::manifest::Manifest;
use crate::opening::{OnDisk, lock};
use crate::rebuild::Rebuilding;
use crate::record::BandAt;
use crate::store::{Options, Store, refuse_nameless, store_path};
use crate::survey::{Damage, Survey, lost_of};

/// The directory for segments of a damaged log.
pub(crate) const DAMAGED: &str = "damaged";

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// What was wrong; if nothing was, nothing was done.
    pub damage: Damage,
    /// The remaining checkpoints, oldest first.
    pub kept: Vec<Checkpoint>,
}

impl Store {
    /// Makes a sound store of everything intact in a damaged store, and of what decayed where live
    /// still has it. Live is read and not touched. Epochs get other numbers; names and times stay.
    ///
    /// # Errors
    /// `NotFound` without a store, `Locked`, `Damaged` when no checkpoint is intact, `Io`. After an
    /// error, or when the machine stops, the store is as before or repaired.
    pub fn repair(disk: &Arc<dyn Disk>, live: &Path, options: Options) -> Result<Repaired> {
        refuse_nameless(live)?;
        let root = store_path(live);
        Manifest::look_for(disk.as_ref(), &root)?;
        let lock = lock(disk.as_ref(), &root)?;
        let on_disk = OnDisk::find(disk.as_ref(), &root)?;
        // Anything that keeps a log from being opened is a reason to make another checkpoint.
        let why = match Log::look(on_disk.place(disk.as_ref(), &root.join("log")), None) {
            Err(error) if error.kind() == ErrorKind::Damaged => Some(error.what()),
            Err(error) => return Err(error),
            Ok(_) => None,
        };
        let survey = on_disk.survey(disk, &root, why, Some(live))?;
        let kept = survey.history.checkpoints();
        let sound = survey.damage.findings.is_empty() && survey.damage.lost.is_empty();
        if sound && survey.foreign.is_empty() {
            return Ok(Repaired {
                damage: survey.damage,
                kept,
            });
        }
        let Some(first) = kept.first() else {
            let what = format!("{}: no checkpoint of it is whole", root.display());
            let advice = "nothing was changed; move the store away and begin a new one with `init`";
            return Err(Error::new(ErrorKind::Damaged, what, advice));
        };
        move_aside(disk.as_ref(), &root, &survey.foreign)?;
        let last_segment = survey.segments.last().copied().unwrap_or(0);
        let rebuilding = Rebuilding {
            disk,
            root: &root,
            past: &survey.history,
            store: store_id(disk.now().wall_ns, live),
            epoch: survey.highest.max(last_segment) + 1,
            segment_bytes: options.segment_bytes,
        };
        let (manifest, log, epochs) = rebuilding.run(first, &kept[1..])?;
        let mut repaired = History::new(Arc::clone(disk), &root, manifest.clone(), epochs);
        refuse_unless_equal(&root, &survey, &mut repaired, &kept)?;
        manifest.install(disk.as_ref(), &root)?;
        drop(log);
        let old: Vec<_> = survey
            .segments
            .iter()
            .map(|first| segment_path(&root.join("log"), *first))
            .collect();
        move_aside(disk.as_ref(), &root, &old)?;
        drop(lock);
        Ok(Repaired {
            kept: repaired.checkpoints(),
            damage: survey.damage,
        })
    }
}

/// Moves segments out of the log's directory.
fn move_aside(disk: &dyn Disk, root: &Path, segments: &[std::path::PathBuf]) -> Result<()> {
    let (log, aside) = (root.join("log"), root.join(DAMAGED));
    if segments.is_empty() {
        return Ok(());
    }
    match disk.make_private_dir(&aside) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made.doing("making", &aside)?,
    }
    for from in segments {
        let to = aside.join(from.file_name().unwrap_or_default());
        disk.rename(from, &to).doing("moving", from)?;
    }
    disk.sync_dir(&aside).doing("syncing", &aside)?;
    disk.sync_dir(&log).doing("syncing", &log)?;
    disk.sync_dir(root).doing("syncing", root)
}

/// Hashes everything that was made before `CURRENT` names it.
fn refuse_unless_equal(
    root: &Path,
    survey: &Survey,
    repaired: &mut History,
    kept: &[Checkpoint],
) -> Result<()> {
    let states =
        |history: &History, all: &[Checkpoint]| -> Vec<(String, i64, BTreeMap<String, BandAt>)> {
            let state = |checkpoint: &Checkpoint| {
                (
                    checkpoint.name.clone(),
                    checkpoint.created_ns,
                    history.bands_at(checkpoint.epoch),
                )
            };
            all.iter().map(state).collect()
        };
    let same = states(repaired, &repaired.checkpoints()) == states(&survey.history, kept);
    if same && lost_of(repaired).is_empty() {
        return Ok(());
    }
    let what = format!(
        "{}: what was made of it is not what it should be",
        root.display()
    );
    Err(Error::new(
        ErrorKind::Damaged,
        what,
        "nothing was changed; check the disk, and report this",
    ))
}
