//! The steps of a checkpoint beside its store, in any number and order, and steps that are interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use paceline_checkpoint::disk::FakeDisk;
use paceline_checkpoint::{ErrorKind, Store};

use crate::beside::{BYTES, assert_is, ready};
use crate::world::{OPTIONS, live_path, read_live};

#[test]
fn feeding_or_running_twice_has_no_further_effect() {
    for (feeds, runs) in [(1, 2), (2, 1), (3, 3)] {
        let (disk, mut store) = ready();
        let before = read_live(&disk);
        let mut pending = store.begin("second").expect("begun");
        let mut more = true;
        while more {
            more = (0..feeds).all(|_| store.feed(&mut pending));
            (0..runs).for_each(|_| pending.run());
        }
        let taken = store.finish(pending);
        taken.unwrap_or_else(|error| panic!("{feeds} feeds, {runs} runs: {error}"));
        assert_is(&store, "second", &before);
        drop(store);
        let opened =
            Store::open(Arc::new(disk.after_power_loss(1)), &live_path(), OPTIONS).expect("opened");
        assert_is(&opened, "second", &before);
    }
}

/// One panic at some stamp of a checkpoint; then the same checkpoint or its store is used further.
fn panics_at(look: u64, go_on: bool) -> bool {
    let (disk, mut store) = ready();
    store.checkpoint("full").expect("taken");
    // Another leaf of `a`, and enough for another segment.
    store.write_at("b", 0, &vec![8; BYTES]).expect("written");
    store.write_at("a", 0, &vec![8; BYTES]).expect("written");
    let before = read_live(&disk);
    let what = format!("look {look}, go on: {go_on}");
    let store = Mutex::new(store);
    let held = || store.lock().unwrap_or_else(PoisonError::into_inner);
    disk.meanwhile(look, |_: &FakeDisk| panic!("once"));
    let outcome = if go_on {
        let mut pending = held().begin("second").expect("begun");
        for _ in 0..100 {
            let _ = catch_unwind(AssertUnwindSafe(|| held().feed(&mut pending)));
            // Rescues leaves that were not read yet.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                held().write_at("b", 50_000, b"meanwhile")
            }));
            let _ = catch_unwind(AssertUnwindSafe(|| pending.run()));
        }
        held().finish(pending)
    } else {
        match catch_unwind(AssertUnwindSafe(|| {
            Store::checkpoint_beside(&store, "second")
        })) {
            Ok(taken) => taken,
            Err(_) => Store::checkpoint_beside(&store, "third"),
        }
    };
    let happened = !disk.is_meanwhile_due();
    disk.meanwhile(u64::MAX, |_: &FakeDisk| {});
    let mut store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome {
        Ok(taken) => assert_is(&store, &taken.checkpoint.name, &before),
        Err(error) => assert_ne!(error.kind(), ErrorKind::Locked, "{what}: {error}"),
    }
    match store.checkpoint("fourth") {
        Ok(_) => assert_is(&store, "fourth", &read_live(&disk)),
        Err(error) => {
            // It is unknown what was appended (D4), which the error says.
            assert_eq!(error.kind(), ErrorKind::Stopped, "{what}: {error}");
            drop(store);
            let mut store =
                Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("opened");
            store.checkpoint_observed("fourth").expect("taken");
            assert_is(&store, "fourth", &read_live(&disk));
        }
    }
    happened
}

#[test]
fn a_panic_at_any_look_of_a_checkpoint_loses_no_mark() {
    for go_on in [false, true] {
        let mut looks = 0;
        while panics_at(looks + 1, go_on) {
            looks += 1;
        }
        assert!(looks >= 4, "{looks} looks");
    }
}
