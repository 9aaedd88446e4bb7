//! Takes snapshots of a btrfs subvolume with the ioctl that the program `btrfs` uses.
//!
//! A snapshot is durable when the call returns: it writes the subvolume's data and commits.
//! Structures and numbers are those of linux/btrfs.h.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Instant;

use rustix::ioctl::{Setter, ioctl, opcode};

use crate::band_directory::{BandDirectory, equal};
use crate::scenario::Touch;
use crate::strategy::{Phases, Strategy, nanoseconds};

/// `struct btrfs_ioctl_vol_args`.
#[repr(C)]
struct SubvolumeArgs {
    fd: i64,
    name: [u8; 4088],
}

/// `struct btrfs_ioctl_vol_args_v2`.
#[repr(C)]
struct SubvolumeArgsV2 {
    fd: i64,
    transid: u64,
    flags: u64,
    unused: [u64; 4],
    name: [u8; 4040],
}

const SUBVOL_CREATE: rustix::ioctl::Opcode = opcode::write::<SubvolumeArgs>(0x94, 14);
const SNAP_CREATE_V2: rustix::ioctl::Opcode = opcode::write::<SubvolumeArgsV2>(0x94, 23);
const READ_ONLY: u64 = 1 << 1;

fn bytes<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..name.len()].copy_from_slice(name.as_bytes()); // names here have a few letters
    bytes
}

/// Makes a subvolume in a directory of btrfs.
pub(crate) fn make_subvolume(parent: &File, name: &str) -> io::Result<()> {
    let named = SubvolumeArgs {
        fd: 0,
        name: bytes(name),
    };
    // SAFETY: the opcode is that of this ioctl, which reads a structure of this layout and keeps no
    // pointer to it.
    Ok(unsafe { ioctl(parent, Setter::<SUBVOL_CREATE, SubvolumeArgs>::new(named)) }?)
}

/// Takes snapshots of the bands' subvolume.
pub(crate) struct Snapshot {
    live: File,
    into: File,
    home: PathBuf,
    taken: u64,
}

impl Snapshot {
    pub(crate) fn new(bands_dir: &BandDirectory, home: PathBuf) -> io::Result<Self> {
        let mut made = Self {
            live: File::open(bands_dir.live())?,
            into: File::open(&home)?,
            home,
            taken: 0,
        };
        made.take()?;
        Ok(made)
    }

    fn take(&mut self) -> io::Result<()> {
        self.taken += 1;
        let (fd, name) = (
            i64::from(self.live.as_raw_fd()),
            bytes(&self.taken.to_string()),
        );
        let named = SubvolumeArgsV2 {
            fd,
            transid: 0,
            flags: READ_ONLY,
            unused: [0; 4],
            name,
        };
        // SAFETY: as above; the descriptor is open during the call.
        Ok(unsafe {
            ioctl(
                &self.into,
                Setter::<SNAP_CREATE_V2, SubvolumeArgsV2>::new(named),
            )
        }?)
    }
}

impl Strategy for Snapshot {
    fn checkpoint(&mut self, _: &BandDirectory, _: &[Touch]) -> io::Result<Phases> {
        let begin = Instant::now();
        self.take()?;
        Ok(Phases {
            durable: nanoseconds(begin),
            ..Phases::default()
        })
    }

    fn holds(&self, bands_dir: &BandDirectory) -> io::Result<Option<bool>> {
        Ok(Some(equal(
            &self.home.join(self.taken.to_string()),
            bands_dir,
        )?))
    }
}
