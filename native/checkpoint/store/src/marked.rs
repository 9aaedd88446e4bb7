//! Checkpoints for owners that report their writes to some bands; the store finds changes of all
//! other bands itself.
//!
//! ```text
//! named, and only its times moved ─▶ the leaves that were written
//! anything else that moved        ─▶ the whole band
//! ```
//! This is for processes that live for one checkpoint; with an open store, use
//! [`Store::mark_dirty`]. The owner is responsible for the bytes it left out of a band it reports,
//! and for nothing else (D16). A band is read whole if its stamp contradicts the owner: it is new,
//! has another size or file, its times went back, it was not proven unchanged before, or it changes
//! while it is read. Ranges may include bytes that did not change.

use std::io;

use crate::band::Band;
use crate::disk::{Kind, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::index::is_young;
use crate::observe::Look;
use crate::pages::LEAF;
use crate::store::{Store, Taken};

/// A write that an owner reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The band.
    pub band: String,
    /// Offset and number of bytes; none when any byte may have changed.
    pub range: Option<(u64, u64)>,
}

impl Store {
    /// Takes a checkpoint like [`Store::checkpoint_observed`], for an owner that reports its
    /// writes. `written` must have every write, cut and hole in the bands that it names, since the
    /// last successful checkpoint that looked at live began. The owner writes nothing to them from
    /// the moment it lists its writes until this returns. Of these bands only the leaves with such
    /// bytes are read, unless their stamps show more changes.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`]; `NotFound` for a missing band and `Refused` for a range
    /// that ends beyond it: then nothing was done.
    pub fn checkpoint_marked(&mut self, name: &str, written: &[Written]) -> Result<Taken> {
        self.refuse_while_pending()?;
        self.check_name(name)?;
        self.reported.clear();
        let stamps = self.stamps_of_written(written)?;
        let now_ns = self.disk.now().wall_ns;
        for write in written {
            let (Some(band), Some(stamp)) =
                (self.bands.get_mut(&write.band), stamps.get(&write.band))
            else {
                continue;
            };
            if let Some((offset, bytes)) = write.range {
                mark_leaves(band, (offset, bytes), stamp.size);
                if only_times_moved(band, stamp, now_ns, self.exact) {
                    band.unknown = false; // its marks say where it changed
                    self.reported.insert(write.band.clone(), *stamp);
                }
            }
            self.dirty.insert(write.band.clone());
        }
        for write in written.iter().filter(|write| write.range.is_none()) {
            self.bands.entry(write.band.clone()).or_default().unknown = true; // overrides ranges of the band
        }
        let taken = self.observe(name, None);
        self.reported.clear();
        taken
    }

    /// The stamps of the bands that were reported as written; refuses impossible reports.
    fn stamps_of_written(&mut self, written: &[Written]) -> Result<Look> {
        let mut stamps = Look::new();
        for write in written {
            let stamp = match stamps.get(&write.band) {
                Some(stamp) => *stamp, // taken after all its ranges were written
                None => self.stamp_of_band(&write.band)?,
            };
            refuse_unless_within(write, &stamp)?;
            stamps.insert(write.band.clone(), stamp);
        }
        Ok(stamps)
    }

    /// The stamp of an existing band.
    fn stamp_of_band(&mut self, name: &str) -> Result<Stamp> {
        if !self.bands.contains_key(name) {
            self.list_if_moved()?; // it may be new
        }
        let missing = || {
            let what = format!("no band {name:?}");
            Error::new(
                ErrorKind::NotFound,
                what,
                "`status` shows the bands; a removed one needs no word",
            )
        };
        if !self.bands.contains_key(name) {
            return Err(missing());
        }
        let path = self.live.join(name);
        match self.disk.stamp(&path) {
            Ok(stamp) if stamp.kind == Kind::File => Ok(stamp),
            Ok(_) => Err(missing()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(error) => Err(Error::io("looking at", &path, error)),
        }
    }
}

/// Refuses a range that ends beyond its band.
fn refuse_unless_within(write: &Written, stamp: &Stamp) -> Result<()> {
    let (name, (offset, bytes)) = (&write.band, write.range.unwrap_or_default());
    if offset
        .checked_add(bytes)
        .is_some_and(|end| end <= stamp.size)
    {
        return Ok(());
    }
    let what = format!(
        "band {name:?} has {} bytes, not {bytes} from {offset} on",
        stamp.size
    );
    Err(Error::new(
        ErrorKind::Refused,
        what,
        "say what was written within it, or name the band alone",
    ))
}

/// Marks whole leaves, because leaves are hashed and logged whole. So a page that was left out of a
/// reported leaf is kept nevertheless.
fn mark_leaves(band: &mut Band, (offset, bytes): (u64, u64), size: u64) {
    if bytes > 0 {
        let from = offset / LEAF * LEAF;
        let end = (offset + bytes)
            .div_ceil(LEAF)
            .saturating_mul(LEAF)
            .min(size);
        band.dirty.mark(from, end - from);
    }
}

/// Returns whether only the times of a band's file advanced since it equalled the last epoch.
fn only_times_moved(band: &Band, now: &Stamp, now_ns: i64, exact: bool) -> bool {
    let is_it = |old: &Stamp| {
        let times = (old.modified_ns, old.changed_ns);
        let as_then = Stamp {
            modified_ns: times.0,
            changed_ns: times.1,
            ..*now
        };
        old.same(&as_then) && times.0 <= now.modified_ns && times.1 <= now.changed_ns
    };
    band.head.is_some_and(|head| head.size == now.size)
        && band
            .seen
            .is_some_and(|(old, at)| at <= now_ns && !is_young(&old, at, exact) && is_it(&old))
}
