//! Going back: bands as they were ten epochs ago.
//!
//! A sample names the state, makes ten changes durable one by one, and goes back; only the last is the metric
//! `back`. Invariant: before and after every sample the bands are the same, byte by byte.

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
use paceline_harness::{Arm, Check, Context, Direction, Failure, Prepared, Reading, Unit};

use crate::arms::{self, nanoseconds};
use crate::ground::Ground;
use crate::scenario::{self, WRITE_BYTES};
use crate::site::{HOT, Shape, Site, equal, name, sync_dir};

/// Kept copies put back, band by band; the store.
pub(crate) const ARMS: [&str; 2] = ["copy_back", "tracked"];
/// Going back alone.
pub(crate) const METRICS: [(&str, Unit, Direction); 1] = [("back", Unit::Nanoseconds, Direction::Lower)];

const EPOCHS: u64 = 10;
/// Besides bands: the filesystem's own structures, and logs of two stores.
const ROOM_BYTES: u64 = 1 << 30;

enum Way {
    /// Without a store: epochs keep nothing, for only the first state is asked for.
    Copies,
    Tracked(Box<Store>),
}

struct Running {
    way: Way,
    site: Site,
    /// The bands as they were at first.
    kept: PathBuf,
    samples: u64,
    back_ns: u64,
    failure: Option<String>,
}

/// Makes every arm's bands, and copies of them.
pub(crate) fn prepare(ground: &Rc<Ground>, context: &Context<'_>) -> Result<Prepared, Failure> {
    let band_bytes = context.int("band_kib") << 10;
    let room = ROOM_BYTES + 3 * ARMS.len() as u64 * HOT * band_bytes;
    let place = match ground.place(context.text("filesystem"), "bands", room) {
        Ok(place) => place,
        Err(reason) => return Ok(arms::nowhere(&ARMS, &reason)),
    };
    let shape = Shape { bands: HOT, band_bytes, hot: HOT, sparse: false };
    let mut made = Vec::new();
    for name in ARMS {
        let running = Site::new(&place, shape, scenario::ALL[0], context.seed)
            .and_then(|site| Running::new(name, site))
            .map_err(|error| Failure::new("preparing", format!("{name}: {error}")))?;
        made.push((name, Rc::new(RefCell::new(running))));
    }
    let arms = made.iter().map(|(name, running)| {
        let (operated, read) = (Rc::clone(running), Rc::clone(running));
        Arm::new(name, move || operated.borrow_mut().once())
            .with_iterations(1)
            .with_metric("back", move || Reading::Total(std::mem::take(&mut read.borrow_mut().back_ns)))
    });
    let arms = arms.collect();
    let verify = Box::new(move || {
        let wrong = made.iter().filter_map(|(name, running)| {
            let running = running.borrow();
            let wrong = match equal(&running.kept, &running.site) {
                Ok(true) => running.failure.clone()?,
                Ok(false) => "the bands are not what they were".to_owned(),
                Err(error) => error.to_string(),
            };
            Some(format!("{name}: {wrong}"))
        });
        let wrong: Vec<String> = wrong.collect();
        let detail = if wrong.is_empty() { "every arm is back".to_owned() } else { wrong.join("; ") };
        vec![Check { name: "checkpoints_succeed".to_owned(), ok: wrong.is_empty(), detail }]
    });
    Ok(Prepared { arms, items_per_iteration: Some(1), bytes_per_iteration: None, verify })
}

impl Running {
    fn new(name: &str, site: Site) -> io::Result<Self> {
        let kept = site.beside("kept");
        fs::create_dir(&kept)?;
        for band in site.changing() {
            fs::copy(site.live().join(&band), kept.join(&band))?;
        }
        let way = if name == "tracked" {
            let made = Store::init(Arc::new(RealDisk), &site.live(), Options::default(), "first");
            Way::Tracked(Box::new(made.map_err(io::Error::other)?))
        } else {
            Way::Copies
        };
        site.settle()?;
        Ok(Self { way, site, kept, samples: 0, back_ns: 0, failure: None })
    }

    fn once(&mut self) {
        if let Err(error) = self.try_once() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    fn try_once(&mut self) -> io::Result<()> {
        self.samples += 1;
        let state = format!("state-{}", self.samples);
        if let Way::Tracked(store) = &mut self.way {
            store.checkpoint(&state).map_err(io::Error::other)?;
        }
        let mut changed = BTreeSet::new();
        for epoch in 0..EPOCHS {
            let touches = self.site.change()?;
            changed.extend(touches.iter().map(|touch| touch.band));
            let Way::Tracked(store) = &mut self.way else { continue };
            for touch in &touches {
                let marked = store.mark_dirty(&name(touch.band), touch.offset, WRITE_BYTES);
                marked.map_err(io::Error::other)?;
            }
            store.checkpoint(&format!("{state}-{epoch}")).map_err(io::Error::other)?;
        }
        self.site.settle()?;
        let begin = Instant::now();
        match &mut self.way {
            Way::Tracked(store) => {
                store.rollback(&state).map_err(io::Error::other)?;
            }
            Way::Copies => self.put_back(&changed)?,
        }
        self.back_ns += nanoseconds(begin);
        self.site.reopen()
    }

    /// Each changed band from its copy, synced before it takes the name.
    fn put_back(&self, changed: &BTreeSet<u64>) -> io::Result<()> {
        for band in changed {
            let (kept, live) = (self.kept.join(name(*band)), self.site.live().join(name(*band)));
            let next = self.site.beside("next");
            fs::copy(&kept, &next)?; // where there are clones, the system clones
            File::open(&next)?.sync_all()?;
            fs::rename(&next, &live)?;
        }
        sync_dir(&self.site.live())
    }
}
