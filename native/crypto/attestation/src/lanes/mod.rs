//! Batch verification in eight lanes: the engine `ifma` in AVX-512 registers, and its scalar twin
//! `twin`.
//!
//! Read in this order: `vector` (what a CPU must offer), `field`, `point`, `sum` (the batch's
//! equation), `each` (eight signatures separately), `alone` (one), `multiples` (what it
//! keeps of keys), `encoded` (its last step), `sha512`, `kernels` (all of it compiled for a CPU), `batch`, `coefficients`.
//!
//! Both engines are the same source over two kinds of vector, so they compute the same limbs. Lanes
//! only accept: `portable` decides about every signature they would refuse, so that the same code
//! refuses it alone and in a batch. Nothing here is
//! constant time, and nothing here sees a secret: signing is elsewhere.

mod alone;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod batch;
#[cfg(test)]
mod bounds;
mod coefficients;
mod each;
mod encoded;
mod field;
mod kernels;
mod multiples;
mod point;
mod sha512;
mod sum;
#[cfg(test)]
mod tests;
mod vector;

use std::sync::OnceLock;

use crate::batch::Item;
use crate::engine::Engine;
use crate::halving::by_parts;
use crate::key::VerifyingKey;
use crate::portable::Portable;
use crate::signature::Signature;
use alone::Spread;
use batch::Batch;
use each::ROWS;
use kernels::{Kernels, Plain};
use point::Block;
use vector::BucketRow;

pub(crate) use batch::LanePoints;
pub(crate) use multiples::KEEPER;

/// RFC 8032 §5.1: y = 4/5, x even.
const BASE: [u8; 32] = {
    let mut bytes = [0x66; 32];
    bytes[0] = 0x58;
    bytes
};

/// The engines that this CPU can run.
pub(crate) fn engines() -> Vec<Box<dyn Engine>> {
    #[allow(unused_mut, reason = "other CPUs have the twin only")]
    let mut engines: Vec<Box<dyn Engine>> =
        vec![Box::new(LaneEngine::new("twin", Box::new(Plain)))];
    #[cfg(target_arch = "x86_64")]
    if let Some(kernels) = kernels::Avx512::detect() {
        engines.push(Box::new(LaneEngine::new("ifma", Box::new(kernels))));
    }
    engines
}

/// The forms of the base point that the engines use.
struct Base {
    /// Lane 0: B; lane 1: 2^128 B.
    block: Block,
    /// 0 to 8 times B.
    table: Box<[BucketRow; ROWS]>,
    /// The multiples of its shifted forms, one per lane (`alone`).
    spread: Spread,
}

/// An engine over some kernels.
struct LaneEngine {
    name: &'static str,
    kernels: Box<dyn Kernels>,
    base: OnceLock<Base>,
}

impl LaneEngine {
    fn new(name: &'static str, kernels: Box<dyn Kernels>) -> Self {
        Self {
            name,
            kernels,
            base: OnceLock::new(),
        }
    }

    fn base(&self) -> &Base {
        self.base.get_or_init(|| {
            let (mut block, _) = self.kernels.decompress(&[BASE; vector::LANES]);
            let table = self.kernels.table(&block);
            let spread = self.kernels.spread(&block);
            let shifted = self.kernels.shifted(&block);
            block.copy_lane(1, &shifted, 0);
            Base {
                block,
                table,
                spread,
            }
        })
    }
}

impl Engine for LaneEngine {
    fn name(&self) -> &'static str {
        self.name
    }

    fn verify(&self, key: &VerifyingKey, message: &[u8], signature: &Signature) -> bool {
        let item = Item {
            key,
            message,
            signature,
        };
        batch::accepts_alone(&*self.kernels, self.base(), &item)
            || Portable.verify(key, message, signature)
    }

    fn bad(&self, items: &[Item<'_>]) -> Vec<usize> {
        if let [item] = items {
            let good = self.verify(item.key, item.message, item.signature);
            return if good { Vec::new() } else { vec![0] };
        }
        let mut bad = by_parts(items, |items| {
            Batch::new(&*self.kernels, self.base(), items).bad()
        });
        bad.retain(|index| {
            let item = &items[*index];
            !Portable.verify(item.key, item.message, item.signature)
        });
        bad
    }
}
