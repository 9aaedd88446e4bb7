//! Creates a store: its first base is a copy of live (D8) and its first checkpoint.
//!
//! The store exists once `CURRENT` exists; the next attempt removes the rest of an interrupted one.

use std::any::Any;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::attributes::KnownAttributes;
use crate::disk::{Access, Disk, DiskFile, Kind, Stamp};
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::history::{Checkpoint, History};
use crate::index::is_young;
use crate::log::Log;
use crate::manifest::{BaseBand, Manifest, base_file, base_path};
use crate::names::{check_band, check_checkpoint};
use crate::opening::lock;
use crate::pages::{LEAF, PAGE, index};
use crate::record::BandState;
use crate::restore::parent;
use crate::store::{Options, Store, refuse_unless_directory, store_path};
use crate::tree::{Tree, leaf_of, leaves_of};

/// Bytes copied at a time; zeros of this length stay holes.
const PIECE: u64 = 16 * LEAF;
/// How often reading a band is repeated if it changes meanwhile.
pub(crate) const TRIES: usize = 5;

impl Store {
    /// Makes a store for a directory of bands, with a first checkpoint of the given name.
    ///
    /// # Errors
    /// `Exists` when there is a store, `Refused` for names or entries that cannot be bands, `Torn`
    /// when a band keeps changing, `Io`.
    pub fn init(disk: Arc<dyn Disk>, live: &Path, options: Options, name: &str) -> Result<Self> {
        check_checkpoint(name)?;
        refuse_unless_directory(disk.as_ref(), live)?;
        let root = store_path(live);
        refuse_store(disk.as_ref(), &root)?;
        disk.list(live).doing("listing", live)?; // before anything is made
        let lock = begin(disk.as_ref(), &root)?;
        Self::create_in(disk, live, options, (name.to_owned(), None), lock)
    }

    /// The rest of [`Store::init`], in a prepared directory: copies live into the base, makes the
    /// log, and writes `CURRENT`. The checkpoint's time is now unless one is given.
    pub(crate) fn create_in(
        disk: Arc<dyn Disk>,
        live: &Path,
        options: Options,
        named: (String, Option<i64>),
        lock: Box<dyn Any + Send + Sync>,
    ) -> Result<Self> {
        let root = store_path(live);
        let entries = disk.list(live).doing("listing", live)?;
        let (mut bands, mut known) = (
            Vec::with_capacity(entries.len()),
            Vec::with_capacity(entries.len()),
        );
        for entry in entries {
            check_band(disk.as_ref(), &entry.name)?;
            let path = live.join(&entry.name);
            if entry.kind != Kind::File {
                let what = format!("{}: not a regular file", path.display());
                return Err(Error::new(
                    ErrorKind::Refused,
                    what,
                    "the directory may hold bands only",
                ));
            }
            let file = base_file(&entry.name, 1);
            let (attributes, copied) = copy_live(disk.as_ref(), &path, &base_path(&root, &file))?;
            let state = BandState {
                size: copied.0.size(),
                id: copied.0.id(),
            };
            known.push((entry.name.clone(), copied));
            bands.push(BaseBand {
                name: entry.name,
                state,
                attributes,
                file,
                patched: 0,
            });
        }
        let now = disk.now();
        let store = store_id(now.wall_ns, live);
        let chain = *blake3::hash(&store).as_bytes();
        let log = Log::create(
            Arc::clone(&disk),
            &root.join("log"),
            store,
            options.segment_bytes,
            (1, chain),
        )?;
        disk.sync_beneath(&root).doing("syncing", &root)?;
        let (name, created_ns) = (named.0, named.1.unwrap_or(now.wall_ns));
        let manifest = Manifest {
            store,
            epoch: 1,
            chain,
            kept: true,
            created_ns,
            name,
            bands,
        };
        manifest.install(disk.as_ref(), &root)?;
        disk.sync_dir(parent(&root)).doing("syncing", &root)?;
        let history = History::new(Arc::clone(&disk), &root, manifest, vec![]);
        let exact = disk.stamps_are_exact(&root);
        let mut store = Self::assemble(disk, live, log, history, lock, exact);
        store.settle_in(None)?;
        for (name, (tree, stamp, seen_ns)) in known {
            store.know(&name, tree, (stamp, seen_ns));
        }
        Ok(store)
    }

    /// Marks a band as equal to the last epoch at the time of its stamp.
    fn know(&mut self, name: &str, tree: Arc<Tree>, seen: (Stamp, i64)) {
        let Some(band) = self.bands.get_mut(name) else {
            return;
        };
        (band.tree, band.seen, band.unknown) = (Some(tree), Some(seen), false);
        band.settled = false;
        self.dirty.remove(name);
        self.fresh_trees.insert(name.to_owned());
    }

    /// The first checkpoint of a store that was just made.
    #[must_use]
    pub fn first(&self) -> Option<Checkpoint> {
        self.list().into_iter().next()
    }
}

/// Refuses if there is a store already.
pub(crate) fn refuse_store(disk: &dyn Disk, root: &Path) -> Result<()> {
    if disk.stamp(&root.join("CURRENT")).is_err() {
        return Ok(());
    }
    let what = format!("{}: there is a store already", root.display());
    Err(Error::new(
        ErrorKind::Exists,
        what,
        "use it, or move it away",
    ))
}

/// The directories of a store, empty and locked.
pub(crate) fn begin(disk: &dyn Disk, root: &Path) -> Result<Box<dyn Any + Send + Sync>> {
    for dir in [
        root.to_owned(),
        root.join("log"),
        root.join("base"),
        root.join("trees"),
    ] {
        make_empty(disk, &dir, disk.make_private_dir(&dir))?;
    }
    lock(disk, root)
}

/// Empties a directory that already existed.
pub(crate) fn make_empty(disk: &dyn Disk, dir: &Path, made: std::io::Result<()>) -> Result<()> {
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        other => return other.doing("making", dir),
    }
    for entry in disk.list(dir).doing("listing", dir)? {
        if entry.kind == Kind::File && entry.name != "LOCK" {
            disk.remove(&dir.join(&entry.name))
                .doing("removing", &dir.join(&entry.name))?;
        }
    }
    Ok(())
}

/// A random id, so that stores never take each other's segments for their own.
pub(crate) fn store_id(now_ns: i64, live: &Path) -> [u8; 16] {
    let chance = RandomState::new().hash_one((now_ns, live));
    let hash = blake3::hash(format!("{now_ns} {chance} {}", live.display()).as_bytes());
    let mut id = [0; 16];
    id.copy_from_slice(&hash.as_bytes()[..16]);
    id
}

/// A band's attributes and tree, with its stamp and the wall clock at that moment.
type Copied = (KnownAttributes, (Arc<Tree>, Stamp, i64));

/// Copies a band, repeatedly if somebody writes to it meanwhile.
fn copy_live(disk: &dyn Disk, from: &Path, to: &Path) -> Result<Copied> {
    let source = disk.open(from, Access::Read).doing("opening", from)?;
    let target = disk.open(to, Access::CreatePrivate).doing("making", to)?;
    for _ in 0..TRIES {
        let begin_ns = disk.now().wall_ns;
        let before = source.stamp().doing("looking at", from)?;
        source.await_writes();
        // Checks again: a hole may have been filled by a write that began before the stamp.
        let now = source.stamp().doing("looking at", from)?;
        if !now.same(&before) {
            continue;
        }
        target.set_len(0).doing("making", to)?;
        target.set_len(now.size).doing("making", to)?;
        let tree = read_tree(source.as_ref(), &now, |at, bytes| {
            target.write_at(bytes, at)
        });
        let tree = tree.doing("copying", from)?;
        let attributes = source.attributes().doing("looking at", from)?;
        let after = source.stamp().doing("looking at", from)?;
        let quiet = after.same(&before);
        // A stamp this young may hide a write; two readings with the same result prove that there
        // was none between.
        let twice = (is_young(&before, begin_ns, false) || !disk.stamps_show_writes())
            && read_tree(source.as_ref(), &after, |_, _| Ok(())).doing("reading", from)? != tree;
        if quiet && !twice {
            return Ok((attributes.map(Arc::new), (tree, before, begin_ns)));
        }
    }
    let what = format!(
        "{}: changed each of {TRIES} times it was read",
        from.display()
    );
    Err(Error::new(
        ErrorKind::Torn,
        what,
        "pause its writer, or let it write through the store",
    ))
}

/// Reads a file as of `stamp`, hands on all bytes that are not zeros, and hashes everything. The
/// stamp was taken after waiting for writers; it only says whether there is anything to read.
pub(crate) fn read_tree(
    file: &dyn DiskFile,
    stamp: &Stamp,
    mut take: impl FnMut(u64, &[u8]) -> std::io::Result<()>,
) -> std::io::Result<Arc<Tree>> {
    let size = stamp.size;
    // Nothing is allocated, so all of it is a hole; contents below a page may be stored in the
    // inode.
    if stamp.blocks == 0 && size >= PAGE {
        return Ok(zeros(size));
    }
    let mut buffer = vec![0; index(PIECE.min(size))];
    let mut leaves = Vec::with_capacity(index(leaves_of(size)));
    let mut at = 0;
    while at < size {
        let count = buffer.len().min(index(size - at));
        let got = file.read_at(&mut buffer[..count], at)?;
        buffer[got..count].fill(0); // cut meanwhile, so the stamps will differ
        if buffer[..count].iter().any(|byte| *byte != 0) {
            take(at, &buffer[..count])?;
        }
        for (leaf, bytes) in buffer[..count].chunks(index(LEAF)).enumerate() {
            leaves.push(leaf_of(size, at / LEAF + leaf as u64, bytes));
        }
        at += count as u64;
    }
    if size == 0 {
        leaves.push(leaf_of(0, 0, &[]));
    }
    Ok(Arc::new(Tree::new(size, &leaves)))
}

/// Returns the tree of a band of zeros; it is cached, because a sparse image has thousands of one size.
fn zeros(size: u64) -> Arc<Tree> {
    static LAST: Mutex<Option<Arc<Tree>>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tree) = last.as_ref().filter(|tree| tree.size() == size) {
        return Arc::clone(tree);
    }
    let leaf = vec![0; index(LEAF)];
    let leaves = (0..leaves_of(size))
        .map(|at| leaf_of(size, at, &leaf[..index(LEAF.min(size - at * LEAF))]));
    let tree = Arc::new(Tree::new(size, &leaves.collect::<Vec<_>>()));
    *last = Some(Arc::clone(&tree));
    tree
}
