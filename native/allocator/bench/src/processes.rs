//! Runs other programs as samples, and measures the time and memory they used.

use std::io::{self, Read as _};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

use paceline_harness::Failure;

const NS_PER_S: u64 = 1_000_000_000;
const NS_PER_US: u64 = 1000;
const BYTES_PER_KIB: u64 = 1024;
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// What an arm used in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// User and system time of a program and what it started; of a subject, what it measured.
    pub(crate) ns: u64,
    /// Most memory that was resident, of the largest process.
    pub(crate) peak_bytes: u64,
    pub(crate) faults: u64,
}

impl Used {
    /// The geometric mean of each figure: the ratio of two arms' means is the mean of their ratios.
    pub(crate) fn mean(parts: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> u64| geometric_mean(parts.iter().map(figure));
        Self {
            ns: of(|used| used.ns),
            peak_bytes: of(|used| used.peak_bytes),
            faults: of(|used| used.faults),
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures of a second and some gigabytes lie far below 2^53"
)]
fn geometric_mean(figures: impl Iterator<Item = u64>) -> u64 {
    let logs: Vec<f64> = figures.map(|figure| (figure.max(1) as f64).ln()).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64)
        .exp()
        .round() as u64
}

/// Runs it to its end: what it used, and a digest of what it said.
///
/// Fails when it cannot be started or says that it failed.
pub(crate) fn run(command: &mut Command, name: &str) -> Result<(Used, u64), Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| failed(name, &error.to_string()))?;
    let digest = digest_of(&mut child).map_err(|error| failed(name, &error.to_string()))?;
    Ok((ended(&child, name)?, digest))
}

/// Waits for its end: what it used.
///
/// Fails when it says that it failed.
pub(crate) fn ended(child: &Child, name: &str) -> Result<Used, Failure> {
    match wait(child) {
        Ok((status, used)) if status.success() => Ok(used),
        Ok((status, _)) => Err(failed(name, &status.to_string())),
        Err(error) => Err(failed(name, &error.to_string())),
    }
}

pub(crate) fn failed(name: &str, how: &str) -> Failure {
    Failure::new(
        "program_failed",
        format!("{name}: {how}. Its messages are in the job's log."),
    )
}

fn digest_of(child: &mut Child) -> io::Result<u64> {
    let Some(mut output) = child.stdout.take() else {
        return Ok(FNV_START);
    };
    let (mut digest, mut piece) = (FNV_START, vec![0; 1 << 16]);
    loop {
        let got = output.read(&mut piece)?;
        if got == 0 {
            return Ok(digest);
        }
        digest = piece[..got].iter().fold(digest, |digest, byte| {
            (digest ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
        });
    }
}

/// `wait4`, since the standard library does not hand on what a child used.
fn wait(child: &Child) -> io::Result<(ExitStatus, Used)> {
    let process = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // Safety: both places outlive the call, which fills them.
        if unsafe { libc::wait4(process, &raw mut status, 0, usage.as_mut_ptr()) } == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // Safety: zeros are a valid usage, and the kernel has written it.
    let usage = unsafe { usage.assume_init() };
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    let time = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * NS_PER_S
            + u64::try_from(time.tv_usec).unwrap_or(0) * NS_PER_US
    };
    let used = Used {
        ns: time(usage.ru_utime) + time(usage.ru_stime),
        peak_bytes: count(usage.ru_maxrss) * BYTES_PER_KIB,
        faults: count(usage.ru_minflt),
    };
    Ok((ExitStatus::from_raw(status), used))
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "what cannot be started fails the test, which is meant"
)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_of_means_is_the_mean_of_ratios() {
        let of = |ns| Used {
            ns,
            ..Used::default()
        };
        assert_eq!(Used::mean(&[of(100), of(400)]).ns, 200);
        let (ours, theirs) = (
            [of(1_000_000), of(9_000_000)],
            [of(2_000_000), of(2_000_000)],
        );
        assert_eq!(Used::mean(&ours).ns, 3_000_000);
        assert_eq!(Used::mean(&theirs).ns, 2_000_000);
        assert_eq!(
            Used::mean(&[of(0), of(1)]).ns,
            1,
            "what took no time counts as one"
        );
    }

    #[test]
    fn a_program_is_counted_with_its_children_and_told_apart_by_what_it_says() {
        let shell = |text: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", text]);
            run(&mut command, "sh")
        };
        let (idle, said) = shell("echo one").unwrap();
        let (busy, other) =
            shell("sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; echo two").unwrap();
        assert!(busy.ns > idle.ns, "{busy:?} {idle:?}");
        assert!(idle.peak_bytes > 0 && idle.faults > 0, "{idle:?}");
        assert_ne!(said, other);
        assert_eq!(said, shell("printf 'one\\n'").unwrap().1);
        assert_eq!(shell("exit 3").unwrap_err().code, "program_failed");
        assert!(shell("kill -9 $$").unwrap_err().text.contains("signal"));
    }
}
