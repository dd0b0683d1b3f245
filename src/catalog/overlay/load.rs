//! The overlay files of one document.
//!
//! Owns: loading and applying them in order, and what their faults cost. Must never apply one that is not whole.

use std::path::PathBuf;

use serde_json::Value;

use super::Overlay;
use crate::catalog::finding::Finding;
use crate::catalog::parse::{Original, parse};
use crate::catalog::read::bytes_of;
use crate::catalog::trust::Trust;
use crate::catalog::{Diagnostic, DiagnosticCode, Loader, Severity, SourceTarget};

/// Applies the overlays of a document. A fault of one is the operator's, and refuses the catalogue.
pub(in crate::catalog) fn apply_all(
    files: &[PathBuf],
    document: &mut Value,
    trust: &mut Trust,
    label: &str,
    loader: &dyn Loader,
) -> Result<Vec<Diagnostic>, Diagnostic> {
    let mut diagnostics = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let fatal = |finding: Finding| {
            let finding = Finding {
                code: DiagnosticCode::BadOverlay,
                ..finding
            };
            finding.into_diagnostic(Severity::Fatal, &name)
        };
        let bytes = bytes_of(&SourceTarget::File(file.clone()), loader).map_err(|error| {
            let message = format!("the overlay cannot be read: {error}");
            fatal(Finding::of_source(DiagnosticCode::BadOverlay, message))
        })?;
        let text = parse(bytes, name.to_ascii_lowercase().ends_with(".json")).map_err(fatal)?;
        let mut warnings = text.warnings;
        let placed = |finding: Finding| fatal(in_text(&text.original, finding));
        let read = Overlay::read(&text.value, &mut warnings).map_err(placed)?;
        read.apply(document, trust, &mut warnings).map_err(placed)?;
        diagnostics.extend(warnings.into_iter().map(|one| {
            let mut one = in_text(&text.original, one);
            one.message = format!("{} (applied to {label:?})", one.message);
            one.into_diagnostic(Severity::Warning, &name)
        }));
    }
    Ok(diagnostics)
}

/// A finding with its place in the text. There are few of them: an overlay has one a fault.
fn in_text(original: &Original, finding: Finding) -> Finding {
    let found = original.positions(std::iter::once(&finding.at));
    match (finding.position, found.first()) {
        (None, Some(Some(position))) => finding.in_text(*position),
        _ => finding,
    }
}
