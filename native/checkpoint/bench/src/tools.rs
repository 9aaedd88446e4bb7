//! Other tools as strategies: rsync, git, borg, restic, casync, btrfs snapshots, and our own
//! command.
//!
//! Each is set up to be fast: no compression (casync always compresses; it gets its fastest), no
//! encryption, caches kept between calls, hard links where possible. What a tool does not sync is
//! synced after it and counts until then. Each tool has a home of its own, so that a user's
//! settings do not matter, and results are read back by the tool itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use paceline_checkpoint::disk::RealDisk;
use paceline_checkpoint::{Options, Store};

use crate::band_directory::{BandDirectory, equal, name};
use crate::scenario::{Touch, WRITE_BYTES};
use crate::strategy::{Phases, Strategy, nanoseconds};
use crate::{band_store, snapshot, volume};

/// The tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    Rsync,
    Git,
    Borg,
    Restic,
    Casync,
    /// A snapshot of a btrfs subvolume, by ioctl.
    Snapshot,
    SnapshotCli,
    /// `paceline-checkpoint`, which finds changes itself.
    Cli,
    /// The same, with writes reported by their owner.
    CliDirty,
}

impl Tool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rsync => "rsync",
            Self::Git => "git",
            Self::Borg => "borg",
            Self::Restic => "restic",
            Self::Casync => "casync",
            Self::Snapshot => "btrfs_snapshot",
            Self::SnapshotCli => "btrfs_snapshot_cli",
            Self::Cli => "cli",
            Self::CliDirty => "cli_dirty",
        }
    }

    fn is_ours(self) -> bool {
        matches!(self, Self::Cli | Self::CliDirty)
    }

    /// Whether its result is durable when it ends: ours syncs, and a snapshot is committed.
    fn syncs(self) -> bool {
        self.is_ours() || self.needs_btrfs()
    }

    /// Whether it needs btrfs, whatever the other arms use.
    pub(crate) fn needs_btrfs(self) -> bool {
        matches!(self, Self::Snapshot | Self::SnapshotCli)
    }

    /// The program, or the reason that it is missing.
    pub(crate) fn program(self) -> Result<PathBuf, String> {
        if self.is_ours() {
            let beside = std::env::current_exe()
                .ok()
                .and_then(|exe| Some(exe.parent()?.join("paceline-checkpoint")));
            let program = beside
                .filter(|path| path.is_file())
                .or_else(|| volume::program("paceline-checkpoint"));
            return program
                .ok_or_else(|| "'paceline-checkpoint' is not beside this program".to_owned());
        }
        let name = if self.needs_btrfs() {
            "btrfs"
        } else {
            self.name()
        };
        volume::program(name).ok_or_else(|| format!("'{name}' is not installed"))
    }

    /// Makes the directory for bands.
    pub(crate) fn make_bands(self, dir: &Path) -> io::Result<()> {
        if !self.needs_btrfs() {
            return fs::create_dir(dir);
        }
        let parent = dir.parent().ok_or_else(|| io::Error::other("no parent"))?;
        snapshot::make_subvolume(&File::open(parent)?, "bands")
    }
}

/// A tool with its store beside the bands, which has the first state.
pub(crate) fn strategy(tool: Tool, bands_dir: &BandDirectory) -> io::Result<Box<dyn Strategy>> {
    let home = bands_dir.beside("kept");
    fs::create_dir(&home)?;
    if tool == Tool::Snapshot {
        return Ok(Box::new(snapshot::Snapshot::new(bands_dir, home)?));
    }
    let program = tool.program().map_err(io::Error::other)?;
    let mut outside = ExternalTool {
        tool,
        program,
        home,
        live: bands_dir.live(),
        taken: 0,
    };
    for arguments in outside.begin() {
        outside.run(&outside.live, &arguments)?;
    }
    outside.take(&[])?;
    Ok(Box::new(outside))
}

struct ExternalTool {
    tool: Tool,
    program: PathBuf,
    home: PathBuf,
    live: PathBuf,
    taken: u64,
}

/// The words of a command line.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

impl ExternalTool {
    fn kept(&self, name: &str) -> String {
        self.home.join(name).display().to_string()
    }

    /// The command that makes the tool's store, before the first state is added.
    fn begin(&self) -> Vec<Vec<String>> {
        match self.tool {
            Tool::Git => vec![words("init -q"), words("add -A")],
            Tool::Borg => vec![words("init -e none")],
            Tool::Restic => vec![words("init -q")],
            _ => vec![],
        }
    }

    /// The command that keeps the present bands, after these writes.
    fn arguments(&self, touches: &[Touch]) -> Vec<String> {
        let (live, number) = (self.live.display().to_string(), self.taken);
        match self.tool {
            // With nanoseconds, because two states may be made within one second.
            Tool::Rsync if number == 1 => words("-a -S --modify-window=-1 ./ ")
                .into_iter()
                .chain([self.kept("1/")])
                .collect(),
            Tool::Rsync => {
                let link = format!("--link-dest={}", self.kept(&(number - 1).to_string()));
                let to = self.kept(&format!("{number}/"));
                words("-a --modify-window=-1")
                    .into_iter()
                    .chain([link, "./".to_owned(), to])
                    .collect()
            }
            Tool::Git => words("commit -q -a --allow-empty -m state"),
            Tool::Borg => words(&format!("create --compression none ::{number} .")),
            Tool::Restic => [words("backup -q --compression off --host here"), vec![live]].concat(),
            Tool::Casync => [words("make"), self.casync()].concat(),
            Tool::Cli | Tool::CliDirty if number == 1 => {
                vec!["init".to_owned(), live, "1".to_owned()]
            }
            Tool::Cli => vec!["checkpoint".to_owned(), live, number.to_string()],
            Tool::CliDirty => {
                let ranges = touches.iter().map(|touch| {
                    format!(
                        "--dirty={}@{}+{WRITE_BYTES}",
                        name(touch.band),
                        touch.offset
                    )
                });
                [
                    vec!["checkpoint".to_owned(), live, number.to_string()],
                    ranges.collect(),
                ]
                .concat()
            }
            Tool::Snapshot | Tool::SnapshotCli => {
                let to = self.kept(&number.to_string());
                words("subvolume snapshot -r")
                    .into_iter()
                    .chain([live, to])
                    .collect()
            }
        }
    }

    /// casync's chunks, its cache of files, and its index of the present state.
    fn casync(&self) -> Vec<String> {
        let [store, cache] = [("store", "castr"), ("cache", "casync-cache")]
            .map(|(option, name)| format!("--{option}={}", self.kept(name)));
        vec![
            store,
            cache,
            "--compression=zstd".to_owned(),
            self.kept(&format!("{}.caidx", self.taken)),
        ]
    }

    fn run(&self, dir: &Path, arguments: &[String]) -> io::Result<()> {
        let mut command = Command::new(&self.program);
        command
            .current_dir(dir)
            .args(arguments)
            .env("HOME", &self.home);
        for (name, value) in [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ] {
            command.env(name, value);
        }
        for (name, value) in [
            ("GIT_DIR", "git"),
            ("BORG_REPO", "borg"),
            ("BORG_BASE_DIR", "borg-home"),
        ] {
            command.env(name, self.home.join(value));
        }
        for (name, value) in [
            ("RESTIC_REPOSITORY", "restic"),
            ("RESTIC_CACHE_DIR", "restic-cache"),
        ] {
            command.env(name, self.home.join(value));
        }
        command
            .env("GIT_WORK_TREE", &self.live)
            .env("RESTIC_PASSWORD", "none");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "suite")
                .env(format!("GIT_{role}_EMAIL"), "suite@localhost");
        }
        // Blobs are stored unpacked, and no daemon is started.
        let settings = [
            ("core.compression", "0"),
            ("core.bigFileThreshold", "1"),
            ("gc.auto", "0"),
        ];
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (place, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{place}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{place}"), value);
        }
        volume::run(&mut command)
            .map(drop)
            .map_err(io::Error::other)
    }

    fn take(&mut self, touches: &[Touch]) -> io::Result<()> {
        self.taken += 1;
        self.run(&self.live, &self.arguments(touches))
    }

    /// Reads the changing bands back, and returns their directory.
    fn restore(&self, bands_dir: &BandDirectory) -> io::Result<PathBuf> {
        let out = bands_dir.beside("restored");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out)?;
        let bands: Vec<String> = bands_dir.changing().collect();
        match self.tool {
            Tool::Git => {
                let to = format!("--prefix={}/", out.display());
                self.run(
                    &self.live,
                    &[words("checkout-index -f"), vec![to, "--".to_owned()], bands].concat(),
                )?;
            }
            Tool::Borg => self.run(
                &out,
                &[words(&format!("extract ::{}", self.taken)), bands].concat(),
            )?,
            Tool::Restic => {
                let inside = self.live.display();
                let only = bands
                    .iter()
                    .flat_map(|band| ["--include".to_owned(), format!("{inside}/{band}")]);
                let to = vec!["--target".to_owned(), out.display().to_string()];
                self.run(
                    &out,
                    &[words("restore latest -q"), to, only.collect()].concat(),
                )?;
                return Ok(out.join(self.live.strip_prefix("/").unwrap_or(&self.live)));
            }
            Tool::Casync => {
                let all = [words("extract"), self.casync()].concat(); // it cannot extract single files
                self.run(&out, &all)?;
            }
            _ => return Ok(self.home.join(self.taken.to_string())),
        }
        Ok(out)
    }
}

impl Strategy for ExternalTool {
    fn checkpoint(&mut self, bands_dir: &BandDirectory, touches: &[Touch]) -> io::Result<Phases> {
        let begin = Instant::now();
        self.take(touches)?;
        if !self.tool.syncs() {
            bands_dir.settle()?;
        }
        Ok(Phases {
            durable: nanoseconds(begin),
            ..Phases::default()
        })
    }

    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>> {
        if self.tool.is_ours() {
            let opened = Store::open(Arc::new(RealDisk), &self.live, Options::default());
            let (store, name) = (opened.map_err(io::Error::other)?, self.taken.to_string());
            // The id may be right for wrongly reported bytes, so the kept bytes are read, too.
            let kept = store
                .verify(&name)
                .map_err(io::Error::other)?
                .wrong
                .is_empty();
            return Ok(Some(
                kept && band_store::holds_live_bands(&store, &name, bands_dir)?,
            ));
        }
        Ok(Some(equal(&self.restore(bands_dir)?, bands_dir)?))
    }
}
