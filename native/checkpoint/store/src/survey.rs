//! Finds what is left of a damaged store: every complete record, and the checkpoints that they
//! still give.
//!
//! The log is read page by page and nothing is changed. A record is recognised by its own hash and
//! its seal. After a gap, a state counts only if its sum proves that no record is missing, and a
//! band that the damage may have reached counts only if its bytes have its id. `repair` makes a
//! sound store of the result, with the help of live (`heal`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Access, Disk, Kind};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::heal::pages_from;
use crate::history::{BandReader, History};
use crate::log::{Epoch, segment_path};
use crate::manifest::Manifest;
use crate::pages::PAGE;
use crate::record::{self, BandAt, BandState, Chain, Meta, StateSum};
use crate::segment::{read_head, segments};
use crate::tree::Tree;
use crate::walk::{Fronts, Place, epoch_of, pages_whole};

/// An epoch that is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its number.
    pub epoch: u64,
    /// The checkpoint's name, if it can still be read.
    pub name: Option<String>,
    /// The reason, for people.
    pub why: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(
                f,
                "checkpoint {name:?} (epoch {}) is lost: {}",
                self.epoch, self.why
            ),
            None => write!(f, "epoch {} is lost: {}", self.epoch, self.why),
        }
    }
}

/// What is wrong with a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// One sentence per damaged place.
    pub findings: Vec<String>,
    /// The lost epochs; all others are intact.
    pub lost: Vec<Lost>,
}

impl Damage {
    /// The error when a damaged store is to be changed.
    pub(crate) fn refusal(&self, root: &Path) -> Error {
        let lost = match self.lost.len() {
            0 => "no checkpoint is lost".to_owned(),
            _ => self
                .lost
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("; "),
        };
        let what = format!(
            "{}: damaged: {}; {lost}",
            root.display(),
            self.findings.join("; ")
        );
        let advice =
            "nothing was changed; `list` shows what is intact, `repair` makes a new log of that";
        Error::new(ErrorKind::Damaged, what, advice)
    }
}

/// The result of reading every page of the log.
pub(crate) struct Survey {
    pub(crate) history: History,
    pub(crate) damage: Damage,
    /// The highest epoch that is mentioned anywhere.
    pub(crate) highest: u64,
    /// Segments that belong to the store.
    pub(crate) segments: Vec<u64>,
    /// Files with names of segments that belong to another store: an interrupted repair left them.
    pub(crate) foreign: Vec<PathBuf>,
}

/// A record that was found.
struct SurveyedRecord {
    epoch: Epoch,
    previous: Chain,
    whole: bool,
}

/// The results so far.
#[derive(Default)]
struct SurveyProgress {
    records: Vec<SurveyedRecord>,
    findings: Vec<String>,
    /// Epochs and names, as far as they can be read in incomplete records.
    gleaned: Vec<(u64, Option<String>)>,
    highest: u64,
    segments: Vec<u64>,
    foreign: Vec<PathBuf>,
}

impl Survey {
    /// Reads the whole log; `first` is the reason to doubt it. A repair gives the directory of the
    /// bands: then every byte of every checkpoint is hashed, and what decayed is taken from there if
    /// it has it. Otherwise only bands are hashed that the damage may have reached.
    pub(crate) fn of(
        disk: &Arc<dyn Disk>,
        root: &Path,
        manifest: Manifest,
        known: Option<(u64, Chain)>,
        first: Option<String>,
        live: Option<&Path>,
    ) -> Result<Self> {
        let (dir, base) = (root.join("log"), (manifest.epoch, manifest.chain));
        let place = Place {
            disk: disk.as_ref(),
            dir: &dir,
            store: manifest.store,
            base,
            known,
        };
        let mut finds = SurveyProgress {
            findings: first.into_iter().collect(),
            highest: base.0,
            ..SurveyProgress::default()
        };
        for first in segments(disk.as_ref(), &dir)? {
            finds.segment(&place, first);
        }
        let (records, mut lost) = finds.in_order(&place);
        let mut before = base;
        let breaks: Vec<bool> = records
            .iter()
            .map(|record| is_behind_a_gap(&mut before, record))
            .collect();
        let rotten = records
            .iter()
            .filter(|record| !record.whole)
            .map(|record| record.epoch.number)
            .collect();
        let gaps = records.iter().zip(breaks).filter(|(_, gap)| *gap);
        let gaps = gaps.map(|(record, _)| record.epoch.number).collect();
        let epochs = records.into_iter().map(|record| record.epoch).collect();
        let SurveyProgress {
            mut findings,
            highest,
            segments,
            foreign,
            ..
        } = finds;
        let mut history = History::new(Arc::clone(disk), root, manifest, epochs);
        history.give_up_namesakes();
        let mut judge = Judge {
            history: &mut history,
            rotten,
            gaps,
            everything: live.is_some(),
            live,
            healed: vec![],
        };
        lost.extend(judge.lost());
        findings.append(&mut judge.healed);
        lost.sort_by_key(|lost_epoch| lost_epoch.epoch);
        history.lose(lost.clone());
        let damage = Damage { findings, lost };
        Ok(Self {
            history,
            damage,
            highest,
            segments,
            foreign,
        })
    }
}

/// One record for each number after the base, ascending: the one that follows the record before it,
/// if there is one.
fn chained(records: Vec<SurveyedRecord>, base: (u64, Chain)) -> Vec<SurveyedRecord> {
    let mut by_number: BTreeMap<u64, Vec<SurveyedRecord>> = BTreeMap::new();
    for record in records
        .into_iter()
        .filter(|record| record.epoch.number > base.0)
    {
        by_number
            .entry(record.epoch.number)
            .or_default()
            .push(record);
    }
    let (mut last, mut chosen) = (base, Vec::new());
    for (number, mut candidates) in by_number {
        let follows = candidates
            .iter()
            .position(|record| (number, record.previous) == (last.0 + 1, last.1));
        let record = candidates.swap_remove(follows.unwrap_or(0));
        last = (number, record.epoch.chain);
        chosen.push(record);
    }
    chosen
}

/// Whether a record does not follow the one before it.
fn is_behind_a_gap(before: &mut (u64, Chain), record: &SurveyedRecord) -> bool {
    let follows = (record.epoch.number, record.previous) == (before.0 + 1, before.1);
    *before = (record.epoch.number, record.epoch.chain);
    !follows
}

impl SurveyProgress {
    fn segment(&mut self, place: &Place<'_>, first: u64) {
        let path = segment_path(place.dir, first);
        if let Err(error) = self.read_segment(place, first, &path) {
            self.findings.push(error.to_string());
        }
    }

    fn read_segment(&mut self, place: &Place<'_>, first: u64, path: &Path) -> Result<()> {
        let file = place.disk.open(path, Access::Read).doing("opening", path)?;
        let size = file.stamp().doing("looking at", path)?.size;
        let head = read_head(file.as_ref()).doing("reading", path)?;
        match head {
            Some(head) if head.store != place.store => {
                self.foreign.push(path.to_owned());
                return Ok(());
            }
            Some(head) if head.first == first => {
                self.highest = self.highest.max(first.saturating_sub(1));
                if head.end > size {
                    let what = format!(
                        "{}: {size} bytes, where there were {}",
                        path.display(),
                        head.end
                    );
                    self.findings.push(what);
                }
            }
            _ => self
                .findings
                .push(format!("{}: its first page is not whole", path.display())),
        }
        self.segments.push(first);
        let mut fronts = Fronts {
            file: file.as_ref(),
            end: size,
            at: PAGE,
        };
        while let Some((at, mut front)) = fronts.next().doing("reading", path)? {
            let fits = |head: &record::Head| head.may_lie(place.store, first, at);
            let sound = record::decode(&front).is_some();
            if !record::mend(&mut front, fits) {
                if !sound {
                    self.findings.push(format!(
                        "{}: the record at byte {at} is not whole",
                        path.display()
                    ));
                    self.gleaned.extend(record::glean(&front));
                }
                continue; // a whole record that was written elsewhere is the page of a band
            }
            let Some((head, meta, chain)) = record::decode(&front) else {
                continue;
            };
            if !sound {
                let what = format!(
                    "{}: one bit of epoch {}, at byte {at}, has changed, and it is known which",
                    path.display(),
                    head.epoch
                );
                self.findings.push(what);
            }
            fronts.at = at.saturating_add(head.bytes());
            let whole = pages_whole(file.as_ref(), &head, at).unwrap_or(false);
            let previous = head.previous;
            let epoch = epoch_of(head, meta, chain, first, at);
            self.records.push(SurveyedRecord {
                epoch,
                previous,
                whole,
            });
        }
        Ok(())
    }

    /// The records after the base, ascending, and the epochs that are missing among them.
    fn in_order(&mut self, place: &Place<'_>) -> (Vec<SurveyedRecord>, Vec<Lost>) {
        let base = place.base.0;
        let known = place.known.filter(|(epoch, _)| *epoch > base);
        self.highest = self.highest.max(known.map_or(0, |(epoch, _)| epoch));
        let mut records = chained(std::mem::take(&mut self.records), place.base);
        // It may have been unfinished when the machine stopped.
        if records
            .last()
            .is_some_and(|last| !last.whole && last.epoch.number > self.highest)
        {
            records.pop();
        }
        self.highest = self
            .highest
            .max(records.last().map_or(base, |last| last.epoch.number));
        for record in records.iter().filter(|record| !record.whole) {
            let (number, segment) = (
                record.epoch.number,
                segment_path(place.dir, record.epoch.segment),
            );
            self.findings.push(format!(
                "{}: pages of epoch {number} have changed",
                segment.display()
            ));
        }
        let there: BTreeMap<u64, Chain> = records
            .iter()
            .map(|record| (record.epoch.number, record.epoch.chain))
            .collect();
        let mut lost = Vec::new();
        for epoch in (base + 1..=self.highest).filter(|epoch| !there.contains_key(epoch)) {
            let name = self.gleaned.iter().find(|(gleaned, _)| *gleaned == epoch);
            let name = name.and_then(|(_, name)| name.clone());
            lost.push(Lost {
                epoch,
                name,
                why: "its record is not whole".to_owned(),
            });
        }
        if let Some((epoch, chain)) = known
            && there.get(&epoch).is_some_and(|current| *current != chain)
        {
            let why = "another record has taken its place, which INDEX does not know".to_owned();
            self.findings.push(format!(
                "{}: epoch {epoch} is not the one in INDEX",
                place.dir.display()
            ));
            lost.push(Lost {
                epoch,
                name: None,
                why,
            });
        }
        (records, lost)
    }
}

/// The damaged checkpoints of a history without gaps.
pub(crate) fn lost_of(history: &mut History) -> Vec<Lost> {
    Judge {
        history,
        rotten: BTreeSet::new(),
        gaps: BTreeSet::new(),
        everything: true,
        live: None,
        healed: vec![],
    }
    .lost()
}

/// Decides which checkpoints the remaining records still give.
struct Judge<'a> {
    history: &'a mut History,
    /// Epochs whose pages are damaged.
    rotten: BTreeSet<u64>,
    /// Epochs before which others are missing.
    gaps: BTreeSet<u64>,
    everything: bool,
    /// The directory whose bands may have what decayed.
    live: Option<&'a Path>,
    /// One sentence per band that they healed.
    healed: Vec<String>,
}

/// The state of the bands while the epochs are replayed.
#[derive(Default)]
struct ReplayState {
    heads: BTreeMap<String, BandAt>,
    sum: StateSum,
    /// Bands whose bytes may be damaged.
    doubtful: BTreeSet<String>,
    /// Bands that are known to be right again after a gap.
    cleared: BTreeSet<String>,
    /// The epoch before which others are missing that this state may need.
    unknown_since: Option<u64>,
    behind_a_gap: bool,
}

impl Judge<'_> {
    fn lost(&mut self) -> Vec<Lost> {
        let base = &self.history.manifest;
        let heads = base.bands_at();
        let sum = StateSum::of(&heads);
        let doubtful = if self.everything {
            heads.keys().cloned().collect()
        } else {
            BTreeSet::new()
        };
        let mut course = ReplayState {
            heads,
            sum,
            doubtful,
            ..ReplayState::default()
        };
        let wanted: BTreeMap<u64, String> = self
            .history
            .checkpoints()
            .into_iter()
            .map(|checkpoint| (checkpoint.epoch, checkpoint.name))
            .collect();
        let (mut lost, mut epoch, mut passed) = (Vec::new(), base.epoch, 0);
        loop {
            if let Some(name) = wanted.get(&epoch)
                && let Some(why) = self.why_lost(&mut course, epoch)
            {
                let name = Some(name.clone());
                lost.push(Lost { epoch, name, why });
            }
            let Some(next) = self.history.epochs.get(passed) else {
                return lost;
            };
            self.pass(&mut course, next);
            (epoch, passed) = (next.number, passed + 1);
        }
    }

    /// Applies one record.
    fn pass(&self, course: &mut ReplayState, epoch: &Epoch) {
        if self.gaps.contains(&epoch.number) {
            course.unknown_since = Some(epoch.number);
            course.behind_a_gap = true;
            course.cleared.clear();
        }
        let bands: &[record::BandChange] = match &epoch.meta {
            Meta::Checkpoint { bands, .. } => bands,
            Meta::Prune { .. } => &[],
        };
        for change in bands {
            let name = &change.name;
            if let Some(before) = course.heads.remove(name) {
                course.sum -= StateSum::of_band(name, &before);
            }
            let Some(band) = change.after() else {
                course.doubtful.remove(name);
                course.cleared.insert(name.clone());
                continue;
            };
            course.sum += StateSum::of_band(name, &band);
            course.heads.insert(name.clone(), band);
            let reached = self.rotten.contains(&epoch.number)
                || (course.behind_a_gap && !course.cleared.contains(name));
            if reached || self.everything {
                course.doubtful.insert(name.clone());
            }
        }
        if course.unknown_since.is_some() && epoch.sum == Some(course.sum) {
            course.unknown_since = None; // nothing of the missing records is left in this state
        }
    }

    fn why_lost(&mut self, course: &mut ReplayState, epoch: u64) -> Option<String> {
        if let Some(since) = course.unknown_since {
            return Some(format!("it needs what is missing before epoch {since}"));
        }
        for name in course.doubtful.clone() {
            let Some(BandAt { state, .. }) = course.heads.get(&name) else {
                continue;
            };
            let read = self
                .history
                .band_at(&name, epoch)
                .and_then(|reader| Ok((reader.tree()?, reader)));
            match read {
                Ok((tree, _)) if tree.id() == state.id && tree.size() == state.size => {}
                Ok((tree, reader)) if self.heals(&name, epoch, &reader, &tree, *state) => {}
                Ok(_) => return Some(format!("the bytes of band {name:?} have changed")),
                Err(error) => return Some(format!("band {name:?}: {error}")),
            }
            course.doubtful.remove(&name);
            course.cleared.insert(name);
        }
        None
    }

    /// Whether live has what decayed of a band of this epoch; then the past is read with it.
    fn heals(
        &mut self,
        name: &str,
        epoch: u64,
        reader: &BandReader,
        tree: &Tree,
        state: BandState,
    ) -> bool {
        // A link or a pipe in the band's place is not opened.
        let disk = &self.history.disk;
        let Some(live) = self
            .live
            .filter(|live| disk.stamp(live).is_ok_and(|it| it.kind == Kind::Directory))
            .and_then(|live| disk.open(&live.join(name), Access::Read).ok())
        else {
            return false;
        };
        let Some(pages) = pages_from(live.as_ref(), reader, tree.clone(), state.id) else {
            return false;
        };
        let count = pages.len();
        if !Arc::make_mut(&mut self.history.healed).take_in(reader, pages) {
            return false;
        }
        self.healed.push(format!(
            "band {name:?} of epoch {epoch}: its bytes have changed, and live has them (pages: {count})"
        ));
        true
    }
}
