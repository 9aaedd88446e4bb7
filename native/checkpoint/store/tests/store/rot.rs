//! Bits and pages of a store's files decay: nothing reported vanishes silently, no file is removed,
//! and `repair` keeps everything intact.
//!
//! `CHECKPOINT_STRIDE=1` flips each bit of the small store, in two boots; without it one in 1,499 is.
//! `CHECKPOINT_FLIPS` sets how many bits of larger stores are flipped.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paceline_checkpoint::disk::{Access, Disk, FakeDisk, Fault, Kind};
use paceline_checkpoint::{ErrorKind as Failure, Options, Repaired, Result, Store};

use crate::world::{self, Bands, Ids, Random, World, ids, live_path, read_live, size};

const OPTIONS: Options = Options {
    segment_bytes: 32 << 10,
    skip_proven_syncs: true,
};
const PAGE: usize = 4096;

/// The reported checkpoints by name.
type Reported = BTreeMap<String, Ids>;

fn root() -> PathBuf {
    live_path().with_file_name("bands.paceline")
}

fn write(disk: &FakeDisk, store: &mut Store, band: &str, offset: u64, bytes: &[u8]) {
    store.write_at(band, offset, bytes).expect("written");
    disk.advance(1_000_000_000);
}

/// A store with three bands and the checkpoints first and cp1 to cp6, closed with its index. From
/// cp4 on no byte of cp3's record is used.
fn small(options: Options) -> (FakeDisk, Reported) {
    let disk = FakeDisk::default();
    disk.make_dir(&live_path()).expect("made");
    for (name, bytes) in [("a", 9000), ("b", 5000), ("c", 100)] {
        let file = disk
            .open(&live_path().join(name), Access::Create)
            .expect("made");
        file.write_at(&vec![7; bytes], 0).expect("written");
    }
    disk.sync_beneath(Path::new("/")).expect("synced");
    disk.advance(1_000_000_000);
    let mut store =
        Store::init(Arc::new(disk.clone()), &live_path(), options, "first").expect("new");
    let mut reported = Reported::from([("first".to_owned(), ids(&read_live(&disk)))]);
    for number in 1..=6_u8 {
        let fill = [number; 3000];
        match number {
            3 => write(&disk, &mut store, "a", 5000, &fill),
            4 => write(&disk, &mut store, "a", 4096, &[4; 4904]),
            5 => write(&disk, &mut store, "c", 10, &fill[..50]),
            _ => ["a", "b"]
                .iter()
                .for_each(|band| write(&disk, &mut store, band, 10, &fill)),
        }
        let name = format!("cp{number}");
        store.checkpoint(&name).expect("taken");
        reported.insert(name, ids(&read_live(&disk)));
    }
    store.save_index();
    disk.sync_beneath(Path::new("/")).expect("synced");
    (disk, reported)
}

/// All files of the store.
fn files(disk: &FakeDisk) -> Vec<PathBuf> {
    let in_dir = |dir: PathBuf| {
        let entries = disk.list(&dir).unwrap_or_default().into_iter();
        entries
            .filter(|entry| entry.kind == Kind::File)
            .map(move |entry| dir.join(entry.name))
    };
    ["", "log", "base", "trees"]
        .into_iter()
        .map(|dir| root().join(dir))
        .flat_map(in_dir)
        .collect()
}

fn read(disk: &FakeDisk, path: &Path) -> Vec<u8> {
    let file = disk.open(path, Access::Read).expect("open");
    let mut bytes = vec![0; usize::try_from(file.stamp().expect("there").size).expect("small")];
    file.read_at(&mut bytes, 0).expect("read");
    bytes
}

/// The positions of the log's records, in order.
fn records(disk: &FakeDisk) -> Vec<(PathBuf, usize)> {
    let logs = files(disk)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "log"));
    let begins = |path: PathBuf| {
        let bytes = read(disk, &path);
        let pages = bytes
            .chunks(PAGE)
            .enumerate()
            .filter(|(_, page)| page.starts_with(b"PLCKREC1"));
        pages
            .map(|(page, _)| (path.clone(), page * PAGE))
            .collect::<Vec<_>>()
    };
    logs.flat_map(begins).collect()
}

/// The listed names that verify, with their ids. Every other reported checkpoint is named by the
/// damage or by `verify`, and the disk is unchanged.
fn look(disk: &FakeDisk, reported: &Reported, what: &str) -> Reported {
    let (steps, before) = (disk.steps(), files(disk));
    let reader = Store::open_read_only(Arc::new(disk.clone()), &live_path());
    let reader = reader.unwrap_or_else(|error| panic!("{what}: {error}"));
    let lost = reader
        .damage()
        .map(|damage| damage.lost.clone())
        .unwrap_or_default();
    let mut nameless = lost.iter().filter(|lost| lost.name.is_none()).count();
    let mut intact = Reported::new();
    let listed: Vec<String> = reader
        .list()
        .into_iter()
        .map(|checkpoint| checkpoint.name)
        .collect();
    for name in &listed {
        let verified = reader
            .verify(name)
            .unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
        if verified.wrong.is_empty() {
            let bands = reader.bands(name).expect("listed").into_iter();
            intact.insert(
                name.clone(),
                bands.map(|(name, state)| (name, state.id)).collect(),
            );
        }
    }
    for name in reported.keys().filter(|name| !listed.contains(name)) {
        if !lost.iter().any(|lost| lost.name.as_deref() == Some(name)) {
            assert!(nameless > 0, "{what}: {name} has vanished: {lost:?}");
            nameless -= 1;
        }
    }
    for (name, bands) in &intact {
        assert_eq!(
            Some(bands),
            reported.get(name),
            "{what}: {name} is not what was reported"
        );
    }
    drop(reader);
    assert_eq!(
        (disk.steps(), files(disk)),
        (steps, before),
        "{what}: looking at it changed it"
    );
    intact
}

/// Opening for writing is refused, or finds every reported checkpoint.
fn open_to_write(disk: &FakeDisk, reported: &Reported, what: &str) -> bool {
    let before = files(disk);
    match Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS) {
        Err(error) => {
            assert_eq!(error.kind(), Failure::Damaged, "{what}: {error}");
            assert!(error.to_string().contains("`repair`"), "{what}: {error}");
            assert_eq!(files(disk), before, "{what}: files went");
            false
        }
        Ok(store) => {
            let listed = store
                .list()
                .into_iter()
                .map(|checkpoint| checkpoint.name)
                .collect::<Vec<_>>();
            assert!(
                reported.keys().all(|name| listed.contains(name)),
                "{what}: {listed:?}"
            );
            true
        }
    }
}

fn repaired(disk: &FakeDisk) -> Result<Repaired> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    Store::repair(&disk, &live_path(), OPTIONS)
}

/// After a repair every intact checkpoint exists, with those that live healed, each as it was
/// reported and no other; and the store can be used.
fn repair(disk: &FakeDisk, reported: &Reported, intact: &Reported, what: &str) {
    let steps = disk.steps();
    let repaired = match repaired(disk) {
        Ok(repaired) => repaired,
        Err(refused) => {
            assert!(intact.is_empty(), "{what}: {refused}");
            let (kind, after) = (refused.kind(), disk.steps());
            assert_eq!(
                (kind, after),
                (Failure::Damaged, steps),
                "{what}: {refused}"
            );
            return;
        }
    };
    let kept: Reported = repaired
        .kept
        .iter()
        .map(|it| (it.name.clone(), reported[&it.name].clone()))
        .collect();
    assert!(
        intact.keys().all(|name| kept.contains_key(name)),
        "{what}: {repaired:?}"
    );
    let intact = &kept;
    let there = look(disk, intact, what);
    assert_eq!(&there, intact, "{what}: after the repair");
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS)
        .unwrap_or_else(|error| panic!("{what}: after the repair: {error}"));
    store
        .checkpoint_observed("after")
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(
        world::kept(&store, "after"),
        ids(&read_live(disk)),
        "{what}"
    );
    drop(store);
    let disk = disk.after_power_loss(1);
    let again =
        Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).unwrap_or_else(|error| {
            panic!(
                "{what}: repaired as {repaired:?}, {error}; {:?}",
                files(&disk)
            )
        });
    assert_eq!(again.list().len(), intact.len() + 1, "{what}");
}

/// The same store in this boot, where its index proves it, and after a power loss.
fn boots(disk: &FakeDisk) -> [(&'static str, FakeDisk); 2] {
    [
        ("same boot", disk.after_kill()),
        ("next boot", disk.after_power_loss(1)),
    ]
}

fn names(intact: &Reported) -> String {
    intact
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The header and meta of a record survive one changed bit, because their hash identifies the bit.
/// Changed pages cannot be restored: `cp3` is lost, and nothing else.
#[test]
fn a_changed_bit_in_the_middle_of_the_log_erases_no_history() {
    let (disk, reported) = small(Options {
        segment_bytes: 1 << 20,
        skip_proven_syncs: true,
    });
    let (path, begin) = records(&disk)[2].clone();
    for (place, byte, left) in [
        ("its mark", 3, "cp1 cp2 cp3 cp4 cp5 cp6 first"),
        ("its header", 20, "cp1 cp2 cp3 cp4 cp5 cp6 first"),
        ("its own hash", 170, "cp1 cp2 cp3 cp4 cp5 cp6 first"),
        ("its table", 210, "cp1 cp2 cp3 cp4 cp5 cp6 first"),
        ("a page", PAGE + 2000, "cp1 cp2 cp4 cp5 cp6 first"),
    ] {
        let disk = disk.after_power_loss(1);
        disk.flip_bit(&path, (begin + byte) as u64 * 8 + 5)
            .expect("there");
        let intact = look(&disk, &reported, place);
        assert_eq!(names(&intact), left, "{place}");
        assert!(
            !open_to_write(&disk, &reported, place),
            "{place}: something was appended"
        );
        repair(&disk, &reported, &intact, place);
    }
}

/// Sectors and pages decay, too. From cp4 on, the changes of a lost record are not needed, as the
/// sums in the records prove.
#[test]
fn a_record_that_is_gone_costs_the_checkpoints_that_need_it() {
    let (disk, reported) = small(Options {
        segment_bytes: 1 << 20,
        skip_proven_syncs: true,
    });
    let all = records(&disk);
    for (gone, left) in [
        (2, "cp1 cp2 cp4 cp5 cp6 first"),
        (4, "cp1 cp2 cp3 cp4 first"),
        (5, "cp1 cp2 cp3 cp4 cp5 first"),
    ] {
        for disk in boots(&disk).map(|(_, disk)| disk) {
            let (path, begin) = &all[gone];
            let file = disk.open(path, Access::Write).expect("open");
            file.write_at(&[0; PAGE], *begin as u64).expect("gone");
            file.sync_data().expect("for good");
            let what = format!("record {gone}");
            let intact = look(&disk, &reported, &what);
            assert_eq!(names(&intact), left, "{what}");
            assert!(!open_to_write(&disk, &reported, &what), "{what}");
            repair(&disk, &reported, &intact, &what);
        }
    }
}

#[test]
fn a_changed_bit_in_a_segments_head_removes_no_file() {
    for options in [
        OPTIONS,
        Options {
            segment_bytes: 1 << 20,
            skip_proven_syncs: true,
        },
    ] {
        let (disk, reported) = small(options);
        for path in files(&disk)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|it| it == "log"))
        {
            for (boot, disk) in boots(&disk) {
                let what = format!("{}, {boot}", path.display());
                disk.flip_bit(&path, 30 * 8).expect("there");
                let intact = look(&disk, &reported, &what);
                assert_eq!(intact, reported, "{what}");
                assert!(!open_to_write(&disk, &reported, &what), "{what}");
                repair(&disk, &reported, &intact, &what);
            }
        }
    }
}

#[test]
fn an_incomplete_current_is_read_from_its_copy() {
    let (disk, reported) = small(OPTIONS);
    let current = root().join("CURRENT");
    disk.open(&current, Access::Write)
        .and_then(|file| file.set_len(10))
        .expect("cut");
    let intact = look(&disk, &reported, "cut");
    assert_eq!(intact, reported);
    assert!(!open_to_write(&disk, &reported, "cut"));
    repair(&disk, &reported, &intact, "cut");
}

/// A fold left records before the base: their pages are not needed, and a log without one of them
/// is made anew.
#[test]
fn decay_before_the_base_has_no_effect() {
    for front in [false, true] {
        let (disk, mut reported) = small(Options {
            segment_bytes: 1 << 20,
            skip_proven_syncs: true,
        });
        let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("sound");
        store.prune(&["first", "cp1"]).expect("given up");
        store.fold().expect("folded");
        store.save_index();
        drop(store);
        disk.sync_beneath(Path::new("/")).expect("synced");
        reported.retain(|name, _| !["first", "cp1"].contains(&name.as_str()));
        let (path, begin) = records(&disk)[0].clone();
        for (boot, disk) in boots(&disk) {
            let file = disk.open(&path, Access::Write).expect("open");
            let at = if front { begin } else { begin + PAGE };
            file.write_at(&[0; PAGE], at as u64)
                .and_then(|()| file.sync_data())
                .expect("gone");
            let what = format!("{boot}, front: {front}");
            let intact = look(&disk, &reported, &what);
            assert_eq!(intact, reported, "{what}");
            assert_eq!(open_to_write(&disk, &reported, &what), !front, "{what}");
            if front {
                repair(&disk, &reported, &intact, &what);
            }
        }
    }
}

/// Without an index that knows it, the last record cannot be distinguished from an unfinished one;
/// with an index of any boot, it is lost and named.
#[test]
fn the_last_record_is_a_torn_tail_only_if_the_index_does_not_know_it() {
    for (known, seal) in [(true, 0), (false, 1)] {
        let (disk, mut reported) = small(Options {
            segment_bytes: 1 << 20,
            skip_proven_syncs: true,
        });
        let (path, begin) = records(&disk).last().expect("six").clone();
        if !known {
            disk.remove(&root().join("INDEX")).expect("removed");
            reported.remove("cp6");
        }
        disk.sync_beneath(Path::new("/")).expect("synced");
        let disk = disk.after_power_loss(seal);
        disk.flip_bit(&path, (begin + PAGE + 5) as u64 * 8)
            .expect("there");
        let intact = look(&disk, &reported, "the last");
        assert_eq!(names(&intact), "cp1 cp2 cp3 cp4 cp5 first");
        assert_eq!(open_to_write(&disk, &reported, "the last"), !known);
    }
}

/// Each bit of each file, or one in many.
#[test]
fn any_decayed_bit_of_a_small_store_is_noticed_and_removes_nothing() {
    let stride = size("CHECKPOINT_STRIDE", 1499);
    let (disk, reported) = small(OPTIONS);
    let (mut flips, mut refused, mut costly, mut repaired) = (0_u64, 0_u64, 0_u64, 0_u64);
    for (boot, disk) in boots(&disk) {
        for path in files(&disk) {
            let bits = disk.stamp(&path).expect("there").size * 8;
            for bit in (0..bits).step_by(usize::try_from(stride).expect("small")) {
                let what = format!("{boot}: bit {bit} of {}", path.display());
                disk.flip_bit(&path, bit).expect("there");
                let intact = look(&disk, &reported, &what);
                flips += 1;
                costly += u64::from(intact.len() < reported.len());
                if bit % (7 * stride) == 0 {
                    let disk = disk.after_kill();
                    refused += u64::from(!open_to_write(&disk, &reported, &what));
                }
                if bit % (61 * stride) == 0 || (stride > 900 && intact.len() < reported.len()) {
                    repair(&disk.after_kill(), &reported, &intact, &what);
                    repaired += 1;
                }
                disk.flip_bit(&path, bit).expect("there");
            }
        }
        assert_eq!(look(&disk, &reported, "all put back"), reported);
    }
    let seen =
        format!("{flips} flips, {costly} cost a checkpoint, {refused} refused, {repaired} repairs");
    assert!(
        flips > 1000 && costly > 10 && refused > 10 && repaired > 10,
        "{seen}"
    );
    eprintln!("{seen}");
}

/// Stores after any sequence of steps: with folds, pruned checkpoints, rollbacks, archives.
#[test]
fn any_decayed_bit_of_a_larger_store_is_noticed_and_removes_nothing() {
    let flips = size("CHECKPOINT_FLIPS", 60);
    let per_world = 500;
    for seed in 0..flips.div_ceil(per_world) {
        let mut world = World::new(seed);
        world.init().expect("a store");
        for _ in 0..120 {
            world.step().expect("no fault");
        }
        world.store.as_mut().expect("open").save_index();
        world.store = None;
        world.end_job();
        let reported: Reported = world
            .kept
            .iter()
            .map(|(name, bands): (_, &Bands)| (name.clone(), ids(bands)))
            .collect();
        world.disk.sync_beneath(Path::new("/")).expect("synced");
        let mut random = Random(seed);
        for (flip, (boot, disk)) in
            (0..per_world.min(flips - seed * per_world)).zip(boots(&world.disk).iter().cycle())
        {
            let files = files(disk);
            let path = &files[usize::try_from(random.below(files.len() as u64)).expect("small")];
            let bits = disk.stamp(path).expect("there").size * 8;
            if bits == 0 {
                continue;
            }
            let bit = random.below(bits);
            let what = format!("seed {seed}, {boot}: bit {bit} of {}", path.display());
            disk.flip_bit(path, bit).expect("there");
            let intact = look(disk, &reported, &what);
            open_to_write(&disk.after_kill(), &reported, &what);
            if flip % 8 == 0 || intact.len() < reported.len() {
                repair(&disk.after_kill(), &reported, &intact, &what);
            }
            disk.flip_bit(path, bit).expect("there");
        }
    }
}

/// The machine stops at any operation of a repair: the store is damaged as before, or repaired.
#[test]
fn an_interrupted_repair_leaves_everything_intact_as_it_was() {
    let (disk, reported) = small(OPTIONS);
    let (path, begin) = records(&disk)[2].clone();
    let disk = disk.after_power_loss(1);
    disk.flip_bit(&path, (begin + PAGE + 2000) as u64 * 8)
        .expect("there");
    let base = files(&disk)
        .into_iter()
        .find(|path| path.ends_with("base/c.0000000000000001"))
        .expect("a base");
    let intact = look(&disk, &reported, "before");
    assert_eq!(names(&intact), "cp1 cp2 cp4 cp5 cp6 first");
    let (mut damaged, mut whole) = (0, 0);
    for operation in 1.. {
        let cut = disk.after_kill();
        cut.stop_at(cut.steps() + operation);
        let done = repaired(&cut).is_ok();
        let left = [
            cut.after_kill(),
            cut.after_power_loss(operation),
            cut.after_power_loss(operation + 1000),
        ];
        for (how, left) in left.into_iter().enumerate() {
            let what = format!("stopped at {operation}, {how}");
            assert_eq!(look(&left, &intact, &what), intact, "{what}");
            assert!(left.stamp(&base).is_ok(), "{what}");
            let sound = open_to_write(&left.after_kill(), &intact, &what);
            damaged += u64::from(!sound);
            whole += u64::from(sound);
            if !sound {
                repair(&left, &reported, &intact, &what);
            }
        }
        if done {
            break;
        }
    }
    assert!(
        damaged > 20 && whole > 3,
        "{damaged} damaged, {whole} repaired"
    );
}

#[test]
fn a_sound_store_and_a_hopeless_one_are_not_changed_by_repair() {
    let (disk, reported) = small(OPTIONS);
    let steps = disk.steps();
    let repaired = repaired(&disk).expect("sound");
    assert_eq!(
        (disk.steps(), repaired.kept.len()),
        (steps, reported.len()),
        "{repaired:?}"
    );
    // All checkpoints have the second page of this band from the base, and live has another one.
    world::write(&disk, "b", 4500, b"other");
    disk.flip_bit(&root().join("base/b.0000000000000001"), 4500 * 8)
        .expect("there");
    let steps = disk.steps();
    let refused = self::repaired(&disk).expect_err("nothing is whole");
    assert_eq!((refused.kind(), disk.steps()), (Failure::Damaged, steps));
}

/// A page of the log's last record, or one of the base that no record has, decays: a repair takes
/// it from live by its contents alone. Live may have changed elsewhere; a bit that changed there
/// without a trace in any stamp, a link and a band that was cut heal nothing.
#[test]
fn a_repair_takes_what_decayed_from_live_if_its_contents_are_right() {
    type Change = fn(&FakeDisk, &str, u64);
    let changes: [(&str, bool, Change); 5] = [
        ("as it was", true, |_, _, _| {}),
        ("another page", true, |disk, band, page| {
            let other = if page == 0 { 4300 } else { 20 };
            world::write(disk, band, other, b"other");
        }),
        ("a bit", false, |disk, band, page| {
            let bit = (page * PAGE as u64 + 500) * 8;
            disk.flip_bit(&live_path().join(band), bit).expect("there");
        }),
        ("a link", false, |disk, band, _| {
            disk.remove(&live_path().join(band)).expect("removed");
            disk.make_symlink(&live_path().join(band)).expect("made");
        }),
        ("cut", false, |disk, band, page| {
            let file = disk.open(&live_path().join(band), Access::Write);
            file.and_then(|file| file.set_len(page * PAGE as u64 + 400))
                .expect("cut");
        }),
    ];
    let options = Options {
        segment_bytes: 1 << 20,
        skip_proven_syncs: true,
    };
    for (change, heals, act) in changes {
        for in_base in [false, true] {
            let what = format!("{change}, in the base: {in_base}");
            let (disk, reported) = small(options);
            let (path, bit, band, page) = if in_base {
                (root().join("base/b.0000000000000001"), 4500 * 8, "b", 1)
            } else {
                let (path, begin) = records(&disk).last().expect("six").clone();
                (path, (begin + PAGE + 2000) as u64 * 8, "a", 0)
            };
            disk.flip_bit(&path, bit).expect("there");
            act(&disk, band, page);
            let left = disk.after_kill();
            match repaired(&disk) {
                Ok(repaired) if heals => {
                    assert_eq!(repaired.kept.len(), reported.len(), "{what}");
                    assert!(repaired.damage.lost.is_empty(), "{what}");
                    let said = repaired.damage.findings.join("; ");
                    assert!(said.contains("and live has"), "{what}: {said}");
                    repair(&left, &reported, &reported, &what);
                }
                Ok(repaired) => {
                    assert!(!in_base, "{what}");
                    let lost = repaired.damage.lost;
                    let lost: Vec<_> = lost.iter().map(|it| it.name.as_deref()).collect();
                    assert_eq!(lost, [Some("cp6")], "{what}");
                    assert_eq!(repaired.kept.len(), reported.len() - 1, "{what}");
                }
                Err(error) => {
                    assert!(in_base && !heals, "{what}: {error}");
                    assert_eq!(error.kind(), Failure::Damaged, "{what}: {error}");
                }
            }
        }
    }
}

#[test]
fn only_gc_removes_files_that_a_repair_moved_aside() {
    let (disk, reported) = small(OPTIONS);
    let segments = files(&disk)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|it| it == "log"));
    let segments: Vec<_> = segments.collect();
    disk.flip_bit(&segments[0], 30 * 8).expect("there");
    repair(&disk, &reported, &reported, "a head");
    let aside = root().join("damaged");
    assert_eq!(disk.list(&aside).expect("made").len(), segments.len());
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("sound");
    store.fold().expect("folded");
    assert_eq!(disk.list(&aside).expect("made").len(), segments.len());
    store.gc().expect("swept");
    assert_eq!(disk.list(&aside).expect("made").len(), 0);
}

#[test]
fn a_store_can_be_read_where_nothing_can_be_written() {
    let (disk, reported) = small(OPTIONS);
    for disk in [disk.after_kill(), disk.after_power_loss(3)] {
        disk.fail(Fault {
            at: 0,
            count: u64::MAX,
            kind: ErrorKind::ReadOnlyFilesystem,
        });
        assert_eq!(look(&disk, &reported, "read only"), reported);
        let mut reader =
            Store::open_read_only(Arc::new(disk.clone()), &live_path()).expect("opened");
        let mut archive = Vec::new();
        assert_eq!(reader.export("cp3", &mut archive).expect("kept").bands, 3);
        assert_eq!(reader.diff("first", "cp6").expect("kept").len(), 3);
        reader.look_at_live().expect("there");
        assert_eq!(reader.status().expect("readable").checkpoints, 7);
        let other = Store::open_read_only(Arc::new(disk.clone()), &live_path());
        other.expect("readers keep no readers out");
        let refused = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect_err("held");
        assert_eq!(refused.kind(), Failure::Locked);
    }
}
