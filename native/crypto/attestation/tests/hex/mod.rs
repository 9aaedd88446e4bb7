//! Bytes written as hexadecimal digits.

/// The bytes of an even number of digits.
pub(crate) fn bytes(digits: &str) -> Vec<u8> {
    let digit =
        |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two hexadecimal digits");
    (0..digits.len()).step_by(2).map(digit).collect()
}

/// Exactly `N` bytes.
pub(crate) fn array<const N: usize>(digits: &str) -> [u8; N] {
    bytes(digits).try_into().expect("the vector has its length")
}
