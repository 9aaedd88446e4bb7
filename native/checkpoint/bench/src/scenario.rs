//! The four changes of the original measurement, as writes to bands.
//!
//! It reported changed bands (3, 6, 5, 8) and not pages. We assume 16 writes of 4 KiB per band for
//! one and for five files (data, inode, directory, journal), and more where changes lie together.

use std::ops::Range;

use paceline_harness::order::SplitMix64;

/// Bytes of one write: a block of the filesystem in the image.
pub(crate) const WRITE_BYTES: u64 = 4096;

/// A change of the image, as writes to bands.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) dirty_bands: u64,
    pub(crate) writes_per_band: u64,
}

/// In the order of the original measurement.
pub(crate) const ALL: [Scenario; 4] = [
    Scenario {
        name: "one_file",
        dirty_bands: 3,
        writes_per_band: 16,
    },
    Scenario {
        name: "five_files",
        dirty_bands: 6,
        writes_per_band: 16,
    },
    Scenario {
        name: "twenty_files_local",
        dirty_bands: 5,
        writes_per_band: 48,
    },
    Scenario {
        name: "sixty_files_spread",
        dirty_bands: 8,
        writes_per_band: 32,
    },
];

/// The files of an image that a change writes to.
#[derive(Clone, Copy)]
pub(crate) struct Files {
    pub(crate) count: u64,
    /// Files that were made one after the other, most in one directory.
    pub(crate) together: bool,
}

/// The files of one of the original changes.
pub(crate) fn files_of(scenario: &str) -> Files {
    match scenario {
        "one_file" => Files {
            count: 1,
            together: true,
        },
        "five_files" => Files {
            count: 5,
            together: false,
        },
        "twenty_files_local" => Files {
            count: 20,
            together: true,
        },
        _ => Files {
            count: 60,
            together: false,
        },
    }
}

/// One write of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) band: u64,
    pub(crate) offset: u64,
    pub(crate) fill: u64,
}

impl Scenario {
    /// The next change among the `hot` bands: its blocks and their new contents.
    pub(crate) fn draw(
        &self,
        hot: &Range<u64>,
        band_bytes: u64,
        random: &mut SplitMix64,
    ) -> Vec<Touch> {
        let count = hot.end - hot.start;
        let first = random.draw() % count;
        let mut touches = Vec::new();
        for band in 0..self.dirty_bands {
            let band = hot.start + (first + band) % count;
            for _ in 0..self.writes_per_band {
                let offset = random.draw() % (band_bytes / WRITE_BYTES) * WRITE_BYTES;
                touches.push(Touch {
                    band,
                    offset,
                    fill: random.draw(),
                });
            }
        }
        touches
    }
}
