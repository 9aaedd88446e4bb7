//! libcrypto in static programs for devices: absent, with the reason for its arm.

use paceline_hashing_core::Algorithm;

/// Never constructed.
pub(crate) enum LibCrypto {}

impl LibCrypto {
    /// Always the reason.
    pub(crate) fn load() -> Result<Self, String> {
        Err(
            "this program is static, as programs for devices are, and loads no libcrypto"
                .to_owned(),
        )
    }

    pub(crate) fn version(&self) -> String {
        match *self {}
    }

    pub(crate) fn digest(&self, _algorithm: Algorithm, _message: &[u8], _digest: &mut [u8]) {
        match *self {}
    }
}
