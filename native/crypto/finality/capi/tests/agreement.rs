//! The C library against the Rust one, over random calls: null pointers, wrong sizes, two graphs by
//! turns. `FINALITY_CASES=100000` is a long run; fuzzing enters the same way (`../../../fuzz`).

#[path = "../../../fuzz/entries/c_abi.rs"]
mod entry;

use proptest::collection::vec;
use proptest::prelude::*;

/// In a program, at most.
const CALLS: usize = if cfg!(miri) { 20 } else { 120 };

/// Calls that get somewhere: a new block on a known one, weight, finality; whatever else between them.
fn call() -> impl Strategy<Value = [u8; 5]> {
    let flags = prop_oneof![4 => Just(0_u8), 4 => Just(16), 1 => any::<u8>()];
    let likely = (0..6_u8, 0..12_u8, 0..12_u8, 1..4_u8, flags)
        .prop_map(|(what, first, second, third, flags)| [what, first, second, third, flags]);
    prop_oneof![6 => likely, 1 => any::<[u8; 5]>()]
}

/// Miri is slow, and what it looks for shows in few calls.
fn cases() -> u32 {
    let asked = std::env::var("FINALITY_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    asked.unwrap_or(if cfg!(miri) { 2 } else { 256 })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn calls_get_somewhere() {
    let many = [
        include_bytes!("../../../fuzz/vectors/c_abi/fork_and_merge").as_slice(),
        include_bytes!("../../../fuzz/vectors/c_abi/sizes"),
        include_bytes!("../../../fuzz/vectors/c_abi/two"),
        include_bytes!("../../../fuzz/vectors/c_abi/nulls"),
    ];
    let chain = include_bytes!("../../../fuzz/vectors/c_abi/chain");
    assert_eq!(
        entry::enter(chain),
        1 + 6,
        "five blocks on the genesis of the first graph"
    );
    for other in &many[..if cfg!(miri) { 1 } else { many.len() }] {
        assert!(
            entry::enter(other) > 2,
            "something besides the two geneses is final"
        );
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_call_answers_as_rust_does_whatever_is_null_or_of_a_wrong_size(calls in vec(call(), 0..CALLS)) {
        entry::enter(&calls.concat());
    }
}
