//! Parses the command line that every workload has (`native/protocol/README.md`) into [`Options`].
//!
//! Only the syntax is checked here; `selection` checks names and values against the workload.

use crate::event::LARGEST;
use crate::workload::Failure;

const MOST_ROUNDS: u64 = 1_000_000;
const LONGEST_SAMPLE_NS: u64 = 60_000_000_000;
const HELP: &str = "Known options: --list, --launch, --rounds, --warmup-rounds, --min-time-ns, --seed, \
                    --case, --benchmark, --params, --knob.";

/// A case that `--case benchmark/arm[/k=v,k=v]` selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFilter {
    /// The benchmark's name.
    pub benchmark: String,
    /// The arm's name.
    pub arm: String,
    /// The named params; all other params match any value.
    pub params: Vec<(String, String)>,
}

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is the option of its name")]
pub struct Options {
    pub list: bool,
    pub launch: u64,
    pub rounds: u64,
    pub warmup_rounds: Option<u64>,
    pub min_time_ns: u64,
    pub seed: u64,
    pub cases: Vec<CaseFilter>,
    pub benchmarks: Vec<String>,
    pub params: Vec<(String, Vec<String>)>,
    pub knobs: Vec<(String, u64)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            list: false,
            launch: 0,
            rounds: 20,
            warmup_rounds: None,
            min_time_ns: 1_000_000,
            seed: 0,
            cases: Vec::new(),
            benchmarks: Vec::new(),
            params: Vec::new(),
            knobs: Vec::new(),
        }
    }
}

impl Options {
    /// The number of warm-up rounds: as given, or 10 % of the measured rounds, at least 5
    /// (stats/README.md §1).
    #[must_use]
    pub fn warmup(&self) -> u64 {
        self.warmup_rounds
            .unwrap_or_else(|| self.rounds.div_ceil(10).max(5))
    }

    /// Parses arguments without the program's name.
    ///
    /// # Errors
    /// `usage`, naming the argument and what was expected.
    pub fn parse(args: &[String]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(option) = args.next() {
            if option == "--list" {
                options.list = true;
            } else if option.starts_with("--") {
                let value = args.next();
                let value = value
                    .ok_or_else(|| Failure::usage(format!("'{option}' needs a value. {HELP}")))?;
                options.set(option, value)?;
            } else {
                return Err(Failure::usage(format!(
                    "Unexpected argument '{option}'. {HELP}"
                )));
            }
        }
        Ok(options)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), Failure> {
        match option {
            "--launch" => self.launch = integer(option, value, 0, LARGEST)?,
            "--rounds" => self.rounds = integer(option, value, 1, MOST_ROUNDS)?,
            "--warmup-rounds" => self.warmup_rounds = Some(integer(option, value, 0, MOST_ROUNDS)?),
            "--min-time-ns" => self.min_time_ns = integer(option, value, 0, LONGEST_SAMPLE_NS)?,
            "--seed" => self.seed = integer(option, value, 0, LARGEST)?,
            "--benchmark" => self.benchmarks.push(value.to_owned()),
            "--case" => self.cases.push(case_filter(value)?),
            "--params" => {
                let (name, values) = pair(option, value)?;
                if self.params.iter().any(|(known, _)| *known == name) {
                    let text =
                        format!("--params {name} is given twice. Join the values: {name}=v1|v2.");
                    return Err(Failure::usage(text));
                }
                self.params
                    .push((name, values.split('|').map(str::to_owned).collect()));
            }
            "--knob" => {
                let (name, setting) = pair(option, value)?;
                let setting = integer(&format!("{option} {name}"), &setting, 0, LARGEST)?;
                self.knobs.push((name, setting));
            }
            _ => return Err(Failure::usage(format!("Unknown option '{option}'. {HELP}"))),
        }
        Ok(())
    }
}

fn case_filter(text: &str) -> Result<CaseFilter, Failure> {
    let parts: Vec<&str> = text.split('/').collect();
    if !(2..=3).contains(&parts.len()) || parts.contains(&"") {
        let text = format!("--case '{text}': expected benchmark/arm or benchmark/arm/k=v,k=v.");
        return Err(Failure::usage(text));
    }
    let named = parts
        .get(2)
        .map_or(Vec::new(), |named| named.split(',').collect());
    let params = named
        .into_iter()
        .map(|entry| pair("--case", entry))
        .collect::<Result<_, _>>()?;
    Ok(CaseFilter {
        benchmark: parts[0].to_owned(),
        arm: parts[1].to_owned(),
        params,
    })
}

fn pair(option: &str, text: &str) -> Result<(String, String), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Failure::usage(format!(
            "{option} '{text}': expected name=value."
        ))),
    }
}

fn integer(option: &str, text: &str, minimum: u64, maximum: u64) -> Result<u64, Failure> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value = digits.then(|| text.parse().ok()).flatten();
    value
        .filter(|value| (minimum..=maximum).contains(value))
        .ok_or_else(|| {
            Failure::usage(format!(
                "{option} '{text}': expected an integer from {minimum} to {maximum}."
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Failure> {
        Options::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_full_command_line_is_understood() {
        let line = "--launch 3 --rounds 40 --min-time-ns 5000 --seed 9 --warmup-rounds 2 --case b/a/n=5,m=x \
                    --case b/c --benchmark b --params n=5|6 --knob k=7";
        let options = parse(line).expect("valid");
        assert_eq!(
            (options.launch, options.rounds, options.warmup()),
            (3, 40, 2)
        );
        assert_eq!((options.min_time_ns, options.seed), (5000, 9));
        assert_eq!(
            options.cases[0].params,
            [("n".into(), "5".into()), ("m".into(), "x".into())]
        );
        assert_eq!(options.cases[1].arm, "c");
        assert_eq!(options.params, [("n".into(), vec!["5".into(), "6".into()])]);
        assert_eq!(options.knobs, [("k".into(), 7)]);
    }

    #[test]
    fn warm_up_is_a_tenth_but_at_least_five_rounds() {
        assert_eq!(parse("--rounds 20").expect("valid").warmup(), 5);
        assert_eq!(parse("--rounds 51").expect("valid").warmup(), 6);
        assert_eq!(parse("--rounds 100").expect("valid").warmup(), 10);
        assert_eq!(
            parse("--rounds 100 --warmup-rounds 0")
                .expect("valid")
                .warmup(),
            0
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, named) in [
            ("--rounds 0", "--rounds '0'"),
            ("--rounds +5", "--rounds '+5'"),
            ("--seed 9223372036854775808", "--seed '9223372036854775808'"),
            ("--seed", "'--seed' needs a value"),
            ("--speed 5", "Unknown option '--speed'"),
            ("hello", "Unexpected argument 'hello'"),
            ("--case b", "--case 'b'"),
            ("--case b//n=1", "--case 'b//n=1'"),
            ("--params n", "--params 'n'"),
            ("--params n=1 --params n=2", "given twice"),
            ("--knob k=-1", "--knob k '-1'"),
        ] {
            let failure = parse(line).expect_err(line);
            assert_eq!(failure.code, "usage");
            assert!(failure.text.contains(named), "{line}: {}", failure.text);
        }
    }
}
