//! Compares a store after a kill with what its writer reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::Disk;
use paceline_checkpoint::{ErrorKind, Store};

use crate::report::{Report, digest, digest_of, read};
use crate::writer::OPTIONS;

/// The begin of the name under which a rollback keeps the replaced state.
const REPLACED: &str = "before-rollback-";

/// The results of one or all checks.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    /// Checkpoints that the writers reported.
    pub(crate) reported: u64,
    /// Those that were there and verified, over all checks.
    verified: u64,
    /// Requested, not reported, and there.
    pub(crate) in_flight_kept: u64,
    /// Requested, not reported, and not there.
    pub(crate) in_flight_lost: u64,
    /// Kills during a rollback.
    in_rollback: u64,
    /// Kills before there was a store.
    no_store: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, other: &Self) {
        self.reported += other.reported;
        self.verified += other.verified;
        self.in_flight_kept += other.in_flight_kept;
        self.in_flight_lost += other.in_flight_lost;
        self.in_rollback += other.in_rollback;
        self.no_store += other.no_store;
    }
}

pub(crate) struct Judge {
    live: PathBuf,
    /// Name and digest of each reported and kept checkpoint.
    kept: BTreeMap<String, String>,
    /// The last step that was begun and not reported.
    open: Option<Report>,
    heard: u64,
    /// The power goes with the writer, so live may be anything then.
    cut: bool,
}

impl Judge {
    pub(crate) fn new(live: &Path, cut: bool) -> Self {
        Self {
            live: live.to_owned(),
            kept: BTreeMap::new(),
            open: None,
            heard: 0,
            cut,
        }
    }

    /// Reads the report of a writer until it was killed.
    pub(crate) fn hear(&mut self, reports: &[Report]) {
        self.heard = 0;
        for report in reports {
            match (report, self.open.take()) {
                (
                    Report::Has { name },
                    Some(Report::Asks {
                        name: asked,
                        digest,
                    }),
                ) if *name == asked => {
                    self.kept.insert(asked, digest);
                    self.heard += 1;
                }
                (Report::Dropped { name }, Some(Report::Drops { name: asked }))
                    if *name == asked =>
                {
                    self.kept.remove(name);
                }
                (Report::Returned { name }, Some(Report::Returns { from, .. })) => {
                    self.kept.insert(name.clone(), from);
                    self.heard += 1;
                }
                (begun, None) => self.open = Some(begun.clone()),
                (said, open) => panic!("{said:?} after {open:?}"),
            }
        }
    }

    /// Opens what the kill left, and compares. The unfinished step counts as it is from now on.
    pub(crate) fn check(&mut self, disk: &(impl Disk + Clone + 'static), kill: u64) -> Sum {
        let mut sum = Sum {
            reported: self.heard,
            ..Sum::default()
        };
        let open = self.open.take();
        if let Some(Report::Returns { to, from }) = &open {
            // Live is whole, either the old or the new one (D9).
            let live = digest_of(&read(&self.live));
            let whole = live == *to || live == *from || self.cut;
            assert!(
                whole,
                "kill {kill}: live is neither of a rollback's two states"
            );
            sum.in_rollback = 1;
        }
        let store = match Store::open(Arc::new(disk.clone()), &self.live, OPTIONS) {
            Ok(store) => store,
            Err(error) => {
                let none = error.kind() == ErrorKind::NotFound && self.kept.is_empty();
                assert!(none, "kill {kill}: {error}; kept: {:?}", self.kept.keys());
                sum.no_store = 1;
                return sum;
            }
        };
        let mut there = BTreeMap::new();
        for checkpoint in store.list() {
            let name = checkpoint.name;
            let ids = store
                .bands(&name)
                .expect("listed")
                .into_iter()
                .map(|(band, state)| (band, state.id));
            let ids = digest(ids);
            let verified = store.verify(&name).expect("readable");
            assert!(
                verified.wrong.is_empty(),
                "kill {kill}: {name}: {:?}",
                verified.wrong
            );
            sum.verified += 1;
            there.insert(name, ids);
        }
        self.compare(&there, open.as_ref(), &mut sum, kill);
        self.kept = there;
        sum
    }

    fn compare(
        &self,
        there: &BTreeMap<String, String>,
        open: Option<&Report>,
        sum: &mut Sum,
        kill: u64,
    ) {
        let going = match open {
            Some(Report::Drops { name }) => Some(name),
            _ => None,
        };
        for (name, digest) in &self.kept {
            match there.get(name) {
                Some(ids) => {
                    assert_eq!(
                        ids, digest,
                        "kill {kill}: {name} is another state than was reported"
                    );
                }
                None => assert_eq!(
                    going,
                    Some(name),
                    "kill {kill}: {name} was reported and is lost"
                ),
            }
        }
        let mut new = there
            .iter()
            .filter(|(name, _)| !self.kept.contains_key(*name));
        let expected = match open {
            Some(Report::Asks { name, digest }) => Some((name.as_str(), digest)),
            Some(Report::Returns { from, .. }) => Some((REPLACED, from)),
            _ => None,
        };
        match (new.next(), expected) {
            (Some((name, ids)), Some((asked, digest))) => {
                let named = name == asked || asked == REPLACED && name.starts_with(REPLACED);
                assert!(
                    named && ids == digest,
                    "kill {kill}: {name} was never asked for"
                );
                sum.in_flight_kept = 1;
            }
            (Some((name, _)), None) => panic!("kill {kill}: {name} was never asked for"),
            (None, expected) => sum.in_flight_lost = u64::from(expected.is_some()),
        }
        assert_eq!(new.next(), None, "kill {kill}: more than was asked for");
    }
}
