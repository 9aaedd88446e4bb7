//! The arms: each makes one change of its own bands durable under a name.
//!
//! An iteration writes the change, takes the checkpoint and lets the disk settle. `time` is all of it;
//! `durable` and the phases are the checkpoint alone, by clock reads around them (tens of nanoseconds
//! beside hundreds of microseconds). The writes are the same for every arm: sites draw from one seed.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use paceline_harness::{Arm, Check, Context, Failure, Prepared, Reading};

use crate::ground::{Ground, Place};
use crate::ours::Ours;
use crate::scenario::{Scenario, Touch};
use crate::seed::{Append, Full, Modified};
use crate::site::{HOT, Shape, Site};
use crate::tools::{self, Tool};

/// Besides the bands of arms that are no strategies: the filesystem's own structures, and their logs.
const OWN_ROOM_BYTES: u64 = 1 << 30;

/// What each arm is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    FullSha256,
    MtimeSha256,
    MtimeBlake3,
    CloneOnly,
    EventsClone,
    Observed,
    Watched,
    Tracked,
    BareAppend,
    /// The store when its owner gives old checkpoints up and folds.
    TrackedFolded,
    /// Nothing is kept of the bands: what they themselves take, and the log may take.
    Live,
    /// Not ours: in a process of its own.
    Other(Tool),
}

/// Every arm of the seed's scenarios.
pub(crate) const ALL: &[Kind] = &[
    Kind::FullSha256,
    Kind::MtimeSha256,
    Kind::MtimeBlake3,
    Kind::CloneOnly,
    Kind::EventsClone,
    Kind::Observed,
    Kind::Watched,
    Kind::Tracked,
    Kind::BareAppend,
    Kind::Other(Tool::Snapshot),
];
/// Those that do not read or clone every band.
pub(crate) const SPARSE: &[Kind] = &[
    Kind::MtimeBlake3,
    Kind::EventsClone,
    Kind::Observed,
    Kind::Watched,
    Kind::Tracked,
    Kind::BareAppend,
];
/// Those that a cold cache costs something, and the floor.
pub(crate) const COLD: &[Kind] = &[
    Kind::FullSha256,
    Kind::MtimeSha256,
    Kind::EventsClone,
    Kind::Observed,
    Kind::Watched,
    Kind::Tracked,
    Kind::BareAppend,
];

/// What grows old.
pub(crate) const AGEING: &[Kind] = &[
    Kind::EventsClone,
    Kind::Observed,
    Kind::Tracked,
    Kind::BareAppend,
];
/// What takes space.
pub(crate) const GROWTH: &[Kind] = &[
    Kind::Live,
    Kind::EventsClone,
    Kind::Tracked,
    Kind::TrackedFolded,
];
/// One changed band, by what people use.
pub(crate) const TOOLS: &[Kind] = &[
    Kind::Other(Tool::Rsync),
    Kind::Other(Tool::Git),
    Kind::Other(Tool::Borg),
    Kind::Other(Tool::Restic),
    Kind::Other(Tool::Casync),
    Kind::Other(Tool::Snapshot),
    Kind::Other(Tool::SnapshotCli),
    Kind::Other(Tool::Cli),
    Kind::Other(Tool::CliDirty),
    Kind::Observed,
    Kind::Tracked,
];

/// What a benchmark measures at one point of its params.
pub(crate) struct Plan {
    pub(crate) kinds: &'static [Kind],
    pub(crate) shape: Shape,
    pub(crate) scenario: Scenario,
    /// The bands are dropped from the page cache before each checkpoint.
    pub(crate) cold: bool,
    /// Epochs before the first round.
    pub(crate) age: u64,
    /// Epochs of a sample, where it is not for calibration to say.
    pub(crate) epochs: Option<u64>,
    /// Metrics besides `time`.
    pub(crate) metrics: &'static [&'static str],
    pub(crate) seed: u64,
}

impl Kind {
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

/// What a checkpoint took, in the seed's phases.
#[derive(Clone, Copy, Default)]
pub(crate) struct Phases {
    pub(crate) durable: u64,
    pub(crate) detect: u64,
    pub(crate) hash: u64,
    pub(crate) clone: u64,
    pub(crate) manifest: u64,
    pub(crate) sync: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Phases {
    fn add(&mut self, other: &Self) {
        for (sum, (_, more)) in [
            &mut self.durable,
            &mut self.detect,
            &mut self.hash,
            &mut self.clone,
            &mut self.manifest,
            &mut self.sync,
            &mut self.read,
            &mut self.written,
        ]
        .into_iter()
        .zip(other.named())
        {
            *sum += more;
        }
    }

    fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("durable", self.durable),
            ("detect", self.detect),
            ("hash", self.hash),
            ("clone", self.clone),
            ("manifest", self.manifest),
            ("sync", self.sync),
            ("read", self.read),
            ("written", self.written),
        ]
    }
}

/// A way to make a change durable.
pub(crate) trait Strategy {
    /// Answers when it is durable.
    fn checkpoint(&mut self, site: &Site, touches: &[Touch]) -> io::Result<Phases>;

    /// Whether what it made durable last is what the bands are now; nothing when it keeps no contents.
    fn holds(&self, site: &Site) -> io::Result<Option<bool>>;

    /// Bytes that count as taken although no file beside the bands takes them.
    fn counted(&self, _: &Site) -> io::Result<u64> {
        Ok(0)
    }
}

pub(crate) fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

struct Running {
    /// Before the site: it may have files of it open.
    strategy: Box<dyn Strategy>,
    site: Site,
    cold: bool,
    sum: Phases,
    failure: Option<String>,
}

impl Running {
    fn new(plan: &Plan, kind: Kind, place: &Rc<Place>) -> io::Result<Self> {
        // Only one arm reads what never changes; all others do the same work over holes.
        let shape = Shape {
            sparse: kind != Kind::FullSha256,
            ..plan.shape
        };
        let made = |dir: &Path| match kind {
            Kind::Other(tool) => tool.make_bands(dir),
            _ => fs::create_dir(dir),
        };
        let site = Site::with(place, shape, plan.scenario, plan.seed, made)?;
        let strategy = strategy(kind, &site)?;
        let mut running = Self {
            strategy,
            site,
            cold: plan.cold,
            sum: Phases::default(),
            failure: None,
        };
        for _ in 0..plan.age {
            running.once();
        }
        running.sum = Phases::default();
        Ok(running)
    }

    fn once(&mut self) {
        let mut once = || {
            let touches = self.site.change()?;
            if self.cold {
                self.site.forget()?;
            }
            let phases = self.strategy.checkpoint(&self.site, &touches)?;
            self.sum.add(&phases);
            self.site.settle()
        };
        if let Err(error) = once() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    /// Why its checkpoints do not count, if so.
    fn wrong(&mut self) -> Option<String> {
        wrong(self.failure.as_deref(), self.strategy.holds(&self.site))
    }

    fn read(&mut self, metric: &str) -> Reading {
        if metric == "disk" {
            // Said as it is, and not per epoch.
            let beside = self.site.beside_bytes();
            let bytes = beside.and_then(|beside| Ok(beside + self.strategy.counted(&self.site)?));
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

fn strategy(kind: Kind, site: &Site) -> io::Result<Box<dyn Strategy>> {
    Ok(match kind {
        Kind::FullSha256 => Box::new(Full),
        Kind::MtimeSha256 => Box::new(Modified::new(site, true)?),
        Kind::MtimeBlake3 => Box::new(Modified::new(site, false)?),
        Kind::CloneOnly => Box::new(crate::seed::Clone::new(site, false)?),
        Kind::EventsClone => Box::new(crate::seed::Clone::new(site, true)?),
        Kind::Observed | Kind::Watched | Kind::Tracked | Kind::TrackedFolded => {
            Box::new(Ours::new(site, kind)?)
        }
        Kind::BareAppend => Box::new(Append::new(site)?),
        Kind::Live => Box::new(crate::seed::Nothing),
        Kind::Other(tool) => tools::strategy(tool, site)?,
    })
}

/// Why checkpoints do not count: what failed first, which is the cause, then what it came to.
fn wrong(failure: Option<&str>, held: io::Result<Option<bool>>) -> Option<String> {
    let came_to = match held {
        Ok(None | Some(true)) => None,
        Ok(Some(false)) => Some("what it kept is not what the bands are".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    let both: Vec<String> = failure
        .map(str::to_owned)
        .into_iter()
        .chain(came_to)
        .collect();
    (!both.is_empty()).then(|| both.join(", so "))
}

/// A group that has no place here.
pub(crate) fn nowhere(names: &[&str], reason: &str) -> Prepared {
    let arms = names
        .iter()
        .map(|name| Arm::unavailable(name, reason))
        .collect();
    let verify = Box::new(|| check("nothing ran", std::iter::empty()));
    Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify,
    }
}

/// The check of a group: `well` when no arm has something wrong.
pub(crate) fn check<'a>(
    well: &str,
    arms: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Vec<Check> {
    let wrong = arms
        .into_iter()
        .filter_map(|(name, wrong)| Some(format!("{name}: {}", wrong?)));
    let wrong: Vec<String> = wrong.collect();
    let detail = if wrong.is_empty() {
        well.to_owned()
    } else {
        wrong.join("; ")
    };
    vec![Check {
        name: "checkpoints_succeed".to_owned(),
        ok: wrong.is_empty(),
        detail,
    }]
}

/// An arm that is no strategy: it works in a way of its own over bands that all may change.
pub(crate) trait Own: Sized + 'static {
    /// Items of a sample.
    const ITEMS: Option<u64>;
    /// What its check says when nothing is wrong.
    const WELL: &str;

    fn make(name: &str, site: Site) -> io::Result<Self>;
    fn arm(name: &str, running: &Rc<RefCell<Self>>) -> Arm;
    /// Why what it did does not count, if so.
    fn wrong(&self) -> Option<String>;
}

/// Makes the bands of every such arm, as many as changes touch, and each arm over its own.
pub(crate) fn prepare_own<R: Own>(
    ground: &Rc<Ground>,
    context: &Context<'_>,
    names: &[&'static str],
    scenario: Scenario,
) -> Result<Prepared, Failure> {
    let band_bytes = context.int("band_kib") << 10;
    let room = OWN_ROOM_BYTES + 3 * names.len() as u64 * HOT * band_bytes;
    let place = match ground.place(context.text("filesystem"), "bands", room) {
        Ok(place) => place,
        Err(reason) => return Ok(nowhere(names, &reason)),
    };
    let shape = Shape {
        bands: HOT,
        band_bytes,
        hot: HOT,
        sparse: false,
    };
    let mut made = Vec::new();
    for name in names {
        let running = Site::new(&place, shape, scenario, context.seed)
            .and_then(|site| R::make(name, site))
            .map_err(|error| Failure::new("preparing", format!("{name}: {error}")))?;
        made.push((*name, Rc::new(RefCell::new(running))));
    }
    let arms = made
        .iter()
        .map(|(name, running)| R::arm(name, running))
        .collect();
    let verify = Box::new(move || {
        check(
            R::WELL,
            made.iter()
                .map(|(name, running)| (*name, running.borrow().wrong())),
        )
    });
    Ok(Prepared {
        arms,
        items_per_iteration: R::ITEMS,
        bytes_per_iteration: None,
        verify,
    })
}

/// Makes every arm's bands. `place` may have none for an arm, and says why.
pub(crate) fn prepare(
    plan: &Plan,
    mut place: impl FnMut(Kind) -> Result<Rc<Place>, String>,
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
        let running = Running::new(plan, *kind, &place);
        let running =
            running.map_err(|error| Failure::new("preparing", format!("{name}: {error}")))?;
        let running = Rc::new(RefCell::new(running));
        all.push((name, Rc::clone(&running)));
        arms.push(arm(name, &running, plan));
    }
    let verify = Box::new(move || {
        let all = all
            .iter()
            .map(|(name, running)| (*name, running.borrow_mut().wrong()));
        check("every checkpoint of every arm", all)
    });
    Ok(Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify,
    })
}

fn arm(name: &str, running: &Rc<RefCell<Running>>, plan: &Plan) -> Arm {
    let operated = Rc::clone(running);
    let mut arm = Arm::new(name, move || operated.borrow_mut().once());
    if let Some(epochs) = plan.epochs {
        arm = arm.with_iterations(epochs);
    }
    let last = plan.metrics.len() - 1;
    for (place, metric) in plan.metrics.iter().enumerate() {
        let read = Rc::clone(running);
        arm = arm.with_metric(metric, move || {
            let mut running = read.borrow_mut();
            let reading = running.read(metric);
            if place == last {
                running.sum = Phases::default(); // readings are taken in this order, all after a round
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
    fn the_cause_of_a_failure_is_said_before_what_it_came_to() {
        let both = wrong(Some("no space"), Ok(Some(false)));
        assert_eq!(
            both.as_deref(),
            Some("no space, so what it kept is not what the bands are")
        );
        assert_eq!(
            wrong(Some("no space"), Ok(None)).as_deref(),
            Some("no space")
        );
        assert_eq!(
            wrong(None, Err(io::Error::other("unread"))).as_deref(),
            Some("unread")
        );
        assert_eq!(wrong(None, Ok(Some(true))), None);
    }
}
