//! The strategies that the store is compared with: full hashes, changed files, clones, a bare append.
//!
//! Each is as fast as we can make it: SHA-256 by the CPU's instructions, BLAKE3 by vectors, files
//! kept open where a product would keep them, and real clones where the filesystem has them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use sha2::{Digest, Sha256};

use crate::band_directory::{BAND_BYTES, BandDirectory, name, same_bytes, sync_dir};
use crate::scenario::{Touch, WRITE_BYTES};
use crate::strategy::{Phases, Strategy, nanoseconds};

/// Bytes per read: a quarter of a core's private cache.
const READ_BYTES: usize = 256 << 10;

fn for_each_chunk(path: &Path, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut buffer = vec![0; READ_BYTES];
    let mut at = 0;
    loop {
        let count = file.read_at(&mut buffer, at)?;
        if count == 0 {
            return Ok(at);
        }
        take(&buffer[..count]);
        at += count as u64;
    }
}

fn sha256(path: &Path) -> io::Result<([u8; 32], u64)> {
    let mut hasher = Sha256::new();
    let read = for_each_chunk(path, |bytes| hasher.update(bytes))?;
    Ok((hasher.finalize().into(), read))
}

fn blake3(path: &Path) -> io::Result<([u8; 32], u64)> {
    let mut hasher = blake3::Hasher::new();
    let read = for_each_chunk(path, |bytes| {
        hasher.update(bytes);
    })?;
    Ok((*hasher.finalize().as_bytes(), read))
}

/// Writes a manifest so that it is there, whole, after a power loss.
fn replace_manifest(dir: &Path, ids: &[[u8; 32]], phases: &mut Phases) -> io::Result<()> {
    let begin = Instant::now();
    let (next, current) = (dir.join("manifest.new"), dir.join("manifest"));
    let file = File::create(&next)?;
    file.write_all_at(&ids.concat(), 0)?;
    phases.manifest += nanoseconds(begin);
    let begin = Instant::now();
    file.sync_data()?;
    fs::rename(&next, &current)?;
    sync_dir(dir)?;
    phases.sync += nanoseconds(begin);
    phases.written += ids.len() as u64 * 32;
    Ok(())
}

/// Hashes all bands and makes nothing durable, like the original product's baseline.
pub(crate) struct FullHash;

impl Strategy for FullHash {
    fn checkpoint(&mut self, bands_dir: &BandDirectory, _: &[Touch]) -> io::Result<Phases> {
        let (begin, mut phases) = (Instant::now(), Phases::default());
        for band in 0..bands_dir.bands {
            let (hash, read) = sha256(&bands_dir.live().join(name(band)))?;
            std::hint::black_box(hash);
            phases.read += read;
        }
        phases.hash = nanoseconds(begin);
        phases.durable = phases.hash;
        Ok(phases)
    }

    fn holds(&self, _: &BandDirectory) -> io::Result<Option<bool>> {
        Ok(None)
    }
}

/// Takes no checkpoint. It measures the space of the bands and of a log beside them.
pub(crate) struct NoCheckpoint;

impl Strategy for NoCheckpoint {
    fn checkpoint(&mut self, _: &BandDirectory, _: &[Touch]) -> io::Result<Phases> {
        Ok(Phases::default())
    }

    fn holds(&self, _: &BandDirectory) -> io::Result<Option<bool>> {
        Ok(None)
    }

    fn extra_bytes(&self, bands_dir: &BandDirectory) -> io::Result<u64> {
        Ok(bands_dir.live_bytes()? + LOG_SEGMENTS * LOG_BYTES)
    }
}

/// Hashes the bands whose modification time changed (the original product's fast path), and makes
/// that durable by syncing their data and a manifest.
pub(crate) struct ModifiedTimes {
    dir: PathBuf,
    seen: Vec<(i64, i64)>,
    ids: Vec<[u8; 32]>,
    sha256: bool,
}

impl ModifiedTimes {
    pub(crate) fn new(bands_dir: &BandDirectory, sha256: bool) -> io::Result<Self> {
        let dir = bands_dir.beside("manifests");
        fs::create_dir(&dir)?;
        let seen = (0..bands_dir.bands)
            .map(|band| modification_time(bands_dir, band))
            .collect::<io::Result<Vec<_>>>()?;
        let ids = vec![[0; 32]; seen.len()];
        Ok(Self {
            dir,
            seen,
            ids,
            sha256,
        })
    }
}

fn modification_time(bands_dir: &BandDirectory, band: u64) -> io::Result<(i64, i64)> {
    let meta = fs::metadata(bands_dir.live().join(name(band)))?;
    Ok((meta.mtime(), meta.mtime_nsec()))
}

impl Strategy for ModifiedTimes {
    fn checkpoint(&mut self, bands_dir: &BandDirectory, _: &[Touch]) -> io::Result<Phases> {
        let (begin, mut phases) = (Instant::now(), Phases::default());
        let mut dirty = Vec::new();
        for (band, seen) in (0..bands_dir.bands).zip(&mut self.seen) {
            let now = modification_time(bands_dir, band)?;
            if now != *seen {
                dirty.push(band);
                *seen = now;
            }
        }
        phases.detect = nanoseconds(begin);
        let hashing = Instant::now();
        for band in &dirty {
            let path = bands_dir.live().join(name(*band));
            let (id, read) = if self.sha256 {
                sha256(&path)?
            } else {
                blake3(&path)?
            };
            self.ids[usize::try_from(*band).unwrap_or(usize::MAX)] = id;
            phases.read += read;
        }
        phases.hash = nanoseconds(hashing);
        let syncing = Instant::now();
        for band in &dirty {
            File::open(bands_dir.live().join(name(*band)))?.sync_data()?;
        }
        phases.sync = nanoseconds(syncing);
        replace_manifest(&self.dir, &self.ids, &mut phases)?;
        phases.durable = nanoseconds(begin);
        Ok(phases)
    }

    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>> {
        for (band, id) in (0..bands_dir.bands)
            .zip(&self.ids)
            .filter(|(_, id)| **id != [0; 32])
        {
            let path = bands_dir.live().join(name(band));
            let (now, _) = if self.sha256 {
                sha256(&path)?
            } else {
                blake3(&path)?
            };
            if now != *id {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// Clones the bands that events name, or all of them, then syncs each clone and writes a manifest.
///
/// This is the original product's recommended strategy, made durable. It hashes the clones later;
/// this strategy does not hash. A new clone of a band replaces the one before.
pub(crate) struct ClonedBands {
    dir: PathBuf,
    only_touched: bool,
    taken: u64,
    last_clones: Vec<Option<PathBuf>>,
}

impl ClonedBands {
    pub(crate) fn new(bands_dir: &BandDirectory, only_touched: bool) -> io::Result<Self> {
        let dir = bands_dir.beside("clones");
        fs::create_dir(&dir)?;
        let last_clones = (0..bands_dir.bands).map(|_| None).collect();
        Ok(Self {
            dir,
            only_touched,
            taken: 0,
            last_clones,
        })
    }

    fn clone_band(
        &mut self,
        bands_dir: &BandDirectory,
        band: u64,
        phases: &mut Phases,
    ) -> io::Result<()> {
        let begin = Instant::now();
        let path = self.dir.join(format!("{}.{}", name(band), self.taken));
        let source = File::open(bands_dir.live().join(name(band)))?;
        let target = File::create_new(&path)?;
        if rustix::fs::ioctl_ficlone(&target, &source).is_err() {
            // The filesystem cannot clone: copy instead, which keeps holes.
            fs::copy(bands_dir.live().join(name(band)), &path)?;
            phases.written += source.metadata()?.blocks() * 512;
        }
        phases.clone += nanoseconds(begin);
        let begin = Instant::now();
        target.sync_all()?;
        phases.sync += nanoseconds(begin);
        let index = usize::try_from(band).unwrap_or(usize::MAX);
        if let Some(old) = self.last_clones[index].replace(path) {
            fs::remove_file(old)?;
        }
        Ok(())
    }
}

impl Strategy for ClonedBands {
    fn checkpoint(&mut self, bands_dir: &BandDirectory, touches: &[Touch]) -> io::Result<Phases> {
        self.taken += 1;
        let mut written: Vec<u64> = touches.iter().map(|touch| touch.band).collect();
        written.dedup();
        let (begin, mut phases) = (Instant::now(), Phases::default());
        let bands = if self.only_touched {
            written
        } else {
            (0..bands_dir.bands).collect()
        };
        for band in bands {
            self.clone_band(bands_dir, band, &mut phases)?;
        }
        let ids: Vec<[u8; 32]> = self
            .last_clones
            .iter()
            .map(|path| [u8::from(path.is_some()); 32])
            .collect();
        replace_manifest(&self.dir, &ids, &mut phases)?;
        phases.durable = nanoseconds(begin);
        Ok(phases)
    }

    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>> {
        for (band, path) in self.last_clones.iter().enumerate().take(COMPARED_CLONES) {
            let Some(path) = path else { continue };
            if !same_bytes(path, &bands_dir.live().join(name(band as u64)))? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// The lower bound: writes as many bytes as the store's record has into a file of zeros, and syncs once.
pub(crate) struct BareAppend {
    log: File,
    at: u64,
}

/// Size of a segment of the store.
const LOG_BYTES: u64 = 64 << 20;
/// Most segments of a store that is folded in time: the one being written, and the one before it.
const LOG_SEGMENTS: u64 = 2;
/// Clones that are compared with their bands; changes touch no more than these.
const COMPARED_CLONES: usize = 64;

impl BareAppend {
    pub(crate) fn new(bands_dir: &BandDirectory) -> io::Result<Self> {
        let path = bands_dir.beside("log");
        let log = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        let zeros = vec![0; 1 << 20];
        for at in (0..LOG_BYTES).step_by(zeros.len()) {
            log.write_all_at(&zeros, at)?;
        }
        log.sync_all()?;
        Ok(Self { log, at: 0 })
    }
}

impl Strategy for BareAppend {
    fn checkpoint(&mut self, _: &BandDirectory, touches: &[Touch]) -> io::Result<Phases> {
        let mut places: Vec<_> = touches
            .iter()
            .map(|touch| (touch.band, touch.offset))
            .collect();
        places.sort_unstable();
        places.dedup();
        let bytes =
            vec![0xA5; usize::try_from((places.len() as u64 + 1) * WRITE_BYTES).unwrap_or(0)];
        if self.at + bytes.len() as u64 > LOG_BYTES {
            self.at = 0;
        }
        let begin = Instant::now();
        self.log.write_all_at(&bytes, self.at)?;
        self.log.sync_data()?;
        let durable = nanoseconds(begin);
        self.at += bytes.len() as u64;
        Ok(Phases {
            durable,
            sync: durable,
            written: bytes.len() as u64,
            ..Phases::default()
        })
    }

    fn holds(&self, _: &BandDirectory) -> io::Result<Option<bool>> {
        Ok(None)
    }
}

/// Whether SHA-256 gives a known digest, and a band consists of whole writes.
pub(crate) fn sha256_and_sizes_are_right() -> bool {
    // FIPS 180-4, the message "abc".
    let known = [0xBA, 0x78, 0x16, 0xBF, 0x8F, 0x01, 0xCF, 0xEA];
    Sha256::digest(b"abc")[..8] == known && BAND_BYTES.is_multiple_of(WRITE_BYTES)
}
