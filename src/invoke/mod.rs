//! Calling the backend: arguments to request, request to outcome.
//!
//! Owns: composing and checking a request from a template, sending it under a deadline, reading the
//! answer under a budget, mapping it to an [`Outcome`], the leak filter (the only maker of [`Filtered`]
//! out of backend text). Must never consult visibility.

mod backends;
mod compose;
mod count;
mod invoker;
mod leak;
mod map;
mod media;
mod meter;
mod outcome;

pub use crate::http::Request;
pub use compose::{Identity, Limits, compose, compose_checked, compose_for};
pub use invoker::{Invoker, Settings};
pub use leak::{Part, filter};
pub use outcome::{
    Answer, AnswerBody, ArgumentError, ArgumentFault, Failure, FailureKind, FieldError, Filtered,
    Outcome, Oversize, Shape,
};
