//! Has the entry points of fuzzing: one for every reader of bytes that others may have written.
//!
//! The targets in `../fuzz` call these; a test here runs them on stored vectors and changes of
//! them. Whatever the bytes, a reader terminates, allocates in proportion to its input, and returns
//! nothing, an error, or what its writer would have written. Compiled for tests and fuzzers only.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::archive::{Contents, MANIFEST};
use crate::attributes::{Attributes, KnownAttributes};
use crate::bytes::{Reader, sealed};
use crate::disk::{Access, Disk, FakeDisk};
use crate::error::ErrorKind;
use crate::log::{Log, segment_path};
use crate::manifest::Manifest;
use crate::pages::{PAGE, index};
use crate::record::{
    BandChange, BandState, Chain, HEADER, Meta, Seal, StateSum, decode, encode, meta,
};
use crate::store::{Options, Store};
use crate::unpack::unpack;
use crate::walk::Place;

/// Archives whose bands have at most this many bytes are imported; larger ones are only read.
const BYTES_MOST: u64 = 1 << 20;
const STORE: [u8; 16] = [7; 16];
const BASE: (u64, Chain) = (4, [9; 32]);
/// The seal of the first record after the base.
const SEAL: Seal = Seal {
    store: STORE,
    segment: BASE.0 + 1,
    at: PAGE,
    sum: StateSum::ZERO,
};

fn pages_of(meta: &Meta) -> u64 {
    match meta {
        Meta::Checkpoint { bands, .. } => bands.iter().map(BandChange::pages).sum(),
        Meta::Prune { .. } => 0,
    }
}

/// Reads the bytes as a record of the log, and then as a meta to which a valid checksum is added.
///
/// # Panics
/// When a reader breaks its promise; the same holds for all entry points.
pub fn record(bytes: &[u8]) {
    if let Some((head, read, _)) = decode(bytes) {
        let pages = vec![0; index(head.page_bytes.min(BYTES_MOST))];
        let (again, _) = encode(
            head.epoch,
            &head.previous,
            &read,
            &pages,
            &head.seal.unwrap_or_default(),
        );
        let meta_end = HEADER + index(head.meta_bytes);
        assert_eq!(
            again[HEADER..meta_end],
            bytes[HEADER..meta_end],
            "another meta"
        );
    }
    let mut reader = Reader(bytes);
    if let Some(read) = meta(&mut reader).filter(|read| reader.0.is_empty() && pages_of(read) < 256)
    {
        let pages = vec![0; index(pages_of(&read) * PAGE)];
        let (front, chain) = encode(5, &[3; 32], &read, &pages, &SEAL);
        assert_eq!(
            &front[HEADER..HEADER + bytes.len()],
            bytes,
            "another meta behind a right checksum"
        );
        let (_, decoded, same) = decode(&front).expect("it was just written");
        assert_eq!((decoded, same), (read, chain));
    }
}

/// Returns the attributes of a band; only those of `a` are known.
fn attributes_of(name: &str) -> KnownAttributes {
    let known = Attributes {
        mode: 0o640,
        owner: 65534,
        group: 7,
        modified_ns: -5,
        extended: BTreeMap::from([(b"user.a".to_vec(), b"b".to_vec())]),
    };
    (name == "a").then(|| Arc::new(known))
}

/// Returns the records of a sound log, which [`log`] then damages.
fn sound() -> Vec<Meta> {
    let band = |name: &str, first: u64| BandChange {
        name: name.to_owned(),
        state: Some(BandState {
            size: 9 * PAGE,
            id: [1; 32],
        }),
        attributes: attributes_of(name),
        runs: vec![(first, 1)],
    };
    vec![
        Meta::Checkpoint {
            name: "one".into(),
            created_ns: 5,
            bands: vec![band("a", 0), band("b", 3)],
        },
        Meta::Prune { epochs: vec![5] },
        Meta::Checkpoint {
            name: "two".into(),
            created_ns: -6,
            bands: vec![band("a", 8)],
        },
    ]
}

/// Reads a log. If the first byte is 0, the rest is placed where records begin; otherwise every
/// three bytes change one byte of a log of three records.
///
/// # Panics
/// See [`record`].
pub fn log(bytes: &[u8]) {
    let (disk, dir) = (FakeDisk::default(), Path::new("/log"));
    let port: Arc<dyn Disk> = Arc::new(disk.clone());
    let place = Place {
        disk: &disk,
        dir,
        store: STORE,
        base: BASE,
        known: None,
    };
    let open = || Log::open(&port, place, 16 * PAGE, None);
    disk.make_dir(dir).expect("a fresh disk");
    let mut log =
        Log::create(Arc::clone(&port), dir, STORE, 16 * PAGE, BASE).expect("a fresh disk");
    let first = segment_path(dir, BASE.0 + 1);
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let file = disk.open(&first, Access::Write).expect("just made");
    let mut written = Vec::new();
    if *mode == 0 {
        let room = rest.len().min(index(15 * PAGE));
        file.write_at(&rest[..room], PAGE).expect("room");
    } else {
        for meta in sound() {
            let pages = vec![9; index(pages_of(&meta) * PAGE)];
            written.push(
                log.append(meta, &pages, StateSum::ZERO)
                    .expect("room")
                    .chain,
            );
        }
        for change in rest.chunks_exact(3) {
            let at = u64::from(u16::from_le_bytes([change[0], change[1]]));
            file.write_at(&change[2..], at).expect("room");
        }
    }
    drop(log);
    match open() {
        Err(error) => assert_eq!(error.kind(), ErrorKind::Damaged, "{error}"),
        Ok((mut log, epochs)) => {
            assert!(
                epochs
                    .iter()
                    .map(|epoch| epoch.number)
                    .eq(5..5 + epochs.len() as u64),
                "gaps"
            );
            if *mode != 0 {
                let chains = epochs.iter().map(|epoch| epoch.chain);
                assert!(
                    chains.eq(written[..epochs.len()].iter().copied()),
                    "what was never written"
                );
            }
            // No written record equals it, because an equal one could continue a damaged log.
            let after = Meta::Checkpoint {
                name: "after".into(),
                created_ns: 1,
                bands: vec![],
            };
            let next = log.append(after, &[], StateSum::ZERO).expect("it goes on");
            drop(log);
            let (_, again) = open().expect("as it was left");
            assert_eq!(again.len(), epochs.len() + 1);
            assert_eq!(again.last().map(|epoch| epoch.chain), Some(next.chain));
        }
    }
}

/// Reads the bytes as `CURRENT`, as they are and with a valid checksum.
///
/// # Panics
/// See [`record`].
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    for text in [text.to_owned(), sealed(text.to_owned())] {
        if let Some(read) = Manifest::parse(&text) {
            assert_eq!(read.text(), text);
            let inside = |file: &str| !file.contains(['/', '\\']) && file != "..";
            assert!(
                read.bands
                    .iter()
                    .all(|band| inside(&band.file) && inside(&band.name)),
                "{text}"
            );
        }
    }
}

/// Reads an archive. If the first byte is 0, the rest is a tar; otherwise two bytes give the length
/// of a manifest, which gets a valid checksum and a header, and the rest follows as it is.
///
/// # Panics
/// See [`record`].
pub fn archive(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else {
        return;
    };
    let tar = if *mode == 0 {
        rest.to_owned()
    } else {
        let Some((length, rest)) = rest.split_at_checked(2) else {
            return;
        };
        let length = usize::from(u16::from_le_bytes([length[0], length[1]])).min(rest.len());
        let Ok(text) = std::str::from_utf8(&rest[..length]) else {
            return;
        };
        [
            manifest_entry(&sealed(text.to_owned())),
            rest[length..].to_vec(),
        ]
        .concat()
    };
    let mut sizes = 0_u64;
    let read = unpack(
        tar.as_slice(),
        |contents| {
            assert_eq!(Contents::parse(&contents.text()).as_ref(), Some(contents));
            sizes = contents
                .bands
                .iter()
                .fold(0, |sum, (_, band)| sum.saturating_add(band.state.size));
            Ok(())
        },
        |_, band, bytes| {
            let _ = std::io::copy(
                &mut bytes.take(band.state.size.min(BYTES_MOST)),
                &mut std::io::sink(),
            );
            Ok(())
        },
    );
    if sizes > BYTES_MOST {
        return; // a hole as large as a disk takes long
    }
    let disk = FakeDisk::default();
    let options = Options {
        segment_bytes: 2 * PAGE,
        skip_proven_syncs: true,
    };
    let taken = Store::import(
        Arc::new(disk.clone()),
        Path::new("/bands"),
        options,
        tar.as_slice(),
    );
    match taken {
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::Refused | ErrorKind::Damaged),
                "{error}"
            );
            assert!(
                disk.list(Path::new("/")).expect("the root").is_empty(),
                "something is left"
            );
        }
        Ok(store) => {
            let contents = read.expect("it was taken in");
            let bands = contents.bands.into_iter();
            assert_eq!(
                store.bands(&contents.name).expect("kept"),
                bands.map(|(name, band)| (name, band.state)).collect()
            );
            assert!(store.verify(&contents.name).expect("kept").wrong.is_empty());
        }
    }
}

fn manifest_entry(text: &str) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    let mut builder = tar::Builder::new(Vec::new());
    builder
        .append_data(&mut header, MANIFEST, text.as_bytes())
        .expect("memory");
    builder.get_ref().clone()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::bytes::unsealed;
    use crate::manifest::{BaseBand, base_file};

    type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

    const TARGETS: [Target; 4] = [
        ("record", record, records),
        ("log", log, logs),
        ("manifest", manifest, manifests),
        ("archive", archive, archives),
    ];

    fn records() -> Vec<Vec<u8>> {
        // Returns a record's header and meta, padded to whole pages.
        let front = |meta: &Meta| {
            encode(
                5,
                &[3; 32],
                meta,
                &vec![9; index(pages_of(meta) * PAGE)],
                &SEAL,
            )
            .0
        };
        let cut = |front: Vec<u8>| {
            let end = HEADER + index(decode(&front).expect("whole").0.meta_bytes);
            [front[..end].to_vec(), front[HEADER..end].to_vec()]
        };
        sound().iter().map(front).flat_map(cut).collect()
    }

    fn logs() -> Vec<Vec<u8>> {
        let whole = encode(5, &BASE.1, &sound()[0], &vec![9; index(2 * PAGE)], &SEAL).0;
        let raw = [&[0][..], &whole[..512]].concat();
        vec![
            raw,
            vec![1],
            vec![1, 0, 16, 255],
            vec![1, 0, 64, 0, 1, 64, 0],
        ]
    }

    fn manifests() -> Vec<Vec<u8>> {
        let state = BandState {
            size: 70_000,
            id: [6; 32],
        };
        let band = |name: &str| {
            let (name, file) = (name.to_owned(), base_file(name, 4));
            BaseBand {
                attributes: attributes_of(&name),
                name,
                state,
                file,
                patched: 3,
            }
        };
        let (name, bands) = ("first of all".into(), vec![band("a"), band("b c")]);
        let manifest = Manifest {
            store: STORE,
            epoch: 4,
            chain: BASE.1,
            kept: true,
            created_ns: -5,
            name,
            bands,
        };
        let text = manifest.text();
        vec![
            text.clone().into_bytes(),
            unsealed(&text).expect("whole").as_bytes().to_vec(),
        ]
    }

    fn archives() -> Vec<Vec<u8>> {
        let disk = FakeDisk::default();
        disk.make_dir(Path::new("/bands")).expect("made");
        for (name, bytes) in [("a", &b"abc"[..]), ("hole", &[0; 9000])] {
            let file = disk
                .open(&Path::new("/bands").join(name), Access::Create)
                .expect("made");
            file.write_at(bytes, 0).expect("written");
        }
        disk.advance(1_000_000_000);
        let options = Options {
            segment_bytes: 2 * PAGE,
            skip_proven_syncs: true,
        };
        let store =
            Store::init(Arc::new(disk), Path::new("/bands"), options, "first").expect("new");
        let mut tar = Vec::new();
        store.export("first", &mut tar).expect("kept");
        // Manifest: a header of one block, and one block of text.
        let text = std::str::from_utf8(&tar[512..])
            .expect("text")
            .split('\0')
            .next()
            .expect("text");
        let body = unsealed(text).expect("whole").to_owned();
        let rest = tar[1024..].to_vec();
        let length = u16::try_from(body.len()).expect("short").to_le_bytes();
        vec![
            [&[0][..], &tar].concat(),
            [&[1][..], &length, body.as_bytes(), &rest].concat(),
        ]
    }

    fn vectors(target: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../fuzz/vectors")
            .join(target)
    }

    /// The vectors are the seeds of fuzzers and examples of the current formats, which later
    /// versions must read.
    #[test]
    fn the_vectors_are_what_todays_writers_write() {
        for (target, _, seeds) in TARGETS {
            for (number, seed) in seeds().into_iter().enumerate() {
                let path = vectors(target).join(format!("seed{number}"));
                if std::env::var_os("CHECKPOINT_WRITE_VECTORS").is_some() {
                    std::fs::create_dir_all(vectors(target)).expect("made");
                    std::fs::write(&path, &seed).expect("written");
                }
                assert!(
                    std::fs::read(&path).expect("it is there") == seed,
                    "{}",
                    path.display()
                );
            }
        }
    }

    /// A record of a version before seals is still read.
    #[test]
    fn a_record_of_an_older_version_is_read() {
        let bytes = std::fs::read(vectors("record").join("unsealed0")).expect("there");
        let (head, meta, _) = decode(&bytes).expect("whole");
        assert_eq!((head.seal, &meta), (None, &unattributed()));
    }

    /// Returns the first record without attributes, as older versions wrote it.
    fn unattributed() -> Meta {
        let mut meta = sound().remove(0);
        if let Meta::Checkpoint { bands, .. } = &mut meta {
            for band in bands {
                band.attributes = None;
            }
        }
        meta
    }

    /// What versions before attributes wrote is read, and written again byte by byte.
    #[test]
    fn what_versions_before_attributes_wrote_is_read_and_written_as_it_was() {
        let old = |target: &str| {
            let path = vectors(target).join("unattributed0");
            std::fs::read(path).expect("there")
        };
        let record = old("record");
        let (_, meta, chain) = decode(&record).expect("whole");
        assert_eq!(meta, unattributed());
        let pages = vec![9; index(pages_of(&meta) * PAGE)];
        let (front, again) = encode(5, &[3; 32], &meta, &pages, &SEAL);
        assert_eq!((&front[..record.len()], again), (record.as_slice(), chain));
        let text = String::from_utf8(old("manifest")).expect("text");
        let read = Manifest::parse(&text).expect("whole");
        assert!(read.bands.iter().all(|band| band.attributes.is_none()));
        assert_eq!(read.text(), text);
        let taken = unpack(
            &old("archive")[1..],
            |_| Ok(()),
            |_, band, _| {
                assert_eq!(band.attributes, None);
                Ok(())
            },
        );
        assert_eq!(taken.expect("whole").bands.len(), 2);
    }

    #[test]
    fn every_reader_handles_the_vectors_and_changes_of_them() {
        let rounds: u64 = std::env::var("CHECKPOINT_FUZZED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(150);
        let mut state = 1_u64;
        // Returns a pseudorandom number below `end`.
        let mut below = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            index(state >> 33) % end.max(1)
        };
        for (target, run, _) in TARGETS {
            let mut files: Vec<PathBuf> = std::fs::read_dir(vectors(target))
                .expect("vectors")
                .map(|entry| entry.expect("readable").path())
                .collect();
            files.sort();
            assert!(files.len() >= 2, "{target}: no vectors");
            for path in files {
                let bytes = std::fs::read(&path).expect("readable");
                run(&bytes);
                for _ in 0..rounds {
                    let mut changed = bytes.clone();
                    for _ in 0..=below(4) {
                        let (at, value) = (below(changed.len()), below(256).to_le_bytes()[0]);
                        match below(5) {
                            0 if !changed.is_empty() => changed[at] ^= 1 << (value % 8),
                            1 if !changed.is_empty() => changed[at] = value,
                            2 => changed.insert(at, value),
                            3 => changed.truncate(at),
                            _ => changed.extend_from_within(..at.min(64)),
                        }
                    }
                    run(&changed);
                }
            }
        }
    }
}
