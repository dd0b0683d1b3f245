//! The three verbs: search, load, invoke.
//!
//! Owns: the published meta-tools, checking and clamping their arguments, the generations they answer
//! from, and the [`Surface`] a transport publishes. Must never know JSON-RPC.

mod arguments;
mod generations;
mod invoke_tool;
mod load_tool;
mod meta_tools;
mod published;
mod ranking;
mod search_tools;
mod surface;

pub use generations::{Generation, Generations};
pub use meta_tools::{MetaTools, Settings};
pub use surface::{InvalidCursor, Listing, Surface, UnknownTool};
