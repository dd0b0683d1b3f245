//! What an operator may choose: the one place where every knob has its name, its default and its meaning.
//!
//! Owns: the flags, the configuration file, and turning them into each room's own small settings struct. Must never be imported
//! by a room it configures.

mod args;
mod file;
mod sources;

pub use args::{
    AdminArgs, AnswerArgs, BadValue, BuildArgs, CallArgs, ListenArgs, LogArgs, NamePrefix,
    OnUnknownArg, SizeArgs,
};
pub use file::{
    ConfigError, ConfigFault, ConfigFile, Configured, DefinitionSettings, DocumentEntry, EXAMPLE,
    HintSettings, NamingSettings, OperationSettings, SourceSettings, schema,
};
pub use sources::{Outbound, SourceArgs};
