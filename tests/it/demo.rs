//! The demo shop: its document and its router say the same, its scenarios hold, it starts and stops.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use serde_json::{Value, json};
use sezzlee::demo::{self, Clock, Settings, backend};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tower::ServiceExt as _;

use crate::demo_document::{Described, check_answer, document, follow, operations};

/// A shop whose reports take no time.
pub(crate) fn quick() -> Settings {
    Settings {
        report_delay: Duration::ZERO,
        audit_delay: Duration::ZERO,
        ..Settings::default()
    }
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn content_type(&self) -> Option<&str> {
        self.headers
            .get(header::CONTENT_TYPE)
            .map(|value| value.to_str().unwrap())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends one request to a router.
pub(crate) async fn send(router: &Router, request: Request<Body>) -> Answer {
    let (parts, body) = router.clone().oneshot(request).await.unwrap().into_parts();
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: axum::body::to_bytes(body, usize::MAX)
            .await
            .unwrap()
            .to_vec(),
    }
}

/// A request for an operation: `GET /orders/{order_id}`, values for its path, a query, headers, a body.
fn request(
    call: &str,
    path: &Value,
    query: &str,
    headers: &Value,
    body: Option<Vec<u8>>,
) -> Request<Body> {
    let (method, template) = call.split_once(' ').unwrap();
    let mut uri = template.to_owned();
    for (name, value) in path.as_object().into_iter().flatten() {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        uri = uri.replace(&format!("{{{name}}}"), &text);
    }
    if !query.is_empty() {
        // Square brackets are written as they are in the cases, to be read.
        uri = format!("{uri}?{}", query.replace('[', "%5B").replace(']', "%5D"));
    }
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers.as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().unwrap());
    }
    match body {
        Some(body) => request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .unwrap(),
        None => request.body(Body::empty()).unwrap(),
    }
}

fn described<'a>(all: &'a [Described], call: &str) -> &'a Described {
    let found = all.iter().find(|one| one.call == call);
    found.unwrap_or_else(|| panic!("{call} is not in the document"))
}

#[test]
fn the_document_and_the_table_of_routes_name_the_same_operations() {
    let documented: Vec<_> = operations(&document())
        .into_iter()
        .map(|one| one.call)
        .collect();
    let routed: Vec<_> = demo::route_names()
        .iter()
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let documented_set: BTreeSet<_> = documented.iter().collect();
    let routed_set: BTreeSet<_> = routed.iter().collect();
    assert_eq!(documented_set, routed_set);
    assert_eq!(documented.len(), routed.len());
    assert!(routed.len() >= 40, "{}", routed.len());
}

#[test]
fn the_document_is_complete_and_shows_what_documents_can_hold() {
    let document = document();
    let all = operations(&document);
    let mut ids = BTreeSet::new();
    let tags: BTreeSet<_> = document["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag["name"].as_str().unwrap())
        .collect();
    for one in &all {
        assert!(
            one.operation["summary"].is_string(),
            "{} has no summary",
            one.call
        );
        for tag in one.operation["tags"].as_array().unwrap() {
            assert!(
                tags.contains(tag.as_str().unwrap()),
                "{} has the undeclared tag {tag}",
                one.call
            );
        }
        if let Some(id) = one.operation["operationId"].as_str() {
            assert!(ids.insert(id.to_owned()), "{id} stands twice");
        }
        let placeholders = one.call.matches('{').count();
        let in_path: Vec<_> = one
            .parameters
            .iter()
            .filter(|one| one["in"] == "path")
            .collect();
        assert_eq!(placeholders, in_path.len(), "{}", one.call);
        for parameter in in_path {
            assert_eq!(parameter["required"], true, "{}", one.call);
            assert!(
                one.call
                    .contains(&format!("{{{}}}", parameter["name"].as_str().unwrap()))
            );
        }
    }
    check_references(&document, &document);
    assert!(
        all.len() - ids.len() >= 3,
        "some operations go without an id"
    );
    assert!(all.iter().any(|one| one.operation["deprecated"] == true));
    assert!(
        all.iter()
            .any(|one| one.operation.pointer("/x-sezzlee/searchTerms").is_some())
    );
    assert!(tags.iter().any(|tag| tag.contains(' ')) && tags.iter().any(|tag| !tag.is_ascii()));
    assert!(
        all.iter()
            .flat_map(|one| &one.parameters)
            .any(|one| one["style"] == "deepObject")
    );
    assert_eq!(
        document["servers"],
        json!([{"url": "/", "description": "Wherever the shop is listening."}])
    );
}

/// Every reference leads somewhere within the document.
fn check_references(document: &Value, value: &Value) {
    if value.get("$ref").is_some_and(Value::is_string) {
        follow(document, value);
    }
    match value {
        Value::Array(items) => items
            .iter()
            .for_each(|item| check_references(document, item)),
        Value::Object(members) => members
            .values()
            .for_each(|member| check_references(document, member)),
        _ => {}
    }
}

/// Runs the scenarios, each in a fresh shop, and answers which statuses each operation showed.
async fn run_scenarios(document: &Value, all: &[Described]) -> BTreeSet<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/demo-shop.json");
    let scenarios: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut seen = BTreeSet::new();
    for scenario in scenarios.as_array().unwrap() {
        let router = backend::router(quick());
        for (number, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
            let call = step["call"].as_str().unwrap();
            let place = format!("{}, step {number}: {call}", scenario["name"]);
            let query = step["query"].as_str().unwrap_or_default();
            let body = step.get("body").map(|body| body.to_string().into_bytes());
            let answer = send(
                &router,
                request(call, &step["path"], query, &step["headers"], body),
            )
            .await;
            let text = answer.text();
            assert_eq!(
                Value::from(answer.status.as_u16()),
                step["status"],
                "{place}: {text}"
            );
            check_answer(
                document,
                described(all, call),
                answer.status,
                answer.content_type(),
                &answer.body,
            );
            check_step(step, &answer, &place);
            seen.insert((call.to_owned(), answer.status.as_str().to_owned()));
        }
    }
    seen
}

fn check_step(step: &Value, answer: &Answer, place: &str) {
    let text = answer.text();
    if let Some(has) = step["has"].as_object() {
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        for (pointer, expected) in has {
            assert_eq!(
                body.pointer(pointer),
                Some(expected),
                "{place} at {pointer}: {text}"
            );
        }
    }
    if let Some(part) = step["holds"].as_str() {
        assert!(text.contains(part), "{place}: {text}");
    }
    for (name, expected) in step["header"].as_object().into_iter().flatten() {
        let value = answer
            .headers
            .get(name)
            .map(|value| value.to_str().unwrap());
        assert_eq!(value, expected.as_str(), "{place}: {name}");
    }
    if let Some(bytes) = step["bytes_over"].as_u64() {
        assert!(
            answer.body.len() as u64 > bytes,
            "{place}: {} bytes",
            answer.body.len()
        );
    }
    if let Some(bytes) = step["bytes_under"].as_u64() {
        assert!(
            (answer.body.len() as u64) < bytes,
            "{place}: {} bytes",
            answer.body.len()
        );
    }
    let id = answer
        .headers
        .get("x-request-id")
        .map(|value| value.to_str().unwrap());
    assert!(
        id.is_some_and(|id| id.starts_with("shop-")),
        "{place}: {id:?}"
    );
}

/// What every operation refuses for the same reasons: an id that is none, one nobody has, a body that is no
/// JSON, a page of no rows.
async fn run_common_faults(document: &Value, all: &[Described]) -> BTreeSet<(String, String)> {
    let router = backend::router(quick());
    let mut seen = BTreeSet::new();
    for one in all {
        let method = one.call.split(' ').next().unwrap();
        let has_body = one.operation.get("requestBody").is_some();
        let mut requests = Vec::new();
        let in_path: Vec<_> = one
            .parameters
            .iter()
            .filter(|one| one["in"] == "path")
            .collect();
        let fill = |value: &str| -> Value {
            in_path
                .iter()
                .map(|one| (one["name"].as_str().unwrap().to_owned(), json!(value)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let body = || has_body.then(|| b"{}".to_vec());
        if !in_path.is_empty() {
            requests.push(request(
                &one.call,
                &fill("999999"),
                "",
                &Value::Null,
                body(),
            ));
            requests.push(request(&one.call, &fill("x"), "", &Value::Null, body()));
        }
        if has_body {
            requests.push(request(
                &one.call,
                &fill("1001"),
                "",
                &Value::Null,
                Some(b"{]".to_vec()),
            ));
        }
        if one.parameters.iter().any(|one| one["name"] == "limit") {
            for id in ["1", "1001"] {
                requests.push(request(&one.call, &fill(id), "limit=0", &Value::Null, None));
            }
        }
        if method == "GET" {
            requests.push(request(
                &one.call,
                &fill("1001"),
                "below=0",
                &Value::Null,
                None,
            ));
        }
        for request in requests {
            let answer = send(&router, request).await;
            check_answer(
                document,
                one,
                answer.status,
                answer.content_type(),
                &answer.body,
            );
            seen.insert((one.call.clone(), answer.status.as_str().to_owned()));
        }
    }
    seen
}

/// The document promises nothing the shop does not do, and the shop does nothing the document is silent on.
#[tokio::test]
async fn every_declared_status_is_answered_and_every_answer_is_as_declared() {
    let document = document();
    let all = operations(&document);
    let mut seen = run_scenarios(&document, &all).await;
    seen.extend(run_common_faults(&document, &all).await);
    // A full table is the only conflict of these, and the month never closes.
    let full_table_only = [
        "POST /products 409",
        "POST /products/import 409",
        "POST /products/{product_id}/reviews 409",
        "POST /orders 409",
        "POST /orders/{order_id}/notes 409",
        "POST /reports/reconciliation 204",
    ];
    let mut unseen = Vec::new();
    for one in &all {
        for status in one.operation["responses"].as_object().unwrap().keys() {
            if !seen.contains(&(one.call.clone(), status.clone())) {
                unseen.push(format!("{} {status}", one.call));
            }
        }
    }
    unseen.sort();
    let mut expected = full_table_only.map(str::to_owned);
    expected.sort();
    assert_eq!(unseen, expected);
}

#[tokio::test]
async fn tables_fill_up_and_say_so() {
    let router = backend::router(quick());
    let mut statuses = BTreeSet::new();
    let rows: Vec<_> = (0..100)
        .map(|_| json!({"name": "A", "category": "desks", "price": {"amount": 1, "currency": "EUR"}}))
        .collect();
    for _ in 0..25 {
        let body = json!(rows).to_string().into_bytes();
        let answer = send(
            &router,
            request(
                "POST /products/import",
                &Value::Null,
                "",
                &Value::Null,
                Some(body),
            ),
        )
        .await;
        statuses.insert(answer.status.as_u16());
    }
    assert_eq!(statuses, BTreeSet::from([201, 409]));
    let answer = send(
        &router,
        request("GET /products", &Value::Null, "limit=1", &Value::Null, None),
    )
    .await;
    let page: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(page["total"], 1944, "whole imports only");

    for (call, body, rows_max) in [
        ("POST /orders/{order_id}/notes", json!({"text": "n"}), 50),
        (
            "POST /products/{order_id}/reviews",
            json!({"stars": 1, "title": "t", "author": "a"}),
            50,
        ),
    ] {
        let id = if call.starts_with("POST /orders") {
            1001
        } else {
            1
        };
        let mut created = 0;
        let mut last = StatusCode::OK;
        for _ in 0..60 {
            let body = body.to_string().into_bytes();
            let answer = send(
                &router,
                request(call, &json!({"order_id": id}), "", &Value::Null, Some(body)),
            )
            .await;
            created += i32::from(answer.status == StatusCode::CREATED);
            last = answer.status;
        }
        assert_eq!(last, StatusCode::CONFLICT, "{call}");
        assert!(created <= rows_max, "{call}: {created}");
    }
}

#[tokio::test]
async fn what_no_route_takes() {
    let router = backend::router(quick());
    let status = async |request: Request<Body>| {
        let answer = send(&router, request).await;
        // What reached a route has an id, whatever became of it.
        let missed =
            [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED].contains(&answer.status);
        assert_eq!(answer.headers.contains_key("x-request-id"), !missed);
        answer.status.as_u16()
    };
    let post = |media_type: &str, body: Vec<u8>| {
        Request::post("/orders")
            .header(header::CONTENT_TYPE, media_type)
            .body(Body::from(body))
            .unwrap()
    };
    assert_eq!(
        status(Request::get("/nowhere").body(Body::empty()).unwrap()).await,
        404
    );
    assert_eq!(
        status(Request::put("/orders").body(Body::empty()).unwrap()).await,
        405
    );
    assert_eq!(status(post("text/xml", b"<a/>".to_vec())).await, 415);
    assert_eq!(
        status(post("application/json", vec![b' '; 600_000])).await,
        413
    );
    assert_eq!(
        status(post("application/json", b"[".repeat(100_000))).await,
        400
    );
    assert_eq!(status(post("application/json", b"[]".to_vec())).await, 400);
    assert_eq!(
        status(post("application/vnd.shop+json", b"{}".to_vec())).await,
        400
    );
}

/// Sends one GET over a real connection and reads to its end.
async fn get(address: std::net::SocketAddr, path: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: shop\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_shop_starts_on_loopback_and_stopping_cuts_slow_answers_short() {
    // The shop asks its clock once a request: that is how the test knows that one has come in.
    let (asked, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let clock = Clock::new(move || {
        asked.send(()).unwrap();
        SystemTime::UNIX_EPOCH
    });
    let settings = Settings {
        audit_delay: Duration::from_hours(1),
        clock,
        ..quick()
    };
    let shop = demo::start(settings).await.unwrap();
    let address = shop.address();
    assert!(address.ip().is_loopback());
    assert_eq!(
        shop.base_url(),
        format!("http://127.0.0.1:{}", address.port())
    );
    assert!(
        get(address, "/orders/1001")
            .await
            .starts_with("HTTP/1.1 200 OK")
    );
    requests.recv().await.unwrap();

    let slow = tokio::spawn(async move { get(address, "/reports/audit").await });
    requests.recv().await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), shop.stop())
        .await
        .unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(30), slow)
        .await
        .unwrap()
        .unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.contains("the shop is closing"),
        "{answer}"
    );
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
