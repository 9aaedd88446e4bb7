//! The border between native code and the JVM, for every cdylib of the suite.
//!
//! No panic and no Rust error crosses it except as a Java exception ([`Throw`], [`guarded`]). A
//! buffer's memory is touched only after its address and capacity were read from the JVM and found
//! to fit ([`Region`]). Arrays are held without copying and given back ([`Critical`]). Nothing is
//! allocated on the success path.

mod bare;
mod critical;
mod refusal;
mod region;

pub use bare::{Bare, guarded, inside};
pub use critical::Critical;
pub use refusal::{Refusal, Throw};
pub use region::{Region, refuse_overlap};
