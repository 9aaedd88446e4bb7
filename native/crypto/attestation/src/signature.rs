//! A signature is any 64 bytes; only verification decides whether they are valid.

use std::fmt;

use curve25519_dalek::scalar::Scalar;

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// R and s of RFC 8032 §5.1.6, as they were received.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([u8; SIGNATURE_BYTES]);

impl Signature {
    /// Makes a signature of any bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; SIGNATURE_BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes it was made of.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; SIGNATURE_BYTES] {
        &self.0
    }

    /// Returns the encoded R.
    pub(crate) fn commitment(&self) -> &[u8; 32] {
        let (commitment, _) = halves(&self.0);
        commitment
    }

    /// Returns s if it is below the group's order, the only encoding that ZIP 215 and RFC 8032 accept.
    pub(crate) fn response(&self) -> Option<Scalar> {
        let (_, response) = halves(&self.0);
        Option::from(Scalar::from_canonical_bytes(*response))
    }
}

/// Splits the bytes into halves without a run-time check.
fn halves(bytes: &[u8; SIGNATURE_BYTES]) -> (&[u8; 32], &[u8; 32]) {
    let [commitment, response] = bytes.as_chunks::<32>().0 else {
        return (&[0; 32], &[0; 32]);
    };
    (commitment, response)
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}
