//! Pins the versions of the other allocators; there is nothing to call.
//!
//! The suite's `build.sh` lets Cargo fetch their sources and links each into a library for
//! `LD_PRELOAD` and into a program. Without a feature this crate depends on nothing, so the
//! workspace's checks do not compile C++.
