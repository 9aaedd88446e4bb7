//! An open file of the fake disk, and changes that somebody else makes to files.

use std::io;
use std::path::Path;

use super::fake::{FakeDisk, FakeFile, State, ended, position};
use super::image::{Names, Node, Write};
use super::{Attributes, DiskFile, Kind, Stamp};

impl FakeDisk {
    /// Somebody's long write begins: the stamp changes now, and the bytes arrive when somebody
    /// waits for them.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn begin_write(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut state, offset) = (self.state(), position(offset)?);
        let node = state.find(path)?;
        state.write(
            node,
            Write::Data {
                offset,
                bytes: Vec::new(),
            },
        )?;
        state.begun.push((
            node,
            Write::Data {
                offset,
                bytes: bytes.to_vec(),
            },
        ));
        Ok(())
    }

    /// It now promises no more than Windows: no exchange, writes that no stamp shows (by writers
    /// that keep the file open), only unambiguous names, no boot.
    pub fn be_as_on_windows(&self) {
        self.state().windows = true;
    }

    /// A bit of a file decays, for readers and on the disk, without a trace in any stamp.
    ///
    /// # Errors
    /// When there is no such file or bit.
    pub fn flip_bit(&self, path: &Path, bit: u64) -> io::Result<()> {
        let mut state = self.state();
        let (at, mask) = (position(bit / 8)?, 1 << (bit % 8));
        let node = state.find(path)?;
        let contents = state.contents(node)?;
        *contents
            .data
            .get_mut(at)
            .ok_or(io::ErrorKind::UnexpectedEof)? ^= mask;
        if let Some(byte) = contents.durable.get_mut(at) {
            *byte ^= mask;
        }
        Ok(())
    }

    /// Whether somebody asked, when it was empty, that this file be overwritten in place.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn is_overwritten_in_place(&self, path: &Path) -> io::Result<bool> {
        let mut state = self.state();
        let node = state.find(path)?;
        Ok(state.contents(node)?.in_place)
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// When its directory does not exist.
    pub fn make_symlink(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let (dir, name) = state.parent(path)?;
        let node = state.image.add(Node::Link);
        state.rename(Names(vec![(dir, name, Some(node))]));
        Ok(())
    }
}

impl State {
    pub(super) fn stamp(&self, number: u64) -> io::Result<Stamp> {
        let node = self
            .image
            .nodes
            .get(&number)
            .ok_or(io::ErrorKind::NotFound)?;
        let (kind, size, modified_ns, changed_ns) = match node {
            Node::File(it) => (
                Kind::File,
                it.data.len() as u64,
                it.modified_ns,
                it.changed_ns,
            ),
            Node::Dir(_) if self.windows => (Kind::Directory, 0, 0, 0),
            Node::Dir(_) => {
                let changed_ns = self
                    .image
                    .changed_ns
                    .get(&number)
                    .copied()
                    .unwrap_or_default();
                (Kind::Directory, 0, changed_ns, changed_ns)
            }
            Node::Link => (Kind::Other, 0, 0, 0),
        };
        // Zeros were possibly never written.
        let zeros = matches!(node, Node::File(it) if it.data.iter().all(|byte| *byte == 0));
        let blocks = if zeros { 0 } else { size.div_ceil(512) };
        Ok(Stamp {
            kind,
            device: 1,
            inode: number,
            size,
            modified_ns,
            changed_ns,
            blocks,
        })
    }

    pub(super) fn write(&mut self, node: u64, write: Write) -> io::Result<()> {
        let (now_ns, hidden) = (self.tick(), self.windows);
        let contents = self.contents(node)?;
        let times = (contents.modified_ns, contents.changed_ns);
        contents.write(write, now_ns);
        if hidden {
            (contents.modified_ns, contents.changed_ns) = times;
        }
        Ok(())
    }

    pub(super) fn rename(&mut self, names: Names) {
        let now_ns = self.tick();
        self.image.rename(names, now_ns);
    }

    /// A rename cannot replace a directory that is not empty.
    pub(super) fn refuse_full(&self, path: &Path) -> io::Result<()> {
        match self
            .find(path)
            .ok()
            .and_then(|node| self.image.nodes.get(&node))
        {
            Some(Node::Dir(entries)) if !entries.is_empty() => {
                Err(io::ErrorKind::DirectoryNotEmpty.into())
            }
            _ => Ok(()),
        }
    }

    /// Changes a file's inode but not its contents.
    pub(super) fn touch(&mut self, node: u64) {
        let now_ns = self.tick();
        if let Ok(contents) = self.contents(node) {
            contents.changed_ns = now_ns;
        }
    }

    /// Finishes every write to a file that has begun.
    fn end_writes(&mut self, node: u64) {
        let (ended, begun) = std::mem::take(&mut self.begun)
            .into_iter()
            .partition(|(to, _)| *to == node);
        self.begun = begun;
        let ended: Vec<(u64, Write)> = ended;
        if let Ok(contents) = self.contents(node) {
            let stamp = contents.modified_ns;
            for (_, write) in ended {
                contents.write(write, stamp);
            }
        }
    }
}

impl FakeDisk {
    /// Counts a look at a stamp, a file or a directory.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.state().looks
    }
}

impl DiskFile for FakeFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.look();
        let mut state = self.disk.state();
        let data = &state.contents(self.node)?.data;
        let from = position(offset)?.min(data.len());
        let count = buffer.len().min(data.len() - from);
        buffer[..count].copy_from_slice(&data[from..from + count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut state, offset) = (self.disk.state(), position(offset)?);
        match state.step() {
            Ok(stopped) => {
                state.write(
                    self.node,
                    Write::Data {
                        offset,
                        bytes: bytes.to_vec(),
                    },
                )?;
                ended(stopped, ())
            }
            Err(error) => {
                if !state.stopped {
                    let half = bytes[..bytes.len() / 2].to_vec(); // as when space runs out
                    state.write(
                        self.node,
                        Write::Data {
                            offset,
                            bytes: half,
                        },
                    )?;
                }
                Err(error)
            }
        }
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let stopped = state.step()?;
        state.write(self.node, Write::Len(position(bytes)?))?;
        ended(stopped, ())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        match state.step() {
            Ok(stopped) => {
                if !stopped {
                    state.contents(self.node)?.sync();
                }
                ended(stopped, ())
            }
            Err(error) => {
                if !state.stopped {
                    // The kernel marks pages as clean that it could not write, and no later sync
                    // tries them again.
                    state.contents(self.node)?.pending.clear();
                }
                Err(error)
            }
        }
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()?;
        self.disk.state().contents(self.node)?.sync_attributes();
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.disk.look();
        self.disk.state().stamp(self.node)
    }

    fn attributes(&self) -> io::Result<Option<Attributes>> {
        let mut state = self.disk.state();
        if state.windows {
            return Ok(None);
        }
        let contents = state.contents(self.node)?;
        let mut attributes = contents.attributes.clone();
        attributes.modified_ns = contents.modified_ns;
        Ok(Some(attributes))
    }

    fn overwrite_in_place(&self) {
        if let Ok(contents) = self.disk.state().contents(self.node) {
            contents.in_place |= contents.data.is_empty();
        }
    }

    fn set_attributes(&self, attributes: &Attributes) -> io::Result<()> {
        let mut state = self.disk.state();
        let stopped = state.step()?;
        if !state.windows {
            state.contents(self.node)?.attributes = attributes.clone();
            state.touch(self.node);
        }
        ended(stopped, ())
    }

    fn await_writes(&self) {
        self.disk.state().end_writes(self.node);
    }
}
