//! Arms that are no checkpoint strategy: the shared part of `stall`, `rollback` and `detect`.
//!
//! Each uses bands that may all change, and checks its own result.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use paceline_harness::{Arm, Check, Context, Failure, Prepared};

use crate::band_directory::{BandDirectory, HOT, Shape};
use crate::scenario::Scenario;
use crate::workspace::Workspace;

/// Space besides the bands of such arms: the filesystem's own structures, and their logs.
const OWN_ROOM_BYTES: u64 = 1 << 30;

/// The arms of a group for which there is no filesystem here.
pub(crate) fn all_unavailable(names: &[&str], reason: &str) -> Prepared {
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

/// The check of a group: `well` if no arm has an error.
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

/// An arm that is no strategy, over bands that may all change.
pub(crate) trait CustomArm: Sized + 'static {
    /// Items of a sample.
    const ITEMS: Option<u64>;
    /// The check's text when nothing is wrong.
    const SUCCESS: &str;

    fn make(name: &str, bands_dir: BandDirectory) -> io::Result<Self>;
    fn arm(name: &str, running: &Rc<RefCell<Self>>) -> Arm;
    /// Why its work does not count, if it does not.
    fn problem(&self) -> Option<String>;
}

/// Makes the bands of every such arm, as many as changes touch, and the arms.
pub(crate) fn prepare_custom<R: CustomArm>(
    workspace: &Rc<Workspace>,
    context: &Context<'_>,
    names: &[&'static str],
    scenario: Scenario,
) -> Result<Prepared, Failure> {
    let band_bytes = context.int("band_kib") << 10;
    let room = OWN_ROOM_BYTES + 3 * names.len() as u64 * HOT * band_bytes;
    let place = match workspace.place(context.text("filesystem"), "bands", room) {
        Ok(place) => place,
        Err(reason) => return Ok(all_unavailable(names, &reason)),
    };
    let shape = Shape {
        bands: HOT,
        band_bytes,
        hot: HOT,
        sparse: false,
    };
    let mut made = Vec::new();
    for name in names {
        let running = BandDirectory::new(&place, shape, scenario, context.seed)
            .and_then(|bands_dir| R::make(name, bands_dir))
            .map_err(|error| Failure::new("preparing", format!("{name}: {error}")))?;
        made.push((*name, Rc::new(RefCell::new(running))));
    }
    let arms = made
        .iter()
        .map(|(name, running)| R::arm(name, running))
        .collect();
    let verify = Box::new(move || {
        check(
            R::SUCCESS,
            made.iter()
                .map(|(name, running)| (*name, running.borrow().problem())),
        )
    });
    Ok(Prepared {
        arms,
        items_per_iteration: R::ITEMS,
        bytes_per_iteration: None,
        verify,
    })
}
