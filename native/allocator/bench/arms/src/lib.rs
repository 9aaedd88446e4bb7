//! Nothing to call: this crate is where the versions of other people's allocators are pinned.
//!
//! Place in the journey: before it. `build.sh` of the suite has Cargo fetch the sources, build what has a
//! build script worth having, and links each into a library for `LD_PRELOAD` and into a program of its own.
//! Without a feature it depends on nothing, so that the workspace's checks do not build C++ for minutes.
