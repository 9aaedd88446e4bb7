//! Selects the groups and arms of a workload by the options, and sets its knobs.
//!
//! An unknown name or a value out of range is a usage failure, never an empty selection.

use crate::event::{LARGEST, Params, Value};
use crate::options::{CaseFilter, Options};
use crate::workload::{Allowed, Benchmark, Failure, Param, Workload};

/// What follows the arm's name in the knob that slows it.
pub(crate) const SLOWDOWN: &str = "_slowdown_percent";
const LARGEST_SLOWDOWN_PERCENT: u64 = 2_000;

/// The arms of one (benchmark, params) that run against each other.
pub struct Group<'a> {
    /// The benchmark.
    pub benchmark: &'a Benchmark,
    /// The values of its params.
    pub params: Params,
    /// Indexes of the benchmark's arms, in its order.
    pub arms: Vec<usize>,
}

/// The selection of a command line.
pub struct Selection<'a> {
    /// In the order they run.
    pub groups: Vec<Group<'a>>,
    /// Every knob of the workload.
    pub knobs: Vec<(String, u64)>,
    /// The arms that a demonstration slows, with the share in percent.
    pub slowdowns: Vec<(String, u64)>,
}

impl<'a> Selection<'a> {
    /// Applies options to a workload.
    ///
    /// # Errors
    /// `usage` for an unknown name or value; `no_case` when nothing is selected.
    pub fn new(workload: &'a Workload, options: &Options) -> Result<Self, Failure> {
        check_names(workload, options)?;
        let mut groups = Vec::new();
        for benchmark in &workload.benchmarks {
            if !options.benchmarks.is_empty() && !options.benchmarks.contains(&benchmark.name) {
                continue;
            }
            for params in points(benchmark, options)? {
                let arms = arms(benchmark, &params, options);
                if !arms.is_empty() {
                    groups.push(Group {
                        benchmark,
                        params,
                        arms,
                    });
                }
            }
        }
        if groups.is_empty() {
            return Err(Failure::new(
                "no_case",
                "The filters leave no case. See what there is with --list.",
            ));
        }
        Ok(Self {
            groups,
            knobs: knobs(workload, options)?,
            slowdowns: slowdowns(workload, options),
        })
    }
}

fn arms(benchmark: &Benchmark, params: &Params, options: &Options) -> Vec<usize> {
    let matches = |case: &CaseFilter, arm: &str| {
        let here = |(name, value): &(String, String)| {
            params
                .iter()
                .any(|(known, at)| known == name && at.to_string() == *value)
        };
        case.benchmark == benchmark.name && case.arm == arm && case.params.iter().all(here)
    };
    let wanted = |arm: &String| {
        options.cases.is_empty() || options.cases.iter().any(|case| matches(case, arm))
    };
    (0..benchmark.arms.len())
        .filter(|i| wanted(&benchmark.arms[*i]))
        .collect()
}

/// The cross product of the values of all params; the last param varies fastest.
fn points(benchmark: &Benchmark, options: &Options) -> Result<Vec<Params>, Failure> {
    let mut points = vec![Params::new()];
    for param in &benchmark.params {
        let values = values(benchmark, param, options)?;
        points = points
            .iter()
            .flat_map(|point| {
                values.iter().map(|value| {
                    [point.as_slice(), &[(param.name.clone(), value.clone())]].concat()
                })
            })
            .collect();
    }
    Ok(points)
}

/// `--params` replaces the declared values; `--case` may add others.
fn values(benchmark: &Benchmark, param: &Param, options: &Options) -> Result<Vec<Value>, Failure> {
    let mut values = Vec::new();
    if let Some((_, asked)) = options.params.iter().find(|(name, _)| *name == param.name) {
        for text in asked {
            values.push(value(param, text)?);
        }
    } else {
        values.clone_from(&param.values);
        let cases = options
            .cases
            .iter()
            .filter(|case| case.benchmark == benchmark.name);
        for (_, text) in cases
            .flat_map(|case| &case.params)
            .filter(|(name, _)| *name == param.name)
        {
            values.push(value(param, text)?);
        }
    }
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    Ok(distinct)
}

fn value(param: &Param, text: &str) -> Result<Value, Failure> {
    if let Some(declared) = param.values.iter().find(|value| value.to_string() == text) {
        return Ok(declared.clone());
    }
    let expected = match param.allowed {
        Allowed::Range(minimum, maximum) => {
            let asked = text
                .parse()
                .ok()
                .filter(|asked| (minimum..=maximum.min(LARGEST)).contains(asked));
            match asked {
                Some(asked) if u64::to_string(&asked) == text => return Ok(Value::Int(asked)),
                _ => format!("{minimum} to {maximum}"),
            }
        }
        Allowed::Listed => param
            .values
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    Err(Failure::usage(format!(
        "{}={text}: expected {expected}.",
        param.name
    )))
}

fn check_names(workload: &Workload, options: &Options) -> Result<(), Failure> {
    let names = || {
        workload
            .benchmarks
            .iter()
            .map(|benchmark| benchmark.name.as_str())
    };
    for name in options
        .benchmarks
        .iter()
        .chain(options.cases.iter().map(|case| &case.benchmark))
    {
        known("benchmark", name, names())?;
    }
    for case in &options.cases {
        let benchmarks = workload
            .benchmarks
            .iter()
            .filter(|benchmark| benchmark.name == case.benchmark);
        for benchmark in benchmarks {
            known("arm", &case.arm, benchmark.arms.iter().map(String::as_str))?;
            for (name, _) in &case.params {
                known(
                    "param",
                    name,
                    benchmark.params.iter().map(|param| param.name.as_str()),
                )?;
            }
        }
    }
    let params = || {
        workload
            .benchmarks
            .iter()
            .flat_map(|b| &b.params)
            .map(|param| param.name.as_str())
    };
    options
        .params
        .iter()
        .try_for_each(|(name, _)| known("param", name, params()))
}

fn knobs(workload: &Workload, options: &Options) -> Result<Vec<(String, u64)>, Failure> {
    for (name, value) in &options.knobs {
        if slowed_arm(workload, name).is_some() {
            if *value > LARGEST_SLOWDOWN_PERCENT {
                return Err(Failure::usage(format!(
                    "--knob {name}={value}: expected 0 to {LARGEST_SLOWDOWN_PERCENT}."
                )));
            }
            continue;
        }
        known(
            "knob",
            name,
            workload.knobs.iter().map(|knob| knob.name.as_str()),
        )?;
        let knob = workload.knobs.iter().find(|knob| knob.name == *name);
        if let Some(knob) = knob.filter(|knob| !(knob.minimum..=knob.maximum).contains(value)) {
            let text = format!(
                "--knob {name}={value}: expected {} to {}.",
                knob.minimum, knob.maximum
            );
            return Err(Failure::usage(text));
        }
    }
    let set = |name: &str| {
        options
            .knobs
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
    };
    Ok(workload
        .knobs
        .iter()
        .map(|knob| (knob.name.clone(), set(&knob.name).unwrap_or(knob.default)))
        .collect())
}

/// Returns the arm that a knob `ARM_slowdown_percent` slows: every workload has one for each arm.
fn slowed_arm<'a>(workload: &Workload, knob: &'a str) -> Option<&'a str> {
    let arm = knob.strip_suffix(SLOWDOWN)?;
    let declared = workload.knobs.iter().any(|known| known.name == knob);
    let mut arms = workload.benchmarks.iter().flat_map(|b| &b.arms);
    (!declared && arms.any(|known| known == arm)).then_some(arm)
}

/// The last setting of each arm counts.
fn slowdowns(workload: &Workload, options: &Options) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> = Vec::new();
    for (name, percent) in &options.knobs {
        if let Some(arm) = slowed_arm(workload, name) {
            found.retain(|(known, _)| known != arm);
            found.push((arm.to_owned(), *percent));
        }
    }
    found.retain(|(_, percent)| *percent > 0);
    found
}

fn known<'a>(
    kind: &str,
    name: &str,
    mut names: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), Failure> {
    let all: Vec<&str> = names.clone().collect();
    if names.any(|known| known == name) {
        return Ok(());
    }
    let all = if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    };
    Err(Failure::usage(format!(
        "Unknown {kind} '{name}'. Known: {all}."
    )))
}
