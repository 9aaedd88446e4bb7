//! The benchmark `locality`: how many bands of a disk image change when files in it change.
//!
//! The image has the original measurement's size (87 bands of 8 MiB, 36,000 files) and is made once
//! per filesystem. A sample writes 4 KiB to each file of the scenario and reads the whole image to
//! see which bands differ: `time` is the duration, `dirty` the number of bands. Where images cannot
//! be mounted, the arms are unavailable with the reason.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use paceline_harness::order::SplitMix64;
use paceline_harness::{
    Arm, Benchmark, Context, Direction, Failure, Metric, Param, Prepared, Reading, Unit,
};

use crate::band_directory::BAND_BYTES;
use crate::custom_arm;
use crate::scenario::{self, Files, WRITE_BYTES};
use crate::volume;
use crate::workspace::{Place, Workspace};

const BANDS: u64 = 87;
/// An xfs does not fit into fewer bands.
const BANDS_LEAST: u64 = 40;
/// As many files as in the original measurement.
const FILES: u64 = 36_000;
const FILES_PER_DIR: u64 = 100;
const FILE_BYTES: usize = 8192;

struct ArmState {
    place: Rc<Place>,
    image: PathBuf,
    ids: Vec<blake3::Hash>,
    random: SplitMix64,
    files: u64,
    change: Files,
    dirty: u64,
    failure: Option<String>,
}

/// The benchmark, by the original measurement's changes.
pub(crate) fn benchmark(workspace: &Rc<Workspace>, scenarios: Param) -> Benchmark {
    let workspace = Rc::clone(workspace);
    let metric = Metric {
        name: "dirty".to_owned(),
        unit: Unit::Count,
        direction: Direction::Lower,
    };
    Benchmark {
        name: "locality".to_owned(),
        arms: volume::KINDS.map(str::to_owned).to_vec(),
        params: vec![
            scenarios,
            Param::int("files", &[FILES], 100, FILES),
            Param::int("bands", &[BANDS], BANDS_LEAST, BANDS),
        ],
        metrics: vec![metric],
        prepare: Box::new(move |context| prepare(&workspace, context)),
    }
}

fn prepare(workspace: &Rc<Workspace>, context: &Context<'_>) -> Result<Prepared, Failure> {
    let mut made = Vec::new();
    let mut all = Vec::new();
    for kind in volume::KINDS {
        let place = match workspace.place(kind, kind, context.int("bands") * BAND_BYTES) {
            Ok(place) => place,
            Err(reason) => {
                all.push(Arm::unavailable(kind, reason));
                continue;
            }
        };
        let running = ArmState::new(place, context);
        let running =
            running.map_err(|error| Failure::new("preparing", format!("{kind}: {error}")))?;
        let running = Rc::new(RefCell::new(running));
        let (operated, read) = (Rc::clone(&running), Rc::clone(&running));
        let arm = Arm::new(kind, move || operated.borrow_mut().once()).with_iterations(1);
        all.push(arm.with_metric("dirty", move || Reading::Total(read.borrow().dirty)));
        made.push((kind, running));
    }
    let verify = Box::new(move || {
        let made = made
            .iter()
            .map(|(kind, running)| (*kind, running.borrow().failure.clone()));
        custom_arm::check("every change was read back", made)
    });
    Ok(Prepared {
        arms: all,
        items_per_iteration: None,
        bytes_per_iteration: None,
        verify,
    })
}

impl ArmState {
    fn new(place: Rc<Place>, context: &Context<'_>) -> io::Result<Self> {
        let count = context.int("files");
        let mut random = SplitMix64::new(context.seed);
        for number in 0..count {
            let path = path(place.dir(), number);
            if number % FILES_PER_DIR == 0 {
                fs::create_dir(path.parent().unwrap_or(place.dir()))?;
            }
            fs::write(path, random.draw().to_le_bytes().repeat(FILE_BYTES / 8))?;
        }
        let change = scenario::files_of(context.text("scenario"));
        let image = place
            .image()
            .ok_or_else(|| io::Error::other("no image"))?
            .to_owned();
        let mut made = Self {
            place,
            image,
            ids: vec![],
            random,
            files: count,
            change,
            dirty: 0,
            failure: None,
        };
        made.ids = made.read()?;
        Ok(made)
    }

    fn once(&mut self) {
        if let Err(error) = self.try_once() {
            self.failure.get_or_insert(error.to_string());
        }
    }

    fn try_once(&mut self) -> io::Result<()> {
        let first = self.random.draw();
        for number in 0..self.change.count {
            let file = if self.change.together {
                first.wrapping_add(number)
            } else {
                self.random.draw()
            } % self.files;
            let file = OpenOptions::new()
                .write(true)
                .open(path(self.place.dir(), file))?;
            let bytes = self
                .random
                .draw()
                .to_le_bytes()
                .repeat(usize::try_from(WRITE_BYTES / 8).unwrap_or(0));
            file.write_all_at(&bytes, 0)?;
        }
        let now = self.read()?;
        self.dirty = now
            .iter()
            .zip(&self.ids)
            .filter(|(now, before)| now != before)
            .count() as u64;
        self.ids = now;
        if self.dirty == 0 {
            return Err(io::Error::other("files changed, and no band did"));
        }
        Ok(())
    }

    /// The id of each band of the image, once its filesystem has written everything.
    fn read(&self) -> io::Result<Vec<blake3::Hash>> {
        rustix::fs::syncfs(File::open(self.place.dir())?)?;
        let image = File::open(&self.image)?;
        let mut band = vec![0; usize::try_from(BAND_BYTES).unwrap_or(0)];
        let ids = (0..image.metadata()?.len() / BAND_BYTES).map(|number| {
            image.read_exact_at(&mut band, number * BAND_BYTES)?;
            Ok(blake3::hash(&band))
        });
        ids.collect()
    }
}

fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join((number / FILES_PER_DIR).to_string())
        .join(number.to_string())
}
