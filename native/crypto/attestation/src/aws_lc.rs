//! The engine of AWS-LC, with the fastest signing and fast verification of honest signatures.
//!
//! AWS-LC verifies without the cofactor (RFC 8032): it encodes s B − k A and compares the bytes
//! with R. Where it accepts, ZIP 215's equation holds too, since the points are equal and its
//! decodings are among ZIP 215's. Where it rejects, `portable` decides. Honest signatures never
//! take that second step. AWS-LC has no batches: they are those of `equation`.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::batch::Item;
use crate::engine::{Engine, Signer};
use crate::equation;
use crate::key::{KEY_BYTES, VerifyingKey};
use crate::portable::Portable;
use crate::signature::{SIGNATURE_BYTES, Signature};

/// Reported in results.
const NAME: &str = "aws_lc";

/// The engine.
pub(crate) struct AwsLc;

impl Engine for AwsLc {
    fn name(&self) -> &'static str {
        NAME
    }

    fn verify(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool {
        let public = UnparsedPublicKey::new(&ED25519, key.as_bytes());
        public.verify(message, signature.as_bytes()).is_ok()
            || Portable.verify(key, message, signature)
    }

    fn bad(&self, items: &[Item<'_>]) -> Vec<usize> {
        equation::bad(items, &|item| {
            self.verify(item.key, item.message, item.signature)
        })
    }

    fn signer(&self, seed: &[u8; KEY_BYTES]) -> Option<Box<dyn Signer>> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let public = pair.public_key().as_ref().try_into().ok()?;
        // A key that cannot sign is refused here, so that signing later has nothing to report.
        pair.try_sign(&[]).ok()?;
        Some(Box::new(AwsLcSigner { pair, public }))
    }
}

/// AWS-LC erases the key when it frees it.
struct AwsLcSigner {
    pair: Ed25519KeyPair,
    public: [u8; KEY_BYTES],
}

impl Signer for AwsLcSigner {
    fn sign(&self, message: &[u8]) -> Signature {
        let made = self.pair.sign(message);
        let mut bytes = [0; SIGNATURE_BYTES];
        // Ed25519 signatures have one length.
        for (to, from) in bytes.iter_mut().zip(made.as_ref()) {
            *to = *from;
        }
        Signature::from_bytes(bytes)
    }

    fn public(&self) -> [u8; KEY_BYTES] {
        self.public
    }

    fn engine(&self) -> &'static str {
        NAME
    }
}
