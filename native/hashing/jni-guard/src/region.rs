//! The memory of a direct `ByteBuffer`, as the JVM states it.

use std::ptr::NonNull;

use jni::Env;
use jni::objects::JByteBuffer;

use crate::Refusal;

/// Address and capacity of a direct buffer; its position and limit do not count.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
}

impl Region {
    pub(crate) fn new(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// Reads address and capacity of `buffer`, which errors call `name`.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when it is null or not direct. JNI cannot distinguish read-only
    /// buffers, so the Java side refuses them.
    pub fn of(env: &Env<'_>, name: &str, buffer: &JByteBuffer<'_>) -> Result<Self, Refusal> {
        let refuse = || Refusal::Argument(format!("{name}: not a direct ByteBuffer"));
        if buffer.is_null() {
            return Err(Refusal::Argument(format!("{name}: null")));
        }
        let bytes = env
            .get_direct_buffer_capacity(buffer)
            .map_err(|_| refuse())?;
        let address = env
            .get_direct_buffer_address(buffer)
            .ok()
            .and_then(NonNull::new);
        // An empty buffer may have no address; an empty slice may dangle.
        let start = address
            .or((bytes == 0).then(NonNull::dangling))
            .ok_or_else(refuse)?;
        Ok(Self { start, bytes })
    }

    /// The first `bytes` bytes at `start`, for memory given by its address.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when the address is null although bytes are needed, or the region
    /// would not fit into the address space.
    pub fn at(name: &str, start: *mut u8, bytes: usize) -> Result<Self, Refusal> {
        let fits = isize::try_from(bytes).is_ok() && start.addr().checked_add(bytes).is_some();
        match NonNull::new(start) {
            _ if !fits => Err(Refusal::Argument(format!(
                "{name}: {bytes} bytes do not fit into memory"
            ))),
            Some(start) => Ok(Self { start, bytes }),
            None if bytes == 0 => Ok(Self {
                start: NonNull::dangling(),
                bytes,
            }),
            None => Err(Refusal::Argument(format!("{name}: null"))),
        }
    }

    /// The part from `from` on that is `bytes` long.
    ///
    /// # Errors
    /// [`Refusal::Argument`] when it is not inside.
    pub fn part(self, name: &str, from: usize, bytes: usize) -> Result<Self, Refusal> {
        match self.bytes.checked_sub(from) {
            Some(rest) if bytes <= rest => {
                // SAFETY: `from` is at most `self.bytes`: the result is in the region or at its end.
                let start = unsafe { self.start.add(from) };
                Ok(Self { start, bytes })
            }
            _ => Err(Refusal::Argument(format!(
                "{name}: {bytes} bytes from {from} where there are {}",
                self.bytes
            ))),
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the two share a byte.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.start.addr().get(), other.start.addr().get());
        self.bytes > 0 && other.bytes > 0 && a < b + other.bytes && b < a + self.bytes
    }

    /// The region's bytes, for reading.
    ///
    /// # Safety
    /// The region stays mapped and unwritten for `'a`.
    #[must_use]
    pub unsafe fn as_slice<'a>(self) -> &'a [u8] {
        // SAFETY: the JVM says that `bytes` bytes are mapped at `start`; the caller promises the rest.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The region's bytes, for writing.
    ///
    /// # Safety
    /// The region stays mapped, and nothing else reads or writes it, for `'a`.
    #[must_use]
    pub unsafe fn as_slice_mut<'a>(self) -> &'a mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

/// Refuses when `a` and `b` share a byte; `names` are their names in the error.
///
/// # Errors
/// [`Refusal::Argument`] then.
pub fn refuse_overlap(names: &str, a: &Region, b: &Region) -> Result<(), Refusal> {
    if a.overlaps(b) {
        return Err(Refusal::Argument(format!("{names} overlap")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(memory: &mut [u8], from: usize, bytes: usize) -> Region {
        let whole = Region::at("memory", memory.as_mut_ptr(), memory.len()).expect("a slice fits");
        whole.part("memory", from, bytes).expect("inside")
    }

    fn refusal<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
        result.expect_err("must be refused").to_string()
    }

    #[test]
    fn regions_overlap_when_they_share_a_byte_and_not_when_they_touch() {
        let mut memory = [0_u8; 96];
        let first = region(&mut memory, 0, 64);
        assert!(first.overlaps(&region(&mut memory, 63, 32)));
        assert!(region(&mut memory, 63, 32).overlaps(&first));
        assert!(first.overlaps(&region(&mut memory, 10, 1)));
        assert!(!first.overlaps(&region(&mut memory, 64, 32)));
        assert!(!first.overlaps(&region(&mut memory, 10, 0)));
        assert_eq!(
            refusal(refuse_overlap("a and b", &first, &first)),
            "a and b overlap"
        );
    }

    #[test]
    fn a_part_outside_its_region_is_refused_even_when_its_end_overflows() {
        let mut memory = [0_u8; 8];
        let whole = region(&mut memory, 0, 8);
        assert_eq!(whole.part("m", 8, 0).expect("the end is inside").bytes(), 0);
        for (from, bytes) in [(8, 1), (9, 0), (0, 9), (1, usize::MAX), (usize::MAX, 2)] {
            assert!(
                refusal(whole.part("m", from, bytes)).starts_with("m: "),
                "{from} {bytes}"
            );
        }
    }

    #[test]
    fn an_address_that_cannot_be_memory_is_refused() {
        assert_eq!(refusal(Region::at("m", std::ptr::null_mut(), 1)), "m: null");
        assert_eq!(
            Region::at("m", std::ptr::null_mut(), 0)
                .expect("empty")
                .bytes(),
            0
        );
        let start = [0_u8; 1].as_ptr().cast_mut();
        assert!(refusal(Region::at("m", start, usize::MAX)).contains("do not fit"));
    }
}
