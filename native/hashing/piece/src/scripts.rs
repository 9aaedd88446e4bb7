//! A host with scripts in it, and an arm as one of their functions; the twin of `PieceArms.kt`.
//!
//! The CPU time of the JS thread and the time inside digests are read at the same places as there.
//! An arm cannot fail, so what a script throws is kept and reported by the next check
//! ([`Scripts::failed`]).

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::available_parallelism;

use paceline_harness::event::Work;
use paceline_harness::order::SplitMix64;
use paceline_harness::{Arm, Direction, Failure, Metric, Reading, Unit};
use paceline_hashing_core::{Algorithm, Choice, Engine, digest_buffers};
use paceline_hashing_quickjs as quickjs;
use quickjs::{Argument, DIGEST_BYTES, Digest, Hasher, Host, Leaving, Running, Threads};

pub(crate) const JS_THREAD: &str = "js_thread";
pub(crate) const DIGEST: &str = "digest";
pub(crate) const CALL_TIME: &str = "call_time";
/// Why an arm that hashes in Kotlin is not measured.
pub(crate) const NEEDS_KOTLIN: &str = "it hashes in Kotlin, by JNI, and this program has no JVM";

/// Metrics of time, all of them the better the lower.
pub(crate) fn times(names: &[&str]) -> Vec<Metric> {
    let time = |name: &str| Metric {
        name: name.into(),
        unit: Unit::Nanoseconds,
        direction: Direction::Lower,
    };
    names.iter().map(|name| time(name)).collect()
}

/// The arms of `names` that need Kotlin, as they are announced.
pub(crate) fn without_kotlin(names: &[&str]) -> Vec<Arm> {
    names
        .iter()
        .map(|name| Arm::unavailable(name, NEEDS_KOTLIN))
        .collect()
}

pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Pieces that depend on the seed alone; Kotlin generates the same from the same seed.
pub(crate) fn drawn(seed: u64, count: usize, bytes: u64) -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(seed);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut piece = || {
        let mut piece: Vec<u8> = (0..bytes.div_ceil(8))
            .flat_map(|_| random.draw().to_be_bytes())
            .collect();
        piece.truncate(bytes);
        piece
    };
    (0..count).map(|_| piece()).collect()
}

/// The digests of pieces by the core's scalar engine; every arm is compared with them.
pub(crate) fn expected(pieces: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    let mut digests = vec![0; pieces.len() * DIGEST_BYTES];
    match digest_buffers(
        Algorithm::Sha1,
        Choice::Only(Engine::Scalar),
        &pieces,
        &mut digests,
    ) {
        Ok(_) => Ok(digests),
        Err(error) => Err(Failure::new("digest", error.to_string())),
    }
}

/// Opens a host that lives as long as this value.
pub(crate) struct Scripts {
    host: Option<Host>,
    failed: RefCell<Option<String>>,
}

impl Drop for Scripts {
    fn drop(&mut self) {
        if let Some(host) = self.host.take() {
            host.close();
        }
    }
}

impl Scripts {
    pub(crate) fn open() -> Result<Self, Failure> {
        let threads = Threads {
            crew: processors(),
            workers: processors(),
        };
        match Host::open(Arc::new(NoKotlin), threads) {
            Ok(host) => Ok(Self {
                host: Some(host),
                failed: RefCell::default(),
            }),
            Err(text) => Err(Failure::new("quickjs", text)),
        }
    }

    pub(crate) fn eval(&self, source: &str) -> Result<String, Leaving> {
        self.entered(|host| host.eval(source.to_owned(), "checks.js"))
    }

    /// Calls a function; returns its bytes, if it returns any.
    pub(crate) fn call(&self, function: &str, count: u64) -> Option<Vec<u8>> {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.kept(self.entered(|host| host.call(function, Argument::Count(count))))
    }

    /// Calls a function with a copy of `bytes`.
    pub(crate) fn give(&self, function: &str, bytes: Vec<u8>) -> Option<Vec<u8>> {
        self.kept(self.entered(|host| host.call(function, Argument::Bytes(bytes))))
    }

    /// Parses the whole numbers that a function returns as text in ASCII, separated by spaces.
    pub(crate) fn numbers(&self, function: &str) -> Vec<u64> {
        let text = self.call(function, 0).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .split(' ')
            .filter_map(|number| number.parse().ok())
            .collect()
    }

    /// What the first failed script threw, if one failed.
    pub(crate) fn failed(&self) -> Option<String> {
        self.failed.borrow().clone()
    }

    fn kept(&self, outcome: Result<Option<Vec<u8>>, Leaving>) -> Option<Vec<u8>> {
        outcome.unwrap_or_else(|leaving| {
            self.failed
                .borrow_mut()
                .get_or_insert_with(|| leaving.to_string());
            None
        })
    }

    fn entered<T>(
        &self,
        work: impl FnOnce(&Running<'_>) -> Result<T, Leaving>,
    ) -> Result<T, Leaving> {
        let Some(host) = &self.host else {
            return Err(Leaving::State("the host is closed".to_owned()));
        };
        work(&host.enter()?)
    }

    fn digest_ns(&self) -> i64 {
        self.entered(|host| Ok(host.digest_ns())).unwrap_or(0)
    }
}

/// The CPU time of a timed region, and the part of it inside digests.
#[derive(Default)]
struct Costs {
    thread_ns: Cell<i64>,
    digests_ns: Cell<i64>,
}

impl Costs {
    fn of(&self, scripts: &Scripts, work: impl FnOnce()) {
        let digests = scripts.digest_ns();
        // If the clock cannot be read at one end, the time is zero.
        let thread = quickjs::thread_cpu_ns().unwrap_or(0);
        work();
        self.thread_ns
            .set(quickjs::thread_cpu_ns().unwrap_or(0) - thread);
        self.digests_ns.set(scripts.digest_ns() - digests);
    }
}

fn total(ns: &Cell<i64>) -> Reading {
    Reading::Total(u64::try_from(ns.get()).unwrap_or(0))
}

/// An arm that runs `body` and reports its cost, with `work` as counters.
pub(crate) fn script_arm(
    name: &str,
    scripts: &Rc<Scripts>,
    mut body: impl FnMut(&Scripts, u64) + 'static,
    mut after: impl FnMut(&Scripts) + 'static,
    work: impl FnMut() -> Work + 'static,
) -> Arm {
    let costs = Rc::new(Costs::default());
    let (thread, digests) = (Rc::clone(&costs), Rc::clone(&costs));
    let scripts = Rc::clone(scripts);
    Arm::looped(name, move |iterations| {
        costs.of(&scripts, || body(&scripts, iterations));
        after(&scripts);
    })
    .with_work(work)
    .with_metric(JS_THREAD, move || total(&thread.thread_ns))
    .with_metric(DIGEST, move || total(&digests.digests_ns))
}

/// Refuses every call into Kotlin with a reason.
struct NoKotlin;

impl Hasher for NoKotlin {
    fn copied(&self, _bytes: &[u8]) -> Result<Digest, quickjs::Failure> {
        Err(quickjs::Failure::new(NEEDS_KOTLIN))
    }

    fn reused(&self, bytes: &[u8]) -> Result<Digest, quickjs::Failure> {
        self.copied(bytes)
    }

    unsafe fn direct(
        &self,
        _start: NonNull<u8>,
        _bytes: usize,
    ) -> Result<Digest, quickjs::Failure> {
        Err(quickjs::Failure::new(NEEDS_KOTLIN))
    }

    fn batch(&self, _pieces: &[&[u8]]) -> Result<Vec<Digest>, quickjs::Failure> {
        Err(quickjs::Failure::new(NEEDS_KOTLIN))
    }

    fn log(&self, line: &str) -> Result<(), quickjs::Failure> {
        eprintln!("{line}");
        Ok(())
    }
}
