//! A filesystem made in an image file and mounted through a loop device.
//!
//! Mounts are made in a mount namespace of this process, so the kernel removes them with the
//! process, however it ends, and a loop device with its mount. Other processes do not see them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// The filesystems, as the param `filesystem` names them.
pub(crate) const KINDS: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// How to make each one. Nothing is discarded, which would turn the image's zeros into holes, and
/// nothing is left for the kernel to initialise while arms are timed.
fn options(kind: &str) -> &'static [&'static str] {
    match kind {
        "ext4" => &[
            "-q",
            "-F",
            "-E",
            "nodiscard,lazy_itable_init=0,lazy_journal_init=0",
        ],
        _ => &["-q", "-f", "-K"],
    }
}

/// The path of an installed program, also in root's directories for system programs.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let also = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(also)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}

/// Runs a program to its end; returns its output if it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let reason = String::from_utf8_lossy(&output.stderr)
        .trim()
        .replace('\n', "; ");
    Err(format!("{name}: {}: {reason}", output.status))
}

/// Why such a filesystem cannot be made here, if it cannot.
pub(crate) fn possible(kind: &str) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err(format!(
            "{kind}: making and mounting a filesystem needs root"
        ));
    }
    for name in [&format!("mkfs.{kind}"), "mount"] {
        program(name).ok_or_else(|| format!("{kind}: '{name}' is not installed"))?;
    }
    own_mounts().map_err(|error| format!("{kind}: {error}"))
}

/// Gives this process its own mounts, once.
fn own_mounts() -> Result<(), String> {
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    DONE.get_or_init(|| {
        // SAFETY: NEWNS does not touch the table of files, which is the danger of `unshare`.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }
            .and_then(|()| {
                mount_change(
                    "/",
                    MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
                )
            })
            .map_err(|error| format!("no mounts of its own: {error}"))
    })
    .clone()
}

/// A mounted filesystem.
pub(crate) struct Volume {
    at: PathBuf,
}

impl Volume {
    /// Makes it and mounts it at `at`. The image is overwritten.
    pub(crate) fn make(kind: &str, image: &Path, at: &Path) -> Result<Self, String> {
        let program = program(&format!("mkfs.{kind}")).ok_or("no mkfs")?;
        run(Command::new(program).args(options(kind)).arg(image))?;
        fs::create_dir_all(at).map_err(|error| error.to_string())?;
        run(Command::new("mount")
            .args(["-n", "-t", kind, "-o", "loop"])
            .args([image, at]))?;
        let volume = Self { at: at.to_owned() };
        volume.bypass();
        Ok(volume)
    }

    /// Bands are cached once and not in the image's pages again, so that a cold cache is cold.
    /// Without direct I/O in the image's own filesystem it stays as it is.
    fn bypass(&self) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let here = self.at.to_string_lossy();
        let mut devices = mounts.lines().filter_map(|line| {
            let mut words = line.split(' ');
            words.next().filter(|_| words.next() == Some(&*here))
        });
        if let Some(device) = devices.next_back() {
            let _ = run(Command::new("losetup").args(["--direct-io=on", device]));
        }
    }

    /// Unmounts it. False while something on it is open: then it is unmounted when that is closed.
    pub(crate) fn end(self) -> bool {
        let ended = unmount(&self.at, UnmountFlags::empty()).is_ok();
        if !ended {
            let _ = unmount(&self.at, UnmountFlags::DETACH);
        }
        ended
    }
}
