//! Checkpoints of a directory of band files by one append and one sync; rollback, verify, fold.
//!
//! It is the product that the suite `checkpoint` measures. Read in this order: the README beside this crate
//! (vocabulary, layout, invariants D1 to D16), [`store`](Store), `band`, `log`, `walk`, `history`; what looks
//! back: `audit`, `restore`, `swap`, `forget`, `fold`; what a damaged store needs: `read_only`, `survey`,
//! `repair`; what leaves and comes in: `archive`, `unpack`, `import`, `adopt`; who looks out: `observe`,
//! `mapped`, `marked`, `watch`; what goes on beside: `beside`, `capture`, `work`, `background`. The operating
//! system is behind [`disk::Disk`].
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
mod read_only;
#[cfg(test)]
mod reader;
mod record;
mod repair;
mod restore;
mod segment;
mod store;
mod survey;
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
pub use read_only::StoreReader;
pub use record::BandState;
pub use repair::Repaired;
pub use store::{Options, Store, Taken, store_path};
pub use survey::{Damage, Lost};
pub use watch::Watcher;
pub use work::{Job, Priority, Waiting};
