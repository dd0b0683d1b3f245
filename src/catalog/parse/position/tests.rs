//! Places against writers that note where they write, and the cases that writers do not make.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::*;
use crate::catalog::parse::parse;

/// The places of pointers in a text, as `line:column`, or `-`.
#[track_caller]
fn places(text: &str, pointers: &[&str]) -> Vec<String> {
    places_in(text.as_bytes().to_vec(), pointers)
}

#[track_caller]
fn places_in(bytes: Vec<u8>, pointers: &[&str]) -> Vec<String> {
    let original = parse(bytes, false).unwrap().original;
    let pointers: Vec<_> = pointers
        .iter()
        .map(|text| Pointer::from_text(text).unwrap())
        .collect();
    let found = original.positions(pointers.iter()).into_iter();
    found.map(|one| one.map_or("-".to_owned(), shown)).collect()
}

fn shown(position: Position) -> String {
    format!("{}:{}", position.line, position.column.unwrap())
}

#[test]
fn members_are_at_their_keys_and_items_at_their_first_character() {
    let pointers = ["", "/a", "/a/0", "/a/1", "/a/1/b", "/c"];
    let json = "{\n  \"a\": [ 1,\n    {\"b\": null}],\"c\":{}}";
    assert_eq!(
        places(json, &pointers),
        ["-", "2:3", "2:10", "3:5", "3:6", "3:18"]
    );
    let yaml = "# x\na:\n  - 1\n  - b: ~\n'c': {}\n";
    assert_eq!(
        places(yaml, &pointers),
        ["-", "2:1", "3:5", "4:5", "4:5", "5:1"]
    );
}

#[test]
fn what_is_nowhere_is_where_its_surroundings_are() {
    let pointers = ["/a/x", "/a/b/x/y", "/x", "/a/b/0", "/a/l/7", "/a/l/x"];
    let want = ["1:2", "1:8", "1:1", "1:8", "1:15", "1:15"];
    assert_eq!(places(r#"{"a": {"b": 1,"l":[1]}}"#, &pointers), want);
    assert_eq!(places("# x\na: 1\n", &["/b"]), ["2:1"]);
}

#[test]
fn of_a_repeated_key_the_last_one_counts() {
    let json = "{\"a\": {\"x\": 1, \"y\": 1},\n \"a\": {\"x\": 2},\n \"b\": 1}";
    // What only the first one had is nowhere: the value is the last one's.
    let want = ["2:2", "2:8", "2:2", "3:2"];
    assert_eq!(places(json, &["/a", "/a/x", "/a/y", "/b"]), want);
    let yaml = "a: {x: 1, y: 1}\na: {x: 2}\nb: 1\n";
    assert_eq!(
        places(yaml, &["/a", "/a/x", "/a/y", "/b"]),
        ["2:1", "2:5", "2:1", "3:1"]
    );
}

#[test]
fn escapes_are_undone_in_keys_and_pointers() {
    let json = r#"{"\u0061\"": {"~/é\\": 1, "": {"": 2}}}"#;
    assert_eq!(
        places(json, &["/a\"", "/a\"/~0~1é\\", "/a\"//"]),
        ["1:2", "1:15", "1:32"]
    );
    let yaml = "\"\\x61\": {'it''s': 1}\n";
    assert_eq!(places(yaml, &["/a/it's"]), ["1:10"]);
}

#[test]
fn aliases_are_where_they_stand_and_merges_at_their_key() {
    let yaml = "a: &x\n  p: 1\n  q: 2\nb: *x\nc:\n  <<: *x\n  q: 3\nd: [*x]\n&k e: 1\n*k : 2\n";
    let pointers = [
        "/a/p", "/b", "/b/p", "/c/p", "/c/q", "/c/p/z", "/d/0/p", "/e",
    ];
    assert_eq!(
        places(yaml, &pointers),
        ["2:3", "4:1", "4:1", "6:3", "7:3", "6:3", "8:5", "10:1"]
    );
    // A quoted one is a key like any other.
    assert_eq!(
        places("a: {'<<': {b: 1}}", &["/a/b", "/a/<<"]),
        ["1:1", "1:5"]
    );
}

#[test]
fn encodings_line_ends_and_tabs_do_not_move_places() {
    for (text, want) in [
        ("{\"é\":\r\n\t{\"😀\":\r[1]}}", ["1:2", "2:3", "3:2"]),
        ("é:\r\n  😀:\r\n    - 1\r\n", ["1:1", "2:3", "3:7"]),
        ("é:\n\t😀:\n\t\t-\t1\n", ["1:1", "2:2", "3:5"]),
    ] {
        let pointers = ["/é", "/é/😀", "/é/😀/0"];
        let marked = format!("\u{feff}{text}");
        let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [text.as_bytes().to_vec(), marked.into_bytes(), wide] {
            assert_eq!(places_in(bytes, &pointers), want, "{text:?}");
        }
    }
}

#[test]
fn only_the_first_yaml_document_is_looked_at() {
    assert_eq!(places("a: 1\n---\n\na: 2\n", &["/a"]), ["1:1"]);
    assert_eq!(places("---\na: 1\n...\n", &["/a"]), ["2:1"]);
}

/// Pointers of more parts than are looked for lead to what is around.
#[test]
fn what_is_sought_is_bounded() {
    let mut sought = Sought::default();
    for index in 0..PARTS_MAX {
        let pointer = Pointer::from_text(&format!("/a/{index}/b")).unwrap();
        assert!(sought.seek(&pointer) < PARTS_MAX);
    }
    assert_eq!(sought.parts.len(), PARTS_MAX);
}

/// Ten thousand places in one line are found in one walk over it.
#[test]
fn many_places_of_one_line_are_found_together() {
    const ITEMS: usize = 200_000;
    let text = format!("{{\"é\":[{}0]}}", "0,".repeat(ITEMS - 1));
    let pointers: Vec<_> = (0..ITEMS)
        .step_by(20)
        .map(|index| Pointer::from_text(&format!("/é/{index}")).unwrap())
        .collect();
    let original = Original::new(text, Language::Json);
    let found = original.positions(pointers.iter().rev());
    let want = (0..ITEMS).step_by(20).rev();
    let want: Vec<_> = want
        .map(|index| Some(Position::new(1, 7 + 2 * index)))
        .collect();
    assert_eq!(found, want);
}

/// Writes a value and notes where.
struct Writer {
    text: String,
    line: usize,
    column: usize,
    places: BTreeMap<String, String>,
    /// White space to write, taken in turn.
    gaps: Vec<&'static str>,
    turn: usize,
}

impl Writer {
    fn new(gaps: &[&'static str]) -> Self {
        Self {
            text: String::new(),
            line: 1,
            column: 1,
            places: BTreeMap::new(),
            gaps: gaps.to_vec(),
            turn: 0,
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        for c in text.replace("\r\n", "\n").replace('\r', "\n").chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
    }

    fn gap(&mut self) {
        let gap = self.gaps.get(self.turn % self.gaps.len().max(1)).copied();
        self.turn += 1;
        // Two halves of one line end would be counted twice.
        if !(self.text.ends_with('\r') && gap.is_some_and(|gap| gap.starts_with('\n'))) {
            self.put(gap.unwrap_or_default());
        }
    }

    fn note(&mut self, at: &Pointer) {
        let place = format!("{}:{}", self.line, self.column);
        self.places.insert(at.as_str().to_owned(), place);
    }

    fn json(&mut self, value: &Value, at: &Pointer) {
        match value {
            Value::Object(map) => {
                self.put("{");
                for (index, (key, member)) in map.iter().enumerate() {
                    if index > 0 {
                        self.put(",");
                    }
                    let at = at.join(key);
                    self.gap();
                    self.note(&at);
                    self.put(&Value::from(key.as_str()).to_string());
                    self.gap();
                    self.put(":");
                    self.gap();
                    self.json(member, &at);
                    self.gap();
                }
                self.put("}");
            }
            Value::Array(items) => {
                self.put("[");
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.put(",");
                    }
                    let at = at.join(&index.to_string());
                    self.gap();
                    self.note(&at);
                    self.json(item, &at);
                    self.gap();
                }
                self.put("]");
            }
            other => self.put(&other.to_string()),
        }
    }

    /// Block YAML; what is empty or no collection is written as JSON.
    fn yaml(&mut self, value: &Value, at: &Pointer, indent: usize, line_end: &str) {
        let pad = " ".repeat(indent);
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, member) in map {
                    let at = at.join(key);
                    self.put(line_end);
                    self.put(&pad);
                    self.note(&at);
                    self.put(&Value::from(key.as_str()).to_string());
                    self.put(": ");
                    self.yaml(member, &at, indent + 1, line_end);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    let at = at.join(&index.to_string());
                    self.put(line_end);
                    self.put(&pad);
                    self.put("- ");
                    // As JSON: the lists of block YAML may start on the line of the dash or below it.
                    self.note(&at);
                    self.json(item, &at);
                }
            }
            other => self.put(&other.to_string()),
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\,:{}\\[\\]é😀]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c~/\"\\\\é😀]{0,3}", inner), 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn any_gaps() -> impl Strategy<Value = Vec<&'static str>> {
    let gap = prop::sample::select(vec!["", "", " ", "\t", "\n", "\r\n", "\r", "\n  "]);
    prop::collection::vec(gap, 1..9)
}

#[track_caller]
fn check(writer: &Writer, language: Language) {
    let original = Original::new(writer.text.clone(), language);
    let pointers: Vec<_> = writer
        .places
        .keys()
        .map(|text| Pointer::from_text(text).unwrap())
        .collect();
    let found = original.positions(pointers.iter());
    for (pointer, found) in pointers.iter().zip(found) {
        assert_eq!(
            found.map(shown).as_ref(),
            writer.places.get(pointer.as_str()),
            "{pointer} of {:?}",
            writer.text
        );
    }
}

proptest! {
    #[test]
    fn json_places_are_where_they_were_written(value in any_value(), gaps in any_gaps()) {
        let mut writer = Writer::new(&gaps);
        writer.gap();
        writer.json(&value, &Pointer::root());
        check(&writer, Language::Json);
    }

    #[test]
    fn flow_yaml_places_are_where_they_were_written(value in any_value()) {
        let mut writer = Writer::new(&[" ", "  "]);
        writer.json(&value, &Pointer::root());
        check(&writer, Language::Yaml);
    }

    #[test]
    fn block_yaml_places_are_where_they_were_written(
        value in any_value(),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\n\n", " # é\n"]),
    ) {
        let mut writer = Writer::new(&[]);
        writer.yaml(&value, &Pointer::root(), 0, line_end);
        check(&writer, Language::Yaml);
    }

    #[test]
    fn any_text_is_scanned_to_its_end(text in "[\\[\\]{}\",:\\\\a1 \n\r\té-]{0,40}", at in "(/[a1]){0,3}") {
        let pointer = Pointer::from_text(&at).unwrap();
        for language in [Language::Json, Language::Yaml, Language::TabbedYaml] {
            let original = Original::new(text.clone(), language);
            prop_assert_eq!(original.positions(std::iter::once(&pointer)).len(), 1);
        }
    }

    #[test]
    fn whatever_is_wrong_with_a_text_is_inside_it(text in "[\\[\\]{}\",:%#&*!|>'a1 \n\r\té-]{0,12}") {
        if let Err(found) = parse(text.clone().into_bytes(), false)
            && let Some(at) = found.position
        {
            let end = position_at(&text, text.len());
            prop_assert!(at <= end && at.line > 0 && at.column > Some(0), "{found:?}");
        }
    }
}
