//! The benchmark `stall`: the duration of each write while checkpoints are made every few
//! milliseconds.
//!
//! A writer that uses the store waits for it; another one waits only for locks in the kernel. A
//! checkpoint that is refused because the bands kept changing is no failure: `taken` counts the
//! others.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{ErrorKind, Options, Store};
use paceline_harness::{Arm, Context, Direction, Failure, Prepared, Reading, Unit};

use crate::band_directory::{BandDirectory, block, name};
use crate::band_store;
use crate::custom_arm::{CustomArm, prepare_custom};
use crate::scenario::{Scenario, Touch};
use crate::strategies;
use crate::strategy::{Strategy, nanoseconds};
use crate::workspace::Workspace;

/// No checkpoints; the original strategy; the store finding changes; the store written through.
pub(crate) const ARMS: [&str; 4] = ["quiet", "events_clone", "observed", "tracked"];

/// Duration of each write, and the number of checkpoints made meanwhile.
pub(crate) const METRICS: [(&str, Unit, Direction); 2] = [
    ("write", Unit::Nanoseconds, Direction::Lower),
    ("taken", Unit::Count, Direction::Higher),
];

/// Writes of a sample, at a pace that a disk can follow.
const BURST: Scenario = Scenario {
    name: "burst",
    dirty_bands: 8,
    writes_per_band: 64,
};
const PACE: Duration = Duration::from_micros(100);
/// Pause from the end of a checkpoint to the next.
const PAUSE: Duration = Duration::from_millis(5);

enum CheckpointMode {
    Quiet,
    Cloned(strategies::ClonedBands),
    Observed(Box<Store>),
    Tracked(Arc<Mutex<Store>>),
}

struct ArmState {
    way: CheckpointMode,
    bands_dir: BandDirectory,
    names: u64,
    writes: Vec<u64>,
    taken: u64,
    failure: Option<String>,
}

/// Makes every arm's bands.
pub(crate) fn prepare(
    workspace: &Rc<Workspace>,
    context: &Context<'_>,
) -> Result<Prepared, Failure> {
    prepare_custom::<ArmState>(workspace, context, &ARMS, BURST)
}

fn way(name: &str, bands_dir: &BandDirectory) -> io::Result<CheckpointMode> {
    let store = || {
        Store::init(
            Arc::new(RealDisk),
            &bands_dir.live(),
            Options::default(),
            "first",
        )
    };
    Ok(match name {
        "quiet" => CheckpointMode::Quiet,
        "events_clone" => CheckpointMode::Cloned(strategies::ClonedBands::new(bands_dir, true)?),
        "observed" => CheckpointMode::Observed(Box::new(store().map_err(io::Error::other)?)),
        _ => CheckpointMode::Tracked(Arc::new(Mutex::new(store().map_err(io::Error::other)?))),
    })
}

impl CustomArm for ArmState {
    const ITEMS: Option<u64> = None;
    const SUCCESS: &str = "every arm's last checkpoint";

    fn make(name: &str, bands_dir: BandDirectory) -> io::Result<Self> {
        let way = way(name, &bands_dir)?;
        Ok(Self {
            way,
            bands_dir,
            names: 0,
            writes: vec![],
            taken: 0,
            failure: None,
        })
    }

    fn arm(name: &str, running: &Rc<RefCell<Self>>) -> Arm {
        let (operated, written, taken) =
            (Rc::clone(running), Rc::clone(running), Rc::clone(running));
        Arm::new(name, move || operated.borrow_mut().burst())
            .with_iterations(1)
            .with_metric("write", move || {
                Reading::Each(std::mem::take(&mut written.borrow_mut().writes))
            })
            .with_metric("taken", move || {
                Reading::Total(std::mem::take(&mut taken.borrow_mut().taken))
            })
    }

    fn problem(&self) -> Option<String> {
        let held = match &self.way {
            CheckpointMode::Quiet => Ok(true),
            CheckpointMode::Cloned(clones) => clones
                .holds(&self.bands_dir)
                .map(|held| held != Some(false)),
            CheckpointMode::Observed(store) => newest(store, &self.bands_dir),
            CheckpointMode::Tracked(store) => newest(&held(store), &self.bands_dir),
        };
        match held {
            Ok(true) => self.failure.clone(),
            Ok(false) => Some("its last checkpoint is not what the bands are".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl ArmState {
    fn burst(&mut self) {
        if let Err(error) = self.try_burst() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    fn try_burst(&mut self) -> io::Result<()> {
        let touches = self.bands_dir.draw();
        let files = touches
            .iter()
            .map(|touch| self.bands_dir.writer(touch).try_clone());
        let files = files.collect::<io::Result<Vec<_>>>()?;
        let through = if let CheckpointMode::Tracked(store) = &self.way {
            Some(Arc::clone(store))
        } else {
            None
        };
        let (done, reported) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let (bands_dir, way, names) = (&self.bands_dir, &mut self.way, &mut self.names);
        let (written, taken) = thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let written = write(&touches, &files, through.as_deref(), &reported);
                done.store(true, Ordering::Release);
                written
            });
            let mut taken = 0;
            let mut last = false;
            let outcome = loop {
                let begun_after = done.load(Ordering::Acquire); // the last checkpoint has every write
                *names += 1;
                match way.checkpoint(bands_dir, &std::mem::take(&mut *held(&reported)), *names) {
                    Ok(made) => taken += u64::from(made && !last),
                    Err(error) => break Err(error),
                }
                if begun_after && last {
                    break Ok(taken);
                }
                last = begun_after;
                thread::sleep(PAUSE);
            };
            (writer.join(), outcome)
        });
        self.taken += taken?;
        self.writes
            .extend(written.map_err(|_| io::Error::other("the writer ended"))??);
        self.bands_dir.settle()
    }
}

impl CheckpointMode {
    /// Takes a checkpoint. False when the store refused, because the bands kept changing.
    fn checkpoint(
        &mut self,
        bands_dir: &BandDirectory,
        reported: &[Touch],
        number: u64,
    ) -> io::Result<bool> {
        let name = format!("c{number}");
        let taken = match self {
            Self::Quiet => return Ok(false),
            Self::Cloned(clones) => return clones.checkpoint(bands_dir, reported).map(|_| true),
            Self::Observed(store) => store.checkpoint_observed(&name),
            Self::Tracked(store) => Store::checkpoint_beside(store, &name),
        };
        match taken {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::Torn => Ok(false),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn newest(store: &Store, bands_dir: &BandDirectory) -> io::Result<bool> {
    let newest = store
        .list()
        .pop()
        .ok_or_else(|| io::Error::other("no checkpoint"))?;
    band_store::holds_live_bands(store, &newest.name, bands_dir)
}

/// The writer: returns the duration of each write, in order. Each write is reported after it.
fn write(
    touches: &[Touch],
    files: &[File],
    through: Option<&Mutex<Store>>,
    reported: &Mutex<Vec<Touch>>,
) -> io::Result<Vec<u64>> {
    let mut written = Vec::with_capacity(touches.len());
    for (touch, file) in touches.iter().zip(files) {
        let (bytes, band) = (block(touch), name(touch.band));
        let begin = Instant::now();
        match through {
            Some(store) => held(store)
                .write_at(&band, touch.offset, &bytes)
                .map_err(io::Error::other)?,
            None => file.write_all_at(&bytes, touch.offset)?,
        }
        written.push(nanoseconds(begin));
        held(reported).push(*touch);
        thread::sleep(PACE);
    }
    Ok(written)
}
