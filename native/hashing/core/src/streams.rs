//! Digests messages one at a time, or in pairs where interleaving two is faster.

use crate::algorithm::{Algorithm, Block, State, Tail};
#[cfg(target_arch = "aarch64")]
use crate::armv8::Armv8Ce;
use crate::engine::Engine;
use crate::scalar;
#[cfg(target_arch = "x86_64")]
use crate::x86::sha_ni::ShaNi;

/// A compression function over whole messages; a value proves that this CPU can run it.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    ShaNi(ShaNi),
    #[cfg(target_arch = "x86_64")]
    ShaNiX2(ShaNi),
    #[cfg(target_arch = "aarch64")]
    Armv8Ce(Armv8Ce),
}

/// A message of which `done` whole blocks are in `state` already.
#[derive(Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) message: &'a [u8],
    pub(crate) done: usize,
    pub(crate) state: State,
}

impl<'a> Pending<'a> {
    /// The whole blocks that are left.
    fn blocks(&self) -> &'a [Block] {
        &self.message.as_chunks().0[self.done..]
    }
}

impl Stream {
    /// The stream of an engine; `None` if the engine is none or this CPU cannot run it.
    pub(crate) fn of(engine: Engine) -> Option<Self> {
        match engine {
            Engine::Scalar => Some(Self::Scalar),
            #[cfg(target_arch = "x86_64")]
            Engine::ShaNi => ShaNi::new().map(Self::ShaNi),
            #[cfg(target_arch = "x86_64")]
            Engine::ShaNiX2 => ShaNi::new().map(Self::ShaNiX2),
            #[cfg(target_arch = "aarch64")]
            Engine::Armv8Ce => Armv8Ce::new().map(Self::Armv8Ce),
            _ => None,
        }
    }

    /// The engine of `count` messages.
    pub(crate) fn engine(self, count: usize) -> Engine {
        match self {
            Self::Scalar => Engine::Scalar,
            #[cfg(target_arch = "x86_64")]
            Self::ShaNiX2(_) if count >= 2 => Engine::ShaNiX2,
            #[cfg(target_arch = "x86_64")]
            Self::ShaNi(_) | Self::ShaNiX2(_) => Engine::ShaNi,
            #[cfg(target_arch = "aarch64")]
            Self::Armv8Ce(_) => Engine::Armv8Ce,
        }
    }

    /// The state of a whole message.
    #[inline]
    pub(crate) fn finish(self, algorithm: Algorithm, pending: &Pending<'_>) -> State {
        let mut state = pending.state;
        self.compress(algorithm, &mut state, pending.blocks());
        self.compress(algorithm, &mut state, Tail::of(pending.message).blocks());
        state
    }

    /// The states of two whole messages: interleaved while both have blocks, then the longer one
    /// alone.
    #[inline]
    pub(crate) fn finish_pair(self, algorithm: Algorithm, pair: &[Pending<'_>; 2]) -> [State; 2] {
        #[cfg(target_arch = "x86_64")]
        if let Self::ShaNiX2(kernel) = self {
            return finish_interleaved(kernel, algorithm, pair);
        }
        [
            self.finish(algorithm, &pair[0]),
            self.finish(algorithm, &pair[1]),
        ]
    }

    #[inline]
    fn compress(self, algorithm: Algorithm, state: &mut State, blocks: &[Block]) {
        match self {
            Self::Scalar => scalar::compress(algorithm, state, blocks),
            #[cfg(target_arch = "x86_64")]
            Self::ShaNi(kernel) | Self::ShaNiX2(kernel) => {
                kernel.compress(algorithm, core::array::from_mut(state), [blocks]);
            }
            #[cfg(target_arch = "aarch64")]
            Self::Armv8Ce(kernel) => kernel.compress(algorithm, state, blocks),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn finish_interleaved(kernel: ShaNi, algorithm: Algorithm, pair: &[Pending<'_>; 2]) -> [State; 2] {
    let [first, second] = pair;
    let tails = [Tail::of(first.message), Tail::of(second.message)];
    let mut states = [first.state, second.state];
    for blocks in [
        [first.blocks(), second.blocks()],
        [tails[0].blocks(), tails[1].blocks()],
    ] {
        let both = blocks[0].len().min(blocks[1].len());
        kernel.compress(algorithm, &mut states, blocks.map(|blocks| &blocks[..both]));
        for (state, blocks) in states.iter_mut().zip(blocks) {
            if blocks.len() > both {
                kernel.compress(algorithm, core::array::from_mut(state), [&blocks[both..]]);
            }
        }
    }
    states
}
