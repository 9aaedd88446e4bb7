//! A store on a fake disk beside a model of it in memory, and random steps that both take.
//!
//! The model is as simple as possible: whole contents by name. After any step the store must equal
//! the model, bit for bit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk};
use paceline_checkpoint::{Error, ErrorKind, Job, Options, Result, Store};

/// All bands by name.
pub(crate) type Bands = BTreeMap<String, Vec<u8>>;

/// Small segments, so that they often end.
pub(crate) const OPTIONS: Options = Options {
    segment_bytes: 192 << 10,
    skip_proven_syncs: true,
};
const BAND_MOST: u64 = 72 << 10;
const NAMES: u64 = 4;

/// `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        let value = u8::try_from(self.below(256)).expect("below 256");
        let zeros = self.below(8) == 0;
        (0..count)
            .map(|at| {
                if zeros {
                    0
                } else {
                    value.wrapping_add((at % 251).to_le_bytes()[0])
                }
            })
            .collect()
    }
}

pub(crate) struct World {
    pub(crate) disk: FakeDisk,
    pub(crate) store: Option<Store>,
    /// A job of the store that is running.
    job: Option<Job>,
    pub(crate) live: Bands,
    /// Reported and kept checkpoints.
    pub(crate) kept: BTreeMap<String, Bands>,
    /// Checkpoints that may exist, too, if the machine stops now.
    pub(crate) in_flight: BTreeMap<String, Bands>,
    /// Checkpoints that may be gone if the machine stops now.
    pub(crate) going: Vec<String>,
    pub(crate) random: Random,
    next_name: u64,
}

pub(crate) fn live_path() -> PathBuf {
    PathBuf::from("/bands")
}

impl World {
    /// A disk with some bands, durable, and no store.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let disk = FakeDisk::default();
        disk.make_dir(&live_path()).expect("a directory");
        let mut live = Bands::new();
        for band in 0..=random.below(NAMES) {
            let count = random.below(BAND_MOST);
            let bytes = random.bytes(count);
            let file = disk
                .open(&live_path().join(format!("band{band}")), Access::Create)
                .expect("a band");
            file.write_at(&bytes, 0).expect("written");
            live.insert(format!("band{band}"), bytes);
        }
        disk.sync_beneath(Path::new("/")).expect("synced");
        disk.advance(1_000_000_000);
        let (kept, in_flight, going) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        Self {
            disk,
            store: None,
            job: None,
            live,
            kept,
            in_flight,
            going,
            random,
            next_name: 0,
        }
    }

    pub(crate) fn init(&mut self) -> Result<()> {
        self.in_flight.insert("first".to_owned(), self.live.clone());
        let store = Store::init(Arc::new(self.disk.clone()), &live_path(), OPTIONS, "first")?;
        self.store = Some(store);
        self.land();
        Ok(())
    }

    /// The unfinished step has been reported.
    fn land(&mut self) {
        self.kept.append(&mut self.in_flight);
        for name in self.going.drain(..) {
            self.kept.remove(&name);
        }
    }

    pub(crate) fn open(&mut self) -> Result<()> {
        (self.store, self.job) = (None, None);
        self.store = Some(Store::open(
            Arc::new(self.disk.clone()),
            &live_path(),
            OPTIONS,
        )?);
        Ok(())
    }

    /// The owner of a running job is gone.
    pub(crate) fn end_job(&mut self) {
        self.job = None;
    }

    fn opened(&mut self) -> &mut Store {
        self.store.as_mut().expect("an open store")
    }

    /// One random step.
    pub(crate) fn step(&mut self) -> Result<()> {
        let ms = self.random.below(30);
        self.disk
            .advance(i64::try_from(ms).expect("small") * 1_000_000);
        match self.random.below(100) {
            0..45 => self.write(),
            45..52 => self.resize(),
            52..55 => self.remove(),
            55..60 => self.write_unseen(),
            60..70 => self.checkpoint(),
            70..80 => self.checkpoint_beside(),
            80..85 => self.rollback(),
            85..87 => self.adopt(),
            87..91 => self.prune(),
            91 => {
                self.job = None;
                self.opened().fold().map(drop)
            }
            92 => {
                self.job = None;
                self.opened().compact().map(drop)
            }
            93..97 => self.work(),
            _ => {
                if self.random.below(2) == 0 {
                    self.opened().save_index();
                }
                self.open()
            }
        }
    }

    fn name(&mut self) -> String {
        format!("band{}", self.random.below(NAMES))
    }

    fn write(&mut self) -> Result<()> {
        let name = self.name();
        let offset = self.random.below(BAND_MOST);
        let count = 1 + self.random.below(12_000);
        let bytes = self.random.bytes(count);
        self.opened().write_at(&name, offset, &bytes)?;
        put(&mut self.live, &name, offset, &bytes);
        Ok(())
    }

    fn resize(&mut self) -> Result<()> {
        let (name, bytes) = (self.name(), self.random.below(BAND_MOST));
        self.opened().set_len(&name, bytes)?;
        self.live
            .entry(name)
            .or_default()
            .resize(usize::try_from(bytes).expect("small"), 0);
        Ok(())
    }

    fn remove(&mut self) -> Result<()> {
        let name = self.name();
        match self.opened().remove(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                assert!(!self.live.contains_key(&name));
            }
            other => {
                other?;
                self.live.remove(&name);
            }
        }
        Ok(())
    }

    /// Somebody else writes, and an observed checkpoint follows.
    fn write_unseen(&mut self) -> Result<()> {
        let Some(name) = self.live.keys().next().cloned() else {
            return Ok(());
        };
        let offset = self.random.below(BAND_MOST);
        let bytes = self.random.bytes(5000);
        let file = self.disk.open(&live_path().join(&name), Access::Write);
        let written = file.and_then(|file| file.write_at(&bytes, offset));
        put(&mut self.live, &name, offset, &bytes);
        if written.is_err() {
            // Part of the write happened. If the machine stopped, the store is about to notice
            // that, too.
            self.live = read_live(&self.disk);
        }
        let name = self.begin();
        let taken = self.opened().checkpoint_observed(&name)?;
        assert_eq!(taken.checkpoint.name, name);
        self.land();
        Ok(())
    }

    fn begin(&mut self) -> String {
        self.next_name += 1;
        let name = format!("c{}", self.next_name);
        self.in_flight.insert(name.clone(), self.live.clone());
        name
    }

    fn checkpoint(&mut self) -> Result<()> {
        let name = self.begin();
        self.opened().checkpoint(&name)?;
        self.land();
        Ok(())
    }

    /// A running checkpoint, while others write, jobs run and other methods of the store are
    /// called.
    fn checkpoint_beside(&mut self) -> Result<()> {
        let name = self.begin();
        let mut pending = self.opened().begin(&name)?;
        loop {
            self.meanwhile()?;
            if !self.opened().feed(&mut pending) {
                break;
            }
            self.meanwhile()?;
            pending.run();
            self.meanwhile()?;
        }
        let taken = self.opened().finish(pending)?;
        assert_eq!(taken.checkpoint.name, name);
        self.land();
        Ok(())
    }

    fn meanwhile(&mut self) -> Result<()> {
        match self.random.below(24) {
            0..5 => self.write(),
            5 => self.resize(),
            6 => self.remove(),
            7 => self.work(),
            8 => {
                self.opened().save_index();
                Ok(())
            }
            9 => {
                let refused = self
                    .opened()
                    .checkpoint("another")
                    .expect_err("one at a time");
                assert_eq!(refused.kind(), ErrorKind::Locked);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn any(&mut self) -> Option<String> {
        let count = self.kept.len() as u64;
        let at = if count == 0 {
            return None;
        } else {
            self.random.below(count)
        };
        self.kept
            .keys()
            .nth(usize::try_from(at).expect("small"))
            .cloned()
    }

    fn rollback(&mut self) -> Result<()> {
        let Some(name) = self.any() else {
            return Ok(());
        };
        // The store's name for the replaced state begins with this; see `check`.
        self.in_flight
            .insert("before-rollback-".to_owned(), self.live.clone());
        let taken = self.opened().rollback(&name)?;
        let replaced = self
            .in_flight
            .remove("before-rollback-")
            .expect("put above");
        self.kept.insert(taken.checkpoint.name, replaced);
        self.live = self.kept[&name].clone();
        assert_eq!(
            read_live(&self.disk),
            self.live,
            "live after a rollback to {name}"
        );
        Ok(())
    }

    /// A job is fetched, or a running one ends and is returned.
    fn work(&mut self) -> Result<()> {
        match self.job.take() {
            None => self.job = self.opened().next_job()?,
            Some(mut job) => {
                job.run();
                self.opened().take_back(job)?;
                self.job = self.opened().next_job()?;
            }
        }
        Ok(())
    }

    /// A checkpoint is exported and imported under another name; live stays unchanged.
    fn adopt(&mut self) -> Result<()> {
        let Some(name) = self.any() else {
            return Ok(());
        };
        let mut archive = Vec::new();
        self.opened().export(&name, &mut archive)?;
        let again = self.begin();
        self.in_flight
            .insert(again.clone(), self.kept[&name].clone());
        self.opened().adopt(archive.as_slice(), Some(&again))?;
        self.land();
        Ok(())
    }

    fn prune(&mut self) -> Result<()> {
        let Some(name) = self.any() else {
            return Ok(());
        };
        self.going = vec![name.clone()];
        self.opened().prune(&[&name])?;
        self.land();
        Ok(())
    }

    /// The store equals the model; the unfinished step may have happened, too.
    pub(crate) fn check(&self, store: &Store) {
        let listed: Vec<String> = store
            .list()
            .into_iter()
            .map(|checkpoint| checkpoint.name)
            .collect();
        for name in self.kept.keys() {
            assert!(
                listed.contains(name) || self.going.contains(name),
                "{name} was reported and is lost"
            );
        }
        for name in &listed {
            let in_flight = || {
                let same = |known: &&String| {
                    name == *known || known.ends_with('-') && name.starts_with(*known)
                };
                self.in_flight
                    .iter()
                    .find(|(known, _)| same(known))
                    .map(|(_, bands)| bands)
            };
            let bands = self.kept.get(name).or_else(in_flight);
            let bands = bands.unwrap_or_else(|| panic!("{name} was never asked for"));
            let ids: Vec<_> = bands
                .iter()
                .map(|(name, bytes)| (name.clone(), *blake3::hash(bytes).as_bytes()))
                .collect();
            let theirs = store.bands(name).expect("it is listed");
            assert_eq!(
                theirs
                    .into_iter()
                    .map(|(name, state)| (name, state.id))
                    .collect::<Vec<_>>(),
                ids,
                "{name}"
            );
            let verified = store.verify(name).expect("readable");
            assert!(verified.wrong.is_empty(), "{name}: {:?}", verified.wrong);
        }
    }
}

fn put(bands: &mut Bands, name: &str, offset: u64, bytes: &[u8]) {
    let band = bands.entry(name.to_owned()).or_default();
    let offset = usize::try_from(offset).expect("small");
    if band.len() < offset + bytes.len() {
        band.resize(offset + bytes.len(), 0);
    }
    band[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// The bands in the files.
pub(crate) fn read_live(disk: &FakeDisk) -> Bands {
    let entries = disk.list(&live_path()).expect("live");
    let read = |name: String| {
        let path = live_path().join(&name);
        let file = disk.open(&path, Access::Read).expect("a band");
        let mut bytes =
            vec![0; usize::try_from(file.stamp().expect("its stamp").size).expect("small")];
        file.read_at(&mut bytes, 0).expect("its bytes");
        (name, bytes)
    };
    entries.into_iter().map(|entry| read(entry.name)).collect()
}

/// The name and id of each band in a checkpoint.
pub(crate) type Ids = Vec<(String, [u8; 32])>;

pub(crate) fn ids(bands: &Bands) -> Ids {
    bands
        .iter()
        .map(|(name, bytes)| (name.clone(), *blake3::hash(bytes).as_bytes()))
        .collect()
}

/// The checkpoint of this name, which must verify.
pub(crate) fn kept(store: &Store, name: &str) -> Ids {
    assert!(store.verify(name).expect("kept").wrong.is_empty(), "{name}");
    store
        .bands(name)
        .expect("kept")
        .into_iter()
        .map(|(name, state)| (name, state.id))
        .collect()
}

pub(crate) fn write(disk: &FakeDisk, band: &str, offset: u64, bytes: &[u8]) {
    let file = disk
        .open(&live_path().join(band), Access::Write)
        .expect("open");
    file.write_at(bytes, offset).expect("written");
}

/// A number from the environment: the length of this test in a manual run.
pub(crate) fn size(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// Whether the error comes from the stopped machine and is no fault of the store.
pub(crate) fn is_stop(error: &Error) -> bool {
    error.to_string().contains("the machine has stopped")
}
