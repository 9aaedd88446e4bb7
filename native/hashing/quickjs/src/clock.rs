//! The CPU time of one thread: what the JS thread pays for a piece, waiting not counted.

use paceline_hashing_jni_guard::Refusal;

const NS_PER_S: i64 = 1_000_000_000;

/// `CLOCK_THREAD_CPUTIME_ID` of the calling thread, in nanoseconds.
pub(crate) fn thread_cpu_ns() -> Result<i64, Refusal> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec the call may write.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        let error = std::io::Error::last_os_error();
        return Err(Refusal::State(format!("the thread's CPU time cannot be read: {error}")));
    }
    Ok(time.tv_sec * NS_PER_S + time.tv_nsec)
}
