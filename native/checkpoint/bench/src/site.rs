//! A directory of bands with a writer that knows what it wrote.
//!
//! Invariant: the bands a change may touch hold data, written and synced; where a benchmark says so the
//! others are holes. Removed when it is dropped.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use paceline_harness::order::SplitMix64;
use tempfile::TempDir;

use crate::scenario::{Scenario, Touch, WRITE_BYTES};

/// As the seed's.
pub(crate) const BAND_BYTES: u64 = 8 << 20;
/// Bands that changes touch: twice what the widest of the seed's touches, the same for every number of bands.
pub(crate) const HOT: u64 = 16;

/// What a directory of bands is like.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) bands: u64,
    pub(crate) band_bytes: u64,
    /// Bands that changes touch.
    pub(crate) hot: u64,
    /// The others are holes.
    pub(crate) sparse: bool,
}

pub(crate) struct Site {
    root: TempDir,
    pub(crate) bands: u64,
    band_bytes: u64,
    hot: Range<u64>,
    writers: Vec<File>,
    scenario: Scenario,
    random: SplitMix64,
}

impl Site {
    /// Makes the bands.
    pub(crate) fn new(shape: Shape, scenario: Scenario, seed: u64) -> io::Result<Self> {
        let Shape { bands, band_bytes, hot, sparse } = shape;
        let root = TempDir::with_prefix_in("paceline-bands-", crate::directory())?;
        fs::create_dir(root.path().join("bands"))?;
        let hot = 0..hot.min(bands);
        let mut random = SplitMix64::new(seed);
        let mut piece = vec![0; 1 << 20];
        let mut writers = Vec::new();
        for band in 0..bands {
            let file = File::create_new(root.path().join("bands").join(name(band)))?;
            file.set_len(band_bytes)?;
            if hot.contains(&band) || !sparse {
                for at in (0..band_bytes).step_by(piece.len()) {
                    let left = usize::try_from(band_bytes - at).unwrap_or(usize::MAX);
                    let size = left.min(piece.len()); // a band may be smaller than a piece
                    let part = &mut piece[..size];
                    part.chunks_exact_mut(8)
                        .for_each(|word| word.copy_from_slice(&random.draw().to_le_bytes()));
                    file.write_all_at(part, at)?;
                }
            }
            if hot.contains(&band) {
                writers.push(file);
            }
        }
        let site = Self { root, bands, band_bytes, hot, writers, scenario, random };
        site.settle()?;
        Ok(site)
    }

    pub(crate) fn live(&self) -> PathBuf {
        self.root.path().join("bands")
    }

    /// A place beside the bands, on the same filesystem.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes the next change.
    pub(crate) fn change(&mut self) -> io::Result<Vec<Touch>> {
        let touches = self.scenario.draw(&self.hot, self.band_bytes, &mut self.random);
        let mut block = vec![0; usize::try_from(WRITE_BYTES).unwrap_or(0)];
        for touch in &touches {
            block.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&touch.fill.to_le_bytes()));
            let writer = &self.writers[usize::try_from(touch.band - self.hot.start).unwrap_or(usize::MAX)];
            writer.write_all_at(&block, touch.offset)?;
        }
        Ok(touches)
    }

    /// Drops the bands from the page cache, as far as the kernel follows the advice: clean pages go.
    pub(crate) fn forget(&self) -> io::Result<()> {
        self.settle()?;
        for band in 0..self.bands {
            let file = File::open(self.live().join(name(band)))?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
        Ok(())
    }

    /// Waits until the disk has what was written so far, so that no arm pays for the one before it.
    pub(crate) fn settle(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(self.root.path())?)?)
    }
}

/// The file name of a band, as a sparse bundle has them.
pub(crate) fn name(band: u64) -> String {
    format!("{band:x}")
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}
