//! The lines a writer reports before and after every step.

use std::collections::BTreeMap;
use std::path::Path;

/// `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}

/// One line. A digest covers all bands, names and contents, as the writer has them in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// It is about to take a checkpoint of this name and state.
    Asks { name: String, digest: String },
    /// The store reported it.
    Has { name: String },
    /// It is about to prune one.
    Drops { name: String },
    /// The store reported that it is pruned.
    Dropped { name: String },
    /// It is about to roll back from one state to another; the store names the replaced one.
    Returns { to: String, from: String },
    /// Live is that state, and the replaced one is kept under this name.
    Returned { name: String },
}

impl Report {
    pub(crate) fn line(&self) -> String {
        let (verb, first, second) = match self {
            Self::Asks { name, digest } => ("asks", name, digest.as_str()),
            Self::Has { name } => ("has", name, "-"),
            Self::Drops { name } => ("drops", name, "-"),
            Self::Dropped { name } => ("dropped", name, "-"),
            Self::Returns { to, from } => ("returns", to, from.as_str()),
            Self::Returned { name } => ("returned", name, "-"),
        };
        format!("report {verb} {first} {second} .\n")
    }

    /// Parses a whole line; other lines, such as the test's heading, are none.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        // The harness of tests writes before the first line without ending its own.
        let words: Vec<&str> = line[line.find("report ")?..].split(' ').collect();
        let [_, verb, first, second, "."] = words[..] else {
            return None;
        };
        let (name, second) = (first.to_owned(), second.to_owned());
        Some(match verb {
            "asks" => Self::Asks {
                name,
                digest: second,
            },
            "has" => Self::Has { name },
            "drops" => Self::Drops { name },
            "dropped" => Self::Dropped { name },
            "returns" => Self::Returns {
                to: name,
                from: second,
            },
            "returned" => Self::Returned { name },
            _ => return None,
        })
    }
}

/// Contents by name.
pub(crate) type Bands = BTreeMap<String, Vec<u8>>;

/// A digest of a state, from the ids of its bands.
pub(crate) fn digest(bands: impl Iterator<Item = (String, [u8; 32])>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, id) in bands {
        hasher.update(name.as_bytes()).update(&[0]).update(&id);
    }
    hasher.finalize().to_hex().to_string()
}

pub(crate) fn digest_of(bands: &Bands) -> String {
    digest(
        bands
            .iter()
            .map(|(name, bytes)| (name.clone(), *blake3::hash(bytes).as_bytes())),
    )
}

/// The bands in the files.
pub(crate) fn read(live: &Path) -> Bands {
    let files = std::fs::read_dir(live)
        .expect("live is there")
        .map(|entry| entry.expect("readable"));
    files
        .map(|file| {
            let name = file.file_name().into_string().expect("UTF-8");
            (name, std::fs::read(file.path()).expect("a band"))
        })
        .collect()
}
