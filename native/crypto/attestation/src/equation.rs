//! Verifies a batch by one equation, with `curve25519-dalek`'s multiplication of many points, for
//! engines without lanes.
//!
//! The equation is that of ed25519-zebra's batches, ZIP 215's with a random weight z per signature:
//! 8 (Σ z R + Σ z k A − (Σ z s) B) = 0, with the weights of equal keys added up first. Bad
//! signatures are found by halving, and confirmed by the engine's own verification of one.

use std::collections::HashMap;

use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{IsIdentity, VartimeMultiscalarMul};

use crate::batch::Item;
use crate::halving::{Judge, by_parts, find_bad};
use crate::portable::challenge;

/// Up to this many signatures are verified one by one, which is no slower with AWS-LC.
/// In batches of 5, 16 and 256 signatures by different keys, a signature takes 221,000, 181,000 and
/// 136,000 instructions; `portable` takes 375,000 for one alone.
const LEAF: usize = 4;

/// Returns the indices of bad items; `verify` is the engine's verification of one.
pub(crate) fn bad(items: &[Item<'_>], verify: &dyn Fn(&Item<'_>) -> bool) -> Vec<usize> {
    by_parts(items, |items| Equation::new(items, verify).bad())
}

/// A signature that could be good: s is canonical and R is a point.
struct Candidate {
    item: usize,
    key: usize,
    commitment: EdwardsPoint,
    response: Scalar,
    challenge: Scalar,
    weight: Scalar,
}

struct Equation<'a> {
    items: &'a [Item<'a>],
    verify: &'a dyn Fn(&Item<'_>) -> bool,
    /// Every distinct key once.
    keys: Vec<EdwardsPoint>,
    bad: Vec<usize>,
}

impl<'a> Equation<'a> {
    fn new(items: &'a [Item<'a>], verify: &'a dyn Fn(&Item<'_>) -> bool) -> Self {
        Self {
            items,
            verify,
            keys: Vec::new(),
            bad: Vec::new(),
        }
    }

    fn bad(mut self) -> Vec<usize> {
        let weights = if self.items.len() > LEAF {
            weights(self.items.len())
        } else {
            None
        };
        let Some(weights) = weights else {
            let bad = |(_, item): &(usize, &Item<'_>)| !(self.verify)(item);
            let all = self.items.iter().enumerate();
            return all.filter(bad).map(|(index, _)| index).collect();
        };
        let candidates = self.candidates(&weights);
        find_bad(&mut self, &candidates, false, LEAF);
        self.bad
    }

    fn candidates(&mut self, weights: &[Scalar]) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(self.items.len());
        let mut index_of = HashMap::with_capacity(self.items.len());
        for (index, (item, weight)) in self.items.iter().zip(weights).enumerate() {
            let response = item.signature.response();
            let commitment = CompressedEdwardsY(*item.signature.commitment()).decompress();
            let (Some(response), Some(commitment)) = (response, commitment) else {
                self.bad.push(index);
                continue;
            };
            let key = *index_of.entry(item.key.as_bytes()).or_insert_with(|| {
                self.keys.push(-item.key.negated());
                self.keys.len() - 1
            });
            candidates.push(Candidate {
                item: index,
                key,
                commitment,
                response,
                challenge: challenge(item.key, item.message, item.signature),
                weight: *weight,
            });
        }
        candidates
    }
}

impl Judge<Candidate> for Equation<'_> {
    fn hold(&mut self, candidates: &[Candidate]) -> bool {
        let mut base = Scalar::ZERO;
        let mut keys = vec![Scalar::ZERO; self.keys.len()];
        for candidate in candidates {
            base -= candidate.weight * candidate.response;
            keys[candidate.key] += candidate.weight * candidate.challenge;
        }
        // A key of none of these has the number 0.
        let keys = keys.iter().zip(&self.keys);
        let keys = keys.filter(|(number, _)| **number != Scalar::ZERO);
        let commitments = candidates
            .iter()
            .map(|candidate| (&candidate.weight, &candidate.commitment));
        let (numbers, points): (Vec<&Scalar>, Vec<&EdwardsPoint>) = keys
            .chain([(&base, &ED25519_BASEPOINT_POINT)])
            .chain(commitments)
            .unzip();
        EdwardsPoint::vartime_multiscalar_mul(numbers, points)
            .mul_by_cofactor()
            .is_identity()
    }

    fn judge_each(&mut self, candidates: &[Candidate]) -> bool {
        let before = self.bad.len();
        for candidate in candidates {
            if !(self.verify)(&self.items[candidate.item]) {
                self.bad.push(candidate.item);
            }
        }
        self.bad.len() > before
    }
}

/// Draws 128 random bits of the system for each signature of a known batch; returns none if the system
/// gives none.
fn weights(count: usize) -> Option<Vec<Scalar>> {
    let mut bytes = vec![0; 16 * count];
    getrandom::fill(&mut bytes).ok()?;
    let weights = bytes.as_chunks::<16>().0.iter();
    Some(
        weights
            .map(|bytes| Scalar::from(u128::from_le_bytes(*bytes)))
            .collect(),
    )
}
