//! Parses `--dirty`: a band, and the range in it that was written.
//!
//! The text after the last `@` is always a range, so a band whose name contains an `@` needs its
//! range.

use paceline_checkpoint::Written;

/// Parses `BAND@OFFSET+LENGTH` or `BAND`.
///
/// # Errors
/// Says what is wrong with the text, and the right form.
pub(crate) fn written(text: &str) -> Result<Written, String> {
    let (band, range) = match text.rsplit_once('@') {
        None => (text, None),
        Some((band, range)) => {
            let numbers = range
                .split_once('+')
                .and_then(|(from, bytes)| Some((number(from)?, number(bytes)?)));
            let advice =
                "after '@' come two decimal numbers, the first byte and how many: 3f@4096+16384";
            (band, Some(numbers.ok_or(advice)?))
        }
    };
    if band.is_empty() {
        return Err("no band is named; write 3f@4096+16384, or 3f for all of it".to_owned());
    }
    Ok(Written {
        band: band.to_owned(),
        range,
    })
}

/// Reads a number of digits only, because `parse` alone would accept a sign.
fn number(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_band_and_its_range_or_says_how_it_is_written() {
        for (text, band, range) in [
            ("3f@4096+16384", "3f", Some((4096, 16384))),
            ("3f@0+0", "3f", Some((0, 0))),
            ("a+b", "a+b", None),
            ("a@b@007+1", "a@b", Some((7, 1))),
            ("0@18446744073709551615+1", "0", Some((u64::MAX, 1))),
        ] {
            assert_eq!(
                written(text),
                Ok(Written {
                    band: band.to_owned(),
                    range
                }),
                "{text}"
            );
        }
        for text in [
            "3f@",
            "3f@1",
            "3f@+",
            "3f@1+",
            "3f@+1",
            "3f@-1+2",
            "3f@+1+2",
            "3f@1++2",
            "3f@0x1+2",
            "3f@1+2 ",
            "3f@1k+2",
            "3f@18446744073709551616+1",
            "a@b",
        ] {
            let why = written(text).expect_err(text);
            assert!(why.contains("3f@4096+16384"), "{text}: {why}");
        }
        for text in ["", "@0+1"] {
            assert!(
                written(text)
                    .expect_err(text)
                    .starts_with("no band is named"),
                "{text}"
            );
        }
    }
}
