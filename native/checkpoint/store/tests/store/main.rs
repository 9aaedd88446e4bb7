//! The store's own tests: against a model, under crashes and faults, and beside a writer nobody tells about.

mod crash;
mod disk;
mod model;
mod observed;
mod world;
