//! Keeps the compiler from moving or removing timed work.

use std::hint::black_box;
use std::sync::atomic::{Ordering, compiler_fence};

/// Keeps a result alive, because work whose result is unused may be removed.
#[inline]
pub fn keep<T>(result: T) {
    black_box(result);
}

/// Keeps memory accesses on their side of a clock read, which orders nothing by itself.
#[inline]
pub fn full() {
    compiler_fence(Ordering::SeqCst);
}
