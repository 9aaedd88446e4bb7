//! Runs one arm of a benchmark: write a change, take a checkpoint of it, wait for the disk.
//!
//! `time` covers all three steps; `durable` and the phases cover the checkpoint alone. Every arm
//! writes the same bytes, because each directory of bands draws its changes from the same seed.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use paceline_harness::{Arm, Failure, Prepared, Reading};

use crate::band_directory::{BandDirectory, Shape};
use crate::band_store::{BandStore, ChangeSource};
use crate::custom_arm::check;
use crate::scenario::Scenario;
use crate::strategies::{BareAppend, ClonedBands, FullHash, ModifiedTimes, NoCheckpoint};
use crate::strategy::{Phases, Strategy};
use crate::tools::{self, Tool};
use crate::workspace::Place;

/// The kind of an arm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArmKind {
    FullSha256,
    MtimeSha256,
    MtimeBlake3,
    CloneOnly,
    EventsClone,
    Observed,
    Watched,
    Tracked,
    BareAppend,
    /// The store of an owner that prunes old checkpoints and folds.
    TrackedFolded,
    /// Keeps nothing: measures the space of the bands and of a log.
    Live,
    /// Another tool, in a process of its own.
    Other(Tool),
}

/// The arms of the original measurement's scenarios.
pub(crate) const ALL: &[ArmKind] = &[
    ArmKind::FullSha256,
    ArmKind::MtimeSha256,
    ArmKind::MtimeBlake3,
    ArmKind::CloneOnly,
    ArmKind::EventsClone,
    ArmKind::Observed,
    ArmKind::Watched,
    ArmKind::Tracked,
    ArmKind::BareAppend,
    ArmKind::Other(Tool::Snapshot),
];
/// The arms that neither read nor clone every band.
pub(crate) const SPARSE: &[ArmKind] = &[
    ArmKind::MtimeBlake3,
    ArmKind::EventsClone,
    ArmKind::Observed,
    ArmKind::Watched,
    ArmKind::Tracked,
    ArmKind::BareAppend,
];
/// The arms that a cold cache slows down, and the lower bound.
pub(crate) const COLD: &[ArmKind] = &[
    ArmKind::FullSha256,
    ArmKind::MtimeSha256,
    ArmKind::EventsClone,
    ArmKind::Observed,
    ArmKind::Watched,
    ArmKind::Tracked,
    ArmKind::BareAppend,
];

/// The arms whose state ages.
pub(crate) const AGEING: &[ArmKind] = &[
    ArmKind::EventsClone,
    ArmKind::Observed,
    ArmKind::Tracked,
    ArmKind::BareAppend,
];
/// The arms whose space is measured.
pub(crate) const GROWTH: &[ArmKind] = &[
    ArmKind::Live,
    ArmKind::EventsClone,
    ArmKind::Tracked,
    ArmKind::TrackedFolded,
];
/// One changed band, by commonly used tools.
pub(crate) const TOOLS: &[ArmKind] = &[
    ArmKind::Other(Tool::Rsync),
    ArmKind::Other(Tool::Git),
    ArmKind::Other(Tool::Borg),
    ArmKind::Other(Tool::Restic),
    ArmKind::Other(Tool::Casync),
    ArmKind::Other(Tool::Snapshot),
    ArmKind::Other(Tool::SnapshotCli),
    ArmKind::Other(Tool::Cli),
    ArmKind::Other(Tool::CliDirty),
    ArmKind::Observed,
    ArmKind::Tracked,
];

/// What a benchmark measures for one set of params.
pub(crate) struct Plan {
    pub(crate) kinds: &'static [ArmKind],
    pub(crate) shape: Shape,
    pub(crate) scenario: Scenario,
    /// The bands are dropped from the page cache before each checkpoint.
    pub(crate) cold: bool,
    /// Epochs before the first round.
    pub(crate) age: u64,
    /// Epochs of a sample, if calibration must not choose them.
    pub(crate) epochs: Option<u64>,
    /// Metrics besides `time`.
    pub(crate) metrics: &'static [&'static str],
    pub(crate) seed: u64,
}

impl ArmKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FullSha256 => "full_sha256",
            Self::MtimeSha256 => "mtime_sha256",
            Self::MtimeBlake3 => "mtime_blake3",
            Self::CloneOnly => "clone_only",
            Self::EventsClone => "events_clone",
            Self::Observed => "observed",
            Self::Watched => "watched",
            Self::Tracked => "tracked",
            Self::BareAppend => "bare_append",
            Self::TrackedFolded => "tracked_folded",
            Self::Live => "live",
            Self::Other(tool) => tool.name(),
        }
    }
}

struct ArmState {
    /// Declared before the directory, because it may have files of it open.
    strategy: Box<dyn Strategy>,
    bands_dir: BandDirectory,
    cold: bool,
    sum: Phases,
    failure: Option<String>,
}

impl ArmState {
    fn new(plan: &Plan, kind: ArmKind, place: &Rc<Place>) -> io::Result<Self> {
        // Only one arm reads unchanged bands; all others do the same work over holes.
        let shape = Shape {
            sparse: kind != ArmKind::FullSha256,
            ..plan.shape
        };
        let make_bands = |dir: &Path| match kind {
            ArmKind::Other(tool) => tool.make_bands(dir),
            _ => fs::create_dir(dir),
        };
        let bands_dir = BandDirectory::with(place, shape, plan.scenario, plan.seed, make_bands)?;
        let strategy = strategy(kind, &bands_dir)?;
        let mut state = Self {
            strategy,
            bands_dir,
            cold: plan.cold,
            sum: Phases::default(),
            failure: None,
        };
        for _ in 0..plan.age {
            state.run_epoch();
        }
        state.sum = Phases::default();
        Ok(state)
    }

    fn run_epoch(&mut self) {
        let mut epoch = || {
            let touches = self.bands_dir.change()?;
            if self.cold {
                self.bands_dir.forget()?;
            }
            let phases = self.strategy.checkpoint(&self.bands_dir, &touches)?;
            self.sum.add(&phases);
            self.bands_dir.settle()
        };
        if let Err(error) = epoch() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    /// Why its checkpoints do not count, if they do not.
    fn problem(&mut self) -> Option<String> {
        problem(
            self.failure.as_deref(),
            self.strategy.holds(&self.bands_dir),
        )
    }

    fn read(&mut self, metric: &str) -> Reading {
        if metric == "disk" {
            // A total, not a value per epoch.
            let beside = self.bands_dir.beside_bytes();
            let bytes =
                beside.and_then(|beside| Ok(beside + self.strategy.extra_bytes(&self.bands_dir)?));
            return Reading::Each(bytes.into_iter().collect());
        }
        let named = self.sum.named();
        Reading::Total(
            named
                .iter()
                .find(|(name, _)| *name == metric)
                .map_or(0, |(_, value)| *value),
        )
    }
}

fn strategy(kind: ArmKind, bands_dir: &BandDirectory) -> io::Result<Box<dyn Strategy>> {
    Ok(match kind {
        ArmKind::FullSha256 => Box::new(FullHash),
        ArmKind::MtimeSha256 => Box::new(ModifiedTimes::new(bands_dir, true)?),
        ArmKind::MtimeBlake3 => Box::new(ModifiedTimes::new(bands_dir, false)?),
        ArmKind::CloneOnly => Box::new(ClonedBands::new(bands_dir, false)?),
        ArmKind::EventsClone => Box::new(ClonedBands::new(bands_dir, true)?),
        ArmKind::Observed => Box::new(BandStore::new(bands_dir, ChangeSource::Stamps, false)?),
        ArmKind::Watched => Box::new(BandStore::new(bands_dir, ChangeSource::Events, false)?),
        ArmKind::Tracked => Box::new(BandStore::new(bands_dir, ChangeSource::Marks, false)?),
        ArmKind::TrackedFolded => Box::new(BandStore::new(bands_dir, ChangeSource::Marks, true)?),
        ArmKind::BareAppend => Box::new(BareAppend::new(bands_dir)?),
        ArmKind::Live => Box::new(NoCheckpoint),
        ArmKind::Other(tool) => tools::strategy(tool, bands_dir)?,
    })
}

/// Why checkpoints do not count: the first failure, which is the cause, then what it led to.
fn problem(failure: Option<&str>, held: io::Result<Option<bool>>) -> Option<String> {
    let result = match held {
        Ok(None | Some(true)) => None,
        Ok(Some(false)) => Some("what it kept is not what the bands are".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    let both: Vec<String> = failure
        .map(str::to_owned)
        .into_iter()
        .chain(result)
        .collect();
    (!both.is_empty()).then(|| both.join(", so "))
}

/// Makes every arm's bands. `place` returns an arm's place, or the reason why the arm cannot run.
pub(crate) fn prepare(
    plan: &Plan,
    mut place: impl FnMut(ArmKind) -> Result<Rc<Place>, String>,
) -> Result<Prepared, Failure> {
    let mut arms = Vec::new();
    let mut all = Vec::new();
    for kind in plan.kinds {
        let name = kind.name();
        let place = match place(*kind) {
            Ok(place) => place,
            Err(reason) => {
                arms.push(Arm::unavailable(name, reason));
                continue;
            }
        };
        let state = ArmState::new(plan, *kind, &place);
        let state = state.map_err(|error| Failure::new("preparing", format!("{name}: {error}")))?;
        let state = Rc::new(RefCell::new(state));
        all.push((name, Rc::clone(&state)));
        arms.push(arm(name, &state, plan));
    }
    let verify = Box::new(move || {
        let all = all
            .iter()
            .map(|(name, state)| (*name, state.borrow_mut().problem()));
        check("every checkpoint of every arm", all)
    });
    Ok(Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify,
    })
}

fn arm(name: &str, state: &Rc<RefCell<ArmState>>, plan: &Plan) -> Arm {
    let (operated, told) = (Rc::clone(state), Rc::clone(state));
    let mut arm = Arm::new(name, move || operated.borrow_mut().run_epoch()).with_work(move || {
        let told = told.borrow_mut().strategy.take_told();
        told.map(|told| ("told_by_events".to_owned(), told))
            .into_iter()
            .collect()
    });
    if let Some(epochs) = plan.epochs {
        arm = arm.with_iterations(epochs);
    }
    let last = plan.metrics.len() - 1;
    for (place, metric) in plan.metrics.iter().enumerate() {
        let read = Rc::clone(state);
        arm = arm.with_metric(metric, move || {
            let mut state = read.borrow_mut();
            let reading = state.read(metric);
            if place == last {
                state.sum = Phases::default(); // readings are taken in this order, after a round
            }
            reading
        });
    }
    arm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_a_failure_comes_before_its_result() {
        let both = problem(Some("no space"), Ok(Some(false)));
        assert_eq!(
            both.as_deref(),
            Some("no space, so what it kept is not what the bands are")
        );
        assert_eq!(
            problem(Some("no space"), Ok(None)).as_deref(),
            Some("no space")
        );
        assert_eq!(
            problem(None, Err(io::Error::other("unread"))).as_deref(),
            Some("unread")
        );
        assert_eq!(problem(None, Ok(Some(true))), None);
    }
}
