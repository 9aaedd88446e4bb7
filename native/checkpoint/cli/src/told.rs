//! The last `status` of a process that holds the store, in a file for other processes to read.
//!
//! The file is whole or absent, and read only while the store is held. Failures to write it are
//! ignored.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use paceline_checkpoint::{Status, store_path};
use serde_json::Value;

use crate::answer;

fn path(dir: &Path) -> PathBuf {
    store_path(dir).join("STATUS")
}

/// Removes it when the holder goes.
pub(crate) struct Told<'a>(pub(crate) &'a Path);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(path(self.0));
    }
}

/// Says how the store stands.
pub(crate) fn leave(dir: &Path, status: &Status) {
    let said = answer::status(status);
    let written = tempfile::NamedTempFile::new_in(store_path(dir)).and_then(|mut file| {
        write!(file, "{}\n{}", said.json, said.text)?;
        file.persist(path(dir)).map_err(std::io::Error::from)
    });
    let _ = written; // whoever asks hears that the store is held
}

/// What was said last: for programs, for people.
pub(crate) fn last(dir: &Path) -> Option<(Value, String)> {
    let said = fs::read_to_string(path(dir)).ok()?;
    let (json, text) = said.split_once('\n')?;
    Some((serde_json::from_str(json).ok()?, text.to_owned()))
}
