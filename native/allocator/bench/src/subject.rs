//! The process of one arm: started, asked for rounds, ended. Its protocol is in `subject/main.c`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use paceline_harness::Failure;

use crate::arms::{Allocator, Setup};

/// A round's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// All chunks together.
    pub(crate) total_ns: u64,
    /// Median of the short runs; 0 without any.
    pub(crate) run_p50_ns: u64,
    /// 99 % quantile of the short runs.
    pub(crate) run_p99_ns: u64,
    /// Most memory that was resident so far.
    pub(crate) peak_bytes: u64,
    /// Resident memory once the round was over, where the scenario says so.
    pub(crate) settled_bytes: u64,
    /// Each chunk.
    pub(crate) chunks_ns: Vec<u64>,
}

/// What a process says at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// Since its start.
    pub(crate) faults: u64,
    /// Resident after a rest.
    pub(crate) idle_bytes: u64,
}

/// How often a round does what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Timed regions of a round.
    pub(crate) chunks: u64,
    /// Operations of each.
    pub(crate) times: u64,
    /// Operations before them, which are not timed.
    pub(crate) lead: u64,
    /// Runs of 32 operations after them, each timed by itself.
    pub(crate) runs: u64,
}

/// A running process; it is ended when it is dropped.
pub(crate) struct Subject {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Subject {
    /// Starts one and waits until it is prepared.
    ///
    /// Fails when it cannot be started or uses another allocator than it should.
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

    /// One round.
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

    /// A digest of everything it did, equal in every arm that did the same.
    pub(crate) fn state(&mut self) -> Result<u64, Failure> {
        let numbers = self.ask("state", "state")?;
        numbers
            .first()
            .copied()
            .ok_or_else(|| self.broken("no digest"))
    }

    /// What it says at its end.
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

    /// The failure of a subject that did not answer as it should, with how it ended if it did.
    fn broken(&mut self, what: &str) -> Failure {
        // Input is over for it: if it still runs, it ends now.
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
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
