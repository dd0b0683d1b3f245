//! Finding a document's operations: paths, methods, selection, names.
//!
//! Owns: the order of operations, which count as found and as selected. Must never convert one.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::extension;
use super::security::Carriers;
use super::{Matched, Plan, Planned, Settings};
use crate::catalog::amendment::Said;
use crate::catalog::document::{Document, Version, shown, text};
use crate::catalog::finding::Finding;
use crate::catalog::naming::{self, Candidate, Wanted};
use crate::catalog::selection::{Ambiguous, Facts, Rules};
use crate::catalog::{Counts, DiagnosticCode, Severity};
use crate::http::is_token;
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
    let own = &document.settings;
    let mut selecting = Selecting {
        document: &document,
        rules: Rules::new(&settings.options.selection, &own.selection),
        overrides_used: BTreeSet::new(),
        counts: &mut counts,
        findings: &mut findings,
    };
    let selected: Vec<Selected> = met
        .into_iter()
        .filter_map(|met| selecting.one(met))
        .collect();
    selecting.tell_unused();
    let mut matched = Matched {
        rules: selecting.rules.matched_of_general(),
        names: BTreeSet::new(),
    };
    duplicate_ids(&selected, &mut findings);
    let operations = name(
        selected,
        &document,
        settings,
        &mut matched.names,
        &mut findings,
    );
    Plan {
        carriers: Carriers::of(&document),
        document,
        operations,
        counts,
        findings,
        overlay_diagnostics: Vec::new(),
        matched,
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
        && is_token(method)
}

/// A selected operation before it has a name.
struct Selected {
    planned: Planned,
    operation_id: Option<String>,
}

/// Selecting operations, with what the operator says of each.
struct Selecting<'a> {
    document: &'a Document,
    rules: Rules<'a>,
    /// The positions of the document's overrides that are about some operation.
    overrides_used: BTreeSet<usize>,
    counts: &'a mut Counts,
    findings: &'a mut Findings,
}

impl Selecting<'_> {
    fn one(&mut self, met: Met<'_>) -> Option<Selected> {
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
        let operation_id = text(map, "operationId");
        let mut warnings = Vec::new();
        let said = self.said(map, &met, operation_id.as_deref(), &mut warnings);
        let facts = Facts {
            route: &met.route,
            method: &met.method,
            tags: &tags,
            operation_id: operation_id.as_deref(),
        };
        // Asked although the operation may be ignored: a rule that is about it matches something.
        let decision = self.rules.select(facts);
        if said.ignore {
            return None;
        }
        match decision {
            Ok(true) => {}
            Ok(false) => return None,
            Err(Ambiguous) => {
                self.counts.selected += 1;
                self.findings.push((
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
        let operation = usize::try_from(self.counts.selected).unwrap_or(usize::MAX);
        self.counts.selected += 1;
        let warnings = warnings.into_iter().map(|one| (Severity::Warning, one));
        self.findings.extend(warnings);
        Some(Selected {
            planned: Planned {
                operation,
                at: met.at,
                item_at: met.item_at,
                method: met.method,
                route: met.route,
                name: String::new(),
                is_fixed: false,
                tags,
                said,
            },
            operation_id,
        })
    }

    /// What the document and then the operator say of an operation.
    fn said(
        &mut self,
        map: &Map<String, Value>,
        met: &Met<'_>,
        operation_id: Option<&str>,
        warnings: &mut Vec<Finding>,
    ) -> Said {
        let mut said = extension::read(self.document, map, &met.at, warnings);
        for (index, one) in self.document.settings.operations.iter().enumerate() {
            if one.is_about(operation_id, &met.method, &met.route) {
                self.overrides_used.insert(index);
                said.amend(&one.amendment);
            }
        }
        said
    }

    fn tell_unused(&mut self) {
        let settings = &self.document.settings;
        let unused = |message: String| {
            let finding = Finding::of_source(DiagnosticCode::UnusedSetting, message);
            (Severity::Warning, finding)
        };
        let rules = self.rules.unmatched().map(|rule| {
            format!(
                "the selection rule `{}` matches no operation of this document",
                rule.shown()
            )
        });
        let overrides = settings.operations.iter().enumerate();
        let overrides = overrides
            .filter(|(index, _)| !self.overrides_used.contains(index))
            .map(|(_, one)| {
                format!(
                    "the settings of the operation `{}` are about no operation of this document",
                    one.shown()
                )
            });
        let all: Vec<_> = rules.chain(overrides).map(unused).collect();
        self.findings.extend(all);
    }
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

/// The tools of the selected operations, each with its name.
fn name(
    selected: Vec<Selected>,
    document: &Document,
    settings: Settings<'_>,
    names_used: &mut BTreeSet<usize>,
    findings: &mut Findings,
) -> Vec<Planned> {
    let mut tools = Vec::with_capacity(selected.len());
    for one in selected {
        let planned = &one.planned;
        let mut said = one.planned.said.clone();
        let of_all = settings
            .options
            .name_of(&document.key, &planned.method, &planned.route);
        if let Some((index, name)) = of_all {
            names_used.insert(index);
            said.fixed_name.get_or_insert(name);
        }
        if said.variants.is_empty() {
            tools.push((tool(&one, said), one.operation_id));
            continue;
        }
        if said.fixed_name.is_some() {
            findings.push((
                Severity::Warning,
                Finding::new(
                    DiagnosticCode::UnusedSetting,
                    &planned.at,
                    "the operation is published as its variants, which have their own names; its own name has \
                     no effect",
                ),
            ));
        }
        for variant in &said.variants {
            tools.push((
                tool(&one, said.of_variant(variant)),
                one.operation_id.clone(),
            ));
        }
    }
    let candidates: Vec<Candidate> = tools
        .iter()
        .map(|(tool, operation_id)| Candidate {
            method: tool.method.clone(),
            route: tool.route.clone(),
            fixed: tool.said.fixed_name.clone(),
            wanted: match (&tool.said.name, operation_id) {
                (Some(name), _) => Some(Wanted::Given(name.clone())),
                (None, Some(id)) => Some(Wanted::OperationId(id.clone())),
                (None, None) => None,
            },
        })
        .collect();
    let prefix = settings.prefix.then_some(document.key.as_str());
    let names = naming::assign(&candidates, prefix);
    let mut taken: HashSet<String> = HashSet::new();
    let mut planned = Vec::with_capacity(tools.len());
    for (((mut operation, _), candidate), name) in tools.into_iter().zip(&candidates).zip(names) {
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
            // Besides names that operators gave, only hashes that meet get here, and variants of one operation
            // with one name.
            let severity = if name.clashes {
                Severity::Fatal
            } else {
                Severity::Dropped
            };
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

/// One tool of a selected operation, still without its name.
fn tool(selected: &Selected, said: Said) -> Planned {
    let planned = &selected.planned;
    Planned {
        operation: planned.operation,
        at: planned.at.clone(),
        item_at: planned.item_at.clone(),
        method: planned.method.clone(),
        route: planned.route.clone(),
        name: String::new(),
        is_fixed: false,
        tags: planned.tags.clone(),
        said,
    }
}
