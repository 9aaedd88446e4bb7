//! Which names bands and checkpoints may have.
//!
//! Invariant: a band's name is one component of a path, so nothing that is read from a store or an archive
//! can name a file outside of its directory.

use crate::error::{Error, ErrorKind, Result};

/// What filesystems allow, less what the base appends to a name.
const BAND_BYTES: usize = 200;
const CHECKPOINT_BYTES: usize = 200;

fn plain(name: &str, most: usize) -> bool {
    !name.is_empty() && name.len() <= most && !name.chars().any(char::is_control)
}

/// Whether a file of this name can be a band.
#[must_use]
pub fn is_band(name: &str) -> bool {
    plain(name, BAND_BYTES) && !name.contains(['/', '\\']) && name != "." && name != ".."
}

/// Whether a file of this name can be a band's copy in the base.
pub(crate) fn is_base_file(name: &str) -> bool {
    plain(name, BAND_BYTES + 17) && !name.contains(['/', '\\']) && name != "." && name != ".."
}

pub(crate) fn check_band(name: &str) -> Result<()> {
    if is_band(name) {
        return Ok(());
    }
    let what = format!("{name:?} cannot be a band's name");
    Err(Error::new(
        ErrorKind::Refused,
        what,
        "a band is a plain file of the directory: no separators, no '..'",
    ))
}

pub(crate) fn check_checkpoint(name: &str) -> Result<()> {
    if plain(name, CHECKPOINT_BYTES) && name.trim() == name && !name.starts_with('-') {
        return Ok(());
    }
    let what = format!("{name:?} cannot be a checkpoint's name");
    let advice = "1 to 200 bytes, no control characters, no blank at either end, no dash in front";
    Err(Error::new(ErrorKind::Refused, what, advice))
}
