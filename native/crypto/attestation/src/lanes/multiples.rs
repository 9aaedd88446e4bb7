//! Keeps multiples for a bounded number of keys, with which lanes verify one signature at a time.
//!
//! They take 23 KiB a key and the time of about six verifications, so a process that meets 100,000
//! keys must neither keep nor make all of them. A key that finds no place is verified by `portable`,
//! which gives the same answer.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::{ArcSwapOption, Guard};

use super::alone::Spread;

/// The default number of keys whose multiples are kept, which take 47 MiB.
const KEYS_KEPT: usize = 2048;
/// When all places are taken, one in this many misses takes another key's place: often enough for a
/// frequent key, too seldom to make multiples for each key of a long list.
const MISSES_PER_ADMISSION: usize = 16;

/// One key's place; clones of the key share it.
#[derive(Default)]
pub(crate) struct Slot {
    /// The multiples of the key, once they are made.
    spread: ArcSwapOption<Spread>,
    /// Set if the key was used since the keeper last looked for a place.
    used: AtomicBool,
}

impl Slot {
    #[cfg(test)]
    pub(super) fn is_filled(&self) -> bool {
        self.spread.load().is_some()
    }
}

/// The keys that have multiples. Recently used keys keep theirs (the CLOCK algorithm).
pub(crate) struct Keeper {
    limit: AtomicUsize,
    taken: AtomicUsize,
    misses: AtomicUsize,
    /// Oldest first. A key that was dropped leaves its place here until another needs it.
    places: Mutex<VecDeque<Weak<Slot>>>,
}

/// The keeper of this process.
pub(crate) static KEEPER: Keeper = Keeper::new(KEYS_KEPT);

impl Keeper {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit: AtomicUsize::new(limit),
            taken: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
            places: Mutex::new(VecDeque::new()),
        }
    }

    /// Sets the number of keys whose multiples are kept, and drops those beyond it.
    pub(crate) fn set_limit(&self, keys: usize) {
        self.limit.store(keys, Ordering::Relaxed);
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        self.make_room(&mut places, keys);
    }

    /// Returns the key's multiples, which are made now if there is a place for them; none otherwise.
    pub(super) fn multiples(
        &self,
        slot: &Arc<Slot>,
        make: impl FnOnce() -> Spread,
    ) -> Guard<Option<Arc<Spread>>> {
        let kept = slot.spread.load();
        if kept.is_some() {
            if !slot.used.load(Ordering::Relaxed) {
                slot.used.store(true, Ordering::Relaxed);
            }
            return kept;
        }
        if !self.admits() {
            return kept;
        }
        self.keep(slot, make());
        slot.spread.load()
    }

    fn admits(&self) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        self.taken.load(Ordering::Relaxed) < limit
            || limit > 0
                && self.misses.fetch_add(1, Ordering::Relaxed) % MISSES_PER_ADMISSION
                    == MISSES_PER_ADMISSION - 1
    }

    fn keep(&self, slot: &Arc<Slot>, spread: Spread) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = self.limit.load(Ordering::Relaxed);
        // Another thread may have made them meanwhile, or the limit may be 0 now.
        if limit == 0 || slot.spread.load().is_some() {
            return;
        }
        self.make_room(&mut places, limit - 1);
        slot.spread.store(Some(Arc::new(spread)));
        places.push_back(Arc::downgrade(slot));
        self.taken.store(places.len(), Ordering::Relaxed);
    }

    /// Leaves at most `most` places taken. Each key gets one more turn if it was used since the last.
    fn make_room(&self, places: &mut VecDeque<Weak<Slot>>, most: usize) {
        if places.len() > most {
            places.retain(|place| place.strong_count() > 0);
        }
        let mut turns = places.len();
        while places.len() > most {
            let Some(place) = places.pop_front() else {
                break;
            };
            let Some(slot) = place.upgrade() else {
                continue;
            };
            if turns > 0 && slot.used.swap(false, Ordering::Relaxed) {
                turns -= 1;
                places.push_back(place);
            } else {
                slot.spread.store(None);
            }
        }
        self.taken.store(places.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{Kernels, Plain};
    use super::super::point::Block;
    use super::{Arc, Keeper, MISSES_PER_ADMISSION, Slot};

    fn slots(count: usize) -> Vec<Arc<Slot>> {
        (0..count).map(|_| Arc::default()).collect()
    }

    fn use_slot(keeper: &Keeper, slot: &Arc<Slot>) -> bool {
        keeper
            .multiples(slot, || Plain.spread(&Block::NEUTRAL))
            .is_some()
    }

    fn filled(slots: &[Arc<Slot>]) -> usize {
        slots.iter().filter(|slot| slot.is_filled()).count()
    }

    #[test]
    #[cfg_attr(miri, ignore = "there a sum takes many minutes")]
    fn multiples_are_kept_for_no_more_keys_than_the_limit() {
        let keeper = Keeper::new(3);
        let keys = slots(40);
        for _ in 0..3 {
            for key in &keys {
                use_slot(&keeper, key);
                assert!(filled(&keys) <= 3);
            }
        }
        assert_eq!(filled(&keys), 3);
        keeper.set_limit(1);
        assert_eq!(filled(&keys), 1);
        keeper.set_limit(0);
        assert_eq!(filled(&keys), 0);
        assert!(!use_slot(&keeper, &keys[0]));
    }

    #[test]
    #[cfg_attr(miri, ignore = "there a sum takes many minutes")]
    fn a_key_in_use_keeps_its_place_and_a_new_one_that_comes_often_gets_one() {
        let keeper = Keeper::new(2);
        let (busy, newcomer, others) = (Arc::default(), Arc::default(), slots(50));
        assert!(use_slot(&keeper, &busy));
        for other in &others {
            use_slot(&keeper, other);
            assert!(use_slot(&keeper, &busy));
        }
        assert!((0..MISSES_PER_ADMISSION).any(|_| use_slot(&keeper, &newcomer)));
        assert!(use_slot(&keeper, &busy));
    }

    #[test]
    #[cfg_attr(miri, ignore = "there a sum takes many minutes")]
    fn the_place_of_a_dropped_key_is_free() {
        let keeper = Keeper::new(2);
        let dropped = slots(2);
        assert!(dropped.iter().all(|key| use_slot(&keeper, key)));
        drop(dropped);
        let (first, second) = (Arc::default(), Arc::default());
        for _ in 0..2 * MISSES_PER_ADMISSION {
            use_slot(&keeper, &first);
            use_slot(&keeper, &second);
        }
        assert!(use_slot(&keeper, &first) && use_slot(&keeper, &second));
    }
}
