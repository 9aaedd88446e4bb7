//! What stands between native code and the JVM, for every cdylib of the suite.
//!
//! Place in the journey: the edge of each native method. Invariants: no panic and no Rust error crosses into
//! the JVM except as a Java exception ([`Throw`], [`guarded`]); memory of a buffer is touched only after its
//! address and capacity were read from the JVM and found to fit ([`Region`]); arrays are held without copying
//! and given back ([`Critical`]). Absent on purpose: knowledge of digests,
//! state, threads, allocation on the success path.

mod bare;
mod critical;
mod refusal;
mod region;

pub use bare::{Bare, guarded, inside};
pub use critical::Critical;
pub use refusal::{Refusal, Throw};
pub use region::{Region, refuse_overlap};
