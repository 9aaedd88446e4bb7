//! The interface of a checkpoint strategy, and the phases in which its time is reported.
//!
//! [`crate::arms`] runs strategies; `strategies`, `band_store`, `tools` and `snapshot` implement
//! them.

use std::io;
use std::time::Instant;

use crate::band_directory::BandDirectory;
use crate::scenario::Touch;

/// The duration of a checkpoint, in the phases of the original measurement.
#[derive(Clone, Copy, Default)]
pub(crate) struct Phases {
    pub(crate) durable: u64,
    pub(crate) detect: u64,
    pub(crate) hash: u64,
    pub(crate) clone: u64,
    pub(crate) manifest: u64,
    pub(crate) sync: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Phases {
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, (_, more)) in [
            &mut self.durable,
            &mut self.detect,
            &mut self.hash,
            &mut self.clone,
            &mut self.manifest,
            &mut self.sync,
            &mut self.read,
            &mut self.written,
        ]
        .into_iter()
        .zip(other.named())
        {
            *sum += more;
        }
    }

    pub(crate) fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("durable", self.durable),
            ("detect", self.detect),
            ("hash", self.hash),
            ("clone", self.clone),
            ("manifest", self.manifest),
            ("sync", self.sync),
            ("read", self.read),
            ("written", self.written),
        ]
    }
}

/// A way to make a change durable.
pub(crate) trait Strategy {
    /// Returns once the change is durable.
    fn checkpoint(&mut self, bands_dir: &BandDirectory, touches: &[Touch]) -> io::Result<Phases>;

    /// Whether the last checkpoint equals the bands as they are now; `None` when it keeps no contents.
    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>>;

    /// The checkpoints since the last call that were told by change events what to look at; `None` where no events
    /// are asked.
    fn take_told(&mut self) -> Option<u64> {
        None
    }

    /// Bytes to count as used that no file beside the bands holds.
    fn extra_bytes(&self, _: &BandDirectory) -> io::Result<u64> {
        Ok(0)
    }
}

pub(crate) fn nanoseconds(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
