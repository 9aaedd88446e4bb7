//! Kernels for x86-64. All `unsafe` of this crate outside `parallel`, `armv8` and `lanes` is in
//! here and its submodules.

#![allow(clippy::many_single_char_names, reason = "the standard's names")]
#![allow(
    clippy::wildcard_imports,
    reason = "intrinsics carry their origin in their names"
)]
#![allow(
    clippy::cast_possible_truncation,
    reason = "masks and words are cut out of wider integers"
)]

#[macro_use]
mod rounds;
#[macro_use]
mod eight;

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod avx512_half;
pub(crate) mod sha_ni;

use core::arch::x86_64::__cpuid;
use std::sync::OnceLock;

/// Returns whether this is a Zen 4, which runs a 512-bit instruction as two halves and starts
/// `sha256rnds2` every second cycle, so that lanes pay only from more messages on.
pub(crate) fn is_zen4() -> bool {
    // Family 19h is Zen 3 and Zen 4; Zen 3 has no AVX-512, where this does not matter.
    amd_family() == Some(0x19)
}

/// Returns whether this is a Zen 5, which has ports to spare for vectors, so that the chain from round to round
/// limits SHA-256 over lanes.
pub(crate) fn is_zen5() -> bool {
    amd_family() == Some(0x1a)
}

/// Returns the family of an AMD CPU; `None` for any other.
fn amd_family() -> Option<u32> {
    static FOUND: OnceLock<Option<u32>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        #[allow(
            unused_unsafe,
            reason = "the oldest Rust this workspace takes asks for it"
        )]
        // SAFETY: every x86-64 CPU has the instruction and these two leaves.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        (name.as_flattened() == b"AuthenticAMD").then_some(family)
    })
}

#[cfg(test)]
mod tests {
    use super::{avx2::Avx2, avx512::Avx512, avx512_half::Avx512Half};
    use crate::lanes::{Lanes, Padding, Row, Step};
    use crate::{Algorithm, Choice, Engine, digest_equal};

    const BYTES: usize = 128;

    fn assert_digests<const N: usize>(kernel: impl Lanes<N>) {
        let bytes: Vec<u8> = (0..=255).cycle().take(N * BYTES).collect();
        let messages = core::array::from_fn(|lane| &bytes[lane * BYTES..][..BYTES]);
        let mut expected = vec![0; N * size_of::<Row>()];
        let scalar = Choice::Only(Engine::Scalar);
        digest_equal(Algorithm::Sha256, scalar, &bytes, BYTES, &mut expected).expect("it fits");
        let mut rows = [Row::default(); N];
        let padding = Padding::of(BYTES);
        assert!(padding.is_some());
        kernel.alike(
            Algorithm::Sha256,
            &Step::equal(&messages, 2),
            padding.as_ref(),
            &mut rows,
        );
        assert_eq!(rows.as_flattened(), expected);
    }

    /// A CPU chooses one of them, so no other test runs both.
    #[test]
    fn both_orders_of_sums_give_the_scalar_digests() {
        for short_chain in [false, true] {
            if let Some(kernel) = Avx2::new() {
                assert_digests(kernel.with_short_chain(short_chain));
            }
            if let Some(kernel) = Avx512::new() {
                assert_digests(kernel.with_short_chain(short_chain));
            }
            if let Some(kernel) = Avx512Half::new() {
                assert_digests(kernel.with_short_chain(short_chain));
            }
        }
    }
}
