//! Reads the CPU time of one thread, which excludes waiting; the JS thread is measured by it.

use std::io;

const NS_PER_S: i64 = 1_000_000_000;

/// Returns the `CLOCK_THREAD_CPUTIME_ID` of the calling thread, in nanoseconds.
///
/// # Errors
/// Fails when the operating system does not tell the time.
pub fn thread_cpu_ns() -> io::Result<i64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a timespec the call may write.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec * NS_PER_S + time.tv_nsec)
}
