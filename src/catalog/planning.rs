//! One source that is a document, from its bytes to what is in it.
//!
//! Owns: loading under the size limit, the key of a source, what it costs when there is no document. Must never
//! convert an operation.

use serde_json::Value;

use super::document::Document;
use super::external::{self, Origin};
use super::finding::Finding;
use super::openapi::{self, Plan, Settings};
use super::parse::{Original, parse};
use super::read::{bytes_of, unreadable};
use super::sources::{Form, Item};
use super::trust::Trust;
use super::{
    Diagnostic, DiagnosticCode, Loader, ReadOptions, Severity, SourceTarget, naming, overlay,
};

/// A document that was parsed.
pub(super) enum Parsed {
    /// It refers to nothing else, and what is in it is known.
    Whole(Box<Plan>, Original),
    /// It refers to files that are still to be read.
    Referring(Box<Referring>),
}

/// A document before what it refers to was read.
pub(super) struct Referring {
    document: Document,
    /// The oddities of its text.
    warnings: Vec<Finding>,
    overlay_diagnostics: Vec<Diagnostic>,
    original: Original,
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
    let own = settings.options.settings_of(&item.source, &item.label);
    let mut trust = Trust::of_document(own.trust.unwrap_or(false));
    let mut value = text.value;
    let overlay_diagnostics =
        overlay::apply_all(&own.overlays, &mut value, &mut trust, &item.label, loader)?;
    let title = value.get("info").and_then(|info| info.get("title"));
    let key = key(item, title.and_then(Value::as_str), settings.options);
    let url = match &item.target {
        SourceTarget::Url(url) => Some(url.clone()),
        SourceTarget::File(_) => None,
    };
    let mut document =
        Document::new(value, item.label.clone(), key, url).map_err(|mut finding| {
            let positions = text.original.positions(std::iter::once(&finding.at));
            finding.position = positions.first().copied().flatten();
            refused(finding)
        })?;
    document.settings = own;
    document.trust = trust;
    if external::needs_linking(&document.value) {
        return Ok(Parsed::Referring(Box::new(Referring {
            document,
            warnings: text.warnings,
            overlay_diagnostics,
            original: text.original,
        })));
    }
    let mut plan = planned(document, text.warnings, Vec::new(), settings);
    plan.overlay_diagnostics = overlay_diagnostics;
    Ok(Parsed::Whole(Box::new(plan), text.original))
}

/// Reads what a document refers to, and plans it.
pub(super) fn linked(
    item: &Item,
    referring: Referring,
    settings: Settings<'_>,
    loader: &dyn Loader,
) -> (Plan, Original) {
    let Referring {
        mut document,
        warnings,
        overlay_diagnostics,
        original,
    } = referring;
    let origin = Origin {
        target: &item.target,
        label: &item.label,
    };
    let found = external::link(&mut document, origin, settings.options, loader);
    let mut plan = planned(document, warnings, found, settings);
    plan.overlay_diagnostics = overlay_diagnostics;
    (plan, original)
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
    bytes_of(&item.target, loader).map_err(|error| unreadable(item, &error))
}

/// The key of a source: the operator's, else from its path, else from its title.
pub(super) fn key(item: &Item, title: Option<&str>, options: &ReadOptions) -> String {
    let given = options
        .settings_of_label(&item.label)
        .find_map(|one| one.key.as_ref())
        .or_else(|| options.keys.get(&item.label));
    match given {
        Some(key) => key.clone(),
        None => naming::key(&item.key_path, title),
    }
}
