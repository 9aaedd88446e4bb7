//! The peers in C and assembly, ring and AWS-LC, each through its own crate.
//!
//! Static programs for devices are built without a C compiler: `compiled_absent.rs` takes its place
//! there.

use std::hint::black_box;
use std::rc::Rc;

use paceline_harness::{Arm, Failure};

use crate::inputs::{Inputs, Turns};
use crate::peers::{AWS_LC, RING};

/// Signing of each message by its key, in turn: ring, AWS-LC.
pub(crate) fn sign(inputs: &Rc<Inputs>) -> Result<[Arm; 2], Failure> {
    let refused = || Failure::new("no_key", "a library refused the seed");
    let seeds = (0..inputs.messages.len()).map(|index| *inputs.key(index).seed());
    let ring: Vec<_> = seeds
        .clone()
        .map(|seed| ring::signature::Ed25519KeyPair::from_seed_unchecked(&seed))
        .collect::<Result<_, _>>()
        .map_err(|_| refused())?;
    let aws: Vec<_> = seeds
        .map(|seed| aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(&seed))
        .collect::<Result<_, _>>()
        .map_err(|_| refused())?;
    let [(for_ring, ring_turns), (for_aws, aws_turns)] =
        [(); 2].map(|()| (Rc::clone(inputs), Turns::of(inputs)));
    Ok([
        Arm::counted(RING, 1, move || {
            let at = ring_turns.next();
            ring[at].sign(black_box(&for_ring.messages[at]))
        }),
        Arm::counted(AWS_LC, 1, move || {
            let at = aws_turns.next();
            aws[at].sign(black_box(&for_aws.messages[at]))
        }),
    ])
}

/// Verifying each signature of its message, in turn: ring, AWS-LC.
pub(crate) fn verify(inputs: &Rc<Inputs>) -> [Arm; 2] {
    let ring: Vec<_> = inputs
        .key_bytes()
        .into_iter()
        .map(|key| ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key))
        .collect();
    let aws: Vec<_> = inputs
        .key_bytes()
        .into_iter()
        .map(|key| {
            aws_lc_rs::signature::UnparsedPublicKey::new(&aws_lc_rs::signature::ED25519, key)
        })
        .collect();
    let [(for_ring, ring_turns), (for_aws, aws_turns)] =
        [(); 2].map(|()| (Rc::clone(inputs), Turns::of(inputs)));
    [
        Arm::counted(RING, 1, move || {
            let at = ring_turns.next();
            let signature = for_ring.signatures[at].as_bytes();
            ring[at]
                .verify(black_box(&for_ring.messages[at]), signature)
                .is_ok()
        }),
        Arm::counted(AWS_LC, 1, move || {
            let at = aws_turns.next();
            let signature = for_aws.signatures[at].as_bytes();
            aws[at]
                .verify(black_box(&for_aws.messages[at]), signature)
                .is_ok()
        }),
    ]
}
