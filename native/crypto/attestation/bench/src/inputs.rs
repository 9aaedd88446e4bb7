//! Seeded keys, messages and signatures that all arms of a group share.

use std::cell::Cell;

use paceline_attestation::{Item, Signature, SigningKey};
use paceline_harness::order::SplitMix64;

/// Signatures by a few keys over messages of one length. Item i has the key i modulo the number of keys.
pub(crate) struct Inputs {
    /// The secret keys, as our crate holds them.
    pub(crate) keys: Vec<SigningKey>,
    /// The message of each item.
    pub(crate) messages: Vec<Vec<u8>>,
    /// The signature of each item.
    pub(crate) signatures: Vec<Signature>,
}

impl Inputs {
    /// Draws `count` items, signed by `keys` keys.
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

    /// Returns a copy in which one signature is invalid.
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

    /// Returns the key of item `index`.
    pub(crate) fn key(&self, index: usize) -> &SigningKey {
        &self.keys[index % self.keys.len()]
    }

    /// Returns the public key of each item.
    pub(crate) fn key_bytes(&self) -> Vec<[u8; 32]> {
        (0..self.messages.len())
            .map(|index| *self.key(index).verifying_key().as_bytes())
            .collect()
    }

    /// Returns the signature of each item.
    pub(crate) fn signature_bytes(&self) -> Vec<[u8; 64]> {
        self.signatures
            .iter()
            .map(|signature| *signature.as_bytes())
            .collect()
    }

    /// Returns the items as our crate verifies them in a batch.
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

/// Goes through the inputs in a circle. With a single key and signature, an engine that keeps a table or a branch of
/// them warm would look faster than it is.
pub(crate) struct Turns {
    count: usize,
    next: Cell<usize>,
}

impl Turns {
    /// Starts at the first of `inputs`.
    pub(crate) fn of(inputs: &Inputs) -> Self {
        Self {
            count: inputs.messages.len(),
            next: Cell::new(0),
        }
    }

    /// Returns the index of the next input.
    pub(crate) fn next(&self) -> usize {
        let at = self.next.get();
        self.next.set(if at + 1 < self.count { at + 1 } else { 0 });
        at
    }
}

/// Draws the seed of a key.
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
