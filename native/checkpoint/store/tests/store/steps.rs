//! The steps of a checkpoint beside its store, in any number and order.

use std::sync::Arc;

use paceline_checkpoint::Store;

use crate::beside::{assert_is, ready};
use crate::world::{OPTIONS, live_path, read_live};

#[test]
fn feeding_twice_or_running_twice_is_as_good_as_once() {
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
        let opened = Store::open(Arc::new(disk.after_power_loss(1)), &live_path(), OPTIONS).expect("opened");
        assert_is(&opened, "second", &before);
    }
}
