//! OpenAPI Overlay 1.0: the operator's changes to a document before it is read.
//!
//! Owns: reading overlay files, and carrying their actions out. Must never change a document by half: a file
//! that is no overlay costs the catalogue, not the actions after the fault.

mod load;
mod target;

use serde_json::{Map, Value};

use super::DiagnosticCode;
use super::document::shown;
use super::finding::Finding;
use super::parse::DOCUMENT_LEVELS_MAX;
use super::trust::Trust;
use crate::json::{Pointer, kind};
pub(super) use load::apply_all;
use target::Target;

/// An overlay has at most this many actions; each looks at the whole document.
const ACTIONS_MAX: usize = 1_000;

/// So many values all actions of an overlay write together at most: an update of a thousand values on a hundred
/// thousand operations is nobody's wish.
const WRITTEN_MAX: usize = 1_000_000;

/// A file of changes.
#[derive(Debug)]
pub(super) struct Overlay {
    actions: Vec<Action>,
}

#[derive(Debug)]
struct Action {
    target: Target,
    /// What is merged into what the target finds.
    update: Option<Value>,
    /// Whether what the target finds is taken away.
    remove: bool,
    /// Where the action stands in its file.
    at: Pointer,
}

fn malformed(at: &Pointer, message: impl Into<String>) -> Finding {
    Finding::new(DiagnosticCode::BadOverlay, at, message)
}

impl Overlay {
    /// An overlay out of a parsed file; findings are about places of that file. Oddities that change nothing
    /// are added to `warnings`.
    pub(super) fn read(value: &Value, warnings: &mut Vec<Finding>) -> Result<Self, Finding> {
        let root = Pointer::root();
        let Value::Object(members) = value else {
            let message = format!("an overlay is an object, not {}", kind(value));
            return Err(malformed(&root, message));
        };
        let version = match members.get("overlay") {
            Some(Value::String(version)) => version.clone(),
            // YAML reads `overlay: 1.0` as a number.
            Some(Value::Number(version)) => version.to_string(),
            _ => {
                let message =
                    "the text has no `overlay` member; name a file of OpenAPI Overlay 1.0";
                return Err(malformed(&root, message));
            }
        };
        if version != "1" && !version.starts_with("1.") {
            let message = format!(
                "overlays of version {} are not read, only 1.x",
                shown(&version)
            );
            return Err(malformed(&root.join("overlay"), message));
        }
        check_info(members)?;
        for name in members.keys() {
            let is_known = ["overlay", "info", "extends", "actions"].contains(&name.as_str());
            if !is_known && !name.starts_with("x-") {
                let message = format!(
                    "an overlay has no member {}; it has overlay, info, extends and actions",
                    shown(name)
                );
                return Err(malformed(&root.join(name), message));
            }
        }
        if members.contains_key("extends") {
            // The operator says what it is applied to; a name that differs is a hint only.
            check_text(members, "extends", &root)?;
        }
        let at = root.join("actions");
        let Some(Value::Array(list)) = members.get("actions") else {
            return Err(malformed(&at, "an overlay has a list of `actions`"));
        };
        if list.is_empty() || list.len() > ACTIONS_MAX {
            let message = format!("an overlay has 1 to {ACTIONS_MAX} actions");
            return Err(malformed(&at, message));
        }
        let mut actions = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            let mut at = at.clone();
            at.push_index(index);
            actions.push(Action::read(value, at, warnings)?);
        }
        Ok(Self { actions })
    }

    /// Carries the actions out in their order; what an action brings is trusted. Findings are about places of
    /// the overlay.
    pub(super) fn apply(
        &self,
        document: &mut Value,
        trust: &mut Trust,
        warnings: &mut Vec<Finding>,
    ) -> Result<(), Finding> {
        let mut writing = Writing {
            trust,
            left: WRITTEN_MAX,
        };
        for action in &self.actions {
            let places = action
                .target
                .find(document)
                .map_err(|why| malformed(&action.at.join("target"), why))?;
            if places.is_empty() {
                warnings.push(Finding::new(
                    DiagnosticCode::OverlayNoMatch,
                    &action.at,
                    format!(
                        "the target {} matches nothing in the document",
                        shown(action.target.text())
                    ),
                ));
            }
            let done = if action.remove {
                remove(document, places, writing.trust)
            } else if let Some(update) = &action.update {
                places
                    .into_iter()
                    .try_for_each(|place| writing.update(document, place, update))
            } else {
                Ok(())
            };
            done.map_err(|why| malformed(&action.at, why))?;
        }
        Ok(())
    }
}

fn check_text(members: &Map<String, Value>, name: &str, at: &Pointer) -> Result<(), Finding> {
    match members.get(name) {
        // Versions are numbers in YAML where nobody quotes them.
        Some(Value::String(_) | Value::Number(_)) => Ok(()),
        Some(other) => Err(malformed(
            &at.join(name),
            format!("`{name}` is a string, not {}", kind(other)),
        )),
        None => Err(malformed(at, format!("`{name}` is missing"))),
    }
}

fn check_info(members: &Map<String, Value>) -> Result<(), Finding> {
    let at = Pointer::root().join("info");
    let Some(Value::Object(info)) = members.get("info") else {
        return Err(malformed(
            &at,
            "an overlay has an `info` object with `title` and `version`",
        ));
    };
    check_text(info, "title", &at)?;
    check_text(info, "version", &at)
}

impl Action {
    fn read(value: &Value, at: Pointer, warnings: &mut Vec<Finding>) -> Result<Self, Finding> {
        let Value::Object(members) = value else {
            let message = format!("an action is an object, not {}", kind(value));
            return Err(malformed(&at, message));
        };
        for name in members.keys() {
            let is_known = ["target", "description", "update", "remove"].contains(&name.as_str());
            if !is_known && !name.starts_with("x-") {
                let message = format!(
                    "an action has no member {}; it has target, description, update and remove",
                    shown(name)
                );
                return Err(malformed(&at.join(name), message));
            }
        }
        let Some(Value::String(text)) = members.get("target") else {
            return Err(malformed(&at, "an action has a `target`, a JSONPath"));
        };
        let target = Target::parse(text).map_err(|why| malformed(&at.join("target"), why))?;
        let remove = match members.get("remove") {
            None => false,
            Some(Value::Bool(remove)) => *remove,
            Some(other) => {
                let message = format!("`remove` is a boolean, not {}", kind(other));
                return Err(malformed(&at.join("remove"), message));
            }
        };
        let update = members.get("update").cloned();
        if !remove && update.is_none() {
            return Err(malformed(
                &at,
                "an action has an `update`, or `remove: true`",
            ));
        }
        if remove && update.is_some() {
            // By the specification the update has no effect then.
            warnings.push(Finding::new(
                DiagnosticCode::Malformed,
                &at.join("update"),
                "an action that removes does not update; the update has no effect",
            ));
        }
        Ok(Self {
            target,
            update: update.filter(|_| !remove),
            remove,
            at,
        })
    }
}

/// Takes away what stands at the places: from the last one on, so that no index moves before its turn.
fn remove(document: &mut Value, mut places: Vec<Pointer>, trust: &mut Trust) -> Result<(), String> {
    // Places inside others come after them in the order of their tokens, indices by their number.
    places.sort_by_cached_key(|place| {
        let tokens = place.tokens();
        tokens
            .map(|token| (token.parse::<usize>().ok(), token))
            .collect::<Vec<_>>()
    });
    places.dedup();
    for place in places.into_iter().rev() {
        let last = place.tokens().last();
        let Some(last) = last else {
            return Err("the whole document cannot be removed".to_owned());
        };
        let mut above = place.clone();
        above.pop();
        match document.pointer_mut(above.as_str()) {
            Some(Value::Object(map)) => {
                map.shift_remove(&last);
                trust.removed(&place);
            }
            Some(Value::Array(items)) => {
                if let Ok(index) = last.parse::<usize>()
                    && index < items.len()
                {
                    items.remove(index);
                }
                trust.moved(&above);
            }
            _ => {}
        }
    }
    Ok(())
}

/// What is written by one overlay.
struct Writing<'a> {
    trust: &'a mut Trust,
    /// How many values may still be written.
    left: usize,
}

impl Writing<'_> {
    fn update(
        &mut self,
        document: &mut Value,
        place: Pointer,
        update: &Value,
    ) -> Result<(), String> {
        self.count(update)?;
        if place.tokens().count() + levels(update) > DOCUMENT_LEVELS_MAX {
            return Err(format!(
                "the document would nest deeper than {DOCUMENT_LEVELS_MAX} levels"
            ));
        }
        let Some(found) = document.pointer_mut(place.as_str()) else {
            return Ok(());
        };
        match (&mut *found, update) {
            (Value::Object(map), Value::Object(with)) => {
                self.merge(map, with, &place);
                Ok(())
            }
            (Value::Array(items), update) => {
                self.append(items, update.clone(), place);
                Ok(())
            }
            (Value::Object(_), other) => Err(format!(
                "an object is updated with an object, not {}; {} is one",
                kind(other),
                shown(place.as_str())
            )),
            (other, _) => Err(format!(
                "a target is an object or a list, and {} is {}; target what it stands in",
                shown(place.as_str()),
                kind(other)
            )),
        }
    }

    /// Objects are merged member by member, lists are continued, everything else is replaced.
    fn merge(&mut self, map: &mut Map<String, Value>, with: &Map<String, Value>, at: &Pointer) {
        for (name, new) in with {
            let at = at.join(name);
            match (map.get_mut(name), new) {
                (Some(Value::Object(old)), Value::Object(new)) => self.merge(old, new, &at),
                (Some(Value::Array(old)), Value::Array(new)) => {
                    for item in new {
                        self.append(old, item.clone(), at.clone());
                    }
                }
                _ => {
                    map.insert(name.clone(), new.clone());
                    self.trust.wrote(at);
                }
            }
        }
    }

    fn append(&mut self, items: &mut Vec<Value>, new: Value, mut at: Pointer) {
        at.push_index(items.len());
        items.push(new);
        self.trust.wrote(at);
    }

    fn count(&mut self, update: &Value) -> Result<(), String> {
        self.left = self.left.checked_sub(values(update)).ok_or_else(|| {
            format!("the overlay would write over {WRITTEN_MAX} values; narrow its targets")
        })?;
        Ok(())
    }
}

/// How many values a value consists of.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(values).sum(),
        Value::Array(items) => items.iter().map(values).sum(),
        _ => 0,
    }
}

/// How deep a value nests.
fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(levels).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
