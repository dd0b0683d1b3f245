//! What is said of single operations beside their documents' plain words: by the operator, or by `x-sezzlee`.
//!
//! Owns: the operator's settings of documents and operations, which operations they are about, and the sum of
//! all that is said of one. Must never read a file or a document.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use url::Url;

use super::curation::{Origin, Sourced};
use super::finding::Finding;
use super::{Curations, Hide, SchemeUse, Security, SelectionRule, Variant};

/// The operator's settings of one source, or of one document below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentSettings {
    /// The source as it is named, or the document below it as diagnostics name it (the source, a slash where
    /// there is none, and the path).
    pub source: String,
    /// The document's key; only for a source that is one document.
    pub key: Option<String>,
    /// Replaces the servers of the document; http or https.
    pub base_url: Option<Url>,
    /// Values of server variables, by name; others take their defaults.
    pub server_variables: BTreeMap<String, String>,
    /// Whether what `x-sezzlee` says in the document counts as the operator's; not, where nothing is said.
    pub trust: Option<bool>,
    /// Overlay files, applied in this order before the document is read.
    pub overlays: Vec<PathBuf>,
    /// Which operations are in, beside the rules for all documents; a rule here names one more field, the
    /// document.
    pub selection: Vec<SelectionRule>,
    /// What is different about single operations.
    pub operations: Vec<OperationOverride>,
}

impl DocumentSettings {
    /// Lets more specific settings prevail: what they give replaces what is here, lists are continued.
    pub(super) fn refine(&mut self, other: &Self) {
        if other.key.is_some() {
            self.key.clone_from(&other.key);
        }
        if other.base_url.is_some() {
            self.base_url.clone_from(&other.base_url);
        }
        self.server_variables.extend(other.server_variables.clone());
        if other.trust.is_some() {
            self.trust = other.trust;
        }
        self.overlays.extend(other.overlays.iter().cloned());
        self.selection.extend(other.selection.iter().cloned());
        self.operations.extend(other.operations.iter().cloned());
    }
}

/// What the operator says of one operation, by its id or by method and route.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationOverride {
    /// The operation id as the document declares it.
    pub operation_id: Option<String>,
    /// The method, in any case.
    pub method: Option<String>,
    /// The route as the document spells it.
    pub route: Option<String>,
    /// What is said.
    pub amendment: Amendment,
}

impl OperationOverride {
    pub(super) fn is_about(&self, operation_id: Option<&str>, method: &str, route: &str) -> bool {
        let names_something = self.operation_id.is_some() || self.route.is_some();
        names_something
            && self
                .operation_id
                .as_deref()
                .is_none_or(|id| Some(id) == operation_id)
            && self
                .method
                .as_deref()
                .is_none_or(|own| own.eq_ignore_ascii_case(method))
            && self.route.as_deref().is_none_or(|own| own == route)
    }

    /// The operation, for a sentence.
    pub(super) fn shown(&self) -> String {
        let parts = [
            self.method.as_deref(),
            self.route.as_deref(),
            self.operation_id.as_deref(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// What is said of an operation. What is absent changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amendment {
    /// The tool's name, taken as it is: 1 to 128 of `[A-Za-z0-9_.-]`.
    pub name: Option<String>,
    /// The tool's description.
    pub description: Option<String>,
    /// Replaces the tags.
    pub tags: Option<Vec<String>>,
    /// More vocabulary; searched, never shown.
    pub search_terms: Vec<String>,
    /// Whether the operation is left out, whatever `x-sezzlee.ignore` says; selection rules still count.
    pub ignore: Option<bool>,
    /// Hints that hold or do not, by name.
    pub hints: BTreeMap<String, bool>,
    /// What is different about arguments.
    pub arguments: Curations,
    /// The tools the operation is published as, instead of one.
    pub variants: Vec<Variant>,
    /// Who may call.
    pub policy: Policy,
}

/// Who may call an operation, as far as the operator says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The scopes a caller needs, instead of those the document names.
    pub scopes: Option<Vec<String>>,
    /// The audience the operation is exported for. Kept; nothing reads it yet, which is told.
    pub audience: Option<String>,
    /// Whether calls wait for a person. Nothing can hold a call yet: an operation that asks for it is left out.
    pub requires_approval: Option<bool>,
}

impl Policy {
    /// The requirement of an operation whose document asks for `declared`: the schemes stay, which credentials
    /// go by, and the scopes are the operator's.
    pub(super) fn apply(&self, declared: Security) -> Security {
        let Some(scopes) = &self.scopes else {
            return declared;
        };
        if scopes.is_empty() {
            return Security::default();
        }
        if declared.alternatives.is_empty() {
            return Security::of_scopes(scopes.clone());
        }
        let own = SchemeUse {
            scheme: String::new(),
            scopes: scopes.clone(),
        };
        let alternatives = declared.alternatives.into_iter().map(|alternative| {
            let schemes = alternative.into_iter().map(|one| SchemeUse {
                scopes: Vec::new(),
                ..one
            });
            schemes.chain([own.clone()]).collect()
        });
        Security {
            alternatives: alternatives.collect(),
        }
    }
}

/// All that is said of one operation, with whose word it is where that matters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    /// The operator's name, which nothing changes.
    pub(crate) fixed_name: Option<String>,
    /// `x-sezzlee.name`.
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) search_terms: Vec<String>,
    pub(crate) ignore: bool,
    pub(crate) hints: BTreeMap<String, bool>,
    pub(crate) arguments: Sourced,
    pub(crate) variants: Vec<SourcedVariant>,
    pub(crate) policy: Policy,
    /// What could not be read although the tool depends on it.
    pub(crate) faults: Vec<(Origin, Finding)>,
}

impl Said {
    /// Whether an argument is hidden behind the constant null.
    pub(crate) fn hides_null(&self) -> bool {
        self.arguments
            .values()
            .any(|(_, one)| one.hide == Some(Hide::Constant(Value::Null)))
    }
}

/// A variant with whose it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SourcedVariant {
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) arguments: Sourced,
}

/// Curations that are all of one origin.
pub(crate) fn sourced(origin: Origin, curations: &Curations) -> Sourced {
    let each = curations.iter();
    each.map(|(name, one)| (name.clone(), (origin, one.clone())))
        .collect()
}

impl Said {
    /// Adds what the operator says: it prevails.
    pub(crate) fn amend(&mut self, by: &Amendment) {
        fn replace<T: Clone>(old: &mut Option<T>, new: Option<&T>) {
            if let Some(new) = new {
                *old = Some(new.clone());
            }
        }
        replace(&mut self.fixed_name, by.name.as_ref());
        replace(&mut self.description, by.description.as_ref());
        replace(&mut self.tags, by.tags.as_ref());
        self.search_terms.extend(by.search_terms.iter().cloned());
        self.ignore = by.ignore.unwrap_or(self.ignore);
        self.hints.extend(by.hints.clone());
        self.arguments
            .extend(sourced(Origin::Operator, &by.arguments));
        if !by.variants.is_empty() {
            let variants = by.variants.iter().map(|one| SourcedVariant {
                origin: Origin::Operator,
                name: one.name.clone(),
                description: one.description.clone(),
                arguments: sourced(Origin::Operator, &one.arguments),
            });
            self.variants = variants.collect();
        }
        replace(&mut self.policy.scopes, by.policy.scopes.as_ref());
        replace(&mut self.policy.audience, by.policy.audience.as_ref());
        replace(
            &mut self.policy.requires_approval,
            by.policy.requires_approval.as_ref(),
        );
    }

    /// What is said of one of the tools: its own words before the operation's.
    pub(crate) fn of_variant(&self, variant: &SourcedVariant) -> Self {
        let mut said = self.clone();
        said.variants.clear();
        said.fixed_name = None;
        said.name = None;
        match variant.origin {
            Origin::Operator => said.fixed_name = Some(variant.name.clone()),
            Origin::Document => said.name = Some(variant.name.clone()),
        }
        if variant.description.is_some() {
            said.description.clone_from(&variant.description);
        }
        said.arguments.extend(variant.arguments.clone());
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_refined_from_the_source_to_the_document() {
        let mut tree = DocumentSettings {
            key: Some("tree".into()),
            trust: Some(true),
            server_variables: [("a".into(), "1".into()), ("b".into(), "2".into())].into(),
            overlays: vec!["one".into()],
            ..DocumentSettings::default()
        };
        tree.refine(&DocumentSettings {
            key: Some("own".into()),
            server_variables: [("b".into(), "3".into())].into(),
            overlays: vec!["two".into()],
            ..DocumentSettings::default()
        });
        assert_eq!(tree.key.as_deref(), Some("own"));
        assert_eq!(tree.trust, Some(true));
        tree.refine(&DocumentSettings {
            trust: Some(false),
            ..DocumentSettings::default()
        });
        assert_eq!(tree.trust, Some(false), "what is given replaces");
        assert_eq!(tree.server_variables["a"], "1");
        assert_eq!(tree.server_variables["b"], "3");
        assert_eq!(tree.overlays.len(), 2);
    }

    #[test]
    fn scopes_replace_scopes_and_leave_schemes() {
        let use_of = |scheme: &str, scopes: &[&str]| SchemeUse {
            scheme: scheme.into(),
            scopes: scopes.iter().map(|&scope| scope.into()).collect(),
        };
        let declared = Security {
            alternatives: vec![vec![use_of("oauth", &["read"]), use_of("key", &[])], vec![]],
        };
        let with = |scopes: &[&str]| Policy {
            scopes: Some(scopes.iter().map(|&scope| scope.into()).collect()),
            ..Policy::default()
        };
        assert_eq!(Policy::default().apply(declared.clone()), declared);
        assert_eq!(with(&[]).apply(declared.clone()), Security::default());
        assert_eq!(
            with(&["a"]).apply(Security::default()),
            Security::of_scopes(vec!["a".into()])
        );
        let own = use_of("", &["a"]);
        assert_eq!(
            with(&["a"]).apply(declared).alternatives,
            [
                vec![use_of("oauth", &[]), use_of("key", &[]), own.clone()],
                vec![own]
            ]
        );
    }
}
