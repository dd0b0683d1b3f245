//! The catalogue: documents and JSON Lines become operations, each with the definition an agent reads.
//!
//! Owns: operation, definition, version, card, request template; reading sources; names, selection,
//! arguments, schemas, diagnostics. Must never do index work, fetch other than through a loader that is
//! handed in, or know a caller.

mod amendment;
mod card;
mod curation;
mod definition;
mod diagnostic;
mod document;
mod explanation;
mod external;
mod files;
mod finding;
mod fingerprint;
mod lines;
mod loader;
mod naming;
mod openapi;
mod operation;
mod options;
mod overlay;
mod parse;
mod planning;
mod read;
mod registry;
mod report;
mod route;
mod schema;
mod security;
mod selection;
mod sources;
mod template;
mod trust;
mod unused;

pub use amendment::{Amendment, DocumentSettings, OperationOverride, Policy};
pub use card::Card;
pub use curation::{ArgumentCuration, Curations, Hide, Variant};
pub use definition::{Annotations, Definition, HINTS};
pub use diagnostic::{Counts, Diagnostic, DiagnosticCode, Severity};
pub use explanation::Explanation;
pub use external::References;
pub use files::{Place, Referenced, Stamp};
pub use fingerprint::{Checked, Fingerprint, Recorder, SourceChanged};
pub use loader::{FileLoader, LoadError, Loader, OpenedSource, SourceTarget};
pub use naming::is_given_name;
pub use openapi::{is_identity_cookie, is_json_media_type, is_reserved_header};
pub use operation::{Operation, SearchText};
pub use options::{DefinitionSize, NameOverride, Prefix, ReadOptions};
pub use parse::read_text;
pub use read::{ReadError, read};
pub use report::{DocumentCounts, Report};
pub use route::{RoutePart, route_parts, sent_route};
pub use security::{SchemeUse, Security};
pub use selection::{SelectionDecision, SelectionRule};
pub use sources::document_label;
pub use template::{
    Body, BodyShape, Carrier, CollectionSeparator, Field, Fields, FileUse, Hidden, HiddenValue,
    Location, Member, Parameter, RequestTemplate, Style,
};

/// Reads a JSON or YAML text of the operator's as documents are read (YAML 1.2 core schema, the same limits);
/// what a document would only be warned for is refused. The error is about the source of that name, at its place.
pub fn parse_settings(
    name: &str,
    bytes: Vec<u8>,
    strict_json: bool,
) -> Result<serde_json::Value, Box<Diagnostic>> {
    let fault =
        |finding: finding::Finding| Box::new(finding.into_diagnostic(Severity::Fatal, name));
    let text = parse::parse(bytes, strict_json).map_err(fault)?;
    match text.warnings.into_iter().next() {
        None => Ok(text.value),
        Some(odd) => {
            let position = text.original.positions(std::iter::once(&odd.at));
            let position = odd.position.or(position.first().copied().flatten());
            Err(fault(finding::Finding { position, ..odd }))
        }
    }
}

/// Where operations go while sources are read: the index builder, a counter, a list in a test.
///
/// Operations arrive one document at a time and are dropped by the reader as soon as they are handed
/// over, so memory follows the largest document.
pub trait Sink {
    /// Takes one operation and answers its ordinal in the order of arrival, from 0.
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError>;

    /// Gives an operation that was taken earlier another name (two documents' names met).
    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError>;
}

/// A list keeps every operation at its ordinal.
impl Sink for Vec<Operation> {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        let ordinal = u32::try_from(self.len()).map_err(|error| SinkError(error.into()))?;
        self.push(operation);
        Ok(ordinal)
    }

    fn rename(&mut self, ordinal: u32, name: &str) -> Result<(), SinkError> {
        let found = usize::try_from(ordinal)
            .ok()
            .and_then(|place| self.get_mut(place));
        let operation =
            found.ok_or_else(|| SinkError(format!("there is no operation {ordinal}").into()))?;
        name.clone_into(&mut operation.definition.name);
        Ok(())
    }
}

/// A sink could not take an operation; reading stops.
#[derive(Debug, thiserror::Error)]
#[error("the operation could not be stored")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);
