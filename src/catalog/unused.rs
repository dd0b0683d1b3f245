//! The operator's settings that matched nothing, each told with its own words.
//!
//! Owns: the settings for all documents, and settings of documents that are not there; what is unused in one
//! document is told where it is read. Must never cost anything: a setting without effect is a warning.

use super::finding::Finding;
use super::openapi::Matched;
use super::sources::Item;
use super::{Diagnostic, DiagnosticCode, ReadOptions, Severity};

/// Settings of documents that are not there, and keys for what is not one document.
pub(super) fn documents(
    options: &ReadOptions,
    sources: &[String],
    items: &[Item],
) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for one in &options.documents {
        let is_document = items.iter().any(|item| item.label == one.source);
        if !is_document && !sources.contains(&one.source) {
            told.push(format!(
                "settings are given for {:?}, which is no source and no document of one",
                one.source
            ));
        } else if one.key.is_some() && !is_document {
            told.push(format!(
                "a key is given for {:?}, which is not one document; give each document its own",
                one.source
            ));
        }
    }
    told.into_iter().map(|one| unused(options, one)).collect()
}

/// Settings for all documents that matched nothing in any.
pub(super) fn for_all(options: &ReadOptions, matched: &Matched) -> Vec<Diagnostic> {
    let rules = options.selection.iter().enumerate();
    let rules = rules
        .filter(|(index, _)| !matched.rules.contains(index))
        .map(|(_, rule)| {
            format!(
                "the selection rule `{}` matches no operation of any document",
                rule.shown()
            )
        });
    let names = options.names.iter().enumerate();
    let names = names
        .filter(|(index, _)| !matched.names.contains(index))
        .map(|(_, one)| {
            let (method, route) = (&one.method, &one.route);
            format!(
                "the name {:?} is given to {method} {route}, which no document has",
                one.name
            )
        });
    rules.chain(names).map(|one| unused(options, one)).collect()
}

/// Settings of a JSON Lines catalogue that it has no use for: its entries are taken as they are.
pub(super) fn for_lines(options: &ReadOptions, label: &str) -> Option<Finding> {
    let has_any = options.settings_of_label(label).any(|one| {
        one.trust.is_some()
            || !one.overlays.is_empty()
            || !one.selection.is_empty()
            || !one.operations.is_empty()
            || !one.server_variables.is_empty()
    });
    has_any.then(|| {
        Finding::of_source(
            DiagnosticCode::UnusedSetting,
            "entries of a JSON Lines catalogue are taken as they are: of the settings only key and baseUrl count",
        )
    })
}

fn unused(options: &ReadOptions, message: String) -> Diagnostic {
    let name = match options.settings_name.as_str() {
        "" => "settings",
        name => name,
    };
    Finding::of_source(DiagnosticCode::UnusedSetting, message)
        .into_diagnostic(Severity::Warning, name)
}
