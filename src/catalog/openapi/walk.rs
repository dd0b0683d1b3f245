//! Finding a document's operations: paths, methods, selection, names.
//!
//! Owns: the order of operations, which count as found and as selected. Must never convert one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::extension;
use super::security::Carriers;
use super::{Plan, Planned, Settings};
use crate::catalog::document::{Document, Version, shown, text};
use crate::catalog::finding::Finding;
use crate::catalog::naming::{self, Candidate, Wanted};
use crate::catalog::selection::{Ambiguous, Facts, selects};
use crate::catalog::{Counts, DiagnosticCode, Severity};
use crate::json::{Pointer, kind};

/// The methods of a path item, in the order operations are handed on, with the first version that has them.
const METHODS: [(&str, Version); 9] = [
    ("get", Version::V20),
    ("put", Version::V20),
    ("post", Version::V20),
    ("delete", Version::V20),
    ("options", Version::V20),
    ("head", Version::V20),
    ("patch", Version::V20),
    ("trace", Version::V30),
    ("query", Version::V32),
];

/// A method is a token of RFC 9110 of at most this many characters.
const METHOD_CHARS_MAX: usize = 32;

/// A document holds at most this many operations; people's largest hold some twenty thousand.
const OPERATIONS_MAX: usize = 500_000;

/// A route is at most this many bytes, the limit many servers have for a whole URL.
const ROUTE_BYTES_MAX: usize = 8 * 1024;

/// An operation has at most this many tags.
const TAGS_MAX: usize = 100;

/// An operation that was met.
struct Met<'d> {
    at: Pointer,
    item_at: Pointer,
    method: String,
    route: String,
    value: &'d Value,
}

/// Finds, selects and names the operations of a document.
pub(crate) fn plan(document: Document, settings: Settings<'_>) -> Plan {
    let mut findings = Vec::new();
    let mut counts = Counts::default();
    let met = walk(&document, &mut findings);
    counts.found = met.len() as u64;
    let mut selected = Vec::new();
    for met in met {
        if let Some(one) = select(met, settings, &mut counts, &mut findings) {
            selected.push(one);
        }
    }
    duplicate_ids(&selected, &mut findings);
    let operations = name(selected, &document, settings, &mut counts, &mut findings);
    Plan {
        carriers: Carriers::of(&document),
        document,
        operations,
        counts,
        findings,
    }
}

type Findings = Vec<(Severity, Finding)>;

fn malformed(severity: Severity, at: &Pointer, message: impl Into<String>) -> (Severity, Finding) {
    (
        severity,
        Finding::new(DiagnosticCode::Malformed, at, message),
    )
}

fn walk<'d>(document: &'d Document, findings: &mut Findings) -> Vec<Met<'d>> {
    let mut met = Vec::new();
    let at = Pointer::root().join("paths");
    let paths = match document.value.get("paths") {
        Some(Value::Object(paths)) => paths,
        None => return met,
        Some(other) => {
            let message = format!("paths must be an object, not {}", kind(other));
            findings.push(malformed(Severity::Dropped, &at, message));
            return met;
        }
    };
    for (route, item) in paths {
        if route.starts_with("x-") {
            continue;
        }
        let at = at.join(route);
        if route.len() > ROUTE_BYTES_MAX {
            let message =
                format!("a route is at most {ROUTE_BYTES_MAX} bytes; its operations are not read");
            findings.push(malformed(Severity::Dropped, &at, message));
            continue;
        }
        if met.len() >= OPERATIONS_MAX {
            findings.push((
                Severity::Dropped,
                Finding::new(
                    DiagnosticCode::SourceTooLarge,
                    &at,
                    format!("the document holds over {OPERATIONS_MAX} operations; those from here on are not read"),
                ),
            ));
            break;
        }
        let (map, item_at) = match document.resolve_object(item, &at, "a path item") {
            Ok(resolved) => resolved,
            Err(finding) => {
                findings.push((Severity::Dropped, finding));
                continue;
            }
        };
        let mut route = route.clone();
        if !route.starts_with('/') {
            findings.push(malformed(
                Severity::Warning,
                &at,
                "a path must start with a slash; one is put before it",
            ));
            route.insert(0, '/');
        }
        path_item(document.version, map, &item_at, &route, &mut met, findings);
    }
    met
}

fn path_item<'d>(
    version: Version,
    map: &'d Map<String, Value>,
    item_at: &Pointer,
    route: &str,
    met: &mut Vec<Met<'d>>,
    findings: &mut Findings,
) {
    let mut add = |at: Pointer, method: String, value: &'d Value| {
        met.push(Met {
            at,
            item_at: item_at.clone(),
            method,
            route: route.to_owned(),
            value,
        });
    };
    for (member, since) in METHODS {
        if let Some(value) = map.get(member).filter(|_| version >= since) {
            add(item_at.join(member), member.to_ascii_uppercase(), value);
        }
    }
    for member in map.keys() {
        let lower = member.to_ascii_lowercase();
        if *member != lower && METHODS.iter().any(|(method, _)| *method == lower) {
            let message = "a method is written in lower case; this operation is not read";
            findings.push(malformed(Severity::Warning, &item_at.join(member), message));
        }
    }
    let Some(Value::Object(additional)) = map
        .get("additionalOperations")
        .filter(|_| version >= Version::V32)
    else {
        return;
    };
    for (method, value) in additional {
        let at = item_at.join("additionalOperations").join(method);
        if is_method(method) {
            add(at, method.clone(), value);
        } else {
            let message = format!("{} is no method of HTTP", shown(method));
            findings.push(malformed(Severity::Warning, &at, message));
        }
    }
}

/// Whether a text can be sent as a method. CONNECT opens tunnels and is nobody's operation.
pub(crate) fn is_method(method: &str) -> bool {
    (1..=METHOD_CHARS_MAX).contains(&method.len())
        && !method.eq_ignore_ascii_case("CONNECT")
        && method
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// A selected operation before it has a name.
struct Selected {
    planned: Planned,
    operation_id: Option<String>,
}

fn select(
    met: Met<'_>,
    settings: Settings<'_>,
    counts: &mut Counts,
    findings: &mut Findings,
) -> Option<Selected> {
    let empty = Map::new();
    let map = met.value.as_object().unwrap_or(&empty);
    let tags: Vec<String> = map
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(TAGS_MAX)
        .filter_map(|tag| match tag {
            Value::String(tag) => Some(tag.clone()),
            Value::Number(tag) => Some(tag.to_string()),
            _ => None,
        })
        .collect();
    let mut warnings = Vec::new();
    let extension = extension::read(map, &met.at, &mut warnings);
    if extension.ignore {
        return None;
    }
    let operation_id = text(map, "operationId");
    let facts = Facts {
        route: &met.route,
        method: &met.method,
        tags: &tags,
        operation_id: operation_id.as_deref(),
    };
    match selects(&settings.options.selection, facts) {
        Ok(true) => {}
        Ok(false) => return None,
        Err(Ambiguous) => {
            counts.selected += 1;
            counts.dropped += 1;
            findings.push((
                Severity::Fatal,
                Finding::new(
                    DiagnosticCode::AmbiguousSelection,
                    &met.at,
                    format!(
                        "two equally sharp selection rules disagree about {} {}; name one more field in one of them",
                        met.method, met.route
                    ),
                ),
            ));
            return None;
        }
    }
    counts.selected += 1;
    findings.extend(warnings.into_iter().map(|one| (Severity::Warning, one)));
    Some(Selected {
        planned: Planned {
            at: met.at,
            item_at: met.item_at,
            method: met.method,
            route: met.route,
            name: String::new(),
            is_fixed: false,
            tags,
            extension,
        },
        operation_id,
    })
}

fn duplicate_ids(selected: &[Selected], findings: &mut Findings) {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for id in selected
        .iter()
        .filter_map(|one| one.operation_id.as_deref())
    {
        *uses.entry(id).or_default() += 1;
    }
    for one in selected {
        if let Some(id) = one.operation_id.as_deref().filter(|id| uses[id] > 1) {
            findings.push((
                Severity::Warning,
                Finding::new(
                    DiagnosticCode::DuplicateOperationId,
                    &one.planned.at,
                    format!(
                        "{} operations have the operationId {}; give each its own",
                        uses[id],
                        shown(id)
                    ),
                ),
            ));
        }
    }
}

fn name(
    selected: Vec<Selected>,
    document: &Document,
    settings: Settings<'_>,
    counts: &mut Counts,
    findings: &mut Findings,
) -> Vec<Planned> {
    let candidates: Vec<Candidate> = selected
        .iter()
        .map(|one| Candidate {
            method: one.planned.method.clone(),
            route: one.planned.route.clone(),
            fixed: settings
                .options
                .name_of(&document.key, &one.planned.method, &one.planned.route),
            wanted: match (&one.planned.extension.name, &one.operation_id) {
                (Some(name), _) => Some(Wanted::Given(name.clone())),
                (None, Some(id)) => Some(Wanted::OperationId(id.clone())),
                (None, None) => None,
            },
        })
        .collect();
    let prefix = settings.prefix.then_some(document.key.as_str());
    let names = naming::assign(&candidates, prefix);
    let mut taken: HashSet<String> = HashSet::new();
    let mut planned = Vec::with_capacity(selected.len());
    for ((one, candidate), name) in selected.into_iter().zip(&candidates).zip(names) {
        let mut operation = one.planned;
        if name.collided {
            findings.push((
                Severity::Warning,
                Finding::new(
                    DiagnosticCode::NameCollision,
                    &operation.at,
                    format!(
                        "another operation has the same name; this one is {} now",
                        name.text
                    ),
                ),
            ));
        }
        if name.clashes || taken.contains(&name.text) {
            // Besides names that operators gave, only hashes that meet get here.
            let severity = if name.clashes {
                Severity::Fatal
            } else {
                Severity::Dropped
            };
            counts.dropped += 1;
            findings.push((
                severity,
                Finding::new(
                    DiagnosticCode::NameCollision,
                    &operation.at,
                    format!(
                        "the name {} is taken in this document; give another",
                        shown(&name.text)
                    ),
                ),
            ));
            continue;
        }
        taken.insert(name.text.clone());
        operation.name = name.text;
        operation.is_fixed = candidate.fixed.is_some();
        planned.push(operation);
    }
    planned
}
