//! The contract: cards, definitions, narrowing, and the door that never lets more than the budget out.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::access::{Caller, OnUnknown, View, Visible};
use sezzlee::catalog::{Definition, SchemeUse, Security};
use sezzlee::contract::{
    Budget, Code, Envelope, ErrorEnvelope, Results, SearchPage, emit, narrowing_arguments,
};
use sezzlee::invoke::{Answer, AnswerBody, Oversize, Shape};

use super::fixtures::{cases, definition};

/// Something visible, with or without certainty.
fn visible<T>(item: T, decision: &str) -> Visible<T> {
    let asked = match decision {
        "allow" => Security::default(),
        "unknown" => Security {
            alternatives: vec![vec![SchemeUse {
                scheme: "key".into(),
                scopes: Vec::new(),
            }]],
        },
        other => panic!("{other}"),
    };
    View::new(&[asked], &Caller::anonymous(), OnUnknown::Show)
        .admit(0, item)
        .unwrap()
}

#[test]
fn cards_as_the_fixture_has_them() {
    for case in cases("card.json") {
        let mut operation = super::naive::operation(&case["input"]["tool"]);
        operation.definition = definition(&case["input"]["tool"]);
        let reader = super::naive::build(&[operation], 1);
        let card = visible(
            reader.card(0).unwrap(),
            case["input"]["decision"].as_str().unwrap(),
        );
        let page = SearchPage {
            total: 1,
            tags: None,
            results: Results::Cards(vec![card]),
        };
        let answer: Value =
            serde_json::from_str(emit(&Envelope::Page(page), Budget::default()).text()).unwrap();
        assert_eq!(
            answer["results"][0], case["expected"],
            "{}",
            case["description"]
        );
    }
}

#[test]
fn narrowing_as_the_fixture_has_it() {
    for case in cases("narrowing.json") {
        let found = narrowing_arguments(&case["input"]);
        let expected = case["expected"].as_array().unwrap();
        assert_eq!(found.len(), expected.len(), "{}", case["description"]);
        for ((name, message), want) in found.iter().zip(expected) {
            assert_eq!(want["name"], *name, "{}", case["description"]);
            assert_eq!(
                want.get("message").and_then(Value::as_str),
                message.as_deref()
            );
        }
    }
}

#[test]
fn wire_answers() {
    let order = Definition {
        name: "get_order".into(),
        description: "Fetches one order by id.".into(),
        input_schema: json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}),
        output_schema: None,
        annotations: sezzlee::catalog::Annotations::of_method("GET"),
        deprecated: true,
    };
    let version = order.version();
    let show = |envelope: &Envelope<'_>| emit(envelope, Budget::default()).text().to_owned();
    let loaded = visible((order.clone(), version.clone()), "unknown");
    insta::assert_snapshot!(show(&Envelope::Definition(&loaded)), @r#"{"name":"get_order","description":"Fetches one order by id.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]},"annotations":{"readOnlyHint":true,"idempotentHint":true},"deprecated":true,"authUncertain":true,"version":"7d99a29fb605bf4a"}"#);
    let page = SearchPage {
        total: 8,
        tags: Some(vec!["billing", "orders"]),
        results: Results::Definitions(Vec::new()),
    };
    insta::assert_snapshot!(show(&Envelope::Page(page)), @r#"{"total":8,"tags":["billing","orders"],"results":[]}"#);
    insta::assert_snapshot!(show(&Envelope::Error(ErrorEnvelope::unknown_tool())), @r#"{"error":"unknown_tool","message":"no tool of this name is available; find its exact name with search_tools","retryable":false}"#);
    insta::assert_snapshot!(show(&Envelope::Error(ErrorEnvelope::internal())), @r#"{"error":"internal_error","message":"the gateway failed to answer; its operator finds the cause in its log","retryable":false}"#);
    let answer = Answer {
        status: 204,
        body: None,
        content_type: None,
        location: None,
    };
    let schema = json!({});
    insta::assert_snapshot!(show(&Envelope::Answer { answer: &answer, input_schema: &schema }), @r#"{"status":204}"#);
    let exact = sezzlee::json::parse(br#"{"id": 9007199254740993, "price": 1.10}"#, 9)
        .unwrap()
        .value;
    let answer = Answer {
        status: 200,
        body: Some(AnswerBody::Json(exact)),
        content_type: None,
        location: None,
    };
    insta::assert_snapshot!(show(&Envelope::Answer { answer: &answer, input_schema: &schema }), @r#"{"status":200,"body":{"id":9007199254740993,"price":1.10}}"#);
    let binary = AnswerBody::Binary {
        bytes: 3,
        media_type: "image/png".into(),
        sha256: "00".into(),
    };
    let answer = Answer {
        status: 200,
        body: Some(binary),
        content_type: None,
        location: None,
    };
    insta::assert_snapshot!(show(&Envelope::Answer { answer: &answer, input_schema: &schema }), @r#"{"status":200,"body":{"bytes":3,"mediaType":"image/png","sha256":"00"}}"#);
    let schema = json!({"properties": {"limit": {"description": "Rows a page."}, "cursor": {}}});
    let oversize = Oversize {
        bytes: 999_999,
        over: false,
        shape: Shape::Array(5_000),
    };
    let refused = Envelope::Oversize {
        oversize: &oversize,
        input_schema: &schema,
        limit: 262_144,
    };
    insta::assert_snapshot!(show(&refused), @r#"{"error":"response_too_large","message":"the answer is 999999 bytes and the limit is 262144; nothing of it was kept: narrow it with the arguments named in fields","retryable":false,"payload":{"bytes":999999,"limit":262144,"shape":{"kind":"array","count":5000}},"fields":[{"name":"limit","message":"Rows a page."},{"name":"cursor","message":"Narrows what the call returns."}]}"#);
    assert!(emit(&refused, Budget::default()).is_error());
}

#[test]
fn a_page_over_the_budget_is_refused_whole() {
    let long = Definition {
        description: "secret words ".repeat(200),
        ..definition(&json!({"name": "a", "description": "", "inputSchema": {}}))
    };
    let results = vec![visible((long, "0".repeat(16)), "allow")];
    let page = SearchPage {
        total: 1,
        tags: None,
        results: Results::Definitions(results),
    };
    let refused = emit(&Envelope::Page(page), Budget::new(1_024).unwrap());
    let text: Value = serde_json::from_str(refused.text()).unwrap();
    assert_eq!(
        text["payload"]["shape"],
        json!({"kind": "array", "count": 1})
    );
    assert!(text["payload"]["bytes"].as_u64().unwrap() > 2_600);
    let names: Vec<_> = text["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].clone())
        .collect();
    assert_eq!(names, ["query", "limit", "detail", "tags"]);
    assert!(!refused.text().contains("secret"));
    assert!(Budget::new(1_023).is_err());
}

#[test]
fn every_code_is_documented_once() {
    let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(Code::ALL.iter().all(|code| !code.meaning().is_empty()));
    let retryable: Vec<_> = Code::ALL
        .iter()
        .filter(|c| c.retryable())
        .map(|c| c.as_str())
        .collect();
    assert_eq!(
        retryable,
        [
            "invoke_timeout",
            "search_ranker_unavailable",
            "rate_limited",
            "backend_unavailable"
        ]
    );
}

fn any_schema() -> impl Strategy<Value = Value> {
    let property = (
        "(limit|pageSize|cursor|[a-zé\u{1}\"]{1,400})",
        prop::option::of("[a-z\"\u{7}é]{0,900}"),
    );
    prop::collection::vec(property, 0..14).prop_map(|properties| {
        let properties: Map<String, Value> = properties
            .into_iter()
            .map(|(name, text)| {
                (
                    name,
                    text.map_or(Value::Null, |text| json!({"description": text})),
                )
            })
            .collect();
        json!({"type": "object", "properties": properties})
    })
}

proptest! {
    #[test]
    fn the_door_never_emits_more_than_the_budget(
        body in "[a-z\"\\\\\u{1}é]{0,4000}",
        schema in any_schema(),
        budget in 1_024usize..6_000,
        over in any::<bool>(),
    ) {
        let limit = Budget::new(budget).unwrap();
        let answer = Answer { status: 200, body: Some(AnswerBody::Text(body.clone())), content_type: None, location: None };
        let oversize = Oversize { bytes: u64::MAX, over, shape: Shape::Object(u64::MAX) };
        let failure = Envelope::Error(ErrorEnvelope::new(Code::BadRequest, body.clone()));
        for envelope in [
            Envelope::Answer { answer: &answer, input_schema: &schema },
            Envelope::Oversize { oversize: &oversize, input_schema: &schema, limit: budget },
            failure,
        ] {
            let result = emit(&envelope, limit);
            prop_assert!(result.text().len() <= budget, "{} > {budget}", result.text().len());
            let read: Value = serde_json::from_str(result.text()).unwrap();
            if read.get("error") == Some(&json!("response_too_large")) {
                prop_assert!(result.is_error());
                prop_assert!(body.len() < 40 || !result.text().contains(&body[..body.floor_char_boundary(40)]));
            }
        }
    }
}
