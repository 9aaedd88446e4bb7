//! The arms: each makes one change of its own bands durable under a name.
//!
//! An iteration writes the change, takes the checkpoint and lets the disk settle. `time` is all of it;
//! `durable` and the phases are the checkpoint alone, by clock reads around them (tens of nanoseconds
//! beside hundreds of microseconds). The writes are the same for every arm: sites draw from one seed.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store, Watcher};
use paceline_harness::{Arm, Check, Failure, Prepared, Reading};

use crate::scenario::{Scenario, Touch, WRITE_BYTES};
use crate::seed::{Append, Full, Modified};
use crate::site::{Shape, Site, name};

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
}

/// Every arm.
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
];
/// Those that do not read or clone every band.
pub(crate) const SPARSE: &[Kind] =
    &[Kind::MtimeBlake3, Kind::EventsClone, Kind::Observed, Kind::Watched, Kind::Tracked, Kind::BareAppend];
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

/// What a benchmark measures at one point of its params.
pub(crate) struct Plan {
    pub(crate) kinds: &'static [Kind],
    pub(crate) shape: Shape,
    pub(crate) scenario: Scenario,
    /// The bands are dropped from the page cache before each checkpoint.
    pub(crate) cold: bool,
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
}

pub(crate) fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Where the store knows from what changed.
enum Told {
    /// The writer says it.
    Marks,
    /// It looks at every stamp.
    Stamps,
    /// Change events; a look at the stamps of what they name.
    Events(Watcher),
}

/// The store, told or looking.
struct Ours {
    store: Store,
    told: Told,
    taken: u64,
}

impl Ours {
    fn new(site: &Site, kind: Kind) -> io::Result<Self> {
        let made = Store::init(Arc::new(RealDisk), &site.live(), Options::default(), "first");
        let mut store = made.map_err(io::Error::other)?;
        let told = match kind {
            Kind::Observed => Told::Stamps,
            Kind::Watched => {
                let mut watcher = Watcher::new(&site.live()).map_err(io::Error::other)?;
                // The first answer is everything; from the second checkpoint on, names.
                store.checkpoint_seen("watched", &mut || watcher.seen()).map_err(io::Error::other)?;
                Told::Events(watcher)
            }
            _ => Told::Marks,
        };
        Ok(Self { store, told, taken: 0 })
    }
}

impl Strategy for Ours {
    fn checkpoint(&mut self, _: &Site, touches: &[Touch]) -> io::Result<Phases> {
        self.taken += 1;
        let checkpoint = format!("c{}", self.taken);
        let begin = Instant::now();
        let taken = match &mut self.told {
            Told::Stamps => self.store.checkpoint_observed(&checkpoint),
            Told::Events(watcher) => self.store.checkpoint_seen(&checkpoint, &mut || watcher.seen()),
            Told::Marks => {
                for touch in touches {
                    let marked = self.store.mark_dirty(&name(touch.band), touch.offset, WRITE_BYTES);
                    marked.map_err(io::Error::other)?;
                }
                self.store.checkpoint(&checkpoint)
            }
        };
        let taken = taken.map_err(io::Error::other)?;
        let durable = nanoseconds(begin);
        let (hash, sync) = (taken.hash_ns, taken.append_ns);
        let (read, written) = (taken.read_bytes, taken.written_bytes);
        Ok(Phases { durable, hash, sync, read, written, ..Phases::default() })
    }
}

struct Running {
    site: Site,
    strategy: Box<dyn Strategy>,
    cold: bool,
    sum: Phases,
    failure: Option<String>,
}

impl Running {
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
}

fn strategy(kind: Kind, site: &Site) -> io::Result<Box<dyn Strategy>> {
    Ok(match kind {
        Kind::FullSha256 => Box::new(Full),
        Kind::MtimeSha256 => Box::new(Modified::new(site, true)?),
        Kind::MtimeBlake3 => Box::new(Modified::new(site, false)?),
        Kind::CloneOnly => Box::new(crate::seed::Clone::new(site, false)?),
        Kind::EventsClone => Box::new(crate::seed::Clone::new(site, true)?),
        Kind::Observed | Kind::Watched | Kind::Tracked => Box::new(Ours::new(site, kind)?),
        Kind::BareAppend => Box::new(Append::new(site)?),
    })
}

/// Makes every arm's bands.
pub(crate) fn prepare(plan: &Plan) -> Result<Prepared, Failure> {
    let mut arms = Vec::new();
    let mut all = Vec::new();
    for kind in plan.kinds {
        // Only one arm reads what never changes; all others do the same work over holes.
        let shape = Shape { sparse: *kind != Kind::FullSha256, ..plan.shape };
        let made = Site::new(shape, plan.scenario, plan.seed);
        let made = made.and_then(|site| {
            let strategy = strategy(*kind, &site)?;
            Ok(Running { site, strategy, cold: plan.cold, sum: Phases::default(), failure: None })
        });
        let running = made.map_err(|error| Failure::new("preparing", format!("{}: {error}", kind.name())))?;
        let running = Rc::new(RefCell::new(running));
        all.push((kind.name(), Rc::clone(&running)));
        arms.push(arm(kind.name(), &running));
    }
    let verify = Box::new(move || {
        let failed = all
            .iter()
            .filter_map(|(name, running)| Some(format!("{name}: {}", running.borrow().failure.as_ref()?)));
        let failed: Vec<String> = failed.collect();
        let ok = failed.is_empty();
        let detail = if ok { "every checkpoint of every arm".to_owned() } else { failed.join("; ") };
        vec![Check { name: "checkpoints_succeed".to_owned(), ok, detail }]
    });
    Ok(Prepared { arms, items_per_iteration: Some(1), bytes_per_iteration: None, verify })
}

fn arm(name: &str, running: &Rc<RefCell<Running>>) -> Arm {
    let operated = Rc::clone(running);
    let mut arm = Arm::new(name, move || operated.borrow_mut().once());
    for (place, (metric, _)) in Phases::default().named().into_iter().enumerate() {
        let read = Rc::clone(running);
        let last = place + 1 == Phases::default().named().len();
        arm = arm.with_metric(metric, move || {
            let mut running = read.borrow_mut();
            let value = running.sum.named()[place].1;
            if last {
                running.sum = Phases::default(); // readings are taken in this order, all after a round
            }
            Reading::Total(value)
        });
    }
    arm
}
