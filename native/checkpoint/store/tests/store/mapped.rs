//! Tests writes through a mapping on a real filesystem; they cause no events and change few stamps.

use std::fs::{File, OpenOptions};
use std::sync::Arc;

use paceline_checkpoint::disk::{Disk, RealDisk};
use paceline_checkpoint::{Options, Store};
use rustix::mm::{MapFlags, ProtFlags};

use crate::world::{Random, size};

const BYTES: usize = 40 * 4096;

/// A mapping of a band, through which alone the band is written.
struct Map(*mut u8);

impl Map {
    fn of(file: &File) -> Self {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address the kernel chooses, of a file that keeps these bytes.
        let map =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), BYTES, protection, flags, file, 0) };
        Self(map.expect("mapped").cast())
    }

    fn store(&self, at: usize, value: u8) {
        assert!(at < BYTES);
        // SAFETY: within the mapping, which lives as long as this value; no reference into it is
        // ever made.
        unsafe { self.0.add(at).write_volatile(value) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped with these bounds, and nobody uses it after this.
        unsafe { rustix::mm::munmap(self.0.cast(), BYTES) }.expect("unmapped");
    }
}

/// Each write follows right after the last stamp, and most go to pages that were written to before.
#[test]
fn a_write_through_a_mapping_is_never_missed() {
    let root = tempfile::tempdir().expect("a directory");
    let live = root.path().join("bands");
    std::fs::create_dir(&live).expect("made");
    let names = ["a", "b", "c", "d"];
    for name in names {
        std::fs::write(live.join(name), vec![1; BYTES]).expect("written");
    }
    let options = Options {
        segment_bytes: 4 << 20,
        skip_proven_syncs: true,
    };
    let mut store = Store::init(Arc::new(RealDisk), &live, options, "first").expect("new");
    let open = |name: &str| {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(live.join(name))
            .expect("open")
    };
    let maps = names.map(|name| Map::of(&open(name)));
    let mut bands = names.map(|_| vec![1_u8; BYTES]);
    let mut random = Random(12);
    // `tells`: the stamps of this filesystem show writes through mappings. `sparing`: the number of
    // checkpoints that read less than everything.
    let tells = RealDisk.stamps_show_mappings(root.path());
    let (mut sparing, trials) = (0, size("CHECKPOINT_MAPPED", 60));
    for trial in 0..trials + 5000 {
        // The last trials write to one band only, so the stamps of the others become old enough.
        let band = if trial < trials {
            usize::try_from(random.below(4)).expect("small")
        } else {
            0
        };
        if trial >= trials && (!tells || sparing > 10) {
            break;
        }
        let at = usize::try_from(random.below(3) * 4096 * 13 + random.below(4096)).expect("small");
        let value = trial.to_le_bytes()[0].wrapping_add(2);
        maps[band].store(at, value);
        bands[band][at] = value;
        let name = format!("c{trial}");
        let taken = store.checkpoint_mapped(&name).expect("quiet");
        for (place, bytes) in bands.iter().enumerate() {
            let id = store.bands(&name).expect("made")[names[place]].id;
            assert_eq!(
                id,
                *blake3::hash(bytes).as_bytes(),
                "trial {trial}, band {}",
                names[place]
            );
        }
        if tells {
            sparing += u64::from(taken.read_bytes < 4 * BYTES as u64);
        } else {
            assert_eq!(
                taken.read_bytes,
                4 * BYTES as u64,
                "nothing tells, so everything is read"
            );
        }
        if trial % 16 == 15 {
            store.save_index();
            drop(store);
            store = Store::open(Arc::new(RealDisk), &live, options).expect("opened");
        }
    }
    assert!(
        !tells || sparing > 10,
        "{sparing} checkpoints read less than everything"
    );
    eprintln!("the filesystem tells: {tells}; {sparing} checkpoints read less than everything");
}
