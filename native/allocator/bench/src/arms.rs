//! The allocators to measure, and how a process is made to use each.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use paceline_harness::Failure;

/// How an arm gets into its process, and whether the kernel may give it huge pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// `LD_PRELOAD`, no huge pages for any arm.
    Preload,
    /// Linked into the program, no huge pages for any arm.
    Direct,
    /// `LD_PRELOAD`; every arm asks for huge pages, by its own option where it does not by itself.
    PreloadHugePages,
    /// `LD_PRELOAD` and nothing else: what real programs get.
    Shipped,
}

impl Setup {
    /// As `suite.toml` spells them.
    pub(crate) const NAMES: [&str; 4] = [
        "preload",
        "direct",
        "preload_huge_pages",
        "preload_as_shipped",
    ];

    /// What benchmarks without that param use: a device's programs are static, so they link their arm.
    pub(crate) const USUAL: Self = if STATIC { Self::Direct } else { Self::Preload };

    /// By its name, which the harness has checked.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "direct" => Self::Direct,
            "preload_huge_pages" => Self::PreloadHugePages,
            "preload_as_shipped" => Self::Shipped,
            _ => Self::Preload,
        }
    }
}

/// A program for devices: nothing can be preloaded into its subjects.
const STATIC: bool = cfg!(target_env = "musl");

type Variables = &'static [(&'static str, &'static str)];

/// One arm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocator {
    /// As `suite.toml` names it.
    pub(crate) name: &'static str,
    /// Of which library; None is libc's own.
    library: Option<&'static str>,
    /// What makes it this arm.
    variables: Variables,
    /// What makes it ask for huge pages; None: nothing does.
    huge: Option<Variables>,
}

const fn of(
    name: &'static str,
    library: Option<&'static str>,
    huge: Option<Variables>,
) -> Allocator {
    Allocator {
        name,
        library,
        variables: &[],
        huge,
    }
}

/// Every arm, in the order of `suite.toml`.
pub(crate) const ALL: [Allocator; 12] = [
    of("paceline", Some("paceline"), Some(&[])),
    Allocator {
        variables: &[("PACELINE_ALLOC_HARDENED", "1")],
        ..of("paceline_hardened", Some("paceline"), Some(&[]))
    },
    of(
        "system",
        None,
        Some(&[("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")]),
    ),
    of(
        "mimalloc343",
        Some("mimalloc343"),
        Some(&[("MIMALLOC_ALLOW_THP", "1")]),
    ),
    of(
        "mimalloc",
        Some("mimalloc"),
        Some(&[("MIMALLOC_ALLOW_THP", "1")]),
    ),
    of(
        "mimalloc2",
        Some("mimalloc2"),
        Some(&[("MIMALLOC_ALLOW_THP", "1")]),
    ),
    of(
        "jemalloc",
        Some("jemalloc"),
        Some(&[("MALLOC_CONF", "thp:always")]),
    ),
    // Its caches are per CPU by a registration with the kernel (rseq) that glibc makes first.
    Allocator {
        variables: &[("GLIBC_TUNABLES", "glibc.pthread.rseq=0")],
        ..of("tcmalloc", Some("tcmalloc"), Some(&[]))
    },
    of("gperftools", Some("gperftools"), None),
    of("snmalloc", Some("snmalloc"), None),
    of("rpmalloc", Some("rpmalloc"), None),
    of("bound", Some("bound"), None),
];

/// Bytes of every subject's environment: with another length its stack would lie elsewhere.
const ENVIRONMENT_BYTES: usize = 1024;
/// What a subject is called, whichever file it is, for the same reason.
pub(crate) const ARGUMENT_0: &str = "subject";

/// The folder with `subject`, `direct/`, `lib/` and `traces/`: where this program lies.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let this =
        std::env::current_exe().map_err(|error| Failure::new("internal", error.to_string()))?;
    Ok(this.parent().unwrap_or(Path::new("/")).to_owned())
}

impl Allocator {
    /// The file it comes from in `folder`; libc's own: that of the plain subject.
    fn file(&self, folder: &Path, setup: Setup) -> PathBuf {
        match (self.library, setup) {
            (None, _) => folder.join("subject"),
            (Some(library), Setup::Direct) => {
                folder.join("direct").join(format!("subject-{library}"))
            }
            (Some(library), _) => folder.join("lib").join(format!("lib{library}.so")),
        }
    }

    /// Why it cannot be measured, if so.
    pub(crate) fn missing(&self, folder: &Path, setup: Setup) -> Option<String> {
        if STATIC && setup != Setup::Direct {
            return Some(
                "a static program loads no library; setup=direct has the arm linked in".to_owned(),
            );
        }
        if setup == Setup::PreloadHugePages && self.huge.is_none() {
            return Some(format!(
                "{} has no option that asks for huge pages",
                self.name
            ));
        }
        if self.file(folder, setup).exists() {
            return None;
        }
        let why = self
            .library
            .map(|library| folder.join("lib").join(format!("{library}.why")));
        let reason = why.and_then(|path| std::fs::read_to_string(path).ok());
        let reason = reason.map(|text| text.trim().to_owned());
        Some(reason.unwrap_or_else(|| format!("{} was not built: see bench/build.sh", self.name)))
    }

    /// A subject with this allocator and nothing else about it; arguments are the caller's.
    pub(crate) fn command(&self, folder: &Path, setup: Setup) -> Command {
        let file = self.file(folder, setup);
        let direct = setup == Setup::Direct || self.library.is_none();
        let mut command = Command::new(if direct {
            file.clone()
        } else {
            folder.join("subject")
        });
        command.env_clear().arg0(ARGUMENT_0);
        let mut variables: Vec<(&str, OsString)> = self
            .variables
            .iter()
            .map(|(name, value)| (*name, (*value).into()))
            .collect();
        if !direct {
            variables.push(("LD_PRELOAD", file.into()));
        }
        if setup == Setup::PreloadHugePages {
            let asks = self.huge.unwrap_or_default();
            variables.extend(asks.iter().map(|(name, value)| (*name, (*value).into())));
        } else if setup != Setup::Shipped && kernel_forbids_huge_pages() {
            // Safety: between fork and exec only this system call, which touches no memory of this process.
            unsafe { command.pre_exec(no_huge_pages) };
        }
        // NAME=value and its end, as the kernel lays them out.
        let used: usize = variables
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum();
        let padding = ENVIRONMENT_BYTES.saturating_sub(used + "PADDING=".len() + 1);
        command.env("PADDING", "x".repeat(padding)).envs(variables);
        command
    }

    /// Any program with this allocator preloaded, as it is shipped; the environment is else empty.
    pub(crate) fn around(&self, folder: &Path, words: &[String]) -> Command {
        let (program, arguments) = words
            .split_first()
            .map_or(("", words), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.variables.iter().copied());
        if self.library.is_some() {
            command.env("LD_PRELOAD", self.file(folder, Setup::Shipped));
        }
        command
    }

    /// Whether `provider`, where a subject says its malloc is, is this allocator.
    pub(crate) fn is_provided_by(&self, provider: &str, setup: Setup) -> bool {
        match (self.library, setup) {
            (None, _) => provider.contains("libc.") || provider.contains("libc-"),
            (Some(_), Setup::Direct) => provider == ARGUMENT_0,
            (Some(library), _) => provider.ends_with(&format!("/lib{library}.so")),
        }
    }
}

/// Whether this kernel knows how: qemu's does not, which is then among the facts.
fn kernel_forbids_huge_pages() -> bool {
    // Safety: the call takes numbers only.
    unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) >= 0 }
}

/// For this process and what it becomes: the kernel gives no transparent huge pages, asked or not.
fn no_huge_pages() -> io::Result<()> {
    // Safety: the call takes numbers only.
    match unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What runs: the kernel's policy of huge pages, CPUs, and the version of each arm that was built.
pub(crate) fn facts() -> Result<Vec<(String, String)>, Failure> {
    let folder = folder()?;
    let policy = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let policy = policy.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
    let mut facts = vec![
        ("huge_pages".to_owned(), policy),
        ("cpus".to_owned(), cpus().to_string()),
    ];
    if !kernel_forbids_huge_pages() {
        facts.push((
            "huge_pages_forbidden".to_owned(),
            "no: this kernel cannot".to_owned(),
        ));
    }
    // The system's own has one where it is linked in: which C library that is.
    for library in ALL.iter().map(|arm| arm.library.unwrap_or(arm.name)) {
        let version =
            std::fs::read_to_string(folder.join("lib").join(format!("{library}.version")));
        if let Ok(version) = version {
            facts.push((format!("arm.{library}"), version.trim().to_owned()));
        }
    }
    facts.dedup();
    Ok(facts)
}

/// CPUs this process may use.
pub(crate) fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
