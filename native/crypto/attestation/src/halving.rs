//! Finds the bad signatures of a batch by halving it: what every engine with an equation for many
//! signatures shares.
//!
//! An equation that holds clears all its signatures up to a chance of 2^-128. "Bad" never rests on
//! chance: a part that does not hold is halved until its signatures are judged one by one.

use crate::batch::Item;

/// More signatures are judged in several equations: beyond a few thousand an equation costs no less
/// per signature, and its memory (about 1 KiB a signature) would be the caller's to choose.
const BATCH_MAX: usize = 4096;

/// An engine's two ways to judge candidates, signatures that could be good.
pub(crate) trait Judge<C> {
    /// Whether the weighted equation of these holds.
    fn hold(&mut self, candidates: &[C]) -> bool;
    /// Judges each for itself; whether any of them is bad.
    fn judge_each(&mut self, candidates: &[C]) -> bool;
}

/// Finds the bad ones, and says whether there are any. `suspect`: there is one, that much is known. Up to `leaf`
/// candidates are judged one by one.
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
    // If nothing was found on the left, the culprit is on the right after all.
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
