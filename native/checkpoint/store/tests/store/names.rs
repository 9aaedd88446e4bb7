//! Files that appear, vanish and are renamed while a checkpoint looks.

use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use paceline_checkpoint::disk::{Access, Disk, DiskFile, Entry, FakeDisk, Moment, Stamp};
use paceline_checkpoint::{Store, Written};

use crate::world::{OPTIONS, ids, kept, live_path, read_live, write};

fn make(disk: &FakeDisk, band: &str) {
    let file = disk
        .open(&live_path().join(band), Access::Create)
        .expect("made");
    file.write_at(&vec![band.as_bytes()[0]; 40_000], 0)
        .expect("written");
}
fn later(disk: &FakeDisk) {
    disk.advance(10_000_000);
}
fn ready(exact: bool) -> FakeDisk {
    let disk = FakeDisk::default();
    if exact {
        disk.say_stamps_are_exact();
    }
    disk.make_dir(&live_path()).expect("made");
    for name in ["a", "b", "c", "d"] {
        make(&disk, name);
    }
    disk.advance(1_000_000_000);
    disk
}

/// A band appears, a second and a third are written to, and the band vanishes: the state with the
/// second write and without the band never existed.
fn come_and_go(exact: bool) {
    let mut bad = Vec::new();
    let mut moments = 0;
    for other in ["a", "d"] {
        for gap in 1..22 {
            for moment in 1.. {
                let disk = ready(exact);
                let mut store = Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first")
                    .expect("new");
                disk.advance(1_000_000_000);
                let states = Arc::new(Mutex::new(vec![]));
                let note = |states: &Arc<Mutex<Vec<_>>>, disk: &FakeDisk| {
                    states.lock().expect("whole").push(ids(&read_live(disk)));
                };
                disk.remove(&live_path().join("b")).expect("removed");
                write(&disk, "c", 20_000, b"changed");
                disk.advance(1_000_000_000);
                note(&states, &disk);
                let seen = Arc::clone(&states);
                disk.meanwhile(moment, move |disk| {
                    later(disk);
                    make(disk, "b");
                    note(&seen, disk);
                    later(disk);
                    write(disk, "c", 30_000, b"with b");
                    note(&seen, disk);
                    later(disk);
                    disk.meanwhile(gap, move |disk| {
                        later(disk);
                        write(disk, other, 1_000, b"after");
                        note(&seen, disk);
                        later(disk);
                        disk.remove(&live_path().join("b")).expect("removed");
                        note(&seen, disk);
                        later(disk);
                    });
                });
                let taken = store.checkpoint_observed("second");
                let missed = disk.is_meanwhile_due() && states.lock().expect("whole").len() == 1;
                disk.meanwhile(u64::MAX, |_| ());
                if missed {
                    break;
                }
                moments += 1;
                if taken.is_err() {
                    continue;
                }
                let second = kept(&store, "second");
                if !states.lock().expect("whole").contains(&second) {
                    bad.push((other, gap, moment));
                }
            }
        }
    }
    assert!(
        bad.is_empty(),
        "{} of {moments} (other, gap, moment): {bad:?}",
        bad.len()
    );
}

#[test]
fn a_band_that_comes_and_goes_causes_no_state_that_never_existed() {
    come_and_go(true);
}
#[test]
fn a_band_that_comes_and_goes_is_handled_where_stamps_advance_in_ticks() {
    come_and_go(false);
}

/// A disk whose listing takes time: during a given listing a band is renamed, so that it shows
/// under neither name.
#[derive(Debug, Clone)]
struct Scanned(FakeDisk, Arc<AtomicUsize>);

impl Disk for Scanned {
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        self.0.open(path, access)
    }
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.0.stamp(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = self.0.list(dir)?;
        if dir == live_path() && self.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            // The listing has passed `q` and not reached `p` when the band is renamed.
            later(&self.0);
            self.0.rename(&dir.join("p"), &dir.join("q"))?;
            later(&self.0);
            entries.retain(|entry| entry.name != "p");
        }
        Ok(entries)
    }
    fn make_dir(&self, path: &Path) -> io::Result<()> {
        self.0.make_dir(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.0.exchange(a, b)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.link(from, to)
    }
    fn clone_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.clone_file(from, to)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.sync_dir(dir)
    }
    fn sync_beneath(&self, path: &Path) -> io::Result<()> {
        self.0.sync_beneath(path)
    }
    fn stamps_are_exact(&self, dir: &Path) -> bool {
        self.0.stamps_are_exact(dir)
    }
    fn stamps_show_mappings(&self, dir: &Path) -> bool {
        self.0.stamps_show_mappings(dir)
    }
    fn stamps_show_writes(&self) -> bool {
        self.0.stamps_show_writes()
    }
    fn names_alias(&self) -> bool {
        self.0.names_alias()
    }
    fn now(&self) -> Moment {
        self.0.now()
    }
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.0.lock(path)
    }

    fn lock_to_read(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.0.lock_to_read(path)
    }
}

/// A new band is renamed in the `nth` listing; another band is written to later.
fn torn(exact: bool, nth: usize, marked: bool) {
    let disk = ready(exact);
    let due = Arc::new(AtomicUsize::new(1 << 40));
    let scanned = Scanned(disk.clone(), Arc::clone(&due));
    let mut store = Store::init(Arc::new(scanned), &live_path(), OPTIONS, "first").expect("new");
    disk.advance(1_000_000_000);
    let mut states = vec![ids(&read_live(&disk))];
    make(&disk, "p");
    states.push(ids(&read_live(&disk)));
    disk.advance(1_000_000_000);
    write(&disk, "c", 20_000, b"p was there before");
    states.push(ids(&read_live(&disk)));
    disk.advance(1_000_000_000);
    if marked {
        store.mark_dirty("c", 20_000, 16).expect("said");
    }
    due.store(nth, Ordering::SeqCst);
    store.checkpoint_observed("second").expect("taken");
    states.push(ids(&read_live(&disk)));
    let second = kept(&store, "second");
    assert!(
        states.contains(&second),
        "never had: {:?}",
        second.iter().map(|it| &it.0).collect::<Vec<_>>()
    );
}
#[test]
fn a_listing_that_misses_a_renamed_band_is_repeated() {
    for exact in [true, false] {
        torn(exact, 2, false);
        torn(exact, 1, true);
    }
}

#[test]
fn reports_before_a_panic_hide_no_band_from_a_look() {
    let disk = ready(false);
    Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first")
        .expect("new")
        .save_index();
    disk.advance(1_000_000_000);
    write(&disk, "a", 100, b"said");
    disk.advance(1_000_000_000);
    let mut store = Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("open");
    disk.meanwhile(3, |_| panic!("a step of it"));
    let written = [Written {
        band: "a".to_owned(),
        range: Some((100, 4)),
    }];
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.checkpoint_marked("second", &written)
    }))
    .expect_err("it panics");
    write(&disk, "a", 30_000, b"another");
    disk.advance(1_000_000_000);
    store.look_at_live().expect("looked");
    store.checkpoint("third").expect("taken");
    assert_eq!(kept(&store, "third"), ids(&read_live(&disk)));
}

/// The same as [`come_and_go`] where nothing shows the change: within one tick, or on a disk like
/// Windows. Another name appeared and vanished just before, so the directory's stamp is young.
fn come_and_go_hidden(windows: bool) {
    let (mut moments, mut bad) = (0, Vec::new());
    for (other, gap) in ["a", "c"]
        .into_iter()
        .flat_map(|other| (1..22).map(move |gap| (other, gap)))
    {
        for moment in 1.. {
            let disk = ready(false);
            if windows {
                disk.be_as_on_windows();
            }
            disk.remove(&live_path().join("b")).expect("removed");
            let mut store =
                Store::init(Arc::new(disk.clone()), &live_path(), OPTIONS, "first").expect("new");
            disk.advance(1_000_000_000);
            make(&disk, "z");
            disk.remove(&live_path().join("z")).expect("removed");
            write(&disk, "c", 20_000, b"changed");
            let states = Arc::new(Mutex::new(vec![ids(&read_live(&disk))]));
            let note = |states: &Arc<Mutex<Vec<_>>>, disk: &FakeDisk| {
                states.lock().expect("whole").push(ids(&read_live(disk)));
            };
            let seen = Arc::clone(&states);
            disk.meanwhile(moment, move |disk| {
                make(disk, "b");
                note(&seen, disk);
                write(disk, "c", 30_000, b"with b");
                note(&seen, disk);
                disk.meanwhile(gap, move |disk| {
                    write(disk, other, 1_000, b"after");
                    note(&seen, disk);
                    disk.remove(&live_path().join("b")).expect("removed");
                    note(&seen, disk);
                });
            });
            let taken = store.checkpoint_observed("second");
            if disk.is_meanwhile_due() && states.lock().expect("whole").len() == 1 {
                break;
            }
            disk.meanwhile(u64::MAX, |_| ());
            moments += 1;
            if taken.is_ok()
                && !states
                    .lock()
                    .expect("whole")
                    .contains(&kept(&store, "second"))
            {
                bad.push((other, gap, moment));
            }
        }
    }
    assert!(
        bad.is_empty() && moments > 500,
        "{} of {moments} (other, gap, moment): {bad:?}",
        bad.len()
    );
}

#[test]
fn a_band_that_comes_and_goes_within_a_tick_is_handled() {
    come_and_go_hidden(false);
}

#[test]
fn a_band_that_comes_and_goes_is_handled_on_a_disk_like_windows() {
    come_and_go_hidden(true);
}

#[test]
fn a_link_to_a_directory_is_refused_and_so_is_a_directory_without_a_name() {
    let disk = ready(true);
    let link = live_path().with_file_name("link");
    disk.make_symlink(&link).expect("made");
    let made = |live: &Path| {
        Store::init(Arc::new(disk.clone()), live, OPTIONS, "first").expect_err("refused")
    };
    assert!(
        made(&link)
            .to_string()
            .contains("name the directory itself"),
        "{}",
        made(&link)
    );
    assert!(
        made(&live_path().join(".."))
            .to_string()
            .contains("../bands"),
        "{}",
        made(Path::new("."))
    );
    assert_eq!(
        disk.list(&live_path()).expect("listed").len(),
        4,
        "nothing is left"
    );
    let slash = live_path().join("");
    Store::init(Arc::new(disk.clone()), &slash, OPTIONS, "first")
        .expect("a slash at the end is no other name");
    assert_eq!(
        disk.list(&live_path()).expect("listed").len(),
        4,
        "the store lies beside it"
    );
    drop(Store::open(Arc::new(disk.clone()), &live_path(), OPTIONS).expect("found"));
    let refused = Store::open(Arc::new(disk.clone()), &link, OPTIONS).expect_err("refused");
    assert_eq!(refused.kind(), paceline_checkpoint::ErrorKind::Refused);
}
