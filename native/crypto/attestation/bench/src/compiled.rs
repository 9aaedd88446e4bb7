//! Makes the arms of ring and AWS-LC, libraries in C and assembly, each through its own crate.
//!
//! Static programs for devices are built without a C compiler; there `compiled_absent.rs` takes the place
//! of this file.

use std::hint::black_box;
use std::rc::Rc;

use paceline_harness::{Arm, Failure};

use crate::inputs::{Inputs, Turns};
use crate::peers::{AWS_LC, RING};

/// Returns the arms (ring, AWS-LC) that sign one message after the other, each by its key.
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

/// Returns the arms (ring, AWS-LC) that verify one signature after the other.
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
