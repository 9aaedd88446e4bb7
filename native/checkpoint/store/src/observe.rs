//! Observed mode: nobody says what was written, so the store looks at the files.
//!
//! ```text
//! stamps of what is known to have moved ─▶ look at all: more of it? again : read it ─▶ the same stamps?
//!    append : again, a few times, then `Torn`
//! ```
//! What is appended is one state that live had at one moment (D11), the beginning of the look at
//! all bands:
//!
//! - A band that is read keeps the same stamp from before the look to after the reading.
//! - Every other band is found unchanged by the look, so it equals the last epoch.
//! - A write moves the stamp when it begins and may take long, so writes in progress are awaited
//!   between taking the stamps and the look.
//! - A band whose stamp is too young to show a write (the same-tick rule) is read twice with equal
//!   results: all first readings end before any second one begins. Then everything is looked at
//!   once more.
//! - A listing may miss a file that is renamed meanwhile, so the directory must have the same stamp
//!   throughout; if that is too young, it is listed again between the readings and after them.
//!
//! Stores through a mapping may move no stamp ([`crate::mapped`] handles them).
//! `checkpoint_everything` reads all bands and relies on no stamp.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::create::{TRIES, read_tree};
use crate::disk::{Access, Kind, Stamp};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::index::is_young;
use crate::mapped::Mapped;
use crate::store::{Found, Store, Taken, nanoseconds};

/// What a watcher of live has seen since it was last asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Only bands of these names can have changed, come or gone.
    Bands(BTreeSet<String>),
    /// It lost events, or just began: anything may have changed.
    Everything,
}

/// Who is asked before and after reading what it has seen, if anybody is.
type Watching<'a, 'b> = Option<&'a mut (dyn FnMut() -> Seen + 'b)>;

/// Bands by name, with their stamps at some moment.
pub(crate) type Look = BTreeMap<String, Stamp>;

impl Store {
    /// A checkpoint of whatever live is now, by looking at every band's stamp.
    ///
    /// # Errors
    /// As [`Store::checkpoint`], and `Torn` when live changed each time while it was read.
    pub fn checkpoint_observed(&mut self, name: &str) -> Result<Taken> {
        self.told.clear(); // also what a panic left
        self.observe(name, None)
    }

    /// The same without trusting any stamp: reads every band whole.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`].
    pub fn checkpoint_everything(&mut self, name: &str) -> Result<Taken> {
        for (name, band) in &mut self.bands {
            band.unknown = true;
            self.dirty.insert(name.clone());
        }
        self.checkpoint_observed(name)
    }

    /// The same, looking only at what a watcher has seen; `seen` is asked before and after reading, and what
    /// it says need not be said again: after a failure the next one looks at everything.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`].
    pub fn checkpoint_seen(&mut self, name: &str, seen: &mut dyn FnMut() -> Seen) -> Result<Taken> {
        self.told.clear();
        self.observe(name, Some(seen))
    }

    /// The same, with what an owner told; without a watcher everything is looked at.
    pub(crate) fn observe(&mut self, name: &str, seen: Watching<'_, '_>) -> Result<Taken> {
        let taken = self.try_to_observe(name, seen);
        if taken.is_err() {
            self.forget_files(); // what was opened need not have its name any more
        }
        taken
    }

    fn try_to_observe(&mut self, name: &str, mut seen: Watching<'_, '_>) -> Result<Taken> {
        self.refuse_while_pending()?;
        self.check_name(name)?;
        let begin = Instant::now();
        let blind = std::mem::replace(&mut self.blind, true);
        for attempt in 0..TRIES {
            if attempt > 0 {
                self.told.clear(); // who writes meanwhile did not say all of it
            }
            let now_ns = self.disk.now().wall_ns;
            let told = seen.as_mut().map_or(Seen::Everything, |ask| ask());
            let first = if blind && attempt == 0 {
                Seen::Everything
            } else {
                told
            };
            let names = self
                .disk
                .stamp(&self.live)
                .doing("looking at", &self.live)?;
            let Some(before) = self.find_what_moved(&first, now_ns)? else {
                continue;
            };
            let mut found = match self.collect_dirty() {
                Ok(found) => found,
                Err(error) if is_movement(&error) => continue,
                Err(error) => return Err(error),
            };
            // The moment that two readings enclose is here.
            if !self.names_held_still(&names, now_ns)?
                || !self.held_still(&before, &found, seen.as_deref_mut(), now_ns)?
                || !self.names_held_still(&names, now_ns)?
            {
                continue;
            }
            let hash_ns = nanoseconds(begin);
            let taken = self.commit(name, &mut found, hash_ns)?;
            self.blind = false;
            for (name, stamp) in before {
                if let Some(band) = self.bands.get_mut(&name) {
                    (band.seen, band.settled) =
                        (Some((stamp, now_ns)), self.mapped == Mapped::Shown);
                }
            }
            return Ok(taken);
        }
        let what = format!(
            "{}: did not hold still in {TRIES} tries",
            self.live.display()
        );
        Err(Error::new(
            ErrorKind::Torn,
            what,
            "pause the writer, or let it write through the store",
        ))
    }

    /// The stamps of all that may have changed, taken before a look that found nothing more; nothing when
    /// live did not hold still for that.
    fn find_what_moved(&mut self, seen: &Seen, now_ns: i64) -> Result<Option<Look>> {
        // The first look may find what moved, a second one then that this is all.
        for _ in 0..TRIES {
            let before = self.stamps(self.dirty.iter())?;
            self.doubt_what_moved(&before);
            self.forget_files(); // a name may be another file since it was opened
            let (known, settled) = (self.dirty.len(), self.settle(&before));
            // Also after what did not go well: the look says what lies there instead.
            self.look(seen, now_ns)?;
            match settled {
                Err(error) if !is_movement(&error) => return Err(error),
                Ok(()) if self.dirty.len() == known => return Ok(Some(self.as_stamped(before))),
                _ => {}
            }
        }
        Ok(None)
    }

    /// What is read of a band is what it had when its stamp was taken, not what a later look found: else it
    /// is read for nothing.
    fn as_stamped(&mut self, before: Look) -> Look {
        for name in &self.dirty {
            if let Some(band) = self.bands.get_mut(name) {
                band.size = before.get(name).map(|stamp| stamp.size);
            }
        }
        before
    }

    /// Marks what may have changed since it was last equal to the last epoch.
    ///
    /// # Errors
    /// `Refused` for what cannot be a band, `Io`.
    pub fn look_at_live(&mut self) -> Result<()> {
        self.told.clear(); // what a panic left would hide a band
        self.look(&Seen::Everything, self.disk.now().wall_ns)
    }

    fn look(&mut self, seen: &Seen, now_ns: i64) -> Result<()> {
        let names: Vec<String> = match seen {
            Seen::Everything => {
                self.list_if_moved()?;
                self.bands.keys().cloned().collect()
            }
            Seen::Bands(names) => {
                if names.iter().any(|name| !self.bands.contains_key(name)) {
                    self.list_live()?;
                }
                names.iter().chain(&self.dirty).cloned().collect()
            }
        };
        for name in names {
            let Some(band) = self.bands.get_mut(&name) else {
                continue;
            };
            let path = self.live.join(&name);
            let stamp = match self.disk.stamp(&path) {
                Ok(stamp) => stamp,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    if band.size.is_some() || band.head.is_some() {
                        (band.size, band.seen) = (None, None);
                        self.dirty.insert(name);
                    }
                    continue;
                }
                Err(error) => return Err(Error::io("looking at", &path, error)),
            };
            if stamp.kind != Kind::File {
                let what = format!("{}: no longer a regular file", path.display());
                return Err(Error::new(
                    ErrorKind::Refused,
                    what,
                    "put the band back, or remove what has its name",
                ));
            }
            let trusted = band.seen.is_some_and(|(old, at)| {
                old.same(&stamp) && !is_young(&old, at, self.exact) && at <= now_ns
            });
            if !trusted || !self.mapped.trusts(band) {
                band.unknown |= !self.told.contains_key(&name);
                band.size = Some(stamp.size);
                self.dirty.insert(name);
            }
        }
        Ok(())
    }

    /// An owner's word is of the stamp that it was taken at: a band that moved since is read whole.
    fn doubt_what_moved(&mut self, now: &Look) {
        for (name, then) in &self.told {
            let moved = now.get(name).is_none_or(|stamp| !stamp.same(then));
            if let Some(band) = self.bands.get_mut(name).filter(|_| moved) {
                band.unknown = true;
            }
        }
    }

    /// Lists live unless its directory is as it was.
    pub(crate) fn list_if_moved(&mut self) -> Result<()> {
        let stamp = self
            .disk
            .stamp(&self.live)
            .doing("looking at", &self.live)?;
        match &self.listed {
            Some((old, at))
                if old.same(&stamp)
                    && !is_young(old, *at, self.exact)
                    && self.mapped != Mapped::Hidden =>
            {
                Ok(())
            }
            _ => self.list_live().map(drop),
        }
    }

    fn stamps<'a>(&self, names: impl Iterator<Item = &'a String>) -> Result<Look> {
        let mut look = Look::new();
        for name in names {
            let path = self.live.join(name);
            match self.disk.stamp(&path) {
                Ok(stamp) => look.insert(name.clone(), stamp),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(Error::io("looking at", &path, error)),
            };
        }
        Ok(look)
    }

    /// Whether all that was collected is one state of live.
    fn held_still(
        &mut self,
        before: &Look,
        found: &[Found],
        seen: Watching<'_, '_>,
        now_ns: i64,
    ) -> Result<bool> {
        let Some(twice) = self.young_read_twice(before, found, now_ns)? else {
            return Ok(false);
        };
        let collected = self.dirty.clone();
        let told = match seen {
            Some(ask) => ask(),
            // What was read twice held at a moment behind the look.
            None if twice => Seen::Everything,
            // What was looked at need not be the same now: it was at the moment of the look.
            None => Seen::Bands(BTreeSet::new()),
        };
        let moved = match told {
            Seen::Bands(names) => {
                let moved = !names.is_empty();
                if moved {
                    // They are told once: marked now, so that the next reading has them.
                    self.look(&Seen::Bands(names), now_ns)?;
                }
                moved
            }
            Seen::Everything => {
                let after_ns = self.disk.now().wall_ns;
                self.look(&Seen::Everything, after_ns)?;
                self.dirty != collected
            }
        };
        let after = self.stamps(collected.iter())?;
        let same = after.len() == before.len()
            && after
                .iter()
                .all(|(name, stamp)| before.get(name).is_some_and(|old| old.same(stamp)));
        Ok(same && !moved)
    }

    /// Whether no name came or went since live's directory had this stamp.
    fn names_held_still(&self, before: &Stamp, now_ns: i64) -> Result<bool> {
        let live = &self.live;
        if !self
            .disk
            .stamp(live)
            .doing("looking at", live)?
            .same(before)
        {
            return Ok(false);
        }
        if !is_young(before, now_ns, self.exact) && self.mapped != Mapped::Hidden {
            return Ok(true);
        }
        let listed: BTreeSet<String> = self
            .disk
            .list(live)
            .doing("listing", live)?
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        Ok(self
            .bands
            .iter()
            .filter(|(_, band)| band.size.is_some())
            .map(|(name, _)| name)
            .eq(&listed))
    }

    /// The second reading of bands whose stamps are too young to show a write: whether there were any;
    /// nothing when one is not what it was.
    fn young_read_twice(
        &mut self,
        before: &Look,
        found: &[Found],
        now_ns: i64,
    ) -> Result<Option<bool>> {
        let mut any = false;
        for found in found {
            let (Some(stamp), Some(tree)) = (before.get(&found.name), &found.tree) else {
                continue;
            };
            if !is_young(stamp, now_ns, self.exact) && self.mapped != Mapped::Hidden {
                continue;
            }
            let path = self.live.join(&found.name);
            let again = self.disk.open(&path, Access::Read).and_then(|file| {
                let now = file.stamp()?;
                Ok(now.same(stamp) && read_tree(file.as_ref(), &now, |_, _| Ok(()))? == *tree)
            });
            any = true;
            match again.doing("reading", &path) {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) if is_movement(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(any))
    }
}

/// Failures of reading that mean that somebody changed live meanwhile.
fn is_movement(error: &Error) -> bool {
    error.kind() == ErrorKind::Torn
        || error.system() == Some(std::io::ErrorKind::NotFound)
        || error.is_of_another_kind()
}
