//! ed25519-dalek and ed25519-zebra over the same signatures: one source, compiled twice.
//!
//! How `curve25519-dalek` is compiled decides how fast both are, and a program can contain it only
//! once. So the workload links this crate as the workspace builds it, and also loads it as a shared
//! library that build.sh compiles with `--cfg curve25519_dalek_backend="avx512"` ([`calls`]).
//! Conversions into a peer's types are not timed. Peers with code of their own (ring, AWS-LC) are
//! in the workload.

mod calls;

use std::cell::Cell;
use std::hint::black_box;

use ed25519_dalek::Verifier as _;
use getrandom::SysRng;

pub use calls::{
    paceline_peers_dalek_batch, paceline_peers_dalek_verify, paceline_peers_free,
    paceline_peers_new, paceline_peers_vectors, paceline_peers_zebra_batch,
    paceline_peers_zebra_verify,
};

/// Bytes of a public key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// Whether this build has dalek's AVX-512 vectors, and the CPU the instructions that dalek asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Vectors {
    /// Compiled without.
    Absent = 0,
    /// Compiled, and dalek passes them over: the CPU has no AVX-512 IFMA with VL.
    Idle = 1,
    /// Used.
    Used = 2,
}

/// What this build does on this CPU: `curve25519-dalek`'s own choice, asked as it asks.
#[must_use]
pub fn vectors() -> Vectors {
    if !cfg!(curve25519_dalek_backend = "avx512") {
        return Vectors::Absent;
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("avx512vl") {
        return Vectors::Used;
    }
    Vectors::Idle
}

/// Signatures in the peers' own types.
pub struct Peers {
    messages: Vec<Vec<u8>>,
    dalek_keys: Vec<ed25519_dalek::VerifyingKey>,
    dalek_signatures: Vec<ed25519_dalek::Signature>,
    zebra_keys: Vec<ed25519_zebra::VerificationKey>,
    zebra_signatures: Vec<ed25519_zebra::Signature>,
    turn: Cell<usize>,
}

impl Peers {
    /// Parses keys and signatures, one of each for every message; none where a peer refuses a key or the
    /// lengths differ.
    #[must_use]
    pub fn new(
        keys: &[[u8; KEY_BYTES]],
        signatures: &[[u8; SIGNATURE_BYTES]],
        messages: Vec<Vec<u8>>,
    ) -> Option<Self> {
        if keys.len() != messages.len() || signatures.len() != messages.len() {
            return None;
        }
        let dalek_keys = keys.iter().map(ed25519_dalek::VerifyingKey::from_bytes);
        let zebra_keys = keys
            .iter()
            .map(|key| ed25519_zebra::VerificationKey::try_from(*key));
        Some(Self {
            messages,
            dalek_keys: dalek_keys.collect::<Result<_, _>>().ok()?,
            dalek_signatures: signatures
                .iter()
                .map(ed25519_dalek::Signature::from_bytes)
                .collect(),
            zebra_keys: zebra_keys.collect::<Result<_, _>>().ok()?,
            zebra_signatures: signatures
                .iter()
                .map(|signature| (*signature).into())
                .collect(),
            turn: Cell::new(0),
        })
    }

    /// The next signature, round and round, by ed25519-dalek.
    #[must_use]
    pub fn dalek_verify(&self) -> bool {
        self.next().is_some_and(|at| {
            self.dalek_keys[at]
                .verify(black_box(&self.messages[at]), &self.dalek_signatures[at])
                .is_ok()
        })
    }

    /// The next signature, round and round, by ed25519-zebra.
    #[must_use]
    pub fn zebra_verify(&self) -> bool {
        self.next().is_some_and(|at| {
            self.zebra_keys[at]
                .verify(&self.zebra_signatures[at], black_box(&self.messages[at]))
                .is_ok()
        })
    }

    /// Whose turn it is; none where there is nothing.
    fn next(&self) -> Option<usize> {
        let at = self.turn.get();
        self.turn.set((at + 1) % self.messages.len().max(1));
        (at < self.messages.len()).then_some(at)
    }

    /// All of them, by ed25519-dalek's `verify_batch`.
    #[must_use]
    pub fn dalek_batch(&self) -> bool {
        let messages: Vec<&[u8]> = self.messages.iter().map(Vec::as_slice).collect();
        ed25519_dalek::verify_batch(
            black_box(&messages),
            &self.dalek_signatures,
            &self.dalek_keys,
        )
        .is_ok()
    }

    /// All of them, by ed25519-zebra, whose batches take keys as bytes and parse them.
    #[must_use]
    pub fn zebra_batch(&self) -> bool {
        let mut batch = ed25519_zebra::batch::Verifier::new();
        for ((key, message), signature) in self
            .zebra_keys
            .iter()
            .zip(&self.messages)
            .zip(&self.zebra_signatures)
        {
            batch.queue(((*key).into(), *signature, black_box(message)));
        }
        batch.verify(rand_core::UnwrapErr(SysRng)).is_ok()
    }
}
