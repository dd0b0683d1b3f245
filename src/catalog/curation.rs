//! Curation: arguments renamed, described anew, or taken from the agent and filled from elsewhere.
//!
//! Owns: what may be said of an argument, and changing the published schema and the request template together.
//! Must never change what the backend is sent under which name, nor the output schema.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::document::shown;
use super::finding::Finding;
use super::{
    Body, BodyShape, DiagnosticCode, FileUse, Hidden, HiddenValue, Location, Member, Parameter,
    Severity, is_json_media_type, is_reserved_header,
};
use crate::http::is_token;
use crate::json::Pointer;

/// An argument's new name has at most this many characters, as a tool's name has.
const ARGUMENT_CHARS_MAX: usize = 128;

/// Curations of one tool, by the name an argument has without them.
pub type Curations = BTreeMap<String, ArgumentCuration>;

/// What is different about one argument.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ArgumentCuration {
    /// The name it is known by, and by no other.
    pub rename: Option<String>,
    /// What is said of it.
    pub description: Option<String>,
    /// Takes it from the agent: it is not in the schema, and what is sent comes from here.
    pub hide: Option<Hide>,
}

/// Where the value of a hidden argument comes from. Exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Hide {
    /// Always this value, as JSON.
    Constant(Value),
    /// The claim of this name in the caller's identity; without it the call is refused.
    Claim(String),
    /// The header of this name in the caller's request; without it the call is refused.
    Header(String),
    /// Nothing is sent; must be `true`.
    Omit(bool),
}

/// One of several tools that an operation is published as.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variant {
    /// The tool's name: 1 to 128 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`.
    pub name: String,
    /// The tool's description; left out, the operation's.
    #[serde(default)]
    pub description: Option<String>,
    /// What is different about its arguments, beside what holds for the operation; an argument that both name
    /// is curated as said here.
    #[serde(default)]
    pub arguments: Curations,
}

/// Whose word something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The operator's: the configuration, an overlay, a document that is trusted.
    Operator,
    /// A stranger's.
    Document,
}

impl Origin {
    /// What a mistake costs: the operator's must be seen and refuses the catalogue, a stranger's must not stop
    /// the others.
    pub(crate) fn severity(self) -> Severity {
        match self {
            Self::Operator => Severity::Fatal,
            Self::Document => Severity::Dropped,
        }
    }
}

/// Curations with whose they are.
pub(crate) type Sourced = BTreeMap<String, (Origin, ArgumentCuration)>;

/// What curation changes of one tool.
pub(super) struct Parts<'a> {
    /// The published input schema, without its `$defs`.
    pub(super) schema: &'a mut Map<String, Value>,
    pub(super) parameters: &'a mut [Parameter],
    pub(super) body: &'a mut Option<Body>,
    /// Root properties that group query filters.
    pub(super) grouped: &'a mut Vec<String>,
}

/// Curates one tool. On a finding above a warning the tool must not be published.
pub(super) fn apply(
    curations: &Sourced,
    parts: Parts<'_>,
    at: &Pointer,
) -> (Vec<Hidden>, Vec<(Severity, Finding)>) {
    let mut findings = Vec::new();
    if curations.is_empty() {
        return (Vec::new(), findings);
    }
    let known: Vec<String> = parts
        .schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    for (name, (origin, _)) in curations {
        if !known.contains(name) {
            let severity = match origin {
                Origin::Operator => Severity::Fatal,
                Origin::Document => Severity::Warning,
            };
            let message = format!(
                "there is no argument {} to curate; the tool has {}",
                shown(name),
                listed(&known)
            );
            let code = DiagnosticCode::UnknownCuratedArgument;
            findings.push((severity, Finding::new(code, at, message)));
        }
    }
    let plan = plan(curations, &known, &parts, at, &mut findings);
    if findings
        .iter()
        .any(|(severity, _)| *severity > Severity::Warning)
    {
        return (Vec::new(), findings);
    }
    (carry_out(&plan, parts), findings)
}

/// The names of arguments, for a sentence.
fn listed(names: &[String]) -> String {
    /// More names help nobody.
    const LISTED_MAX: usize = 20;
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut all: Vec<String> = names
        .iter()
        .take(LISTED_MAX)
        .map(|one| shown(one))
        .collect();
    if names.len() > LISTED_MAX {
        all.push(format!("{} more", names.len() - LISTED_MAX));
    }
    all.join(", ")
}

/// What becomes of one argument.
struct Step {
    /// What it is called from now on: by the agent, or inside the template when it is hidden.
    to: String,
    description: Option<String>,
    hidden: Option<HiddenValue>,
}

fn plan(
    curations: &Sourced,
    known: &[String],
    parts: &Parts<'_>,
    at: &Pointer,
    findings: &mut Vec<(Severity, Finding)>,
) -> HashMap<String, Step> {
    let required = required_names(parts.schema);
    let mut steps = HashMap::new();
    // By whom an argument was curated, where it was.
    let mut visible: HashMap<&str, Option<Origin>> = HashMap::new();
    for name in known {
        let curated = curations.get(name);
        let Some((origin, curation)) = curated else {
            claim(&mut visible, name, None, at, findings);
            continue;
        };
        let mut fault = |code, message: String| {
            findings.push((origin.severity(), Finding::new(code, at, message)));
        };
        let to = curation.rename.as_deref().unwrap_or(name);
        let Some(hide) = &curation.hide else {
            if !is_argument_name(to) {
                fault(
                    DiagnosticCode::InvalidCuration,
                    format!(
                        "{} is no name for an argument; use 1 to {ARGUMENT_CHARS_MAX} characters without \
                         control characters",
                        shown(to)
                    ),
                );
            }
            claim(&mut visible, to, Some(*origin), at, findings);
            let step = Step {
                to: to.to_owned(),
                description: curation.description.clone(),
                hidden: None,
            };
            steps.insert(name.clone(), step);
            continue;
        };
        if curation.rename.is_some() || curation.description.is_some() {
            let message = format!(
                "the argument {} is hidden, so that a name or description of it has no effect; remove it",
                shown(name)
            );
            fault(DiagnosticCode::InvalidCuration, message);
        }
        if let Err(why) = check_hide(hide, &wire_of(name, parts)) {
            let message = format!("the argument {} cannot be hidden: {why}", shown(name));
            fault(DiagnosticCode::InvalidCuration, message);
        }
        if matches!(hide, Hide::Omit(_)) && required.contains(name.as_str()) {
            let message = format!(
                "the argument {} is required and would never have a value; hide it with a constant, a claim \
                 or a header",
                shown(name)
            );
            fault(DiagnosticCode::HiddenRequiredOmitted, message);
        }
        let step = Step {
            to: String::new(),
            description: None,
            hidden: Some(value_of(hide)),
        };
        steps.insert(name.clone(), step);
    }
    name_hidden(&mut steps, &visible, known);
    steps
}

/// Takes a name for an argument that is seen. Two that are not curated never share one.
fn claim<'n>(
    visible: &mut HashMap<&'n str, Option<Origin>>,
    name: &'n str,
    origin: Option<Origin>,
    at: &Pointer,
    findings: &mut Vec<(Severity, Finding)>,
) {
    let Some(&other) = visible.get(name) else {
        visible.insert(name, origin);
        return;
    };
    // Where a stranger's rename is one of the two, it is the stranger's mistake.
    let severity = match (origin, other) {
        (Some(Origin::Document), _) | (_, Some(Origin::Document)) => Severity::Dropped,
        _ => Severity::Fatal,
    };
    let message = format!(
        "two arguments would be called {}; rename one of them to something else",
        shown(name)
    );
    let code = DiagnosticCode::CurationCollision;
    findings.push((severity, Finding::new(code, at, message)));
}

/// Gives every hidden argument a name of the template that no visible one has.
fn name_hidden(
    steps: &mut HashMap<String, Step>,
    visible: &HashMap<&str, Option<Origin>>,
    known: &[String],
) {
    let mut taken: HashSet<String> = HashSet::new();
    for name in known {
        let Some(step) = steps.get_mut(name).filter(|step| step.hidden.is_some()) else {
            continue;
        };
        let mut inner = format!("hidden:{name}");
        while visible.contains_key(inner.as_str()) || taken.contains(&inner) {
            inner.push('_');
        }
        taken.insert(inner.clone());
        step.to = inner;
    }
}

fn is_argument_name(name: &str) -> bool {
    (1..=ARGUMENT_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

fn value_of(hide: &Hide) -> HiddenValue {
    match hide {
        Hide::Constant(value) => HiddenValue::Constant(value.clone()),
        Hide::Claim(name) => HiddenValue::Claim(name.clone()),
        Hide::Header(name) => HiddenValue::Header(name.clone()),
        Hide::Omit(_) => HiddenValue::Nothing,
    }
}

fn required_names(schema: &Map<String, Value>) -> HashSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// How an argument travels.
enum Wire<'a> {
    Parameter(&'a Parameter),
    Member(&'a Member),
    /// A body, or a part of one, that is a text.
    Text,
    /// A body, or a part of one, that is a file and nothing else.
    File,
    Unknown,
}

fn wire_of<'a>(name: &str, parts: &'a Parts<'_>) -> Wire<'a> {
    if let Some(parameter) = parts.parameters.iter().find(|one| one.argument == name) {
        return Wire::Parameter(parameter);
    }
    let Some(shape) = parts.body.as_ref().map(|body| &body.shape) else {
        return Wire::Unknown;
    };
    let member = shape
        .arguments()
        .into_iter()
        .find(|one| one.argument == name);
    match (shape, member) {
        (_, None) => Wire::Unknown,
        (BodyShape::Text(_), Some(_)) => Wire::Text,
        (BodyShape::File { .. }, Some(_)) => Wire::File,
        (BodyShape::Form(fields) | BodyShape::Multipart(fields), Some(member))
            if fields.within.is_none() =>
        {
            let mut own = fields.fields.iter();
            match own.find(|field| field.member.argument == name) {
                Some(field) if field.file == FileUse::Only => Wire::File,
                _ => Wire::Member(member),
            }
        }
        (_, Some(member)) => Wire::Member(member),
    }
}

/// Why a source cannot fill an argument. Constants are held to what its wire form can carry, so that no call
/// fails for a mistake that could be told here.
fn check_hide(hide: &Hide, wire: &Wire<'_>) -> Result<(), &'static str> {
    match hide {
        Hide::Omit(false) => Err("`omit` is true or left out"),
        Hide::Claim(name) if name.trim().is_empty() => Err("the claim has no name"),
        Hide::Header(name) if !is_token(name) => Err("the source is no name of a header"),
        Hide::Header(name) if is_reserved_header(name) => Err(
            "the source is a header of the transport or of credentials, which is never passed on",
        ),
        Hide::Omit(true) | Hide::Claim(_) | Hide::Header(_) => Ok(()),
        Hide::Constant(value) => match wire {
            Wire::Parameter(parameter) => check_constant(value, parameter),
            Wire::Member(member) if value.is_null() && !member.nullable => {
                Err("its schema allows no null")
            }
            Wire::Text if !value.is_string() => Err("the constant must be a string"),
            Wire::File if !is_file(value) => {
                Err("the constant must be an object with exactly one of `text` and `base64`")
            }
            Wire::Text | Wire::File | Wire::Member(_) | Wire::Unknown => Ok(()),
        },
    }
}

/// Whether a value is what file arguments are given as; a list of them is several files.
fn is_file(value: &Value) -> bool {
    match value {
        Value::Array(files) => !files.is_empty() && files.iter().all(is_file),
        file => file["text"].is_string() != file["base64"].is_string(),
    }
}

fn check_constant(value: &Value, parameter: &Parameter) -> Result<(), &'static str> {
    let is_plain = |one: &Value| !matches!(one, Value::Null | Value::Array(_) | Value::Object(_));
    if let Some(content_type) = &parameter.content_type {
        // JSON has a text for anything; a form of a query string is an object, any other text is one plain value.
        let is_form = parameter.location == Location::QueryString && value.is_object();
        return if is_json_media_type(content_type) || is_form || is_plain(value) {
            Ok(())
        } else {
            Err("the constant has no form where the argument travels")
        };
    }
    let is_deep = parameter.style == super::Style::DeepObject;
    let is_written = match value {
        Value::Null => parameter.nullable && parameter.location != Location::Path,
        Value::Array(items) => !items.is_empty() && (is_deep || items.iter().all(is_plain)),
        Value::Object(members) => {
            !members.is_empty() && (is_deep || members.values().all(is_plain))
        }
        Value::String(text) => match parameter.location {
            Location::Path => !matches!(text.as_str(), "" | "." | "..") && !has_break(text),
            Location::Header => text.trim() == text && !has_break(text),
            Location::Query | Location::QueryString | Location::Cookie => true,
        },
        Value::Bool(_) | Value::Number(_) => true,
    };
    if is_written {
        Ok(())
    } else {
        Err("the constant has no form where the argument travels")
    }
}

fn has_break(text: &str) -> bool {
    text.contains(['\r', '\n', '\0'])
}

/// Changes schema and template. Cannot fail: the plan was checked.
fn carry_out(plan: &HashMap<String, Step>, parts: Parts<'_>) -> Vec<Hidden> {
    let mut hidden = Vec::new();
    let mut rename = |argument: &mut String| {
        let Some(step) = plan.get(argument) else {
            return;
        };
        if let Some(value) = &step.hidden {
            hidden.push(Hidden {
                argument: step.to.clone(),
                value: value.clone(),
            });
        }
        argument.clone_from(&step.to);
    };
    for parameter in parts.parameters {
        rename(&mut parameter.argument);
    }
    if let Some(body) = parts.body {
        for member in body.shape.arguments_mut() {
            rename(&mut member.argument);
        }
    }
    let is_hidden = |name: &str| plan.get(name).is_some_and(|step| step.hidden.is_some());
    parts.grouped.retain(|name| !is_hidden(name));
    for name in parts.grouped.iter_mut() {
        if let Some(step) = plan.get(name) {
            name.clone_from(&step.to);
        }
    }
    change_schema(plan, parts.schema);
    hidden
}

fn change_schema(plan: &HashMap<String, Step>, root: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        let mut curated = Map::with_capacity(properties.len());
        for (name, mut property) in std::mem::take(properties) {
            let Some(step) = plan.get(&name) else {
                curated.insert(name, property);
                continue;
            };
            if step.hidden.is_some() {
                continue;
            }
            if let Some(description) = &step.description {
                describe(&mut property, description);
            }
            curated.insert(step.to.clone(), property);
        }
        *properties = curated;
    }
    if let Some(Value::Array(required)) = root.get_mut("required") {
        required.retain(|name| {
            let step = name.as_str().and_then(|name| plan.get(name));
            step.is_none_or(|step| step.hidden.is_none())
        });
        for name in required.iter_mut() {
            if let Some(step) = name.as_str().and_then(|name| plan.get(name)) {
                *name = json!(step.to);
            }
        }
        if required.is_empty() {
            root.shift_remove("required");
        }
    }
}

fn describe(property: &mut Value, description: &str) {
    if property == &json!(true) {
        *property = json!({});
    }
    if let Value::Object(map) = property {
        map.insert("description".into(), json!(description));
    }
}
