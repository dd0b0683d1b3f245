//! Values that are not the agent's to give: constants of the operator, and parts of the caller's identity.
//!
//! Owns: filling them in before composition, and keeping their names out of what the agent is told. Must never
//! let a call go out without a value that the operator asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fault::uncomposable;
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
    uncomposable(
        "it sends a value of the caller's identity, and this caller's has none; call it with an identity that \
         has one, or ask its operator",
    )
}

/// An error about a hidden argument in words that do not name it.
pub(super) fn masked(template: &RequestTemplate, error: ArgumentError) -> ArgumentError {
    // A name that is not known is the caller's own word, whatever it is.
    let is_own = error.fault == ArgumentFault::UnknownArgument;
    let names_hidden = template
        .hidden
        .iter()
        .any(|hidden| error.message.contains(&format!("`{}`", hidden.argument)));
    if names_hidden && !is_own {
        uncomposable("a value that its operator sets cannot be written into the request")
    } else {
        error
    }
}

/// Whether a further member of an open body would set, to a lenient reader, what a hidden argument sets: the
/// same name in another case, or a part of it in brackets or behind a dot.
pub(super) fn is_reserved(template: &RequestTemplate, member: &str) -> bool {
    if template.hidden.is_empty() {
        return false;
    }
    let end = member.find(['[', '.']).unwrap_or(member.len());
    let (whole, stem) = (member.to_lowercase(), member[..end].to_lowercase());
    let is_it = |name: &str| {
        let name = name.to_lowercase();
        name == whole || name == stem
    };
    template.is_hidden(member)
        || template
            .named()
            .any(|(argument, name)| template.is_hidden(argument) && is_it(name))
}
