//! The JNI bridge of `dev.paceline.hashing.NativeLibrary`: one call per batch over two direct buffers.
//!
//! Invariants: no panic and no Rust error crosses into the JVM except as a Java exception; memory is touched
//! only after both buffers' addresses and capacities were read from the JVM and found to fit and not to
//! overlap. Absent on purpose: state, threads, allocation on the success path, Java calls on the success
//! path. The caller keeps both buffers untouched by other threads during the call (said in `NativeLibrary`);
//! read-only buffers are refused there, JNI cannot tell them.

use std::any::Any;
use std::fmt;

use jni::errors::ErrorPolicy;
use jni::objects::{JByteBuffer, JClass, JString};
use jni::strings::JNIString;
use jni::sys::jint;
use jni::{Env, EnvUnowned, jni_str};
use paceline_hashing_core::{BatchError, DIGEST_BYTES, Engine, digest_batch};

/// Bumped when a native method changes its meaning; `NativeLibrary` refuses to use another one.
const ABI_VERSION: jint = 1;

/// What a native method may fail with, sorted by the Java exception it becomes.
#[derive(Debug)]
enum Refusal {
    /// `IllegalArgumentException`: the caller's sizes or buffers are wrong.
    Argument(String),
    /// `IllegalStateException`: the JVM refused us something.
    Jni(jni::errors::Error),
}

impl From<jni::errors::Error> for Refusal {
    fn from(error: jni::errors::Error) -> Self {
        Self::Jni(error)
    }
}

impl From<BatchError> for Refusal {
    fn from(error: BatchError) -> Self {
        Self::Argument(error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(text) => f.write_str(text),
            Self::Jni(error) => write!(f, "JNI: {error}"),
        }
    }
}

/// Turns a refusal or a panic into a pending Java exception; an exception that is pending already stays.
struct Throw;

impl<T: Default> ErrorPolicy<T, Refusal> for Throw {
    type Captures<'frame: 'method, 'method> = ();

    fn on_error<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        (): &mut (),
        refusal: Refusal,
    ) -> jni::errors::Result<T> {
        if env.exception_check() {
            return Ok(T::default());
        }
        let class = match refusal {
            Refusal::Argument(_) => jni_str!("java/lang/IllegalArgumentException"),
            Refusal::Jni(_) => jni_str!("java/lang/IllegalStateException"),
        };
        // Throwing reports "an exception is pending", which is what we want.
        let _ = env.throw_new(class, JNIString::from(refusal.to_string()));
        Ok(T::default())
    }

    fn on_panic<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        (): &mut (),
        payload: Box<dyn Any + Send>,
    ) -> jni::errors::Result<T> {
        let text = payload
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        let message = JNIString::from(format!("panic in native code: {text}"));
        let _ = env.throw_new(jni_str!("java/lang/IllegalStateException"), message);
        Ok(T::default())
    }
}

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
        if messages.overlaps(&digests) {
            return Err(Refusal::Argument("messages and digests overlap".to_owned()));
        }
        // SAFETY: both regions are whole direct buffers which the arguments' local references keep alive
        // until this method returns; they do not overlap; no other thread writes them (the caller's promise
        // above).
        let (messages, digests) = unsafe { (messages.as_slice(), digests.as_slice_mut()) };
        digest_batch(messages, message_bytes, digests)?;
        Ok(())
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

/// The memory of a direct buffer.
struct Region {
    start: *mut u8,
    bytes: usize,
}

impl Region {
    /// Reads address and capacity; anything but a direct buffer is an argument error that names it.
    fn of(env: &Env<'_>, name: &str, buffer: &JByteBuffer<'_>) -> Result<Self, Refusal> {
        let refuse = |_| Refusal::Argument(format!("{name}: not a direct ByteBuffer"));
        if buffer.is_null() {
            return Err(Refusal::Argument(format!("{name}: null")));
        }
        let bytes = env.get_direct_buffer_capacity(buffer).map_err(refuse)?;
        // An empty buffer may have no address; a dangling one is what an empty slice wants.
        let start = match env.get_direct_buffer_address(buffer) {
            Err(_) if bytes == 0 => std::ptr::NonNull::dangling().as_ptr(),
            address => address.map_err(refuse)?,
        };
        Ok(Self { start, bytes })
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.start.addr(), other.start.addr());
        self.bytes > 0 && other.bytes > 0 && a < b + other.bytes && b < a + self.bytes
    }

    /// # Safety
    /// The region stays mapped and unwritten for `'a`.
    unsafe fn as_slice<'a>(&self) -> &'a [u8] {
        // SAFETY: the JVM says `bytes` bytes are mapped at `start`; the caller promises the rest.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }

    /// # Safety
    /// The region stays mapped, and nothing else reads or writes it, for `'a`.
    unsafe fn as_slice_mut<'a>(&self) -> &'a mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

const _: () = assert!(DIGEST_BYTES == 32, "NativeLibrary.DIGEST_BYTES says the same");
