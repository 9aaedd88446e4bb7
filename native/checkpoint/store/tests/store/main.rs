//! The store's tests: against a model, under crashes and faults, and beside unreported writers.

mod aged;
mod archive;
#[cfg(unix)] // elsewhere files have other attributes
mod attributes;
mod back;
mod beside;
mod compact;
mod crash;
mod disk;
mod looks;
mod many;
#[cfg(unix)]
// maps files by mmap; on Windows nothing is believed of mappings, so nothing is tried out
mod mapped;
mod marked;
mod meanwhile;
mod model;
mod mutated;
mod names;
mod observed;
mod outgrown;
mod reopened;
mod rot;
mod spare;
mod steps;
mod watched;
mod windows;
mod work;
mod world;
mod wrong_marks;
