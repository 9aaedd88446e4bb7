//! The store's own tests: against a model, under crashes and faults, and beside a writer nobody tells about.

mod aged;
mod archive;
mod back;
mod beside;
mod crash;
mod disk;
mod looks;
mod many;
mod mapped;
mod marked;
mod meanwhile;
mod model;
mod mutated;
mod names;
mod observed;
mod outgrown;
mod reopened;
mod spare;
mod steps;
mod watched;
mod work;
mod world;
