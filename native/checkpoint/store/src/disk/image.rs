//! The contents and names on the fake disk, as the process sees them and as a power loss leaves
//! them.
//!
//! Changes that are not synced yet are atomic pieces: a sector of a write, or a change of names. A
//! crash keeps any subset of the sectors, and of each directory's changes those before some moment.
//! A rename between two directories takes effect in both or in neither.

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Attributes};

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// A write that no sync has followed.
#[derive(Clone, Debug)]
pub(super) enum Write {
    Data { offset: usize, bytes: Vec<u8> },
    Len(usize),
}

impl Write {
    pub(super) fn apply(&self, data: &mut Vec<u8>) {
        match self {
            Self::Len(bytes) => resize(data, *bytes),
            Self::Data { offset, bytes } => put(data, *offset, bytes),
        }
    }
}

/// Like `Vec::resize` with zeros, which pushes them one by one in an unoptimised build and took
/// half the time of the tests.
fn resize(data: &mut Vec<u8>, bytes: usize) {
    let zeros = vec![0; bytes.saturating_sub(data.len())];
    data.extend_from_slice(&zeros);
    data.truncate(bytes);
}

fn put(data: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if bytes.is_empty() {
        return; // no bytes change nothing
    }
    if data.len() < offset + bytes.len() {
        resize(data, offset + bytes.len());
    }
    data[offset..offset + bytes.len()].copy_from_slice(bytes);
}

/// A file's contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// As the process sees them.
    pub(super) data: Vec<u8>,
    /// As the last sync left them.
    pub(super) durable: Vec<u8>,
    /// The writes since, in order.
    pub(super) pending: Vec<Write>,
    pub(super) modified_ns: i64,
    /// The same for the inode.
    pub(super) changed_ns: i64,
    /// As the process sees them; the time in them is not used.
    pub(super) attributes: Attributes,
    /// As the last sync of everything left them.
    durable_attributes: Attributes,
    /// See [`super::DiskFile::overwrite_in_place`].
    pub(super) in_place: bool,
}

impl Contents {
    /// A new file, of the superuser.
    pub(super) fn new(access: Access) -> Self {
        let mode = if access == Access::CreatePrivate {
            0o600
        } else {
            0o644
        };
        let attributes = Attributes {
            mode,
            ..Attributes::default()
        };
        Self {
            durable_attributes: attributes.clone(),
            attributes,
            ..Self::default()
        }
    }

    pub(super) fn sync_attributes(&mut self) {
        self.durable_attributes = self.attributes.clone();
    }

    pub(super) fn write(&mut self, write: Write, now_ns: i64) {
        write.apply(&mut self.data);
        self.pending.push(write);
        (self.modified_ns, self.changed_ns) = (now_ns, now_ns);
    }

    pub(super) fn sync(&mut self) {
        for write in std::mem::take(&mut self.pending) {
            write.apply(&mut self.durable);
        }
    }

    /// The contents that a clone shares: everything that is written or will be. After a failed sync
    /// that is less than readers see.
    pub(super) fn on_disk(&self) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        self.pending
            .iter()
            .for_each(|write| write.apply(&mut bytes));
        bytes
    }

    /// What a power loss now leaves: each sector of each pending write is kept or lost.
    fn lose(&mut self, dice: &mut Dice) {
        let luck = dice.luck();
        let mut data = std::mem::take(&mut self.durable);
        for write in std::mem::take(&mut self.pending) {
            match write {
                Write::Len(_) if dice.keeps(luck) => write.apply(&mut data),
                Write::Len(_) => {}
                Write::Data { offset, bytes } => {
                    let mut at = 0;
                    while at < bytes.len() {
                        let end = bytes
                            .len()
                            .min((offset + at) / SECTOR * SECTOR + SECTOR - offset);
                        if dice.keeps(luck) {
                            put(&mut data, offset + at, &bytes[at..end]);
                        }
                        at = end;
                    }
                }
            }
        }
        self.durable.clone_from(&data);
        self.data = data;
        self.attributes = self.durable_attributes.clone();
    }
}

/// What a name refers to.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(Contents),
    Dir(BTreeMap<String, u64>),
    /// A symbolic link.
    Link,
}

/// Names that change together: directory, name, and what it names now.
#[derive(Clone, Debug)]
pub(super) struct Names(pub(super) Vec<(u64, String, Option<u64>)>);

impl Names {
    pub(super) fn touches(&self, dir: u64) -> bool {
        self.0.iter().any(|(touched, _, _)| *touched == dir)
    }

    fn dirs(&self) -> BTreeSet<u64> {
        self.0.iter().map(|(dir, _, _)| *dir).collect()
    }
}

/// Everything on the disk. Node 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) nodes: BTreeMap<u64, Node>,
    /// Names as the last syncs left them.
    durable: BTreeMap<u64, BTreeMap<String, u64>>,
    pending: Vec<Names>,
    /// When a directory's names last changed.
    pub(super) changed_ns: BTreeMap<u64, i64>,
}

impl Image {
    pub(super) fn new() -> Self {
        let nodes = BTreeMap::from([(0, Node::Dir(BTreeMap::new()))]);
        Self {
            nodes,
            durable: BTreeMap::new(),
            pending: Vec::new(),
            changed_ns: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, node: Node) -> u64 {
        let number = self.nodes.len() as u64;
        self.nodes.insert(number, node);
        number
    }

    pub(super) fn rename(&mut self, names: Names, now_ns: i64) {
        for (dir, name, target) in &names.0 {
            self.changed_ns.insert(*dir, now_ns);
            if let Some(Node::Dir(entries)) = self.nodes.get_mut(dir) {
                set(entries, name, *target);
            }
        }
        self.pending.push(names);
    }

    /// Makes the names in `dir` durable, and earlier changes in directories from which they were
    /// renamed.
    pub(super) fn sync_dir(&mut self, dir: u64) {
        let mut dirs = BTreeSet::from([dir]);
        let mut needed = Vec::new();
        for names in self.pending.iter().rev() {
            let now = dirs.iter().any(|dir| names.touches(*dir));
            if now {
                dirs.extend(names.dirs());
            }
            needed.push(now);
        }
        needed.reverse();
        let (mut kept, pending) = (Vec::new(), std::mem::take(&mut self.pending));
        for (names, now) in pending.into_iter().zip(needed) {
            if now {
                self.commit(&names);
            } else {
                kept.push(names);
            }
        }
        self.pending = kept;
    }

    pub(super) fn sync_all(&mut self) {
        for names in std::mem::take(&mut self.pending) {
            self.commit(&names);
        }
        for node in self.nodes.values_mut() {
            if let Node::File(contents) = node {
                contents.sync();
                contents.sync_attributes();
            }
        }
    }

    fn commit(&mut self, names: &Names) {
        for (dir, name, target) in &names.0 {
            set(self.durable.entry(*dir).or_default(), name, *target);
        }
    }

    /// What is left after a power loss now.
    pub(super) fn lose(mut self, seed: u64) -> Self {
        let mut dice = Dice(seed);
        let luck = dice.luck();
        let mut lost = BTreeSet::new();
        for names in std::mem::take(&mut self.pending) {
            let dirs = names.dirs();
            if dirs.is_disjoint(&lost) && dice.keeps(luck) {
                self.commit(&names);
            } else {
                lost.extend(dirs);
            }
        }
        for (number, node) in &mut self.nodes {
            match node {
                Node::File(contents) => contents.lose(&mut dice),
                Node::Dir(entries) => {
                    *entries = self.durable.get(number).cloned().unwrap_or_default();
                }
                Node::Link => {}
            }
        }
        self
    }
}

fn set(entries: &mut BTreeMap<String, u64>, name: &str, target: Option<u64>) {
    match target {
        Some(node) => entries.insert(name.to_owned(), node),
        None => entries.remove(name),
    };
}

/// `SplitMix64`, which decides what a crash keeps.
struct Dice(u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// How many of eight pieces are kept: none, some, nearly all, all.
    fn luck(&mut self) -> u64 {
        [0, 1, 4, 7, 7, 8][usize::try_from(self.draw() % 6).unwrap_or(0)]
    }

    fn keeps(&mut self, luck: u64) -> bool {
        self.draw() % 8 < luck
    }
}
