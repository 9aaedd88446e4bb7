//! Passes bytes to a `dev.paceline.piece.PieceHasher` in Kotlin, in several ways.
//!
//! Each way makes its own frame of local references, so that a long loop of calls holds none. A
//! Java exception is caught here and becomes a [`Failure`].

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use jni::elements::ReleaseMode;
use jni::objects::{JByteArray, JMethodID, JObject, JObjectArray};
use jni::refs::Global;
use jni::signature::{MethodSignature, ReturnType};
use jni::strings::JNIStr;
use jni::sys::{jint, jvalue};
use jni::{Env, JavaVM, jni_sig, jni_str};
use paceline_hashing_jni_guard::Refusal;
use paceline_hashing_quickjs::{DIGEST_BYTES, Digest, Failure, Hasher};

use crate::failure::Caught;

/// Local references of one call: an argument, a result, an exception and its text.
const FRAME: usize = 8;

/// A Kotlin `PieceHasher` and its methods. Usable from any thread.
pub(crate) struct KotlinHasher {
    object: Global<JObject<'static>>,
    of_array: JMethodID,
    of_buffer: JMethodID,
    of_arrays: JMethodID,
    log: JMethodID,
    /// The array of `reused` and its length. Only the JS thread uses it, so the lock is never
    /// waited for.
    kept: Mutex<Option<(Global<JByteArray<'static>>, usize)>>,
}

impl KotlinHasher {
    pub(crate) fn of(env: &mut Env<'_>, object: &JObject<'_>) -> Result<Self, Refusal> {
        if object.is_null() {
            return Err(Refusal::Argument("hasher: null".to_owned()));
        }
        let class = env.get_object_class(object)?;
        let mut method = |name: &JNIStr, signature: MethodSignature<'_, '_>| {
            env.get_method_id(&class, name, signature)
                .map_err(Refusal::from)
        };
        Ok(Self {
            of_array: method(jni_str!("sha1"), jni_sig!("([BI)[B"))?,
            of_buffer: method(jni_str!("sha1"), jni_sig!("(Ljava/nio/ByteBuffer;)[B"))?,
            of_arrays: method(jni_str!("sha1Batch"), jni_sig!("([[B)[[B"))?,
            log: method(jni_str!("log"), jni_sig!("(Ljava/lang/String;)V"))?,
            object: env.new_global_ref(object)?,
            kept: Mutex::default(),
        })
    }

    fn digest_of_array(
        &self,
        env: &mut Env<'_>,
        array: &JByteArray<'_>,
        bytes: usize,
    ) -> Result<Digest, Caught> {
        let length = jint::try_from(bytes).map_err(Caught::new)?;
        self.call_for_digest(
            env,
            self.of_array,
            &[jvalue { l: array.as_raw() }, jvalue { i: length }],
        )
    }

    fn call_for_digest(
        &self,
        env: &mut Env<'_>,
        method: JMethodID,
        arguments: &[jvalue],
    ) -> Result<Digest, Caught> {
        let digest = self.call(env, method, ReturnType::Array, arguments)?;
        // SAFETY: the method's signature says byte[].
        let digest = unsafe { JByteArray::from_raw(env, digest.into_raw()) };
        read_digest(env, &digest)
    }

    fn call<'frame>(
        &self,
        env: &mut Env<'frame>,
        method: JMethodID,
        returns: ReturnType,
        arguments: &[jvalue],
    ) -> Result<JObject<'frame>, Caught> {
        checked(env, |env| {
            // SAFETY: `method` is a method of the object's class, and every caller in this file
            // passes the arguments of its signature.
            let value =
                unsafe { env.call_method_unchecked(&self.object, method, returns, arguments) }?;
            Ok(value.l().unwrap_or_else(|_| JObject::null()))
        })
    }
}

impl Hasher for KotlinHasher {
    /// As in the original product: a new Java array with a copy of the bytes.
    fn copied(&self, bytes: &[u8]) -> Result<Digest, Failure> {
        within(FRAME, |env| {
            let array = new_array(env, bytes)?;
            self.digest_of_array(env, array.as_ref(), bytes.len())
        })
    }

    /// The same with one Java array for all calls, replaced only by a longer one.
    fn reused(&self, bytes: &[u8]) -> Result<Digest, Failure> {
        within(FRAME, |env| {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept
                .as_ref()
                .is_none_or(|(_, length)| *length < bytes.len())
            {
                let array = checked(env, |env| env.new_byte_array(bytes.len()))?;
                *kept = Some((checked(env, |env| env.new_global_ref(array))?, bytes.len()));
            }
            let Some((array, _)) = kept.as_ref() else {
                return Err(Caught::new("no array was kept"));
            };
            checked(env, |env| array.set_region(env, 0, signed(bytes)))?;
            self.digest_of_array(env, array.as_ref(), bytes.len())
        })
    }

    /// No copy on this side: a `DirectByteBuffer` over the bytes.
    ///
    /// # Safety
    /// The memory stays mapped and unwritten during the call, and the hasher keeps no reference to the buffer
    /// (`PieceHasher` says so).
    unsafe fn direct(&self, start: NonNull<u8>, bytes: usize) -> Result<Digest, Failure> {
        within(FRAME, |env| {
            // SAFETY: the address is not null; the rest is the caller's promise.
            let buffer = checked(env, |env| unsafe {
                env.new_direct_byte_buffer(start.as_ptr(), bytes)
            })?;
            let arguments = [jvalue { l: buffer.as_raw() }];
            self.call_for_digest(env, self.of_buffer, &arguments)
        })
    }

    /// One call for many pieces: an array of new arrays, each with its bytes copied in.
    fn batch(&self, pieces: &[&[u8]]) -> Result<Vec<Digest>, Failure> {
        within(FRAME + 2 * pieces.len(), |env| {
            let none = JByteArray::null();
            let arrays = checked(env, |env| {
                JObjectArray::<JByteArray>::new(env, pieces.len(), &none)
            })?;
            for (index, piece) in pieces.iter().enumerate() {
                let array = new_array(env, piece)?;
                checked(env, |env| arrays.set_element(env, index, &array))?;
                env.delete_local_ref(array);
            }
            let arguments = [jvalue { l: arrays.as_raw() }];
            let digests = self.call(env, self.of_arrays, ReturnType::Array, &arguments)?;
            // SAFETY: the method's signature says byte[][].
            let digests = unsafe { JObjectArray::<JByteArray>::from_raw(env, digests.into_raw()) };
            if digests.is_null() || checked(env, |env| digests.len(env))? != pieces.len() {
                return Err(Caught::new(
                    "the hasher did not return one digest per piece",
                ));
            }
            (0..pieces.len())
                .map(|index| {
                    let digest = checked(env, |env| digests.get_element(env, index))?;
                    let bytes = read_digest(env, &digest);
                    env.delete_local_ref(digest);
                    bytes
                })
                .collect()
        })
    }

    /// Writes a line to the log.
    fn log(&self, line: &str) -> Result<(), Failure> {
        within(FRAME, |env| {
            let line = checked(env, |env| env.new_string(line))?;
            self.call(
                env,
                self.log,
                ReturnType::Primitive(jni::signature::Primitive::Void),
                &[jvalue { l: line.as_raw() }],
            )?;
            Ok(())
        })
    }
}

/// Runs `work` in a frame of its own; this thread is attached to the JVM if it was not.
fn within<T>(
    references: usize,
    work: impl FnOnce(&mut Env<'_>) -> Result<T, Caught>,
) -> Result<T, Failure> {
    let framed =
        |vm: JavaVM| vm.attach_current_thread(|env| env.with_local_frame(references, work));
    JavaVM::singleton()
        .map_err(Caught::from)
        .and_then(framed)
        .map_err(|Caught(failure)| failure)
}

/// Turns the Java exception that a JNI call may leave behind into a failure.
fn checked<'frame, T>(
    env: &mut Env<'frame>,
    call: impl FnOnce(&mut Env<'frame>) -> jni::errors::Result<T>,
) -> Result<T, Caught> {
    call(env).map_err(|error| Caught::take(env, &error))
}

fn new_array<'frame>(env: &mut Env<'frame>, bytes: &[u8]) -> Result<JByteArray<'frame>, Caught> {
    let array = checked(env, |env| env.new_byte_array(bytes.len()))?;
    checked(env, |env| array.set_region(env, 0, signed(bytes)))?;
    Ok(array)
}

/// As in the original product: `GetByteArrayElements`, then a copy.
fn read_digest(env: &mut Env<'_>, digest: &JByteArray<'_>) -> Result<Digest, Caught> {
    if digest.is_null() {
        return Err(Caught::new("the hasher returned null"));
    }
    // SAFETY: the array is read only, and nobody else has it.
    let elements = checked(env, |env| unsafe {
        digest.get_elements(env, ReleaseMode::NoCopyBack)
    })?;
    let mut bytes = [0; DIGEST_BYTES];
    if elements.len() != bytes.len() {
        return Err(Caught::new(format!(
            "the hasher returned {} bytes",
            elements.len()
        )));
    }
    for (byte, element) in bytes.iter_mut().zip(elements.iter()) {
        *byte = element.cast_unsigned();
    }
    Ok(bytes)
}

/// Java's bytes are signed.
fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: i8 and u8 have the same size and alignment, and every value is valid for both.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
