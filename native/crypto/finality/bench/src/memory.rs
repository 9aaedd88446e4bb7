//! Memory of this program: large pieces in huge pages, whoever asks for them.
//!
//! Our graph asks the system for huge pages by itself (`paceline-finality`, `pages.rs`). With pages of 4 KiB the
//! maps beside it would pay a page walk for each look beyond the caches, and the comparison would be one of pages.

use std::alloc::{GlobalAlloc, Layout, System};

/// Transparent huge pages of x86-64 and, with 4 KiB pages, of `AArch64`.
const HUGE_BYTES: usize = 2 << 20;

#[global_allocator]
static MEMORY: InHugePages = InHugePages;

/// The system's allocator, which is told of pieces of two huge pages and more.
struct InHugePages;

// SAFETY: the system's allocator does all of it; advice changes no content and no address.
unsafe impl GlobalAlloc for InHugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise, here and below.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(memory, layout, bytes) }, bytes)
    }
}

/// Whole huge pages within the piece only: what else lies at its ends is not of it.
fn advised(memory: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if !memory.is_null() && bytes >= 2 * HUGE_BYTES {
        let before = memory.align_offset(HUGE_BYTES);
        let whole = bytes.saturating_sub(before) / HUGE_BYTES * HUGE_BYTES;
        if whole > 0 {
            // SAFETY: `before + whole` ≤ `bytes`, so the range lies in one piece of memory, and this advice
            // changes no content. A refusal (an old kernel, a setting) is no error.
            unsafe { libc::madvise(memory.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }
    memory
}
