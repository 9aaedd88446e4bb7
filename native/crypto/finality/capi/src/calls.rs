//! The functions of the header, in its order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use paceline_finality::{BlockGraph, BlockId, PARENTS_MAX};

use crate::status::Status;

/// Bytes of an id.
const ID_BYTES: usize = 32;

/// Runs a call; a panic becomes a status. A graph whose change panicked refuses further ones by itself, so
/// what is seen after an unwind is what the graph shows on purpose.
fn guarded(call: impl FnOnce() -> Result<(), Status>) -> i32 {
    let done = catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Status::Panicked));
    done.err().unwrap_or(Status::Ok) as i32
}

/// # Safety
/// `graph` is null or a handle that was not freed.
#[inline]
unsafe fn graph_at<'a>(graph: *const BlockGraph) -> Result<&'a BlockGraph, Status> {
    // SAFETY: the caller's promise; `paceline_graph_new` and `_restore` gave an aligned, whole graph.
    unsafe { graph.as_ref() }.ok_or(Status::Argument)
}

/// # Safety
/// `id` is null or 32 readable bytes.
#[inline]
unsafe fn id_at<'a>(id: *const u8) -> Result<&'a BlockId, Status> {
    // SAFETY: the caller's promise; a BlockId is 32 bytes without alignment or invalid values.
    unsafe { id.cast::<BlockId>().as_ref() }.ok_or(Status::Argument)
}

/// Writes to a place a caller may leave out.
///
/// # Safety
/// `place` is null or writable.
unsafe fn tell<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise; unaligned, because C code may have packed what holds it.
        unsafe { place.write_unaligned(value) };
    }
}

/// A new graph, or null when `genesis` is null or something panicked.
///
/// # Safety
/// `genesis` is null or 32 readable bytes.
// SAFETY (of the name, here and below): the prefix is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_new(genesis: *const u8, threshold: u64) -> *mut BlockGraph {
    // SAFETY: the caller's promise.
    let Ok(genesis) = (unsafe { id_at(genesis) }) else {
        return std::ptr::null_mut();
    };
    let new = catch_unwind(|| Box::into_raw(Box::new(BlockGraph::new(*genesis, threshold))));
    new.unwrap_or(std::ptr::null_mut())
}

/// Frees a graph; null is nothing.
///
/// # Safety
/// `graph` is null or a handle that was not freed and that no thread uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_free(graph: *mut BlockGraph) {
    if !graph.is_null() {
        // SAFETY: the caller's promise; it came out of a box. A drop that panics leaks what is left.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(graph) })));
    }
}

/// 1: the block is final; 0: it is not; `PACELINE_ARGUMENT`. Never waits.
///
/// # Safety
/// `graph` is null or a handle that was not freed, `id` null or 32 readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_is_final(graph: *const BlockGraph, id: *const u8) -> i32 {
    // SAFETY: the caller's promise.
    let (Ok(graph), Ok(id)) = (unsafe { (graph_at(graph), id_at(id)) }) else {
        return Status::Argument as i32;
    };
    // `extern "C"` aborts where a panic would leave; nothing in a check panics, and here that is an end
    // rather than an answer.
    i32::from(graph.is_final(id))
}

/// The empty call: the same arguments, nothing done, always 0. What a call costs by itself.
///
/// # Safety
/// None; nothing is followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_nothing(_graph: *const BlockGraph, _id: *const u8) -> i32 {
    0
}

/// Adds a block with `count` parents, one after the other; its height goes to `height` unless that is null.
///
/// # Safety
/// As [`paceline_graph_is_final`]; `parents` is null or 32 × `count` readable bytes, `height` null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_insert(
    graph: *const BlockGraph,
    id: *const u8,
    parents: *const u8,
    count: usize,
    height: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (graph, id) = unsafe { (graph_at(graph)?, id_at(id)?) };
        if count == 0 || count > PARENTS_MAX {
            return Err(Status::Parents);
        }
        if parents.is_null() {
            return Err(Status::Argument);
        }
        // SAFETY: the caller's promise; ids have no alignment, and 16 of them no size that overflows.
        let parents = unsafe { slice::from_raw_parts(parents.cast::<BlockId>(), count) };
        let new = graph.insert(*id, parents)?;
        // SAFETY: the caller's promise.
        unsafe { tell(height, new) };
        Ok(())
    })
}

/// Adds weight to a block; its weight afterwards goes to `sum` unless that is null.
///
/// # Safety
/// As [`paceline_graph_is_final`]; `sum` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_attest(
    graph: *const BlockGraph,
    id: *const u8,
    weight: u64,
    sum: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (graph, id) = unsafe { (graph_at(graph)?, id_at(id)?) };
        let now = graph.attest(id, weight)?;
        // SAFETY: the caller's promise.
        unsafe { tell(sum, now) };
        Ok(())
    })
}

/// Makes a block final; how many blocks became so and how many were abandoned, unless the places are null.
///
/// # Safety
/// As [`paceline_graph_is_final`]; `finalised` and `abandoned` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_finalise(
    graph: *const BlockGraph,
    id: *const u8,
    finalised: *mut u64,
    abandoned: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (graph, id) = unsafe { (graph_at(graph)?, id_at(id)?) };
        let done = graph.finalise(id)?;
        // SAFETY: the caller's promise.
        unsafe {
            tell(finalised, done.finalised as u64);
            tell(abandoned, done.abandoned as u64);
        }
        Ok(())
    })
}

/// Forgets final blocks lower than `below`; how many goes to `forgotten` unless that is null.
///
/// # Safety
/// `graph` is null or a handle that was not freed, `forgotten` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_prune(
    graph: *const BlockGraph,
    below: u64,
    forgotten: *mut u64,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let count = unsafe { graph_at(graph)? }.prune(below)?;
        // SAFETY: the caller's promise.
        unsafe { tell(forgotten, count as u64) };
        Ok(())
    })
}

/// Copies a snapshot to `buffer` and its size to `size`; `PACELINE_TOO_SMALL` writes the size alone.
///
/// # Safety
/// `graph` is null or a handle that was not freed, `buffer` null or `capacity` writable bytes, `size` null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_snapshot(
    graph: *const BlockGraph,
    buffer: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { graph_at(graph)? }.snapshot()?;
        // SAFETY: the caller's promise.
        unsafe { tell(size, bytes.len()) };
        if buffer.is_null() || bytes.len() > capacity {
            return Err(Status::TooSmall);
        }
        // SAFETY: the caller's promise; `bytes` is ours, and so cannot overlap.
        unsafe { buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    })
}

/// Reads any bytes as a snapshot; a new graph goes to `graph`, null where they are none.
///
/// # Safety
/// `bytes` is null or `size` readable bytes, `graph` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_graph_restore(
    bytes: *const u8,
    size: usize,
    graph: *mut *mut BlockGraph,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { tell(graph, std::ptr::null_mut()) };
        if bytes.is_null() || graph.is_null() || isize::try_from(size).is_err() {
            return Err(Status::Argument);
        }
        // SAFETY: the caller's promise, and no object is larger than isize::MAX.
        let restored = BlockGraph::restore(unsafe { slice::from_raw_parts(bytes, size) })?;
        // SAFETY: the caller's promise.
        unsafe { tell(graph, Box::into_raw(Box::new(restored))) };
        Ok(())
    })
}

const _: () = assert!(size_of::<BlockId>() == ID_BYTES && align_of::<BlockId>() == 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_as_a_status_and_not_in_the_caller() {
        let before = guarded(|| Err(Status::Unknown));
        let status = guarded(|| panic!("on purpose: what a bug in the graph would do"));
        assert_eq!(
            (before, status),
            (Status::Unknown as i32, Status::Panicked as i32)
        );
        assert_eq!(
            guarded(|| Ok(())),
            0,
            "the next call is a call like any other"
        );
    }
}
