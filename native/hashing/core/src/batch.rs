//! The public functions: check the arguments, then let the chosen engine digest.
//!
//! An error means that nothing was written. No input panics, and nothing is allocated.

use core::fmt;

use crate::algorithm::Algorithm;
use crate::dispatch;
use crate::engine::Engine;
use crate::messages::Messages;
use crate::plan::Plan;

/// The choice of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The fastest one on this CPU for the algorithm and the number and lengths of the messages.
    Best,
    /// This engine, or an error if the CPU cannot run it.
    Only(Engine),
}

/// The reason why a batch was refused; nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// `digests` is not a whole number of digests, or not as many as there are messages.
    DigestsLength {
        /// Its length.
        len: usize,
        /// Length of one digest.
        digest_bytes: usize,
        /// The number of messages, where another argument gives it.
        messages: Option<usize>,
    },
    /// The length of `messages` does not fit the number of digests.
    MessagesLength {
        /// Its length.
        len: usize,
        /// The right length; `None` when that overflows.
        expected: Option<usize>,
    },
    /// `offsets` does not have one offset more than there are messages.
    OffsetsLength {
        /// Its length.
        len: usize,
        /// The number of messages.
        messages: usize,
    },
    /// An offset is less than the one before it.
    OffsetDescends {
        /// The first such offset.
        index: usize,
    },
    /// This CPU cannot run the requested engine.
    Unavailable {
        /// The engine.
        engine: Engine,
    },
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DigestsLength {
                len,
                digest_bytes,
                messages: None,
            } => {
                write!(
                    f,
                    "digests: {len} bytes is not a multiple of {digest_bytes}"
                )
            }
            Self::DigestsLength {
                len,
                digest_bytes,
                messages: Some(messages),
            } => {
                write!(
                    f,
                    "digests: {len} bytes where {messages} messages need {digest_bytes} each"
                )
            }
            Self::MessagesLength {
                len,
                expected: Some(expected),
            } => {
                write!(
                    f,
                    "messages: {len} bytes where digests or offsets ask for {expected}"
                )
            }
            Self::MessagesLength {
                len,
                expected: None,
            } => {
                write!(
                    f,
                    "messages: {len} bytes where the digests ask for more than memory can hold"
                )
            }
            Self::OffsetsLength { len, messages } => {
                write!(
                    f,
                    "offsets: {len} where {messages} messages need one more than that"
                )
            }
            Self::OffsetDescends { index } => {
                write!(f, "offsets: offset {index} is less than the one before it")
            }
            Self::Unavailable { engine } => {
                write!(f, "engine {engine}: needs {}", engine.requires())
            }
        }
    }
}

impl core::error::Error for BatchError {}

/// Writes the digest of message i, `messages[i * message_bytes..][..message_bytes]`, to position i
/// of `digests`, and returns the engine that digested most of them.
///
/// The length of `digests` gives the number of messages; zero messages and empty messages are fine.
///
/// # Errors
/// When the lengths do not fit each other or the engine is unavailable; then nothing is written.
pub fn digest_equal(
    algorithm: Algorithm,
    choice: Choice,
    messages: &[u8],
    message_bytes: usize,
    digests: &mut [u8],
) -> Result<Engine, BatchError> {
    let messages = equal(algorithm, messages, message_bytes, digests)?;
    digest(algorithm, choice, &messages, digests)
}

/// Writes the digest of message i, `messages[offsets[i]..offsets[i + 1]]`, to position i of
/// `digests`, and returns the engine that digested most of them.
///
/// `offsets` ascends and has one offset more than there are messages; bytes before the first and
/// after the last offset are not read.
///
/// # Errors
/// When lengths or offsets do not fit each other or the engine is unavailable; then nothing is
/// written.
pub fn digest_ragged(
    algorithm: Algorithm,
    choice: Choice,
    messages: &[u8],
    offsets: &[u32],
    digests: &mut [u8],
) -> Result<Engine, BatchError> {
    let messages = ragged(algorithm, messages, offsets, digests)?;
    digest(algorithm, choice, &messages, digests)
}

/// Writes the digest of `buffers[i]` to position i of `digests`, and returns the engine that
/// digested most of them.
///
/// # Errors
/// When `digests` does not hold exactly one digest per buffer or the engine is unavailable; then
/// nothing is written.
pub fn digest_buffers(
    algorithm: Algorithm,
    choice: Choice,
    buffers: &[&[u8]],
    digests: &mut [u8],
) -> Result<Engine, BatchError> {
    let messages = scattered(algorithm, buffers, digests)?;
    digest(algorithm, choice, &messages, digests)
}

/// The checked arguments of [`digest_equal`].
pub(crate) fn equal<'a>(
    algorithm: Algorithm,
    messages: &'a [u8],
    message_bytes: usize,
    digests: &[u8],
) -> Result<Messages<'a>, BatchError> {
    Messages::equal(messages, message_bytes, places(algorithm, digests, None)?)
}

/// The checked arguments of [`digest_ragged`].
pub(crate) fn ragged<'a>(
    algorithm: Algorithm,
    messages: &'a [u8],
    offsets: &'a [u32],
    digests: &[u8],
) -> Result<Messages<'a>, BatchError> {
    Messages::ragged(messages, offsets, places(algorithm, digests, None)?)
}

/// The checked arguments of [`digest_buffers`].
pub(crate) fn scattered<'a>(
    algorithm: Algorithm,
    buffers: &'a [&'a [u8]],
    digests: &[u8],
) -> Result<Messages<'a>, BatchError> {
    places(algorithm, digests, Some(buffers.len()))?;
    Ok(Messages::Scattered(buffers))
}

fn digest(
    algorithm: Algorithm,
    choice: Choice,
    messages: &Messages<'_>,
    digests: &mut [u8],
) -> Result<Engine, BatchError> {
    let plan = Plan::new(algorithm, choice)?;
    dispatch::run(algorithm, &plan, messages, digests);
    Ok(plan.engine(messages.count()))
}

/// The number of digests in `digests`, which must be `messages` if that is given.
fn places(
    algorithm: Algorithm,
    digests: &[u8],
    messages: Option<usize>,
) -> Result<usize, BatchError> {
    let digest_bytes = algorithm.digest_bytes();
    let (len, count) = (digests.len(), digests.len() / digest_bytes);
    if !len.is_multiple_of(digest_bytes) || messages.is_some_and(|messages| messages != count) {
        return Err(BatchError::DigestsLength {
            len,
            digest_bytes,
            messages,
        });
    }
    Ok(count)
}
