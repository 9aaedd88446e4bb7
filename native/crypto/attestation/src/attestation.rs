//! Makes and verifies attestations: signed statements of a key in a domain.
//!
//! ```text
//! bytes      0..64      64..96   96..101            101   102..102+n   the rest
//!            signature  key      "PLAT", version 1  n     domain       payload
//!                                └──────────── what is signed: the statement ──┘
//! ```
//! An attestation has exactly one encoding. The statement begins with a mark that no other protocol
//! of ours uses, then its domain's length and label, so a signature in one domain (or of raw bytes)
//! is never valid in another domain. Ed25519 binds the key by hashing it. The domain defines the meaning of
//! a payload; there are no times, nonces or roles here.

use std::fmt;

use crate::batch::Item;
use crate::engine::Engine;
use crate::key::{KEY_BYTES, SigningKey, VerifyingKey};
use crate::signature::{SIGNATURE_BYTES, Signature};

/// The begin of every statement: four letters and the version of this format.
const MARK: &[u8; 5] = b"PLAT\x01";
/// Longest label of a domain.
pub const DOMAIN_BYTES_MAX: usize = 32;
/// Longest payload: 16 MiB.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 24;

const STATEMENT: usize = SIGNATURE_BYTES + KEY_BYTES;
const LABEL: usize = STATEMENT + MARK.len() + 1;

/// The subject of attestations, for instance `poi.block`: 1 to 32 printable ASCII characters, no space.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Domain {
    label: [u8; DOMAIN_BYTES_MAX],
    len: u8,
}

impl Domain {
    /// Makes the domain of a label.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] when it is empty, too long or has other characters.
    pub fn new(label: &str) -> Result<Self, Refusal> {
        Self::from_bytes(label.as_bytes()).ok_or(Refusal::Malformed)
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let fits = (1..=DOMAIN_BYTES_MAX).contains(&bytes.len());
        if !fits || !bytes.iter().all(u8::is_ascii_graphic) {
            return None;
        }
        let mut label = [0; DOMAIN_BYTES_MAX];
        label[..bytes.len()].copy_from_slice(bytes);
        Some(Self {
            label,
            len: u8::try_from(bytes.len()).ok()?,
        })
    }

    /// Its label.
    #[must_use]
    pub fn label(&self) -> &str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    fn bytes(&self) -> &[u8] {
        &self.label[..usize::from(self.len)]
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Domain({})", self.label())
    }
}

/// The reason why bytes are no attestation, or an attestation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes do not have this format, or the label is not valid.
    Malformed,
    /// The payload is longer than [`PAYLOAD_BYTES_MAX`].
    TooLong,
    /// Another key made the attestation.
    OtherKey,
    /// The attestation was made for another domain.
    OtherDomain,
    /// The signature is wrong.
    Signature {
        /// The engine that verified it.
        engine: &'static str,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Malformed => "these bytes are no attestation of version 1",
            Self::TooLong => "a payload has 16 MiB at most; attest its digest instead",
            Self::OtherKey => "the attestation names another key",
            Self::OtherDomain => "the attestation is for another domain",
            Self::Signature { engine } => {
                return write!(
                    f,
                    "the signature is not the key's, says the engine {engine}"
                );
            }
        };
        f.write_str(text)
    }
}

impl std::error::Error for Refusal {}

/// A statement and its signature, kept as they are sent.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Attestation {
    bytes: Vec<u8>,
    domain: Domain,
    signature: Signature,
}

impl Attestation {
    /// Returns the encoding, which was kept.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Converts the attestation to its encoding.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Parses an encoding. Nothing is verified yet.
    ///
    /// # Errors
    /// [`Refusal::Malformed`], [`Refusal::TooLong`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (signature, domain) = Self::head(bytes).ok_or(Refusal::Malformed)?;
        if bytes.len() - LABEL - domain.bytes().len() > PAYLOAD_BYTES_MAX {
            return Err(Refusal::TooLong);
        }
        Ok(Self {
            bytes: bytes.to_vec(),
            domain,
            signature,
        })
    }

    /// Parses everything before the payload.
    fn head(bytes: &[u8]) -> Option<(Signature, Domain)> {
        let signature = Signature::from_bytes(*bytes.first_chunk()?);
        let len = *bytes.get(LABEL - 1)?;
        let domain = Domain::from_bytes(bytes.get(LABEL..LABEL + usize::from(len))?)?;
        let marked = bytes.get(STATEMENT..LABEL - 1)? == MARK;
        marked.then_some((signature, domain))
    }

    /// Its domain.
    #[must_use]
    pub const fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the key that it names; [`verify_attestation`] checks that the key made it.
    #[must_use]
    pub fn key_bytes(&self) -> &[u8] {
        &self.bytes[SIGNATURE_BYTES..STATEMENT]
    }

    /// Returns the payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.bytes[LABEL + usize::from(self.domain.len)..]
    }

    /// Its signature.
    #[must_use]
    pub const fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns the item for [`crate::verify_batch`], if key and domain are the expected ones.
    ///
    /// # Errors
    /// [`Refusal::OtherKey`] and [`Refusal::OtherDomain`].
    pub fn item<'a>(&'a self, key: &'a VerifyingKey, domain: &Domain) -> Result<Item<'a>, Refusal> {
        if self.key_bytes() != key.as_bytes() {
            return Err(Refusal::OtherKey);
        }
        if self.domain != *domain {
            return Err(Refusal::OtherDomain);
        }
        Ok(Item {
            key,
            message: &self.bytes[STATEMENT..],
            signature: &self.signature,
        })
    }
}

impl fmt::Debug for Attestation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (domain, bytes) = (&self.domain, self.payload().len());
        let mut shown = f.debug_struct("Attestation");
        shown
            .field("domain", domain)
            .field("payload_bytes", &bytes)
            .finish_non_exhaustive()
    }
}

/// Signs `payload` in `domain` with `key` and encodes the result, with one allocation. Equal inputs
/// give equal bytes.
///
/// # Errors
/// [`Refusal::TooLong`].
pub fn generate_attestation(
    key: &SigningKey,
    domain: &Domain,
    payload: &[u8],
) -> Result<Attestation, Refusal> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(Refusal::TooLong);
    }
    let mut bytes = Vec::with_capacity(LABEL + domain.bytes().len() + payload.len());
    bytes.extend_from_slice(&[0; SIGNATURE_BYTES]);
    bytes.extend_from_slice(key.verifying_key().as_bytes());
    bytes.extend_from_slice(MARK);
    bytes.push(domain.len);
    bytes.extend_from_slice(domain.bytes());
    bytes.extend_from_slice(payload);
    let signature = key.sign(&bytes[STATEMENT..]);
    bytes[..SIGNATURE_BYTES].copy_from_slice(signature.as_bytes());
    Ok(Attestation {
        bytes,
        domain: *domain,
        signature,
    })
}

/// The proof that a key made an attestation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The engine that verified it.
    pub engine: &'static str,
}

/// Verifies that `key` made this attestation in this domain.
///
/// # Errors
/// [`Refusal::OtherKey`], [`Refusal::OtherDomain`], [`Refusal::Signature`].
pub fn verify_attestation(
    key: &VerifyingKey,
    domain: &Domain,
    made: &Attestation,
) -> Result<Verified, Refusal> {
    judged(made.item(key, domain)?, key.engine_for_one())
}

/// Verifies like [`verify_attestation`], with a given engine.
///
/// # Errors
/// As [`verify_attestation`].
pub fn verify_attestation_with(
    by: &dyn Engine,
    key: &VerifyingKey,
    domain: &Domain,
    made: &Attestation,
) -> Result<Verified, Refusal> {
    judged(made.item(key, domain)?, by)
}

fn judged(item: Item<'_>, by: &dyn Engine) -> Result<Verified, Refusal> {
    let engine = by.name();
    if by.verify(item.key, item.message, item.signature) {
        Ok(Verified { engine })
    } else {
        Err(Refusal::Signature { engine })
    }
}
