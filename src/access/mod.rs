//! Who is asking, and what of the catalogue is theirs to see.
//!
//! Owns: caller, grants, decisions, and the only maker of [`Visible`]. Decides from facts only: what the
//! document asks and what the caller holds. Must never decide by text or ranking.

mod caller;
mod view;

pub use caller::Caller;
pub use view::{Decision, OnUnknown, View, Visible};
