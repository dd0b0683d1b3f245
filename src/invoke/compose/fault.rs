//! The errors of composition and their sentences. Must never hold a value, only names and rules.

use crate::invoke::{ArgumentError, ArgumentFault};

/// An error about one argument: the sentence is `` `name` `` and what is wrong with it.
pub(super) fn about(fault: ArgumentFault, argument: &str, problem: &str) -> ArgumentError {
    ArgumentError {
        fault,
        message: format!("`{argument}` {problem}"),
        fields: vec![(argument.to_owned(), problem.to_owned())],
    }
}

/// The operation itself cannot be called, whatever the arguments.
pub(super) fn uncomposable(reason: &str) -> ArgumentError {
    ArgumentError {
        fault: ArgumentFault::NotInvocable,
        message: format!("this tool cannot be called: {reason}"),
        fields: Vec::new(),
    }
}

pub(super) fn null_not_allowed(argument: &str) -> ArgumentError {
    about(
        ArgumentFault::NullNotAllowed,
        argument,
        "cannot be null; leave it out or give a value",
    )
}

pub(super) fn too_long(bytes_max: usize) -> ArgumentError {
    ArgumentError {
        fault: ArgumentFault::InvalidType,
        message: format!(
            "the URL of this call would be over {bytes_max} bytes; send fewer or shorter values"
        ),
        fields: Vec::new(),
    }
}
