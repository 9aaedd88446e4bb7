//! The benchmark `detect`: the cost of finding out that nothing changed, by number of bands.
//!
//! Each arm looks at its own directory and reads no band. An arm that reports a change fails the
//! suite's check.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Seen, Store, Watcher};
use paceline_harness::{Arm, Check, Context, Failure, Prepared};

use crate::band_directory::{BandDirectory, Shape, name};
use crate::custom_arm;
use crate::scenario::{self, Scenario};
use crate::workspace::Workspace;

/// The original product's scan, the store's look at all stamps, and its watcher's answer.
pub(crate) const ARMS: [&str; 3] = ["scan", "look", "events"];

/// No arm reads a band, so bands are small: a store of thousands is made in seconds.
const SMALL_BYTES: u64 = 64 << 10;
/// Iterations of a sample: an answer of events takes microseconds, and a look at thousands of bands
/// ten milliseconds. It is the same for every number of bands, so that the slower first iteration,
/// after other arms ran, has the same weight everywhere.
const LOOKS: u64 = 50;

/// Space of the bands, a store and its log: inodes and holes.
const ROOM_BYTES: u64 = 1 << 30;

/// Makes every arm's bands, which are not written afterwards.
pub(crate) fn prepare(
    workspace: &Rc<Workspace>,
    context: &Context<'_>,
) -> Result<Prepared, Failure> {
    let place = match workspace.place(context.text("filesystem"), "bands", ROOM_BYTES) {
        Ok(place) => place,
        Err(reason) => return Ok(custom_arm::all_unavailable(&ARMS, &reason)),
    };
    let wrong = Rc::new(Cell::new(0_u64));
    let shape = Shape {
        bands: context.int("bands"),
        band_bytes: SMALL_BYTES,
        hot: 0,
        sparse: true,
    };
    let nothing = Scenario {
        dirty_bands: 0,
        ..scenario::ALL[0]
    };
    let made = ARMS.map(|name| {
        let bands_dir = BandDirectory::new(&place, shape, nothing, context.seed)?;
        let (arm, store) = arm(name, &bands_dir, &wrong)?;
        Ok((arm.with_iterations(LOOKS), (bands_dir, store)))
    });
    let made: io::Result<Vec<_>> = made.into_iter().collect();
    let made = made.map_err(|error| Failure::new("preparing", error.to_string()))?;
    let (arms, kept): (Vec<Arm>, Vec<(BandDirectory, Option<Shared>)>) = made.into_iter().unzip();
    let verify = Box::new(move || {
        // The directories exist until here; they are removed with this value.
        let dirty = |(_, store): &(BandDirectory, Option<Shared>)| {
            let status = store.as_ref().map(|store| store.borrow().status());
            status.is_some_and(|status| status.map_or(true, |status| !status.dirty.is_empty()))
        };
        let seen = wrong.get() + kept.iter().filter(|directory| dirty(directory)).count() as u64;
        let detail = format!("{seen} changes seen in {} quiet directories", kept.len());
        vec![Check {
            name: "checkpoints_succeed".to_owned(),
            ok: seen == 0,
            detail,
        }]
    });
    Ok(Prepared {
        arms,
        items_per_iteration: Some(1),
        bytes_per_iteration: None,
        verify,
    })
}

type Shared = Rc<RefCell<Store>>;

fn arm(
    arm: &'static str,
    bands_dir: &BandDirectory,
    wrong: &Rc<Cell<u64>>,
) -> io::Result<(Arm, Option<Shared>)> {
    let wrong = Rc::clone(wrong);
    let tell = move |quiet: bool| wrong.set(wrong.get() + u64::from(!quiet));
    if arm == "scan" {
        return Ok((scan(arm, bands_dir, tell)?, None));
    }
    let made = Store::init(
        Arc::new(RealDisk),
        &bands_dir.live(),
        Options::default(),
        "first",
    );
    let mut store = made.map_err(io::Error::other)?;
    if arm == "events" {
        // The store has the file of the watcher's fence.
        let mut watcher = Watcher::new(&bands_dir.live()).map_err(io::Error::other)?;
        watcher.seen(); // the first answer is "everything"
        let asked = move || tell(matches!(watcher.seen(), Seen::Bands(names) if names.is_empty()));
        return Ok((Arm::new(arm, asked), None));
    }
    // Stamps of bands that were just made are too young to be trusted, for at most two ticks of the
    // clock.
    for number in 0..100 {
        store
            .checkpoint_observed(&format!("c{number}"))
            .map_err(io::Error::other)?;
        store.look_at_live().map_err(io::Error::other)?;
        if store.status().map_err(io::Error::other)?.dirty.is_empty() {
            break;
        }
    }
    let store = Rc::new(RefCell::new(store));
    let shared = Rc::clone(&store);
    Ok((
        Arm::new(arm, move || tell(store.borrow_mut().look_at_live().is_ok())),
        Some(shared),
    ))
}

/// The original product's way: the time of every band it knows.
fn scan(
    arm: &'static str,
    bands_dir: &BandDirectory,
    tell: impl Fn(bool) + 'static,
) -> io::Result<Arm> {
    let paths: Vec<PathBuf> = (0..bands_dir.bands)
        .map(|band| bands_dir.live().join(name(band)))
        .collect();
    let time = |path: &PathBuf| fs::metadata(path).map(|meta| (meta.mtime(), meta.mtime_nsec()));
    let known: Vec<_> = paths.iter().map(time).collect::<io::Result<_>>()?;
    Ok(Arm::new(arm, move || {
        let same = paths
            .iter()
            .zip(&known)
            .all(|(path, known)| time(path).is_ok_and(|now| now == *known));
        tell(same);
    }))
}
