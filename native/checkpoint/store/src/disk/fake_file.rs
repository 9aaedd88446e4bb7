//! An open file of the fake disk.

use std::io;

use super::fake::{FakeFile, ended, position};
use super::image::Write;
use super::{DiskFile, Stamp};

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
                state.write(self.node, Write::Data { offset, bytes: bytes.to_vec() })?;
                ended(stopped, ())
            }
            Err(error) => {
                if !state.stopped {
                    let half = bytes[..bytes.len() / 2].to_vec(); // as when space runs out
                    state.write(self.node, Write::Data { offset, bytes: half })?;
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
                    // The kernel calls pages clean that it could not write; no later sync tries them again.
                    state.contents(self.node)?.pending.clear();
                }
                Err(error)
            }
        }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        self.disk.look();
        self.disk.state().stamp(self.node)
    }
}
