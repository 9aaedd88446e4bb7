//! A launch keeps a block as large as its padding until it ends, so that what it allocates lies elsewhere.
#![allow(
    clippy::unwrap_used,
    reason = "what cannot be run fails the test, which is meant"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};

use paceline_harness::{Arm, Benchmark, Prepared, Workload, session};

/// A size that no other block of this test has.
const PADDING: usize = 3_344;
static HELD: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, which counts blocks of that size.
struct Counting;

// Safety: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(usize::from(layout.size() == PADDING), Ordering::Relaxed);
        // Safety: the caller's arguments are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(usize::from(layout.size() == PADDING), Ordering::Relaxed);
        // Safety: the caller's arguments are handed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn the_heap_of_a_launch_begins_with_its_padding() {
    if std::env::var_os("PACELINE_LAYOUT").is_some() {
        return measure();
    }
    let name = "the_heap_of_a_launch_begins_with_its_padding";
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", name]);
    again.env("PACELINE_LAYOUT", ".".repeat(PADDING));
    assert!(again.status().unwrap().success());
}

fn measure() {
    let workload = Workload {
        suite: "example".to_owned(),
        name: "held".to_owned(),
        benchmarks: vec![Benchmark {
            name: "held".to_owned(),
            arms: vec!["one".to_owned()],
            params: Vec::new(),
            metrics: Vec::new(),
            prepare: Box::new(|_| {
                assert_eq!(HELD.load(Ordering::Relaxed), 1);
                Ok(Prepared {
                    arms: vec![Arm::new("one", || 1)],
                    items_per_iteration: None,
                    bytes_per_iteration: None,
                    verify: Box::new(Vec::new),
                })
            }),
        }],
        knobs: Vec::new(),
        open: Box::new(|| Ok(Vec::new())),
        checks: Box::new(Vec::new),
    };
    let quick = ["--rounds", "1", "--min-time-ns", "0"].map(str::to_owned);
    assert_eq!(
        session::run(&workload, &quick, std::io::sink()),
        ExitCode::SUCCESS
    );
    assert_eq!(HELD.load(Ordering::Relaxed), 0);
}
