//! Checkpoints for owners that say what they wrote to some bands, while the store looks at all
//! others.
//!
//! ```text
//! named, and only its times moved ─▶ the leaves that were written
//! anything else that moved        ─▶ the whole band
//! ```
//! This is for processes that live for one checkpoint; an open store learns the same by
//! [`Store::mark_dirty`]. The owner is responsible for the bytes it left out of a band it names,
//! and for nothing else (D16). A band whose stamp contradicts the owner is read whole: a new one,
//! one of another size or another file, one whose times went back, one that was not proven
//! unchanged before, and one that changes while it is read. Ranges may name bytes that did not
//! change.

use std::io;

use crate::band::Band;
use crate::disk::{Kind, Stamp};
use crate::error::{Error, ErrorKind, Result};
use crate::index::is_young;
use crate::observe::Look;
use crate::pages::LEAF;
use crate::store::{Store, Taken};

/// What an owner wrote to a band by its own means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The band.
    pub band: String,
    /// From which byte on, and how many; nothing when it may be any.
    pub range: Option<(u64, u64)>,
}

impl Store {
    /// As [`Store::checkpoint_observed`], by an owner that says what it wrote: `written` has every write, cut
    /// and hole in the bands that it names since it began the last checkpoint that looked at live and
    /// succeeded; and it writes nothing to them from the moment it lists its writes until this returns. Of
    /// those bands only the leaves with such bytes are read, unless their stamps show more than that.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`]; `NotFound` for a band that is not there and `Refused` for a range
    /// that ends behind it: then nothing was done.
    pub fn checkpoint_marked(&mut self, name: &str, written: &[Written]) -> Result<Taken> {
        self.refuse_while_pending()?;
        self.check_name(name)?;
        self.told.clear();
        let stamps = self.stamps_of_written(written)?;
        let now_ns = self.disk.now().wall_ns;
        for one in written {
            let (Some(band), Some(stamp)) = (self.bands.get_mut(&one.band), stamps.get(&one.band))
            else {
                continue;
            };
            if let Some((offset, bytes)) = one.range {
                mark_leaves(band, (offset, bytes), stamp.size);
                if only_times_moved(band, stamp, now_ns, self.exact) {
                    band.unknown = false; // its marks say where
                    self.told.insert(one.band.clone(), *stamp);
                }
            }
            self.dirty.insert(one.band.clone());
        }
        for one in written.iter().filter(|one| one.range.is_none()) {
            self.bands.entry(one.band.clone()).or_default().unknown = true; // whatever ranges of it say
        }
        let taken = self.observe(name, None);
        self.told.clear();
        taken
    }

    /// The stamps of the bands that somebody says it wrote to; refused when it cannot have.
    fn stamps_of_written(&mut self, written: &[Written]) -> Result<Look> {
        let mut stamps = Look::new();
        for one in written {
            let stamp = match stamps.get(&one.band) {
                Some(stamp) => *stamp, // one for all its ranges, taken after all were written
                None => self.stamp_of_band(&one.band)?,
            };
            refuse_unless_within(one, &stamp)?;
            stamps.insert(one.band.clone(), stamp);
        }
        Ok(stamps)
    }

    /// The stamp of a band that is there.
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

/// A range that ends behind its band is a mistake.
fn refuse_unless_within(one: &Written, stamp: &Stamp) -> Result<()> {
    let (name, (offset, bytes)) = (&one.band, one.range.unwrap_or_default());
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

/// Whole leaves: they are what is hashed, and all of what is hashed is logged. A word that leaves out a page
/// of one then keeps it none the less.
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

/// Whether a band is the file that it was when it was equal to the last epoch, but for its times, and these
/// went on.
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
