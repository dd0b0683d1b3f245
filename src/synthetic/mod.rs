//! Seeded catalogues for benches and tests: realistic in shape, the same for a seed for ever.
//!
//! Owns: the generator of operations and of queries over them. What it makes is a function of the seed and
//! the position alone, so any range of a catalogue can be made without the rest. Must never be used to
//! serve, and must never draw from anything but its own seed.

mod catalogue;
mod queries;
mod random;
mod words;

pub use catalogue::Catalogue;
pub use queries::{Class, queries};
