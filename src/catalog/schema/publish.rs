//! The parts of one published schema, gathered before it is known how much of what they refer to fits.
//!
//! Owns: what stands in the root and what becomes a reference. Must never materialise a definition.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::convert::Converter;
use super::{Direction, Use, inspect};
use crate::catalog::document::{Document, Version};
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// Publishes the parts of one schema of one operation; they share `$defs`.
pub(crate) struct Publisher<'d> {
    document: &'d Document,
    direction: Direction,
    uses: Vec<Use>,
    warnings: Vec<Finding>,
}

impl<'d> Publisher<'d> {
    /// A publisher without definitions.
    pub(crate) fn new(document: &'d Document, direction: Direction) -> Self {
        Self {
            document,
            direction,
            uses: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// A schema whose own keywords are wanted: a reference at its root is replaced by what it leads to.
    pub(crate) fn inline(&mut self, value: &Value, at: &Pointer) -> Result<Value, Finding> {
        let target = self.document.resolve(value, at)?;
        self.with(|converter| converter.convert_root(target.value, &target.at))
    }

    /// The schema of an argument (or of a wrapped result).
    ///
    /// A reference to a scalar is replaced by the scalar, so that cards can say what it is; any other
    /// reference stays one and only says its type beside it.
    pub(crate) fn property(&mut self, value: &Value, at: &Pointer) -> Result<Value, Finding> {
        let is_bare = value.as_object().is_some_and(|map| map.len() == 1);
        if crate::catalog::document::reference(value).is_none() {
            return self.with(|converter| converter.convert_root(value, at));
        }
        if let Ok(target) = self.document.resolve(value, at)
            && inspect::is_scalar(target.value)
            && (is_bare || self.document.version_at(at) <= Version::V30)
        {
            let mut scalar =
                self.with(|converter| converter.convert_root(target.value, &target.at))?;
            if let (Value::Object(scalar), Some(Value::String(own))) =
                (&mut scalar, value.get("description"))
            {
                scalar.insert("description".into(), json!(own));
            }
            return Ok(scalar);
        }
        // A reference at the root is the first that is noted.
        let first = self.uses.len();
        let mut schema = self.with(|converter| converter.convert_root(value, at))?;
        self.say_type(&mut schema, first);
        Ok(schema)
    }

    /// Puts the type of the target beside a reference, which changes nothing for a validator.
    fn say_type(&self, schema: &mut Value, first: usize) {
        let Value::Object(map) = schema else { return };
        if !map.contains_key("$ref") || map.contains_key("type") {
            return;
        }
        let Some(root) = self.uses.get(first) else {
            return;
        };
        let target = self
            .document
            .schemas
            .get(self.document, self.direction, &root.at);
        if let Ok(target) = &target.schema
            && let Some(name) = target.get("type")
        {
            map.insert("type".into(), name.clone());
        }
    }

    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Converter<'d>) -> Result<T, Finding>,
    ) -> Result<T, Finding> {
        let mut converter = Converter::new(self.document, self.direction);
        let made = work(&mut converter);
        self.uses.append(&mut converter.uses);
        self.warnings.append(&mut converter.warnings);
        made
    }

    /// The root schema, and what everything published so far refers to. It stands at a place of the document.
    pub(crate) fn draft(self, root: Map<String, Value>, at: &Pointer) -> Draft {
        Draft {
            root,
            at: at.clone(),
            direction: self.direction,
            uses: self.uses,
            warnings: self.warnings,
        }
    }
}

/// A published schema without its `$defs`.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(super) root: Map<String, Value>,
    /// Where the root stands in the document.
    pub(super) at: Pointer,
    pub(super) direction: Direction,
    pub(super) uses: Vec<Use>,
    /// What was odd about it so far.
    pub(super) warnings: Vec<Finding>,
}

impl Draft {
    /// The root, to be changed. What it no longer refers to is to be forgotten.
    pub(crate) fn root_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.root
    }

    /// Forgets the definitions to which the root does not refer any more.
    pub(crate) fn forget_unused(&mut self) {
        let mut named: HashSet<&str> = HashSet::new();
        let mut open: Vec<&Value> = self.root.values().collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(reference)) = map.get("$ref") {
                        named.extend(reference.strip_prefix("#/$defs/"));
                    }
                    open.extend(map.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        self.uses.retain(|one| named.contains(one.name.as_str()));
    }
}
