//! Every diagnostic code has a source that causes it, and the table of the documentation names them all.

use serde_json::{Value, json};
use sezzlee::catalog::{
    DiagnosticCode, DocumentSettings, ReadOptions, SelectionDecision, SelectionRule,
};

use crate::catalog::{openapi, read_files, read_with};

fn get(operation: &Value) -> String {
    openapi(&json!({"/a": {"get": operation}})).to_string()
}

fn post(schema: &Value) -> Value {
    openapi(&json!({"/a": {"post": {
        "parameters": [{"name": "p", "in": "query", "schema": {}}],
        "requestBody": {"content": {"application/json": {"schema": schema}}},
    }}}))
}

/// An operation whose answer is of a schema; a definition of 100,000 bytes stands under `Large`.
fn get_of(schema: &Value) -> Value {
    let mut document = openapi(
        &json!({"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}}}),
    );
    document["components"] = json!({"schemas": {"Large": {"type": "object", "properties": {"x": {"enum": ["y".repeat(100_000)]}}}}});
    document
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// An operation with the arguments `q`, which is required, and `r`, curated.
fn curated(arguments: &Value) -> (&'static str, String) {
    let parameter = |name: &str, required: bool| json!({"name": name, "in": "query", "required": required, "schema": {}});
    let operation = json!({
        "parameters": [parameter("q", true), parameter("r", false)],
        "x-sezzlee": {"arguments": arguments},
    });
    ("d.json", get(&operation))
}

/// A source that causes a code.
fn cause(code: DiagnosticCode) -> (&'static str, String) {
    use DiagnosticCode as Code;
    let json = |value: Value| ("d.json", value.to_string());
    let parameter = |rest: Value| ("d.json", get(&json!({"parameters": [rest]})));
    match code {
        Code::UnreadableSource => ("d.jsonl.gz", "no gzip".into()),
        Code::SourceTooLarge => ("d.json", " ".repeat(64 * 1024 * 1024 + 1)),
        Code::NotParseable => ("d.json", "{".into()),
        Code::TooDeep => ("d.json", "[".repeat(2_000)),
        Code::NotOpenapi => json(json!({"a": 1})),
        Code::UnsupportedVersion => json(json!({"openapi": "9.0"})),
        Code::NoOperations => json(json!({"openapi": "3.0.0", "paths": {}})),
        Code::DuplicateKey => ("d.yaml", "openapi: 3.0.0\nopenapi: 3.0.1\n".into()),
        Code::BadEntry => ("d.jsonl", "x".into()),
        Code::DuplicateName => (
            "d.jsonl",
            r#"{"name":"n","description":"d"}"#.to_owned()
                + "\n"
                + r#"{"name":"n","description":"d"}"#,
        ),
        Code::NameCollision | Code::DuplicateOperationId => json(openapi(&json!({
            "/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}},
        }))),
        Code::Malformed => ("d.json", get(&json!([]))),
        Code::UnresolvableRef => parameter(json!({"$ref": "#/nowhere"})),
        Code::CyclicRef => {
            json(json!({"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1a"}}}))
        }
        Code::ExternalRefBlocked => parameter(json!({"$ref": "../other.json"})),
        Code::UnsupportedMediaType => json(openapi(
            &json!({"/a": {"post": {"requestBody": {"content": {"text/xml": {}}}}}}),
        )),
        Code::UnsupportedParameter => {
            parameter(json!({"name": "p", "in": "cookie", "style": "label", "required": true}))
        }
        Code::MissingPathParameter => json(openapi(&json!({"/{a}": {"get": {}}}))),
        Code::ParameterDropped => parameter(json!({"name": "Host", "in": "header"})),
        Code::ArgumentCollision => json(post(&json!({"properties": {"p": {}}}))),
        Code::NoServer => json(json!({"openapi": "3.0.0", "paths": {"/a": {"get": {}}}})),
        Code::SchemaReduced => json(get_of(
            &json!({"type": "array", "description": "d", "items": {"$ref": "#/components/schemas/Large"}}),
        )),
        Code::DefinitionTooLarge => json(post(
            &json!({"properties": {"x": {"enum": ["y".repeat(300_000)]}}}),
        )),
        Code::BodySchemaLeftOut => json(openapi(&json!({"/a": {"post": {"requestBody": {
            "content": {"text/plain": {"schema": {"type": "object"}}}}}}}))),
        Code::EncodingLeftOut => json(openapi(&json!({"/a": {"post": {"requestBody": {
            "content": {"multipart/form-data": {
                "schema": {"type": "object", "properties": {"x": {"type": "string"}}},
                "encoding": {"x": {"headers": {"X-A": {"schema": {"type": "string"}}}}}}}}}}}))),
        Code::BodyKeywordLeftOut => json(post(
            &json!({"properties": {"x": {}}, "not": {"required": ["x"]}}),
        )),
        Code::KeywordLeftOut => json(post(&json!({"properties": {"x": {"enum": []}}}))),
        Code::SchemaLeftOut => json(post(&json!({"properties": {"x": 5}}))),
        Code::PatternLeftOut => json(post(&json!({"properties": {"x": {"pattern": "(?i)x"}}}))),
        Code::ValueLeftOut => json(post(&json!({"properties": {"x": {"default": deep(40)}}}))),
        Code::DynamicRefFlattened => {
            json(post(&json!({"properties": {"x": {"$recursiveRef": "#"}}})))
        }
        Code::SubtypesLeftOut => json(post(
            &json!({"properties": {"x": {"properties": {"kind": {}}, "discriminator": {"propertyName": "kind"}}}}),
        )),
        Code::UnsupportedExtension => ("d.json", get(&json!({"x-sezzlee": {"variant": []}}))),
        Code::UntrustedExtension => curated(&json!({"q": {"hide": {"claim": "sub"}}})),
        Code::HiddenRequiredOmitted => curated(&json!({"q": {"hide": {"omit": true}}})),
        Code::UnknownCuratedArgument => curated(&json!({"z": {"rename": "y"}})),
        Code::CurationCollision => curated(&json!({"q": {"rename": "r"}})),
        Code::InvalidCuration => curated(&json!({"q": {"rename": "\n"}})),
        // The options of the test cause these, with overlays and rules that fit no document here.
        Code::BadOverlay => ("bad.json", get(&json!({}))),
        Code::OverlayNoMatch => ("good.json", get(&json!({}))),
        Code::UnusedSetting => ("d.json", get(&json!({}))),
        Code::NotCarriedOut => {
            let of = json!({"x-sezzlee": {"audience": "platform-admin"}});
            ("trusted.json", get(&of))
        }
        Code::AmbiguousSelection => ("d.json", get(&json!({"tags": ["t"]}))),
    }
}

#[test]
fn every_code_has_a_cause() {
    let rule = |decision| SelectionRule {
        route: None,
        method: None,
        tag: Some("t".into()),
        operation_id: None,
        decision,
    };
    let options = ReadOptions {
        selection: vec![
            rule(SelectionDecision::Include),
            rule(SelectionDecision::Exclude),
        ],
        ..ReadOptions::default()
    };
    let overlay = json!({
        "overlay": "1.0.0",
        "info": {"title": "t", "version": "1"},
        "actions": [{"target": "$.nothing", "remove": true}],
    });
    let overlay = overlay.to_string();
    let settings = |source: &str, overlays: &[&str]| DocumentSettings {
        source: source.into(),
        trust: Some(source == "trusted.json"),
        overlays: overlays.iter().map(Into::into).collect(),
        ..DocumentSettings::default()
    };
    let options = ReadOptions {
        documents: vec![
            settings("bad.json", &["d.json"]),
            settings("good.json", &["overlay.json"]),
            settings("trusted.json", &[]),
        ],
        ..options
    };
    for &code in DiagnosticCode::ALL {
        let (name, text) = cause(code);
        let files = [
            (name, text.as_bytes()),
            ("overlay.json", overlay.as_bytes()),
        ];
        let read = read_files(&[name], &files, &options);
        let found = read.report.diagnostics.iter().find(|one| one.code == code);
        let found = found.unwrap_or_else(|| panic!("{code}: {:?}", read.findings()));
        assert!(
            found.message.len() > 20 && !found.message.ends_with('.'),
            "{found}"
        );
    }
}

#[test]
fn the_table_of_codes_is_complete() {
    let path = format!("{}/docs/diagnostics.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let codes: Vec<&str> = DiagnosticCode::ALL
        .iter()
        .map(|code| code.as_str())
        .collect();
    assert_eq!(
        rows, codes,
        "docs/diagnostics.md must have one row a code, in the order of the enum"
    );
}

#[test]
fn warnings_about_a_shared_place_are_given_once() {
    let mut document = openapi(&json!({"/a": {}, "/b": {}}));
    for path in ["/a", "/b"] {
        document["paths"][path]["post"] = json!({"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}});
    }
    document["components"] =
        json!({"schemas": {"S": {"type": "array", "items": {"type": "nope"}}}});
    let read = read_with(&document, &ReadOptions::default());
    assert_eq!(
        read.findings(),
        ["warning keyword_left_out /components/schemas/S/items/type"]
    );
}

/// What costs an operation may stand in a component that many share: the operation is named all the same.
#[test]
fn a_dropped_operation_is_named_wherever_its_fault_stands() {
    let document = serde_json::json!({
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://h.test"}],
        "paths": {
            "/a": {"post": {"requestBody": {"$ref": "#/components/requestBodies/Xml"}}},
            "/ab": {"put": {"requestBody": {"$ref": "#/components/requestBodies/Xml"}}},
            "/c": {"get": {"parameters": [{"$ref": "#/components/parameters/Lost"}]}},
            "/d": {"get": {"parameters": [{"$ref": "#/components/parameters/Round"}]}},
            "/e": {"post": {"requestBody": {"content": {"application/xml": {}}}}},
        },
        "components": {
            "requestBodies": {"Xml": {"content": {"application/xml": {"schema": {}}}}},
            "parameters": {
                "Lost": {"$ref": "#/components/parameters/Nowhere"},
                "Round": {"$ref": "#/components/parameters/Round"},
            },
        },
    });
    let outcome = crate::catalog::read_one(&document);
    let dropped: Vec<String> = outcome
        .report
        .diagnostics
        .iter()
        .filter(|one| one.severity == sezzlee::catalog::Severity::Dropped)
        .map(|one| format!("{} {}", one.at.as_str(), one.message))
        .collect();
    assert_eq!(dropped.len(), 5, "{dropped:#?}");
    for (operation, path) in [
        ("POST /a ", "/paths/~1a/"),
        ("PUT /ab ", "/paths/~1ab/"),
        ("GET /c ", "/paths/~1c/"),
        ("GET /d ", "/paths/~1d/"),
        ("POST /e ", "/paths/~1e/"),
    ] {
        let named = dropped
            .iter()
            .filter(|one| one.contains(operation) || one.starts_with(path));
        assert_eq!(named.count(), 1, "{operation}: {dropped:#?}");
    }
}

/// A document that publishes nothing is told with the reason that holds.
#[test]
fn a_document_without_tools_says_why() {
    let xml = json!({"post": {"requestBody": {"content": {"application/xml": {}}}}});
    let webhooks = json!({"openapi": "3.1.0", "webhooks": {"a": {"post": {}}}});
    for (document, reason) in [
        (openapi(&json!({"/a": xml})), "each of the 1 selected"),
        (openapi(&json!({"/a": {"head": {}}})), "none of the 1 found"),
        (openapi(&json!({"/a": {}})), "its paths hold none"),
        (webhooks, "webhooks only"),
    ] {
        let read = crate::catalog::read_one(&document);
        let found = &read.report.diagnostics;
        let said = found
            .iter()
            .find(|one| one.code == DiagnosticCode::NoOperations);
        assert!(said.unwrap().message.contains(reason), "{found:?}");
    }
}

#[test]
fn lost_meaning_is_counted_by_code() {
    let schema = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let document = openapi(&json!({"/a": {"post": {
        "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
            "x": schema("(?i)x"), "y": schema("(?i)y"), "z": schema("^z"), "n": {"minimum": "1"}, "e": {"enum": []},
        }}}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"items": {"$ref": "#/lost"}}}}}},
    }}, "/b": {"get": {"parameters": [{"$ref": "#/lost"}]}}}));
    let report = read_with(&document, &ReadOptions::default()).report;
    let lossy: Vec<(&str, u64)> = report
        .lossy()
        .into_iter()
        .map(|(code, count)| (code.as_str(), count))
        .collect();
    // A reference that costs an operation is no loss of meaning: nothing of it is published.
    assert_eq!(
        lossy,
        [
            ("unresolvable_ref", 1),
            ("keyword_left_out", 1),
            ("pattern_left_out", 2)
        ]
    );
    assert_eq!(report.counts.dropped, 1);
}
