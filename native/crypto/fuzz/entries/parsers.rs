//! Entry of fuzzing and of `attestation/tests/mutated.rs`: any bytes as an attestation and as a
//! domain.
//!
//! They are refused, or have one encoding: what was read.

use paceline_attestation::{Attestation, Domain};

/// Panics where that does not hold.
pub(crate) fn enter(bytes: &[u8]) {
    if let Ok(made) = Attestation::from_bytes(bytes) {
        assert_eq!(made.as_bytes(), bytes);
        let label = made.domain().label();
        assert_eq!(
            Domain::new(label).as_ref(),
            Ok(made.domain()),
            "a label that was read is one"
        );
        assert!(bytes.ends_with(made.payload()) && made.key_bytes().len() == 32);
    }
    if let Ok(label) = std::str::from_utf8(bytes)
        && let Ok(domain) = Domain::new(label)
    {
        assert_eq!(domain.label(), label);
    }
}
