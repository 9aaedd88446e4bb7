//! The readers' side under loom: every interleaving of a reader with the writer, and every value a
//! load may return.
//!
//! The code is `src/index.rs` itself with loom's types for `crate::sync`. Readers beside each other
//! are left out, as they write nothing, and so is the writer's lock.

#[path = "../src/id.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the crate's own module, compiled a second time"
)]
mod id;
#[path = "../src/index.rs"]
#[allow(dead_code, reason = "the crate's own module, compiled a second time")]
mod index;
#[path = "../src/pages.rs"]
mod pages;

/// What `src/sync.rs` names, as loom has it. What only owns is the standard library's: no reader touches it.
mod sync {
    pub(crate) use std::sync::{Arc, OnceLock};

    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
}

use id::Words;
use index::FinalIndex;
use loom::sync::Arc;
use loom::thread;

/// Switches from a thread that could go on, in one execution that loom tries.
const SWITCHES: usize = 2;
/// Odd, and small enough to choose lines by the id's highest bits.
const SECRET: u64 = 1;
/// After so many ids the next one makes the smallest table grow (2/5 of 8).
const BEFORE_GROWTH: u64 = 3;

/// An id that belongs to line `line` of four.
fn id(line: u64, number: u64) -> Words {
    [line << 62 | (number + 1), number, !number, number]
}

/// Every way in which `read` can meet a writer that inserts `ids` after `before` others.
fn beside_a_writer<const N: usize>(before: u64, ids: [Words; N], read: fn(&FinalIndex)) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(SWITCHES);
    builder.check(move || {
        let (index, mut writer) = FinalIndex::new(0, SECRET);
        for number in 0..before {
            index.insert(&mut writer, id(number % 4, number));
        }
        let index = Arc::new(index);
        let reading = Arc::clone(&index);
        let reader = thread::spawn(move || read(&reading));
        for id in ids {
            index.insert(&mut writer, id);
        }
        assert!(reader.join().is_ok());
        assert!(ids.iter().all(|id| index.contains(*id)));
    });
}

#[test]
fn whoever_sees_a_block_final_sees_what_became_final_before_it() {
    beside_a_writer(0, [id(1, 100), id(2, 101)], |index| {
        let saw_later = index.contains(id(2, 101));
        assert!(index.contains(id(1, 100)) || !saw_later);
    });
}

#[test]
fn an_id_that_was_seen_is_seen_again() {
    beside_a_writer(1, [id(0, 100)], |index| {
        let saw_it = index.contains(id(0, 100));
        assert!(index.contains(id(0, 100)) || !saw_it);
    });
}

#[test]
fn half_an_id_is_never_taken_for_a_whole_one() {
    let [first, ..] = id(1, 100);
    beside_a_writer(0, [[first, 7, 8, 9]], |index| {
        let [first, ..] = id(1, 100);
        assert!(
            !index.contains([first, 0, 0, 0]),
            "the words that are stored before the first"
        );
    });
}

#[test]
fn nothing_is_lost_while_the_table_is_followed_by_a_larger_one() {
    beside_a_writer(BEFORE_GROWTH, [id(1, 100)], |index| {
        let saw_it = index.contains(id(1, 100));
        assert!(index.contains(id(0, 0)), "it was there before");
        assert!(index.contains(id(1, 100)) || !saw_it);
    });
}
