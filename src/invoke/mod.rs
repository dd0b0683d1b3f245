//! Calling the backend: arguments to request, request to outcome.
//!
//! Owns: composing and checking a request from a template, sending it under a deadline, reading the
//! answer under a budget, mapping it to an [`Outcome`], the leak filter (the only maker of [`Filtered`]
//! out of backend text). Must never consult visibility.

mod compose;
mod outcome;

pub use crate::http::Request;
pub use compose::{compose, compose_checked};
pub use outcome::{
    Answer, AnswerBody, ArgumentError, ArgumentFault, Failure, FailureKind, FieldError, Filtered,
    Outcome, Oversize, Shape,
};
