//! Verifies one batch in lanes and lists the items that may be bad.
//!
//! One equation tests many signatures: Σ z (s B − R − k A) = 0 up to small order, with a random z
//! for each signature. The coefficients of signatures by the same key are added up first. If the
//! equation does not hold, its halves are tested (`halving`), except a half that is known to contain
//! a bad signature. The last few signatures are verified one by one (`each`), so none is listed by
//! chance. The caller verifies the listed ones with `portable`, which alone refuses a signature.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use curve25519_dalek::scalar::Scalar;

use super::Base;
use super::alone::pieces;
use super::coefficients::draw;
use super::each::Claims;
use super::encoded::encodes;
use super::field::LIMBS;
use super::kernels::Kernels;
use super::multiples::{KEEPER, Slot};
use super::point::Block;
use super::sha512::Message;
use super::sum::{Plan, Term, Terms};
use super::vector::{BucketRow, LANES};
use crate::batch::Item;
use crate::halving::{Judge, find_bad};
use crate::key::VerifyingKey;
use crate::portable::challenge;

/// Up to this many signatures are verified one by one instead of being halved: two runs of `each`.
const LEAF: usize = 2 * LANES;
/// If a batch has at most this many keys without 2^128 A, it computes that for all of them, which makes later
/// batches with these keys cheaper.
const SHIFTED_AT_ONCE: usize = 32;

/// One point of a [`Block`].
type Words = [u64; 3 * LIMBS];

/// A public key A in the form that lanes add, and 2^128 A once a batch has computed it (`SHIFTED_AT_ONCE`).
#[derive(Clone)]
pub(crate) struct LanePoints {
    point: Words,
    shifted: OnceLock<Words>,
    /// The place of the key's multiples, with which `alone` verifies single signatures.
    pub(super) slot: Arc<Slot>,
}

impl LanePoints {
    fn new(point: Words) -> Self {
        Self {
            point,
            shifted: OnceLock::new(),
            slot: Arc::default(),
        }
    }
}

/// Verifies one signature in eight lanes. True if it is good; false if another engine has to decide.
pub(crate) fn accepts_alone(kernels: &dyn Kernels, base: &Base, item: &Item<'_>) -> bool {
    let Some(response) = item.signature.response() else {
        return false;
    };
    decode(kernels, &[item.key]);
    let Some(key) = item.key.lanes().get() else {
        return false;
    };
    let multiples = KEEPER.multiples(&key.slot, || {
        let mut block = Block::NEUTRAL;
        for (place, word) in block.0.iter_mut().zip(key.point) {
            place[0] = word;
        }
        kernels.spread(&block)
    });
    let Some(spread) = multiples.as_deref() else {
        return false;
    };
    let challenge = pieces(&challenge(item.key, item.message, item.signature).to_bytes());
    let combined = kernels.combined(
        [spread, &base.spread],
        [&challenge, &pieces(&response.to_bytes())],
    );
    encodes(item.signature.commitment(), &combined)
}

fn words(block: &Block, lane: usize) -> Words {
    std::array::from_fn(|word| block.0[word][lane % LANES])
}

/// Points, of which each block holds eight.
#[derive(Default)]
struct Points {
    blocks: Vec<Block>,
    used: usize,
}

impl Points {
    fn with_blocks(blocks: Vec<Block>) -> Self {
        let used = blocks.len() * LANES;
        Self { blocks, used }
    }

    fn push(&mut self, words: &Words) -> usize {
        if self.used.is_multiple_of(LANES) {
            self.blocks.push(Block::NEUTRAL);
        }
        let (block, lane) = (self.used / LANES, self.used % LANES);
        for (place, word) in self.blocks[block].0.iter_mut().zip(words) {
            place[lane] = *word;
        }
        self.used += 1;
        self.used - 1
    }
}

/// A signature that the equation has to test, because its s is canonical and its R is a point.
struct Candidate {
    item: usize,
    key: usize,
    response: Scalar,
    challenge: Scalar,
    weight: u128,
}

/// The indices of a key's points among the batch's points.
struct KeyPlace {
    point: usize,
    shifted: Option<usize>,
}

/// A batch that is being judged.
pub(crate) struct Batch<'a> {
    kernels: &'a dyn Kernels,
    base: &'a Base,
    /// R of each item at the item's index; behind them the base point, 2^128 times it, and the keys.
    points: Points,
    candidates: Vec<Candidate>,
    keys: Vec<KeyPlace>,
    base_at: usize,
    bad: Vec<usize>,
    weighted: bool,
    rows: Vec<BucketRow>,
}

impl<'a> Batch<'a> {
    /// Decodes the items' points, computes their challenges and collects the distinct keys.
    pub(crate) fn new(kernels: &'a dyn Kernels, base: &'a Base, items: &[Item<'_>]) -> Self {
        let (commitments, valid) = commitments(kernels, items);
        let mut points = Points::with_blocks(commitments);
        let base_at = points.push(&words(&base.block, 0));
        points.push(&words(&base.block, 1));
        let (keys, key_of) = places(kernels, items, &mut points);
        let weights = if items.len() > LEAF {
            draw(kernels, items.len())
        } else {
            None
        };
        let mut batch = Self {
            kernels,
            base,
            points,
            candidates: Vec::with_capacity(items.len()),
            keys,
            base_at,
            bad: Vec::new(),
            weighted: weights.is_some(),
            rows: Vec::new(),
        };
        let challenges = challenges(kernels, items);
        for (index, item) in items.iter().enumerate() {
            let decoded = valid[index / LANES] >> (index % LANES) & 1 == 1;
            let Some(response) = item.signature.response().filter(|_| decoded) else {
                batch.bad.push(index);
                continue;
            };
            let weight = weights.as_ref().map_or(0, |weights| weights[index]);
            let (key, challenge) = (key_of[index], challenges[index]);
            batch.candidates.push(Candidate {
                item: index,
                key,
                response,
                challenge,
                weight,
            });
        }
        batch
    }

    /// Returns the indices of items that may be bad. All others are good, up to a chance of 2^-128.
    pub(crate) fn bad(mut self) -> Vec<usize> {
        let candidates = std::mem::take(&mut self.candidates);
        let leaf = if self.weighted { LEAF } else { usize::MAX };
        find_bad(&mut self, &candidates, false, leaf);
        self.bad
    }

    fn judge_eight(&mut self, few: &[Candidate]) {
        let (mut keys, mut commitments) = (Block::NEUTRAL, Block::NEUTRAL);
        let (mut responses, mut challenges) = ([[0; 32]; LANES], [[0; 32]; LANES]);
        let blocks = &self.points.blocks;
        for (lane, candidate) in few.iter().enumerate().take(LANES) {
            let key = self.keys[candidate.key].point;
            keys.copy_lane(lane, &blocks[key / LANES], key % LANES);
            commitments.copy_lane(
                lane,
                &blocks[candidate.item / LANES],
                candidate.item % LANES,
            );
            responses[lane] = candidate.response.to_bytes();
            challenges[lane] = candidate.challenge.to_bytes();
        }
        let (keys, commitments) = (&keys, &commitments);
        let claims = Claims {
            keys,
            commitments,
            responses: &responses,
            challenges: &challenges,
        };
        let good = self.kernels.each(&claims, &self.base.table);
        let wrong = few
            .iter()
            .enumerate()
            .filter(|(lane, _)| good >> lane & 1 == 0);
        self.bad.extend(wrong.map(|(_, candidate)| candidate.item));
    }
}

impl Judge<Candidate> for Batch<'_> {
    fn judge_each(&mut self, candidates: &[Candidate]) -> bool {
        let before = self.bad.len();
        candidates
            .chunks(LANES)
            .for_each(|few| self.judge_eight(few));
        self.bad.len() > before
    }

    fn hold(&mut self, candidates: &[Candidate]) -> bool {
        let plan = Plan::cheapest(candidates.len());
        let centre = Scalar::from(plan.centre());
        let mut base = Scalar::ZERO;
        let mut keys = vec![Scalar::ZERO; self.keys.len()];
        let mut low = Vec::with_capacity(candidates.len() + 2 * keys.len() + 2);
        let mut high = Vec::new();
        for candidate in candidates {
            let weight = Scalar::from(candidate.weight) - centre;
            base -= weight * candidate.response;
            keys[candidate.key] += weight * candidate.challenge;
            low.push(term(candidate.item, candidate.weight));
        }
        let base_places = KeyPlace {
            point: self.base_at,
            shifted: Some(self.base_at + 1),
        };
        let sums = keys.iter().zip(&self.keys).chain([(&base, &base_places)]);
        for (sum, place) in sums.filter(|(sum, _)| **sum != Scalar::ZERO) {
            let [lower, upper] = centred(sum, plan);
            low.push(term(place.point, lower));
            match place.shifted {
                Some(shifted) => low.push(term(shifted, upper)),
                None => high.push(term(place.point, upper)),
            }
        }
        let terms = Terms {
            blocks: &self.points.blocks,
            low: &low,
            high: &high,
            plan,
        };
        self.kernels.is_small(&terms, &mut self.rows)
    }
}

fn term(place: usize, centred: u128) -> Term {
    Term {
        block: place / LANES,
        lane: place % LANES,
        centred,
    }
}

/// Returns the lower and the upper 128 bits of a scalar, centred as `sum` describes: the plan's centre is added to
/// each. A scalar is below 2^253, so this does not overflow.
fn centred(scalar: &Scalar, plan: Plan) -> [u128; 2] {
    let bytes = scalar.to_bytes();
    let halves = bytes.as_chunks::<16>().0;
    let half = |at: usize| {
        halves
            .get(at)
            .map_or(0, |bytes| u128::from_le_bytes(*bytes))
    };
    let (low, carry) = half(0).overflowing_add(plan.centre());
    [
        low,
        half(1)
            .wrapping_add(plan.centre())
            .wrapping_add(u128::from(carry)),
    ]
}

/// Decodes R of every item. The masks, one for each block, have a bit for each lane whose R is a point.
fn commitments(kernels: &dyn Kernels, items: &[Item<'_>]) -> (Vec<Block>, Vec<u8>) {
    let encodings: Vec<[[u8; 32]; LANES]> = items
        .chunks(LANES)
        .map(|few| {
            let mut encodings = [[0; 32]; LANES];
            for (encoding, item) in encodings.iter_mut().zip(few) {
                *encoding = *item.signature.commitment();
            }
            encodings
        })
        .collect();
    let (pairs, last) = encodings.as_chunks::<2>();
    let pairs = pairs.iter().flat_map(|pair| kernels.decompress_two(pair));
    pairs
        .chain(last.iter().map(|encoding| kernels.decompress(encoding)))
        .unzip()
}

/// Returns SHA-512(R, A, message) of every item, modulo the group's order.
fn challenges(kernels: &dyn Kernels, items: &[Item<'_>]) -> Vec<Scalar> {
    let mut challenges = Vec::with_capacity(items.len() + LANES);
    for few in items.chunks(LANES) {
        let messages = std::array::from_fn(|lane| {
            Message(few.get(lane).map_or([&[]; 3], |item| {
                [
                    item.signature.commitment().as_slice(),
                    item.key.as_bytes(),
                    item.message,
                ]
            }))
        });
        let digests = kernels.digest(&messages);
        challenges.extend(
            digests
                .iter()
                .take(few.len())
                .map(Scalar::from_bytes_mod_order_wide),
        );
    }
    challenges
}

/// Adds the points of every distinct key. Returns where they are, and for each item the index of its key.
fn places(
    kernels: &dyn Kernels,
    items: &[Item<'_>],
    points: &mut Points,
) -> (Vec<KeyPlace>, Vec<usize>) {
    let mut index_of = HashMap::with_capacity(items.len());
    let mut keys: Vec<&VerifyingKey> = Vec::new();
    let mut key_of = Vec::with_capacity(items.len());
    for item in items {
        let index = *index_of.entry(item.key.as_bytes()).or_insert_with(|| {
            keys.push(item.key);
            keys.len() - 1
        });
        key_of.push(index);
    }
    let new: Vec<&VerifyingKey> = keys
        .iter()
        .copied()
        .filter(|key| key.lanes().get().is_none())
        .collect();
    decode(kernels, &new);
    let unshifted = |key: &&VerifyingKey| {
        key.lanes()
            .get()
            .is_some_and(|own| own.shifted.get().is_none())
    };
    let unshifted: Vec<&VerifyingKey> = keys.iter().copied().filter(unshifted).collect();
    if unshifted.len() <= SHIFTED_AT_ONCE {
        shift(kernels, &unshifted);
    }
    let place = |key: &&VerifyingKey| {
        let own = key.lanes().get();
        let point = own.map_or_else(|| words(&Block::NEUTRAL, 0), |own| own.point);
        let point = points.push(&point);
        KeyPlace {
            point,
            shifted: own
                .and_then(|own| own.shifted.get())
                .map(|words| points.push(words)),
        }
    };
    (keys.iter().map(place).collect(), key_of)
}

/// Decodes keys, eight at a time. Each is a point, because parsing a key checks that.
fn decode(kernels: &dyn Kernels, keys: &[&VerifyingKey]) {
    if keys.iter().all(|key| key.lanes().get().is_some()) {
        return;
    }
    for few in keys.chunks(LANES) {
        let mut encodings = [[0; 32]; LANES];
        for (encoding, key) in encodings.iter_mut().zip(few) {
            *encoding = *key.as_bytes();
        }
        let (block, _) = kernels.decompress(&encodings);
        for (lane, key) in few.iter().enumerate() {
            key.lanes()
                .get_or_init(|| LanePoints::new(words(&block, lane)));
        }
    }
}

/// Computes 2^128 A of keys, eight at a time.
fn shift(kernels: &dyn Kernels, keys: &[&VerifyingKey]) {
    for few in keys.chunks(LANES) {
        let mut block = Block::NEUTRAL;
        for (lane, own) in few.iter().map(|key| key.lanes().get()).enumerate() {
            for (place, word) in block.0.iter_mut().zip(own.iter().flat_map(|own| own.point)) {
                place[lane] = word;
            }
        }
        let block = kernels.shifted(&block);
        for (lane, own) in few.iter().map(|key| key.lanes().get()).enumerate() {
            own.map(|own| own.shifted.get_or_init(|| words(&block, lane)));
        }
    }
}
