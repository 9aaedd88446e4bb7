//! Reads a bench stream and stops at the first fault, so that a workload's tests can check what it
//! printed.
//!
//! It must report the same faults as the agent's and the server's readers; `native/protocol/vectors`
//! has the test cases. It keeps at most one line in memory, and stops reading a line at the limit.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde_json::{Map, Value as Json};

use crate::event::{Check, Event, LINE_BYTES_MAX, Metric, VERSION};
use crate::fields::Fields;

/// The kinds of faults; `native/protocol/README.md` defines each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "one row each in README.md of native/protocol")]
pub enum Code {
    LineTooLong,
    AfterTerminal,
    NotJson,
    NotObject,
    MissingField,
    BadField,
    UnknownType,
    NoStart,
    DuplicateStart,
    Version,
    UnknownUnit,
    DuplicateCase,
    UnknownCase,
    Truncated,
}

impl Code {
    /// The code's name in test vectors and logs.
    #[must_use]
    pub fn wire(self) -> &'static str {
        match self {
            Self::LineTooLong => "line_too_long",
            Self::AfterTerminal => "after_terminal",
            Self::NotJson => "not_json",
            Self::NotObject => "not_object",
            Self::MissingField => "missing_field",
            Self::BadField => "bad_field",
            Self::UnknownType => "unknown_type",
            Self::NoStart => "no_start",
            Self::DuplicateStart => "duplicate_start",
            Self::Version => "version",
            Self::UnknownUnit => "unknown_unit",
            Self::DuplicateCase => "duplicate_case",
            Self::UnknownCase => "unknown_case",
            Self::Truncated => "truncated",
        }
    }
}

/// The first fault of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub code: Code,
    /// The line, counted from 1.
    pub line: u64,
    /// A sentence with what was expected.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.code.wire(), self.text)
    }
}

/// Why reading stopped.
#[derive(Debug)]
pub enum ReadError {
    /// The stream has a fault.
    Fault(Fault),
    /// The stream could not be read.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

/// A declared case, against which its samples are checked.
struct DeclaredCase {
    metrics: Vec<Metric>,
    unavailable: bool,
}

/// Declarations of earlier lines, to check later lines.
#[derive(Default)]
struct StreamState {
    launch: Option<u64>,
    cases: HashMap<u64, DeclaredCase>,
    terminal: bool,
}

/// Yields events in order, then at most one error, then nothing.
pub struct Reader<R> {
    input: R,
    line: u64,
    state: StreamState,
    stopped: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader at the beginning of a stream.
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: 0,
            state: StreamState::default(),
            stopped: false,
        }
    }

    /// The next event; `None` at a valid end.
    fn read(&mut self) -> Result<Option<Event>, ReadError> {
        let mut bytes = Vec::new();
        let limit = LINE_BYTES_MAX as u64 + 1; // and its newline
        self.input
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut bytes)
            .map_err(ReadError::Io)?;
        if bytes.is_empty() && self.state.terminal {
            return Ok(None);
        }
        self.line += 1;
        let complete = bytes.pop_if(|last| *last == b'\n').is_some();
        if bytes.is_empty() && !complete {
            return self.fault(
                Code::Truncated,
                "the stream ended without done or error".to_owned(),
            );
        }
        if bytes.len() > LINE_BYTES_MAX {
            return self.fault(
                Code::LineTooLong,
                format!("more than {LINE_BYTES_MAX} bytes"),
            );
        }
        if self.state.terminal {
            return self.fault(
                Code::AfterTerminal,
                "nothing may follow done or error".to_owned(),
            );
        }
        match parse(&bytes).and_then(|object| self.state.read_event(&object)) {
            Ok(event) => Ok(Some(event)),
            Err((Code::NotJson, text)) if !complete => self.fault(Code::Truncated, text),
            Err((code, text)) => self.fault(code, text),
        }
    }

    fn fault<T>(&self, code: Code, text: String) -> Result<T, ReadError> {
        Err(ReadError::Fault(Fault {
            code,
            line: self.line,
            text,
        }))
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.stopped {
            return None;
        }
        let item = self.read().transpose();
        self.stopped = !matches!(item, Some(Ok(_)));
        item
    }
}

fn parse(line: &[u8]) -> Result<Map<String, Json>, (Code, String)> {
    match serde_json::from_slice(line) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => Err((Code::NotObject, "expected an object".to_owned())),
        Err(error) => Err((Code::NotJson, error.to_string())),
    }
}

impl StreamState {
    /// Converts an object to an event and checks that it may follow the earlier events.
    fn read_event(&mut self, object: &Map<String, Json>) -> Result<Event, (Code, String)> {
        let fields = Fields::new(object);
        let kind = fields.text("type")?;
        let known = [
            "start", "case", "samples", "check", "progress", "warning", "done", "error",
        ];
        if !known.contains(&kind.as_str()) {
            return Err((Code::UnknownType, format!("type '{kind}' is not known")));
        }
        match (kind == "start", self.launch.is_some()) {
            (false, false) => return Err((Code::NoStart, format!("'{kind}' before start"))),
            (true, true) => return Err((Code::DuplicateStart, "a second start".to_owned())),
            _ => {}
        }
        let event = match kind.as_str() {
            "start" => start(&fields)?,
            "case" => case(&fields)?,
            "samples" => samples(&fields)?,
            "check" => Event::Check(Check {
                name: fields.name("name")?,
                ok: fields.flag("ok")?,
                detail: fields.optional_text("detail")?.unwrap_or_default(),
            }),
            "progress" => Event::Progress {
                done: fields.natural("done")?,
                total: fields.natural("total")?,
            },
            "warning" => Event::Warning {
                code: fields.name("code")?,
                text: fields.text("text")?,
            },
            "done" => Event::Done,
            _ => Event::Error {
                code: fields.name("code")?,
                text: fields.text("text")?,
            },
        };
        self.check_references(&event)?;
        Ok(event)
    }

    /// Checks references of the event to earlier events, and stores what later ones refer to.
    fn check_references(&mut self, event: &Event) -> Result<(), (Code, String)> {
        match event {
            Event::Start { launch, .. } => self.launch = Some(*launch),
            Event::Case {
                case,
                metrics,
                unavailable,
                ..
            } => {
                let declared = DeclaredCase {
                    metrics: metrics.clone(),
                    unavailable: unavailable.is_some(),
                };
                if self.cases.insert(*case, declared).is_some() {
                    return Err((
                        Code::DuplicateCase,
                        format!("case {case} was declared before"),
                    ));
                }
            }
            Event::Samples {
                case,
                metric,
                launch,
                ..
            } => {
                let Some(declared) = self.cases.get(case) else {
                    return Err((Code::UnknownCase, format!("case {case} was not declared")));
                };
                if declared.unavailable {
                    return Err((
                        Code::BadField,
                        format!("case: {case} is unavailable and must not have samples"),
                    ));
                }
                if !declared.metrics.iter().any(|known| known.name == *metric) {
                    return Err((
                        Code::BadField,
                        format!("metric: case {case} does not declare '{metric}'"),
                    ));
                }
                if self.launch != Some(*launch) {
                    return Err((
                        Code::BadField,
                        format!("launch: expected the launch of the start event, found {launch}"),
                    ));
                }
            }
            Event::Done | Event::Error { .. } => self.terminal = true,
            Event::Check(_) | Event::Progress { .. } | Event::Warning { .. } => {}
        }
        Ok(())
    }
}

fn start(fields: &Fields<'_>) -> Result<Event, (Code, String)> {
    let version = fields.natural("v")?;
    if version != VERSION {
        return Err((
            Code::Version,
            format!("v: expected version {VERSION}, found {version}"),
        ));
    }
    let clock = fields.nested("clock", "clock.")?;
    Ok(Event::Start {
        suite: fields.name("suite")?,
        workload: fields.name("workload")?,
        launch: fields.natural("launch")?,
        seed: fields.natural("seed")?,
        build: fields.texts("build")?,
        clock_name: clock.name("name")?,
        resolution_ns: clock.positive("resolution_ns")?,
        overhead_ns: clock.natural("overhead_ns")?,
    })
}

fn case(fields: &Fields<'_>) -> Result<Event, (Code, String)> {
    Ok(Event::Case {
        case: fields.natural("case")?,
        benchmark: fields.name("benchmark")?,
        arm: fields.name("arm")?,
        params: fields.params("params")?,
        metrics: fields.metrics()?,
        items_per_iteration: fields.optional_natural("items_per_iteration")?,
        bytes_per_iteration: fields.optional_natural("bytes_per_iteration")?,
        unavailable: fields.optional_name("unavailable")?,
    })
}

fn samples(fields: &Fields<'_>) -> Result<Event, (Code, String)> {
    Ok(Event::Samples {
        case: fields.natural("case")?,
        metric: fields.name("metric")?,
        launch: fields.natural("launch")?,
        round: fields.natural("round")?,
        position: fields.natural("position")?,
        phase: fields.phase()?,
        iterations: fields.positive("iterations")?,
        values: fields.values("values")?,
        t_ns: fields.natural("t_ns")?,
        work: fields.counters("work")?,
    })
}
