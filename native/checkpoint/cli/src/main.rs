//! `paceline-checkpoint`: the band store from the command line.
//!
//! Place in the journey: the store's library with nothing added. A process of its own sees no writes, so it
//! takes checkpoints by looking (observed mode). Exit status: 0 done, 1 refused or failed, with what to do,
//! 2 the arguments are wrong, 3 `verify` found damage. Absent on purpose: prompts, retries, anything that the
//! library does not do.

mod answer;
mod commands;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Crash-consistent checkpoints of a directory of band files. The store lies beside it, in DIR.paceline.
#[derive(Debug, Parser)]
#[command(version, name = "paceline-checkpoint")]
struct Arguments {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    /// Begin: copy (or clone) every band, and call that state NAME.
    Init {
        /// The directory of bands.
        dir: PathBuf,
        /// Name of the first checkpoint.
        #[arg(default_value = "first")]
        name: String,
    },
    /// Keep the bands as they are now under NAME; durable when this returns.
    Checkpoint {
        /// The directory of bands.
        dir: PathBuf,
        /// Not taken yet.
        name: String,
        /// Read every byte. Finds what was written through a mapping, which moves no time stamp.
        #[arg(long)]
        all: bool,
    },
    /// List the checkpoints that are kept, the oldest first.
    List {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Print the id of each band of a checkpoint, as `b3sum` does.
    Bands {
        /// The directory of bands.
        dir: PathBuf,
        /// A checkpoint.
        name: String,
    },
    /// Hash every byte of checkpoints as a rollback would write it; all of them, if none is named.
    Verify {
        /// The directory of bands.
        dir: PathBuf,
        /// Checkpoints.
        names: Vec<String>,
    },
    /// Say which bands differ between two checkpoints.
    Diff {
        /// The directory of bands.
        dir: PathBuf,
        /// A checkpoint.
        from: String,
        /// Another.
        to: String,
    },
    /// Make the bands what they were, in one step; what they are now becomes a checkpoint first.
    Rollback {
        /// The directory of bands. Whoever has a band open must open it again.
        dir: PathBuf,
        /// A checkpoint.
        name: String,
    },
    /// Give checkpoints up. Their space comes back by `fold`.
    Prune {
        /// The directory of bands.
        dir: PathBuf,
        /// Checkpoints.
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Move the base to the oldest checkpoint that is kept, and drop the log before it.
    Fold {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Remove files of the store that nothing names: leftovers of a crash.
    Gc {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Say how the store stands, and which bands may have changed.
    Status {
        /// The directory of bands.
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::answer(&arguments.command) {
        Ok(answer) => {
            let text = if arguments.json { format!("{:#}\n", answer.json) } else { answer.text };
            match io::stdout().lock().write_all(text.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => failed(&error.to_string()),
                _ => ExitCode::from(answer.status),
            }
        }
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(why: &str) -> ExitCode {
    // Nobody is left to tell when this fails too.
    let _ = writeln!(io::stderr(), "paceline-checkpoint: {why}");
    ExitCode::FAILURE
}
