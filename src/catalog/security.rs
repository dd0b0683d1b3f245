//! What a document asks of whoever calls an operation: alternatives of schemes with scopes.

use serde::{Deserialize, Serialize};

/// Security requirements of an operation: an OR of alternatives, each an AND of schemes.
///
/// No alternatives at all: the document asks nothing. An empty alternative (`{}`): asking is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Security {
    /// The alternatives, in the document's order.
    pub alternatives: Vec<Vec<SchemeUse>>,
}

/// One scheme of one alternative.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SchemeUse {
    /// The scheme's name in the document; empty for the bare `scopes` of a JSON Lines catalogue.
    pub scheme: String,
    /// The scopes it names, in the document's order.
    pub scopes: Vec<String>,
}

impl Security {
    /// Whether the document asks nothing of the caller.
    pub fn is_open(&self) -> bool {
        self.alternatives.is_empty() || self.alternatives.iter().any(Vec::is_empty)
    }

    /// The requirement of a JSON Lines entry that lists scopes: one alternative that names them all.
    pub fn of_scopes(scopes: Vec<String>) -> Self {
        if scopes.is_empty() {
            return Self::default();
        }
        Self {
            alternatives: vec![vec![SchemeUse {
                scheme: String::new(),
                scopes,
            }]],
        }
    }
}
