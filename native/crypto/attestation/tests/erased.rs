//! Secrets are erased before their memory is freed: the allocator inspects a key's seed when it is
//! given back.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use paceline_attestation::SigningKey;

/// Where a seed lies that this program watches.
static WATCHED: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// What was found there when its memory was given back.
static FOUND: AtomicU8 = AtomicU8::new(NOT_FREED);
const NOT_FREED: u8 = 0;
const ERASED: u8 = 1;
const STILL_THERE: u8 = 2;
const SEED: [u8; 32] = [0xa7; 32];

struct Looking;

#[global_allocator]
static ALLOCATOR: Looking = Looking;

// SAFETY: all of it is the system's allocator; what is looked at is read before it is given back.
unsafe impl GlobalAlloc for Looking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let watched = WATCHED.load(Ordering::SeqCst);
        let place = (watched as usize).wrapping_sub(memory as usize);
        if !watched.is_null() && place.saturating_add(SEED.len()) <= layout.size() {
            // SAFETY: the seed was written there, and the memory is given back only below. Volatile: what is
            // found has to be what is in memory.
            let bytes: [u8; 32] = unsafe { watched.cast::<[u8; 32]>().read_volatile() };
            let found = if bytes == [0; 32] {
                ERASED
            } else {
                STILL_THERE
            };
            FOUND.store(found, Ordering::SeqCst);
            WATCHED.store(null_mut(), Ordering::SeqCst);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// One test: the watch is the whole program's.
#[test]
fn a_seed_is_erased_before_its_memory_is_given_back() {
    let watch = |seed: *const [u8; 32]| {
        FOUND.store(NOT_FREED, Ordering::SeqCst);
        WATCHED.store(seed.cast_mut().cast(), Ordering::SeqCst);
    };
    let plain = Box::new(SEED);
    watch(&raw const *plain);
    drop(plain);
    assert_eq!(
        FOUND.load(Ordering::SeqCst),
        STILL_THERE,
        "what nobody erases is seen"
    );
    let key = Box::new(SigningKey::from_seed(&SEED).expect("an engine signs"));
    watch(key.seed());
    assert_eq!(key.seed(), &SEED);
    drop(key);
    assert_eq!(FOUND.load(Ordering::SeqCst), ERASED);
}
