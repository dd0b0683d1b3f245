//! Calls on loopback: what is sent, what comes back, and every way it can go wrong.

use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sezzlee::catalog::{Body, BodyShape, Location, Member, Parameter, RequestTemplate, Style};
use sezzlee::invoke::{
    Answer, AnswerBody, Failure, FailureKind, Invoker, Outcome, Oversize, Settings, Shape, compose,
};

use crate::http::client;
use crate::http_backend::{Backend, Seen, Step, header, json_response, response};

/// A deadline that no test is meant to reach.
const FAR: Duration = Duration::from_secs(30);

fn template(backend: &Backend, method: &str) -> RequestTemplate {
    let parameter = |argument: &str, name: &str, location, style| Parameter {
        argument: argument.to_owned(),
        name: name.to_owned(),
        location,
        style,
        explode: false,
        allow_reserved: false,
        content_type: None,
        required: false,
        nullable: false,
    };
    let member = |argument: &str, name: &str| Member {
        argument: argument.to_owned(),
        name: name.to_owned(),
        nullable: false,
        required: false,
    };
    RequestTemplate {
        document: "shop".to_owned(),
        method: method.to_owned(),
        base_url: Some(backend.url("/api")),
        route: "/orders".to_owned(),
        parameters: vec![parameter("kinds", "kinds", Location::Query, Style::Form)],
        body: (method == "POST").then(|| Body {
            media_type: "application/json".to_owned(),
            shape: BodyShape::Members {
                members: vec![member("quantity", "qty"), member("note", "note")],
                open: false,
            },
            required: true,
            withheld: Vec::new(),
        }),
        accepts: vec![],
        carriers: Vec::new(),
        hidden: Vec::new(),
    }
}

fn invoker(settings: Settings) -> Invoker {
    Invoker::new(client(&["127.0.0.1"]), settings)
}

fn settings() -> Settings {
    Settings {
        deadline: Some(FAR),
        ..Settings::default()
    }
}

async fn call_with(backend: &Backend, method: &str, settings: Settings) -> Outcome {
    let template = template(backend, method);
    let request = compose(&template, &serde_json::Map::new()).unwrap();
    invoker(settings).call(&template, request).await
}

/// What becomes of a GET that is answered with these bytes.
async fn outcome(invoker: &Invoker, bytes: Vec<u8>) -> Outcome {
    let backend = Backend::fixed(bytes).await;
    let template = template(&backend, "GET");
    let request = compose(&template, &serde_json::Map::new()).unwrap();
    invoker.call(&template, request).await
}

#[track_caller]
fn answer(outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Answer(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn oversize(outcome: Outcome) -> Oversize {
    match outcome {
        Outcome::Oversize(oversize) => oversize,
        other => panic!("{other:?}"),
    }
}

fn text_of(answer: &Answer) -> &str {
    match &answer.body {
        Some(AnswerBody::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_arrives_as_it_was_composed() {
    let mut backend = Backend::fixed(json_response(
        201,
        "{\"id\": 9007199254740993, \"p\": 1.10}",
    ))
    .await;
    let template = template(&backend, "POST");
    let arguments = json!({"kinds": ["a b", "c,d"], "quantity": 2, "note": "é"});
    let request = compose(&template, arguments.as_object().unwrap()).unwrap();
    let answer = answer(invoker(settings()).call(&template, request).await);
    assert_eq!(answer.status, 201);
    let Some(AnswerBody::Json(body)) = &answer.body else {
        panic!("{answer:?}")
    };
    assert_eq!(body.to_string(), "{\"id\":9007199254740993,\"p\":1.10}");
    assert_eq!(answer.content_type, None);
    let request = backend.requests().remove(0);
    assert!(
        request.starts_with("POST /api/orders?kinds=a%20b,c%2Cd HTTP/1.1\r\n"),
        "{request}"
    );
    assert_eq!(header(&request, "content-type"), Some("application/json"));
    assert_eq!(
        header(&request, "accept"),
        Some("application/json, */*;q=0.5")
    );
    for encoding in ["gzip", "br", "zstd"] {
        assert!(
            header(&request, "accept-encoding")
                .unwrap()
                .contains(encoding)
        );
    }
    assert!(request.ends_with("\r\n\r\n{\"qty\":2,\"note\":\"é\"}"));
}

#[tokio::test]
async fn successes_by_type() {
    let invoker = invoker(settings());
    let json_type = [("content-type", "application/hal+json; charset=utf-8")];
    let found = answer(outcome(&invoker, response(200, &json_type, "\u{feff}[1]")).await);
    assert_eq!(found.body, Some(AnswerBody::Json(json!([1]))));
    // Without a type JSON is still JSON; with another it is text.
    let found = answer(outcome(&invoker, response(200, &[], "{\"a\":1}")).await);
    assert_eq!(found.body, Some(AnswerBody::Json(json!({"a": 1}))));
    let found = answer(outcome(&invoker, response(200, &[], "hello")).await);
    assert_eq!((text_of(&found), &found.content_type), ("hello", &None));
    let csv = [("content-type", "text/CSV; charset=utf-8")];
    let found = answer(outcome(&invoker, response(200, &csv, "[1]")).await);
    assert_eq!(text_of(&found), "[1]");
    assert_eq!(found.content_type.as_deref(), Some("text/csv"));
    // What is said to be JSON and is not stays whole.
    let found = answer(outcome(&invoker, json_response(200, "{\"a\":")).await);
    assert_eq!(text_of(&found), "{\"a\":");
    assert_eq!(found.content_type.as_deref(), Some("application/json"));
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    let found = answer(outcome(&invoker, json_response(200, &deep)).await);
    assert_eq!(text_of(&found), deep);
}

#[tokio::test]
async fn bytes_are_described() {
    let invoker = invoker(settings());
    let png = [("content-type", "image/png")];
    let found = answer(outcome(&invoker, response(200, &png, "abc")).await);
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let described = |bytes, media_type: &str| AnswerBody::Binary {
        bytes,
        media_type: media_type.to_owned(),
        sha256: sha256.to_owned(),
    };
    assert_eq!(found.body, Some(described(3, "image/png")));
    // Text that is not UTF-8 is bytes; so is what nothing tells.
    for (content_type, body, want) in [
        (
            "application/json",
            b"\"\xe9\"".as_slice(),
            "application/json",
        ),
        ("text/plain", b"\xff", "text/plain"),
        ("text/plain; charset=utf-16", b"a\0", "text/plain"),
        ("text/plain; charset=latin1", "é".as_bytes(), "text/plain"),
        ("nonsense", b"\0\x01", "application/octet-stream"),
    ] {
        let found = answer(
            outcome(
                &invoker,
                response(200, &[("content-type", content_type)], body),
            )
            .await,
        );
        match found.body {
            Some(AnswerBody::Binary {
                bytes,
                media_type,
                sha256,
            }) => {
                assert_eq!((bytes, media_type.as_str()), (body.len() as u64, want));
                assert_eq!(sha256, sezzlee::json::sha256_hex(body));
            }
            other => panic!("{content_type}: {other:?}"),
        }
    }
    // Described however many, up to the ceiling.
    let small = Settings {
        budget_bytes: 10,
        ..settings()
    };
    for content_type in ["image/png", "application/vnd.orchard"] {
        let body = vec![0_u8; 100_000];
        let backend = Backend::fixed(response(200, &[("content-type", content_type)], &body)).await;
        let found = answer(call_with(&backend, "GET", small.clone()).await);
        let sha256 = sezzlee::json::sha256_hex(&body);
        assert_eq!(
            found.body,
            Some(AnswerBody::Binary {
                bytes: 100_000,
                media_type: content_type.to_owned(),
                sha256
            })
        );
    }
}

#[tokio::test]
async fn answers_without_a_body() {
    let invoker = invoker(settings());
    for (status, headers, body) in [
        (200, vec![], ""),
        (200, vec![("content-type", "application/json")], ""),
        (200, vec![("content-type", "image/png")], ""),
        (204, vec![], ""),
        (304, vec![("etag", "x")], ""),
    ] {
        let found = answer(outcome(&invoker, response(status, &headers, body)).await);
        assert_eq!(
            (found.status, found.body, found.content_type),
            (status, None, None)
        );
    }
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\ncontent-encoding: gzip\r\ncontent-type: application/json\r\n\r\n";
    let backend = Backend::fixed(head.as_slice()).await;
    let found = answer(call_with(&backend, "HEAD", settings()).await);
    assert_eq!((found.status, found.body), (200, None));
}

#[tokio::test]
async fn a_redirect_is_an_answer_with_its_location() {
    let invoker = invoker(settings());
    let mut backend = Backend::fixed(response(303, &[("location", "/api/orders/5")], "")).await;
    let found = answer(call_with(&backend, "POST", settings()).await);
    assert_eq!(found.status, 303);
    assert_eq!(found.location.unwrap().as_str(), "/api/orders/5");
    assert_eq!(backend.requests().len(), 1);
    for location in [
        "https://u:p@internal/x",
        "https://x.test/?t=eyJhbGciOiJub25lIn0.eyJhIjoxfQ.",
    ] {
        let found = answer(outcome(&invoker, response(302, &[("location", location)], "")).await);
        assert_eq!(found.location, None);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn compressed_bodies_are_read_decompressed() {
    let invoker = invoker(settings());
    for (encoding, body) in [
        ("gzip", gzip(b"{\"a\":1}")),
        (
            "zstd",
            zstd::encode_all(b"{\"a\":1}".as_slice(), 3).unwrap(),
        ),
    ] {
        let headers = [
            ("content-type", "application/json"),
            ("content-encoding", encoding),
        ];
        let found = answer(outcome(&invoker, response(200, &headers, body)).await);
        assert_eq!(found.body, Some(AnswerBody::Json(json!({"a": 1}))));
    }
    // One that was not asked for is not text.
    let headers = [
        ("content-type", "text/plain"),
        ("content-encoding", "deflate"),
    ];
    let found = answer(outcome(&invoker, response(200, &headers, "abc")).await);
    assert!(matches!(
        found.body,
        Some(AnswerBody::Binary { bytes: 3, .. })
    ));
}

#[tokio::test]
async fn a_body_over_the_budget_is_counted_exactly() {
    let items: Vec<Value> = (0..5000)
        .map(|id| json!({"id": id, "name": "x".repeat(40), "t": [1, {"a,": 2}]}))
        .collect();
    let array = Value::from(items).to_string();
    let object = Value::Object(
        (0..4000)
            .map(|n| (format!("k{n}"), json!("x".repeat(40))))
            .collect(),
    )
    .to_string();
    let small = Settings {
        budget_bytes: 65_536,
        ..settings()
    };
    for (content_type, body, shape) in [
        ("application/json", &array, Shape::Array(5000)),
        ("application/json", &object, Shape::Object(4000)),
        ("text/plain", &array, Shape::Text),
        (
            "application/json",
            &array[..100_000].to_owned(),
            Shape::Text,
        ),
    ] {
        for compressed in [false, true] {
            let mut headers = vec![("content-type", content_type)];
            let bytes = if compressed {
                headers.push(("content-encoding", "gzip"));
                gzip(body.as_bytes())
            } else {
                body.clone().into_bytes()
            };
            let backend = Backend::fixed(response(200, &headers, bytes)).await;
            let found = oversize(call_with(&backend, "GET", small.clone()).await);
            assert_eq!(
                found,
                Oversize {
                    bytes: body.len() as u64,
                    over: false,
                    shape
                }
            );
        }
    }
    // Exactly at the budget is within it.
    let body = format!("\"{}\"", "x".repeat(65_534));
    let backend = Backend::fixed(json_response(200, &body)).await;
    assert!(
        answer(call_with(&backend, "GET", small).await)
            .body
            .is_some()
    );
}

#[tokio::test]
async fn a_bomb_meets_the_ceiling_and_the_connection_is_closed() {
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
    ];
    let bomb = gzip(&vec![b'['; 64 * 1024 * 1024]);
    assert!(bomb.len() < 100_000);
    let tight = Settings {
        budget_bytes: 1000,
        ceiling_bytes: 1_000_000,
        ..settings()
    };
    let backend = Backend::fixed(response(200, &headers, bomb)).await;
    let found = oversize(call_with(&backend, "GET", tight.clone()).await);
    assert!(
        found.over && (1_000_000..2_000_000).contains(&found.bytes),
        "{found:?}"
    );

    // A body without an end: its backend sees the connection close.
    let mut endless = Backend::start(|_| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[1,2,".to_vec();
        vec![
            Step::Send(head),
            Step::Send(vec![b' '; 1_000_000]),
            Step::Hang,
        ]
    })
    .await;
    let found = oversize(call_with(&endless, "GET", tight).await);
    assert!(found.over);
    assert_eq!(found.shape, Shape::Array(2));
    assert!(matches!(endless.next().await, Seen::Request(_)));
    assert_eq!(endless.next().await, Seen::Closed);
}

#[tokio::test]
async fn the_deadline_covers_head_and_body() {
    let head =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n";
    for steps in [
        vec![Step::Hang],
        vec![
            Step::Send(b"HTTP/1.1 200 OK\r\nx: ".to_vec()),
            Step::Drip(b'a'),
        ],
        vec![Step::Send(head.to_vec()), Step::Drip(b' ')],
    ] {
        for method in ["POST", "GET"] {
            let steps = steps.clone();
            let mut backend = Backend::start(move |_| steps.clone()).await;
            let short = Settings {
                deadline: Some(Duration::from_millis(300)),
                ..settings()
            };
            let begun = Instant::now();
            let failed = failure(call_with(&backend, method, short).await);
            assert!(begun.elapsed() < Duration::from_secs(10));
            assert_eq!((failed.kind, failed.status), (FailureKind::Timeout, None));
            let message = failed.message.as_str();
            // A document's GET is not always one that changes nothing.
            assert!(message.contains("may have been applied"), "{message}");
            assert!(message.contains("300 ms"));
            // Sent once, and dropped.
            assert!(matches!(backend.next().await, Seen::Request(_)));
            assert_eq!(backend.next().await, Seen::Closed);
        }
    }
}

#[tokio::test]
async fn a_deadline_of_nothing_never_ends_a_call() {
    for deadline in [None, Some(Duration::ZERO), Some(Duration::MAX)] {
        let backend = Backend::fixed(json_response(200, "1")).await;
        let none = Settings {
            deadline,
            ..settings()
        };
        assert_eq!(answer(call_with(&backend, "GET", none).await).status, 200);
    }
}

#[tokio::test]
async fn a_dropped_call_drops_its_request() {
    let mut backend = Backend::start(|_| vec![Step::Hang]).await;
    let template = template(&backend, "POST");
    let request = compose(&template, &serde_json::Map::new()).unwrap();
    let invoker = invoker(settings());
    {
        let call = invoker.call(&template, request);
        tokio::select! {
            outcome = call => panic!("{outcome:?}"),
            seen = backend.next() => assert!(matches!(seen, Seen::Request(_))),
        }
    }
    assert_eq!(backend.next().await, Seen::Closed);
}

#[tokio::test]
async fn calls_in_flight_are_limited_and_waiting_counts_against_the_deadline() {
    let mut backend = Backend::start(|_| vec![Step::Hang]).await;
    let template = template(&backend, "POST");
    let invoker = invoker(Settings {
        in_flight_max: 2,
        ..settings()
    });
    let request = || compose(&template, &serde_json::Map::new()).unwrap();
    let two = async {
        tokio::join!(
            invoker.call(&template, request()),
            invoker.call(&template, request())
        )
    };
    let third = async {
        backend.next().await;
        backend.next().await;
        let short = Some(Duration::from_millis(50));
        let failed = failure(invoker.call_within(&template, request(), short).await);
        assert_eq!(failed.kind, FailureKind::Timeout);
        assert!(
            failed.message.as_str().contains("was not sent"),
            "{failed:?}"
        );
        assert!(!failed.message.as_str().contains("may have been applied"));
        assert_eq!(backend.requests(), Vec::<String>::new());
    };
    tokio::select! {
        outcome = two => panic!("{outcome:?}"),
        () = third => {}
    }
    // Their places are free again once they are dropped.
    let short = Some(Duration::from_millis(50));
    let failed = failure(invoker.call_within(&template, request(), short).await);
    assert!(failed.message.as_str().contains("may have been applied"));
}
