//! The rules for names of bands and checkpoints.
//!
//! A band's name is one component of a path, so no name in a store or archive can lead to a file
//! elsewhere. Where several names mean one file (Windows), only unambiguous names are accepted. A
//! store with other names, made elsewhere, is refused there as a whole.

use crate::disk::Disk;
use crate::error::{Error, ErrorKind, Result};

/// The limit of filesystems, less what the base appends to a name.
const BAND_BYTES: usize = 200;
const CHECKPOINT_BYTES: usize = 200;

fn plain(name: &str, most: usize) -> bool {
    !name.is_empty() && name.len() <= most && !name.chars().any(char::is_control)
}

/// Returns whether a file of this name can be a band.
#[must_use]
pub fn is_band(name: &str) -> bool {
    plain(name, BAND_BYTES) && !name.contains(['/', '\\']) && name != "." && name != ".."
}

/// Returns whether a file of this name can be a band's copy in the base.
pub(crate) fn is_base_file(name: &str) -> bool {
    plain(name, BAND_BYTES + 17) && !name.contains(['/', '\\']) && name != "." && name != ".."
}

/// Returns whether a file has no other name on Windows and is no device: the system folds
/// case, drops dots and blanks at the end, cuts at a colon, makes up short names with a tilde, and
/// has devices in every directory. How it folds letters beyond ASCII depends on the volume.
fn is_alone_on_windows(name: &str) -> bool {
    const DEVICES: [&str; 7] = ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"];
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) && !byte.is_ascii_uppercase();
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end_matches(' ');
    let port = ["com", "lpt"]
        .iter()
        .filter_map(|port| stem.strip_prefix(port))
        .any(|it| matches!(it.as_bytes(), [b'0'..=b'9']));
    name.bytes().all(plain)
        && !name.contains(['<', '>', ':', '"', '|', '?', '*', '~'])
        && !name.ends_with(['.', ' '])
        && !port
        && !DEVICES.contains(&stem)
}

/// Returns an error unless a file of this name can be a band on this disk.
pub(crate) fn check_band(disk: &dyn Disk, name: &str) -> Result<()> {
    check_bands(disk, std::iter::once(name))
}

/// Checks several names.
pub(crate) fn check_bands<'a>(disk: &dyn Disk, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let alias = disk.names_alias();
    names.into_iter().try_for_each(|name| check(name, alias))
}

fn check(name: &str, alias: bool) -> Result<()> {
    let what = || format!("{name:?} cannot be a band's name");
    if !is_band(name) {
        let advice = "a band is a plain file of the directory: no separators, no '..'";
        return Err(Error::new(ErrorKind::Refused, what(), advice));
    }
    if alias && !is_alone_on_windows(name) {
        let advice = "this system has other names for such a file, or a device of it: small letters, digits \
                      and signs of ASCII, no ~ and no dot or blank at the end; rename it where it was made";
        return Err(Error::new(ErrorKind::Refused, what(), advice));
    }
    Ok(())
}

pub(crate) fn check_checkpoint(name: &str) -> Result<()> {
    if plain(name, CHECKPOINT_BYTES) && name.trim() == name && !name.starts_with('-') {
        return Ok(());
    }
    let what = format!("{name:?} cannot be a checkpoint's name");
    let advice = "1 to 200 bytes, no control characters, no blank at either end, no dash in front";
    Err(Error::new(ErrorKind::Refused, what, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_windows_only_unambiguous_names_are_accepted() {
        for name in [
            "0",
            "3f",
            "band1",
            "a.img",
            "a b",
            ".a",
            "console",
            "com10",
            "comb",
            "lpt",
            "a-b_c+d@e",
            "nul0",
        ] {
            assert!(is_band(name) && check(name, true).is_ok(), "{name}");
        }
        for name in [
            "A",
            "a.IMG",
            "a.",
            "a ",
            "a. ",
            "a:b",
            "a:",
            "con",
            "con.img",
            "con .img",
            "nul",
            "aux.tar.gz",
            "com1",
            "lpt9.x",
            "com\u{b9}",
            "conin$",
            "longna~1.img",
            "a<",
            "a|b",
            "a?",
            "a*",
            "a\"",
            "\u{fc}",
        ] {
            assert!(
                is_band(name) && check(name, false).is_ok(),
                "{name}: elsewhere"
            );
            let refused = check(name, true).expect_err(name);
            assert_eq!(refused.kind(), ErrorKind::Refused, "{name}");
            assert!(refused.to_string().contains("rename it"), "{refused}");
        }
        for name in ["", ".", "..", "a/b", "a\\b", "../a", "a\0"] {
            assert!(
                check(name, false).is_err() && check(name, true).is_err(),
                "{name}"
            );
        }
    }
}
