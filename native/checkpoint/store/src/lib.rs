//! Checkpoints of a directory of band files by one append and one sync; rollback, verify, fold.
//!
//! Read the README beside this crate first (vocabulary, layout, invariants D1 to D17), then
//! [`store`](Store), `band`, `log`, `walk`, `history`. Looking back: `audit`, `restore`, `swap`,
//! `forget`, `fold`, `compact`. Damaged stores: `read_only`, `survey`, `heal`, `repair`. Archives:
//! `archive`, `unpack`, `import`, `adopt`. Finding changes: `observe`, `mapped`, `marked`, `watch`. Concurrent
//! work: `beside`, `capture`, `work`, `background`. The operating system is behind [`disk::Disk`].
//!
//! The crate starts no thread unless it is asked to, and never retries a failed sync.

mod adopt;
mod archive;
mod attributes;
mod audit;
mod background;
mod band;
mod beside;
mod bytes;
mod capture;
mod compact;
mod create;
pub mod disk;
mod error;
mod fold;
mod forget;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzed;
mod heal;
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
mod rebuild;
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
pub use compact::Compacted;
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
