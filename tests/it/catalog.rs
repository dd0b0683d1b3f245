//! Reading documents held in memory, for the tests of the catalogue; and names, selection, text, hints.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use serde_json::{Value, json};
use sezzlee::catalog::{
    DiagnosticCode, LoadError, Loader, NameOverride, Operation, Prefix, ReadOptions, Report,
    SelectionDecision, SelectionRule, Severity, SourceTarget, read,
};

/// Sources by name; nothing else exists.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) HashMap<String, Vec<u8>>);

impl Loader for Memory {
    fn open(
        &self,
        target: &SourceTarget,
        _bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        let name = match target {
            SourceTarget::File(path) => path.to_string_lossy().into_owned(),
            SourceTarget::Url(url) => url.to_string(),
        };
        match self.0.get(&name) {
            Some(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            None => Err(LoadError::Refused("there is no such source".to_owned())),
        }
    }
}

/// What reading gave.
pub(crate) struct Outcome {
    pub(crate) operations: Vec<Operation>,
    pub(crate) report: Report,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn named(&self, name: &str) -> &Operation {
        let found = self
            .operations
            .iter()
            .find(|one| one.definition.name == name);
        found.unwrap_or_else(|| panic!("{name}: {:?} {:?}", self.names(), self.report.diagnostics))
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.operations
            .iter()
            .map(|one| one.definition.name.as_str())
            .collect()
    }

    /// `severity code pointer` of every diagnostic.
    pub(crate) fn findings(&self) -> Vec<String> {
        self.report
            .diagnostics
            .iter()
            .map(|one| format!("{} {} {}", one.severity, one.code, one.at))
            .collect()
    }
}

#[track_caller]
pub(crate) fn read_sources(sources: &[(&str, &[u8])], options: &ReadOptions) -> Outcome {
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    let read = read_files(&names, sources, options);
    assert_eq!(read.report.counts.published, read.operations.len() as u64);
    read
}

/// Reads some of the files there are; operations with variants become several.
#[track_caller]
pub(crate) fn read_files(
    sources: &[&str],
    files: &[(&str, &[u8])],
    options: &ReadOptions,
) -> Outcome {
    let names: Vec<String> = sources.iter().map(|&name| name.to_owned()).collect();
    let all = files
        .iter()
        .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
    let loader = Memory(all.collect());
    let mut list: Vec<Operation> = Vec::new();
    let report = read(&names, options, &loader, &mut list).unwrap();
    let counts = report.counts;
    assert_eq!(counts.selected, counts.published + counts.dropped);
    assert!(counts.found >= counts.selected);
    assert!(counts.published <= list.len() as u64);
    for one in &report.diagnostics {
        // What has a place in the document has one in its text.
        assert!(one.at.as_str().is_empty() || one.line.is_some(), "{one}");
        let documented = one.code.explanation().unwrap().severities();
        assert!(
            documented.contains(&one.severity),
            "docs/diagnostics.md does not say that this can happen: {one}"
        );
    }
    Outcome {
        operations: list,
        report,
    }
}

#[track_caller]
pub(crate) fn read_one(document: &Value) -> Outcome {
    read_with(document, &ReadOptions::default())
}

#[track_caller]
pub(crate) fn read_with(document: &Value, options: &ReadOptions) -> Outcome {
    read_sources(&[("d.json", document.to_string().as_bytes())], options)
}

/// A document of version 3.0 with these paths.
pub(crate) fn openapi(paths: &Value) -> Value {
    json!({"openapi": "3.0.3", "info": {"title": "Orchard", "version": "1"},
        "servers": [{"url": "https://orchard.test/api"}], "paths": paths})
}

fn operation(id: &str) -> Value {
    json!({"operationId": id, "responses": {"200": {"description": "ok"}}})
}

#[test]
fn a_document_becomes_operations_in_the_order_of_paths_and_methods() {
    let document = openapi(&json!({
        "/b": {"post": operation("makeB"), "get": operation("getB")},
        "/a/{id}": {"delete": {}, "put": {}},
        "x-else": {"get": {}},
    }));
    let read = read_one(&document);
    assert_eq!(
        read.names(),
        ["get_b", "make_b", "put_a_by_id", "delete_a_by_id"]
    );
    let template = read.named("get_b").template.clone().unwrap();
    assert_eq!(
        template.base_url.as_deref(),
        Some("https://orchard.test/api")
    );
    assert_eq!(
        (template.document.as_str(), template.method.as_str()),
        ("d", "GET")
    );
    assert_eq!(read.report.documents[0].key, "d");
}

#[test]
fn names_meet_across_documents_and_each_gets_its_suffix() {
    let a = openapi(&json!({"/x": {"get": operation("b_c")}, "/y": {"get": operation("y")}}));
    let ab = openapi(&json!({"/z": {"get": operation("c")}}));
    let (a, ab) = (a.to_string(), ab.to_string());
    let sources = [("a.json", a.as_bytes()), ("a_b.json", ab.as_bytes())];
    let read = read_sources(&sources, &ReadOptions::default());
    let backward = read_sources(&[sources[1], sources[0]], &ReadOptions::default());
    let digits = |text: &str| sezzlee::json::sha256_hex(text.as_bytes())[..6].to_owned();
    let mut want = vec![
        format!("a_b_c_{}", digits("GET /x")),
        format!("a_b_c_{}", digits("GET /z")),
        "a_y".to_owned(),
    ];
    want.sort();
    for read in [read, backward] {
        let mut names = read.names();
        names.sort_unstable();
        assert_eq!(names, want);
        let warned: Vec<_> = read
            .report
            .diagnostics
            .iter()
            .filter(|one| one.code == DiagnosticCode::NameCollision)
            .map(|one| one.document.as_str())
            .collect();
        assert_eq!(warned.len(), 2);
        assert!(warned.contains(&"a.json") && warned.contains(&"a_b.json"));
    }
}

#[test]
fn documents_that_share_everything_still_get_names_of_their_own() {
    let text = openapi(&json!({"/x": {"get": operation("x")}})).to_string();
    let options = ReadOptions {
        prefix: Prefix::Never,
        ..ReadOptions::default()
    };
    let sources = ["a.json", "b.json", "c.json"].map(|name| (name, text.as_bytes()));
    let read = read_sources(&sources, &options);
    let names: std::collections::HashSet<_> = read.names().into_iter().collect();
    assert_eq!(names.len(), 3);
    assert_eq!(read.report.counts.published, 3);
}

#[test]
fn a_third_document_meets_the_name_that_two_left() {
    let with = |route: &str| openapi(&json!({route: {"get": operation("x")}})).to_string();
    let texts = [with("/a"), with("/b"), with("/c")];
    let options = ReadOptions {
        prefix: Prefix::Never,
        ..ReadOptions::default()
    };
    let names = ["a.json", "b.json", "c.json"];
    let sources: Vec<_> = names
        .iter()
        .zip(&texts)
        .map(|(&name, text)| (name, text.as_bytes()))
        .collect();
    let read = read_sources(&sources, &options);
    assert!(
        read.names()
            .iter()
            .all(|name| name.len() == "x_123456".len()),
        "{:?}",
        read.names()
    );
}

#[test]
fn prefixes_follow_what_was_named_and_the_configuration() {
    let text = openapi(&json!({"/x": {"get": operation("list")}})).to_string();
    let one = [("shop/openapi.json", text.as_bytes())];
    let two = [
        ("shop.json", text.as_bytes()),
        ("missing.json", b"{".as_slice()),
    ];
    let with = |prefix| ReadOptions {
        prefix,
        ..ReadOptions::default()
    };
    assert_eq!(read_sources(&one, &with(Prefix::Unset)).names(), ["list"]);
    // The file's stem says nothing, so the key is the title's.
    assert_eq!(
        read_sources(&one, &with(Prefix::Always)).names(),
        ["orchard_list"]
    );
    assert_eq!(
        read_sources(&two, &with(Prefix::Unset)).names(),
        ["shop_list"]
    );
    assert_eq!(read_sources(&two, &with(Prefix::Never)).names(), ["list"]);
    let keyed = ReadOptions {
        keys: [("shop.json".to_owned(), "mall".to_owned())].into(),
        ..with(Prefix::Unset)
    };
    let read = read_sources(&two, &keyed);
    assert_eq!(read.names(), ["mall_list"]);
    assert_eq!(read.operations[0].tags, ["mall"]);
}

#[test]
fn names_of_the_operator_and_of_the_document_go_first() {
    let document = openapi(&json!({
        "/a": {"get": {"operationId": "getA", "x-sezzlee": {"name": "Find.A-1"}}},
        "/b": {"get": {"operationId": "getB", "x-sezzlee": {"name": "no name"}}},
        "/c": {"get": operation("getC")},
    }));
    let named = |name: &str| ReadOptions {
        names: vec![NameOverride {
            document: None,
            method: "get".into(),
            route: "/c".into(),
            name: name.into(),
        }],
        ..ReadOptions::default()
    };
    let read = read_with(&document, &named("C!".trim_end_matches('!')));
    assert_eq!(read.names(), ["Find.A-1", "get_b", "C"]);
    assert_eq!(
        read.findings(),
        ["warning malformed /paths/~1b/get/x-sezzlee/name"]
    );
    let clash = read_with(&document, &named("get_b"));
    assert!(clash.report.is_fatal());
    assert!(
        clash
            .findings()
            .contains(&"fatal name_collision /paths/~1c/get".to_owned())
    );
    let error = sezzlee::catalog::read(&[], &named("a b"), &Memory::default(), &mut Vec::new());
    assert!(error.is_err());
}

#[test]
fn selection_rules_ignore_and_rare_methods() {
    let document = openapi(&json!({
        "/a": {"get": {"tags": ["t"]}, "head": {}, "options": {}},
        "/b/c": {"get": {"x-sezzlee": {"ignore": true}}, "post": {}},
    }));
    assert_eq!(read_one(&document).names(), ["get_a", "post_b_c"]);
    let rule =
        |route: Option<&str>, method: Option<&str>, tag: Option<&str>, decision| SelectionRule {
            route: route.map(Into::into),
            method: method.map(Into::into),
            tag: tag.map(Into::into),
            operation_id: None,
            decision,
        };
    let options = |selection| ReadOptions {
        selection,
        ..ReadOptions::default()
    };
    let rules = vec![
        rule(Some("/**"), None, None, SelectionDecision::Exclude),
        rule(None, Some("HEAD"), Some("t"), SelectionDecision::Include),
        rule(Some("/a"), Some("head"), None, SelectionDecision::Include),
    ];
    let read = read_with(&document, &options(rules));
    assert_eq!(read.names(), ["head_a"]);
    let counts = read.report.counts;
    assert_eq!((counts.found, counts.selected, counts.published), (5, 1, 1));
    let ambiguous = vec![
        rule(Some("/a"), None, None, SelectionDecision::Exclude),
        rule(None, None, Some("t"), SelectionDecision::Include),
    ];
    let read = read_with(&document, &options(ambiguous));
    assert!(read.report.is_fatal());
    assert_eq!(
        read.findings()[0],
        "fatal ambiguous_selection /paths/~1a/get"
    );
}

#[test]
fn descriptions_join_what_there_is() {
    let document = openapi(&json!({"/a": {
        "get": {"summary": " S ", "description": "D\n"},
        "put": {"summary": "S", "description": "S and more"},
        "post": {"summary": "S", "description": "  "},
        "delete": {"description": "*D*"},
        "patch": {"summary": ""},
        "trace": {"summary": "S", "x-sezzlee": {"description": "own"}},
    }}));
    let options = ReadOptions {
        selection: vec![SelectionRule {
            route: None,
            method: Some("trace".into()),
            tag: None,
            operation_id: None,
            decision: SelectionDecision::Include,
        }],
        ..ReadOptions::default()
    };
    let read = read_with(&document, &options);
    let texts: Vec<_> = read
        .operations
        .iter()
        .map(|one| one.definition.description.as_str())
        .collect();
    assert_eq!(
        texts,
        ["S\n\nD", "S and more", "S", "*D*", "PATCH /a", "own"]
    );
}

#[test]
fn tags_terms_and_hints() {
    let document = openapi(&json!({"/a": {
        "get": {"tags": ["x", "x", 1], "deprecated": true},
        "put": {"tags": ["x"], "x-sezzlee": {"tags": ["y"], "searchTerms": ["z"], "hints": {"readOnlyHint": true, "idempotentHint": false}}},
        "post": {}, "delete": {},
    }}));
    let text = document.to_string();
    let read = read_sources(
        &[("d.json", text.as_bytes()), ("e.json", b"{}")],
        &ReadOptions::default(),
    );
    let tags: Vec<_> = read.operations.iter().map(|one| one.tags.clone()).collect();
    assert_eq!(tags, [vec!["x", "1", "d"], vec!["y"], vec!["d"], vec!["d"]]);
    let get = &read.operations[0].definition;
    assert!(
        get.deprecated
            && get.annotations.holds("readOnlyHint")
            && get.annotations.holds("idempotentHint")
    );
    let hints = |at: usize| Value::Object(read.operations[at].definition.annotations.0.clone());
    assert_eq!(hints(1), json!({"readOnlyHint": true}));
    assert_eq!(read.operations[1].search_terms, ["z"]);
    assert_eq!(hints(2), json!({}));
    assert_eq!(
        hints(3),
        json!({"destructiveHint": true, "idempotentHint": true})
    );
}

#[test]
fn query_and_additional_operations_are_operations_of_3_2_only() {
    let item = json!({"query": {}, "additionalOperations": {"COPY": {}, "LINK it": {}}});
    let read = read_one(&json!({"openapi": "3.2.0", "paths": {"/a": item}}));
    assert_eq!(read.names(), ["query_a", "copy_a"]);
    assert!(
        read.operations[0]
            .definition
            .annotations
            .holds("readOnlyHint")
    );
    assert_eq!(
        read_one(&json!({"openapi": "3.1.0", "paths": {"/a": item}}))
            .operations
            .len(),
        0
    );
}

#[test]
fn webhooks_and_callbacks_are_no_operations() {
    let read = read_one(&json!({
        "openapi": "3.1.0", "webhooks": {"w": {"post": {}}},
        "paths": {"/a": {"post": {"callbacks": {"c": {"{$url}": {"post": {}}}}}}},
    }));
    assert_eq!(read.names(), ["post_a"]);
}

#[test]
fn security_keeps_alternatives_and_what_cannot_be_read_drops_the_operation() {
    let document = json!({
        "openapi": "3.0.3", "servers": [{"url": "https://h.test"}], "security": [{"key": []}],
        "paths": {
            "/common": {"get": {}}, "/open": {"get": {"security": []}},
            "/either": {"get": {"security": [{"a": ["r", "w"], "b": []}, {}]}},
            "/broken": {"get": {"security": {"a": []}}}, "/worse": {"get": {"security": [{"a": "r"}]}},
        },
    });
    let read = read_one(&document);
    let security = |name: &str| serde_json::to_value(&read.named(name).security).unwrap();
    assert_eq!(
        security("get_common"),
        json!([[{"scheme": "key", "scopes": []}]])
    );
    assert_eq!(security("get_open"), json!([]));
    assert_eq!(
        security("get_either"),
        json!([[{"scheme": "a", "scopes": ["r", "w"]}, {"scheme": "b", "scopes": []}], []])
    );
    assert_eq!(
        read.findings(),
        [
            "dropped malformed /paths/~1broken/get/security",
            "dropped malformed /paths/~1worse/get/security"
        ]
    );
    assert!(
        read.report
            .diagnostics
            .iter()
            .all(|one| one.severity == Severity::Dropped)
    );
}
