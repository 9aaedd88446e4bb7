//! The harness's only clock, with its measured resolution and cost.
//!
//! [`Instant`] is the platform's monotonic clock (`clock_gettime(CLOCK_MONOTONIC)` on Linux,
//! `mach_absolute_time` on macOS, `QueryPerformanceCounter` on Windows). Its step and its price
//! differ by machine, so both are measured.

use std::time::{Duration, Instant};

use crate::fence::keep;
use crate::sampler::{RawSample, Sample};

/// Number of reads to find the smallest step; even a 10 ms clock steps once or twice in them.
const STEP_READS: u32 = 100_000;
/// Longest search for steps: on a coarse clock, one step is enough.
const STEP_SEARCH: Duration = Duration::from_millis(50);
const OVERHEAD_READS: u32 = 10_000;
const OVERHEAD_BATCHES: usize = 5;

/// A monotonic clock with its measured properties.
#[derive(Clone, Debug)]
pub struct Clock {
    origin: Instant,
    resolution_ns: u64,
    overhead_ns: u64,
}

impl Clock {
    /// Measures this machine's clock; takes some milliseconds.
    #[must_use]
    pub fn measure() -> Self {
        let origin = Instant::now();
        // The fastest batch, because an interruption can only make a batch slower.
        let batches = (0..OVERHEAD_BATCHES).map(|_| mean_read_ns());
        let overhead_ns = batches.min().unwrap_or(0);
        Self {
            origin,
            resolution_ns: smallest_step_ns(),
            overhead_ns,
        }
    }

    /// The name in `start.clock`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        "std::time::Instant"
    }

    /// Smallest difference between two reads that is not zero.
    #[must_use]
    pub fn resolution_ns(&self) -> u64 {
        self.resolution_ns
    }

    /// The cost of one read.
    #[must_use]
    pub fn overhead_ns(&self) -> u64 {
        self.overhead_ns
    }

    /// Turns raw clock reads into a sample on this clock's time line, which begins at
    /// [`Clock::measure`].
    #[must_use]
    pub fn process(&self, raw: RawSample) -> Sample {
        let here = || nanoseconds(raw.end.saturating_duration_since(raw.begin));
        Sample {
            total_ns: raw.elsewhere_ns.unwrap_or_else(here),
            end_ns: nanoseconds(raw.end.saturating_duration_since(self.origin)),
        }
    }
}

/// Converts to nanoseconds; durations beyond 584 years are cut.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn smallest_step_ns() -> u64 {
    let begin = Instant::now();
    let mut smallest = Duration::from_secs(1);
    let mut last = begin;
    for _ in 0..STEP_READS {
        let now = Instant::now();
        let step = now.saturating_duration_since(last);
        if !step.is_zero() {
            smallest = smallest.min(step);
            if now.saturating_duration_since(begin) > STEP_SEARCH {
                break;
            }
        }
        last = now;
    }
    nanoseconds(smallest)
}

fn mean_read_ns() -> u64 {
    let begin = Instant::now();
    for _ in 0..OVERHEAD_READS {
        keep(Instant::now());
    }
    nanoseconds(begin.elapsed()) / u64::from(OVERHEAD_READS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolution_is_at_least_one_nanosecond_and_finer_than_a_sample() {
        let clock = Clock::measure();
        assert!(clock.resolution_ns() >= 1);
        assert!(
            clock.resolution_ns() < 1_000_000_000,
            "the clock never moved"
        );
    }

    #[test]
    fn later_samples_have_later_ends() {
        let clock = Clock::measure();
        let begin = Instant::now();
        let end = begin + Duration::from_nanos(1500);
        let sample = clock.process(RawSample {
            begin,
            end,
            elsewhere_ns: None,
        });
        assert_eq!(sample.total_ns, 1500);
        let end = end + Duration::from_nanos(7);
        let later = clock.process(RawSample {
            begin,
            end,
            elsewhere_ns: Some(9),
        });
        assert_eq!(
            (later.total_ns, later.end_ns - sample.end_ns),
            (9, 7),
            "measured there, ended here"
        );
    }
}
