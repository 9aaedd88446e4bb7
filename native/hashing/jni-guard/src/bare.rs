//! Native methods for which nanoseconds matter: JNI's function table, with one guard around it.
//!
//! [`jni::EnvUnowned::with_env`] takes some 100 ns per call for attachment, frames and pending
//! exceptions, more than a small digest. Here only an error path pays for that. Every function
//! below is called with no exception pending and cannot cause one, because lengths are checked in
//! Rust first.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use jni::EnvUnowned;
use jni::objects::{JByteArray, JByteBuffer, JObject, JPrimitiveArray, TypeArray};
use jni::sys::{self, jint};

use crate::{Refusal, Region, Throw};

/// This thread's function table, inside a native method.
#[derive(Clone, Copy)]
pub struct Bare {
    pub(crate) env: *mut sys::JNIEnv,
}

/// Runs a native method's body; a refusal or a panic becomes a Java exception, and the result its
/// default.
pub fn guarded<T: Default>(
    mut env: EnvUnowned<'_>,
    body: impl FnOnce(Bare) -> Result<T, Refusal>,
) -> T {
    let bare = Bare { env: env.as_raw() };
    match catch_unwind(AssertUnwindSafe(|| body(bare))) {
        Ok(Ok(value)) => value,
        Ok(Err(refusal)) => env.with_env(|_| Err(refusal)).resolve::<Throw>(),
        Err(payload) => env
            .with_env(|_| -> Result<T, Refusal> { resume_unwind(payload) })
            .resolve::<Throw>(),
    }
}

impl Bare {
    /// The length of an array, which errors call `name`.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when it is null.
    pub fn length<E: TypeArray>(
        self,
        name: &str,
        array: &JPrimitiveArray<'_, E>,
    ) -> Result<usize, Refusal> {
        if array.is_null() {
            return Err(Refusal::Argument(format!("{name}: null")));
        }
        // SAFETY: `env` is this thread's and `array` a live array.
        let length = unsafe { ((**self.env).v1_1.GetArrayLength)(self.env, array.as_raw()) };
        usize::try_from(length).map_err(Refusal::argument)
    }

    /// Whether two references refer to the same object.
    #[must_use]
    pub fn same(self, a: &JObject<'_>, b: &JObject<'_>) -> bool {
        // SAFETY: `env` is this thread's and both are live references or null.
        unsafe { ((**self.env).v1_1.IsSameObject)(self.env, a.as_raw(), b.as_raw()) }
    }

    /// Copies `into.len()` bytes of `array` from `from` on.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when the array is null or the range is not inside it.
    pub fn copy_from(
        self,
        name: &str,
        array: &JByteArray<'_>,
        from: jint,
        into: &mut [u8],
    ) -> Result<(), Refusal> {
        let range = inside(name, from, into.len(), self.length(name, array)?)?;
        let (start, bytes) = places(&range)?;
        // SAFETY: `env` is this thread's, `array` a live array, the range inside of it and of `into`.
        unsafe {
            ((**self.env).v1_1.GetByteArrayRegion)(
                self.env,
                array.as_raw(),
                start,
                bytes,
                into.as_mut_ptr().cast(),
            );
        }
        Ok(())
    }

    /// Copies `bytes` to `array` from `to` on.
    ///
    /// # Errors
    /// As [`Bare::copy_from`].
    pub fn copy_to(
        self,
        name: &str,
        array: &JByteArray<'_>,
        to: jint,
        bytes: &[u8],
    ) -> Result<(), Refusal> {
        let range = inside(name, to, bytes.len(), self.length(name, array)?)?;
        let (start, length) = places(&range)?;
        // SAFETY: as above.
        unsafe {
            ((**self.env).v1_1.SetByteArrayRegion)(
                self.env,
                array.as_raw(),
                start,
                length,
                bytes.as_ptr().cast(),
            );
        }
        Ok(())
    }

    /// Address and capacity of a direct buffer, which errors call `name`.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when it is null or not direct. JNI cannot distinguish read-only
    /// buffers, so the Java side refuses them.
    pub fn region(self, name: &str, buffer: &JByteBuffer<'_>) -> Result<Region, Refusal> {
        if buffer.is_null() {
            return Err(Refusal::Argument(format!("{name}: null")));
        }
        // SAFETY: `env` is this thread's and `buffer` a live reference; both functions answer "none" for
        // objects that are no direct buffers.
        let (start, bytes) = unsafe {
            let start = ((**self.env).v1_4.GetDirectBufferAddress)(self.env, buffer.as_raw());
            (
                start,
                ((**self.env).v1_4.GetDirectBufferCapacity)(self.env, buffer.as_raw()),
            )
        };
        // An empty buffer may have no address; an empty slice may dangle.
        match (NonNull::new(start.cast()), usize::try_from(bytes)) {
            (Some(start), Ok(bytes)) => Ok(Region::new(start, bytes)),
            (None, Ok(0)) => Ok(Region::new(NonNull::dangling(), 0)),
            _ => Err(Refusal::Argument(format!(
                "{name}: not a direct ByteBuffer"
            ))),
        }
    }
}

/// `from .. from + count`, if that is inside `length`.
///
/// # Errors
/// [`Refusal::Argument`], which calls it `name`, if it is not.
pub fn inside(
    name: &str,
    from: jint,
    count: usize,
    length: usize,
) -> Result<Range<usize>, Refusal> {
    match usize::try_from(from)
        .ok()
        .and_then(|start| Some(start..start.checked_add(count)?))
    {
        Some(range) if range.end <= length => Ok(range),
        _ => Err(Refusal::Argument(format!(
            "{name}: {count} from {from} where there are {length}"
        ))),
    }
}

/// Start and length of a range of a Java array, whose indices are ints.
fn places(range: &Range<usize>) -> Result<(jint, jint), Refusal> {
    let place = |index: usize| jint::try_from(index).map_err(Refusal::argument);
    Ok((place(range.start)?, place(range.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_inside_or_refused_by_name() {
        assert_eq!(inside("a", 3, 2, 5).expect("inside"), 3..5);
        assert_eq!(inside("a", 5, 0, 5).expect("the end is inside"), 5..5);
        for (from, count) in [
            (-1, 1),
            (0, 6),
            (5, 1),
            (6, 0),
            (1, usize::MAX),
            (jint::MIN, 0),
        ] {
            let refusal = inside("a", from, count, 5)
                .expect_err("outside")
                .to_string();
            assert!(refusal.starts_with("a: "), "{refusal}");
        }
    }
}
