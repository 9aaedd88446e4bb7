//! The functions as a caller of C calls them, from Rust: so that Miri follows every pointer (`cargo
//! +nightly miri test -p paceline-finality-capi --test pointers`). The C program is in `c_abi.rs`.

use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

use paceline_finality_capi::{
    Status, paceline_graph_attest, paceline_graph_finalise, paceline_graph_free,
    paceline_graph_insert, paceline_graph_is_final, paceline_graph_new, paceline_graph_prune,
    paceline_graph_restore, paceline_graph_snapshot,
};

const OK: i32 = Status::Ok as i32;

/// Enough that the graph's table grows twice; Miri is slow.
const BLOCKS: u8 = if cfg!(miri) { 12 } else { 200 };

/// Ids one after the other from an odd address on: the ABI asks for no alignment.
fn ids() -> Vec<u8> {
    let id =
        |number: u8| (0..32_u8).map(move |byte| number.wrapping_mul(37).wrapping_add(byte) | 1);
    [0].into_iter().chain((0..=BLOCKS).flat_map(id)).collect()
}

fn at(ids: &[u8], number: u8) -> *const u8 {
    ids[1 + 32 * usize::from(number)..].as_ptr()
}

#[test]
fn every_call_reads_and_writes_only_what_the_header_says() {
    let ids = ids();
    // SAFETY: ids are there, results are writable or null, the handles are freed once, at the end.
    unsafe {
        let graph = paceline_graph_new(at(&ids, 0), 1);
        let (mut height, mut sum, mut finalised, mut abandoned, mut forgotten) = (0, 0, 0, 0, 0);
        for number in 1..BLOCKS {
            let parents = at(&ids, number - 1);
            assert_eq!(
                paceline_graph_insert(graph, at(&ids, number), parents, 1, &raw mut height),
                OK
            );
            assert_eq!(
                paceline_graph_attest(graph, at(&ids, number), 1, &raw mut sum),
                OK
            );
            let (some, none) = (&raw mut finalised, &raw mut abandoned);
            assert_eq!(
                paceline_graph_finalise(graph, at(&ids, number), some, none),
                OK
            );
            assert_eq!(
                (height, sum, finalised, abandoned),
                (number.into(), 1, 1, 0)
            );
        }
        assert_eq!(paceline_graph_prune(graph, 3, &raw mut forgotten), OK);
        assert_eq!(forgotten, 3);
        let mut size = 0;
        let asked = paceline_graph_snapshot(graph, null_mut(), 0, &raw mut size);
        assert_eq!(asked, Status::TooSmall as i32);
        let mut bytes = vec![0; size];
        assert_eq!(
            paceline_graph_snapshot(graph, bytes.as_mut_ptr(), size, null_mut()),
            OK
        );
        paceline_graph_free(graph);
        let mut restored = null_mut();
        assert_eq!(
            paceline_graph_restore(bytes.as_ptr(), size, &raw mut restored),
            OK
        );
        let last = i32::from(paceline_graph_is_final(restored, at(&ids, BLOCKS)) == 0);
        let known = (0..BLOCKS).map(|number| paceline_graph_is_final(restored, at(&ids, number)));
        assert_eq!(known.sum::<i32>() + last, i32::from(BLOCKS) + 1);
        paceline_graph_free(restored);
        assert_eq!(
            paceline_graph_is_final(null(), at(&ids, 0)),
            Status::Argument as i32
        );
    }
}

#[test]
fn threads_may_share_a_handle() {
    let ids = ids();
    // SAFETY: as above; the graph is freed after all threads ended.
    unsafe {
        let graph = AtomicPtr::new(paceline_graph_new(at(&ids, 0), 1));
        let handle = || graph.load(Ordering::Relaxed); // a raw pointer alone may not go to another thread
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..BLOCKS {
                    let (id, parent) = (at(&ids, number), at(&ids, number - 1));
                    assert_eq!(
                        paceline_graph_insert(handle(), id, parent, 1, null_mut()),
                        OK
                    );
                    assert_eq!(paceline_graph_attest(handle(), id, 1, null_mut()), OK);
                    assert_eq!(
                        paceline_graph_finalise(handle(), id, null_mut(), null_mut()),
                        OK
                    );
                }
            });
            for number in (1..BLOCKS).rev() {
                let seen = paceline_graph_is_final(handle(), at(&ids, number));
                let before = paceline_graph_is_final(handle(), at(&ids, number - 1));
                assert!(before >= seen, "a block was final before its parent");
            }
        });
        paceline_graph_free(handle());
    }
}
