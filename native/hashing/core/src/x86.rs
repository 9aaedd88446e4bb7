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
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        #[allow(
            unused_unsafe,
            reason = "the oldest Rust this workspace takes asks for it"
        )]
        // SAFETY: every x86-64 CPU has the instruction and these two leaves.
        let (vendor, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        // Family 19h is Zen 3 and Zen 4; Zen 3 has no AVX-512, where this does not matter.
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        name.as_flattened() == b"AuthenticAMD" && family == 0x19
    })
}
