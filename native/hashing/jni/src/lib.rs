//! The JNI bridge of `dev.paceline.hashing.NativeLibrary`: one call per batch over two direct buffers.
//!
//! Invariants: no panic and no Rust error crosses into the JVM except as a Java exception; memory is touched
//! only after both buffers' addresses and capacities were read from the JVM and found to fit and not to
//! overlap. Absent on purpose: state, threads, allocation on the success path, Java calls on the success
//! path. The caller keeps both buffers untouched by other threads during the call (said in `NativeLibrary`);
//! read-only buffers are refused there, JNI cannot tell them.

use jni::EnvUnowned;
use jni::objects::{JByteBuffer, JClass, JString};
use jni::sys::jint;
use paceline_hashing_core::{DIGEST_BYTES, Engine, digest_batch};
use paceline_hashing_jni_guard::{Refusal, Region, Throw, refuse_overlap};

/// Bumped when a native method changes its meaning; `NativeLibrary` refuses to use another one.
const ABI_VERSION: jint = 1;

/// `static native int abiVersion()`
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_hashing_NativeLibrary_abiVersion<'frame>(
    _env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) -> jint {
    ABI_VERSION
}

/// `static native String engine()`: the engine results name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_hashing_NativeLibrary_engine<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) -> JString<'frame> {
    env.with_env(|env| Ok::<_, Refusal>(env.new_string(Engine::detect().name())?)).resolve::<Throw>()
}

/// `static native void digestBatch0(ByteBuffer messages, int messageBytes, ByteBuffer digests)`
///
/// The buffers' whole capacities count, not their positions and limits.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_hashing_NativeLibrary_digestBatch0<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
    messages: JByteBuffer<'frame>,
    message_bytes: jint,
    digests: JByteBuffer<'frame>,
) {
    env.with_env(|env| {
        let message_bytes = usize::try_from(message_bytes)
            .map_err(|_| Refusal::Argument(format!("messageBytes: {message_bytes} is negative")))?;
        let messages = Region::of(env, "messages", &messages)?;
        let digests = Region::of(env, "digests", &digests)?;
        refuse_overlap("messages and digests", &messages, &digests)?;
        // SAFETY: both regions are whole direct buffers which the arguments' local references keep alive
        // until this method returns; they do not overlap; no other thread writes them (the caller's promise
        // above).
        let (messages, digests) = unsafe { (messages.as_slice(), digests.as_slice_mut()) };
        digest_batch(messages, message_bytes, digests).map_err(Refusal::argument)
    })
    .resolve::<Throw>();
}

/// `static native void provokePanic()`: lets a test show that a panic arrives as a Java exception.
#[unsafe(no_mangle)]
pub extern "system" fn Java_dev_paceline_hashing_NativeLibrary_provokePanic<'frame>(
    mut env: EnvUnowned<'frame>,
    _class: JClass<'frame>,
) {
    env.with_env(|_| -> Result<(), Refusal> {
        // A real unwind, without the panic hook's message on stderr.
        std::panic::resume_unwind(Box::new("asked for"))
    })
    .resolve::<Throw>();
}

const _: () = assert!(DIGEST_BYTES == 32, "NativeLibrary.DIGEST_BYTES says the same");
