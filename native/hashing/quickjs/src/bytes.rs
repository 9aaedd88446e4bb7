//! Access to the bytes of a script's `Uint8Array`, and the guarantee that they stay.
//!
//! This is the only module that reads a script's memory. `QuickJS` counts references, so a
//! duplicated value keeps memory alive across garbage collection. Only the script itself could free
//! or move it, by `transfer()` or `resize()`:
//!
//! * During a call on the JS thread no script runs, because hosts refuse to be re-entered.
//! * While a worker reads, the buffer is *immutable*: `QuickJS` refuses `transfer`, `resize` and
//!   writes (`Pins`).
//! * A resizable buffer is always refused: `QuickJS` checks for immutability before it reads the
//!   new length, and reading that may run the script's code.
//!
//! A `SharedArrayBuffer` is refused because another thread may write to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::{self, NonNull};

use rquickjs_core::{Ctx, Error, Exception, Function, Object, Persistent, Result, Value, qjs};

/// The most bytes that a Java array or buffer can hold.
const MOST_BYTES: usize = i32::MAX as usize;

/// Bytes of a live `ArrayBuffer`, which this value keeps alive.
pub(crate) struct JsBytes<'js> {
    buffer: Value<'js>,
    start: NonNull<u8>,
    bytes: usize,
}

/// The getter of `ArrayBuffer.prototype.resizable`, taken before any script could replace it.
pub(crate) struct Resizable(Persistent<Function<'static>>);

impl Resizable {
    pub(crate) fn take(ctx: &Ctx<'_>) -> Result<Self> {
        let find = "Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'resizable').get";
        Ok(Self(Persistent::save(ctx, ctx.eval::<Function, _>(find)?)))
    }

    fn is(&self, buffer: &Value<'_>) -> Result<bool> {
        let ctx = buffer.ctx();
        let getter = self.0.clone().restore(ctx)?;
        // SAFETY: two live values of this runtime and no arguments. Not by `Function::call`, which costs more
        // than the rest of this function.
        let value = unsafe {
            let context = ctx.as_raw().as_ptr();
            Value::from_raw(
                ctx.clone(),
                qjs::JS_Call(
                    context,
                    getter.as_raw(),
                    buffer.as_raw(),
                    0,
                    ptr::null_mut(),
                ),
            )
        };
        value.as_bool().ok_or(Error::Exception)
    }
}

impl<'js> JsBytes<'js> {
    /// The bytes of a `Uint8Array`: the view, not the whole buffer.
    pub(crate) fn of_view(view: &Value<'js>, resizable: &Resizable) -> Result<Self> {
        let ctx = view.ctx();
        // SAFETY: `view` is a live value of this runtime.
        let kind = unsafe { qjs::JS_GetTypedArrayType(view.as_raw()) };
        if kind != qjs::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8.cast_signed() {
            return Err(Exception::throw_type(ctx, "data: expected a Uint8Array"));
        }
        let (mut from, mut bytes) = (0, 0);
        // SAFETY: a live value of this runtime; the two numbers may be written, the third is not
        // requested.
        let buffer = unsafe {
            qjs::JS_GetTypedArrayBuffer(
                ctx.as_raw().as_ptr(),
                view.as_raw(),
                &raw mut from,
                &raw mut bytes,
                ptr::null_mut(),
            )
        };
        // SAFETY: it only looks at the tag.
        if unsafe { qjs::JS_IsException(buffer) } {
            return Err(Error::Exception); // detached: QuickJS has thrown its own TypeError
        }
        // SAFETY: the function returned a reference of its own.
        let buffer = unsafe { Value::from_raw(ctx.clone(), buffer) };
        let whole = Self::of_buffer(&buffer, resizable)?;
        let (from, bytes) = (size(from), size(bytes));
        if from.checked_add(bytes).is_none_or(|end| end > whole.bytes) {
            return Err(Exception::throw_range(
                ctx,
                "data: the view does not lie inside its buffer",
            ));
        }
        // SAFETY: `from` is at most the length of the buffer.
        let start = unsafe { whole.start.add(from) };
        Ok(Self {
            buffer,
            start,
            bytes,
        })
    }

    /// All bytes of an `ArrayBuffer`.
    pub(crate) fn of_buffer(buffer: &Value<'js>, resizable: &Resizable) -> Result<Self> {
        let ctx = buffer.ctx();
        // SAFETY: a live value of this runtime; anything else than an ArrayBuffer gives -1.
        if unsafe { qjs::JS_IsImmutableArrayBuffer(buffer.as_raw()) } < 0 {
            return Err(Exception::throw_type(
                ctx,
                "data: expected bytes in an ArrayBuffer that is not shared",
            ));
        }
        if resizable.is(buffer)? {
            return Err(Exception::throw_type(
                ctx,
                "data: its buffer is resizable; hash a copy of it",
            ));
        }
        let mut bytes = 0;
        // SAFETY: a live ArrayBuffer; null means that it is detached and that QuickJS has thrown a TypeError.
        let start = unsafe {
            qjs::JS_GetArrayBuffer(ctx.as_raw().as_ptr(), &raw mut bytes, buffer.as_raw())
        };
        let start = NonNull::new(start).ok_or(Error::Exception)?;
        let bytes = size(bytes);
        if bytes > MOST_BYTES {
            return Err(Exception::throw_range(
                ctx,
                "data: more than a Java array can hold",
            ));
        }
        Ok(Self {
            buffer: buffer.clone(),
            start,
            bytes,
        })
    }

    pub(crate) fn buffer(&self) -> &Value<'js> {
        &self.buffer
    }

    /// Their address, for a `DirectByteBuffer` or a worker; valid as long as [`JsBytes::as_slice`]
    /// would be.
    pub(crate) fn region(&self) -> (NonNull<u8>, usize) {
        (self.start, self.bytes)
    }

    /// The bytes.
    ///
    /// # Safety
    /// No script runs while the slice is in use.
    pub(crate) unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: the buffer is alive, and only a script could write, move or free its memory.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

fn size(value: qjs::size_t) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The buffers that workers read. A buffer may be pinned several times.
#[derive(Default)]
pub(crate) struct Pins {
    /// By the address of the buffer object: how often, and whether the script had made it immutable.
    pinned: RefCell<HashMap<usize, (usize, bool)>>,
}

impl Pins {
    /// Makes a buffer immutable until it was [unpinned](Pins::unpin) as often.
    pub(crate) fn pin(&self, buffer: &Value<'_>) {
        // SAFETY: a live ArrayBuffer.
        let was_immutable = unsafe { qjs::JS_IsImmutableArrayBuffer(buffer.as_raw()) } == 1;
        self.pinned
            .borrow_mut()
            .entry(address(buffer))
            .or_insert((0, was_immutable))
            .0 += 1;
        // SAFETY: as above.
        unsafe { qjs::JS_SetImmutableArrayBuffer(buffer.as_raw(), true) };
    }

    pub(crate) fn unpin(&self, buffer: &Value<'_>) {
        let mut pinned = self.pinned.borrow_mut();
        let Some((count, was_immutable)) = pinned.get_mut(&address(buffer)) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            if !*was_immutable {
                // SAFETY: a live ArrayBuffer, which no worker reads any more.
                unsafe { qjs::JS_SetImmutableArrayBuffer(buffer.as_raw(), false) };
            }
            pinned.remove(&address(buffer));
        }
    }
}

fn address(object: &Value<'_>) -> usize {
    // SAFETY: only called for buffers, which are objects, which are pointers.
    unsafe { qjs::JS_VALUE_GET_PTR(object.as_raw()) }.addr()
}

/// The values of an array, read before any of their bytes are: reading an element may run a script's getter.
pub(crate) fn elements<'js>(array: &Object<'js>, most: usize) -> Result<Vec<Value<'js>>> {
    let ctx = array.ctx();
    let array = array
        .as_array()
        .ok_or_else(|| Exception::throw_type(ctx, "pieces: expected an array"))?;
    let count = array.len();
    if count > most {
        return Err(Exception::throw_range(
            ctx,
            &format!("pieces: {count}, at most {most} in one call"),
        ));
    }
    (0..count).map(|index| array.get(index)).collect()
}
