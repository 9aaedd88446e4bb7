//! Random interleavings of everything the store does, against a model, on the fake disk.
//!
//! `CHECKPOINT_STEPS=100000` is the long run.

use crate::world::{World, read_live, size};

#[test]
fn every_checkpoint_is_bit_identical_after_any_interleaving() {
    let steps = size("CHECKPOINT_STEPS", 2000);
    let per_world = 250;
    for seed in 0..steps.div_ceil(per_world) {
        let mut world = World::new(seed);
        world.init().expect("a store");
        for step in 0..per_world {
            world
                .step()
                .unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error}"));
            if step % 25 == 24 {
                world.check(world.store.as_ref().expect("open"));
                assert_eq!(
                    read_live(&world.disk),
                    world.live,
                    "seed {seed}, step {step}"
                );
            }
        }
    }
}
