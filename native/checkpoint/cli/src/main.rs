//! `paceline-checkpoint`: the band store from the command line.
//!
//! A process of its own sees no writes, so it finds changes by looking (observed mode). Exit
//! status: 0 done; 1 refused or failed, with advice; 2 wrong arguments; 3 the store is damaged.

mod answer;
mod archives;
mod commands;
mod dirty;
mod status_file;
mod watch;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use paceline_checkpoint::Written;

/// musl's allocator makes so many system calls that they dominate a process that takes one checkpoint.
#[cfg(target_env = "musl")]
#[global_allocator]
static MEMORY: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Crash-consistent checkpoints of a directory of band files. The store lies beside it, in DIR.paceline.
#[derive(Debug, Parser)]
#[command(version, name = "paceline-checkpoint")]
struct Arguments {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    #[command(flatten)]
    Once(Command),
    /// Take a checkpoint whenever the bands changed, by the system's change events, until it is stopped.
    Watch {
        /// The directory of bands. No other command can use its store meanwhile.
        dir: PathBuf,
        #[command(flatten)]
        pace: Pace,
    },
}

/// Options of `watch`.
#[derive(Debug, clap::Args)]
struct Pace {
    /// The least time between two checkpoints.
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    every: Duration,
    /// Names are this prefix and a number.
    #[arg(long, default_value = "watch-")]
    prefix: String,
    /// Keep only so many of the newest checkpoints taken by `watch`. Default: all.
    #[arg(long)]
    keep: Option<usize>,
    /// Stop after so many checkpoints.
    #[arg(long)]
    count: Option<u64>,
}

/// What to do, once.
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
        /// Somebody writes the bands through mappings: write back what changed before it is read, or read
        /// everything twice where the filesystem does not show such writes.
        #[arg(long, conflicts_with = "all")]
        mapped: bool,
        /// Read every byte, and believe no time stamp.
        #[arg(long)]
        all: bool,
        /// Read only this range of BAND. Use it when you know that nothing else of BAND was written since the
        /// last successful checkpoint began, and that nobody writes to it until this command returns. More is
        /// read if the file itself shows more changes. Repeat it for each range; BAND alone means the whole
        /// band, also a new one. Decimal bytes. Bands that are not named are checked as usual.
        #[arg(long, value_name = "BAND@OFFSET+LENGTH", value_parser = dirty::written,
              conflicts_with_all = ["all", "mapped"])]
        dirty: Vec<Written>,
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
    /// Give checkpoints up. Their space comes back by `fold`, or by `compact` while an older one is kept.
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
    /// Write the log anew with the kept checkpoints alone, so that the space of those given up between them
    /// comes back, too. `watch` does it by itself.
    Compact {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Make a sound store of what is intact in a damaged one. The bands are not touched; what is lost is named,
    /// and its segments of the log lie in DIR.paceline/damaged until `gc`.
    Repair {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Remove files of the store that nothing names: leftovers of a crash, and what `repair` moved aside.
    Gc {
        /// The directory of bands.
        dir: PathBuf,
    },
    /// Write a checkpoint as one file: a tar of its bands behind a manifest of their ids.
    Export {
        /// The directory of bands.
        dir: PathBuf,
        /// A checkpoint.
        name: String,
        /// The file to make, which must not be there; `-` writes to standard output.
        archive: PathBuf,
    },
    /// Take in what `export` wrote; everything is checked. Makes DIR and its store, or adds one more
    /// checkpoint to the store that DIR has: then the bands stay as they are.
    Import {
        /// A directory of bands with a store, or one to make, which must not be there.
        dir: PathBuf,
        /// The archive; `-` reads from standard input.
        archive: PathBuf,
        /// Name of the checkpoint. Default: its name in the archive.
        #[arg(long = "as")]
        name: Option<String>,
    },
    /// Show the state of the store, which bands may have changed, and the work in the background. While
    /// `watch` holds the store, show what it wrote last.
    Status {
        /// The directory of bands.
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let command = match &arguments.task {
        Task::Once(command) => command,
        Task::Watch { dir, pace } => return watch(dir, pace, arguments.json),
    };
    match commands::answer(command) {
        Ok(answer) => {
            let text = if arguments.json {
                format!("{:#}\n", answer.json)
            } else {
                answer.text
            };
            let written = if answer.to_stderr {
                io::stderr().lock().write_all(text.as_bytes())
            } else {
                io::stdout().lock().write_all(text.as_bytes())
            };
            match written {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    failed(&error.to_string())
                }
                _ => ExitCode::from(answer.status),
            }
        }
        Err(error) => failed(&error.to_string()),
    }
}

/// A line for each checkpoint, as soon as it is durable.
fn watch(dir: &Path, pace: &Pace, json: bool) -> ExitCode {
    let mut tell = |answer: &answer::Answer| {
        let mut out = io::stdout().lock();
        let text = if json {
            format!("{}\n", answer.json)
        } else {
            answer.text.clone()
        };
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    };
    let mut warn = |why: &str| {
        let _ = failed(why); // watching continues
    };
    match watch::watch(dir, pace, &mut tell, &mut warn) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(why: &str) -> ExitCode {
    // If this fails too, there is nobody left to tell.
    let _ = writeln!(io::stderr(), "paceline-checkpoint: {why}");
    ExitCode::FAILURE
}
