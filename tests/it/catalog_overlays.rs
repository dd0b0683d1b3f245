//! Overlays: applied before reading, trusted as the operator's word, and part of what a catalogue is made from.

use std::fs;

use serde_json::{Value, json};
use sezzlee::catalog::{
    Checked, DocumentSettings, FileLoader, HiddenValue, ReadOptions, Recorder, read,
};

use crate::catalog::{Outcome, openapi, read_files};
use crate::cli_process::run;

fn overlay(actions: &Value) -> String {
    json!({"overlay": "1.0.0", "info": {"title": "t", "version": "1"}, "actions": actions})
        .to_string()
}

fn options(overlays: &[&str]) -> ReadOptions {
    ReadOptions {
        documents: vec![DocumentSettings {
            source: "d.json".into(),
            overlays: overlays.iter().map(Into::into).collect(),
            ..DocumentSettings::default()
        }],
        ..ReadOptions::default()
    }
}

/// Reads a document with the overlays `0`, `1`, … that have these actions.
fn read_overlaid(document: &Value, overlays: &[Value]) -> Outcome {
    let texts: Vec<(String, String)> = overlays
        .iter()
        .enumerate()
        .map(|(number, actions)| (number.to_string(), overlay(actions)))
        .collect();
    let document = document.to_string();
    let mut files: Vec<(&str, &[u8])> = vec![("d.json", document.as_bytes())];
    files.extend(
        texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_bytes())),
    );
    let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
    read_files(&["d.json"], &files, &options(&names))
}

fn document() -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    openapi(
        &json!({"/a": {"get": {"operationId": "a", "summary": "Old.", "tags": ["one"],
        "parameters": [parameter("q"), parameter("r")]}}, "/b": {"get": {"operationId": "b"}}}),
    )
}

#[test]
fn overlays_change_the_document_in_their_order() {
    let read = read_overlaid(
        &document(),
        &[
            json!([
                {"target": "$.paths['/a'].get", "update": {"summary": "New.", "tags": ["two"]}},
                {"target": "$.paths['/b']", "remove": true},
                {"target": "$.servers[*]", "remove": true},
                {"target": "$.servers", "update": {"url": "https://other.test"}},
                {"target": "$.paths", "update": {"/c": {"post": {"operationId": "c"}}}},
            ]),
            json!([{"target": "$.paths.*.*[?@.name == 'q']", "remove": true},
                {"target": "$.paths['/a'].get", "update": {"summary": "Newest."}},
                {"target": "$.paths['/a'].get.parameters[?@.name == 'q']", "remove": true}]),
        ],
    );
    assert_eq!(read.names(), ["a", "c"]);
    let a = read.named("a");
    assert_eq!(a.definition.description, "Newest.");
    assert_eq!(a.tags, ["one", "two"]);
    let template = a.template.as_ref().unwrap();
    assert_eq!(template.base_url.as_deref(), Some("https://other.test"));
    assert_eq!(template.parameters.len(), 1);
    assert_eq!(
        read.findings(),
        ["warning overlay_no_match /actions/0"],
        "the first filter looks one level too high"
    );
    assert_eq!(read.report.diagnostics[0].document, "1");
}

#[test]
fn what_an_overlay_brings_is_trusted_and_what_stood_there_is_not() {
    let mut document = document();
    document["paths"]["/a"]["get"]["x-sezzlee"] =
        json!({"arguments": {"q": {"hide": {"claim": "theirs"}}}, "scopes": ["theirs"]});
    let read = read_overlaid(
        &document,
        &[json!([{"target": "$.paths['/a'].get", "update": {
            "x-sezzlee": {"arguments": {"r": {"hide": {"claim": "mine"}}}},
        }}])],
    );
    assert_eq!(
        read.findings(),
        [
            "warning untrusted_extension /paths/~1a/get/x-sezzlee/arguments/q/hide/claim",
            "warning untrusted_extension /paths/~1a/get/x-sezzlee/scopes",
        ]
    );
    let a = read.named("a");
    let hidden = &a.template.as_ref().unwrap().hidden;
    assert_eq!(hidden.len(), 1);
    assert_eq!(hidden[0].value, HiddenValue::Claim("mine".into()));
    assert!(a.security.alternatives.is_empty());

    // Appending to a stranger's list does not make the list trusted; replacing it does.
    let appended = read_overlaid(
        &document,
        &[json!([{"target": "$.paths['/a'].get['x-sezzlee']", "update": {"scopes": ["mine"]}}])],
    );
    assert!(appended.named("a").security.alternatives.is_empty());
    let replaced = read_overlaid(
        &document,
        &[json!([
            {"target": "$.paths['/a'].get['x-sezzlee'].scopes", "remove": true},
            {"target": "$.paths['/a'].get['x-sezzlee']", "update": {"scopes": ["mine"]}},
        ])],
    );
    assert_eq!(
        replaced.named("a").security.alternatives[0][0].scopes,
        ["mine"]
    );
}

#[test]
fn mistakes_in_what_an_overlay_brings_are_the_operators() {
    let read = read_overlaid(
        &document(),
        &[json!([{"target": "$.paths['/a'].get", "update": {
            "x-sezzlee": {"arguments": {"nothing": {"rename": "x"}}},
        }}])],
    );
    assert_eq!(
        read.findings(),
        ["fatal unknown_curated_argument /paths/~1a/get"]
    );
}

#[test]
fn a_bad_overlay_refuses_the_catalogue_with_its_own_place() {
    for (text, place) in [
        ("{", ""),
        ("{}", ""),
        (
            r#"{"overlay":"1.0.0","info":{"title":"t","version":"1"},"actions":[{"target":"no","update":{}}]}"#,
            "/actions/0/target",
        ),
    ] {
        let document = document().to_string();
        let files: [(&str, &[u8]); 2] = [("d.json", document.as_bytes()), ("o", text.as_bytes())];
        let read = read_files(&["d.json"], &files, &options(&["o"]));
        assert_eq!(read.findings(), [format!("fatal bad_overlay {place}")]);
        assert_eq!(read.report.diagnostics[0].document, "o");
    }
    let document = document().to_string();
    let files: [(&str, &[u8]); 1] = [("d.json", document.as_bytes())];
    let read = read_files(&["d.json"], &files, &options(&["missing"]));
    assert_eq!(read.findings(), ["fatal bad_overlay "]);
}

#[test]
fn overlays_are_part_of_the_fingerprint() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    fs::write(path("d.json"), document().to_string()).unwrap();
    let first = overlay(&json!([{"target": "$.paths['/b']", "remove": true}]));
    fs::write(path("o.json"), &first).unwrap();
    let sources = [path("d.json").display().to_string()];
    let options = ReadOptions {
        overlays: vec![path("o.json")],
        ..ReadOptions::default()
    };
    let recorder = Recorder::new(&FileLoader, &sources, &options);
    let mut list = Vec::<sezzlee::catalog::Operation>::new();
    read(&sources, &options, &recorder, &mut list).unwrap();
    assert_eq!(list.len(), 1);
    let known = recorder.finish().unwrap().unwrap();
    let check = || known.check(&sources, &options, &FileLoader);
    assert!(matches!(check(), Checked::Same(_)));
    // Of the same size.
    fs::write(path("o.json"), first.replace("/b", "/c")).unwrap();
    assert!(matches!(check(), Checked::Changed(what) if what.contains("o.json")));
    fs::remove_file(path("o.json")).unwrap();
    assert!(matches!(check(), Checked::Changed(_)));
    let without = ReadOptions::default();
    assert!(matches!(
        known.check(&sources, &without, &FileLoader),
        Checked::Changed(_)
    ));
}

#[test]
fn the_flag_is_for_one_document() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("d.json"), document().to_string()).unwrap();
    fs::create_dir(root.path().join("tree")).unwrap();
    fs::write(
        root.path().join("o.yaml"),
        "overlay: 1.0\ninfo: {title: t, version: 1.0}\nactions:\n- {target: \"$.paths['/b']\", remove: true}\n",
    )
    .unwrap();
    let ran = run(
        root.path(),
        &["check", "--json", "--overlay", "o.yaml", "d.json"],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(r#""found":1"#), "{}", ran.out);
    for sources in [vec!["tree"], vec!["d.json", "o.yaml"]] {
        let mut args = vec!["check", "--overlay", "o.yaml"];
        args.extend(sources);
        let ran = run(root.path(), &args);
        assert_eq!(ran.code, Some(2));
        assert!(
            ran.err.contains("--overlay changes one document"),
            "{}",
            ran.err
        );
    }
}
