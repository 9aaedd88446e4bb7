//! Memory for large tables, in huge pages where the system gives them.
//!
//! A table is read at random places; with pages of 4 KiB each read is a page walk besides a cache
//! miss. This only advises and never changes contents: where it is refused, the memory works as
//! well. The `unsafe` is a system call about our own memory.

/// Transparent huge pages of x86-64 and, with 4 KiB pages, of `AArch64`.
const HUGE_BYTES: usize = 2 << 20;

/// Room for `count` values, none of it touched yet.
pub(crate) fn room_for<T>(count: usize) -> Vec<T> {
    let mut room: Vec<T> = Vec::with_capacity(count);
    let bytes = room.capacity() * size_of::<T>();
    if bytes >= 2 * HUGE_BYTES {
        advise(room.as_mut_ptr().cast::<u8>(), bytes);
    }
    room
}

/// Whole huge pages within the memory only: what else lies at its ends is not ours.
#[cfg(all(target_os = "linux", not(miri)))]
#[allow(unsafe_code, reason = "a system call about memory we own")]
fn advise(memory: *mut u8, bytes: usize) {
    let before = memory.align_offset(HUGE_BYTES);
    let whole = bytes.saturating_sub(before) / HUGE_BYTES * HUGE_BYTES;
    if whole > 0 {
        // SAFETY: `before + whole` ≤ `bytes`, so the range lies in one allocation that is ours, and this
        // advice changes no content. A refusal (an old kernel, a setting) is no error.
        unsafe { libc::madvise(memory.add(before).cast(), whole, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: *mut u8, _: usize) {}
