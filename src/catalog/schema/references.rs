//! References inside schemas: where they lead, and what they are called under `$defs`.
//!
//! Owns: plain, dynamic and recursive references, aliases. Must never convert what a reference leads to.

use std::collections::HashSet;

use serde_json::Value;

use super::convert::Converter;
use super::{Cache, Direction, Use, definition_name};
use crate::catalog::DiagnosticCode;
use crate::catalog::document::{Document, Target, cyclic, reference};
use crate::catalog::finding::Finding;
use crate::json::{Pointer, kind};

/// Chains of references of one value to another are followed this far.
const ALIASES_MAX: usize = 100;

impl<'d> Converter<'d> {
    /// Where the reference of a keyword leads: `$ref`, `$dynamicRef` of 2020-12, `$recursiveRef` of 2019-09.
    ///
    /// A document is one schema resource (an embedded `$id` is not followed), and in one resource a dynamic
    /// reference has one place to lead to: that of its anchor. Read as a plain one it means the same, unless
    /// several anchors have the name.
    pub(super) fn target(
        &mut self,
        keyword: &str,
        reference: &str,
        at: &Pointer,
    ) -> Result<Option<Pointer>, Finding> {
        if keyword == "$recursiveRef" {
            let (target, is_anchor) = self.recursive(at);
            if !is_anchor {
                self.flattened(at, "$recursiveRef has no $recursiveAnchor around it");
            }
            return Ok(Some(target));
        }
        let anchor = reference.strip_prefix('#').unwrap_or_default();
        if keyword == "$dynamicRef" && self.document.schemas.is_ambiguous(self.document, anchor) {
            self.flattened(at, "$dynamicRef has several anchors to lead to");
        }
        self.reference(reference, at)
    }

    fn flattened(&mut self, at: &Pointer, why: &str) {
        let message = format!("{why}; it is read as a plain $ref");
        self.note(Finding::new(
            DiagnosticCode::DynamicRefFlattened,
            at,
            message,
        ));
    }

    /// Where a reference leads, past definitions that are nothing but another reference. None where the
    /// fault costs only this place.
    fn reference(&mut self, reference: &str, at: &Pointer) -> Result<Option<Pointer>, Finding> {
        let fault = match self.follow(reference, at) {
            Ok(Target { value, at: to }) => {
                if value.is_object() || value.is_boolean() {
                    return Ok(Some(to));
                }
                let message = format!("the reference leads to {} and not to a schema", kind(value));
                Finding::new(DiagnosticCode::Malformed, at, message)
            }
            Err(fault) => fault,
        };
        if self.direction == Direction::Input {
            return Err(fault);
        }
        self.note(Finding {
            message: format!("{}; anything is accepted here", fault.message),
            ..fault
        });
        Ok(None)
    }

    /// Where a `$recursiveRef` leads as long as no other schema extends its own: the nearest schema around
    /// it that is its anchor, else the one it is a part of.
    fn recursive(&self, at: &Pointer) -> (Pointer, bool) {
        let mut around = at.clone();
        let mut home = around.clone();
        let (above, is_document) = self.document.externals.home(at);
        // `/components/schemas/Name` is the outermost schema of a document; a file that is none is one itself.
        let outermost = if is_document { above + 3 } else { above };
        while !around.as_str().is_empty() {
            let is_anchor = self
                .document
                .at(&around)
                .is_some_and(|schema| schema.get("$recursiveAnchor") == Some(&Value::Bool(true)));
            if is_anchor {
                return (around, true);
            }
            if around.tokens().count() >= outermost {
                home = around.clone();
            }
            around.pop();
        }
        (home, false)
    }

    fn follow(&self, first: &str, at: &Pointer) -> Result<Target<'d>, Finding> {
        let mut target = self.document.lookup(first, at)?;
        for _ in 0..ALIASES_MAX {
            let is_alias = target.value.as_object().is_some_and(|map| map.len() == 1);
            match reference(target.value) {
                Some(next) if is_alias => target = self.document.lookup(next, &target.at)?,
                _ => return Ok(target),
            }
        }
        Err(cyclic(at))
    }

    /// Notes the use of a definition and answers the reference to it.
    pub(super) fn refer(&mut self, at: Pointer, in_place: bool) -> String {
        if let Some(&place) = self.used.get(&at) {
            self.uses[place].in_place |= in_place;
            return format!("#/$defs/{}", self.uses[place].name);
        }
        let name = definition_name(self.document, &at);
        let reference = format!("#/$defs/{name}");
        self.used.insert(at.clone(), self.uses.len());
        self.uses.push(Use { at, name, in_place });
        reference
    }
}

impl Cache {
    /// Whether several schemas of the document have a dynamic anchor of this name.
    fn is_ambiguous(&self, document: &Document, anchor: &str) -> bool {
        let names = self.ambiguous.get_or_init(|| {
            let (mut seen, mut twice) = (HashSet::new(), HashSet::new());
            let mut open = vec![&document.value];
            while let Some(value) = open.pop() {
                match value {
                    Value::Object(map) => {
                        if let Some(Value::String(name)) = map.get("$dynamicAnchor")
                            && !seen.insert(name.as_str())
                        {
                            twice.insert(name.clone());
                        }
                        open.extend(map.values());
                    }
                    Value::Array(items) => open.extend(items),
                    _ => {}
                }
            }
            twice
        });
        names.contains(anchor)
    }
}
