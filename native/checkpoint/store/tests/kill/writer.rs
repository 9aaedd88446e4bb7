//! The process that is killed: random steps over a store, each reported before and after.
//!
//! Its model is in its own memory; the digests it reports never come from the store. A second
//! thread folds and makes hash trees.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use paceline_checkpoint::disk::{Disk, RealDisk};
use paceline_checkpoint::{Background, ErrorKind, Options, Store};

use crate::report::{Bands, Random, Report, digest_of, read};

/// Small segments, so that they often end.
pub(crate) const OPTIONS: Options = Options {
    segment_bytes: 256 << 10,
    skip_proven_syncs: true,
};
const BAND_MOST: u64 = 72 << 10;
const NAMES: u64 = 4;
/// More checkpoints than this are pruned, so that folds have work and checks are quick.
const KEPT_MOST: usize = 8;

/// Makes the bands for the first writer.
pub(crate) fn prepare(live: &Path, seed: u64) {
    std::fs::create_dir(live).expect("made");
    let mut random = Random(seed);
    for band in 0..NAMES {
        let count = usize::try_from(random.below(BAND_MOST)).expect("small");
        std::fs::write(
            live.join(format!("band{band}")),
            vec![random.below(256).to_le_bytes()[0]; count],
        )
        .expect("written");
    }
    RealDisk.sync_beneath(live).expect("synced");
}

fn say(report: &Report) {
    let mut out = std::io::stdout().lock();
    out.write_all(report.line().as_bytes())
        .expect("somebody listens");
    out.flush().expect("somebody listens");
}

struct Writer {
    store: Arc<Mutex<Store>>,
    work: Background,
    bands: Bands,
    random: Random,
    /// Kept checkpoints, as far as this process knows their contents.
    kept: Vec<(String, Bands)>,
    next: u64,
}

/// Opens or makes the store, and continues until it is killed.
pub(crate) fn write_for_ever(live: &Path, seed: u64) {
    let bands = read(live);
    let first = || {
        say(&Report::Asks {
            name: "first".to_owned(),
            digest: digest_of(&bands),
        });
        let store = Store::init(Arc::new(RealDisk), live, OPTIONS, "first").expect("a new store");
        say(&Report::Has {
            name: "first".to_owned(),
        });
        store
    };
    let store = match Store::open(Arc::new(RealDisk), live, OPTIONS) {
        Ok(store) => store,
        Err(error) if error.kind() == ErrorKind::NotFound => first(),
        Err(error) => panic!("{error}"),
    };
    let store = Arc::new(Mutex::new(store));
    let work = Background::start(Arc::clone(&store)).expect("a thread");
    let mut writer = Writer {
        store,
        work,
        bands,
        random: Random(seed),
        kept: vec![],
        next: 0,
    };
    // Writes of the killed writer without a checkpoint are found by looking.
    writer.checkpoint(true, seed);
    loop {
        match writer.random.below(100) {
            0..50 => writer.write(),
            50..55 => writer.resize(),
            55..80 => writer.checkpoint(false, seed),
            80..86 => writer.go_back(),
            86..94 => writer.give_up(),
            94..97 => writer.fold(),
            _ => writer.store().save_index(),
        }
    }
}

impl Writer {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().expect("nobody panicked")
    }

    fn fold(&mut self) {
        match self.store().fold() {
            Err(error) if error.kind() == ErrorKind::Locked => {} // the thread has a job in hand
            other => drop(other.expect("folded")),
        }
    }

    fn write(&mut self) {
        let name = format!("band{}", self.random.below(NAMES));
        let (offset, count) = (self.random.below(BAND_MOST), 1 + self.random.below(12_000));
        let value = self.random.below(256).to_le_bytes()[0];
        let bytes = vec![value; usize::try_from(count).expect("small")];
        self.store()
            .write_at(&name, offset, &bytes)
            .expect("written");
        let band = self.bands.entry(name).or_default();
        let offset = usize::try_from(offset).expect("small");
        band.resize(band.len().max(offset + bytes.len()), 0);
        band[offset..offset + bytes.len()].copy_from_slice(&bytes);
    }

    fn resize(&mut self) {
        let (name, bytes) = (
            format!("band{}", self.random.below(NAMES)),
            self.random.below(BAND_MOST),
        );
        self.store().set_len(&name, bytes).expect("cut or extended");
        self.bands
            .entry(name)
            .or_default()
            .resize(usize::try_from(bytes).expect("small"), 0);
    }

    fn checkpoint(&mut self, observed: bool, life: u64) {
        self.next += 1;
        let name = format!("c{life}-{}", self.next);
        say(&Report::Asks {
            name: name.clone(),
            digest: digest_of(&self.bands),
        });
        let bands = self.bands.clone();
        if observed {
            self.store().checkpoint_observed(&name).expect("taken");
        } else if self.random.below(2) == 0 {
            self.store().checkpoint(&name).expect("taken");
        } else {
            // The writer continues during this checkpoint.
            let mut pending = self.store().begin(&name).expect("begun");
            while self.store().feed(&mut pending) {
                if self.random.below(4) == 0 {
                    self.write();
                }
                pending.run();
            }
            self.store().finish(pending).expect("taken");
        }
        self.work.nudge();
        say(&Report::Has { name: name.clone() });
        self.kept.push((name, bands));
    }

    fn go_back(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        let place = usize::try_from(self.random.below(self.kept.len() as u64)).expect("small");
        let (name, bands) = self.kept[place].clone();
        say(&Report::Returns {
            to: digest_of(&bands),
            from: digest_of(&self.bands),
        });
        let replaced = self
            .store()
            .rollback(&name)
            .expect("rolled back")
            .checkpoint
            .name;
        say(&Report::Returned {
            name: replaced.clone(),
        });
        let before = std::mem::replace(&mut self.bands, bands);
        self.kept.push((replaced, before));
    }

    fn give_up(&mut self) {
        loop {
            let listed = self.store().list();
            if listed.len() <= KEPT_MOST {
                break;
            }
            let name = listed[0].name.clone();
            say(&Report::Drops { name: name.clone() });
            self.store().prune(&[&name]).expect("pruned");
            say(&Report::Dropped { name: name.clone() });
            self.kept.retain(|(kept, _)| *kept != name);
        }
        self.work.nudge();
    }
}
