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
use paceline_harness::{Arm, Context, Direction, Failure, Prepared, Reading, Unit};

use crate::arms::{self, Own, nanoseconds};
use crate::ground::Ground;
use crate::scenario::{self, WRITE_BYTES};
use crate::site::{Site, equal, name, sync_dir};

/// Kept copies put back, band by band; the store.
pub(crate) const ARMS: [&str; 2] = ["copy_back", "tracked"];
/// Going back alone.
pub(crate) const METRICS: [(&str, Unit, Direction); 1] =
    [("back", Unit::Nanoseconds, Direction::Lower)];

const EPOCHS: u64 = 10;

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
    arms::prepare_own::<Running>(ground, context, &ARMS, scenario::ALL[0])
}

impl Own for Running {
    const ITEMS: Option<u64> = Some(1);
    const WELL: &str = "every arm is back";

    fn make(name: &str, site: Site) -> io::Result<Self> {
        let kept = site.beside("kept");
        fs::create_dir(&kept)?;
        for band in site.changing() {
            fs::copy(site.live().join(&band), kept.join(&band))?;
        }
        let way = if name == "tracked" {
            let made = Store::init(
                Arc::new(RealDisk),
                &site.live(),
                Options::default(),
                "first",
            );
            Way::Tracked(Box::new(made.map_err(io::Error::other)?))
        } else {
            Way::Copies
        };
        site.settle()?;
        Ok(Self {
            way,
            site,
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

    fn wrong(&self) -> Option<String> {
        match equal(&self.kept, &self.site) {
            Ok(true) => self.failure.clone(),
            Ok(false) => Some("the bands are not what they were".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Running {
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
            let Way::Tracked(store) = &mut self.way else {
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
            let (kept, live) = (
                self.kept.join(name(*band)),
                self.site.live().join(name(*band)),
            );
            let next = self.site.beside("next");
            fs::copy(&kept, &next)?; // where there are clones, the system clones
            File::open(&next)?.sync_all()?;
            fs::rename(&next, &live)?;
        }
        sync_dir(&self.site.live())
    }
}
