//! Keeps the compiler from moving or removing timed work.

use std::hint::black_box;
use std::sync::atomic::{Ordering, compiler_fence};

/// Keeps a result alive: work whose result is unused is otherwise removed.
#[inline]
pub fn keep<T>(result: T) {
    black_box(result);
}

/// Keeps memory accesses on their side of a clock read: the read itself orders nothing.
#[inline]
pub fn full() {
    compiler_fence(Ordering::SeqCst);
}
