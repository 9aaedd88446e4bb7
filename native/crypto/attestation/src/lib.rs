//! Ed25519 attestations: who says what, in which domain, checked one at a time or in batches.
//!
//! Place in the journey: product code that the `crypto` suite measures (`bench/`); it knows nothing of
//! measuring. Read in this order: [`attestation`] (what users call), [`key`], [`signature`], [`batch`],
//! [`engine`] (who does the work), then the engines `portable`, `aws_lc` and `lanes`.
//!
//! Invariants: every engine, one signature or a batch, gives the same answer to every input: that of ZIP 215
//! (README.md has the table); no input makes anything here panic; secrets are erased when they are dropped.
//! Absent on purpose: key storage, certificates, pre-hashed or context variants of RFC 8032.

pub mod attestation;
#[cfg(not(target_env = "musl"))]
mod aws_lc;
pub mod batch;
pub mod engine;
pub mod key;
#[allow(
    clippy::inline_always,
    reason = "an intrinsic that is not inlined into its kernel is a call"
)]
#[allow(
    clippy::many_single_char_names,
    reason = "limbs, and the names that the formulas' papers use"
)]
mod lanes;
mod portable;
pub mod signature;

pub use attestation::{
    Attestation, Domain, PAYLOAD_BYTES_MAX, Refusal, Verified, generate_attestation,
    verify_attestation, verify_attestation_with,
};
pub use batch::{Item, Verdict, verify_batch, verify_batch_with};
pub use engine::{Engine, Signer};
pub use key::{KeyError, SigningKey, VerifyingKey};
pub use signature::Signature;
