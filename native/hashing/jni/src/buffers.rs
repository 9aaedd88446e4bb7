//! Batches in direct memory: one call per batch, nothing copied.
//!
//! During the call no other thread may touch the buffers (documented in `NativeDigests`, which also
//! refuses read-only ones, which JNI cannot recognise). A buffer counts with its whole
//! capacity, whatever its position and limit.

use jni::EnvUnowned;
use jni::objects::{JByteBuffer, JClass, JObject};
use jni::sys::{jint, jlong};
use paceline_hashing_core::{Algorithm, digest_equal};
use paceline_hashing_jni_guard::{Refusal, Region, guarded, refuse_overlap};

use crate::choice::{choice, number};
use crate::offsets;

const ALGORITHM: Algorithm = Algorithm::Sha256;
/// Bytes of an offset: a Java `int` in the CPU's byte order.
const OFFSET_BYTES: usize = size_of::<u32>();

/// The regions of one call, which fit and do not overlap.
pub(crate) struct Batch {
    pub(crate) messages: Region,
    /// Absent when all messages are `message_bytes` long.
    pub(crate) offsets: Option<Region>,
    pub(crate) message_bytes: usize,
    pub(crate) digests: Region,
}

impl Batch {
    /// Digests, and returns the number of the engine that digested most messages.
    ///
    /// # Safety
    /// The regions are mapped; nothing else writes the first two, or reads or writes the third, meanwhile.
    pub(crate) unsafe fn digest(&self, engine: i64) -> Result<jint, Refusal> {
        let choice = choice(engine)?;
        refuse_overlap("messages and digests", &self.messages, &self.digests)?;
        if let Some(offsets) = &self.offsets {
            refuse_overlap("offsets and digests", offsets, &self.digests)?;
        }
        // SAFETY: mapped and unshared by the caller's promise; the written region was just found to overlap
        // with neither of the others.
        let (messages, digests) =
            unsafe { (self.messages.as_slice(), self.digests.as_slice_mut()) };
        let done = match &self.offsets {
            None => digest_equal(ALGORITHM, choice, messages, self.message_bytes, digests),
            Some(offsets) => {
                // SAFETY: as above.
                let bytes = unsafe { offsets.as_slice() };
                // SAFETY: every bit pattern is a `u32`; what does not fit its alignment is refused below.
                let (before, offsets, after) = unsafe { bytes.align_to::<u32>() };
                if !before.is_empty() || !after.is_empty() {
                    return Err(Refusal::Argument(
                        "offsets: no whole, aligned ints".to_owned(),
                    ));
                }
                offsets::digest(choice, messages, offsets, digests)
            }
        };
        done.map(number).map_err(Refusal::argument)
    }
}

fn natural(name: &str, value: i64) -> Result<usize, Refusal> {
    usize::try_from(value).map_err(|_| Refusal::Argument(format!("{name}: {value} is negative")))
}

/// `static native int digestEqual0(ByteBuffer messages, int messageBytes, ByteBuffer digests, int engine)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_digestEqual0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    messages: JByteBuffer<'frame>,
    message_bytes: jint,
    digests: JByteBuffer<'frame>,
    engine: jint,
) -> jint {
    guarded(env, |env| {
        let batch = Batch {
            messages: env.region("messages", &messages)?,
            offsets: None,
            message_bytes: natural("messageBytes", message_bytes.into())?,
            digests: env.region("digests", &digests)?,
        };
        // SAFETY: all regions are whole direct buffers which the arguments' local references keep alive until
        // this method returns; no other thread writes them (the caller's promise above).
        unsafe { batch.digest(engine.into()) }
    })
}

/// `static native int digestRagged0(ByteBuffer messages, ByteBuffer offsets, ByteBuffer digests, int engine)`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_digestRagged0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    messages: JByteBuffer<'frame>,
    offsets: JByteBuffer<'frame>,
    digests: JByteBuffer<'frame>,
    engine: jint,
) -> jint {
    guarded(env, |env| {
        let batch = Batch {
            messages: env.region("messages", &messages)?,
            offsets: Some(env.region("offsets", &offsets)?),
            message_bytes: 0,
            digests: env.region("digests", &digests)?,
        };
        // SAFETY: as in `digestEqual0`.
        unsafe { batch.digest(engine.into()) }
    })
}

/// `static native long address0(ByteBuffer buffer)`: the address of a direct buffer.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_address0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    buffer: JByteBuffer<'frame>,
) -> jlong {
    guarded(env, |env| {
        // SAFETY: only the address of the slice is taken.
        let start = unsafe { env.region("buffer", &buffer)?.as_slice() }.as_ptr();
        jlong::try_from(start.expose_provenance()).map_err(Refusal::argument)
    })
}

/// `static native int digestAt0(Object kept, long memory, int totalBytes, int offsetsFrom, int
/// messageBytes, int digestsFrom, int count, int engine)`
///
/// A batch in one block of memory of `DirectBatch`, by its address: messages at 0, offsets (unless
/// `offsetsFrom` is negative) and digests at the given positions. `kept` is the buffer that owns
/// the memory.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_digestAt0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    _kept: JObject<'frame>,
    memory: jlong,
    total_bytes: jint,
    offsets_from: jint,
    message_bytes: jint,
    digests_from: jint,
    count: jint,
    engine: jint,
) -> jint {
    guarded(env, |_| {
        let start = std::ptr::with_exposed_provenance_mut::<u8>(natural("memory", memory)?);
        let at = |name: &str, from: jint, bytes: usize| {
            Region::at(name, start.wrapping_add(natural(name, from.into())?), bytes)
        };
        let count = natural("count", count.into())?;
        let batch = Batch {
            messages: at("messages", 0, natural("totalBytes", total_bytes.into())?)?,
            offsets: match offsets_from {
                ..0 => None,
                from => Some(at("offsets", from, (count + 1) * OFFSET_BYTES)?),
            },
            message_bytes: natural("messageBytes", message_bytes.into())?,
            digests: at("digests", digests_from, count * ALGORITHM.digest_bytes())?,
        };
        // SAFETY: `DirectBatch`, the only caller, passes parts of its own buffer, which `_kept`
        // keeps alive, and is used by one thread at a time.
        unsafe { batch.digest(engine.into()) }
    })
}
