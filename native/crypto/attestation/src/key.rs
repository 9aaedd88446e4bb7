//! Keys that are parsed once: a [`SigningKey`] holds its expanded secret, a [`VerifyingKey`] its
//! point.
//!
//! A `VerifyingKey` is a point of the curve by ZIP 215's rules (y may be p or more, points of small
//! order count), and keeps the bytes it was made of, which are hashed. Secrets are erased when
//! dropped and never printed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use zeroize::Zeroizing;

use crate::engine::{Engine, Signer, first, signing, single};
use crate::lanes::LanePoints;
use crate::signature::Signature;

/// Bytes of a public key and of a seed.
pub const KEY_BYTES: usize = 32;

/// The reason why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The bytes encode no point of the curve.
    NotAPoint,
    /// The engine refused the seed, or cannot sign.
    Engine(&'static str),
    /// The system gave no randomness.
    NoRandomness,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPoint => f.write_str("these 32 bytes encode no point of edwards25519"),
            Self::Engine(name) => write!(f, "the engine {name} makes no signing key of this seed"),
            Self::NoRandomness => f.write_str("the system gives no randomness for a new key"),
        }
    }
}

impl std::error::Error for KeyError {}

/// A public key, ready to verify with.
#[derive(Clone)]
pub struct VerifyingKey {
    bytes: [u8; KEY_BYTES],
    /// −A, which verification adds.
    negated: EdwardsPoint,
    /// The forms of the key that the lane engines computed for a batch.
    lanes: OnceLock<LanePoints>,
    /// Set once a signature was verified alone: multiples of the key pay from the second one on.
    used: OnceLock<()>,
}

impl VerifyingKey {
    /// Decodes the point once. As ZIP 215 demands, it accepts encodings whose y is p or more, x = 0
    /// with the sign bit set, and points of small order.
    ///
    /// # Errors
    /// [`KeyError::NotAPoint`].
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Result<Self, KeyError> {
        let point = CompressedEdwardsY(bytes)
            .decompress()
            .ok_or(KeyError::NotAPoint)?;
        Ok(Self {
            bytes,
            negated: -point,
            lanes: OnceLock::new(),
            used: OnceLock::new(),
        })
    }

    /// The bytes it was made of.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.bytes
    }

    /// Returns whether the signature is this key's for that message, with the fastest engine for one signature.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        self.engine_for_one().verify(self, message, signature)
    }

    /// Returns whether the signature is valid by the strictest reading of RFC 8032: besides what
    /// [`VerifyingKey::verify`] requires, key and R must be encoded in the one canonical way, neither may be
    /// a point of small order, and the equation must hold without the cofactor. Batches cannot check
    /// this, so such signatures are verified one at a time. Uses ed25519-dalek's `verify_strict`.
    #[must_use]
    pub fn verify_strict(&self, message: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature.as_bytes());
        (-self.negated).compress().as_bytes() == &self.bytes
            && ed25519_dalek::VerifyingKey::from_bytes(&self.bytes)
                .is_ok_and(|key| key.verify_strict(message, &signature).is_ok())
    }

    /// Returns the engine for the next single signature, which may differ for the key's first one.
    pub(crate) fn engine_for_one(&self) -> &'static dyn Engine {
        if self.used.set(()).is_ok() {
            first()
        } else {
            single()
        }
    }

    pub(crate) fn negated(&self) -> &EdwardsPoint {
        &self.negated
    }

    pub(crate) fn lanes(&self) -> &OnceLock<LanePoints> {
        &self.lanes
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for VerifyingKey {}

impl Hash for VerifyingKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey(")?;
        self.bytes
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}

/// A secret key, expanded once, with its public key.
pub struct SigningKey {
    seed: Zeroizing<[u8; KEY_BYTES]>,
    signer: Box<dyn Signer>,
    public: VerifyingKey,
}

impl SigningKey {
    /// Generates a key with the system's randomness.
    ///
    /// # Errors
    /// [`KeyError::NoRandomness`] and those of [`SigningKey::from_seed`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut seed = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(seed.as_mut_slice()).map_err(|_| KeyError::NoRandomness)?;
        Self::from_seed(&seed)
    }

    /// The key of a seed (RFC 8032 §5.1.5), with the fastest engine that signs.
    ///
    /// # Errors
    /// [`KeyError::Engine`] when the engine refuses.
    pub fn from_seed(seed: &[u8; KEY_BYTES]) -> Result<Self, KeyError> {
        Self::from_seed_with(signing(), seed)
    }

    /// The key of a seed with a given engine.
    ///
    /// # Errors
    /// [`KeyError::Engine`] when the engine does not sign, or refuses.
    pub fn from_seed_with(engine: &dyn Engine, seed: &[u8; KEY_BYTES]) -> Result<Self, KeyError> {
        let signer = engine.signer(seed).ok_or(KeyError::Engine(engine.name()))?;
        let public = VerifyingKey::from_bytes(signer.public())?;
        Ok(Self {
            seed: Zeroizing::new(*seed),
            signer,
            public,
        })
    }

    /// Signs by RFC 8032 §5.1.6: deterministically, in time that depends only on the message's length.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Signature {
        self.signer.sign(message)
    }

    /// The public key.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Returns the seed. The caller has to erase its copy.
    #[must_use]
    pub fn seed(&self) -> &[u8; KEY_BYTES] {
        &self.seed
    }

    /// The engine that signs.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.signer.engine()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}
