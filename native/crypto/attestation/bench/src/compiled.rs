//! The peers in C and assembly, ring and AWS-LC, each through its own crate.
//!
//! Static programs for devices are built without a C compiler: `compiled_absent.rs` takes its place
//! there.

use std::hint::black_box;
use std::rc::Rc;

use paceline_harness::{Arm, Failure};

use crate::peers::{AWS_LC, RING};

/// Signing of `message` by the key of `seed`: ring, AWS-LC.
pub(crate) fn sign(seed: &[u8; 32], message: &Rc<[u8]>) -> Result<[Arm; 2], Failure> {
    let refused = || Failure::new("no_key", "a library refused the seed");
    let ring = ring::signature::Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| refused())?;
    let aws =
        aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| refused())?;
    let (one, two) = (Rc::clone(message), Rc::clone(message));
    Ok([
        Arm::counted(RING, 1, move || ring.sign(black_box(&one))),
        Arm::counted(AWS_LC, 1, move || aws.sign(black_box(&two))),
    ])
}

/// Verifying `signature` of `message`: ring, AWS-LC.
pub(crate) fn verify(key: [u8; 32], signature: [u8; 64], message: &Rc<[u8]>) -> [Arm; 2] {
    let ring = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key);
    let aws = aws_lc_rs::signature::UnparsedPublicKey::new(&aws_lc_rs::signature::ED25519, key);
    let (one, two) = (Rc::clone(message), Rc::clone(message));
    [
        Arm::counted(RING, 1, move || {
            ring.verify(black_box(&one), &signature).is_ok()
        }),
        Arm::counted(AWS_LC, 1, move || {
            aws.verify(black_box(&two), &signature).is_ok()
        }),
    ]
}
