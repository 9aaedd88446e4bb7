//! The engines: one trait, reported by name, and selectable.
//!
//! An engine in [`engines`] runs on this CPU, and all of them agree on every input.
//! [`Engine::verify`] and [`Engine::bad`] never panic. Unless a process asks for an engine of our
//! own by name ([`prefer`], [`PREFERRED`]), libraries verify. To behave as on a lesser CPU, it names
//! what to do without ([`WITHOUT`]); the answers stay the same.

use std::sync::OnceLock;

use crate::batch::Item;
use crate::key::{KEY_BYTES, VerifyingKey};
use crate::lanes;
use crate::portable::Portable;
use crate::signature::Signature;

/// An implementation of verification, and perhaps of signing.
pub trait Engine: Send + Sync {
    /// Its name, as results report it.
    fn name(&self) -> &'static str;

    /// Whether the signature is the key's over the message, by ZIP 215.
    fn verify(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool;

    /// The indices of bad items, in any order.
    fn bad(&self, items: &[Item<'_>]) -> Vec<usize>;

    /// A signer for a seed; none if the engine only verifies.
    fn signer(&self, seed: &[u8; KEY_BYTES]) -> Option<Box<dyn Signer>> {
        let _ = seed;
        None
    }
}

/// A secret key in the form its engine signs with; erased when dropped.
pub trait Signer: Send + Sync {
    /// RFC 8032 §5.1.6.
    fn sign(&self, message: &[u8]) -> Signature;
    /// The public key's bytes.
    fn public(&self) -> [u8; KEY_BYTES];
    /// The engine's name.
    fn engine(&self) -> &'static str;
}

/// The environment's list of engines that this process does without, as if its CPU or build had none of
/// them; separated by commas or spaces. `portable` stays.
pub const WITHOUT: &str = "PACELINE_ATTESTATION_WITHOUT";

/// Whether the environment takes this engine away.
#[must_use]
pub fn is_withheld(name: &str) -> bool {
    static WITHHELD: OnceLock<String> = OnceLock::new();
    let withheld = WITHHELD.get_or_init(|| std::env::var(WITHOUT).unwrap_or_default());
    name != "portable" && withheld.split([',', ' ']).any(|engine| engine == name)
}

/// Every engine this CPU and this build can run; `portable` is always the first, and what others are held to.
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

/// The engine of that name, when this CPU and build have it.
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

/// The environment's name of the engine that verifies in this process where its CPU has it: `ifma`.
pub const PREFERRED: &str = "PACELINE_ATTESTATION_ENGINE";

static PREFERENCE: OnceLock<Option<&'static dyn Engine>> = OnceLock::new();

fn preferred() -> Option<&'static dyn Engine> {
    *PREFERENCE.get_or_init(|| by_name(&std::env::var(PREFERRED).ok()?))
}

/// Makes an engine verify by default in this process: an engine of our own verifies only where it is asked for by
/// name. Whether it does now: not where this CPU or build lacks it, nor after another was chosen or a signature
/// verified.
pub fn prefer(name: &str) -> bool {
    PREFERENCE
        .get_or_init(|| by_name(name))
        .is_some_and(|engine| engine.name() == name)
}

/// The engine for the first signature that is verified alone under a key. Sums in lanes want multiples of the
/// key, and to make those takes longer than the whole of `portable`'s sum: they wait for a second signature.
#[must_use]
pub fn first() -> &'static dyn Engine {
    &Portable
}

/// The engine for one signature, of a key that verified one before.
#[must_use]
pub fn single() -> &'static dyn Engine {
    preferred().unwrap_or(&Portable)
}

/// The engine for batches.
#[must_use]
pub fn batching() -> &'static dyn Engine {
    preferred().unwrap_or_else(|| first_of(["aws_lc", "portable"]))
}

/// The engine that signs.
#[must_use]
pub fn signing() -> &'static dyn Engine {
    static CHOICE: OnceLock<&dyn Engine> = OnceLock::new();
    *CHOICE.get_or_init(|| first_of(["aws_lc", "portable"]))
}

/// Sets for how many keys the engines in lanes keep multiples (23 KiB each; 2,048 keys unless set).
/// Keys beyond that are verified by `portable`, with the same answers, unless one takes the place of
/// a key that was not used lately.
pub fn set_keys_kept(keys: usize) {
    lanes::KEEPER.set_limit(keys);
}
