//! invoke_tool against backends that answer as a test says: digits, shapes, refusals, and what was sent.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sezzlee::contract::Budget;

use crate::http_backend::{Backend, Seen, Step, header, json_response, response};
use crate::tools_harness::{Gateway, Setup, reader};

/// Operations of every place an argument can stand in.
pub(crate) const CALLS: &str = r#"
openapi: 3.0.3
info: {title: Calls, version: "1"}
servers: [{url: "https://calls.test/v1"}]
paths:
  /things/{id}:
    post:
      operationId: changeThing
      summary: Changes one thing.
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: at, in: query, schema: {type: number}}
        - {name: X-Trace, in: header, schema: {type: string}}
      requestBody:
        content: {application/json: {schema: {type: object, properties: {amount: {type: number}, name: {type: string}}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}
  /things:
    get:
      operationId: listThings
      summary: Lists things.
      parameters:
        - {name: status, in: query, schema: {type: string}}
        - {name: page_size, in: query, description: Things of a page., schema: {type: integer}}
        - {name: colour, in: query, schema: {type: string}}
        - {name: cursor, in: query, schema: {type: string}}
      responses: {"200": {description: ok}}
    delete:
      operationId: deleteThings
      summary: Deletes every thing.
      responses: {"204": {description: gone}}
"#;

/// Entries of which two cannot be called.
pub(crate) const LINES: &str = r#"{"name":"no_route","description":"Has neither method nor route."}
{"name":"no_server","description":"Has no server.","method":"GET","route":"/things"}
{"name":"callable","description":"Has both.","method":"GET","route":"/things/{id}","baseUrl":"http://127.0.0.1:9","inputSchema":{"type":"object","properties":{"id":{"type":"integer"},"q":{"type":"string"}},"required":["id"]}}
"#;

fn over(backend: &Backend) -> Gateway {
    Gateway::of("calls.yaml", CALLS, &backend.url("/v1"))
}

/// Arguments with their digits as they are written.
fn exact(text: &str) -> Value {
    sezzlee::json::parse(text.as_bytes(), 99).unwrap().value
}

#[tokio::test]
async fn digits_pass_untouched_both_ways() {
    let body = r#"{"id":9007199254740993,"price":1.10,"tiny":0.1000000000000000055511151231257827,"huge":1e+400,"list":[-0.0,123456789012345678901234567890]}"#;
    let answered = body.to_owned();
    let mut backend =
        Backend::start(move |_| vec![Step::Send(json_response(200, &answered))]).await;
    let gateway = over(&backend);
    for arguments in [
        r#"{"id":9007199254740993,"at":0.10,"amount":100000000000000000000.010}"#,
        r#""{\"id\":9007199254740993,\"at\":0.10,\"amount\":100000000000000000000.010}""#,
    ] {
        let call = exact(&format!(
            "{{\"name\":\"change_thing\",\"arguments\":{arguments}}}"
        ));
        let answer = gateway.invoke(&call).await;
        assert_eq!(answer.text, format!("{{\"status\":200,\"body\":{body}}}"));
        let Seen::Request(request) = backend.next().await else {
            panic!("nothing was sent");
        };
        assert!(
            request.starts_with("POST /v1/things/9007199254740993?at=0.10 "),
            "{request}"
        );
        assert!(
            request.ends_with(r#"{"amount":100000000000000000000.010}"#),
            "{request}"
        );
    }
    assert!(backend.requests().is_empty());
}

#[tokio::test]
async fn successes_read_like_this() {
    for (bytes, want) in [
        (
            json_response(200, "[1, {\"a\": null}]"),
            r#"{"status":200,"body":[1,{"a":null}]}"#,
        ),
        (
            json_response(201, "\"made\""),
            r#"{"status":201,"body":"made"}"#,
        ),
        (json_response(200, "null"), r#"{"status":200,"body":null}"#),
        (response(204, &[], ""), r#"{"status":204}"#),
        (response(200, &[], ""), r#"{"status":200}"#),
        (
            response(200, &[("content-type", "application/hal+json")], "{}"),
            r#"{"status":200,"body":{}}"#,
        ),
        (response(200, &[], "7"), r#"{"status":200,"body":7}"#),
        (
            response(200, &[("content-type", "text/csv; charset=utf-8")], "a,b\n"),
            r#"{"status":200,"body":"a,b\n","contentType":"text/csv"}"#,
        ),
        (
            response(303, &[("location", "/things/7")], ""),
            r#"{"status":303,"location":"/things/7"}"#,
        ),
        (
            response(200, &[("content-type", "image/png")], "abc"),
            r#"{"status":200,"body":{"bytes":3,"mediaType":"image/png","sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}}"#,
        ),
    ] {
        let backend = Backend::fixed(bytes).await;
        let answer = over(&backend)
            .invoke(json!({"name": "list_things", "arguments": {}}))
            .await;
        assert_eq!(answer.text, want);
    }
}

#[tokio::test]
async fn what_fails_before_the_call_sends_nothing() {
    let mut backend = Backend::fixed(response(204, &[], "")).await;
    let gateway = over(&backend);
    for (arguments, code) in [
        (json!({"id": 1, "colour": "red"}), "unknown_argument"),
        (json!({}), "missing_path_parameter"),
        (json!({"id": null}), "invalid_path_type"),
        (json!({"id": [1]}), "invalid_path_type"),
        (json!({"id": ".."}), "invalid_path_type"),
        (json!({"id": ""}), "invalid_path_type"),
        (json!({"id": 1, "X-Trace": "a\r\nb: c"}), "header_injection"),
        (json!({"id": 1, "at": null}), "null_not_allowed"),
        (json!({"id": 1, "at": []}), "invalid_type"),
        (json!([1]), "invalid_type"),
    ] {
        let call = json!({"name": "change_thing", "arguments": arguments});
        assert_eq!(gateway.invoke(&call).await.code(), code, "{call}");
    }
    let stale = json!({"name": "delete_things", "arguments": {}, "version": "0123456789abcdef"});
    assert_eq!(gateway.invoke(&stale).await.code(), "tool_changed");
    assert!(backend.requests().is_empty());
    // With the right version it is sent, once.
    let version = gateway.load(&json!({"name": "delete_things"})).value["version"].clone();
    let call = json!({"name": "delete_things", "arguments": {}, "version": version});
    assert_eq!(gateway.invoke(&call).await.text, r#"{"status":204}"#);
    assert_eq!(backend.requests().len(), 1);
}

#[tokio::test]
async fn entries_that_say_no_route_or_no_server_are_not_invocable() {
    let gateway = Gateway::over(reader("lines.jsonl", LINES, None), Setup::default());
    for name in ["no_route", "no_server"] {
        assert!(gateway.load(&json!({"name": name})).value["version"].is_string());
        // Whatever the arguments are: what cannot be called is not called wrongly.
        for arguments in [json!({}), json!({"x": 1}), json!(7)] {
            let call = json!({"name": name, "arguments": arguments});
            let answer = gateway.invoke(&call).await;
            if name == "no_route" || arguments.is_object() {
                assert_eq!(answer.code(), "not_invocable", "{call}");
            }
        }
    }
    let answer = gateway.invoke(json!({"name": "callable", "arguments": {"id": 1}}));
    assert_eq!(answer.await.code(), "backend_unavailable");
}

fn case(file: &str) -> Value {
    let path = format!("{}/tests/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    exact(&std::fs::read_to_string(path).unwrap())
}

/// The case asks `missing_argument` of a call without `arguments`; by the contract that is
/// `unknown_argument`, naming the argument of the meta-tool.
#[tokio::test]
async fn the_ways_models_get_two_levels_of_arguments_wrong() {
    let case = case("20-arguments-as-json-text.json");
    let mut backend = Backend::fixed(json_response(200, "{}")).await;
    let document = case["input"]["openapi"].to_string();
    let gateway = Gateway::of("orchard.json", &document, &backend.url("/api"));
    let published = gateway.search(&json!({})).names()[0].to_owned();
    let expected = case["expected"]["results"].as_array().unwrap();
    for (call, want) in case["input"]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .zip(expected)
    {
        let renamed = call.to_string().replace("nCount", &published);
        let answer = gateway.invoke(&exact(&renamed)).await;
        if let Some(target) = want.get("sent") {
            assert_eq!(answer.text, r#"{"status":200,"body":{}}"#);
            let [request] = &backend.requests()[..] else {
                panic!("one request");
            };
            let line = format!("GET {} HTTP/1.1\r\n", target.as_str().unwrap());
            assert!(request.starts_with(&line), "{request}");
            continue;
        }
        let (code, names) = match want["error"].as_str().unwrap() {
            "missing_argument" => ("unknown_argument", vec!["`arguments`"]),
            code => {
                let names = want.get("message_names").and_then(Value::as_array);
                let names = names.into_iter().flatten().filter_map(Value::as_str);
                (code, names.collect())
            }
        };
        assert_eq!(answer.code(), code, "{call}");
        for name in names {
            assert!(answer.message().contains(name), "{}", answer.message());
        }
        assert!(backend.requests().is_empty(), "{call}");
    }
}

#[tokio::test]
async fn a_large_answer_stays_parseable_and_says_how_to_narrow() {
    let case = case("23-large-json-stays-parseable.json");
    let (input, expected) = (&case["input"], &case["expected"]);
    let count = input["backend_response"]["array_items"].as_u64().unwrap();
    let item = input["backend_response"]["item"].to_string();
    let body = format!(
        "[{}]",
        vec![item; usize::try_from(count).unwrap()].join(",")
    );
    let bytes = body.len();
    let mut backend = Backend::fixed(json_response(200, &body)).await;
    let names = input["input_arguments"].as_array().unwrap();
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.as_str().unwrap().to_owned(), json!({"type": "string"})))
        .collect();
    let entry = json!({"name": "items", "description": "Lists.", "method": "GET", "route": "/items",
        "inputSchema": {"type": "object", "properties": properties}});
    let reader = reader("lines.jsonl", &entry.to_string(), Some(&backend.url("")));
    let budget = input["budget_bytes"].as_u64().unwrap();
    let gateway = Gateway::over(reader, Setup::budget(usize::try_from(budget).unwrap()));
    let answer = gateway
        .invoke(json!({"name": "items", "arguments": {}}))
        .await;
    assert_eq!(answer.code(), expected["fields"]["error"]);
    assert_eq!(
        answer.value["payload"]["limit"],
        expected["fields"]["limit"]
    );
    assert_eq!(
        answer.value["payload"]["shape"],
        expected["fields"]["shape"]
    );
    assert_eq!(answer.value["payload"]["bytes"], bytes);
    let narrow: Vec<_> = expected["fields"]["narrow_with"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(answer.fields(), narrow);
    assert!(answer.text.len() as u64 <= expected["result_bytes_at_most"].as_u64().unwrap());
    assert!(!answer.text.contains("xxx"));
    assert_eq!(backend.requests().len(), 1);
}

/// A gateway with the least budget, over a backend.
fn tight(backend: &Backend, bytes: usize) -> Gateway {
    let reader = reader("calls.yaml", CALLS, Some(&backend.url("/v1")));
    Gateway::over(reader, Setup::budget(bytes))
}

#[tokio::test]
async fn a_body_over_the_budget_is_counted_as_it_streams() {
    // Sent in pieces, so that no piece alone is over.
    let list = format!("[{}]", vec!["\"secret\""; 1_000].join(", "));
    let object = format!(
        "{{{}}}",
        (0..500)
            .map(|n| format!("\"k{n}\": \"secret\""))
            .collect::<Vec<_>>()
            .join(",")
    );
    let text = "secret ".repeat(1_000);
    for (body, media, shape) in [
        (
            &list,
            "application/json",
            json!({"kind": "array", "count": 1_000}),
        ),
        (
            &object,
            "application/json",
            json!({"kind": "object", "count": 500}),
        ),
        (&text, "text/plain", json!({"kind": "text"})),
    ] {
        let whole = response(200, &[("content-type", media)], body);
        let steps: Vec<_> = whole
            .chunks(700)
            .map(|piece| Step::Send(piece.to_vec()))
            .collect();
        let backend = Backend::start(move |_| steps.clone()).await;
        let gateway = tight(&backend, 2_048);
        let answer = gateway
            .invoke(json!({"name": "list_things", "arguments": {}}))
            .await;
        assert_eq!(answer.code(), "response_too_large");
        let payload = json!({"bytes": body.len(), "limit": 2_048, "shape": shape});
        assert_eq!(answer.value["payload"], payload);
        assert_eq!(answer.fields(), ["page_size", "status", "cursor"]);
        assert!(
            !answer.text.contains("secret") && answer.text.len() <= 2_048,
            "{}",
            answer.text
        );
        // Nothing could be narrowed here, and nothing is named.
        let answer = gateway
            .invoke(json!({"name": "delete_things", "arguments": {}}))
            .await;
        assert_eq!(answer.code(), "response_too_large");
        assert_eq!(answer.value.get("fields"), None);
    }
}

#[tokio::test]
async fn an_envelope_over_the_budget_is_measured_as_it_would_be_sent() {
    // The body fits, its envelope does not: quotes are escaped.
    let body = "\"".repeat(1_000);
    let backend = Backend::fixed(response(200, &[("content-type", "text/plain")], &body)).await;
    let answer = tight(&backend, 1_024)
        .invoke(json!({"name": "list_things", "arguments": {}}))
        .await;
    let envelope = json!({"status": 200, "body": body, "contentType": "text/plain"}).to_string();
    insta::assert_snapshot!(answer.text, @r#"{"error":"response_too_large","message":"the answer is 2051 bytes and the limit is 1024; nothing of it was kept: narrow it with the arguments named in fields","retryable":false,"payload":{"bytes":2051,"limit":1024,"shape":{"kind":"text"}},"fields":[{"name":"page_size","message":"Things of a page."},{"name":"status","message":"Narrows what the call returns."},{"name":"cursor","message":"Narrows what the call returns."}]}"#);
    assert_eq!(answer.value["payload"]["bytes"], envelope.len());
    assert!(answer.text.len() <= 1_024);
    // To the byte: a budget of the envelope's size lets it pass.
    let call = json!({"name": "list_things", "arguments": {}});
    let passed = tight(&backend, envelope.len()).invoke(&call).await;
    assert_eq!(passed.text, envelope);
    let refused = tight(&backend, envelope.len() - 1).invoke(&call).await;
    assert_eq!(refused.code(), "response_too_large");
}

#[test]
fn pages_and_definitions_over_the_budget_are_refused() {
    let long = "mystery ".repeat(400);
    let lines: String = (0..30)
        .map(|n| {
            let name = format!("op_{n:02}");
            json!({"name": name, "description": long, "tags": ["t"]}).to_string() + "\n"
        })
        .collect();
    let gateway = Gateway::over(reader("many.jsonl", &lines, None), Setup::budget(1_024));
    let page = gateway.search(&json!({"query": "mystery"}));
    assert_eq!(page.code(), "response_too_large");
    assert_eq!(page.fields(), ["query", "limit", "detail", "tags"]);
    assert_eq!(
        page.value["payload"]["shape"],
        json!({"kind": "array", "count": 20})
    );
    assert!(
        !page.text.contains("mystery") && page.text.len() <= 1_024,
        "{}",
        page.text
    );
    let schemas = gateway.search(&json!({"detail": "schema", "limit": 2}));
    assert_eq!(
        schemas.value["payload"]["shape"],
        json!({"kind": "array", "count": 2})
    );
    let loaded = gateway.load(&json!({"name": "op_07"}));
    assert_eq!(loaded.code(), "response_too_large");
    assert_eq!(loaded.value["payload"]["shape"]["kind"], "object");
    assert_eq!(loaded.value.get("fields"), None);
    assert!(!loaded.text.contains("mystery"));
    // What was refused fits a budget of its size, and is then what was measured.
    let bytes = usize::try_from(page.value["payload"]["bytes"].as_u64().unwrap()).unwrap();
    let mut setup = Setup::default();
    setup.tools.budget = Budget::new(bytes).unwrap();
    let gateway = Gateway::over(reader("many.jsonl", &lines, None), setup);
    assert_eq!(
        gateway.search(&json!({"query": "mystery"})).text.len(),
        bytes
    );
    // One result fits.
    let small = Gateway::over(reader("many.jsonl", &lines, None), Setup::budget(1_024));
    assert_eq!(
        small
            .search(&json!({"query": "mystery", "limit": 1}))
            .names()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_call_in_flight_is_dropped_with_its_future() {
    let mut backend = Backend::start(|_| vec![Step::Hang]).await;
    let gateway = over(&backend);
    let call = json!({"name": "delete_things", "arguments": {}});
    {
        let mut invoked = Box::pin(gateway.invoke(&call));
        tokio::select! {
            answer = &mut invoked => panic!("answered: {answer:?}"),
            seen = backend.next() => assert!(matches!(seen, Seen::Request(_))),
        }
    }
    assert_eq!(backend.next().await, Seen::Closed);
}

#[tokio::test]
async fn a_deadline_says_that_the_call_may_have_been_applied() {
    let backend = Backend::start(|_| vec![Step::Hang]).await;
    let mut setup = Setup::default();
    setup.calls.deadline = Some(Duration::from_millis(50));
    let gateway = Gateway::over(
        reader("calls.yaml", CALLS, Some(&backend.url("/v1"))),
        setup,
    );
    let answer = gateway
        .invoke(json!({"name": "delete_things", "arguments": {}}))
        .await;
    insta::assert_snapshot!(answer.text, @r#"{"error":"invoke_timeout","message":"the backend did not answer completely within 50 ms; the operation may have been applied, so check before you make the call again","retryable":true}"#);
    let read = gateway
        .invoke(json!({"name": "list_things", "arguments": {}}))
        .await;
    assert_eq!(read.code(), "invoke_timeout");
    // A document's GET is not always one that changes nothing.
    assert!(read.message().contains("applied"), "{}", read.message());
}

/// The case's backends, one that delays its headers and one that drips its body, never finish here: a deadline
/// that is met only by luck would not end the call.
#[tokio::test]
async fn slow_backends_meet_the_deadline_once() {
    let case = case("25-deadline-and-slow-body.json");
    let (input, expected) = (&case["input"], &case["expected"]["each"]);
    let deadline = Duration::from_millis(input["timeout_ms"].as_u64().unwrap());
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n";
    for backend in input["backends"].as_array().unwrap() {
        let steps = match backend.get("body_drip") {
            Some(_) => vec![Step::Send(head.to_vec()), Step::Drip(b' ')],
            None => vec![Step::Hang],
        };
        for method in case["expected"]["no_automatic_retry_for"]
            .as_array()
            .unwrap()
        {
            let entry =
                json!({"name": "slow", "description": "Slow.", "method": method, "route": "/slow"});
            let steps = steps.clone();
            let mut backend = Backend::start(move |_| steps.clone()).await;
            let mut setup = Setup::default();
            setup.calls.deadline = Some(deadline);
            let reader = reader("lines.jsonl", &entry.to_string(), Some(&backend.url("")));
            let gateway = Gateway::over(reader, setup);
            let begun = Instant::now();
            let answer = gateway
                .invoke(json!({"name": "slow", "arguments": {}}))
                .await;
            assert!(begun.elapsed() >= deadline);
            assert_eq!(answer.code(), expected["error"]);
            let says = answer.message().contains("may have been applied");
            assert_eq!(json!(says), expected["message_says_may_have_been_applied"]);
            assert!(matches!(backend.next().await, Seen::Request(_)));
            let closed = backend.next().await == Seen::Closed;
            assert_eq!(json!(closed), expected["connection_closed"]);
            assert!(backend.requests().is_empty(), "sent twice");
        }
    }
}

#[tokio::test]
async fn a_backends_words_pass_the_filter_or_not_at_all() {
    let fault = r#"{"message":"at Shop.Orders.Load(Orders.cs:12)","errors":{"page_size":["must be at most 100"]}}"#;
    let backend = Backend::fixed(response(
        422,
        &[
            ("content-type", "application/json"),
            ("x-request-id", "r-1"),
            ("retry-after", "7"),
        ],
        fault,
    ))
    .await;
    let answer = over(&backend)
        .invoke(json!({"name": "list_things", "arguments": {}}))
        .await;
    insta::assert_snapshot!(answer.text, @r#"{"error":"validation_failed","message":"the backend did not accept the arguments; correct those named in `fields`","status":422,"retryable":false,"fields":[{"name":"page_size","message":"must be at most 100"}],"retryAfterSeconds":7,"reference":"r-1"}"#);
    assert!(!answer.text.contains("Shop.Orders"));
    let accept = Backend::fixed(response(204, &[], "")).await;
    let mut accept = accept;
    over(&accept)
        .invoke(json!({"name": "list_things", "arguments": {}}))
        .await;
    let [request] = &accept.requests()[..] else {
        panic!("one request");
    };
    assert!(header(request, "authorization").is_none());
    assert!(
        header(request, "user-agent")
            .unwrap()
            .starts_with("sezzlee/")
    );
}
