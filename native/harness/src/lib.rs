//! Clock, rounds, interleaving and bench stream for Rust workloads (C1: `native/protocol`).
