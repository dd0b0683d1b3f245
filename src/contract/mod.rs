//! What may leave: cards, pages, envelopes, refusals, the code table, and the one door.
//!
//! Owns: every shape an agent reads in a tool result. Must never call anything: it renders what it is
//! given, and only what `access` made [`crate::access::Visible`] or `invoke` made
//! [`crate::invoke::Filtered`].

mod code;
mod door;
mod envelope;
mod narrowing;
mod page;

pub use code::Code;
pub use door::{Budget, BudgetTooSmall, ToolResult, emit};
pub use envelope::{Envelope, ErrorEnvelope};
pub use narrowing::narrowing_arguments;
pub use page::{Results, SearchPage, definition_object};
