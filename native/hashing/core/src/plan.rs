//! The rule for which kernels take part in a call, and from how many messages on.
//!
//! From that number of messages on, a kernel's time for one block in all its lanes is below the
//! narrower kernel's time for as many messages: measured on Zen 4, elsewhere by the model in the
//! README.

use crate::algorithm::Algorithm;
use crate::batch::{BatchError, Choice};
use crate::engine::Engine;
use crate::streams::Stream;
#[cfg(target_arch = "x86_64")]
use crate::x86::{self, avx2::Avx2, avx512::Avx512, avx512_half::Avx512Half};

/// Most lanes a kernel has.
pub(crate) const LANES_MAX: usize = 16;

/// A kernel over lanes.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx512Half(Avx512Half),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl Kernel {
    /// The kernel of an engine that works in lanes; `None` if the CPU cannot run it.
    #[cfg(target_arch = "x86_64")]
    fn of(engine: Engine) -> Option<Self> {
        match engine {
            Engine::Avx512X16 => Avx512::new().map(Self::Avx512),
            Engine::Avx512X8 => Avx512Half::new().map(Self::Avx512Half),
            Engine::Avx2X8 => Avx2::new().map(Self::Avx2),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of(_engine: Engine) -> Option<Self> {
        None
    }

    /// The number of messages it digests at once.
    pub(crate) fn lanes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Half(_) | Self::Avx2(_) => 8,
        }
    }
}

/// A kernel over lanes, and the number of messages from which it is faster.
#[derive(Clone, Copy)]
pub(crate) struct Tier {
    pub(crate) kernel: Kernel,
    pub(crate) least: usize,
    engine: Engine,
}

impl Tier {
    fn of(engine: Engine, least: usize) -> Option<Self> {
        Kernel::of(engine).map(|kernel| Self {
            kernel,
            least,
            engine,
        })
    }
}

/// How to digest a call.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Widest first.
    pub(crate) tiers: [Option<Tier>; 2],
    /// For the messages that no tier digests.
    pub(crate) stream: Stream,
}

impl Plan {
    /// The plan for a choice; an engine that this CPU cannot run is an error.
    pub(crate) fn new(algorithm: Algorithm, choice: Choice) -> Result<Self, BatchError> {
        match choice {
            Choice::Best => Ok(Self::best(algorithm)),
            Choice::Only(engine) => Self::only(engine).ok_or(BatchError::Unavailable { engine }),
        }
    }

    fn only(engine: Engine) -> Option<Self> {
        if let Some(stream) = Stream::of(engine) {
            return Some(Self {
                tiers: [None; 2],
                stream,
            });
        }
        Some(Self {
            tiers: [Some(Tier::of(engine, 1)?), None],
            stream: Stream::Scalar,
        })
    }

    /// The fastest on this CPU.
    fn best(algorithm: Algorithm) -> Self {
        let streams = [Engine::ShaNiX2, Engine::Armv8Ce]
            .into_iter()
            .find_map(Stream::of);
        let Some(stream) = streams else {
            // One scalar message costs more than a block of all lanes from two or three messages
            // on.
            let narrow = Tier::of(Engine::Avx512X8, 2).or_else(|| Tier::of(Engine::Avx2X8, 3));
            return Self {
                tiers: [Tier::of(Engine::Avx512X16, 9), narrow],
                stream: Stream::Scalar,
            };
        };
        let (wide, half) = match algorithm {
            Algorithm::Sha1 => (9, 4),
            Algorithm::Sha256 if has_half_wide_units() => (15, 8),
            Algorithm::Sha256 => (11, 6),
        };
        Self {
            tiers: [
                Tier::of(Engine::Avx512X16, wide),
                Tier::of(Engine::Avx512X8, half),
            ],
            stream,
        }
    }

    /// The engine of the first and largest groups of `count` messages.
    pub(crate) fn engine(&self, count: usize) -> Engine {
        let tier = self.tiers.iter().flatten().find(|tier| count >= tier.least);
        tier.map_or_else(|| self.stream.engine(count), |tier| tier.engine)
    }
}

#[cfg(target_arch = "x86_64")]
fn has_half_wide_units() -> bool {
    x86::is_zen4()
}

#[cfg(not(target_arch = "x86_64"))]
fn has_half_wide_units() -> bool {
    false
}
