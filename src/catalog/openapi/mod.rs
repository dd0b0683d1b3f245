//! One document's operations: found, selected, named, and each converted on its own.
//!
//! Owns: the plan of a document (what is in it and what it is called) and the conversion of one planned
//! operation. Must never let a fault of one operation touch another.

mod body;
mod extension;
mod fields;
mod files;
mod media;
mod never;
mod output;
mod parameters;
mod security;
mod servers;
mod walk;
mod wire;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::amendment::Said;
use super::curation::{self, Parts};
use super::document::{Document, flag, text};
use super::finding::Finding;
use super::route;
use super::schema::{Direction, Draft, Limits, Publisher, TOO_LARGE_BYTES, allows_null, fit};
use super::{
    Annotations, Body, BodyShape, Counts, Definition, Diagnostic, DiagnosticCode, Hidden,
    Operation, Parameter, ReadOptions, RequestTemplate, Severity,
};
use crate::json::{Pointer, canonical_len};
use security::Carriers;
pub(crate) use walk::{is_method, plan};

pub use media::is_json_media_type;
pub use never::{is_identity_cookie, is_reserved_header};

/// A document whose operations are known but not converted yet.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) document: Document,
    /// The selected operations, in their order.
    pub(crate) operations: Vec<Planned>,
    /// What was met so far; `published` is still zero.
    pub(crate) counts: Counts,
    /// What was wrong so far.
    pub(crate) findings: Vec<(Severity, Finding)>,
    /// What was odd about its overlays.
    pub(crate) overlay_diagnostics: Vec<Diagnostic>,
    /// Which of the settings for all documents matched something here.
    pub(crate) matched: Matched,
    carriers: Carriers,
}

/// Which of the settings for all documents matched something, by their positions.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    pub(crate) rules: BTreeSet<usize>,
    pub(crate) names: BTreeSet<usize>,
}

/// One tool of a selected operation.
#[derive(Debug)]
pub(crate) struct Planned {
    /// Which of the document's operations it is: several tools may be one operation.
    pub(crate) operation: usize,
    /// Where it stands.
    pub(crate) at: Pointer,
    /// Where its path item stands.
    item_at: Pointer,
    pub(crate) method: String,
    pub(crate) route: String,
    /// The tool's name.
    pub(crate) name: String,
    /// Whether the operator gave the name, so that it is never changed.
    pub(crate) is_fixed: bool,
    tags: Vec<String>,
    said: Said,
}

/// What reading a set of sources decides for all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    pub(crate) options: &'a ReadOptions,
    /// Whether names start with the document's key.
    pub(crate) prefix: bool,
    /// Whether there are several documents, so that their keys are tags.
    pub(crate) several: bool,
}

/// What became of one planned operation.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) operation: Result<Operation, Faults>,
    /// About how many bytes its schemas have.
    pub(crate) bytes: usize,
    pub(crate) warnings: Vec<Finding>,
}

/// Why an operation is not published, with what each fault costs.
#[derive(Debug)]
pub(crate) struct Faults(pub(crate) Vec<(Severity, Finding)>);

impl From<Finding> for Faults {
    fn from(finding: Finding) -> Self {
        Self(vec![(Severity::Dropped, finding)])
    }
}

/// Converts one planned operation.
pub(crate) fn convert(plan: &Plan, planned: &Planned, settings: Settings<'_>) -> Converted {
    let (mut warnings, mut bytes) = (Vec::new(), 0);
    let operation = operation(plan, planned, settings, &mut warnings, &mut bytes);
    if let Err(Faults(faults)) = &operation
        && faults
            .iter()
            .any(|(_, finding)| finding.code == DiagnosticCode::DefinitionTooLarge)
    {
        bytes = TOO_LARGE_BYTES;
    }
    Converted {
        operation,
        bytes,
        warnings,
    }
}

fn operation(
    plan: &Plan,
    planned: &Planned,
    settings: Settings<'_>,
    warnings: &mut Vec<Finding>,
    bytes: &mut usize,
) -> Result<Operation, Faults> {
    let document = &plan.document;
    check_said(planned, warnings)?;
    let map = object_at(document, &planned.at)?;
    let item = object_at(document, &planned.item_at)?;
    let security = security::requirement(document, map, &planned.at)?;
    let declared = parameters::declared(
        document,
        (item, &planned.item_at),
        (map, &planned.at),
        warnings,
    )?;
    if route::has_dot_segment(&planned.route) {
        let message =
            "the route has a segment `.` or `..`, which no request can have; write it resolved";
        return Err(Finding::new(DiagnosticCode::Malformed, &planned.at, message).into());
    }
    let sent_route = parameters::sent_route(&planned.route, &declared);
    let mut arguments = Arguments::new(document, &planned.at);
    parameters::add(&mut arguments, &declared, &sent_route, &plan.carriers)?;
    let body = body::add(
        &mut arguments,
        (map, &planned.at),
        &declared,
        &planned.method,
    )?;
    let mut input = arguments.finish(body);
    warnings.append(&mut input.warnings);
    if planned.said.hides_null() {
        // Whether null is allowed only the whole schema tells, of which curation leaves out what is hidden.
        let whole = fit(
            document,
            limits(settings.options),
            &planned.at,
            0,
            input.draft.clone(),
            None,
        )?;
        allow_nulls(&whole.input, &mut input.parameters, input.body.as_mut());
    }
    let hidden = curate(planned, &mut input, warnings)?;
    let output = output::read(document, map, &planned.at);
    warnings.extend(output.warnings);
    let mut definition = Definition {
        name: planned.name.clone(),
        description: description(planned, map),
        input_schema: Value::Null,
        output_schema: None,
        annotations: annotations(planned),
        deprecated: flag(map, "deprecated"),
    };
    let limits = limits(settings.options);
    // Without the null that stands for the schema.
    let other_bytes = canonical_len(&Value::Object(definition.to_object())) - 4;
    let fitted = fit(
        document,
        limits,
        &planned.at,
        other_bytes,
        input.draft,
        output.draft,
    )?;
    *bytes = fitted.bytes;
    warnings.extend(fitted.warnings);
    allow_nulls(&fitted.input, &mut input.parameters, input.body.as_mut());
    definition.input_schema = fitted.input;
    definition.output_schema = fitted.output;
    let (item, own) = ((item, &planned.item_at), (map, &planned.at));
    let (base_url, doubt) = servers::base_url(document, item, own, settings.options);
    warnings.extend(doubt);
    if base_url.is_none() {
        warnings.push(Finding::of_source(
            DiagnosticCode::NoServer,
            "no absolute http or https server URL is known; give a base URL to make its operations callable",
        ));
    }
    Ok(Operation {
        definition,
        tags: tags(planned, document, settings),
        search_terms: planned.said.search_terms.clone(),
        route: Some(planned.route.clone()),
        alternate_routes: Vec::new(),
        grouped_parameters: input.grouped,
        security: planned.said.policy.apply(security),
        template: Some(RequestTemplate {
            document: document.key.clone(),
            method: planned.method.clone(),
            base_url,
            route: sent_route,
            parameters: input.parameters,
            body: input.body,
            accepts: output.accepts,
            carriers: plan.carriers.settable(),
            hidden,
        }),
    })
}

/// Refuses an operation of which something is said that cannot be read, or not be kept.
fn check_said(planned: &Planned, warnings: &mut Vec<Finding>) -> Result<(), Faults> {
    let said = &planned.said;
    if !said.faults.is_empty() {
        let faults = said.faults.iter();
        let faults = faults.map(|(origin, finding)| (origin.severity(), finding.clone()));
        return Err(Faults(faults.collect()));
    }
    let not_carried_out =
        |message: &str| Finding::new(DiagnosticCode::NotCarriedOut, &planned.at, message);
    if said.policy.requires_approval == Some(true) {
        // Published, it could be called without the approval that is asked for.
        return Err(not_carried_out(
            "requiresApproval is not carried out yet, so that the operation is left out; remove it to publish \
             the operation to everyone who may call it",
        )
        .into());
    }
    if said.policy.audience.is_some() {
        warnings.push(not_carried_out(
            "audience is kept and not carried out yet: the operation is published to everyone",
        ));
    }
    Ok(())
}

/// Carries out what is said of the arguments.
fn curate(
    planned: &Planned,
    input: &mut Input,
    warnings: &mut Vec<Finding>,
) -> Result<Vec<Hidden>, Faults> {
    let parts = Parts {
        schema: input.draft.root_mut(),
        parameters: &mut input.parameters,
        body: &mut input.body,
        grouped: &mut input.grouped,
    };
    let (hidden, found) = curation::apply(&planned.said.arguments, parts, &planned.at);
    let mut faults = Vec::new();
    for (severity, finding) in found {
        match severity {
            Severity::Warning => warnings.push(finding),
            Severity::Dropped | Severity::Fatal => faults.push((severity, finding)),
        }
    }
    if faults.is_empty() {
        if !hidden.is_empty() {
            input.draft.forget_unused();
        }
        Ok(hidden)
    } else {
        Err(Faults(faults))
    }
}

fn object_at<'d>(document: &'d Document, at: &Pointer) -> Result<&'d Map<String, Value>, Finding> {
    match document.at(at) {
        Some(Value::Object(map)) => Ok(map),
        _ => Err(Finding::new(
            DiagnosticCode::Malformed,
            at,
            "an operation must be an object",
        )),
    }
}

/// Summary and description, each once.
fn description(planned: &Planned, map: &Map<String, Value>) -> String {
    if let Some(own) = &planned.said.description {
        return own.clone();
    }
    let member = |name: &str| text(map, name).map(|text| text.trim().to_owned());
    let summary = member("summary").unwrap_or_default();
    let description = member("description").unwrap_or_default();
    match (summary.is_empty(), description.is_empty()) {
        (true, true) => format!("{} {}", planned.method, planned.route),
        (true, false) => description,
        (false, true) => summary,
        (false, false) if description.starts_with(&summary) => description,
        (false, false) => format!("{summary}\n\n{description}"),
    }
}

fn tags(planned: &Planned, document: &Document, settings: Settings<'_>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    let key = settings.several.then_some(&document.key);
    let all: Vec<&String> = match &planned.said.tags {
        Some(own) => own.iter().collect(),
        None => planned.tags.iter().chain(key).collect(),
    };
    for tag in all {
        if !tags.contains(tag) {
            tags.push(tag.clone());
        }
    }
    tags
}

fn annotations(planned: &Planned) -> Annotations {
    let mut annotations = Annotations::of_method(&planned.method);
    for (hint, holds) in &planned.said.hints {
        // Only hints that apply are kept; false is never written.
        if *holds {
            annotations.0.insert(hint.clone(), json!(true));
        } else {
            annotations.0.shift_remove(hint);
        }
    }
    annotations
}

/// The arguments of one operation while they are gathered.
struct Arguments<'d> {
    document: &'d Document,
    /// Where the operation stands.
    at: Pointer,
    publisher: Publisher<'d>,
    properties: Map<String, Value>,
    required: Vec<String>,
    /// `additionalProperties` of the root.
    additional: Value,
    /// Further keywords of the root.
    further: Map<String, Value>,
    /// Members of the body that are the backend's to set.
    withheld: Vec<String>,
    parameters: Vec<Parameter>,
    grouped: Vec<String>,
    warnings: Vec<Finding>,
}

/// The input side of an operation.
struct Input {
    draft: Draft,
    parameters: Vec<Parameter>,
    body: Option<Body>,
    grouped: Vec<String>,
    warnings: Vec<Finding>,
}

impl<'d> Arguments<'d> {
    fn new(document: &'d Document, at: &Pointer) -> Self {
        Self {
            document,
            at: at.clone(),
            publisher: Publisher::new(document, Direction::Input),
            properties: Map::new(),
            required: Vec::new(),
            additional: json!(false),
            further: Map::new(),
            withheld: Vec::new(),
            parameters: Vec::new(),
            grouped: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn property(&mut self, argument: String, schema: Value, required: bool) {
        if required {
            self.required.push(argument.clone());
        }
        self.properties.insert(argument, schema);
    }

    fn warn(&mut self, code: DiagnosticCode, at: &Pointer, message: impl Into<String>) {
        /// More oddities of one operation say nothing new.
        const WARNINGS_MAX: usize = 1_000;
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(Finding::new(code, at, message));
        }
    }

    /// The schema without what it refers to, and the template's parts.
    fn finish(self, body: Option<Body>) -> Input {
        let mut root = Map::new();
        root.insert("type".into(), json!("object"));
        root.insert("properties".into(), Value::Object(self.properties));
        if !self.required.is_empty() {
            root.insert("required".into(), json!(self.required));
        }
        root.insert("additionalProperties".into(), self.additional);
        root.extend(self.further);
        Input {
            draft: self.publisher.draft(root, &self.at),
            parameters: self.parameters,
            body,
            grouped: self.grouped,
            warnings: self.warnings,
        }
    }
}

/// How definitions are kept loadable.
fn limits(options: &ReadOptions) -> Limits {
    let size = &options.size;
    Limits {
        bytes_max: size.definition_bytes_max,
        depth_max: size.schema_depth_max,
        is_bare: size.trim_descriptions,
    }
}

/// Notes in the template which arguments may be null, which only the whole schema tells.
fn allow_nulls(root: &Value, parameters: &mut [Parameter], body: Option<&mut Body>) {
    for parameter in parameters {
        parameter.nullable = argument_allows_null(root, &parameter.argument);
    }
    let Some(body) = body else { return };
    for member in body.shape.arguments_mut() {
        member.nullable = argument_allows_null(root, &member.argument);
    }
    if let BodyShape::Form(fields) | BodyShape::Multipart(fields) = &mut body.shape
        && let Some(whole) = &fields.within
    {
        // The one argument was written out member by member, so its members stand in it.
        let whole = &root["properties"][&whole.argument];
        for field in &mut fields.fields {
            field.member.nullable = whole["properties"]
                .get(&field.member.argument)
                .is_none_or(|schema| allows_null(root, schema));
        }
    }
}

/// Whether the schema of an argument of a published root allows null.
pub(crate) fn argument_allows_null(root: &Value, argument: &str) -> bool {
    root.get("properties")
        .and_then(|properties| properties.get(argument))
        .is_none_or(|schema| allows_null(root, schema))
}
