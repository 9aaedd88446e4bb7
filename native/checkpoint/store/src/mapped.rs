//! Checkpoints of bands that others write through memory mappings.
//!
//! ```text
//! stamps ─▶ write the bands back ─▶ read ─▶ the same stamps?
//! ```
//! A store into a mapped page moves the file's times only when the page is clean: the kernel
//! protects a page when it writes it back, and the next store traps. So bands are written back
//! *between* taking the stamp and reading: an unchanged stamp afterwards proves that no page was
//! written meanwhile (D11). Whether the filesystem behaves like this is tried out
//! ([`Disk::stamps_show_mappings`]; memory filesystems do not); where it does not, every band is
//! read twice with equal results.
//!
//! [`Disk::stamps_show_mappings`]: crate::disk::Disk::stamps_show_mappings

use crate::band::Band;
use crate::disk::Kind;
use crate::error::{Doing, Result};
use crate::observe::Look;
use crate::store::{Store, Taken};

/// What a look does about stores through mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// Nothing: there are none, says the caller.
    Ignored,
    /// Stamps show them once a band was written back.
    Shown,
    /// Nothing shows them; or no stamp shows any write for sure, whoever writes
    /// ([`Disk::stamps_show_writes`](crate::disk::Disk::stamps_show_writes)): then always.
    Hidden,
}

impl Mapped {
    /// Whether an unmoved stamp says that the band did not change.
    pub(crate) fn trusts(self, band: &Band) -> bool {
        match self {
            Self::Ignored => true,
            Self::Shown => band.settled,
            Self::Hidden => false,
        }
    }
}

impl Store {
    /// As [`Store::checkpoint_observed`], for bands that somebody writes through a mapping. What changed is
    /// read again; all bands are, twice, where the filesystem cannot tell.
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

    /// Waits for writes that began before the look at what is about to be read: their bytes come without
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
