//! Pages of search results: cards or definitions.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::access::Visible;
use crate::catalog::Definition;
use crate::index::StoredCard;

/// One page of search results.
#[derive(Debug)]
pub struct SearchPage<'a> {
    /// How many operations the caller may see.
    pub total: u64,
    /// The folded tags of those operations.
    pub tags: Option<Vec<&'a str>>,
    /// The results, best first.
    pub results: Results,
}

/// The results of a page.
#[derive(Debug)]
pub enum Results {
    /// Compact cards.
    Cards(Vec<Visible<StoredCard>>),
    /// Whole definitions, each with its version.
    Definitions(Vec<Visible<(Definition, String)>>),
}

impl Results {
    /// How many results.
    pub fn len(&self) -> usize {
        match self {
            Self::Cards(cards) => cards.len(),
            Self::Definitions(definitions) => definitions.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl SearchPage<'_> {
    /// `{"total", "tags"?, "results"}`.
    pub(super) fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.results.len() * 400 + 64);
        // Writing into a String cannot fail.
        let _ = write!(json, "{{\"total\":{}", self.total);
        if let Some(tags) = &self.tags {
            let tags: Value = tags.iter().copied().collect();
            let _ = write!(json, ",\"tags\":{tags}");
        }
        json.push_str(",\"results\":[");
        match &self.results {
            Results::Cards(cards) => {
                for (index, card) in cards.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    write_card(card, &mut json);
                }
            }
            Results::Definitions(definitions) => {
                for (index, definition) in definitions.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    let _ = write!(json, "{}", Value::Object(definition_object(definition)));
                }
            }
        }
        json.push_str("]}");
        json
    }
}

/// The card was rendered when the generation was built; only what depends on the caller is added.
fn write_card(card: &Visible<StoredCard>, json: &mut String) {
    let stored = String::from_utf8_lossy(card.get().json());
    match stored.strip_suffix('}') {
        Some(open) if card.auth_uncertain() => {
            json.push_str(open);
            json.push_str(",\"authUncertain\":true}");
        }
        _ => json.push_str(&stored),
    }
}

/// `{"name", "description", "inputSchema", "outputSchema"?, "annotations", "deprecated"?,
/// "authUncertain"?, "version"}`.
pub fn definition_object(visible: &Visible<(Definition, String)>) -> Map<String, Value> {
    let (definition, version) = visible.get();
    let mut object = definition.to_object();
    if visible.auth_uncertain() {
        object.insert("authUncertain".into(), Value::Bool(true));
    }
    object.insert("version".into(), Value::String(version.clone()));
    object
}
