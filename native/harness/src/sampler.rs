//! The timed loop: calibration and rounds of one group.
//!
//! All arms of a round run one after the other on this thread with the same loop count. Between the
//! two clock reads of a sample there is only the arm's work. Clock readings ([`RawSample`]) become
//! reported samples ([`Sample`]) only through [`Clock::process`].

use std::time::Instant;

use crate::clock::Clock;
use crate::fence;
use crate::workload::{Account, Arm, Failure};

/// The least length of a sample in clock steps (stats/README.md §1: 0.1 % of quantisation).
const RESOLUTIONS_PER_SAMPLE: u64 = 1000;
/// Calibration takes the fastest of this many samples, because interruptions only make them slower.
const CALIBRATION_SAMPLES: usize = 3;
/// Adds a fifth to the required length, since later samples may be faster than calibration.
const HEADROOM_DIVISOR: u64 = 5;
/// Samples below a tenth of the target are too short to extrapolate from.
const TRUSTED_SHARE: u64 = 10;
const MOST_ITERATIONS: u64 = 1 << 40;

/// Two clock reads around one timed region.
#[derive(Clone, Copy, Debug)]
pub struct RawSample {
    /// Before the work.
    pub begin: Instant,
    /// After it.
    pub end: Instant,
    /// What the process that did the work measured, if it was another one.
    pub elsewhere_ns: Option<u64>,
}

/// A processed sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Duration of all iterations together.
    pub total_ns: u64,
    /// Its end on the workload's time line.
    pub end_ns: u64,
}

/// Runs the arms of one group.
pub struct Sampler<'a> {
    clock: &'a Clock,
    arms: Vec<&'a mut Arm>,
    required_ns: u64,
    raw: Vec<RawSample>,
}

impl<'a> Sampler<'a> {
    /// A sampler for arms that run against each other; `min_time_ns` is the requested length of a
    /// sample.
    #[must_use]
    pub fn new(clock: &'a Clock, arms: Vec<&'a mut Arm>, min_time_ns: u64) -> Self {
        let required_ns = min_time_ns.max(RESOLUTIONS_PER_SAMPLE * clock.resolution_ns());
        let raw = Vec::with_capacity(arms.len());
        Self {
            clock,
            arms,
            required_ns,
            raw,
        }
    }

    /// The required length of a sample.
    #[must_use]
    pub fn required_ns(&self) -> u64 {
        self.required_ns
    }

    /// The loop count, the same for all arms, at which the fastest arm's samples are long enough.
    /// Counters of these runs are dropped.
    ///
    /// Fails when a process that does an arm's work failed, like [`Sampler::round`].
    pub fn calibrate(&mut self) -> Result<u64, Failure> {
        let (clock, target) = (
            self.clock,
            self.required_ns + self.required_ns / HEADROOM_DIVISOR,
        );
        let mut iterations = 1;
        for arm in &mut self.arms {
            iterations = calibrate(clock, arm, target)?.max(iterations);
            arm.account();
        }
        Ok(iterations)
    }

    /// The counters and readings of each arm in the last round, by position. Called after the whole
    /// round, so that no arm runs beside another's bookkeeping.
    pub fn accounts(&mut self, order: &[usize]) -> Vec<Account> {
        order.iter().map(|arm| self.arms[*arm].account()).collect()
    }

    /// Runs one round and returns its samples by position. `order[position]` indexes the arms.
    pub fn round(&mut self, order: &[usize], iterations: u64) -> Result<Vec<Sample>, Failure> {
        self.raw.clear();
        for arm in order {
            let raw = time(self.arms[*arm], iterations)?;
            let raw = lengthen(raw, self.arms[*arm].slowdown_percent());
            self.raw.push(raw); // has room: no allocation between the arms of a round
        }
        Ok(self
            .raw
            .iter()
            .map(|raw| self.clock.process(*raw))
            .collect())
    }

    /// For each arm, the metrics with one value per launch.
    pub fn once(&mut self) -> Result<Vec<Vec<(String, u64)>>, Failure> {
        self.arms.iter_mut().map(|arm| arm.once()).collect()
    }
}

fn calibrate(clock: &Clock, arm: &mut Arm, target_ns: u64) -> Result<u64, Failure> {
    if let Some(fixed) = arm.iterations() {
        return Ok(fixed);
    }
    let mut iterations = 1;
    loop {
        let mut quickest = u64::MAX;
        for _ in 0..CALIBRATION_SAMPLES {
            quickest = quickest.min(clock.process(time(arm, iterations)?).total_ns);
        }
        if quickest >= target_ns || iterations >= MOST_ITERATIONS {
            return Ok(iterations);
        }
        let next = if quickest < target_ns / TRUSTED_SHARE {
            iterations * 2
        } else {
            // In 128 bits: iterations × target may pass 2^64.
            let scaled =
                u128::from(iterations) * u128::from(target_ns) / u128::from(quickest.max(1)) + 1;
            u64::try_from(scaled).unwrap_or(MOST_ITERATIONS)
        };
        iterations = next.min(MOST_ITERATIONS);
    }
}

/// Lengthens a sample by this share, for a demonstration (`--knob ARM_slowdown_percent`). It waits, so that the next
/// arm begins later, too. What another process measured cannot be waited for and is scaled.
fn lengthen(raw: RawSample, percent: u64) -> RawSample {
    if percent == 0 {
        return raw;
    }
    if let Some(ns) = raw.elsewhere_ns {
        let longer = u128::from(ns) * u128::from(100 + percent) / 100;
        return RawSample {
            elsewhere_ns: Some(u64::try_from(longer).unwrap_or(u64::MAX)),
            ..raw
        };
    }
    let extra = u128::from(percent) * (raw.end - raw.begin).as_nanos() / 100;
    let mut end = raw.end;
    while (end - raw.end).as_nanos() < extra {
        std::hint::spin_loop();
        end = Instant::now();
    }
    RawSample { end, ..raw }
}

/// One timed region. It sees the arm and a number, but no emitter and no clock.
fn time(arm: &mut Arm, iterations: u64) -> Result<RawSample, Failure> {
    fence::full(); // what came before stays before the first read
    let begin = Instant::now();
    fence::full(); // the work begins after the first read
    let elsewhere = arm.run(iterations);
    fence::full(); // the work ends before the second read
    let end = Instant::now();
    fence::full(); // what follows stays after the second read
    Ok(RawSample {
        begin,
        end,
        elsewhere_ns: elsewhere?,
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    fn counting(name: &str, work: u64) -> (Arm, Rc<Cell<u64>>) {
        let calls = Rc::new(Cell::new(0));
        let seen = Rc::clone(&calls);
        let arm = Arm::new(name, move || {
            seen.set(seen.get() + 1);
            (0..work).fold(0_u64, |sum, x| std::hint::black_box(sum ^ x))
        });
        (arm, calls)
    }

    #[test]
    fn every_arm_of_a_round_runs_the_same_number_of_iterations() {
        let clock = Clock::measure();
        let ((mut a, in_a), (mut b, in_b)) = (counting("a", 10), counting("b", 1000));
        let mut sampler = Sampler::new(&clock, vec![&mut a, &mut b], 0);
        let block = sampler.round(&[1, 0], 37).expect("work here cannot fail");
        assert_eq!((block.len(), in_a.get(), in_b.get()), (2, 37, 37));
        assert!(block[0].end_ns <= block[1].end_ns, "position 0 ran first");
    }

    #[test]
    fn a_slowed_arm_takes_longer_by_its_share_and_calibration_knows_nothing_of_it() {
        let clock = Clock::measure();
        let (mut arm, calls) = counting("a", 1000);
        arm.slow_down(300);
        let mut sampler = Sampler::new(&clock, vec![&mut arm], 50_000);
        let iterations = sampler.calibrate().expect("work here cannot fail");
        calls.set(0);
        let mut total = || sampler.round(&[0], iterations).expect("works")[0].total_ns;
        let quickest = (0..9).map(|_| total()).min().expect("nine");
        assert_eq!(calls.get(), 9 * iterations, "it works as often as before");
        assert!(quickest >= 150_000, "{quickest} ns for 50,000 ns and 300 %");

        let begin = Instant::now();
        let elsewhere_ns = Some(40);
        let raw = RawSample {
            begin,
            end: begin,
            elsewhere_ns,
        };
        assert_eq!(lengthen(raw, 50).elsewhere_ns, Some(60));
    }

    #[test]
    fn calibration_makes_the_quickest_arm_long_enough() {
        let clock = Clock::measure();
        let ((mut quick, _), (mut slow, _)) = (counting("quick", 10), counting("slow", 10_000));
        let mut sampler = Sampler::new(&clock, vec![&mut quick, &mut slow], 200_000);
        let iterations = sampler.calibrate().expect("work here cannot fail");
        // The median of several: a sample may be interrupted, but none can be faster than the work.
        let mut round = || {
            sampler
                .round(&[0, 1], iterations)
                .expect("work here cannot fail")[0]
                .total_ns
        };
        let mut totals: Vec<u64> = (0..9).map(|_| round()).collect();
        totals.sort_unstable();
        assert!(
            totals[4] >= sampler.required_ns() * 3 / 4,
            "{totals:?} for {iterations} iterations"
        );
    }

    #[test]
    fn a_sample_is_never_shorter_than_a_thousand_clock_steps() {
        let clock = Clock::measure();
        let (mut arm, _) = counting("a", 1);
        assert_eq!(
            Sampler::new(&clock, vec![&mut arm], 0).required_ns(),
            1000 * clock.resolution_ns()
        );
    }
}
