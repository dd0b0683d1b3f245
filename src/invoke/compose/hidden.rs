//! Values that are not the agent's to give: constants of the operator, and parts of the caller's identity.
//!
//! Owns: filling them in before composition, and keeping their names out of what the agent is told. Must never
//! let a call go out without a value that the operator asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::catalog::{HiddenValue, RequestTemplate};
use crate::invoke::{ArgumentError, ArgumentFault};

/// What is known of whoever calls, as far as calls may use it. The anonymous caller has nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The claims of a verified token.
    pub claims: Map<String, Value>,
    /// Headers of the caller's request, by their names in lower case.
    pub headers: BTreeMap<String, String>,
}

/// The caller's arguments with all that is filled in.
pub(super) fn fill<'a>(
    template: &RequestTemplate,
    arguments: &'a Map<String, Value>,
    identity: &Identity,
) -> Result<Cow<'a, Map<String, Value>>, ArgumentError> {
    if template.hidden.is_empty() {
        return Ok(Cow::Borrowed(arguments));
    }
    let mut filled = arguments.clone();
    for hidden in &template.hidden {
        let value = match &hidden.value {
            HiddenValue::Constant(value) => value.clone(),
            HiddenValue::Claim(name) => match identity.claims.get(name) {
                None | Some(Value::Null) => return Err(unknown_caller()),
                Some(value) => value.clone(),
            },
            HiddenValue::Header(name) => {
                let value = identity.headers.get(&name.to_ascii_lowercase());
                Value::String(value.ok_or_else(unknown_caller)?.clone())
            }
            HiddenValue::Nothing => continue,
        };
        filled.insert(hidden.argument.clone(), value);
    }
    Ok(Cow::Owned(filled))
}

fn unknown_caller() -> ArgumentError {
    ArgumentError {
        fault: ArgumentFault::DeferredValueMissing,
        message: "this tool sends a value of the caller's identity, and this caller's has none; call it with an \
                  identity that has one, or ask its operator"
            .to_owned(),
        fields: Vec::new(),
    }
}

/// An error about a hidden argument in words that do not name it.
pub(super) fn masked(template: &RequestTemplate, error: ArgumentError) -> ArgumentError {
    // A name that is not known is the caller's own word, whatever it is.
    let is_own = error.fault == ArgumentFault::UnknownArgument;
    let is_about = |name: &str| {
        error.fields.iter().any(|(field, _)| {
            field
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let names_hidden = template.hidden.iter().any(|hidden| {
        is_about(&hidden.argument) || error.message.contains(&format!("`{}`", hidden.argument))
    });
    if names_hidden && !is_own {
        ArgumentError {
            fault: ArgumentFault::DeferredValueInvalid,
            message: "a value that this tool's operator sets cannot be written into the request; tell its operator"
                .to_owned(),
            fields: Vec::new(),
        }
    } else {
        error
    }
}
