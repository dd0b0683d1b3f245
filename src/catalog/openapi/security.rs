//! What an operation asks of its caller, and which parameters belong to credentials.
//!
//! Owns: effective security requirements, the names security schemes use. Must never weaken a requirement
//! it cannot read: the operation is dropped instead.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::never::header_key;
use crate::catalog::document::{Document, Version};
use crate::catalog::finding::Finding;
use crate::catalog::{Carrier, DiagnosticCode, Location, SchemeUse, Security};
use crate::json::{Pointer, kind};

/// The effective requirement: the operation's own, else the document's.
pub(super) fn requirement(
    document: &Document,
    operation: &Map<String, Value>,
    at: &Pointer,
) -> Result<Security, Finding> {
    let (value, at) = match (operation.get("security"), document.value.get("security")) {
        (Some(own), _) => (own, at.join("security")),
        (None, Some(common)) => (common, Pointer::root().join("security")),
        (None, None) => return Ok(Security::default()),
    };
    let wrong = |wanted: &str, value: &Value| {
        let message = format!(
            "{wanted}, not {}; the operation would lose its guard",
            kind(value)
        );
        Finding::new(DiagnosticCode::Malformed, &at, message)
    };
    let Value::Array(list) = value else {
        return Err(wrong("security must be a list", value));
    };
    let mut alternatives = Vec::with_capacity(list.len());
    for alternative in list {
        let Value::Object(schemes) = alternative else {
            return Err(wrong(
                "an alternative of security must be an object",
                alternative,
            ));
        };
        let mut uses = Vec::with_capacity(schemes.len());
        for (scheme, scopes) in schemes {
            let listed = scopes
                .as_array()
                .and_then(|scopes| {
                    scopes
                        .iter()
                        .map(|scope| scope.as_str().map(str::to_owned))
                        .collect::<Option<Vec<_>>>()
                })
                .ok_or_else(|| wrong("the scopes of a scheme must be a list of strings", scopes))?;
            uses.push(SchemeUse {
                scheme: scheme.clone(),
                scopes: listed,
            });
        }
        alternatives.push(uses);
    }
    Ok(Security { alternatives })
}

/// The parameters that a document's security schemes are carried in.
#[derive(Debug, Default)]
pub(super) struct Carriers(HashSet<(Location, String)>);

impl Carriers {
    /// Those of a document.
    pub(super) fn of(document: &Document) -> Self {
        let schemes = match document.version {
            Version::V20 => document.value.get("securityDefinitions"),
            _ => document
                .value
                .get("components")
                .and_then(|all| all.get("securitySchemes")),
        };
        let mut found = HashSet::new();
        for scheme in schemes.and_then(Value::as_object).into_iter().flatten() {
            let Ok(target) = document.resolve(scheme.1, &Pointer::root()) else {
                continue;
            };
            let member = |name: &str| target.value.get(name).and_then(Value::as_str);
            let (Some("apiKey"), Some(name)) = (member("type"), member("name")) else {
                continue;
            };
            let location = match member("in") {
                Some("query") => Location::Query,
                Some("header") => Location::Header,
                Some("cookie") => Location::Cookie,
                _ => continue,
            };
            found.insert(spelled(location, name));
        }
        Self(found)
    }

    /// Those that keys out of values could set: of the query and of cookies, in the order of their names.
    pub(super) fn settable(&self) -> Vec<Carrier> {
        let settable = |location: &Location| matches!(location, Location::Query | Location::Cookie);
        let mut all: Vec<Carrier> = self
            .0
            .iter()
            .filter(|(location, _)| settable(location))
            .map(|(location, name)| Carrier {
                location: *location,
                name: name.clone(),
            })
            .collect();
        all.sort_by(|a, b| {
            let key = |one: &Carrier| (one.location == Location::Cookie, one.name.clone());
            key(a).cmp(&key(b))
        });
        all
    }

    /// Whether a parameter carries a credential.
    pub(super) fn has(&self, location: Location, name: &str) -> bool {
        self.0.contains(&spelled(location, name))
    }
}

/// Header names are compared as backends may read them.
fn spelled(location: Location, name: &str) -> (Location, String) {
    match location {
        Location::Header => (location, header_key(name)),
        _ => (location, name.to_owned()),
    }
}
