//! Memory for a process that lives for one command: a piece of the program itself, handed out from front
//! to back. A checkpoint of a few pages otherwise spends more time in asking the system for memory, and in
//! giving it back, than in reading and hashing.
//!
//! Invariant: no byte is in two hands. What is given back is used again only when it was the last that was
//! handed out; when the piece is used up, or something large is asked for, the system's own allocator serves,
//! so a process that lives long (`watch`) has this much less and nothing else. Absent on purpose: growing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What opening a store of some hundred bands takes in all.
const BYTES: usize = 1 << 20;
/// Larger ones have pages of their own from the system, which it can also take back.
const LARGE: usize = 64 << 10;
const ALIGN: usize = 64;

#[repr(align(64))]
struct Piece(UnsafeCell<[u8; BYTES]>);

/// The allocator.
pub(crate) struct Arena {
    piece: Piece,
    used: AtomicUsize,
}

// SAFETY: the piece is only reached through pointers that were handed out, each to bytes that nobody else
// has: `used` moves over them in one atomic step.
unsafe impl Sync for Arena {}

impl Arena {
    #[allow(
        clippy::large_stack_arrays,
        reason = "it is of the program, not of the stack: only statics are made"
    )]
    pub(crate) const fn new() -> Self {
        Self { piece: Piece(UnsafeCell::new([0; BYTES])), used: AtomicUsize::new(0) }
    }

    fn begin(&self) -> *mut u8 {
        self.piece.0.get().cast()
    }

    /// Where in the piece it lies, if it does.
    fn place(&self, pointer: *mut u8) -> Option<usize> {
        let place = pointer.addr().wrapping_sub(self.begin().addr());
        (place < BYTES).then_some(place)
    }

    /// The next bytes of the piece; nothing when it has no more.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > LARGE || layout.align() > ALIGN {
            return None;
        }
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let begin = used.next_multiple_of(layout.align());
            let end = begin + layout.size();
            if end > BYTES {
                return None;
            }
            match self.used.compare_exchange_weak(used, end, Ordering::AcqRel, Ordering::Relaxed) {
                // SAFETY: `begin` is within the piece, by the test above.
                Ok(_) => return Some(unsafe { self.begin().add(begin) }),
                Err(now) => used = now,
            }
        }
    }

    /// The last that was handed out ends elsewhere now; false when it is not the last, or has no room.
    fn end_at(&self, place: usize, size: usize, new_size: usize) -> bool {
        let new = place + new_size;
        new <= BYTES
            && self.used.compare_exchange(place + size, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: `take` hands out bytes of the layout's size and alignment, which nobody else has until they are
// given back; everything else is the system's allocator, asked for exactly what it handed out.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of this method.
        self.take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(pointer) => {
                // SAFETY: just handed out, of that size. It may have been used before.
                unsafe { pointer.write_bytes(0, layout.size()) };
                pointer
            }
            // SAFETY: the caller's promises are those of this method.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match self.place(pointer) {
            Some(place) => {
                self.end_at(place, layout.size(), 0);
            }
            // SAFETY: it is not of the piece, so the system handed it out, with this layout.
            None => unsafe { System.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(place) = self.place(pointer) else {
            // SAFETY: it is not of the piece, so the system handed it out, with this layout.
            return unsafe { System.realloc(pointer, layout, new_size) };
        };
        if new_size <= layout.size() || (new_size <= LARGE && self.end_at(place, layout.size(), new_size)) {
            return pointer;
        }
        // SAFETY: the caller's promise: the size is not 0 and does not overflow with this alignment.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both have so many bytes, and they are not the same ones.
            unsafe { new.copy_from_nonoverlapping(pointer, layout.size()) };
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a power of two")
    }

    /// Takes, grows, shrinks and gives back, and looks whether what is held is as it was left.
    fn use_it(arena: &Arena, seed: usize, turns: usize) {
        let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
        let mut random = seed;
        let mut below = |end: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % end
        };
        for turn in 0..turns {
            let fill = (turn % 251).to_le_bytes()[0];
            if held.len() < 40 && below(3) > 0 {
                let asked = layout(1 + below(3000), 1 << below(8));
                let zeroed = below(2) == 0;
                // SAFETY: the size is not 0.
                let got = unsafe { if zeroed { arena.alloc_zeroed(asked) } else { arena.alloc(asked) } };
                assert!(!got.is_null() && got.addr() % asked.align() == 0);
                // SAFETY: it has so many bytes, and they are read only where they are zeroed.
                assert!(!zeroed || unsafe { bytes(got, asked.size()) }.iter().all(|byte| *byte == 0));
                // SAFETY: as before.
                unsafe { got.write_bytes(fill, asked.size()) };
                held.push((got, asked, fill));
            } else if !held.is_empty() {
                let (got, had, was) = held.swap_remove(below(held.len()));
                // SAFETY: it is held, and was filled.
                assert!(unsafe { bytes(got, had.size()) }.iter().all(|byte| *byte == was));
                let size = 1 + below(6000);
                if below(2) == 0 {
                    // SAFETY: it is held, with this layout, and nobody uses it any more.
                    unsafe { arena.dealloc(got, had) };
                    continue;
                }
                // SAFETY: likewise; the size is not 0.
                let got = unsafe { arena.realloc(got, had, size) };
                // SAFETY: so much of it was kept.
                assert!(unsafe { bytes(got, size.min(had.size())) }.iter().all(|byte| *byte == was));
                // SAFETY: it has so many bytes.
                unsafe { got.write_bytes(fill, size) };
                held.push((got, layout(size, had.align()), fill));
            }
        }
        for (got, had, was) in held {
            // SAFETY: as above.
            assert!(unsafe { bytes(got, had.size()) }.iter().all(|byte| *byte == was));
            // SAFETY: as above.
            unsafe { arena.dealloc(got, had) };
        }
    }

    unsafe fn bytes<'a>(from: *mut u8, count: usize) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(from, count) }
    }

    #[test]
    fn no_byte_is_in_two_hands_also_when_the_piece_is_used_up() {
        static ARENA: Arena = Arena::new();
        for seed in 0..4 {
            use_it(&ARENA, seed, 3000);
        }
        assert!(ARENA.used.load(Ordering::Relaxed) > BYTES - 6000, "it was used up");
    }

    #[test]
    fn threads_share_it() {
        static ARENA: Arena = Arena::new();
        std::thread::scope(|scope| {
            for seed in 10..14 {
                scope.spawn(move || use_it(&ARENA, seed, 1500));
            }
        });
    }

    #[test]
    fn the_last_grows_in_place_and_goes_and_what_is_large_is_the_systems() {
        static ARENA: Arena = Arena::new();
        let (small, large) = (layout(100, 8), layout(LARGE + 1, 8));
        // SAFETY: sizes are not 0, layouts are those of the time, nothing is used after it was given back.
        unsafe {
            let first = ARENA.alloc(small);
            assert_eq!(ARENA.realloc(first, small, 5000), first);
            assert_eq!(ARENA.used.load(Ordering::Relaxed), 5000);
            let beside = ARENA.alloc(large);
            assert!(ARENA.place(beside).is_none() && ARENA.place(first) == Some(0));
            ARENA.dealloc(beside, large);
            ARENA.dealloc(first, layout(5000, 8));
            assert_eq!(ARENA.used.load(Ordering::Relaxed), 0, "it was the last");
        }
    }
}
