//! The directories and filesystems in which benchmarks put their bands.
//!
//! A directory `paceline-bands-…` belongs to the process that holds its lock. The system releases
//! the lock when a process dies, so the next start removes the directories of dead processes.
//! Process ids would not do: another container has its own.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tempfile::TempDir;

use crate::volume::Volume;

const PREFIX: &str = "paceline-bands-";
/// The param's value for the given directory.
pub(crate) const HERE: &str = "here";
/// Zeros written at a time.
const PIECE: usize = 1 << 20;

/// The process's directory, made when it is first needed.
pub(crate) struct Workspace {
    parent: PathBuf,
    opened: OnceCell<(TempDir, File)>,
    /// Images that no volume uses now, by purpose.
    images: RefCell<BTreeMap<&'static str, PathBuf>>,
}

impl Workspace {
    pub(crate) fn new(parent: PathBuf) -> Rc<Self> {
        Rc::new(Self {
            parent,
            opened: OnceCell::new(),
            images: RefCell::default(),
        })
    }

    /// The process's directory. Directories of dead processes are removed first.
    pub(crate) fn root(&self) -> io::Result<&Path> {
        if self.opened.get().is_none() {
            sweep(&self.parent)?;
            let _ = self.opened.set(claim(&self.parent)?);
        }
        let opened = self
            .opened
            .get()
            .ok_or_else(|| io::Error::other("no directory"))?;
        Ok(opened.0.path())
    }

    /// A directory on the kind of filesystem that the param `filesystem` names, with space for so
    /// many bytes; or why there is none. `role` distinguishes two that exist at once.
    pub(crate) fn place(
        self: &Rc<Self>,
        kind: &str,
        role: &'static str,
        bytes: u64,
    ) -> Result<Rc<Place>, String> {
        let root = self.root().map_err(|error| error.to_string())?;
        let (mut volume, mut dir) = (None, root.to_owned());
        if kind != HERE {
            dir = root.join(role);
            crate::volume::possible(kind)?;
            let image = self.image(role, bytes);
            let image = image.map_err(|error| format!("no image of {bytes} bytes: {error}"))?;
            volume = Some((Volume::make(kind, &image, &dir)?, image));
        }
        Ok(Rc::new(Place {
            dir,
            volume,
            role,
            workspace: Rc::clone(self),
        }))
    }

    /// A file of zeros that are *written*: with a hole or a reservation, the disk below would
    /// allocate while arms are timed, and only arms that write to fresh blocks would pay.
    fn image(&self, role: &'static str, bytes: u64) -> io::Result<PathBuf> {
        let known = self.images.borrow_mut().remove(role);
        let path = known.unwrap_or(self.root()?.join(format!("{role}.image")));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)?;
        let zeros = vec![0; PIECE];
        let begun = file.metadata()?.len();
        for at in (begun..bytes).step_by(PIECE) {
            file.write_all_at(&zeros, at)?;
        }
        file.sync_all()?;
        Ok(path)
    }
}

/// The directory of a group's bands. The last user unmounts its filesystem.
pub(crate) struct Place {
    dir: PathBuf,
    volume: Option<(Volume, PathBuf)>,
    role: &'static str,
    workspace: Rc<Workspace>,
}

impl Place {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The image of its filesystem, if the suite made it.
    pub(crate) fn image(&self) -> Option<&Path> {
        self.volume.as_ref().map(|(_, image)| image.as_path())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((volume, image)) = self.volume.take() else {
            return;
        };
        if volume.end() {
            self.workspace.images.borrow_mut().insert(self.role, image);
        } else {
            // Something on it is still open: it is unmounted when that is closed, and its image
            // removed. The next image is new.
            let _ = fs::remove_file(image);
        }
    }
}

/// A directory that is locked before any process can take it for a dead one's.
fn claim(parent: &Path) -> io::Result<(TempDir, File)> {
    loop {
        let root = TempDir::with_prefix_in(PREFIX, parent)?;
        // A cleaning process may have come between: then it is gone, or about to be removed.
        let Ok(held) = File::open(root.path()) else {
            continue;
        };
        match held.try_lock() {
            Ok(()) if root.path().exists() => return Ok((root, held)),
            Err(TryLockError::Error(error)) => return Err(error), // no locks here
            Ok(()) | Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// Removes the directories of dead processes. Those of other users may stay.
fn sweep(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(held) = File::open(entry.path()) else {
            continue;
        };
        if held.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_removed_and_what_a_living_one_has_is_not() {
        let parent = TempDir::new().expect("a directory");
        let living = Workspace::new(parent.path().to_owned());
        let held = living.root().expect("a root").to_owned();
        let dead = parent.path().join("paceline-bands-dead");
        fs::create_dir_all(dead.join("bands")).expect("a directory");
        fs::create_dir(parent.path().join("another")).expect("a directory");
        let next = Workspace::new(parent.path().to_owned());
        next.root().expect("a root");
        assert!(!dead.exists() && held.exists() && parent.path().join("another").exists());
        drop((living, next));
        assert_eq!(
            fs::read_dir(parent.path()).expect("listed").count(),
            1,
            "only the other is left"
        );
    }
}
