//! One source that is a document, from its bytes to what is in it.
//!
//! Owns: loading under the size limit, the key of a source, what it costs when there is no document. Must never
//! convert an operation.

use std::io::Read;

use serde_json::Value;

use super::document::Document;
use super::external::{self, Origin};
use super::finding::Finding;
use super::openapi::{self, Plan, Settings};
use super::parse::{DOCUMENT_BYTES_MAX, Original, parse};
use super::read::unreadable;
use super::sources::{Form, Item};
use super::{
    Diagnostic, DiagnosticCode, LoadError, Loader, ReadOptions, Severity, SourceTarget, naming,
};

/// A document that was parsed.
pub(super) enum Parsed {
    /// It refers to nothing else, and what is in it is known.
    Whole(Box<Plan>, Original),
    /// It refers to files that are still to be read. With the oddities of its text.
    Referring(Box<Document>, Vec<Finding>, Original),
}

/// Loads and parses one document, and plans it when it needs nothing else.
pub(super) fn parsed(
    item: &Item,
    settings: Settings<'_>,
    loader: &dyn Loader,
) -> Result<Parsed, Diagnostic> {
    let bytes = load(item, loader)?;
    let strict_json = matches!(item.form, Form::Document { strict_json: true });
    let refused = |finding: Finding| {
        // A tree holds other files too; one that was named should have been a document.
        let severity = match finding.code {
            DiagnosticCode::NotOpenapi if item.is_found => Severity::Warning,
            _ => Severity::Dropped,
        };
        finding.into_diagnostic(severity, &item.label)
    };
    let text = parse(bytes, strict_json).map_err(refused)?;
    let title = text.value.get("info").and_then(|info| info.get("title"));
    let key = key(item, title.and_then(Value::as_str), settings.options);
    let url = match &item.target {
        SourceTarget::Url(url) => Some(url.clone()),
        SourceTarget::File(_) => None,
    };
    let document =
        Document::new(text.value, item.label.clone(), key, url).map_err(|mut finding| {
            let positions = text.original.positions(std::iter::once(&finding.at));
            finding.position = positions.first().copied().flatten();
            refused(finding)
        })?;
    if external::needs_linking(&document.value) {
        return Ok(Parsed::Referring(
            Box::new(document),
            text.warnings,
            text.original,
        ));
    }
    let plan = planned(document, text.warnings, Vec::new(), settings);
    Ok(Parsed::Whole(Box::new(plan), text.original))
}

/// Reads what a document refers to, and plans it.
pub(super) fn linked(
    item: &Item,
    mut document: Document,
    warnings: Vec<Finding>,
    settings: Settings<'_>,
    loader: &dyn Loader,
) -> Plan {
    let origin = Origin {
        target: &item.target,
        label: &item.label,
    };
    let found = external::link(&mut document, origin, settings.options, loader);
    planned(document, warnings, found, settings)
}

/// The plan of a document, with what was odd about its text and that of its files.
fn planned(
    document: Document,
    warnings: Vec<Finding>,
    linked: Vec<(Severity, Finding)>,
    settings: Settings<'_>,
) -> Plan {
    let mut plan = openapi::plan(document, settings);
    let warnings = warnings.into_iter().map(|one| (Severity::Warning, one));
    plan.findings.splice(0..0, warnings.chain(linked));
    plan
}

fn load(item: &Item, loader: &dyn Loader) -> Result<Vec<u8>, Diagnostic> {
    let mut bytes = Vec::new();
    let read = loader
        .open(&item.target, Some(DOCUMENT_BYTES_MAX))
        .and_then(|stream| {
            Ok(stream
                .take(DOCUMENT_BYTES_MAX + 1)
                .read_to_end(&mut bytes)?)
        });
    match read {
        Ok(read) if read as u64 > DOCUMENT_BYTES_MAX => {
            let bytes_max = DOCUMENT_BYTES_MAX;
            Err(unreadable(item, &LoadError::TooLarge { bytes_max }))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(unreadable(item, &error)),
    }
}

/// The key of a source: the operator's, else from its path, else from its title.
pub(super) fn key(item: &Item, title: Option<&str>, options: &ReadOptions) -> String {
    match options.keys.get(&item.label) {
        Some(key) => key.clone(),
        None => naming::key(&item.key_path, title),
    }
}
