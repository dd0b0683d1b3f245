//! What an operator may choose: the one place where every knob has its name, its default and its meaning.
//!
//! Owns: the flags, and turning them into each room's own small settings struct. Must never be imported
//! by a room it configures.

mod args;

pub use args::{
    AdminArgs, AnswerArgs, BadValue, BuildArgs, CallArgs, ListenArgs, LogArgs, NamePrefix,
    OnUnknownArg, SizeArgs, SourceArgs,
};
