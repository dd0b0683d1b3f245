//! The three verbs: search, load, invoke.
//!
//! Owns: the published meta-tools, checking and clamping their arguments, the generations they answer
//! from, and the [`Surface`] a transport publishes. Must never know JSON-RPC.

mod surface;

pub use surface::{InvalidCursor, Listing, Surface, UnknownTool};
