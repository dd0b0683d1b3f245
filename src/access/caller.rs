//! The identity behind one request.

use std::collections::BTreeSet;

/// Whoever sent a request, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The scopes of the caller's grant; `None` when nobody told.
    pub scopes: Option<BTreeSet<String>>,
}

impl Caller {
    /// A caller of whom nothing is known: no authentication is configured.
    pub fn anonymous() -> Self {
        Self::default()
    }
}
