//! The engine for every CPU, on `curve25519-dalek` and `ed25519-dalek`; all other engines must
//! agree with it.
//!
//! Verification is ZIP 215's equation as written there: 8 s B = 8 R + 8 k A. Signing is
//! ed25519-dalek's over a secret that is expanded once. Batches are those of `equation`.

use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use ed25519_dalek::hazmat::{ExpandedSecretKey, raw_sign};
use sha2::{Digest, Sha512};

use crate::batch::Item;
use crate::engine::{Engine, Signer};
use crate::equation;
use crate::key::{KEY_BYTES, VerifyingKey};
use crate::signature::Signature;

/// Reported in results.
const NAME: &str = "portable";

/// The engine.
pub(crate) struct Portable;

impl Engine for Portable {
    fn name(&self) -> &'static str {
        NAME
    }

    fn verify(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool {
        holds(key, message, signature).unwrap_or(false)
    }

    fn bad(&self, items: &[Item<'_>]) -> Vec<usize> {
        equation::bad(items, &|item| {
            self.verify(item.key, item.message, item.signature)
        })
    }

    fn signer(&self, seed: &[u8; KEY_BYTES]) -> Option<Box<dyn Signer>> {
        let public = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key();
        Some(Box::new(PortableSigner {
            secret: ExpandedSecretKey::from(seed),
            public,
        }))
    }
}

fn holds(key: &VerifyingKey, message: &[u8], signature: &Signature) -> Option<bool> {
    let response = signature.response()?;
    let commitment = CompressedEdwardsY(*signature.commitment()).decompress()?;
    let challenge = challenge(key, message, signature);
    let point =
        EdwardsPoint::vartime_double_scalar_mul_basepoint(&challenge, key.negated(), &response);
    Some((point - commitment).mul_by_cofactor().is_identity())
}

/// k: SHA-512 of R, A and the message, over the bytes as received, modulo the group's order.
pub(crate) fn challenge(key: &VerifyingKey, message: &[u8], signature: &Signature) -> Scalar {
    let digest = Sha512::new()
        .chain_update(signature.commitment())
        .chain_update(key.as_bytes())
        .chain_update(message)
        .finalize();
    Scalar::from_bytes_mod_order_wide(&digest.into())
}

/// A signer whose secret is erased when dropped, by `ExpandedSecretKey` itself.
struct PortableSigner {
    secret: ExpandedSecretKey,
    public: ed25519_dalek::VerifyingKey,
}

/// Fails to compile if the library no longer erases its secret (feature `zeroize`).
const _: fn() = || {
    fn erased_when_dropped<T: zeroize::ZeroizeOnDrop>() {}
    erased_when_dropped::<ExpandedSecretKey>();
};

impl Signer for PortableSigner {
    fn sign(&self, message: &[u8]) -> Signature {
        Signature::from_bytes(raw_sign::<Sha512>(&self.secret, message, &self.public).to_bytes())
    }

    fn public(&self) -> [u8; KEY_BYTES] {
        self.public.to_bytes()
    }

    fn engine(&self) -> &'static str {
        NAME
    }
}
