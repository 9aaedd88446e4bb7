//! Batches of messages of different lengths, whose offsets Java may change meanwhile.
//!
//! A thread that changes offsets during the call violates the contract and gets wrong digests or an
//! exception, but never causes a read outside the messages: each offset is copied to the stack
//! once, and only the copy is checked and used.

use paceline_hashing_core::{Algorithm, BatchError, Choice, Engine, digest_ragged};

const ALGORITHM: Algorithm = Algorithm::Sha256;
/// Messages per turn: 1 KiB of the stack, and a multiple of every engine's lanes, so that none is
/// idle.
const TURN: usize = 256;
/// For a batch so small that clearing the stack for a whole turn would cost too much.
const FEW: usize = 16;

/// Like [`digest_ragged`], returning the engine of the first turn: the last turn may have one or
/// two messages, for which another engine is better. Unless another thread causes it, a refusal
/// writes nothing.
pub(crate) fn digest(
    choice: Choice,
    messages: &[u8],
    offsets: &[u32],
    digests: &mut [u8],
) -> Result<Engine, BatchError> {
    if offsets.len() <= FEW + 1 {
        return copied(choice, messages, offsets, digests, &mut [0; FEW + 1]);
    }
    let mut copy = [0; TURN + 1];
    if offsets.len() <= copy.len() {
        return copied(choice, messages, offsets, digests, &mut copy);
    }
    let count = offsets.len() - 1;
    check(messages, offsets, digests)?;
    let mut first = None;
    for (turn, digests) in digests
        .chunks_mut(TURN * ALGORITHM.digest_bytes())
        .enumerate()
    {
        let from = turn * TURN;
        let offsets = &offsets[from..=from + TURN.min(count - from)];
        let engine = copied(choice, messages, offsets, digests, &mut copy)?;
        first.get_or_insert(engine);
    }
    // There are several turns, so there was a first one.
    Ok(first.unwrap_or(Engine::Scalar))
}

/// Digests by a copy of the offsets, which fits into `copy`.
fn copied(
    choice: Choice,
    messages: &[u8],
    offsets: &[u32],
    digests: &mut [u8],
    copy: &mut [u32],
) -> Result<Engine, BatchError> {
    let copy = &mut copy[..offsets.len()];
    copy.copy_from_slice(offsets);
    digest_ragged(ALGORITHM, choice, messages, copy, digests)
}

/// The refusals of [`digest_ragged`], for all turns at once.
fn check(messages: &[u8], offsets: &[u32], digests: &[u8]) -> Result<(), BatchError> {
    let (digest_bytes, count) = (ALGORITHM.digest_bytes(), offsets.len() - 1);
    if digests.len() != count * digest_bytes {
        return Err(BatchError::DigestsLength {
            len: digests.len(),
            digest_bytes,
            messages: Some(count),
        });
    }
    if let Some(before) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(BatchError::OffsetDescends { index: before + 1 });
    }
    match offsets[count] as usize {
        end if end > messages.len() => Err(BatchError::MessagesLength {
            len: messages.len(),
            expected: Some(end),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `count` messages of 0 to 6 bytes, their offsets, and their digests one by one.
    fn batch(count: usize) -> (Vec<u8>, Vec<u32>, Vec<u8>) {
        let mut offsets = vec![0];
        for i in 0..count {
            offsets.push(offsets[i] + u32::try_from(i % 7).expect("small"));
        }
        let messages: Vec<u8> = (0..=255).cycle().take(offsets[count] as usize).collect();
        let mut digests = vec![0; count * 32];
        for (i, place) in digests.chunks_mut(32).enumerate() {
            digest_ragged(
                ALGORITHM,
                Choice::Best,
                &messages,
                &offsets[i..i + 2],
                place,
            )
            .expect("fits");
        }
        (messages, offsets, digests)
    }

    #[test]
    fn turns_give_the_digests_of_one_call() {
        for count in [
            0,
            1,
            FEW,
            FEW + 1,
            TURN - 1,
            TURN,
            TURN + 1,
            3 * TURN,
            3 * TURN + 5,
        ] {
            let (messages, offsets, expected) = batch(count);
            let mut digests = vec![0; count * 32];
            digest(Choice::Best, &messages, &offsets, &mut digests).expect("fits");
            assert!(digests == expected, "{count} messages");
        }
    }

    #[test]
    fn a_short_last_turn_does_not_name_the_engine() {
        let engine_of = |count: usize| {
            let (messages, offsets, mut digests) = batch(count);
            digest(Choice::Best, &messages, &offsets, &mut digests).expect("fits")
        };
        let whole = engine_of(TURN);
        for rest in [1, 2, FEW, TURN] {
            assert_eq!(
                engine_of(TURN + rest),
                whole,
                "{rest} messages in the last turn"
            );
            assert_eq!(
                engine_of(2 * TURN + rest),
                whole,
                "{rest} messages in the last turn"
            );
        }
    }

    #[test]
    fn a_refused_batch_of_several_turns_writes_nothing() {
        let (messages, offsets, _) = batch(TURN + 5);
        let mut digests = vec![7; (TURN + 5) * 32];
        let mut descends = offsets.clone();
        descends[TURN + 4] = 0;
        assert_eq!(
            digest(Choice::Best, &messages, &descends, &mut digests),
            Err(BatchError::OffsetDescends { index: TURN + 4 })
        );
        let short = &messages[..messages.len() - 1];
        assert_eq!(
            digest(Choice::Best, short, &offsets, &mut digests),
            Err(BatchError::MessagesLength {
                len: short.len(),
                expected: Some(messages.len())
            })
        );
        let places = digests.len() - 32;
        assert!(digest(Choice::Best, &messages, &offsets, &mut digests[..places]).is_err());
        assert!(digests.iter().all(|byte| *byte == 7));
    }
}
