//! Tests readers of bytes with a valid checksum: valid bytes are changed and get a correct checksum
//! again.
//!
//! A checksum catches accidents; these tests cover bytes that somebody made on purpose.

use proptest::prelude::*;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive::Contents;
use crate::attributes::{Attributes, KnownAttributes};
use crate::bytes::{Reader, sealed, unsealed};
use crate::manifest::{BaseBand, Manifest, base_file};
use crate::record::{BandAt, BandChange, BandState, HEADER, Meta, Seal, decode, encode, meta};

fn band_state(size: u64) -> BandState {
    BandState {
        size,
        id: [size.to_le_bytes()[0]; 32],
    }
}

fn attributes_if(known: bool) -> KnownAttributes {
    known.then(|| {
        Arc::new(Attributes {
            mode: 0o640,
            owner: 65534,
            group: 7,
            modified_ns: -5,
            extended: BTreeMap::from([(b"user.a".to_vec(), b"b".to_vec())]),
        })
    })
}

fn metas() -> impl Strategy<Value = Meta> {
    let runs = prop::collection::vec((0_u64..5, 1_u64..4), 0..4).prop_map(|gaps| {
        let mut free = 0;
        let mut runs = Vec::new();
        for (gap, count) in gaps {
            runs.push((free + gap, count));
            free += gap + count;
        }
        runs
    });
    let band = ("[a-z]{1,9}", runs, any::<bool>(), any::<bool>());
    let band = band.prop_map(|(name, runs, there, known)| BandChange {
        name,
        state: there.then(|| band_state(40 * 4096)),
        attributes: attributes_if(there && known),
        runs: if there { runs } else { vec![] },
    });
    let checkpoint = (
        "[a-z]{1,9}",
        any::<i64>(),
        prop::collection::vec(band, 0..4),
    )
        .prop_map(|(name, created_ns, bands)| Meta::Checkpoint {
            name,
            created_ns,
            bands,
        });
    let prune = prop::collection::vec(any::<u64>(), 0..5).prop_map(|mut epochs| {
        epochs.sort_unstable();
        Meta::Prune { epochs }
    });
    prop_oneof![3 => checkpoint, 1 => prune]
}

/// (position, change, operand)
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 0_u8..5, any::<u8>()), 1..4)
}

fn change(bytes: &mut Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) {
    for (place, how, what) in changes {
        if bytes.is_empty() {
            return;
        }
        let at = place.index(bytes.len());
        match how {
            0 => bytes[at] ^= 1 << (what % 8),
            1 => bytes[at] = *what,
            2 => bytes.insert(at, *what),
            3 => drop(bytes.remove(at)),
            _ => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xFF),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("CHECKPOINT_READER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
    ))]

    #[test]
    fn a_changed_record_is_refused_or_canonical(
        meta_in in metas(), how in changes(),
    ) {
        let pages = |meta: &Meta| match meta {
            Meta::Checkpoint { bands, .. } => bands.iter().map(BandChange::pages).sum::<u64>(),
            Meta::Prune { .. } => 0,
        };
        let zeros = |count: u64| vec![0; usize::try_from(count * 4096).expect("small")];
        let (front, _) = encode(7, &[3; 32], &meta_in, &zeros(pages(&meta_in)), &Seal::default());
        let head = decode(&front).expect("whole").0;
        let mut body = front[HEADER..HEADER + usize::try_from(head.meta_bytes).expect("small")].to_vec();
        change(&mut body, &how);
        let mut reader = Reader(&body);
        let read = meta(&mut reader).filter(|_| reader.0.is_empty());
        if let Some(read) = read.filter(|read| pages(read) < 1000) {
            let (front, _) = encode(7, &[3; 32], &read, &zeros(pages(&read)), &Seal::default());
            prop_assert_eq!(&front[HEADER..HEADER + body.len()], &body[..]);
            prop_assert_eq!(decode(&front).expect("whole").1, read);
        }
    }

    #[test]
    fn a_changed_manifest_is_refused_or_canonical(
        names in prop::collection::btree_set("[a-z]{1,9}", 0..4), epoch: u64, how in changes(),
    ) {
        let band = |name: &String| BaseBand {
            name: name.clone(), state: band_state(epoch), file: base_file(name, epoch), patched: 3,
            attributes: attributes_if(name.len().is_multiple_of(2)),
        };
        let bands = names.iter().map(band).collect();
        let manifest = Manifest {
            store: [1; 16], epoch, chain: [2; 32], kept: true, created_ns: -5, name: "first".into(), bands,
        };
        let text = manifest.text();
        prop_assert_eq!(Manifest::parse(&text), Some(manifest));
        let mut body = unsealed(&text).expect("whole").as_bytes().to_vec();
        change(&mut body, &how);
        if let Ok(body) = String::from_utf8(body) {
            let text = sealed(body);
            if let Some(read) = Manifest::parse(&text) {
                prop_assert_eq!(read.text(), text);
            }
        }
    }

    #[test]
    fn a_changed_manifest_of_an_archive_is_refused_or_canonical(
        names in prop::collection::btree_set("[a-z]{1,9}", 0..4), size: u64, how in changes(),
    ) {
        let band = |name: String| {
            let attributes = attributes_if(name.len().is_multiple_of(2));
            (name, BandAt { state: band_state(size), attributes })
        };
        let bands = names.into_iter().map(band).collect();
        let contents = Contents { name: "first".into(), created_ns: -5, bands };
        let text = contents.text();
        prop_assert_eq!(Contents::parse(&text), Some(contents));
        let mut body = unsealed(&text).expect("whole").as_bytes().to_vec();
        change(&mut body, &how);
        if let Ok(body) = String::from_utf8(body) {
            let text = sealed(body);
            if let Some(read) = Contents::parse(&text) {
                prop_assert_eq!(read.text(), text);
            }
        }
    }
}
