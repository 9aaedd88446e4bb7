//! Checkpoints of a directory of band files by one append and one sync; rollback, verify, fold.
//!
//! Place in the journey: the product that the `checkpoint` suite measures. Read in this order: the README
//! beside this crate (vocabulary, layout, invariants D1 to D13), [`store`](Store), `band`, `log`,
//! `history`, then what looks back: `audit`, `restore`, `fold`; what leaves and comes in: `archive`,
//! `import`; who looks out: `observe`, `watch`. The operating system is behind [`disk::Disk`].
//!
//! Absent on purpose: threads of its own, retries of failed syncs, compression, encryption, a network.

mod archive;
mod audit;
mod band;
mod bytes;
mod create;
pub mod disk;
mod error;
mod fold;
mod history;
mod import;
mod index;
mod log;
mod manifest;
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
pub mod tree;
mod watch;

pub use archive::Exported;
pub use audit::{Difference, Status, Verified};
pub use bytes::hex;
pub use error::{Error, ErrorKind, Result};
pub use fold::Folded;
pub use history::Checkpoint;
pub use names::is_band;
pub use observe::Seen;
pub use record::BandState;
pub use store::{Options, Store, Taken, store_path};
pub use watch::Watcher;
