//! Verifies many signatures at once, of any keys over any messages, and names the bad ones.
//!
//! A batch has the same result for each signature as [`VerifyingKey::verify`], up to a chance of
//! 2^-128 per equation (signatures are combined with secret random weights of 128 bits). A signature
//! is reported as bad only after it was verified by itself.

use crate::engine::{Engine, batching, single};
use crate::key::VerifyingKey;
use crate::signature::Signature;

/// One signature to check.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The key that should have made the signature.
    pub key: &'a VerifyingKey,
    /// The signed message.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a Signature,
}

/// The result of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Indices of bad items, ascending; empty if all are good.
    pub bad: Vec<usize>,
    /// The engine that verified the batch.
    pub engine: &'static str,
}

impl Verdict {
    /// Whether every signature is good.
    #[must_use]
    pub fn all_good(&self) -> bool {
        self.bad.is_empty()
    }
}

/// Checks all items with the fastest engine of this CPU. A batch of one item is one verification,
/// whose engine may differ for the key's first one ([`crate::engine::first`]).
#[must_use]
pub fn verify_batch(items: &[Item<'_>]) -> Verdict {
    let by = match items {
        [one] if batching().name() == single().name() => one.key.engine_for_one(),
        _ => batching(),
    };
    verify_batch_with(by, items)
}

/// Checks all items with a given engine.
#[must_use]
pub fn verify_batch_with(engine: &dyn Engine, items: &[Item<'_>]) -> Verdict {
    let mut bad = engine.bad(items);
    bad.sort_unstable();
    Verdict {
        bad,
        engine: engine.name(),
    }
}
