//! Ed25519 attestations: signed statements in domains, verified one at a time or in batches.
//!
//! Read in this order: [`attestation`] (what users call), [`key`], [`signature`], [`batch`],
//! [`engine`], then the engines `portable`, `aws_lc` (batches of both: `equation`, `halving`) and
//! `lanes`.
//!
//! Every engine, alone or in a batch, gives the same answer to every input: that of ZIP 215 (table
//! in README.md). No input makes anything here panic. Secrets are erased when dropped. There is no
//! key storage, no certificates, and no pre-hashed or context variant of RFC 8032. The suite
//! `crypto` measures it in `bench/`.

pub mod attestation;
#[cfg(not(target_env = "musl"))]
mod aws_lc;
pub mod batch;
pub mod engine;
mod equation;
mod halving;
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
