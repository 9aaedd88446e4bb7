//! One launch, from its start to the terminal event.
//!
//! ```text
//! parse ─▶ start ─▶ open ─▶ checks ─▶ for each group: prepare ─▶ verify ─▶ calibrate
//!    ─▶ warm-up rounds ─▶ measured rounds ─▶ verify ─▶ done
//! ```
//! `start` is the first event and exactly one terminal event is the last, whatever fails. Output is
//! written only between rounds (I3).

use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::clock::Clock;
use crate::emit::{Emitter, metrics_json, params_json};
use crate::event::{Direction, Event, LARGEST, Metric, Phase, Unit, VALUES_MAX};
use crate::options::Options;
use crate::order::{self, Order};
use crate::sampler::{Sample, Sampler};
use crate::selection::{Group, SLOWDOWN, Selection};
use crate::workload::{Account, Arm, Benchmark, Context, Failure, Prepared, Reading, Workload};

/// The metric that the sampler measures.
const TIME: &str = "time";
/// The variable whose value is the padding of a launch.
const LAYOUT: &str = "PACELINE_LAYOUT";

/// The reason why a launch stopped early.
enum Stop {
    Failure(Failure),
    Io(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs a command line and writes to `out`. The exit status is 0 with `done` or after a list, 1
/// with `error` or when `out` is closed.
pub fn run(workload: &Workload, args: &[String], out: impl Write) -> ExitCode {
    // A copy of the padding moves what is allocated later, as the padding itself moves the stack.
    let _padding = black_box(std::env::var_os(LAYOUT)); // else the compiler may leave it out
    let clock = Clock::measure();
    let mut emitter = Emitter::new(out);
    let mut options = Options::default();
    let mut started = false;
    let stop = match launch(
        workload,
        args,
        &clock,
        &mut emitter,
        &mut options,
        &mut started,
    ) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(stop) => stop,
    };
    let written = match stop {
        Stop::Failure(failure) => {
            if !started {
                emitter.push(&start(workload, &options, &clock, Vec::new()));
            }
            emitter.push(&Event::Error {
                code: failure.code,
                text: failure.text,
            });
            emitter.flush()
        }
        Stop::Io(error) => Err(error),
    };
    if let Err(error) = written {
        // The stream has no reader any more; stderr may still have one.
        let _ = writeln!(io::stderr(), "The bench stream cannot be written: {error}");
    }
    ExitCode::FAILURE
}

fn launch<W: Write>(
    workload: &Workload,
    args: &[String],
    clock: &Clock,
    emitter: &mut Emitter<W>,
    options: &mut Options,
    started: &mut bool,
) -> Result<(), Stop> {
    *options = Options::parse(args)?;
    let selection = Selection::new(workload, options)?;
    if options.list {
        emitter.line(&list(workload, &selection));
        return Ok(emitter.flush()?);
    }
    let mut facts = (workload.open)()?;
    let knobs = workload.knobs.iter().zip(&selection.knobs);
    let changed = knobs.filter(|(knob, (_, value))| *value != knob.default);
    // Knobs that differ from their default are facts of the build.
    facts.extend(
        changed.map(|(knob, (_, value))| (format!("knob.{}", knob.name), value.to_string())),
    );
    facts.extend(
        selection
            .slowdowns
            .iter()
            .map(|(arm, percent)| (format!("knob.{arm}{SLOWDOWN}"), percent.to_string())),
    );
    emitter.push(&start(workload, options, clock, facts));
    *started = true;
    let rounds = options.warmup() + options.rounds;
    let total = rounds * selection.groups.len() as u64;
    let mut launch = Launch {
        workload,
        options,
        clock,
        emitter,
        done: 0,
        total,
        next_case: 0,
    };
    launch.open(&selection)?;
    for group in &selection.groups {
        launch.measure(group, &selection)?;
    }
    emitter.push(&Event::Done);
    Ok(emitter.flush()?)
}

fn start(
    workload: &Workload,
    options: &Options,
    clock: &Clock,
    build: Vec<(String, String)>,
) -> Event {
    Event::Start {
        suite: workload.suite.clone(),
        workload: workload.name.clone(),
        launch: options.launch,
        seed: options.seed,
        build,
        clock_name: clock.name().to_owned(),
        resolution_ns: clock.resolution_ns(),
        overhead_ns: clock.overhead_ns(),
    }
}

fn list(workload: &Workload, selection: &Selection<'_>) -> serde_json::Value {
    let cases: Vec<_> = selection
        .groups
        .iter()
        .flat_map(|group| {
            group
                .arms
                .iter()
                .map(move |arm| (group, &group.benchmark.arms[*arm]))
        })
        .map(|(group, arm)| {
            json!({
                "benchmark": group.benchmark.name, "arm": arm, "params": params_json(&group.params),
                "metrics": metrics_json(&metrics(group.benchmark)),
            })
        })
        .collect();
    json!({"suite": workload.suite, "workload": workload.name, "cases": cases})
}

/// `time`, which the sampler measures, and the metrics that the benchmark declares.
fn metrics(benchmark: &Benchmark) -> Vec<Metric> {
    let time = Metric {
        name: TIME.to_owned(),
        unit: Unit::Nanoseconds,
        direction: Direction::Lower,
    };
    [&[time], benchmark.metrics.as_slice()].concat()
}

/// The phase and number of a round.
#[derive(Clone, Copy)]
struct Round {
    number: u64,
    phase: Phase,
    iterations: u64,
}

struct Launch<'a, W: Write> {
    workload: &'a Workload,
    options: &'a Options,
    clock: &'a Clock,
    emitter: &'a mut Emitter<W>,
    done: u64,
    total: u64,
    next_case: u64,
}

impl<W: Write> Launch<'_, W> {
    /// Emits everything before the first group.
    fn open(&mut self, selection: &Selection<'_>) -> io::Result<()> {
        for (knob, (_, value)) in self.workload.knobs.iter().zip(&selection.knobs) {
            if knob.demonstration && *value != knob.default {
                let text = format!("{} = {value}: {}", knob.name, knob.what);
                self.emitter.push(&Event::Warning {
                    code: "demonstration".to_owned(),
                    text,
                });
            }
        }
        for (arm, percent) in &selection.slowdowns {
            let text = format!(
                "{arm}{SLOWDOWN} = {percent}: samples of {arm} are lengthened by this share. \
                 Its times are not those of its code."
            );
            self.emitter.push(&Event::Warning {
                code: "demonstration".to_owned(),
                text,
            });
        }
        for check in (self.workload.checks)() {
            self.emitter.push(&Event::Check(check));
        }
        self.emitter.flush()
    }

    fn measure(&mut self, group: &Group<'_>, selection: &Selection<'_>) -> Result<(), Stop> {
        let Options {
            seed,
            launch,
            rounds,
            ..
        } = *self.options;
        let context = Context {
            params: &group.params,
            knobs: &selection.knobs,
            seed,
            launch,
            rounds,
        };
        let mut prepared = (group.benchmark.prepare)(&context)?;
        for (name, percent) in &selection.slowdowns {
            for arm in prepared.arms.iter_mut().filter(|arm| arm.name() == name) {
                arm.slow_down(*percent);
            }
        }
        let cases: Vec<u64> = group
            .arms
            .iter()
            .map(|arm| self.announce(group, *arm, &prepared))
            .collect();
        self.verify(&mut prepared)?;
        let chosen = prepared
            .arms
            .iter_mut()
            .enumerate()
            .filter(|(i, _)| group.arms.contains(i));
        let runnable = chosen
            .zip(cases)
            .filter(|((_, arm), _)| arm.why_unavailable().is_none());
        let (arms, cases): (Vec<&mut Arm>, Vec<u64>) =
            runnable.map(|((_, arm), case)| (arm, case)).unzip();
        if !arms.is_empty() {
            let sampler = Sampler::new(self.clock, arms, self.options.min_time_ns);
            self.rounds(group, sampler, &cases)?;
        }
        self.verify(&mut prepared)?;
        Ok(())
    }

    /// Warm-up, then measured rounds of the arms that can run here; `cases[arm]` is an arm's case.
    fn rounds(
        &mut self,
        group: &Group<'_>,
        mut sampler: Sampler<'_>,
        cases: &[u64],
    ) -> Result<(), Stop> {
        let iterations = sampler.calibrate()?;
        let warmup = self.options.warmup();
        let mut short = 0;
        let mut last = Vec::new();
        for (phase, numbers) in [
            (Phase::Warmup, 0..warmup),
            (Phase::Measure, warmup..warmup + self.options.rounds),
        ] {
            let key = order::key(phase, &group.benchmark.name, &group.params);
            let mut orders = Order::new(self.options.seed, &key, cases.len());
            for number in numbers {
                let order = orders.next_round();
                let block = sampler.round(&order, iterations)?;
                let accounts = sampler.accounts(&order);
                let cases: Vec<u64> = order.iter().map(|arm| cases[*arm]).collect();
                self.emit(
                    &cases,
                    &block,
                    &accounts,
                    Round {
                        number,
                        phase,
                        iterations,
                    },
                )?;
                last = block
                    .iter()
                    .map(|sample| sample.end_ns)
                    .zip(order)
                    .collect();
                let too_short = block
                    .iter()
                    .filter(|sample| sample.total_ns < sampler.required_ns())
                    .count();
                short += if phase == Phase::Measure {
                    too_short
                } else {
                    0
                };
            }
        }
        self.emit_once(&mut sampler, cases, &last)?;
        if short > 0 {
            self.warn_of_short_samples(group, short, sampler.required_ns());
        }
        Ok(())
    }

    fn announce(&mut self, group: &Group<'_>, arm: usize, prepared: &Prepared) -> u64 {
        let case = self.next_case;
        self.next_case += 1;
        let arm = &prepared.arms[arm];
        self.emitter.push(&Event::Case {
            case,
            benchmark: group.benchmark.name.clone(),
            arm: arm.name().to_owned(),
            params: group.params.clone(),
            metrics: metrics(group.benchmark),
            items_per_iteration: prepared.items_per_iteration,
            bytes_per_iteration: prepared.bytes_per_iteration,
            unavailable: arm.why_unavailable().map(str::to_owned),
        });
        case
    }

    fn verify(&mut self, prepared: &mut Prepared) -> io::Result<()> {
        for check in (prepared.verify)() {
            self.emitter.push(&Event::Check(check));
        }
        self.emitter.flush()
    }

    /// `cases[position]` is the case that ran at that position.
    fn emit(
        &mut self,
        cases: &[u64],
        samples: &[Sample],
        accounts: &[Account],
        round: Round,
    ) -> io::Result<()> {
        for (position, ((case, sample), account)) in
            cases.iter().zip(samples).zip(accounts).enumerate()
        {
            let event = |metric: &str, iterations: u64, values: Vec<u64>| Event::Samples {
                case: *case,
                metric: metric.to_owned(),
                launch: self.options.launch,
                round: round.number,
                position: position as u64,
                phase: round.phase,
                iterations,
                values: values.into_iter().map(|value| value.min(LARGEST)).collect(),
                t_ns: sample.end_ns,
                work: Vec::new(),
            };
            let mut time = event(TIME, round.iterations, vec![sample.total_ns]);
            if let Event::Samples { work, .. } = &mut time {
                work.clone_from(&account.work); // once per timed region, with its time
            }
            self.emitter.push(&time);
            for (metric, reading) in &account.readings {
                match reading {
                    Reading::Total(total) => {
                        self.emitter
                            .push(&event(metric, round.iterations, vec![*total]));
                    }
                    Reading::Each(values) => {
                        for values in values.chunks(VALUES_MAX) {
                            self.emitter.push(&event(metric, 1, values.to_vec()));
                        }
                    }
                }
            }
        }
        self.done += 1;
        self.emitter.push(&Event::Progress {
            done: self.done,
            total: self.total,
        });
        self.emitter.round_ended()
    }

    /// Emits metrics with one value per launch, as part of its last measured round.
    /// `last[position]` is the time at which an arm ended there, and which arm it was.
    fn emit_once(
        &mut self,
        sampler: &mut Sampler<'_>,
        cases: &[u64],
        last: &[(u64, usize)],
    ) -> Result<(), Stop> {
        let values = sampler.once()?;
        let round = (self.options.warmup() + self.options.rounds).saturating_sub(1);
        for (position, (t_ns, arm)) in last.iter().enumerate() {
            for (metric, value) in &values[*arm] {
                self.emitter.push(&Event::Samples {
                    case: cases[*arm],
                    metric: metric.clone(),
                    launch: self.options.launch,
                    round,
                    position: position as u64,
                    phase: Phase::Measure,
                    iterations: 1,
                    values: vec![(*value).min(LARGEST)],
                    t_ns: *t_ns,
                    work: Vec::new(),
                });
            }
        }
        Ok(self.emitter.flush()?)
    }

    fn warn_of_short_samples(&mut self, group: &Group<'_>, short: usize, required_ns: u64) {
        let text = format!(
            "{}: {short} measured samples are shorter than {required_ns} ns. \
             Ask for longer ones with --min-time-ns.",
            group.benchmark.name
        );
        self.emitter.push(&Event::Warning {
            code: "few_iterations".to_owned(),
            text,
        });
    }
}
