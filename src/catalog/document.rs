//! One document in memory: its version, its value, and where references in it lead.
//!
//! Owns: telling OpenAPI documents from other texts, versions, local references. Must never follow a
//! reference out of the document: what `external` linked into it is a part of it.

use std::collections::HashMap;
use std::sync::OnceLock;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use url::Url;

use super::external::{self, Externals};
use super::finding::Finding;
use super::schema::Cache;
use super::trust::Trust;
use super::{DiagnosticCode, DocumentSettings};
use crate::json::{Pointer, kind};

/// A chain of references longer than this is refused like a cycle; people's chains have two or three links.
const REFERENCES_MAX: usize = 100;

/// The specification a document is written in, as far as reading differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// Swagger 2.0.
    V20,
    /// OpenAPI 3.0: schemas are a dialect of their own.
    V30,
    /// OpenAPI 3.1: schemas are JSON Schema 2020-12.
    V31,
    /// OpenAPI 3.2: QUERY and further methods.
    V32,
}

/// A document that was read.
#[derive(Debug)]
pub(crate) struct Document {
    /// The whole document.
    pub(crate) value: Value,
    /// Its version.
    pub(crate) version: Version,
    /// As the operator named it.
    pub(crate) label: String,
    /// Its key in names, tags and limits.
    pub(crate) key: String,
    /// Where it was fetched from, when it was.
    pub(crate) url: Option<Url>,
    /// The files it refers to, which are parts of its value.
    pub(crate) externals: Externals,
    /// Converted schemas, each made once.
    pub(crate) schemas: Cache,
    /// What the operator decided for it.
    pub(crate) settings: DocumentSettings,
    /// What of it is the operator's word.
    pub(crate) trust: Trust,
    anchors: OnceLock<HashMap<String, Pointer>>,
}

/// A place in the document.
#[derive(Debug, Clone)]
pub(crate) struct Target<'d> {
    /// What stands there.
    pub(crate) value: &'d Value,
    /// Where that is.
    pub(crate) at: Pointer,
}

impl Document {
    /// A document out of a parsed text, when it is one of a version that is read.
    pub(crate) fn new(
        value: Value,
        label: String,
        key: String,
        url: Option<Url>,
    ) -> Result<Self, Finding> {
        let version = version(&value)?;
        Ok(Self {
            value,
            version,
            label,
            key,
            url,
            externals: Externals::default(),
            schemas: Cache::default(),
            settings: DocumentSettings::default(),
            trust: Trust::default(),
            anchors: OnceLock::new(),
        })
    }

    /// What is written at a place: the version of the file that stands there.
    pub(crate) fn version_at(&self, at: &Pointer) -> Version {
        self.externals.version(at).unwrap_or(self.version)
    }

    /// Where what stands at a place was fetched from.
    pub(crate) fn url_at(&self, at: &Pointer) -> Option<&Url> {
        self.externals.url(at, self.url.as_ref())
    }

    /// What stands at a pointer.
    pub(crate) fn at(&self, pointer: &Pointer) -> Option<&Value> {
        pointer
            .tokens()
            .try_fold(&self.value, |value, token| step(value, &token))
    }

    /// The target of one reference; `from` is where the reference object stands.
    pub(crate) fn lookup(&self, reference: &str, from: &Pointer) -> Result<Target<'_>, Finding> {
        let pointer = match external::rewritten(reference) {
            Some(encoded) => pointer(&encoded),
            None => self.local(reference, from)?,
        };
        let pointer =
            pointer.ok_or_else(|| unresolvable(reference, from, "no $anchor has this name"))?;
        if let Some((code, why)) = self.externals.fault(&pointer) {
            let message = format!(
                "the reference to {} is not followed: {why}",
                self.externals.shown(&pointer).trim_end_matches('#')
            );
            return Err(Finding::new(*code, from, message));
        }
        let reference = self.externals.spelled(reference, &pointer);
        let mut value = &self.value;
        // Rebuilt from its tokens, so that two spellings of a place are one pointer.
        let mut at = Pointer::root();
        let tokens: Vec<String> = pointer.tokens().collect();
        for (index, token) in tokens.iter().enumerate() {
            value = step(value, token).ok_or_else(|| {
                let here = self.externals.shown(&at);
                unresolvable(&reference, from, &hint(value, &here, &tokens[index..]))
            })?;
            at.push(token);
        }
        Ok(Target { value, at })
    }

    /// Where a reference that begins with `#` leads, if there is such a place at all.
    fn local(&self, reference: &str, from: &Pointer) -> Result<Option<Pointer>, Finding> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(Finding::new(
                DiagnosticCode::ExternalRefBlocked,
                from,
                format!(
                    "the reference {} leaves the document from a place where references are not followed; \
                     bundle the documents into one",
                    shown(reference)
                ),
            ));
        };
        if let Some(pointer) = pointer(fragment) {
            let is_reserved = pointer
                .tokens()
                .next()
                .is_some_and(|token| external::is_reserved(&token));
            return Ok((!is_reserved).then_some(pointer));
        }
        let name = percent_decode_str(fragment).decode_utf8_lossy();
        let anchors = self.anchors.get_or_init(|| anchors(&self.value));
        Ok(anchors.get(name.as_ref()).cloned())
    }

    /// The object at the end of a chain of Reference Objects (an object that is no reference is its own end).
    pub(crate) fn resolve<'d>(
        &'d self,
        value: &'d Value,
        at: &Pointer,
    ) -> Result<Target<'d>, Finding> {
        let mut target = Target {
            value,
            at: at.clone(),
        };
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = reference(target.value) else {
                return Ok(target);
            };
            target = self.lookup(reference, &target.at).map_err(|mut finding| {
                // The place to correct is where the chain was entered.
                finding.at = at.clone();
                finding
            })?;
        }
        Err(cyclic(at))
    }

    /// Like [`Self::resolve`], for what must be an object.
    pub(crate) fn resolve_object<'d>(
        &'d self,
        value: &'d Value,
        at: &Pointer,
        what: &str,
    ) -> Result<(&'d Map<String, Value>, Pointer), Finding> {
        let target = self.resolve(value, at)?;
        let version = self.version_at(&target.at);
        if (version == Version::V20) != (self.version == Version::V20) {
            return Err(Finding::new(
                DiagnosticCode::UnsupportedVersion,
                at,
                format!(
                    "{what} of {} cannot stand here: one of the two files is Swagger 2.0 and the other \
                     OpenAPI 3; convert one",
                    self.externals.shown(&target.at)
                ),
            ));
        }
        match target.value {
            Value::Object(map) => Ok((map, target.at)),
            other => Err(Finding::new(
                DiagnosticCode::Malformed,
                &target.at,
                format!("{what} must be an object, not {}", kind(other)),
            )),
        }
    }
}

/// The pointer that a fragment is, when it is one.
fn pointer(fragment: &str) -> Option<Pointer> {
    Pointer::from_text(&percent_decode_str(fragment).decode_utf8_lossy())
}

/// The `$ref` of an object.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

/// A member that should be text; YAML gives numbers and booleans where people write `version: 1.0`.
pub(crate) fn text(map: &Map<String, Value>, name: &str) -> Option<String> {
    match map.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

/// A member that is true.
pub(crate) fn flag(map: &Map<String, Value>, name: &str) -> bool {
    map.get(name) == Some(&Value::Bool(true))
}

pub(crate) fn cyclic(at: &Pointer) -> Finding {
    Finding::new(
        DiagnosticCode::CyclicRef,
        at,
        "the reference leads back to itself without reaching a value; point it at a definition",
    )
}

fn unresolvable(reference: &str, from: &Pointer, why: &str) -> Finding {
    Finding::new(
        DiagnosticCode::UnresolvableRef,
        from,
        format!("the reference {} leads nowhere: {why}", shown(reference)),
    )
}

/// A stranger's text in a message: quoted and short.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 100;
    let mut short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

fn step<'v>(value: &'v Value, token: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(token),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Why a token leads nowhere, with the mistake people make most.
fn hint(value: &Value, here: &str, rest: &[String]) -> String {
    let unescaped = rest.join("/");
    let is_key = rest.len() > 1 && value.get(&unescaped).is_some();
    if is_key {
        let key = crate::json::escape_token(&unescaped);
        return format!("a slash inside a key is written ~1 (write {key})");
    }
    let token = rest.first().map_or("", String::as_str);
    format!("{here} has no member {}", shown(token))
}

/// Every `$anchor` of a value but those of the files linked into it; found once, when the first reference
/// by name is met.
pub(super) fn anchors(root: &Value) -> HashMap<String, Pointer> {
    let mut found = HashMap::new();
    let mut open = vec![(root, Pointer::root())];
    while let Some((value, at)) = open.pop() {
        match value {
            Value::Object(map) => {
                for name in ["$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(anchor)) = map.get(name) {
                        found.insert(anchor.clone(), at.clone());
                    }
                }
                let nested = map
                    .iter()
                    .filter(|(_, member)| member.is_object() || member.is_array())
                    .filter(|(name, _)| !external::is_reserved(name));
                open.extend(nested.map(|(key, member)| (member, at.join(key))));
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let mut at = at.clone();
                    at.push_index(index);
                    open.push((item, at));
                }
            }
            _ => {}
        }
    }
    found
}

/// Which specification the document says it follows.
pub(super) fn version(value: &Value) -> Result<Version, Finding> {
    let Value::Object(map) = value else {
        let message = format!(
            "the root is {} and not an object; name a document with an `openapi` or `swagger` member",
            kind(value)
        );
        return Err(Finding::of_source(DiagnosticCode::NotOpenapi, message));
    };
    let declared = ["openapi", "swagger", "swaggerVersion"]
        .into_iter()
        .find_map(|member| Some((member, text(map, member)?)));
    let Some((member, declared)) = declared else {
        return Err(Finding::of_source(
            DiagnosticCode::NotOpenapi,
            "the text has neither an `openapi` nor a `swagger` member; name an OpenAPI document",
        ));
    };
    let mut parts = declared.trim().split('.');
    match (member, parts.next(), parts.next()) {
        ("swagger", Some("2"), Some("0") | None) => Ok(Version::V20),
        ("openapi", Some("3"), Some("0") | None) => Ok(Version::V30),
        ("openapi", Some("3"), Some("1")) => Ok(Version::V31),
        ("openapi", Some("3"), Some("2")) => Ok(Version::V32),
        _ => Err(Finding::new(
            DiagnosticCode::UnsupportedVersion,
            &Pointer::root().join(member),
            format!(
                "version {} is not read; convert the document to Swagger 2.0 or OpenAPI 3.0, 3.1 or 3.2",
                shown(&declared)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(value: Value) -> Document {
        Document::new(value, "d".into(), "d".into(), None).unwrap()
    }

    #[test]
    fn versions_are_told_apart() {
        for (value, want) in [
            (json!({"swagger": "2.0"}), Ok(Version::V20)),
            (json!({"swagger": 2}), Ok(Version::V20)),
            (json!({"openapi": "3.0.3"}), Ok(Version::V30)),
            (json!({"openapi": 3.1}), Ok(Version::V31)),
            (json!({"openapi": "3.2.0"}), Ok(Version::V32)),
            (
                json!({"openapi": "3.3.0"}),
                Err(DiagnosticCode::UnsupportedVersion),
            ),
            (
                json!({"openapi": "2.0"}),
                Err(DiagnosticCode::UnsupportedVersion),
            ),
            (
                json!({"swaggerVersion": "1.2"}),
                Err(DiagnosticCode::UnsupportedVersion),
            ),
            (json!({"openapi": null}), Err(DiagnosticCode::NotOpenapi)),
            (json!([]), Err(DiagnosticCode::NotOpenapi)),
            (json!("x"), Err(DiagnosticCode::NotOpenapi)),
        ] {
            assert_eq!(version(&value).map_err(|error| error.code), want, "{value}");
        }
    }

    #[test]
    fn references_are_followed_by_pointer_and_anchor() {
        let document = document(json!({
            "openapi": "3.1.0",
            "a/b": {"c~d": [10, {"$anchor": "here"}]},
            "loop": {"$ref": "#/loop"},
            "chain": {"$ref": "#/a~1b/c~0d/0"},
        }));
        let root = Pointer::root();
        let found = |reference| document.lookup(reference, &root).map(|target| target.at);
        assert_eq!(found("#").unwrap().as_str(), "");
        assert_eq!(found("#/a~1b/c~0d/0").unwrap().as_str(), "/a~1b/c~0d/0");
        assert_eq!(found("#/a%7e1b/c~0d").unwrap().as_str(), "/a~1b/c~0d");
        assert_eq!(found("#here").unwrap().as_str(), "/a~1b/c~0d/1");
        let error = |reference| document.lookup(reference, &root).unwrap_err();
        assert_eq!(error("#nowhere").code, DiagnosticCode::UnresolvableRef);
        assert_eq!(error("x.json#/a").code, DiagnosticCode::ExternalRefBlocked);
        assert_eq!(error("#/a~1b/c~0d/7").code, DiagnosticCode::UnresolvableRef);
        assert!(error("#/a/b").message.contains("write a~1b"));
        let end = document.resolve(&document.value["chain"], &root).unwrap();
        assert_eq!(end.value, &json!(10));
        let start = root.join("loop");
        let looped = document
            .resolve(&document.value["loop"], &start)
            .unwrap_err();
        assert_eq!((looped.code, looped.at), (DiagnosticCode::CyclicRef, start));
    }
}
