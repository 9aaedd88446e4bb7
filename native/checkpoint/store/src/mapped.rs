//! Checkpoints of bands that others write through memory mappings.
//!
//! ```text
//! stamps ─▶ write the bands back ─▶ read ─▶ the same stamps?
//! ```
//! A store into a mapped page changes the file's times only when the page is clean: the kernel
//! protects a page when it writes it back, and the next store traps. So bands are written back
//! *between* taking the stamp and reading: an unchanged stamp afterwards proves that no page was
//! written meanwhile (D11). Whether the filesystem behaves like this is tested
//! ([`Disk::stamps_show_mappings`]; memory filesystems do not); where it does not, every band is
//! read twice with equal results.
//!
//! [`Disk::stamps_show_mappings`]: crate::disk::Disk::stamps_show_mappings

use crate::band::Band;
use crate::disk::Kind;
use crate::error::{Doing, Result};
use crate::observe::Look;
use crate::store::{Store, Taken};

/// How a look finds stores through mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// Not at all: the caller says that there are none.
    Ignored,
    /// Stamps show them once a band was written back.
    Shown,
    /// Nothing shows them, or no stamp shows any write reliably
    /// ([`Disk::stamps_show_writes`](crate::disk::Disk::stamps_show_writes)).
    Hidden,
}

impl Mapped {
    /// Returns whether an unchanged stamp proves that the band did not change.
    pub(crate) fn trusts(self, band: &Band) -> bool {
        match self {
            Self::Ignored => true,
            Self::Shown => band.settled,
            Self::Hidden => false,
        }
    }
}

impl Store {
    /// Like [`Store::checkpoint_observed`], for bands that somebody writes through a mapping.
    /// Changed bands are read again; where the filesystem cannot tell, all bands are read twice.
    ///
    /// # Errors
    /// As [`Store::checkpoint_observed`].
    pub fn checkpoint_mapped(&mut self, name: &str) -> Result<Taken> {
        let always = self.mapped;
        let shown = always != Mapped::Hidden && self.disk.stamps_show_mappings(&self.root);
        self.mapped = if shown { Mapped::Shown } else { Mapped::Hidden };
        let taken = self.checkpoint_observed(name);
        self.mapped = always;
        taken
    }

    /// Waits for writes that began before the stamps were taken, because their bytes arrive without
    /// another stamp. Writes mapped pages back.
    pub(crate) fn settle(&mut self, stamped: &Look) -> Result<()> {
        for (name, _) in stamped.iter().filter(|(_, stamp)| stamp.kind == Kind::File) {
            let written_back = self.mapped == Mapped::Shown;
            let file = self.file(name, false)?;
            file.await_writes();
            if written_back {
                file.sync_data()
                    .doing("writing back", &self.live.join(name))?;
            }
        }
        Ok(())
    }
}
