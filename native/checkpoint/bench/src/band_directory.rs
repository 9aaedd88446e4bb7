//! A directory of bands, and the writer that changes them.
//!
//! The bands that may change hold data that was written and synced; the others are holes where the
//! benchmark says so. Dropping the value removes the directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use paceline_harness::order::SplitMix64;
use tempfile::TempDir;

use crate::scenario::{Scenario, Touch, WRITE_BYTES};
use crate::workspace::Place;

/// As in the original product.
pub(crate) const BAND_BYTES: u64 = 8 << 20;
/// Bands that changes touch: twice those of its widest change, the same for every number of bands.
pub(crate) const HOT: u64 = 16;

/// Linux: the written number says which caches are dropped; 3 is pages, names and inodes.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The layout of a directory of bands.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) bands: u64,
    pub(crate) band_bytes: u64,
    /// Bands that changes touch.
    pub(crate) hot: u64,
    /// The other bands are holes.
    pub(crate) sparse: bool,
}

pub(crate) struct BandDirectory {
    root: TempDir,
    pub(crate) bands: u64,
    band_bytes: u64,
    hot: Range<u64>,
    writers: Vec<File>,
    scenario: Scenario,
    random: SplitMix64,
    /// Declared last, because everything inside must be dropped before it.
    _place: Rc<Place>,
}

impl BandDirectory {
    /// Makes the bands in a directory that `make` makes, usually by `fs::create_dir`.
    pub(crate) fn with(
        place: &Rc<Place>,
        shape: Shape,
        scenario: Scenario,
        seed: u64,
        make: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        let Shape {
            bands,
            band_bytes,
            hot,
            sparse,
        } = shape;
        let root = TempDir::with_prefix_in("site-", place.dir())?;
        make(&root.path().join("bands"))?;
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
        let bands_dir = Self {
            root,
            bands,
            band_bytes,
            hot,
            writers,
            scenario,
            random,
            _place: Rc::clone(place),
        };
        bands_dir.settle()?;
        Ok(bands_dir)
    }

    /// Makes the bands.
    pub(crate) fn new(
        place: &Rc<Place>,
        shape: Shape,
        scenario: Scenario,
        seed: u64,
    ) -> io::Result<Self> {
        Self::with(place, shape, scenario, seed, |dir| fs::create_dir(dir))
    }

    /// The names of the bands that changes touch, which are compared in results.
    pub(crate) fn changing(&self) -> impl Iterator<Item = String> + use<> {
        self.hot.clone().map(name)
    }

    pub(crate) fn live(&self) -> PathBuf {
        self.root.path().join("bands")
    }

    /// A place beside the bands, on the same filesystem.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The next change, for arms that write it themselves.
    pub(crate) fn draw(&mut self) -> Vec<Touch> {
        self.scenario
            .draw(&self.hot, self.band_bytes, &mut self.random)
    }

    /// The open file of a changing band.
    pub(crate) fn writer(&self, touch: &Touch) -> &File {
        &self.writers[usize::try_from(touch.band - self.hot.start).unwrap_or(usize::MAX)]
    }

    /// Writes the next change.
    pub(crate) fn change(&mut self) -> io::Result<Vec<Touch>> {
        let touches = self.draw();
        for touch in &touches {
            self.writer(touch)
                .write_all_at(&block(touch), touch.offset)?;
        }
        Ok(touches)
    }

    /// Opens the bands again after others replaced them.
    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        let open = |name| OpenOptions::new().write(true).open(self.live().join(name));
        self.writers = self.changing().map(open).collect::<io::Result<_>>()?;
        Ok(())
    }

    /// Drops the bands from memory: if this process may, with everything that the system caches,
    /// even inodes; otherwise their pages, as far as the kernel follows the advice.
    pub(crate) fn forget(&self) -> io::Result<()> {
        self.settle()?;
        if may_drop() {
            return fs::write(DROP_CACHES, "3");
        }
        for band in 0..self.bands {
            let file = File::open(self.live().join(name(band)))?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
        Ok(())
    }

    /// Disk space of the bands; files that share blocks count them each.
    pub(crate) fn live_bytes(&self) -> io::Result<u64> {
        taken(&self.live())
    }

    /// Disk space of everything beside the bands.
    pub(crate) fn beside_bytes(&self) -> io::Result<u64> {
        Ok(taken(self.root.path())? - self.live_bytes()?)
    }

    /// Waits until everything is on the disk, so that no arm pays for the one before it.
    pub(crate) fn settle(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(self.root.path())?)?)
    }
}

/// Whether the whole system's caches may be dropped: root may, on a machine of its own.
pub(crate) fn may_drop() -> bool {
    OpenOptions::new().write(true).open(DROP_CACHES).is_ok()
}

/// One write of a change.
pub(crate) fn block(touch: &Touch) -> Vec<u8> {
    touch
        .fill
        .to_le_bytes()
        .repeat(usize::try_from(WRITE_BYTES / 8).unwrap_or(0))
}

fn taken(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?; // of the link itself, if it is one
        bytes += if meta.is_dir() {
            taken(&entry.path())?
        } else {
            meta.blocks() * 512
        };
    }
    Ok(bytes)
}

/// Whether two files have the same bytes.
pub(crate) fn same_bytes(a: &Path, b: &Path) -> io::Result<bool> {
    Ok(fs::read(a)? == fs::read(b)?)
}

/// Whether a directory has the changing bands in their present state.
pub(crate) fn equal(dir: &Path, bands_dir: &BandDirectory) -> io::Result<bool> {
    for band in bands_dir.changing() {
        if !same_bytes(&dir.join(&band), &bands_dir.live().join(&band))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The file name of a band, as a sparse bundle has them.
pub(crate) fn name(band: u64) -> String {
    format!("{band:x}")
}

/// Syncs the names in a directory.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;

    use rustix::io::{Errno, ReadWriteFlags, preadv2};

    use super::*;
    use crate::scenario;
    use crate::workspace::{HERE, Workspace};

    #[test]
    fn what_was_forgotten_is_no_longer_in_memory() {
        let parent = TempDir::new().expect("a directory");
        let workspace = Workspace::new(parent.path().to_owned());
        let place = workspace.place(HERE, "bands", 0).expect("a place");
        let shape = Shape {
            bands: 2,
            band_bytes: 64 << 10,
            hot: 1,
            sparse: true,
        };
        let bands_dir = BandDirectory::new(&place, shape, scenario::ALL[0], 1).expect("bands");
        let cached = || {
            let band = File::open(bands_dir.live().join(name(0))).expect("a band");
            preadv2(
                &band,
                &mut [IoSliceMut::new(&mut [0; 4096])],
                0,
                ReadWriteFlags::NOWAIT,
            )
        };
        // linux/magic.h: a tmpfs exists in memory only.
        let tmpfs = rustix::fs::statfs(parent.path())
            .expect("a filesystem")
            .f_type
            == 0x0102_1994;
        if tmpfs || cached() == Err(Errno::OPNOTSUPP) {
            return;
        }
        assert_eq!(cached(), Ok(4096));
        bands_dir.forget().expect("forgotten");
        assert_eq!(cached(), Err(Errno::AGAIN));
    }
}
