//! From an engine's name to its code.

use crate::algorithm::{Algorithm, BLOCK_BYTES, State, Tail, write_digest};
use crate::engine::Engine;
use crate::messages::Messages;
use crate::scalar;

/// The fastest engine for these messages on this CPU.
pub(crate) fn best(_algorithm: Algorithm, _messages: &impl Messages) -> Engine {
    if Engine::ShaNi.is_available() {
        Engine::ShaNi
    } else if Engine::Armv8Ce.is_available() {
        Engine::Armv8Ce
    } else {
        Engine::Scalar
    }
}

/// Digests every message with `engine`, which this CPU can run.
pub(crate) fn run(algorithm: Algorithm, engine: Engine, messages: &impl Messages, digests: &mut [u8]) {
    let places = digests.chunks_exact_mut(algorithm.digest_bytes());
    for (i, digest) in places.enumerate() {
        let message = messages.get(i);
        let mut state = algorithm.initial_state();
        compress(algorithm, engine, &mut state, message.as_chunks().0);
        compress(algorithm, engine, &mut state, Tail::of(message).blocks());
        write_digest(&state, digest);
    }
}

fn compress(algorithm: Algorithm, engine: Engine, state: &mut State, blocks: &[[u8; BLOCK_BYTES]]) {
    match (algorithm, engine) {
        (Algorithm::Sha256, Engine::Scalar) => {
            blocks.iter().for_each(|block| scalar::compress_sha256(state, block));
        }
        (Algorithm::Sha1, Engine::Scalar) => {
            blocks.iter().for_each(|block| scalar::compress_sha1(state, block));
        }
        (Algorithm::Sha256, _) => sha2::block_api::compress256(state, blocks),
        (Algorithm::Sha1, _) => {
            let [words @ .., _, _, _] = state;
            sha1::block_api::compress(words, blocks);
        }
    }
}
