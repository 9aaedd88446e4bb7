//! Published digests to test a newly loaded library, without another implementation of SHA-256.
//!
//! FIPS 180-4 examples (NIST "SHA256.pdf", "`SHA2_Additional.pdf`") and CAVP's empty message.

pub(crate) const DIGEST_BYTES: usize = 32;

const LONG: &str = concat!(
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn",
    "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
);
const MIDDLE: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

/// Messages of zero, one and two blocks with their padding.
pub(crate) const TEXTS: [(&str, &str); 4] = [
    (
        "",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    (
        "abc",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    (
        MIDDLE,
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        LONG,
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ),
];

/// Equally long messages of three blocks, the last two texts in either order, so that exchanged
/// lanes are noticed; digests computed once with `sha256sum`.
const EQUAL_DIGESTS: [&str; 2] = [
    "431ce2cd7a73aaba43d26b03a389fc7c24647cefb4d4d5380b8d2e114dafdcf0",
    "7244ee390e7a4d2ea58670d37e5dfb27d707ea903eed5f2a8b8af8812e495159",
];

/// Messages one after the other, their ends, and their digests.
pub(crate) struct Batch {
    pub(crate) messages: Vec<u8>,
    pub(crate) offsets: Vec<i32>,
    pub(crate) digests: Vec<u8>,
}

impl Batch {
    fn of(count: usize, each: impl Fn(usize) -> (Vec<u8>, &'static str)) -> Self {
        let mut batch = Self {
            messages: Vec::new(),
            offsets: vec![0],
            digests: Vec::new(),
        };
        for i in 0..count {
            let (message, digest) = each(i);
            batch.messages.extend_from_slice(&message);
            // A few kilobytes at most.
            batch
                .offsets
                .push(i32::try_from(batch.messages.len()).unwrap_or(i32::MAX));
            batch.digests.extend(bytes(digest));
        }
        batch
    }

    /// The texts in turn.
    pub(crate) fn ragged(count: usize) -> Self {
        Self::of(count, |i| {
            let (text, digest) = TEXTS[i % TEXTS.len()];
            (text.into(), digest)
        })
    }

    /// Messages of 168 bytes.
    pub(crate) fn equal(count: usize) -> Self {
        let orders = [[MIDDLE, LONG], [LONG, MIDDLE]];
        Self::of(count, |i| {
            (orders[i % 2].concat().into(), EQUAL_DIGESTS[i % 2])
        })
    }
}

/// Decodes hexadecimal digits; an invalid one counts as nothing, so that no digest is equal.
fn bytes(hex: &str) -> impl Iterator<Item = u8> + '_ {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
            .unwrap_or(0)
    };
    hex.as_bytes()
        .chunks_exact(2)
        .map(move |pair| digit(pair[0]) << 4 | digit(pair[1]))
}
