//! Tests, on a file of its own, what a filesystem's timestamps can show.
//!
//! [`super::RealDisk`] runs these tests once per opening or checkpoint. In doubt the answer is no,
//! which costs reading. The filesystem's name is not enough, because mount options and layers above
//! it matter as much.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::mm::{MapFlags, ProtFlags};
use rustix::time::{ClockId, clock_gettime};

use super::unix::stamp_of;

/// Tests something with a file that is removed again.
pub(super) fn tried(dir: &Path, probe: impl FnOnce(&File) -> io::Result<bool>) -> bool {
    let path = dir.join("PROBE");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let answer = file.and_then(|file| probe(&file)).unwrap_or(false);
    let _ = fs::remove_file(&path); // if it cannot be removed, the next probe overwrites it
    answer
}

/// The clock that stamps come from. Where it is not known, a clock that never stands still, so that
/// no stamp seems exact.
#[cfg(any(target_os = "linux", target_os = "android"))]
const STAMPING: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const STAMPING: ClockId = ClockId::Realtime;

fn tick() -> (i64, i64) {
    let now = clock_gettime(STAMPING);
    (now.tv_sec, now.tv_nsec)
}

fn times(file: &File) -> io::Result<(i64, i64)> {
    let stamp = stamp_of(file)?;
    Ok((stamp.modified_ns, stamp.changed_ns))
}

/// Writes and looks in turn within one tick of the stamps' clock: only exact stamps differ each
/// time.
pub(super) fn stamps_are_exact(file: &File) -> io::Result<bool> {
    const LOOKS: usize = 4;
    // A tick may end between two looks, but hardly three times in a row.
    for _ in 0..3 {
        let begin = tick();
        let mut stamps = Vec::with_capacity(LOOKS);
        for _ in 0..LOOKS {
            file.write_all_at(b"p", 0)?;
            stamps.push(times(file)?);
        }
        if tick() == begin {
            return Ok(stamps.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
    Ok(false)
}

/// Stores through a mapping, writes back, and stores to the same page again: does that change the
/// stamp?
pub(super) fn stamps_show_mappings(file: &File) -> io::Result<bool> {
    const BYTES: usize = 4096;
    /// A tick of the slowest clock in use takes 10 ms; without a tick there is no answer.
    const LOOKS: usize = 10_000_000;
    file.write_all_at(&[0; BYTES], 0)?;
    // SAFETY: a new mapping at an address the kernel chooses, of a file that has that many bytes;
    // nobody else knows the file, and nobody cuts it.
    let map = unsafe {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        rustix::mm::mmap(std::ptr::null_mut(), BYTES, protection, flags, file, 0)?
    };
    let store = |value: u8| {
        // SAFETY: within the mapping, which is writable until it is unmapped below; no reference
        // into it is ever made.
        unsafe { map.cast::<u8>().write_volatile(value) };
    };
    let tried = || {
        store(1);
        file.sync_data()?;
        let (before, begin) = (times(file)?, tick());
        let passed = (0..LOOKS).any(|_| tick() != begin);
        store(2);
        Ok(passed && times(file)? != before)
    };
    let answer = tried();
    // SAFETY: mapped above with these bounds, and not used after this.
    unsafe { rustix::mm::munmap(map, BYTES)? };
    answer
}
