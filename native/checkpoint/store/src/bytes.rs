//! Encodes and decodes integers and texts of the log: little endian, lengths before contents.
//!
//! [`Reader`] never reads beyond its input and trusts no length: for any bytes it returns a value
//! or `None`.

/// Reads what [`put_text`] and similar functions wrote.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.array()?))
    }

    /// A count of items of at least `least` bytes each; refuses more than the rest of the input can
    /// hold.
    pub(crate) fn count(&mut self, least: usize) -> Option<usize> {
        let count = usize::try_from(self.u32()?).ok()?;
        (count.checked_mul(least)? <= self.0.len()).then_some(count)
    }

    /// Reads what [`put_bytes`] wrote.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count(1)?;
        self.take(count)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

/// Writes a length, which fits its field because names and bands are limited.
pub(crate) fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

pub(crate) fn put_u32(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_count(out, bytes.len());
    out.extend_from_slice(bytes);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| {
        [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]
    };
    // Bytes are collected, because pushing characters takes ten times as long and a manifest has a hash for each
    // band.
    String::from_utf8(bytes.iter().flat_map(digits).collect()).unwrap_or_default()
}

/// Reads what [`hex`] wrote of `N` bytes.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    unhex_into(text, &mut bytes).map(|()| bytes)
}

/// Reads what [`hex`] wrote of any number of bytes.
pub(crate) fn unhex_all(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    unhex_into(text, &mut bytes).map(|()| bytes)
}

fn unhex_into(text: &str, bytes: &mut [u8]) -> Option<()> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    if digits.len() != bytes.len() * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(())
}

/// Appends the text's own hash as the last line, which [`unsealed`] checks.
pub(crate) fn sealed(mut text: String) -> String {
    let hash = hex(blake3::hash(text.as_bytes()).as_bytes());
    text.extend(["whole ", &hash, "\n"]);
    text
}

/// Returns the text that was given to [`sealed`], if it is intact.
pub(crate) fn unsealed(text: &str) -> Option<&str> {
    let body = text.strip_suffix('\n')?;
    let (_, last) = body.rsplit_once('\n')?;
    let before = &text[..text.len() - last.len() - 1];
    let hash = unhex::<32>(last.strip_prefix("whole ")?)?;
    (hash == *blake3::hash(before.as_bytes()).as_bytes()).then_some(before)
}
