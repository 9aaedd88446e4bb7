//! The benchmark `rollback`: restores the bands as they were ten epochs ago.
//!
//! A sample takes a checkpoint, makes ten changes with a checkpoint after each, and rolls back to the
//! first; the metric `back` is the time of the rollback alone. The arm `copy_back` takes no checkpoints,
//! because it only restores the first state. After each sample the bands are, byte by byte, what they
//! were before it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store};
use paceline_harness::{Arm, Context, Direction, Failure, Prepared, Reading, Unit};

use crate::band_directory::{BandDirectory, equal, name, sync_dir};
use crate::custom_arm::{CustomArm, prepare_custom};
use crate::scenario::{self, WRITE_BYTES};
use crate::strategy::nanoseconds;
use crate::workspace::Workspace;

/// `copy_back` restores the changed bands from copies; `tracked` is the store's rollback.
pub(crate) const ARMS: [&str; 2] = ["copy_back", "tracked"];
/// The time of a rollback.
pub(crate) const METRICS: [(&str, Unit, Direction); 1] =
    [("back", Unit::Nanoseconds, Direction::Lower)];

const EPOCHS: u64 = 10;

enum CheckpointMode {
    /// Restores from copies of the first state, without a store.
    Copies,
    Tracked(Box<Store>),
}

struct ArmState {
    way: CheckpointMode,
    bands_dir: BandDirectory,
    /// The directory with copies of the bands in their first state.
    kept: PathBuf,
    samples: u64,
    back_ns: u64,
    failure: Option<String>,
}

/// Makes every arm's bands, and copies of their first state.
pub(crate) fn prepare(
    workspace: &Rc<Workspace>,
    context: &Context<'_>,
) -> Result<Prepared, Failure> {
    prepare_custom::<ArmState>(workspace, context, &ARMS, scenario::ALL[0])
}

impl CustomArm for ArmState {
    const ITEMS: Option<u64> = Some(1);
    const SUCCESS: &str = "every arm is back";

    fn make(name: &str, bands_dir: BandDirectory) -> io::Result<Self> {
        let kept = bands_dir.beside("kept");
        fs::create_dir(&kept)?;
        for band in bands_dir.changing() {
            fs::copy(bands_dir.live().join(&band), kept.join(&band))?;
        }
        let way = if name == "tracked" {
            let made = Store::init(
                Arc::new(RealDisk),
                &bands_dir.live(),
                Options::default(),
                "first",
            );
            CheckpointMode::Tracked(Box::new(made.map_err(io::Error::other)?))
        } else {
            CheckpointMode::Copies
        };
        bands_dir.settle()?;
        Ok(Self {
            way,
            bands_dir,
            kept,
            samples: 0,
            back_ns: 0,
            failure: None,
        })
    }

    fn arm(name: &str, running: &Rc<RefCell<Self>>) -> Arm {
        let (operated, read) = (Rc::clone(running), Rc::clone(running));
        Arm::new(name, move || operated.borrow_mut().once())
            .with_iterations(1)
            .with_metric("back", move || {
                Reading::Total(std::mem::take(&mut read.borrow_mut().back_ns))
            })
    }

    fn problem(&self) -> Option<String> {
        match equal(&self.kept, &self.bands_dir) {
            Ok(true) => self.failure.clone(),
            Ok(false) => Some("the bands are not what they were".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl ArmState {
    fn once(&mut self) {
        if let Err(error) = self.try_once() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    fn try_once(&mut self) -> io::Result<()> {
        self.samples += 1;
        let state = format!("state-{}", self.samples);
        if let CheckpointMode::Tracked(store) = &mut self.way {
            store.checkpoint(&state).map_err(io::Error::other)?;
        }
        let mut changed = BTreeSet::new();
        for epoch in 0..EPOCHS {
            let touches = self.bands_dir.change()?;
            changed.extend(touches.iter().map(|touch| touch.band));
            let CheckpointMode::Tracked(store) = &mut self.way else {
                continue;
            };
            for touch in &touches {
                let marked = store.mark_dirty(&name(touch.band), touch.offset, WRITE_BYTES);
                marked.map_err(io::Error::other)?;
            }
            store
                .checkpoint(&format!("{state}-{epoch}"))
                .map_err(io::Error::other)?;
        }
        self.bands_dir.settle()?;
        let begin = Instant::now();
        match &mut self.way {
            CheckpointMode::Tracked(store) => {
                store.rollback(&state).map_err(io::Error::other)?;
            }
            CheckpointMode::Copies => self.put_back(&changed)?,
        }
        self.back_ns += nanoseconds(begin);
        self.bands_dir.reopen()
    }

    /// Replaces each changed band by a duplicate of its copy, which is synced before it is renamed.
    fn put_back(&self, changed: &BTreeSet<u64>) -> io::Result<()> {
        for band in changed {
            let (kept, live) = (
                self.kept.join(name(*band)),
                self.bands_dir.live().join(name(*band)),
            );
            let next = self.bands_dir.beside("next");
            fs::copy(&kept, &next)?; // clones where the filesystem can
            File::open(&next)?.sync_all()?;
            fs::rename(&next, &live)?;
        }
        sync_dir(&self.bands_dir.live())
    }
}
