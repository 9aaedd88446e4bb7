//! The elements of a Java primitive array, in place, for the short time of one computation.
//!
//! The `jni` crate's own version calls other JNI functions (exception checks, `GetEnv`) while the
//! array is held, which JNI forbids and `-Xcheck:jni` reports.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::NonNull;

use jni::objects::{JPrimitiveArray, TypeArray};
use jni::sys::{self, JNI_ABORT};

use crate::{Bare, Refusal};

/// An array held by `GetPrimitiveArrayCritical`; released when dropped.
///
/// While one is held, the garbage collector may have to wait, and no other JNI function may be
/// called. So lengths are read first, and the caller does only short work meanwhile.
pub struct Critical<'a, T> {
    env: *mut sys::JNIEnv,
    array: sys::jarray,
    start: NonNull<c_void>,
    length: usize,
    written: bool,
    elements: PhantomData<&'a T>,
}

impl<'a, T> Critical<'a, T> {
    /// Holds `array`, whose length is `length`, for reading.
    ///
    /// # Safety
    /// Until it is dropped the thread calls no JNI function but this one, and nothing writes the array. `T`
    /// has the size of `E`, and every bit pattern of it is a value.
    ///
    /// # Errors
    /// [`Refusal::State`] when the JVM had to copy the array and has no memory for it.
    pub unsafe fn read<E: TypeArray>(
        env: Bare,
        array: &'a JPrimitiveArray<'_, E>,
        length: usize,
    ) -> Result<Self, Refusal> {
        const {
            assert!(
                size_of::<T>() == size_of::<E>(),
                "an element is viewed as another size"
            );
        };
        let (raw, array) = (env.env, array.as_raw());
        // SAFETY: `env` is this thread's; `array` is a live array, since it comes from a live reference that
        // is not null (its length was read). The caller promises the rest.
        let start =
            unsafe { ((**raw).v1_2.GetPrimitiveArrayCritical)(raw, array, std::ptr::null_mut()) };
        let start = NonNull::new(start)
            .ok_or_else(|| Refusal::State("no memory for an array".to_owned()))?;
        Ok(Self {
            env: raw,
            array,
            start,
            length,
            written: false,
            elements: PhantomData,
        })
    }

    /// Like [`Critical::read`], for writing: the array gets the written values.
    ///
    /// # Safety
    /// As [`Critical::read`]; nothing else reads the array either.
    ///
    /// # Errors
    /// As [`Critical::read`].
    pub unsafe fn write<E: TypeArray>(
        env: Bare,
        array: &'a JPrimitiveArray<'_, E>,
        length: usize,
    ) -> Result<Self, Refusal> {
        // SAFETY: the caller's promise is the same and more.
        let mut held = unsafe { Self::read(env, array, length)? };
        held.written = true;
        Ok(held)
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[T] {
        // SAFETY: the JVM gave `length` elements at `start`; nothing writes them while they are held.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.length) }
    }

    /// The elements, for writing.
    #[must_use]
    pub fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; nothing else reads or writes them while they are held.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.length) }
    }
}

impl<T> Drop for Critical<'_, T> {
    fn drop(&mut self) {
        let mode = if self.written { 0 } else { JNI_ABORT };
        // SAFETY: the pointer of `GetPrimitiveArrayCritical` on this thread, released once.
        unsafe {
            ((**self.env).v1_2.ReleasePrimitiveArrayCritical)(
                self.env,
                self.array,
                self.start.as_ptr(),
                mode,
            );
        }
    }
}
