//! What a product may use instead of the graph: the original lock around a map, and two faster
//! ways.
//!
//! The lock is as the original had it: the standard hasher, whole blocks as values. The other two
//! get what helps them: only ids, hashed by the id's own first bytes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use arc_swap::{ArcSwap, Cache};
use paceline_finality::BlockId;

use crate::subjects::Subject;

/// The seed's block: 80 bytes.
struct Block {
    finalised: bool,
    _id: [u8; 32],
    _parent: [u8; 32],
    _weight: u64,
}

impl Block {
    fn of(id: BlockId) -> Self {
        Self {
            finalised: true,
            _id: id.0,
            _parent: id.0,
            _weight: 1,
        }
    }
}

/// `RwLock<HashMap>`, the seed's.
pub(crate) struct Locked(RwLock<HashMap<[u8; 32], Block>>);

impl Subject for Locked {
    fn of(blocks: &mut dyn Iterator<Item = BlockId>, count: u64) -> Self {
        let mut map = HashMap::with_capacity(usize::try_from(count).unwrap_or(0));
        map.extend(blocks.map(|id| (id.0, Block::of(id))));
        Self(RwLock::new(map))
    }

    #[inline]
    fn is_final(&self, id: &BlockId) -> bool {
        let map = self.0.read().unwrap_or_else(PoisonError::into_inner);
        map.get(&id.0).is_some_and(|block| block.finalised)
    }

    fn add(&self, id: BlockId) -> bool {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        map.insert(id.0, Block::of(id)).is_none()
    }
}

/// An id that hashes to its own first eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Uniform([u8; 32]);

impl Hash for Uniform {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, ..] = self.0.as_chunks::<8>().0 else {
            return;
        };
        state.write_u64(u64::from_le_bytes(*first));
    }
}

/// Takes what is uniform already for the hash.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes
            .iter()
            .fold(self.0, |hash, byte| hash << 8 | u64::from(*byte));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type AsItIs = BuildHasherDefault<Identity>;

/// A concurrent map by a kept library: papaya, whose readers take no lock.
pub(crate) struct Concurrent(papaya::HashSet<Uniform, AsItIs>);

impl Subject for Concurrent {
    fn of(blocks: &mut dyn Iterator<Item = BlockId>, count: u64) -> Self {
        let set = papaya::HashSet::builder()
            .capacity(usize::try_from(count).unwrap_or(0))
            .hasher(AsItIs::default())
            .build();
        let pinned = set.pin();
        for id in blocks {
            pinned.insert(Uniform(id.0));
        }
        drop(pinned);
        Self(set)
    }

    #[inline]
    fn is_final(&self, id: &BlockId) -> bool {
        self.0.pin().contains(&Uniform(id.0))
    }

    fn add(&self, id: BlockId) -> bool {
        self.0.pin().insert(Uniform(id.0))
    }
}

/// A snapshot nobody changes; a writer puts a copy with one id more in its place. A reader keeps the newest it saw
/// and looks whether there is another (arc-swap's `Cache`).
pub(crate) struct Swapped(ArcSwap<HashSet<Uniform, AsItIs>>);

/// What a cache of a reader looks into.
struct Snapshots(Arc<Swapped>);

impl Deref for Snapshots {
    type Target = ArcSwap<HashSet<Uniform, AsItIs>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0.0
    }
}

impl Subject for Swapped {
    fn of(blocks: &mut dyn Iterator<Item = BlockId>, count: u64) -> Self {
        let capacity = usize::try_from(count).unwrap_or(0);
        let mut set = HashSet::with_capacity_and_hasher(capacity, AsItIs::default());
        set.extend(blocks.map(|id| Uniform(id.0)));
        Self(ArcSwap::from_pointee(set))
    }

    #[inline]
    fn is_final(&self, id: &BlockId) -> bool {
        self.0.load().contains(&Uniform(id.0))
    }

    #[inline]
    fn reader(self: Arc<Self>) -> impl FnMut(&BlockId) -> bool + Send + 'static {
        let mut newest = Cache::new(Snapshots(self));
        move |id| newest.load().contains(&Uniform(id.0))
    }

    fn add(&self, id: BlockId) -> bool {
        let mut next = HashSet::clone(&self.0.load());
        let new = next.insert(Uniform(id.0));
        self.0.store(Arc::new(next));
        new
    }
}
