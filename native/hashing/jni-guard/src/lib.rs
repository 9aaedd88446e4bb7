//! The border between native code and the JVM, for all cdylibs of the suite.
//!
//! No panic and no Rust error crosses it except as a Java exception ([`Throw`], [`guarded`]). A
//! buffer's memory is touched only after its address and capacity were read from the JVM and
//! checked ([`Region`]). Arrays are held without copying and released ([`Critical`]). The success
//! path allocates nothing.

mod bare;
mod critical;
mod refusal;
mod region;

pub use bare::{Bare, guarded, inside};
pub use critical::Critical;
pub use refusal::{Refusal, Throw};
pub use region::{Region, refuse_overlap};
