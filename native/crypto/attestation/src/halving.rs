//! Finds the bad signatures of a batch by halving it, for every engine that verifies many signatures
//! by one equation.
//!
//! If an equation holds, all its signatures are good up to a chance of 2^-128. No signature is called
//! bad by chance: a part that does not hold is halved until its signatures are verified one by one.

use crate::batch::Item;

/// More signatures are verified in several equations: beyond a few thousand, an equation costs no less
/// per signature, and the caller's input would decide its memory (about 1 KiB per signature).
const BATCH_MAX: usize = 4096;

/// An engine's two ways to verify candidates, which are signatures that may be good.
pub(crate) trait Judge<C> {
    /// Returns whether the weighted equation of these holds.
    fn hold(&mut self, candidates: &[C]) -> bool;
    /// Verifies each by itself; returns whether any of them is bad.
    fn judge_each(&mut self, candidates: &[C]) -> bool;
}

/// Finds the bad candidates, and returns whether there are any. `suspect` says that one is known to be bad.
/// Up to `leaf` candidates are verified one by one.
pub(crate) fn find_bad<C>(
    judge: &mut impl Judge<C>,
    candidates: &[C],
    suspect: bool,
    leaf: usize,
) -> bool {
    if candidates.len() <= leaf {
        return judge.judge_each(candidates);
    }
    if !suspect && judge.hold(candidates) {
        return false;
    }
    let (left, right) = candidates.split_at(candidates.len() / 2);
    if left.len() > leaf && judge.hold(left) {
        return find_bad(judge, right, true, leaf);
    }
    let found = find_bad(judge, left, true, leaf);
    // If all on the left are good, a bad one is known to be on the right.
    find_bad(judge, right, !found, leaf) || found
}

/// The indices that `judge` gives for each part of a long batch, as indices of the whole.
pub(crate) fn by_parts(
    items: &[Item<'_>],
    judge: impl Fn(&[Item<'_>]) -> Vec<usize>,
) -> Vec<usize> {
    let mut bad = Vec::new();
    for (part, items) in items.chunks(BATCH_MAX).enumerate() {
        let judged = judge(items);
        bad.extend(judged.into_iter().map(|index| part * BATCH_MAX + index));
    }
    bad
}
