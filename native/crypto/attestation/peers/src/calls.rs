//! The peers' functions with C's calling convention, because Rust has none that is stable between
//! two builds.
//!
//! A pointer is followed only as its function's safety section says. `extern "C"` aborts on panic.

use std::slice;

use crate::{KEY_BYTES, Peers, SIGNATURE_BYTES, vectors};

/// [`vectors`] as a number.
// SAFETY (of the name, here and below): the prefix is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_peers_vectors() -> i32 {
    vectors() as i32
}

/// [`Peers::new`] for `count` messages of `bytes` bytes each; null where it gives none.
///
/// # Safety
/// `keys`, `signatures` and `messages` are `count` × 32, 64 and `bytes` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_new(
    count: usize,
    keys: *const u8,
    signatures: *const u8,
    messages: *const u8,
    bytes: usize,
) -> *mut Peers {
    // SAFETY: the caller's promise; arrays of bytes have no alignment.
    let (keys, signatures, messages) = unsafe {
        (
            slice::from_raw_parts(keys.cast::<[u8; KEY_BYTES]>(), count),
            slice::from_raw_parts(signatures.cast::<[u8; SIGNATURE_BYTES]>(), count),
            slice::from_raw_parts(messages, count * bytes),
        )
    };
    let messages = (0..count)
        .map(|number| messages[number * bytes..][..bytes].to_vec())
        .collect();
    Peers::new(keys, signatures, messages)
        .map_or(std::ptr::null_mut(), |peers| Box::into_raw(Box::new(peers)))
}

/// Frees what [`paceline_peers_new`] gave.
///
/// # Safety
/// It did, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_free(peers: *mut Peers) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(peers) });
}

/// [`Peers::dalek_verify`]: 1 or 0.
///
/// # Safety
/// [`paceline_peers_new`] gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_dalek_verify(peers: *const Peers) -> i32 {
    // SAFETY: the caller's promise.
    i32::from(unsafe { &*peers }.dalek_verify())
}

/// [`Peers::zebra_verify`]: 1 or 0.
///
/// # Safety
/// [`paceline_peers_new`] gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_zebra_verify(peers: *const Peers) -> i32 {
    // SAFETY: the caller's promise.
    i32::from(unsafe { &*peers }.zebra_verify())
}

/// [`Peers::dalek_batch`]: 1 or 0.
///
/// # Safety
/// [`paceline_peers_new`] gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_dalek_batch(peers: *const Peers) -> i32 {
    // SAFETY: the caller's promise.
    i32::from(unsafe { &*peers }.dalek_batch())
}

/// [`Peers::zebra_batch`]: 1 or 0.
///
/// # Safety
/// [`paceline_peers_new`] gave it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_peers_zebra_batch(peers: *const Peers) -> i32 {
    // SAFETY: the caller's promise.
    i32::from(unsafe { &*peers }.zebra_batch())
}
