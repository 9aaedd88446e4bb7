//! The operations that the lane engines need of a CPU, compiled once per kind of vector.
//!
//! [`Avx512`] is made only by [`Avx512::detect`] after it found every feature its kernels are
//! compiled with; the unsafe calls below rely on that.

use super::alone::{self, Pieces, Spread};
use super::each::{self, Claims, ROWS};
use super::point::{self, Block, Niels, Point};
use super::sha512::{self, Message};
use super::sum::{self, Terms};
use super::vector::{BucketRow, LANES, ScalarVector, Vector};

/// The operations, each on eight inputs.
pub(crate) trait Kernels: Send + Sync {
    /// SHA-512.
    fn digest(&self, messages: &[Message<'_>; LANES]) -> [[u8; 64]; LANES];
    /// Points, and in which lanes there is one.
    fn decompress(&self, encodings: &[[u8; 32]; LANES]) -> (Block, u8);
    /// Decompresses two blocks, which takes hardly longer than one.
    fn decompress_two(&self, encodings: &[[[u8; 32]; LANES]; 2]) -> [(Block, u8); 2];
    /// 2^128 times the points.
    fn shifted(&self, points: &Block) -> Block;
    /// Whether eight times the sum is neutral.
    fn is_small(&self, terms: &Terms<'_>, rows: &mut Vec<BucketRow>) -> bool;
    /// Returns a mask of the signatures that are good, each verified by itself.
    fn each(&self, claims: &Claims<'_>, base: &[BucketRow; ROWS]) -> u8;
    /// 0 to 8 times the point of lane 0.
    fn table(&self, point: &Block) -> Box<[BucketRow; ROWS]>;
    /// Computes the multiples that `alone` keeps of a key and of the base point.
    fn spread(&self, point: &Block) -> Spread;
    /// One signature: key and base, challenge and response.
    fn combined(&self, points: [&Spread; 2], numbers: [&Pieces; 2]) -> BucketRow;
}

#[inline(always)]
fn decompress<V: Vector, const N: usize>(encodings: &[[[u8; 32]; LANES]; N]) -> [(Block, u8); N] {
    let mut loaded = [[V::splat(0); 4]; N];
    for (loaded, encodings) in loaded.iter_mut().zip(encodings) {
        let mut words = [[0; LANES]; 4];
        for (lane, encoding) in encodings.iter().enumerate() {
            for (word, bytes) in words.iter_mut().zip(encoding.as_chunks::<8>().0) {
                word[lane] = u64::from_le_bytes(*bytes);
            }
        }
        *loaded = words.map(|word| V::load(&word));
    }
    let mut made = [(Block::NEUTRAL, 0); N];
    for (made, (x, y, valid)) in made.iter_mut().zip(point::decompress(loaded)) {
        *made = (Niels::new(x, y).store(), valid);
    }
    made
}

#[inline(always)]
fn shifted<V: Vector>(points: &Block) -> Block {
    Point::neutral()
        .plus_affine(&Niels::<V>::load(points), 0)
        .doubled_often(128)
        .to_niels()
        .store()
}

/// The kernels in plain Rust: the twin, for every CPU.
pub(crate) struct Plain;

impl Kernels for Plain {
    fn digest(&self, messages: &[Message<'_>; LANES]) -> [[u8; 64]; LANES] {
        sha512::digest::<ScalarVector>(messages)
    }
    fn decompress(&self, encodings: &[[u8; 32]; LANES]) -> (Block, u8) {
        let [made] = decompress::<ScalarVector, 1>(&[*encodings]);
        made
    }
    fn decompress_two(&self, encodings: &[[[u8; 32]; LANES]; 2]) -> [(Block, u8); 2] {
        decompress::<ScalarVector, 2>(encodings)
    }
    fn shifted(&self, points: &Block) -> Block {
        shifted::<ScalarVector>(points)
    }
    fn is_small(&self, terms: &Terms<'_>, rows: &mut Vec<BucketRow>) -> bool {
        sum::is_small::<ScalarVector>(terms, rows)
    }
    fn each(&self, claims: &Claims<'_>, base: &[BucketRow; ROWS]) -> u8 {
        each::each::<ScalarVector>(claims, base)
    }
    fn table(&self, point: &Block) -> Box<[BucketRow; ROWS]> {
        Box::new(each::table::<ScalarVector>(point))
    }
    fn spread(&self, point: &Block) -> Spread {
        alone::spread::<ScalarVector>(point)
    }
    fn combined(&self, points: [&Spread; 2], numbers: [&Pieces; 2]) -> BucketRow {
        alone::combined::<ScalarVector>(points, numbers)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::avx512::{Zmm, available};
    use super::{
        Block, BucketRow, Claims, Kernels, LANES, Message, Pieces, ROWS, Spread, Terms, alone,
        decompress, each, sha512, shifted, sum,
    };

    /// The kernels in AVX-512 registers with the 52-bit multiplier.
    pub(crate) struct Avx512(());

    impl Avx512 {
        /// Returns the kernels if this CPU has the features they need.
        pub(crate) fn detect() -> Option<Self> {
            available().then_some(Self(()))
        }
    }

    /// A function compiled for the features, and its call.
    macro_rules! kernels {
        ($($(#[$meta:meta])* fn $name:ident($($input:ident: $type:ty),*) -> $output:ty = $body:expr;)*) => {
            impl Kernels for Avx512 {
                $(fn $name(&self, $($input: $type),*) -> $output {
                    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512ifma")]
                    fn compiled($($input: $type),*) -> $output {
                        $body
                    }
                    // SAFETY: `self` proves that the CPU has the features.
                    unsafe { compiled($($input),*) }
                })*
            }
        };
    }

    kernels! {
        fn digest(messages: &[Message<'_>; LANES]) -> [[u8; 64]; LANES] = sha512::digest::<Zmm>(messages);
        fn decompress(encodings: &[[u8; 32]; LANES]) -> (Block, u8) = {
            let [made] = decompress::<Zmm, 1>(&[*encodings]);
            made
        };
        fn decompress_two(encodings: &[[[u8; 32]; LANES]; 2]) -> [(Block, u8); 2] =
            decompress::<Zmm, 2>(encodings);
        fn shifted(points: &Block) -> Block = shifted::<Zmm>(points);
        fn is_small(terms: &Terms<'_>, rows: &mut Vec<BucketRow>) -> bool = sum::is_small::<Zmm>(terms, rows);
        fn each(claims: &Claims<'_>, base: &[BucketRow; ROWS]) -> u8 = each::each::<Zmm>(claims, base);
        fn table(point: &Block) -> Box<[BucketRow; ROWS]> = Box::new(each::table::<Zmm>(point));
        fn spread(point: &Block) -> Spread = alone::spread::<Zmm>(point);
        fn combined(points: [&Spread; 2], numbers: [&Pieces; 2]) -> BucketRow =
            alone::combined::<Zmm>(points, numbers);
    }
}
