//! YAML events become one JSON value, without recursion and within a budget.
//!
//! Owns: collections, anchors and aliases, merge keys, repeated keys. Must never let an alias make more
//! than the size limit of a document ("billion laughs").

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Map, Value};

use super::ending::with_blank_line_ended;
use super::scalar::{Scalar, plain, tagged};
use super::{
    DOCUMENT_BYTES_MAX, DOCUMENT_LEVELS_MAX, DOCUMENT_VALUES_MAX, Position, Read, duplicate_key,
    too_deep, too_many_values,
};
use crate::catalog::DiagnosticCode;
use crate::catalog::finding::Finding;
use crate::json::Pointer;

/// At most this many repeated keys are reported, as for JSON.
const DUPLICATES_MAX: usize = 100;

/// Reads the first document of a YAML text.
pub(super) fn parse(text: &str) -> Result<Read, Finding> {
    let mut builder = Builder::default();
    let text = with_blank_line_ended(text);
    let mut events = Parser::new_from_str(&text);
    let mut documents = 0;
    while let Some((event, span)) = next(&mut events)? {
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let message = "a second YAML document starts here; only the first is read";
                    let finding = Finding::of_source(DiagnosticCode::Malformed, message);
                    builder.warnings.push(finding.in_text(place(span)));
                    break;
                }
            }
            event => builder.event(event, span)?,
        }
    }
    Ok(Read {
        value: builder.root.unwrap_or(Value::Null),
        warnings: builder.warnings,
    })
}

type Events<'text> = Parser<'text, StrInput<'text>>;

fn next<'text>(events: &mut Events<'text>) -> Result<Option<(Event<'text>, Span)>, Finding> {
    events
        .next_event()
        .transpose()
        .map_err(|error| scan(&error))
}

fn scan(error: &ScanError) -> Finding {
    let at = Position::new(error.marker().line(), error.marker().col() + 1);
    if error.info() == "recursion limit exceeded" {
        return too_deep(at);
    }
    unparseable(at, error.info())
}

fn unparseable(at: Position, what: &str) -> Finding {
    super::unparseable(at, format!("{what}; correct the YAML here"))
}

fn unparseable_at(span: Span, what: &str) -> Finding {
    unparseable(place(span), what)
}

fn place(span: Span) -> Position {
    Position::new(span.start.line(), span.start.col() + 1)
}

/// A finished node with what it costs to have it again.
#[derive(Clone)]
struct Node {
    value: Value,
    /// What it is as a key: the text that was written. None for a collection, and for what can be none.
    key: Option<String>,
    /// An unquoted `<<`.
    is_merge: bool,
    cost: Cost,
}

/// Size of a value, in the units the limits have.
#[derive(Clone, Copy, Default)]
struct Cost {
    bytes: u64,
    values: usize,
    levels: usize,
}

/// A collection that is being read.
struct Frame {
    collection: Collection,
    anchor: usize,
    cost: Cost,
}

impl Frame {
    /// Whether the next node is a key.
    fn wants_key(&self) -> bool {
        matches!(self.collection, Collection::Mapping { key: None, .. })
    }
}

enum Collection {
    Sequence(Vec<Value>),
    Mapping {
        map: Map<String, Value>,
        /// The key whose value comes next, and whether it is a merge key.
        key: Option<(String, bool)>,
        /// Keys that came by a merge: the mapping's own replace them without a word.
        merged: HashSet<String>,
    },
}

#[derive(Default)]
struct Builder {
    stack: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    spent: Cost,
    root: Option<Value>,
    warnings: Vec<Finding>,
    duplicates: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Finding> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), anchor != 0, span)?;
                self.finish(node, anchor, span)
            }
            Event::SequenceStart(anchor, _) => {
                self.open(Collection::Sequence(Vec::new()), anchor, span)
            }
            Event::MappingStart(anchor, _) => {
                let mapping = Collection::Mapping {
                    map: Map::new(),
                    key: None,
                    merged: HashSet::new(),
                };
                self.open(mapping, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(frame) = self.stack.pop() else {
                    return Ok(());
                };
                let value = match frame.collection {
                    Collection::Sequence(items) => Value::Array(items),
                    Collection::Mapping { map, .. } => Value::Object(map),
                };
                let node = Node {
                    value,
                    key: None,
                    is_merge: false,
                    cost: Cost {
                        levels: frame.cost.levels + 1,
                        ..frame.cost
                    },
                };
                self.finish(node, frame.anchor, span)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    let what = "the alias stands inside the node it refers to";
                    return Err(unparseable_at(span, what));
                };
                let cost = node.cost;
                if self.stack.len() + cost.levels > DOCUMENT_LEVELS_MAX {
                    return Err(too_deep(place(span)));
                }
                // Paid before it is copied.
                self.spend(cost)?;
                let node = self.anchors.get(&anchor).cloned();
                node.map_or(Ok(()), |node| self.finish(node, 0, span))
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, collection: Collection, anchor: usize, span: Span) -> Result<(), Finding> {
        if self.stack.len() >= DOCUMENT_LEVELS_MAX {
            return Err(too_deep(place(span)));
        }
        let cost = Cost {
            bytes: 2,
            values: 1,
            levels: 0,
        };
        self.spend(cost)?;
        self.stack.push(Frame {
            collection,
            anchor,
            cost,
        });
        Ok(())
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        has_anchor: bool,
        span: Span,
    ) -> Result<Node, Finding> {
        let is_key = self.stack.last().is_some_and(Frame::wants_key);
        let scalar = match tag {
            Some(tag) if tag.is_yaml_core_schema() => {
                tagged(&tag.suffix, text).map_err(|what| unparseable_at(span, &what))?
            }
            // Of a key only the text counts, unless an alias may use it elsewhere.
            None if is_key && !has_anchor => Scalar::Value(Value::Null),
            None if style == ScalarStyle::Plain => plain(text),
            // Quoted, or under a tag of somebody's own: the text.
            _ => Scalar::Value(Value::String(text.to_owned())),
        };
        let value = match scalar {
            Scalar::Value(value) => value,
            Scalar::NotFinite(text) => {
                self.warnings.push(Finding::new(
                    DiagnosticCode::Malformed,
                    &self.here(),
                    format!("{text} has no JSON form and is read as text; write a number"),
                ));
                Value::String(text)
            }
        };
        let cost = Cost {
            bytes: text.len() as u64 + 1,
            values: 1,
            levels: 0,
        };
        self.spend(cost)?;
        Ok(Node {
            value,
            key: (is_key || has_anchor).then(|| text.to_owned()),
            is_merge: style == ScalarStyle::Plain && tag.is_none() && text == "<<",
            cost,
        })
    }

    fn spend(&mut self, cost: Cost) -> Result<(), Finding> {
        self.spent.bytes += cost.bytes;
        self.spent.values += cost.values;
        if self.spent.values > DOCUMENT_VALUES_MAX {
            return Err(too_many_values());
        }
        // Separators and quotes are not counted, so a text within the limit always is.
        if self.spent.bytes > 2 * DOCUMENT_BYTES_MAX {
            return Err(Finding::of_source(
                DiagnosticCode::SourceTooLarge,
                format!(
                    "its aliases expand past {} bytes; write the repeated parts as local references",
                    2 * DOCUMENT_BYTES_MAX
                ),
            ));
        }
        Ok(())
    }

    /// A node is complete: it is a key, a member, an item or the root.
    fn finish(&mut self, node: Node, anchor: usize, span: Span) -> Result<(), Finding> {
        if anchor != 0 {
            // The copy is paid for too: anchors can nest.
            self.spend(node.cost)?;
            self.anchors.insert(anchor, node.clone());
        }
        let at_duplicate = self.is_duplicate(&node).then(|| self.here());
        let Some(frame) = self.stack.last_mut() else {
            self.root.get_or_insert(node.value);
            return Ok(());
        };
        frame.cost.bytes += node.cost.bytes;
        frame.cost.values += node.cost.values;
        frame.cost.levels = frame.cost.levels.max(node.cost.levels);
        match &mut frame.collection {
            Collection::Sequence(items) => items.push(node.value),
            Collection::Mapping { map, key, merged } => match key.take() {
                None => {
                    let Some(text) = node.key else {
                        let what = "a key is a collection, which JSON does not have";
                        return Err(unparseable_at(span, what));
                    };
                    *key = Some((text, node.is_merge));
                }
                Some((name, is_merge)) => {
                    if is_merge && merge(map, merged, &node.value) {
                        return Ok(());
                    }
                    if !merged.is_empty() {
                        merged.remove(&name);
                    }
                    map.insert(name, node.value);
                }
            },
        }
        if let Some(at) = at_duplicate {
            self.duplicates += 1;
            if self.duplicates <= DUPLICATES_MAX {
                self.warnings.push(duplicate_key(&at));
            }
        }
        Ok(())
    }

    /// Whether this node is the value of a key that its mapping already has by itself.
    fn is_duplicate(&self, node: &Node) -> bool {
        match self.stack.last().map(|frame| &frame.collection) {
            Some(Collection::Mapping {
                map,
                key: Some((name, is_merge)),
                merged,
            }) => {
                !(*is_merge && is_mergeable(&node.value))
                    && map.contains_key(name)
                    && !merged.contains(name)
            }
            _ => false,
        }
    }

    /// The pointer of the node that is being read.
    fn here(&self) -> Pointer {
        let mut at = Pointer::root();
        for frame in &self.stack {
            match &frame.collection {
                Collection::Sequence(items) => at.push_index(items.len()),
                Collection::Mapping { key, .. } => {
                    at.push(key.as_ref().map_or("", |(name, _)| name));
                }
            }
        }
        at
    }
}

fn is_mergeable(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(parts) => parts.iter().all(Value::is_object),
        _ => false,
    }
}

/// `<<` merges mappings into its own. It is no part of the core schema, but documents in the wild use it:
/// keys the mapping has win over merged ones, wherever they stand, and earlier merged ones over later.
fn merge(map: &mut Map<String, Value>, merged: &mut HashSet<String>, value: &Value) -> bool {
    if !is_mergeable(value) {
        return false;
    }
    let parts = match value {
        Value::Array(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    for (name, member) in parts.iter().filter_map(Value::as_object).flatten() {
        if !map.contains_key(name) {
            map.insert(name.clone(), member.clone());
            merged.insert(name.clone());
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Value {
        parse(text).unwrap().value
    }

    #[test]
    fn keys_are_the_text_that_was_written() {
        let value =
            read("200: a\n0777: b\ntrue: c\n1.10: d\n~: e\n2024-01-01: f\n'x y': g\n0x1F: h");
        let keys: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "200",
                "0777",
                "true",
                "1.10",
                "~",
                "2024-01-01",
                "x y",
                "0x1F"
            ]
        );
    }

    #[test]
    fn quoted_block_and_tagged_scalars_are_text() {
        assert_eq!(
            read("a: '1'\nb: \"no\"\nc: |\n  12\nd: !!str 12\ne: !mine 12\nf: !!int '12'\ng: ! 12"),
            json!({"a": "1", "b": "no", "c": "12\n", "d": "12", "e": "12", "f": 12, "g": "12"})
        );
        assert!(parse("a: !!int x").is_err());
    }

    #[test]
    fn aliases_and_merge_keys_are_expanded() {
        assert_eq!(
            read(
                "a: &x {p: 1, q: [2]}\nb: *x\nc:\n  <<: *x\n  q: 3\nd:\n  q: 4\n  <<: [{r: 5, q: 6}, *x]\ne: {'<<': 1}"
            ),
            json!({
                "a": {"p": 1, "q": [2]}, "b": {"p": 1, "q": [2]}, "c": {"p": 1, "q": 3},
                "d": {"q": 4, "r": 5, "p": 1}, "e": {"<<": 1}
            })
        );
        assert!(parse("a: &x {<<: *x, p: 1}").is_err());
        assert!(parse("a: &x [*x]").is_err());
        assert!(parse("a: *nowhere").is_err());
        assert_eq!(read("&k a: 1\nb: *k\n*k : 2"), json!({"a": 2, "b": "a"}));
    }

    #[test]
    fn repeated_keys_are_reported_but_not_overridden_merges() {
        let text = parse("a: {b: 1, c: 0, b: 2}\nd: &x {e: 1}\nf: {<<: *x, e: 2}").unwrap();
        assert_eq!(
            text.value,
            json!({"a": {"b": 2, "c": 0}, "d": {"e": 1}, "f": {"e": 2}})
        );
        let places: Vec<_> = text.warnings.iter().map(|one| one.at.as_str()).collect();
        assert_eq!(places, ["/a/b"]);
    }

    #[test]
    fn a_billion_laughs_stop_at_the_budget() {
        let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..12 {
            let before = level - 1;
            let items = vec![format!("*a{before}"); 9].join(", ");
            let line = format!("a{level}: &a{level} [{items}]\n");
            text.push_str(&line);
        }
        let error = parse(&text).unwrap_err();
        assert_eq!(error.code, DiagnosticCode::SourceTooLarge);
    }

    #[test]
    fn depth_is_counted_through_aliases() {
        let block = |levels: usize| {
            (0..levels).fold(String::new(), |text, level| {
                format!("{text}{}-\n", " ".repeat(level))
            })
        };
        assert!(parse(&block(DOCUMENT_LEVELS_MAX)).is_ok());
        let error = parse(&block(DOCUMENT_LEVELS_MAX + 1)).unwrap_err();
        assert_eq!(error.code, DiagnosticCode::TooDeep);
        assert_eq!(
            parse(&"[".repeat(5000)).unwrap_err().code,
            DiagnosticCode::TooDeep
        );
        let mut text = "a0: &a0 [[[[[[[[[[1]]]]]]]]]]\n".to_owned();
        for level in 1..200 {
            let line = format!("a{level}: &a{level} [[[[[[[[[[*a{}]]]]]]]]]]\n", level - 1);
            text.push_str(&line);
        }
        assert_eq!(parse(&text).unwrap_err().code, DiagnosticCode::TooDeep);
    }

    #[test]
    fn only_the_first_document_is_read_and_that_is_said() {
        let text = parse("---\na: 1\n---\nb: 2\n").unwrap();
        assert_eq!(text.value, json!({"a": 1}));
        assert_eq!(text.warnings.len(), 1);
        assert!(parse("# nothing\n").unwrap().value.is_null());
    }

    #[test]
    fn infinities_become_text_with_a_warning_at_the_place() {
        let text = parse("a:\n  - 1\n  - {b: -.inf}").unwrap();
        assert_eq!(text.value, json!({"a": [1, {"b": "-.inf"}]}));
        assert_eq!(text.warnings[0].at.as_str(), "/a/1/b");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-a-z:{}\\[\\],&*!<'\"|>?%@#~ \\n\\t\\r0-9.]{0,80}") {
            let _ = parse(&text);
        }

        #[test]
        fn lines_that_look_like_yaml_are_read_or_refused(
            lines in prop::collection::vec("( ){0,6}(- |\\? |: |[a-c]: |<<: |&[ab] |\\*[ab]|!!str |\\| |> |\\{|\\}|\\[|\\]|,|'|\"|---|#|\\t){0,5}[a1]?", 0..12)
        ) {
            let _ = parse(&lines.join("\n"));
        }

        #[test]
        fn json_reads_the_same_as_yaml(
            items in prop::collection::vec(("[a-z]{1,5}", any::<i64>(), "[ -~]{0,12}"), 0..6)
        ) {
            let value: Map<String, Value> = items
                .into_iter()
                .map(|(name, number, text)| (name, json!([number, text, null, true, {"x": 0.5}])))
                .collect();
            let value = Value::Object(value);
            prop_assert_eq!(read(&value.to_string()), value);
        }
    }
}
