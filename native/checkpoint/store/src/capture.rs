//! Keeps the leaves that a running checkpoint still has to read.
//!
//! [`Store::write_at`] and similar calls look here first: a leaf is read from live once, before it
//! changes there (D15). [`crate::beside`] begins and drives it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

use crate::attributes::KnownAttributes;
use crate::band::{LEAVES_PER_READ, Marks, read};
use crate::disk::{Access, DiskFile};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::log::lent;
use crate::pages::LEAF;
use crate::record::BandState;
use crate::store::Store;

/// A running checkpoint, as its store sees it.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) out: Weak<()>,
    /// What was marked when it began.
    pub(crate) marks: BTreeMap<String, Marks>,
    /// Bands with leaves that are still to be read.
    pub(crate) unread: BTreeMap<String, Shot>,
    pub(crate) failed: Option<Error>,
}

/// What is still to be read of a band.
#[derive(Debug)]
pub(crate) struct Shot {
    pub(crate) size: u64,
    pub(crate) head: Option<BandState>,
    /// Ascending.
    leaves: VecDeque<u64>,
    /// Leaves among them that were already read, because a writer was about to change them.
    rescued: BTreeMap<u64, Vec<u8>>,
    /// Its file, if the band's name now belongs to another file.
    file: Option<Box<dyn DiskFile>>,
}

impl Shot {
    /// A band of `size` bytes of which the marked leaves are to be read.
    pub(crate) fn new(size: u64, head: Option<BandState>, marks: &Marks) -> Self {
        Self {
            size,
            head,
            leaves: marks.leaves(size).into(),
            rescued: BTreeMap::new(),
            file: None,
        }
    }

    /// Returns whether all leaves were taken.
    pub(crate) fn is_read(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Returns the leaves among these that exist only in live.
    fn due(&self, from: u64, until: u64) -> Vec<u64> {
        let begin = self.leaves.partition_point(|leaf| *leaf < from);
        let within = self.leaves.range(begin..).take_while(|leaf| **leaf < until);
        within
            .filter(|leaf| !self.rescued.contains_key(leaf))
            .copied()
            .collect()
    }

    /// Takes the next leaves: neighbours that exist only in live, or one that was rescued.
    pub(crate) fn next(&mut self) -> Option<(u64, u64, Option<Vec<u8>>)> {
        let first = self.leaves.pop_front()?;
        if let Some(bytes) = self.rescued.remove(&first) {
            return Some((first, first + 1, Some(bytes)));
        }
        let mut until = first + 1;
        while until < first + LEAVES_PER_READ
            && self.leaves.front() == Some(&until)
            && !self.rescued.contains_key(&until)
        {
            self.leaves.pop_front();
            until += 1;
        }
        Some((first, until, None))
    }
}

impl Store {
    /// Reads leaves of a band from live, as the running checkpoint needs them.
    pub(crate) fn read_shot(
        &mut self,
        name: &str,
        leaf: u64,
        until: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let path = self.live.join(name);
        let (shot, file) = self.shot_file(name)?;
        read(file, shot.size, leaf, until, out).map_err(|miss| miss.of(&path, shot.size))?;
        Ok(())
    }

    /// The attributes of a band that the running checkpoint reads.
    pub(crate) fn shot_attributes(&mut self, name: &str) -> Result<KnownAttributes> {
        let path = self.live.join(name);
        let (_, file) = self.shot_file(name)?;
        Ok(file.attributes().doing("looking at", &path)?.map(Arc::new))
    }

    /// What is still to be read of a band, and the file that it is read from.
    fn shot_file(&mut self, name: &str) -> Result<(&Shot, &dyn DiskFile)> {
        if self.shot_of(name).is_some_and(|shot| shot.file.is_none()) {
            self.file(name, false)?; // opens it
        }
        let gone = || Error::damaged(format!("band {name:?} is not being read"));
        let shot = self.shot_of(name).ok_or_else(gone)?;
        let file = shot
            .file
            .as_ref()
            .or_else(|| self.files.get(name))
            .ok_or_else(gone)?;
        Ok((shot, file.as_ref()))
    }

    fn shot_of(&self, name: &str) -> Option<&Shot> {
        self.capture.as_ref()?.unread.get(name)
    }

    /// Marks again what was marked when a checkpoint began.
    pub(crate) fn put_back(&mut self, capture: Capture) {
        for (name, marks) in capture.marks {
            let band = self.bands.entry(name.clone()).or_default();
            band.dirty.add(&marks.pages);
            band.unknown |= marks.unknown;
            self.dirty.insert(name);
        }
    }

    /// Refuses anything that would change the last epoch while a checkpoint is running. A
    /// checkpoint that was dropped is given up now.
    pub(crate) fn refuse_while_pending(&mut self) -> Result<()> {
        match self
            .capture
            .take_if(|capture| capture.out.strong_count() == 0)
        {
            Some(capture) => {
                self.log.give_up_lent();
                self.put_back(capture);
                Ok(())
            }
            None if self.capture.is_some() => Err(lent()),
            None => {
                self.log.give_up_lent(); // a panic lost the end of the log
                Ok(())
            }
        }
    }

    /// Reads the bytes that a checkpoint still needs before they change. If that
    /// fails, the checkpoint fails, not the writer. Its marks stay in the store meanwhile, so that
    /// a panic does not lose them.
    pub(crate) fn rescue(&mut self, name: &str, offset: u64, end: u64) {
        let due = self
            .shot_of(name)
            .map(|shot| shot.due(offset / LEAF, end.div_ceil(LEAF)));
        for leaf in due.unwrap_or_default() {
            let mut bytes = Vec::new();
            let read = self.read_shot(name, leaf, leaf + 1, &mut bytes);
            let Some(capture) = &mut self.capture else {
                return;
            };
            match (read, capture.unread.get_mut(name)) {
                (Ok(()), Some(shot)) => drop(shot.rescued.insert(leaf, bytes)),
                (Ok(()), None) => {}
                (Err(error), _) => {
                    capture.failed.get_or_insert(error);
                    return;
                }
            }
        }
    }

    /// Keeps the file of a band that is about to lose its name, to read the rest from it.
    pub(crate) fn rescue_file(&mut self, name: &str) {
        let path = self.live.join(name);
        let Some(capture) = &mut self.capture else {
            return;
        };
        let Some(shot) = capture
            .unread
            .get_mut(name)
            .filter(|shot| shot.file.is_none())
        else {
            return;
        };
        match self.disk.open(&path, Access::Read).doing("opening", &path) {
            Ok(file) => shot.file = Some(file),
            Err(error) => {
                capture.failed.get_or_insert(error);
            }
        }
    }

    /// Fails a checkpoint that still needs bytes of a band that have already changed.
    pub(crate) fn miss(&mut self, name: &str, offset: u64, end: u64) {
        let Some(capture) = &mut self.capture else {
            return;
        };
        let Some(shot) = capture.unread.get(name) else {
            return;
        };
        if !shot.due(offset / LEAF, end.div_ceil(LEAF)).is_empty() {
            let what = format!("band {name:?} was marked while it was still to be read");
            let advice = "hold the store while you write by your own means, or write through it";
            capture
                .failed
                .get_or_insert(Error::new(ErrorKind::Torn, what, advice));
        }
    }
}
