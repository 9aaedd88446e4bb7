//! Tests that no reported checkpoint is lost, and that the store can be opened and used again, after a
//! power loss, a kill or a failing disk at any operation.
//!
//! `CHECKPOINT_CRASHES` is how many such stops are tried; 10000 of them make a long run.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::world::{OPTIONS, World, is_stop, live_path, read_live, size};
use paceline_checkpoint::disk::{Disk, FakeDisk, Fault};
use paceline_checkpoint::{ErrorKind as Failure, Store};

const STEPS: u64 = 24;

/// Makes a store and takes all steps of a world; returns whether the machine stopped meanwhile.
fn run(world: &mut World) -> bool {
    let mut run = || {
        world.init()?;
        (0..STEPS).try_for_each(|_| world.step())
    };
    match run() {
        Ok(()) => false,
        Err(error) if is_stop(&error) => true,
        Err(error) => panic!("no crash explains: {error}"),
    }
}

/// Opens the store that a crash left, compares it with the world's model, then takes a checkpoint, rolls
/// back and folds.
fn recover(mut world: World, what: &str) {
    let opened = Store::open(Arc::new(world.disk.clone()), &live_path(), OPTIONS);
    let store = match opened {
        Ok(store) => store,
        Err(error) if error.kind() == Failure::NotFound && world.kept.is_empty() => return,
        Err(error) => panic!("{what}: {error}"),
    };
    world.check(&store);
    world.store = Some(store);
    let store = world.store.as_mut().expect("just put there");
    store
        .checkpoint_observed("recovered")
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let live = read_live(&world.disk);
    let ids: Vec<_> = store
        .bands("recovered")
        .expect("just made")
        .into_values()
        .map(|state| state.id)
        .collect();
    let theirs: Vec<_> = live
        .values()
        .map(|bytes| *blake3::hash(bytes).as_bytes())
        .collect();
    assert_eq!(ids, theirs, "{what}: the checkpoint of what was found");
    if let Some(name) = world.kept.keys().rfind(|name| !world.going.contains(name)) {
        store
            .rollback(name)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(
            read_live(&world.disk),
            world.kept[name],
            "{what}: rollback to {name}"
        );
    }
    store
        .fold()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(
        store.verify("recovered").expect("kept").wrong.is_empty(),
        "{what}: after a fold"
    );
}

#[test]
fn reported_checkpoints_survive_a_power_loss_at_any_operation() {
    let points = size("CHECKPOINT_CRASHES", 200);
    let mut tried = 0;
    for seed in 0.. {
        let mut whole = World::new(seed);
        assert!(!run(&mut whole));
        let steps = whole.disk.steps();
        // A short run stops each world at a few of its operations, a long run at nearly all.
        let stride = (steps * 20 / points.max(1)).clamp(1, steps / 5);
        for stop in (1 + seed % stride..=steps).step_by(usize::try_from(stride).expect("small")) {
            let mut world = World::new(seed);
            world.disk.stop_at(stop);
            run(&mut world);
            let what = format!("seed {seed}, stopped at {stop} of {steps}");
            world.store = None;
            world.disk = if stop % 5 == 0 {
                world.disk.after_kill()
            } else {
                world.disk.after_power_loss(stop)
            };
            recover(world, &what);
            tried += 1;
            if tried >= points {
                return;
            }
        }
    }
}

#[test]
fn a_full_or_failing_disk_at_any_operation_loses_nothing_that_was_reported() {
    let points = size("CHECKPOINT_FAULTS", 100);
    let mut tried = 0;
    for seed in 1000.. {
        let mut whole = World::new(seed);
        assert!(!run(&mut whole));
        let steps = whole.disk.steps();
        for at in (1 + seed % 7..=steps).step_by(7) {
            let kind = [
                ErrorKind::StorageFull,
                ErrorKind::Other,
                ErrorKind::ReadOnlyFilesystem,
            ][usize::try_from(at % 3).expect("small")];
            let mut world = World::new(seed);
            world.disk.fail(Fault {
                at,
                count: 1 + at % 4,
                kind,
            });
            let outcome = world
                .init()
                .and_then(|()| (0..STEPS).try_for_each(|_| world.step()));
            let what = format!("seed {seed}, {kind} at {at} of {steps}");
            // An error must be the injected fault. Whether a fault without an error did harm, `recover` checks.
            if let Err(error) = outcome {
                assert_eq!(error.system(), Some(kind), "{what}: {error}");
            }
            world.store = None;
            world.disk = world.disk.after_kill();
            let seen = match Store::open(Arc::new(world.disk.clone()), &live_path(), OPTIONS) {
                Ok(store) => store.list(),
                Err(_) => vec![],
            };
            // A checkpoint that was listed after the kill must be there after a power loss, too (D5).
            world.disk = world.disk.after_power_loss(at);
            if let Ok(store) = Store::open(Arc::new(world.disk.clone()), &live_path(), OPTIONS) {
                assert_eq!(store.list(), seen, "{what}: seen, then gone");
            }
            recover(world, &what);
            tried += 1;
            if tried >= points {
                return;
            }
        }
    }
}

/// A power loss undoes names that were not synced, separately in each directory of the fake disk. So
/// a removal may be kept while an earlier exchange in another directory is undone.
#[test]
fn live_is_whole_when_a_rollback_is_killed_opened_with_a_proof_and_the_power_goes() {
    let write = |store: &mut Store, name: &str| store.write_at(name, 0, name.as_bytes());
    let names = |disk: &FakeDisk| read_live(disk).into_keys().collect::<Vec<_>>();
    for operation in 1.. {
        let disk = FakeDisk::default();
        disk.make_dir(&live_path()).expect("made");
        let mut store =
            Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "none").expect("new");
        ["a", "b", "c"]
            .iter()
            .try_for_each(|name| write(&mut store, name))
            .expect("written");
        store.checkpoint("old").expect("taken");
        store.remove("a").expect("removed");
        ["d", "e"]
            .iter()
            .try_for_each(|name| write(&mut store, name))
            .expect("written");
        disk.sync_beneath(Path::new("/")).expect("synced");
        store.save_index();
        disk.stop_at(disk.steps() + operation);
        let done = store.rollback("old").is_ok();
        drop(store);
        let killed = disk.after_kill();
        let names_after = names(&killed);
        let whole = |names: &[String]| ["a b c", "b c d e"].contains(&names.join(" ").as_str());
        assert!(
            whole(&names_after),
            "stopped at {operation}: {names_after:?}"
        );
        drop(Store::open(Arc::new(killed.clone()), &live_path(), OPTIONS).expect("opened"));
        for seed in 0..32 {
            let left = names(&killed.after_power_loss(seed));
            assert!(
                whole(&left),
                "stopped at {operation}, power loss {seed}: {left:?}"
            );
            assert_eq!(
                left, names_after,
                "stopped at {operation}, power loss {seed}"
            );
        }
        if done {
            break;
        }
    }
}
