//! Checkpoints of a directory of band files by one append and one sync; rollback, verify, fold.
//!
//! Place in the journey: the product that the `checkpoint` suite measures. Read in this order: the README
//! beside this crate (vocabulary, layout, invariants D1 to D16), [`store`](Store), `band`, `log`,
//! `history`, then what looks back: `audit`, `restore`, `swap`, `forget`,
//! `fold`; what leaves and comes in:
//! `archive`, `unpack`, `import`, `adopt`; who looks out: `observe`, `mapped`, `marked`, `watch`; what
//! goes on beside: `beside`, `capture`, `work`, `background`. The operating system is behind [`disk::Disk`].
//!
//! Absent on purpose: threads that nobody asked for, retries of failed syncs, compression, encryption, a
//! network.

mod adopt;
mod archive;
mod audit;
mod background;
mod band;
mod beside;
mod bytes;
mod capture;
mod create;
pub mod disk;
mod error;
mod fold;
mod forget;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzed;
mod history;
mod import;
mod index;
mod log;
mod manifest;
mod mapped;
mod marked;
mod names;
mod observe;
mod opening;
pub mod pages;
#[cfg(test)]
mod reader;
mod record;
mod restore;
mod segment;
mod store;
mod swap;
pub mod tree;
mod unpack;
mod walk;
mod watch;
mod work;

pub use archive::Exported;
pub use audit::{Difference, Status, Verified};
pub use background::Background;
pub use beside::Pending;
pub use bytes::hex;
pub use error::{Error, ErrorKind, Result};
pub use fold::Folded;
pub use history::Checkpoint;
pub use marked::Written;
pub use names::is_band;
pub use observe::Seen;
pub use record::BandState;
pub use store::{Options, Store, Taken, store_path};
pub use watch::Watcher;
pub use work::{Job, Priority, Waiting};
