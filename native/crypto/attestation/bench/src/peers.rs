//! The same keys and signatures in the types of other libraries. Conversion is not timed.

use std::cell::Cell;
use std::rc::Rc;

use paceline_harness::Arm;

use crate::inputs::Inputs;

/// Names of the arms that are other people's libraries.
pub(crate) const DALEK: &str = "dalek";
pub(crate) const ZEBRA: &str = "zebra";
pub(crate) const RING: &str = "ring";
pub(crate) const AWS_LC: &str = "aws_lc_rs";

/// Why C is in no program for a device: an arm says it.
pub(crate) const STATIC: &str =
    "this program is static, as programs for devices are, and built without a C compiler";

/// Why an engine of ours cannot be an arm here.
pub(crate) fn missing(engine: &str) -> &'static str {
    if engine == "aws_lc" { STATIC } else { "not on this CPU" }
}

/// Inputs for `ed25519-dalek`.
pub(crate) struct Dalek {
    pub(crate) keys: Vec<ed25519_dalek::VerifyingKey>,
    pub(crate) signatures: Vec<ed25519_dalek::Signature>,
}

impl Dalek {
    /// Key and signature of each item.
    pub(crate) fn new(inputs: &Inputs) -> Self {
        let keys = (0..inputs.messages.len())
            .map(|index| ed25519_dalek::SigningKey::from_bytes(inputs.key(index).seed()).verifying_key())
            .collect();
        let signature = |signature: &paceline_attestation::Signature| (*signature.as_bytes()).into();
        Self { keys, signatures: inputs.signatures.iter().map(signature).collect() }
    }
}

/// An arm that counts the `items` it does: for itself, since the arms of a round are asked after all ran.
pub(crate) fn counted<T>(name: &str, items: usize, mut work: impl FnMut() -> T + 'static) -> Arm {
    let made = Rc::new(Cell::new(0));
    let counter = Rc::clone(&made);
    Arm::new(name, move || {
        let done = work();
        made.set(made.get() + items as u64);
        done
    })
    .with_work(move || vec![("items".to_owned(), counter.take())])
}
