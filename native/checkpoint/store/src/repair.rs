//! Makes a sound store of what is left of a damaged one.
//!
//! ```text
//! survey, every byte hashed ─▶ base files of the first intact checkpoint ─▶ a log of the others, with epochs
//!    that nobody ever used ─▶ all of it hashed again ─▶ CURRENT ─▶ the old segments move to damaged/
//! ```
//! Replacing `CURRENT` decides in one step; until then nothing that existed changes. Until then the
//! new segments carry another store's number, so that nobody takes them for part of the damaged
//! log. Lost data stays in `damaged/` until `gc`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::adopt::differing;
use crate::create::store_id;
use crate::disk::{Access, Disk};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::{Checkpoint, History};
use crate::log::{Log, segment_path};
use crate::manifest::{BaseBand, Manifest, base_file, base_path};
use crate::opening::{OnDisk, lock};
use crate::pages::runs;
use crate::record::{BandChange, BandState, Meta, StateSum};
use crate::restore::write_out;
use crate::store::{Options, Store, refuse_nameless, store_path};
use crate::survey::{Damage, Survey, lost_of};

/// Where segments of a damaged log go.
pub(crate) const DAMAGED: &str = "damaged";

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// What was wrong; nothing was done when nothing was.
    pub damage: Damage,
    /// The checkpoints that there are now, oldest first.
    pub kept: Vec<Checkpoint>,
}

impl Store {
    /// Makes a sound store of all that is whole in a damaged one. Live is not touched. Epochs get other
    /// numbers; names and times stay.
    ///
    /// # Errors
    /// `NotFound` without a store, `Locked`, `Damaged` when no checkpoint is whole, `Io`. After an error, or
    /// when the machine stops, the store is as it was, or repaired.
    pub fn repair(disk: &Arc<dyn Disk>, live: &Path, options: Options) -> Result<Repaired> {
        refuse_nameless(live)?;
        let root = store_path(live);
        Manifest::look_for(disk.as_ref(), &root)?;
        let lock = lock(disk.as_ref(), &root)?;
        let found = OnDisk::find(disk.as_ref(), &root)?;
        // Whatever keeps a log from being opened is a reason to make another one.
        let why = match Log::look(found.place(disk.as_ref(), &root.join("log")), None) {
            Err(error) if error.kind() == ErrorKind::Damaged => Some(error.what()),
            Err(error) => return Err(error),
            Ok(_) => None,
        };
        let survey = found.survey(disk, &root, why, true)?;
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
        let repair = Repair {
            disk,
            root: &root,
            survey: &survey,
        };
        let (manifest, log, epochs) = repair.rebuild(live, first, &kept, options)?;
        let repaired = History::new(Arc::clone(disk), &root, manifest.clone(), epochs);
        repair.refuse_unless_equal(&repaired, &kept)?;
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

/// Moves segments out of the log, to where nothing looks for them.
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

/// A repair on its way.
struct Repair<'a> {
    disk: &'a Arc<dyn Disk>,
    root: &'a Path,
    survey: &'a Survey,
}

impl Repair<'_> {
    /// The base and the log of what is kept, durable, and named by nothing yet.
    fn rebuild(
        &self,
        live: &Path,
        first: &Checkpoint,
        kept: &[Checkpoint],
        options: Options,
    ) -> Result<(Manifest, Log, Vec<crate::log::Epoch>)> {
        let (disk, dir) = (self.disk.as_ref(), self.root.join("log"));
        let store = store_id(disk.now().wall_ns, live);
        let chain = *blake3::hash(&store).as_bytes();
        // Greater than any number in the old log, so that all of it lies before the new base.
        let last_segment = self.survey.segments.last().copied().unwrap_or(0);
        let epoch = self.survey.highest.max(last_segment) + 1;
        let past = &self.survey.history;
        let mut bands = Vec::new();
        for (name, state) in past.bands_at(first.epoch) {
            bands.push(self.base_band(name, state, first.epoch, epoch)?);
        }
        let base = self.root.join("base");
        disk.sync_dir(&base).doing("syncing", &base)?;
        let (name, created_ns) = (first.name.clone(), first.created_ns);
        let manifest = Manifest {
            store,
            epoch,
            chain,
            kept: true,
            created_ns,
            name,
            bands,
        };
        let mut log = Log::create(
            Arc::clone(self.disk),
            &dir,
            store,
            options.segment_bytes,
            (epoch, chain),
        )?;
        let mut epochs = Vec::new();
        for pair in kept.windows(2) {
            let (changes, pages) = self.between(pair[0].epoch, pair[1].epoch)?;
            let state = past.bands_at(pair[1].epoch);
            let sum = StateSum::of(state.iter().map(|(name, state)| (name.as_str(), *state)));
            let (name, created_ns) = (pair[1].name.clone(), pair[1].created_ns);
            let meta = Meta::Checkpoint {
                name,
                created_ns,
                bands: changes,
            };
            epochs.push(log.append(meta, &pages, sum)?);
        }
        Ok((manifest, log, epochs))
    }

    /// A band of the new base: the file of the old one where that is what it should be, else a new file.
    fn base_band(&self, name: String, state: BandState, at: u64, epoch: u64) -> Result<BaseBand> {
        let (disk, past) = (self.disk.as_ref(), &self.survey.history);
        let reader = past.band_at(&name, at)?;
        let old = past.manifest.band(&name).filter(|old| {
            old.state == state && reader.logged().is_empty() && reader.keeps_base() // so its bytes were hashed
        });
        if let Some(old) = old {
            return Ok(old.clone());
        }
        let file = base_file(&name, epoch);
        let path = base_path(self.root, &file);
        if disk.stamp(&path).is_ok() {
            disk.remove(&path).doing("removing", &path)?; // of a repair that was cut short
        }
        let target = disk
            .open(&path, Access::CreatePrivate)
            .doing("making", &path)?;
        write_out(&reader, target.as_ref(), &path, state)?;
        target.sync_data().doing("syncing", &path)?;
        Ok(BaseBand {
            name,
            state,
            file,
            patched: 0,
        })
    }

    /// What a record between two states says and carries.
    fn between(&self, from: u64, to: u64) -> Result<(Vec<BandChange>, Vec<u8>)> {
        let past = &self.survey.history;
        let (before, after) = (past.bands_at(from), past.bands_at(to));
        let (mut changes, mut bytes) = (Vec::new(), Vec::new());
        for (name, state) in &after {
            if before.get(name) == Some(state) {
                continue;
            }
            let old = before
                .get(name)
                .map(|_| past.band_at(name, from))
                .transpose()?;
            let mut pages = Vec::new();
            past.band_at(name, to)?.each(|at, piece| {
                differing(old.as_ref(), state.size, at, piece, &mut pages, &mut bytes)
            })?;
            changes.push(BandChange {
                name: name.clone(),
                state: Some(*state),
                runs: runs(&pages),
            });
        }
        for name in before.into_keys().filter(|name| !after.contains_key(name)) {
            changes.push(BandChange {
                name,
                state: None,
                runs: vec![],
            });
        }
        Ok((changes, bytes))
    }

    /// Hashes all that was made before anything names it.
    fn refuse_unless_equal(&self, repaired: &History, kept: &[Checkpoint]) -> Result<()> {
        let states = |history: &History,
                      all: &[Checkpoint]|
         -> Vec<(String, i64, BTreeMap<String, BandState>)> {
            let state = |one: &Checkpoint| {
                (
                    one.name.clone(),
                    one.created_ns,
                    history.bands_at(one.epoch),
                )
            };
            all.iter().map(state).collect()
        };
        let same = states(repaired, &repaired.checkpoints()) == states(&self.survey.history, kept);
        if same && lost_of(repaired).is_empty() {
            return Ok(());
        }
        let what = format!(
            "{}: what was made of it is not what it should be",
            self.root.display()
        );
        Err(Error::new(
            ErrorKind::Damaged,
            what,
            "nothing was changed; check the disk, and report this",
        ))
    }
}
