//! Overlays over small documents.

use serde_json::json;

use super::*;

fn overlay(actions: &Value) -> Value {
    json!({"overlay": "1.0.0", "info": {"title": "t", "version": "1"}, "actions": actions})
}

/// The document afterwards, what is trusted of some places, and the codes of warnings.
fn applied(mut document: Value, actions: &Value) -> (Value, Trust, Vec<DiagnosticCode>) {
    let mut warnings = Vec::new();
    let read = Overlay::read(&overlay(actions), &mut warnings).unwrap();
    let mut trust = Trust::default();
    read.apply(&mut document, &mut trust, &mut warnings)
        .unwrap();
    let codes = warnings.into_iter().map(|one| one.code).collect();
    (document, trust, codes)
}

fn at(text: &str) -> Pointer {
    Pointer::from_text(text).unwrap()
}

#[test]
fn objects_merge_lists_go_on_and_the_rest_is_replaced() {
    let document = json!({"a": {"b": {"x": 1, "y": [1]}, "t": "old", "l": [1]}});
    let update =
        json!({"b": {"x": {"deep": true}, "y": [2, [3]], "z": null}, "t": "new", "l": {"o": 1}});
    let (document, trust, codes) = applied(document, &json!([{"target": "$.a", "update": update}]));
    assert_eq!(
        document,
        json!({"a": {"b": {"x": {"deep": true}, "y": [1, 2, [3]], "z": null}, "t": "new", "l": {"o": 1}}})
    );
    assert_eq!(codes, []);
    for (place, want) in [
        ("/a/b/x", true),
        ("/a/b/x/deep", true),
        ("/a/b/y", false),
        ("/a/b/y/0", false),
        ("/a/b/y/1", true),
        ("/a/t", true),
        ("/a/b", false),
        ("/a", false),
    ] {
        assert_eq!(trust.holds(&at(place)), want, "{place}");
    }
}

#[test]
fn a_list_that_is_the_target_gets_one_more_item() {
    let (document, ..) = applied(
        json!({"tags": [1]}),
        &json!([{"target": "$.tags", "update": [2]}, {"target": "$.tags", "update": {"a": 1}}]),
    );
    assert_eq!(document, json!({"tags": [1, [2], {"a": 1}]}));
}

#[test]
fn removing_takes_every_place_and_no_other() {
    let document =
        json!({"l": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "o": {"a": {"b": 1}, "c": 2}});
    let (document, ..) = applied(
        document,
        &json!([
            {"target": "$.l[?@ >= 2 && @ <= 10]", "remove": true},
            {"target": "$.o['a','c']", "remove": true},
        ]),
    );
    assert_eq!(document, json!({"l": [0, 1, 11], "o": {}}));
    // One inside the other.
    let (document, ..) = applied(
        json!({"a": {"a": {"a": 1}}, "b": 1}),
        &json!([{"target": "$..a", "remove": true}]),
    );
    assert_eq!(document, json!({"b": 1}));
}

#[test]
fn actions_see_what_those_before_them_did() {
    let (document, trust, codes) = applied(
        json!({"paths": {}}),
        &json!([
            {"target": "$.paths", "update": {"/a": {"get": {"x-sezzlee": {"name": "n"}}}}},
            {"target": "$.paths['/a'].get", "update": {"summary": "s"}},
            {"target": "$.paths['/a'].get['x-sezzlee']", "remove": true},
            {"target": "$.paths['/b']", "remove": true},
        ]),
    );
    assert_eq!(
        document,
        json!({"paths": {"/a": {"get": {"summary": "s"}}}})
    );
    assert_eq!(codes, [DiagnosticCode::OverlayNoMatch]);
    assert!(trust.holds(&at("/paths/~1a/get/summary")));
}

#[test]
fn trust_does_not_move_to_what_takes_a_place() {
    let (document, trust, _) = applied(
        json!({"l": [{"s": 1}, {"s": 2}]}),
        &json!([
            {"target": "$.l[0]", "update": {"mine": true}},
            {"target": "$.l[0]", "remove": true},
        ]),
    );
    assert_eq!(document, json!({"l": [{"s": 2}]}));
    assert!(!trust.holds(&at("/l/0/mine")));
}

#[test]
fn what_is_no_overlay_is_refused_with_its_place() {
    let good = json!([{"target": "$", "update": {}}]);
    let with = |member: &str, value: Value| {
        let mut all = overlay(&good);
        all[member] = value;
        all
    };
    for (value, place) in [
        (json!([]), ""),
        (json!({"openapi": "3.0.0"}), ""),
        (with("overlay", json!("2.0.0")), "/overlay"),
        (with("info", json!(null)), "/info"),
        (with("info", json!({"title": "t"})), "/info"),
        (with("extends", json!(1.5)), "ok"),
        (with("extends", json!({})), "/extends"),
        (with("action", json!([])), "/action"),
        (with("x-own", json!([])), "ok"),
        (with("actions", json!([])), "/actions"),
        (overlay(&json!([{"target": "$"}])), "/actions/0"),
        (overlay(&json!([{"update": {}}])), "/actions/0"),
        (overlay(&json!([7])), "/actions/0"),
        (
            overlay(&json!([{"target": "a", "update": {}}])),
            "/actions/0/target",
        ),
        (
            overlay(&json!([{"target": "$", "remove": "yes"}])),
            "/actions/0/remove",
        ),
        (
            overlay(&json!([{"target": "$", "updates": {}}])),
            "/actions/0/updates",
        ),
    ] {
        match Overlay::read(&value, &mut Vec::new()) {
            Ok(_) => assert_eq!(place, "ok", "{value}"),
            Err(finding) => {
                assert_eq!(finding.at.as_str(), place, "{value}");
                assert_eq!(finding.code, DiagnosticCode::BadOverlay);
            }
        }
    }
}

#[test]
fn what_cannot_be_carried_out_is_refused() {
    for actions in [
        json!([{"target": "$", "remove": true}]),
        json!([{"target": "$.text", "update": "other"}]),
        json!([{"target": "$.object", "update": [1]}]),
    ] {
        let overlay = Overlay::read(&overlay(&actions), &mut Vec::new()).unwrap();
        let mut document = json!({"text": "t", "object": {}});
        let failed = overlay.apply(&mut document, &mut Trust::default(), &mut Vec::new());
        assert_eq!(
            failed.unwrap_err().code,
            DiagnosticCode::BadOverlay,
            "{actions}"
        );
    }
}

#[test]
fn writing_is_bounded() {
    let wide: Value = (0..2_000).map(|_| json!({})).collect();
    let update: Map<String, Value> = (0..1_000).map(|n| (n.to_string(), json!(n))).collect();
    let overlay = overlay(&json!([{"target": "$.*", "update": update}]));
    let overlay = Overlay::read(&overlay, &mut Vec::new()).unwrap();
    let mut document = wide;
    let failed = overlay.apply(&mut document, &mut Trust::default(), &mut Vec::new());
    assert!(failed.unwrap_err().message.contains("values"));
}
