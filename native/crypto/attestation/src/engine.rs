//! The engines: one trait, reported by name, and selectable.
//!
//! An engine in [`engines`] runs on this CPU, and all of them agree on every input.
//! [`Engine::verify`] and [`Engine::bad`] never panic. Libraries verify, unless a process prefers an
//! engine of our own ([`prefer`], [`PREFERRED`]). [`WITHOUT`] disables engines, to behave as on a CPU
//! with fewer features; the results stay the same.

use std::sync::OnceLock;

use crate::batch::Item;
use crate::key::{KEY_BYTES, VerifyingKey};
use crate::lanes;
use crate::portable::Portable;
use crate::signature::Signature;

/// An implementation of verification, and perhaps of signing.
pub trait Engine: Send + Sync {
    /// Returns its name, as results report it.
    fn name(&self) -> &'static str;

    /// Returns whether the signature is valid for key and message by ZIP 215.
    fn verify(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool;

    /// Returns the indices of bad items, in any order.
    fn bad(&self, items: &[Item<'_>]) -> Vec<usize>;

    /// Returns a signer for a seed; none if the engine only verifies.
    fn signer(&self, seed: &[u8; KEY_BYTES]) -> Option<Box<dyn Signer>> {
        let _ = seed;
        None
    }
}

/// A secret key in the form its engine signs with; erased when dropped.
pub trait Signer: Send + Sync {
    /// Signs a message by RFC 8032 §5.1.6.
    fn sign(&self, message: &[u8]) -> Signature;
    /// Returns the public key's bytes.
    fn public(&self) -> [u8; KEY_BYTES];
    /// Returns the engine's name.
    fn engine(&self) -> &'static str;
}

/// The environment variable that lists disabled engines, separated by commas or spaces. `portable`
/// cannot be disabled.
pub const WITHOUT: &str = "PACELINE_ATTESTATION_WITHOUT";

/// Returns whether the environment disables this engine.
#[must_use]
pub fn is_withheld(name: &str) -> bool {
    static WITHHELD: OnceLock<String> = OnceLock::new();
    let withheld = WITHHELD.get_or_init(|| std::env::var(WITHOUT).unwrap_or_default());
    name != "portable" && withheld.split([',', ' ']).any(|engine| engine == name)
}

/// Returns the engines that this CPU and build can run; the first is always `portable`, the reference.
#[must_use]
pub fn engines() -> &'static [Box<dyn Engine>] {
    static ENGINES: OnceLock<Vec<Box<dyn Engine>>> = OnceLock::new();
    ENGINES.get_or_init(|| {
        let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Portable)];
        #[cfg(not(target_env = "musl"))]
        engines.push(Box::new(crate::aws_lc::AwsLc));
        engines.extend(lanes::engines());
        engines.retain(|engine| !is_withheld(engine.name()));
        engines
    })
}

/// Returns the engine of that name, if this CPU and build have it.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Engine> {
    engines()
        .iter()
        .map(Box::as_ref)
        .find(|engine| engine.name() == name)
}

fn first_of(names: [&str; 2]) -> &'static dyn Engine {
    names.into_iter().find_map(by_name).unwrap_or(&Portable)
}

/// The environment variable that names the engine to verify with, such as `ifma`, if the CPU has it.
pub const PREFERRED: &str = "PACELINE_ATTESTATION_ENGINE";

static PREFERENCE: OnceLock<Option<&'static dyn Engine>> = OnceLock::new();

fn preferred() -> Option<&'static dyn Engine> {
    *PREFERENCE.get_or_init(|| by_name(&std::env::var(PREFERRED).ok()?))
}

/// Makes an engine of our own verify by default in this process, and returns whether it does. It does not if this
/// CPU or build lacks it, if another was preferred before, or if a signature was already verified.
pub fn prefer(name: &str) -> bool {
    PREFERENCE
        .get_or_init(|| by_name(name))
        .is_some_and(|engine| engine.name() == name)
}

/// Returns the engine for the first signature that is verified alone under a key. The engines in lanes need
/// multiples of the key, which cost more than a verification by `portable`, so they wait for a second signature.
///
/// So in a process that prefers lanes two kinds of code accept: `portable` a key's first signature, and those of keys
/// without a place for multiples, and lanes the others. One kind alone would make multiples, for the time of six
/// verifications, of every key that is used once, and for each signature of a key without a place; that both accept
/// the same is proved of the arithmetic (`lanes/bounds.rs`) and tested of the rest (`tests/differential.rs`).
#[must_use]
pub fn first() -> &'static dyn Engine {
    &Portable
}

/// Returns the engine for one signature, of a key that verified one before.
#[must_use]
pub fn single() -> &'static dyn Engine {
    preferred().unwrap_or(&Portable)
}

/// Returns the engine for batches.
#[must_use]
pub fn batching() -> &'static dyn Engine {
    preferred().unwrap_or_else(|| first_of(["aws_lc", "portable"]))
}

/// Returns the engine that signs.
#[must_use]
pub fn signing() -> &'static dyn Engine {
    static CHOICE: OnceLock<&dyn Engine> = OnceLock::new();
    *CHOICE.get_or_init(|| first_of(["aws_lc", "portable"]))
}

/// Sets the number of keys whose multiples the engines in lanes keep (23 KiB each; 2,048 by default).
/// Keys beyond that are verified by `portable`, with the same answers, unless one takes the place of
/// a key that was not used lately.
pub fn set_keys_kept(keys: usize) {
    lanes::KEEPER.set_limit(keys);
}
