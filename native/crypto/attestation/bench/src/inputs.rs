//! Seeded keys, messages and signatures that all arms of a group share.

use std::cell::Cell;

use paceline_attestation::{Item, Signature, SigningKey};
use paceline_harness::order::SplitMix64;

/// Signatures of some keys over messages of one length; key of item i: i modulo the number of keys.
pub(crate) struct Inputs {
    /// Secret keys, by our crate.
    pub(crate) keys: Vec<SigningKey>,
    /// One per item.
    pub(crate) messages: Vec<Vec<u8>>,
    /// One per item.
    pub(crate) signatures: Vec<Signature>,
}

impl Inputs {
    /// `count` items of `keys` keys.
    ///
    /// # Panics
    /// When no engine signs, which would be a defect of the crate.
    pub(crate) fn new(count: usize, keys: usize, bytes: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let keys: Vec<SigningKey> = (0..keys.max(1))
            .map(|_| SigningKey::from_seed(&seed_of(&mut random)).expect("an engine signs"))
            .collect();
        let messages: Vec<Vec<u8>> = (0..count).map(|_| message(&mut random, bytes)).collect();
        let signatures = messages
            .iter()
            .zip(keys.iter().cycle())
            .map(|(message, key)| key.sign(message))
            .collect();
        Self {
            keys,
            messages,
            signatures,
        }
    }

    /// The same with one signature changed.
    pub(crate) fn spoilt(&self, at: usize) -> Self {
        let keys = self
            .keys
            .iter()
            .map(|key| SigningKey::from_seed(key.seed()).expect("as before"))
            .collect();
        let mut signatures = self.signatures.clone();
        let mut bytes = *signatures[at].as_bytes();
        bytes[40] ^= 1;
        signatures[at] = Signature::from_bytes(bytes);
        Self {
            keys,
            messages: self.messages.clone(),
            signatures,
        }
    }

    /// The key of item `index`.
    pub(crate) fn key(&self, index: usize) -> &SigningKey {
        &self.keys[index % self.keys.len()]
    }

    /// The public key of each item.
    pub(crate) fn key_bytes(&self) -> Vec<[u8; 32]> {
        (0..self.messages.len())
            .map(|index| *self.key(index).verifying_key().as_bytes())
            .collect()
    }

    /// The signature of each item.
    pub(crate) fn signature_bytes(&self) -> Vec<[u8; 64]> {
        self.signatures
            .iter()
            .map(|signature| *signature.as_bytes())
            .collect()
    }

    /// For our crate's batches.
    pub(crate) fn items(&self) -> Vec<Item<'_>> {
        (0..self.messages.len())
            .map(|index| Item {
                key: self.key(index).verifying_key(),
                message: &self.messages[index],
                signature: &self.signatures[index],
            })
            .collect()
    }
}

/// Whose turn it is of some inputs, round and round: one key and one signature would flatter whoever keeps a table
/// or a branch of them warm.
pub(crate) struct Turns {
    count: usize,
    next: Cell<usize>,
}

impl Turns {
    /// Of `inputs`, from the first on.
    pub(crate) fn of(inputs: &Inputs) -> Self {
        Self {
            count: inputs.messages.len(),
            next: Cell::new(0),
        }
    }

    /// An index below their number.
    pub(crate) fn next(&self) -> usize {
        let at = self.next.get();
        self.next.set(if at + 1 < self.count { at + 1 } else { 0 });
        at
    }
}

/// A seed of a key.
pub(crate) fn seed_of(random: &mut SplitMix64) -> [u8; 32] {
    let mut seed = [0; 32];
    seed.as_chunks_mut::<8>()
        .0
        .iter_mut()
        .for_each(|word| *word = random.draw().to_le_bytes());
    seed
}

fn message(random: &mut SplitMix64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| random.draw().to_le_bytes()[0]).collect()
}
