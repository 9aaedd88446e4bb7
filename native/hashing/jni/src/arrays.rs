//! Messages in `byte[]`: a batch in place, or one message per call.

use jni::EnvUnowned;
use jni::objects::{JByteArray, JClass, JIntArray};
use jni::sys::jint;
use paceline_hashing_core::{Algorithm, digest_equal};
use paceline_hashing_jni_guard::{Bare, Critical, Refusal, guarded, inside};

use crate::choice::{choice, number};
use crate::offsets;

const ALGORITHM: Algorithm = Algorithm::Sha256;
/// A message up to this length is copied to the stack; messages of the real fingerprint's size
/// always are.
const STACK_BYTES: usize = 256;

/// `static native int digestArray0(byte[] messages, int[] offsets, int count, byte[] digests, int
/// digestsFrom, int engine)`
///
/// Message i is `messages[offsets[i]]` up to `offsets[i + 1]`; `offsets` may be longer than is needed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_digestArray0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    messages: JByteArray<'frame>,
    offsets: JIntArray<'frame>,
    count: jint,
    digests: JByteArray<'frame>,
    digests_from: jint,
    engine: jint,
) -> jint {
    guarded(env, |env| {
        let choice = choice(engine.into())?;
        if env.same(&messages, &digests) {
            return Err(Refusal::Argument("messages and digests overlap".to_owned()));
        }
        let message_bytes = env.length("messages", &messages)?;
        let places = env.length("offsets", &offsets)?;
        let digest_bytes = env.length("digests", &digests)?;
        let count = usize::try_from(count)
            .map_err(|_| Refusal::Argument(format!("count: {count} is negative")))?;
        let used = inside("offsets", 0, count + 1, places)?;
        let place = inside(
            "digests",
            digests_from,
            count * ALGORITHM.digest_bytes(),
            digest_bytes,
        )?;
        // SAFETY: the three are different arrays (the second by its type); only `Critical` calls JNI until
        // the end of this scope; the caller lets no other thread write them (said in `NativeDigests`). An
        // `int` is viewed as `u32`: a negative offset is then beyond every array, and refused.
        let done = unsafe {
            let messages = Critical::<u8>::read(env, &messages, message_bytes)?;
            let offsets = Critical::<u32>::read(env, &offsets, places)?;
            let mut digests = Critical::<u8>::write(env, &digests, digest_bytes)?;
            let (messages, offsets) = (messages.elements(), &offsets.elements()[used]);
            offsets::digest(
                choice,
                messages,
                offsets,
                &mut digests.elements_mut()[place],
            )
        };
        done.map(number).map_err(Refusal::argument)
    })
}

/// `static native void digestOne0(byte[] messages, int from, int bytes, byte[] digests, int to, int
/// engine)`: one message per call, as in the original product.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_ledger_NativeDigests_digestOne0<'frame>(
    env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    messages: JByteArray<'frame>,
    from: jint,
    bytes: jint,
    digests: JByteArray<'frame>,
    to: jint,
    engine: jint,
) {
    guarded(env, |env| {
        let mut digest = [0; ALGORITHM.digest_bytes()];
        match usize::try_from(bytes) {
            Err(_) => return Err(Refusal::Argument(format!("messages: {bytes} bytes"))),
            Ok(bytes) if bytes <= STACK_BYTES => {
                let mut stack = [0; STACK_BYTES];
                env.copy_from("messages", &messages, from, &mut stack[..bytes])?;
                digest_message(&stack[..bytes], engine, &mut digest)?;
            }
            Ok(bytes) => in_place(env, &messages, from, bytes, engine, &mut digest)?,
        }
        env.copy_to("digests", &digests, to, &digest)
    });
}

fn in_place(
    env: Bare,
    messages: &JByteArray<'_>,
    from: jint,
    bytes: usize,
    engine: jint,
    digest: &mut [u8],
) -> Result<(), Refusal> {
    let length = env.length("messages", messages)?;
    let message = inside("messages", from, bytes, length)?;
    // SAFETY: no other JNI function is called in this scope; the caller lets no other thread write the array.
    let messages = unsafe { Critical::<u8>::read(env, messages, length)? };
    digest_message(&messages.elements()[message], engine, digest)
}

fn digest_message(message: &[u8], engine: jint, digest: &mut [u8]) -> Result<(), Refusal> {
    digest_equal(
        ALGORITHM,
        choice(engine.into())?,
        message,
        message.len(),
        digest,
    )
    .map(drop)
    .map_err(Refusal::argument)
}
