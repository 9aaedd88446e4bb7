//! Verifies many signatures at once, of any keys over any messages, and names the bad ones.
//!
//! A batch says of each signature what [`VerifyingKey::verify`] says of it alone, up to a chance of
//! 2^-128 per equation (combined signatures are weighed with secret random numbers of 128 bits). A
//! signature that a batch calls bad was verified by itself.

use crate::engine::{Engine, batching, single};
use crate::key::VerifyingKey;
use crate::signature::Signature;

/// One signature to check.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Whose.
    pub key: &'a VerifyingKey,
    /// Over what.
    pub message: &'a [u8],
    /// The signature.
    pub signature: &'a Signature,
}

/// What a batch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which items are bad, by index, in order. Empty: all are good.
    pub bad: Vec<usize>,
    /// The engine that judged.
    pub engine: &'static str,
}

impl Verdict {
    /// Whether every signature is good.
    #[must_use]
    pub fn all_good(&self) -> bool {
        self.bad.is_empty()
    }
}

/// Checks all items with the fastest engine of this CPU. A batch of one is one verification, and the key's
/// first is another engine's ([`crate::engine::first`]), where one engine has both.
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
