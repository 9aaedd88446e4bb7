//! `CURRENT`: the text file that names the base files and their epoch.
//!
//! An opening reads it first and a fold replaces it last (D6). It is text so that people can read
//! it and `b3sum` can check what it names. [`Manifest::parse`] accepts exactly what
//! [`Manifest::text`] writes, and no name in it can leave the store's directory. Nothing that
//! `CURRENT.copy` names is removed before the copy names something newer, so it can replace a
//! damaged `CURRENT`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::attributes::{KnownAttributes, of_word, word};
use crate::bytes::{hex, sealed, unhex, unsealed};
use crate::disk::{Access, Disk, DiskFile};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::names::{check_checkpoint, is_band, is_base_file};
use crate::pages::index;
use crate::record::{BandAt, BandState, Chain};
use crate::tree::Id;

/// The first line for a base without attributes, as older versions wrote it.
const FIRST_LINE: &str = "paceline-checkpoint 1";
/// The first line for a base whose bands have a word for their attributes.
const FIRST_LINE_WITH_ATTRIBUTES: &str = "paceline-checkpoint 2";
const CURRENT: &str = "CURRENT";
const NEXT: &str = "CURRENT.new";
/// A second copy of the same text.
const COPY: &str = "CURRENT.copy";
/// The size of a manifest of a million bands; more is not read.
const MOST_BYTES: u64 = 1 << 30;

/// A band in the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BaseBand {
    pub(crate) name: String,
    pub(crate) state: BandState,
    /// The attributes that it had in live.
    pub(crate) attributes: KnownAttributes,
    /// Its file in `base/`.
    pub(crate) file: String,
    /// Pages written into clones since the file was last rewritten: its fragmentation.
    pub(crate) patched: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) store: [u8; 16],
    pub(crate) epoch: u64,
    pub(crate) chain: Chain,
    /// Whether the base's epoch is a kept checkpoint.
    pub(crate) kept: bool,
    pub(crate) created_ns: i64,
    pub(crate) name: String,
    /// Ordered by name.
    pub(crate) bands: Vec<BaseBand>,
}

impl BaseBand {
    pub(crate) fn at(&self) -> BandAt {
        BandAt {
            state: self.state,
            attributes: self.attributes.clone(),
        }
    }
}

impl Manifest {
    /// All bands by name.
    pub(crate) fn bands_at(&self) -> BTreeMap<String, BandAt> {
        let bands = self.bands.iter();
        bands.map(|band| (band.name.clone(), band.at())).collect()
    }

    pub(crate) fn text(&self) -> String {
        let with_attributes = self.bands.iter().any(|band| band.attributes.is_some());
        let first_line = if with_attributes {
            FIRST_LINE_WITH_ATTRIBUTES
        } else {
            FIRST_LINE
        };
        let mut text = format!("{first_line}\nstore {}\n", hex(&self.store));
        let kept = if self.kept { "kept" } else { "pruned" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "epoch {} {} {kept} {} {}",
            self.epoch,
            hex(&self.chain),
            self.created_ns,
            self.name
        );
        for band in &self.bands {
            text.push_str(&hex(&band.state.id));
            let _ = write!(text, " {} {} ", band.state.size, band.patched);
            if with_attributes {
                text.extend([&word(band.attributes.as_deref()), " "]);
            }
            let _ = write!(text, "{}/", band.file.len());
            text.extend([band.file.as_str(), &band.name, "\n"]);
        }
        sealed(text)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut lines = unsealed(text)?.lines();
        let with_attributes = match lines.next()? {
            FIRST_LINE => false,
            FIRST_LINE_WITH_ATTRIBUTES => true,
            _ => return None,
        };
        let store = unhex(lines.next()?.strip_prefix("store ")?)?;
        let mut words = lines.next()?.strip_prefix("epoch ")?.splitn(5, ' ');
        let (epoch, chain) = (words.next()?.parse().ok()?, unhex(words.next()?)?);
        let kept = match words.next()? {
            "kept" => true,
            "pruned" => false,
            _ => return None,
        };
        let (created_ns, name) = (words.next()?.parse().ok()?, words.next()?.to_owned());
        check_checkpoint(&name).ok()?;
        let bands = lines.map(|line| band(line, with_attributes));
        let bands: Vec<BaseBand> = bands.collect::<Option<_>>()?;
        let ascending = bands.windows(2).all(|pair| pair[0].name < pair[1].name);
        let read = Self {
            store,
            epoch,
            chain,
            kept,
            created_ns,
            name,
            bands,
        };
        (ascending && read.text() == text).then_some(read)
    }

    /// Returns an error unless `CURRENT` exists.
    pub(crate) fn look_for(disk: &dyn Disk, root: &Path) -> Result<()> {
        let path = root.join(CURRENT);
        disk.stamp(&path)
            .map(drop)
            .map_err(|error| missing("looking at", root, &path, error))
    }

    /// Reads the store's manifest.
    ///
    /// # Errors
    /// `Damaged` when it is not whole, `NotFound`, `Io`.
    pub(crate) fn read(disk: &dyn Disk, root: &Path) -> Result<Self> {
        let path = root.join(CURRENT);
        let file = disk
            .open(&path, Access::Read)
            .map_err(|error| missing("opening", root, &path, error))?;
        Self::read_from(file.as_ref(), &path)
    }

    /// Reads the copy.
    ///
    /// # Errors
    /// As [`Manifest::read`].
    pub(crate) fn read_copy(disk: &dyn Disk, root: &Path) -> Result<Self> {
        let path = root.join(COPY);
        let file = disk.open(&path, Access::Read).doing("opening", &path)?;
        Self::read_from(file.as_ref(), &path)
    }

    fn read_from(file: &dyn DiskFile, path: &Path) -> Result<Self> {
        let size = file.stamp().doing("looking at", path)?.size;
        if size > MOST_BYTES {
            return Err(Error::damaged(format!("{}: {size} bytes", path.display())));
        }
        let mut bytes = vec![0; index(size)];
        let count = file.read_at(&mut bytes, 0).doing("reading", path)?;
        let text = std::str::from_utf8(&bytes[..count]).ok();
        text.and_then(Self::parse)
            .ok_or_else(|| Error::damaged(format!("{}: not whole", path.display())))
    }

    /// Writes the copy durably. What it named before must exist until this returns.
    pub(crate) fn copy(&self, disk: &dyn Disk, root: &Path) -> Result<()> {
        let path = root.join(COPY);
        if disk.stamp(&path).is_ok() {
            disk.remove(&path).doing("removing", &path)?;
        }
        let file = disk
            .open(&path, Access::CreatePrivate)
            .doing("making", &path)?;
        file.write_at(self.text().as_bytes(), 0)
            .doing("writing", &path)?;
        file.sync_data().doing("syncing", &path)?;
        disk.sync_dir(root).doing("syncing", root)
    }

    /// Replaces the store's manifest durably in one step.
    pub(crate) fn install(&self, disk: &dyn Disk, root: &Path) -> Result<()> {
        self.stage(disk, root)?;
        Self::place(disk, root)?;
        disk.sync_dir(root).doing("syncing", root)?;
        self.copy(disk, root)
    }

    /// Writes this manifest beside the current one.
    pub(crate) fn stage(&self, disk: &dyn Disk, root: &Path) -> Result<()> {
        let next = root.join(NEXT);
        if disk.stamp(&next).is_ok() {
            disk.remove(&next).doing("removing", &next)?;
        }
        let file = disk
            .open(&next, Access::CreatePrivate)
            .doing("making", &next)?;
        file.write_at(self.text().as_bytes(), 0)
            .doing("writing", &next)?;
        file.sync_data().doing("syncing", &next)
    }

    /// Makes the staged manifest the current one; this is final once the store's directory was
    /// synced.
    pub(crate) fn place(disk: &dyn Disk, root: &Path) -> Result<()> {
        let (next, current) = (root.join(NEXT), root.join(CURRENT));
        disk.rename(&next, &current).doing("replacing", &current)
    }

    pub(crate) fn band(&self, name: &str) -> Option<&BaseBand> {
        let place = self
            .bands
            .binary_search_by(|band| band.name.as_str().cmp(name))
            .ok()?;
        Some(&self.bands[place])
    }
}

fn missing(doing: &str, root: &Path, path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(
            ErrorKind::NotFound,
            format!("{}: no store", root.display()),
            "make one with `init`",
        ),
        _ => Error::io(doing, path, error),
    }
}

fn band(line: &str, with_attributes: bool) -> Option<BaseBand> {
    let mut words = line.splitn(if with_attributes { 5 } else { 4 }, ' ');
    let (id, size) = (unhex::<32>(words.next()?)?, words.next()?.parse().ok()?);
    let patched = words.next()?.parse().ok()?;
    let attributes = if with_attributes {
        of_word(words.next()?)?
    } else {
        None
    };
    let (length, both) = words.next()?.split_once('/')?;
    let (file, name) = both.split_at_checked(length.parse().ok()?)?;
    let state = BandState { size, id: id as Id };
    (is_base_file(file) && is_band(name)).then(|| BaseBand {
        name: name.to_owned(),
        state,
        attributes,
        file: file.to_owned(),
        patched,
    })
}

/// The name of a band's file in a base that a fold to `epoch` makes.
pub(crate) fn base_file(name: &str, epoch: u64) -> String {
    format!("{name}.{epoch:016x}")
}

pub(crate) fn base_path(root: &Path, file: &str) -> PathBuf {
    root.join("base").join(file)
}
