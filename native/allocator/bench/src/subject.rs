//! Runs the process (the *subject*) that does one arm's operations: starts it, requests rounds and
//! ends it.
//!
//! The lines they exchange are described in `subject/main.c`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use paceline_harness::Failure;

use crate::arms::{Allocator, Setup};

/// What a subject measured in one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// Time of all chunks together.
    pub(crate) total_ns: u64,
    /// Median time of the short runs; 0 if none were requested.
    pub(crate) run_p50_ns: u64,
    /// 99th percentile of the times of the short runs; 0 if none were requested.
    pub(crate) run_p99_ns: u64,
    /// The largest resident memory since the process started.
    pub(crate) peak_bytes: u64,
    /// Resident memory after the round; 0 if the scenario does not read it.
    pub(crate) settled_bytes: u64,
    /// Time of each chunk, in order.
    pub(crate) chunks_ns: Vec<u64>,
}

/// What a subject reports after its last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Page faults since the process started.
    pub(crate) faults: u64,
    /// Resident memory; a scenario with a rest reads it after that rest.
    pub(crate) idle_bytes: u64,
}

/// The size of a round that is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How many chunks, each timed as a whole, the round has.
    pub(crate) chunks: u64,
    /// Operations in each chunk.
    pub(crate) times: u64,
    /// Operations before the first chunk; they are not timed.
    pub(crate) lead: u64,
    /// Short runs of 32 operations after the last chunk, each timed by itself.
    pub(crate) runs: u64,
}

/// A running process, which is killed when this value is dropped.
pub(crate) struct Subject {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Subject {
    /// Starts the process of an arm and waits until its scenario is prepared.
    ///
    /// Fails if the process cannot be started, or if its `malloc` is not the arm's allocator.
    pub(crate) fn start(
        arm: &Allocator,
        folder: &Path,
        setup: Setup,
        arguments: &[String],
    ) -> Result<Self, Failure> {
        let gone = |what: &str| Failure::new("subject_died", format!("{}: {what}", arm.name));
        let mut command = arm.command(folder, setup);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| gone(&format!("cannot be started: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(gone("has no pipes"));
        };
        let mut subject = Self {
            name: arm.name,
            child,
            input,
            output: BufReader::new(output),
        };
        let ready = subject.line()?;
        let provider = ready.strip_prefix("ready ").unwrap_or(&ready);
        if arm.is_provided_by(provider, setup) {
            return Ok(subject);
        }
        let text = format!(
            "{}: malloc comes from {provider}. Build the suite again.",
            arm.name
        );
        Err(Failure::new("wrong_allocator", text))
    }

    /// Requests one round and returns what it measured.
    pub(crate) fn round(&mut self, asked: Asked) -> Result<Round, Failure> {
        let Asked {
            chunks,
            times,
            lead,
            runs,
        } = asked;
        let numbers = self.ask(&format!("round {chunks} {times} {lead} {runs}"), "round")?;
        match numbers.as_slice() {
            [
                total_ns,
                run_p50_ns,
                run_p99_ns,
                peak_bytes,
                settled_bytes,
                chunks @ ..,
            ] => Ok(Round {
                total_ns: *total_ns,
                run_p50_ns: *run_p50_ns,
                run_p99_ns: *run_p99_ns,
                peak_bytes: *peak_bytes,
                settled_bytes: *settled_bytes,
                chunks_ns: chunks.to_vec(),
            }),
            _ => Err(self.broken("a short answer")),
        }
    }

    /// Returns a digest of the scenario's state; arms that did the same operations have the same.
    pub(crate) fn state(&mut self) -> Result<u64, Failure> {
        let numbers = self.ask("state", "state")?;
        numbers
            .first()
            .copied()
            .ok_or_else(|| self.broken("no digest"))
    }

    /// Requests the figures of the whole process, after its last round.
    pub(crate) fn end(&mut self) -> Result<End, Failure> {
        match self.ask("end", "end")?.as_slice() {
            &[faults, idle_bytes] => Ok(End { faults, idle_bytes }),
            _ => Err(self.broken("a short answer")),
        }
    }

    fn ask(&mut self, question: &str, word: &str) -> Result<Vec<u64>, Failure> {
        let sent = writeln!(self.input, "{question}").and_then(|()| self.input.flush());
        sent.map_err(|_| self.broken("it ended before it was asked"))?;
        let line = self.line()?;
        let mut words = line.split(' ');
        if words.next() != Some(word) {
            return Err(self.broken(&format!("'{line}'")));
        }
        words
            .map(|number| {
                number
                    .parse()
                    .map_err(|_| self.broken(&format!("'{line}'")))
            })
            .collect()
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(1..) => Ok(line.trim_end().to_owned()),
            _ => Err(self.broken("it ended")),
        }
    }

    /// Kills a subject that did not answer as expected; returns the failure, with its exit status.
    fn broken(&mut self, what: &str) -> Failure {
        // The exchange is broken, so a process that still runs is of no use.
        let _ = self.child.kill();
        let how = self
            .child
            .wait()
            .map_or_else(|error| error.to_string(), |status| status.to_string());
        let text = format!(
            "{}: {what} ({how}). Its messages are in the job's log.",
            self.name
        );
        Failure::new("subject_died", text)
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // An error means that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
