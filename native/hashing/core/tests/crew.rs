//! A crew digests what one thread digests, under every way it can be used.
#![allow(
    clippy::unwrap_used,
    reason = "what fails fails the test, which is meant"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use paceline_hashing_core::parallel::Crew;
use paceline_hashing_core::{
    Algorithm, BatchError, Choice, digest_buffers, digest_equal, digest_ragged,
};

/// Miri takes minutes for what a CPU does in a millisecond.
const CALLS: usize = if cfg!(miri) { 3 } else { 100 };
const MESSAGES: usize = if cfg!(miri) { 400 } else { 2000 };

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|i| (i * 7 + i / 251).to_le_bytes()[0])
        .collect()
}

/// One batch and its digests by one thread.
struct Case {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    expected: Vec<u8>,
}

impl Case {
    fn ragged(messages: usize) -> Self {
        let offsets: Vec<u32> = (0..=messages)
            .map(|i| u32::try_from(i * 149 + i % 5).unwrap())
            .collect();
        let bytes = pattern(offsets[messages] as usize);
        let mut expected = vec![0; messages * 32];
        digest_ragged(
            Algorithm::Sha256,
            Choice::Best,
            &bytes,
            &offsets,
            &mut expected,
        )
        .unwrap();
        Self {
            bytes,
            offsets,
            expected,
        }
    }

    fn assert_by(&self, crew: &Crew) {
        let mut digests = vec![0; self.expected.len()];
        let engine = crew.digest_ragged(
            Algorithm::Sha256,
            Choice::Best,
            &self.bytes,
            &self.offsets,
            &mut digests,
        );
        assert!(engine.is_ok());
        assert!(digests == self.expected, "another digest than one thread's");
    }
}

#[test]
fn a_crew_of_any_size_gives_the_digests_of_one_thread_call_after_call() {
    let case = Case::ragged(MESSAGES);
    for threads in [0, 1, 2, 3, 8] {
        let crew = Crew::new(threads).unwrap();
        assert_eq!(crew.threads(), threads.max(1));
        for _ in 0..=CALLS / 10 {
            case.assert_by(&crew);
        }
    }
}

#[test]
fn every_shape_of_batch_is_shared() {
    let crew = Crew::new(2).unwrap();
    let bytes = pattern(if cfg!(miri) { 1 << 14 } else { 1 << 20 });
    for algorithm in [Algorithm::Sha1, Algorithm::Sha256] {
        let size = algorithm.digest_bytes();
        let buffers: Vec<&[u8]> = bytes.chunks(bytes.len() / 11).collect();
        let (mut alone, mut shared) =
            (vec![0; buffers.len() * size], vec![1; buffers.len() * size]);
        digest_buffers(algorithm, Choice::Best, &buffers, &mut alone).unwrap();
        crew.digest_buffers(algorithm, Choice::Best, &buffers, &mut shared)
            .unwrap();
        assert_eq!(alone, shared);
        let (mut alone, mut shared) = (
            vec![0; bytes.len() / 64 * size],
            vec![1; bytes.len() / 64 * size],
        );
        digest_equal(algorithm, Choice::Best, &bytes, 64, &mut alone).unwrap();
        crew.digest_equal(algorithm, Choice::Best, &bytes, 64, &mut shared)
            .unwrap();
        assert_eq!(alone, shared);
    }
}

/// The second caller finds the crew taken and digests alone.
#[test]
fn callers_that_share_a_crew_do_not_disturb_each_other() {
    let crew = Crew::new(3).unwrap();
    let case = Case::ragged(MESSAGES / 4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..CALLS).for_each(|_| case.assert_by(&crew)));
        }
    });
}

#[test]
fn a_crew_works_beside_threads_that_keep_every_core_busy() {
    let stop = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            let stop = Arc::clone(&stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let case = Case::ragged(MESSAGES);
        let crew = Crew::new(2).unwrap();
        (0..=CALLS / 10).for_each(|_| case.assert_by(&crew));
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_crew_refuses_what_one_thread_refuses_and_writes_nothing() {
    let crew = Crew::new(2).unwrap();
    let bytes = pattern(1 << 17);
    let mut digests = vec![9; 32 * 2048];
    let refused = crew.digest_equal(Algorithm::Sha256, Choice::Best, &bytes, 63, &mut digests);
    assert_eq!(
        refused,
        Err(BatchError::MessagesLength {
            len: 1 << 17,
            expected: Some(63 * 2048)
        })
    );
    assert!(digests.iter().all(|byte| *byte == 9));
}
