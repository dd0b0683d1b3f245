//! What may leave: cards, pages, envelopes, refusals, the code table, and the one door.
//!
//! Owns: every shape an agent reads in a tool result. Must never call anything: it renders what it is
//! given, and only what `access` made [`crate::access::Visible`] or `invoke` made
//! [`crate::invoke::Filtered`].

mod code;
mod door;

pub use code::Code;
pub use door::ToolResult;
