//! Observed mode: writes are not reported, so the store finds changed bands by their stamps.
//!
//! ```text
//! stamps of known changes ─▶ look at all bands: more changes? again : read them ─▶ same stamps?
//!    append : again, a few times, then `Torn`
//! ```
//! The record holds one state that live had at one moment (D11), the beginning of the look at all
//! bands:
//!
//! - A band that is read keeps its stamp from before the look until after the reading.
//! - Every other band is unchanged at the look, so it equals the last epoch.
//! - A write changes the stamp when it begins and may take long, so writes in progress are awaited
//!   between taking the stamps and the look.
//! - A band whose stamp is too young to show a write (the same-tick rule) is read twice with equal
//!   results: all first readings end before any second one begins. Then all bands are looked at
//!   once more.
//! - A listing may miss a file that is renamed meanwhile, so the directory must keep its stamp
//!   throughout; if the stamp is too young, it is listed again between the readings and after them.
//!
//! Stores through a mapping may leave the stamp unchanged ([`crate::mapped`] handles them).
//! `checkpoint_everything` reads all bands and relies on no stamp.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::create::{TRIES, read_tree};
use crate::disk::{Access, Kind, Stamp};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::index::is_young;
use crate::mapped::Mapped;
use crate::store::{CollectedBand, Store, Taken, nanoseconds};

/// What a watcher of live has seen since its last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Only bands of these names may have changed, appeared or vanished.
    Bands(BTreeSet<String>),
    /// It lost events or just began: anything may have changed.
    Everything,
}

/// The watcher, if there is one; it is asked before and after bands are read.
type Watching<'a, 'b> = Option<&'a mut (dyn FnMut() -> Seen + 'b)>;

/// Bands by name, with their stamps at some moment.
pub(crate) type Look = BTreeMap<String, Stamp>;

impl Store {
    /// Takes a checkpoint of live as it is now, finding changed bands by their stamps.
    ///
    /// # Errors
    /// As [`Store::checkpoint`], and `Torn` when live changed each time while it was read.
    pub fn checkpoint_observed(&mut self, name: &str) -> Result<Taken> {
        self.reported.clear(); // may be left by a panic
        self.observe(name, None)
    }

    /// Reads every band whole, without trusting any stamp.
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

    /// Looks only at bands that a watcher has seen; `seen` is called before and after reading. It
    /// need not repeat itself: after a failure the next checkpoint looks at everything.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`].
    pub fn checkpoint_seen(&mut self, name: &str, seen: &mut dyn FnMut() -> Seen) -> Result<Taken> {
        self.reported.clear();
        self.observe(name, Some(seen))
    }

    /// The common part, with the writes that an owner reported; without a watcher all bands are
    /// looked at.
    pub(crate) fn observe(&mut self, name: &str, seen: Watching<'_, '_>) -> Result<Taken> {
        let taken = self.try_to_observe(name, seen);
        if taken.is_err() {
            self.forget_files(); // names may belong to other files now
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
                self.reported.clear(); // somebody else writes, so the owner's report is incomplete
            }
            let now_ns = self.disk.now().wall_ns;
            let changes = seen.as_mut().map_or(Seen::Everything, |ask| ask());
            let first = if blind && attempt == 0 {
                Seen::Everything
            } else {
                changes
            };
            let names = self
                .disk
                .stamp(&self.live)
                .doing("looking at", &self.live)?;
            let Some(before) = self.find_what_moved(&first, now_ns)? else {
                continue;
            };
            let mut collected = match self.collect_dirty() {
                Ok(collected) => collected,
                Err(error) if is_movement(&error) => continue,
                Err(error) => return Err(error),
            };
            // The record holds live as of this moment, between the two looks.
            if !self.names_held_still(&names, now_ns)?
                || !self.held_still(&before, &collected, seen.as_deref_mut(), now_ns)?
                || !self.names_held_still(&names, now_ns)?
            {
                continue;
            }
            let hash_ns = nanoseconds(begin);
            let taken = self.commit(name, &mut collected, hash_ns)?;
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

    /// The stamps of all bands that may have changed, taken before a look that found no others;
    /// none when live kept changing.
    fn find_what_moved(&mut self, seen: &Seen, now_ns: i64) -> Result<Option<Look>> {
        // The first look may find changes; a second one then confirms that there are no others.
        for _ in 0..TRIES {
            let before = self.stamps(self.dirty.iter())?;
            self.doubt_what_moved(&before);
            self.forget_files(); // a name may belong to another file by now
            let (known, settled) = (self.dirty.len(), self.settle(&before));
            // Even if settling failed: the look finds what is there instead.
            self.look(seen, now_ns)?;
            match settled {
                Err(error) if !is_movement(&error) => return Err(error),
                Ok(()) if self.dirty.len() == known => return Ok(Some(self.as_stamped(before))),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Sets sizes to those of the stamps, not of a later look, because the bytes that are read must
    /// match the stamps.
    fn as_stamped(&mut self, before: Look) -> Look {
        for name in &self.dirty {
            if let Some(band) = self.bands.get_mut(name) {
                band.size = before.get(name).map(|stamp| stamp.size);
            }
        }
        before
    }

    /// Marks bands that may have changed since they last equalled the last epoch.
    ///
    /// # Errors
    /// `Refused` for an entry that cannot be a band, `Io`.
    pub fn look_at_live(&mut self) -> Result<()> {
        self.reported.clear(); // may be left by a panic, and would hide a band
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
                band.unknown |= !self.reported.contains_key(&name);
                band.size = Some(stamp.size);
                self.dirty.insert(name);
            }
        }
        Ok(())
    }

    /// A report is valid for the stamp at which it was made: a band that changed since is read
    /// whole.
    fn doubt_what_moved(&mut self, now: &Look) {
        for (name, then) in &self.reported {
            let moved = now.get(name).is_none_or(|stamp| !stamp.same(then));
            if let Some(band) = self.bands.get_mut(name).filter(|_| moved) {
                band.unknown = true;
            }
        }
    }

    /// Lists live unless its directory is unchanged.
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

    /// Returns whether everything collected is one state of live.
    fn held_still(
        &mut self,
        before: &Look,
        collected: &[CollectedBand],
        seen: Watching<'_, '_>,
        now_ns: i64,
    ) -> Result<bool> {
        let Some(twice) = self.young_read_twice(before, collected, now_ns)? else {
            return Ok(false);
        };
        let dirty_before = self.dirty.clone();
        let changes = match seen {
            Some(ask) => ask(),
            // Bands that were read twice had this state at a moment after the look.
            None if twice => Seen::Everything,
            // Bands that were only looked at may have changed since: they had this state at the
            // look.
            None => Seen::Bands(BTreeSet::new()),
        };
        let moved = match changes {
            Seen::Bands(names) => {
                let moved = !names.is_empty();
                if moved {
                    // Events are reported once, so these bands are marked now for the next reading.
                    self.look(&Seen::Bands(names), now_ns)?;
                }
                moved
            }
            Seen::Everything => {
                let after_ns = self.disk.now().wall_ns;
                self.look(&Seen::Everything, after_ns)?;
                self.dirty != dirty_before
            }
        };
        let after = self.stamps(dirty_before.iter())?;
        let same = after.len() == before.len()
            && after
                .iter()
                .all(|(name, stamp)| before.get(name).is_some_and(|old| old.same(stamp)));
        Ok(same && !moved)
    }

    /// Returns whether no name appeared or vanished since live's directory had this stamp.
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

    /// Reads bands again whose stamps are too young to show a write. Returns whether there were
    /// any; none when a band differs.
    fn young_read_twice(
        &mut self,
        before: &Look,
        collected: &[CollectedBand],
        now_ns: i64,
    ) -> Result<Option<bool>> {
        let mut any = false;
        for band in collected {
            let (Some(stamp), Some(tree)) = (before.get(&band.name), &band.tree) else {
                continue;
            };
            if !is_young(stamp, now_ns, self.exact) && self.mapped != Mapped::Hidden {
                continue;
            }
            let path = self.live.join(&band.name);
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

/// Returns whether a failed reading means that live was changed meanwhile.
fn is_movement(error: &Error) -> bool {
    error.kind() == ErrorKind::Torn
        || error.system() == Some(std::io::ErrorKind::NotFound)
        || error.is_of_another_kind()
}
