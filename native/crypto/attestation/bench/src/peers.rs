//! The same keys and signatures in the types of other libraries. Conversion is not timed.

use std::rc::Rc;

use paceline_attestation::engine::is_withheld;
use paceline_attestation_peers::Peers;
use paceline_harness::Failure;

use crate::inputs::Inputs;

/// Names of the arms that are other people's libraries.
pub(crate) const DALEK: &str = "dalek";
pub(crate) const ZEBRA: &str = "zebra";
/// The same two with `curve25519-dalek`'s AVX-512 vectors.
pub(crate) const DALEK_IFMA: &str = "dalek_ifma";
pub(crate) const ZEBRA_IFMA: &str = "zebra_ifma";
pub(crate) const RING: &str = "ring";
pub(crate) const AWS_LC: &str = "aws_lc_rs";

/// Whatever the library chooses on this CPU: what the gates on rates are about.
pub(crate) const OURS: &str = "ours";

/// Why C is in no program for a device: an arm says it.
pub(crate) const STATIC: &str =
    "this program is static, as programs for devices are, and built without a C compiler";

/// Why an engine of ours cannot be an arm here.
pub(crate) fn missing(engine: &str) -> &'static str {
    match engine {
        _ if is_withheld(engine) => "PACELINE_ATTESTATION_WITHOUT in this environment names it",
        "aws_lc" => STATIC,
        _ => "this CPU has no AVX-512 with IFMA",
    }
}

/// The peers that stand on `curve25519-dalek`, as the workspace builds it.
pub(crate) fn of(inputs: &Inputs) -> Result<Rc<Peers>, Failure> {
    Peers::new(
        &inputs.key_bytes(),
        &inputs.signature_bytes(),
        inputs.messages.clone(),
    )
    .map(Rc::new)
    .ok_or_else(|| Failure::new("no_key", "a peer refused a key of ours"))
}
