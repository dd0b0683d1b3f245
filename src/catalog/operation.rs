//! The operation: one method on one route of one document, with what the index and the call need.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Definition, RequestTemplate, Security};

/// One operation of the catalogue. Stored whole with a generation; only `definition` is ever shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// What an agent may read.
    pub definition: Definition,
    /// The operation's tags as declared, in order, without repeats.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Vocabulary the operator declares; searched, never shown, never a filter key.
    #[serde(default)]
    pub search_terms: Vec<String>,
    /// The route template as declared, such as `/orders/{id}`; none for a bare definition.
    #[serde(default)]
    pub route: Option<String>,
    /// Other routes of the same operation that were folded into it.
    #[serde(default)]
    pub alternate_routes: Vec<String>,
    /// Root properties that group query filters (style deepObject): their members are searchable.
    #[serde(default)]
    pub grouped_parameters: Vec<String>,
    /// What the document asks of a caller.
    #[serde(default)]
    pub security: Security,
    /// How the call is composed; none for a definition that can only be found and loaded.
    #[serde(default)]
    pub template: Option<RequestTemplate>,
}

/// The searchable texts of an operation by field, in the spelling the index tokenizes.
///
/// Every entry is tokenized on its own: texts are never joined first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchText<'a> {
    /// The tool's name.
    pub name: &'a str,
    /// The whole description.
    pub description: &'a str,
    /// Declared vocabulary.
    pub search_terms: Vec<&'a str>,
    /// Tags, tokenized like text (the facet is separate).
    pub tags: Vec<&'a str>,
    /// The route template.
    pub route: Option<&'a str>,
    /// Alternate routes.
    pub alternate_routes: Vec<&'a str>,
    /// Argument names, their descriptions, and `group.member` names with the member's description.
    pub parameters: Vec<std::borrow::Cow<'a, str>>,
}

impl Operation {
    /// The texts that are searched (search.md, "Fields and weights").
    ///
    /// An input schema may be anything at all; what is not of the expected shape contributes nothing.
    pub fn search_text(&self) -> SearchText<'_> {
        SearchText {
            name: &self.definition.name,
            description: &self.definition.description,
            search_terms: self.search_terms.iter().map(String::as_str).collect(),
            tags: self.tags.iter().map(String::as_str).collect(),
            route: self.route.as_deref(),
            alternate_routes: self.alternate_routes.iter().map(String::as_str).collect(),
            parameters: self.parameter_text(),
        }
    }

    fn parameter_text(&self) -> Vec<std::borrow::Cow<'_, str>> {
        let mut texts = Vec::new();
        let Some(Value::Object(properties)) = self.definition.input_schema.get("properties") else {
            return texts;
        };
        for (key, property) in properties {
            texts.push(key.as_str().into());
            if let Some(Value::String(description)) = property.get("description") {
                texts.push(description.as_str().into());
            }
            if !self.grouped_parameters.contains(key) {
                continue;
            }
            let Some(Value::Object(members)) = property.get("properties") else {
                continue;
            };
            for (member, schema) in members {
                texts.push(format!("{key}.{member}").into());
                if let Some(Value::String(description)) = schema.get("description") {
                    texts.push(description.as_str().into());
                }
            }
        }
        texts
    }
}
