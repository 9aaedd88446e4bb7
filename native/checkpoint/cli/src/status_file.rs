//! The last `status` of the process that holds the store, in a file that other processes read.
//!
//! The file is whole or absent, and read only while the store is held. Failures to write it are
//! ignored: a reader is then told that the store is held.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use paceline_checkpoint::{Status, store_path};
use serde_json::Value;

use crate::answer;

fn path(dir: &Path) -> PathBuf {
    store_path(dir).join("STATUS")
}

/// The status file of the store beside this directory. Removed when the holder drops it.
pub(crate) struct StatusFile<'a>(pub(crate) &'a Path);

impl StatusFile<'_> {
    /// Replaces the file by this status.
    pub(crate) fn write(&self, status: &Status) {
        let answer = answer::status(status);
        let _ = tempfile::NamedTempFile::new_in(store_path(self.0)).and_then(|mut file| {
            write!(file, "{}\n{}", answer.json, answer.text)?;
            file.persist(path(self.0)).map_err(std::io::Error::from)
        });
    }
}

impl Drop for StatusFile<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(path(self.0));
    }
}

/// The status that the holder wrote last: as text and as JSON.
pub(crate) fn read(dir: &Path) -> Option<(Value, String)> {
    let content = fs::read_to_string(path(dir)).ok()?;
    let (json, text) = content.split_once('\n')?;
    Some((serde_json::from_str(json).ok()?, text.to_owned()))
}
