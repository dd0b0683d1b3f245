//! Errors on loopback: every row of the table, every shape, broken connections, and what never gets out.

use serde_json::{Value, json};
use sezzlee::catalog::{Body, BodyShape, Location, Member, Parameter, RequestTemplate, Style};
use sezzlee::invoke::{Failure, FailureKind, Filtered, Invoker, Outcome, Settings, compose};

use crate::http::client;
use crate::http_backend::{Backend, Step, json_response, response};

fn template(backend: &Backend) -> RequestTemplate {
    let member = |argument: &str, name: &str| Member {
        argument: argument.to_owned(),
        name: name.to_owned(),
        nullable: false,
        required: false,
    };
    RequestTemplate {
        document: "shop".to_owned(),
        method: "POST".to_owned(),
        base_url: Some(backend.url("")),
        route: "/orders".to_owned(),
        parameters: vec![Parameter {
            argument: "x_token".to_owned(),
            name: "X-Leave-Unread".to_owned(),
            location: Location::Header,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            content_type: None,
            required: false,
            nullable: false,
        }],
        body: Some(Body {
            media_type: "application/json".to_owned(),
            shape: BodyShape::Members {
                members: vec![member("quantity", "qty"), member("items", "items")],
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

/// One for each test: setting one up reads the trusted certificates.
fn invoker() -> Invoker {
    Invoker::new(client(&["127.0.0.1"]), Settings::default())
}

async fn call(invoker: &Invoker, backend: &Backend, arguments: &Value) -> Outcome {
    let template = template(backend);
    let request = compose(&template, arguments.as_object().unwrap()).unwrap();
    invoker.call(&template, request).await
}

async fn failure(invoker: &Invoker, bytes: Vec<u8>) -> Failure {
    let backend = Backend::fixed(bytes).await;
    match call(invoker, &backend, &json!({})).await {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_row_of_the_table() {
    use FailureKind::{
        BackendError, BackendUnavailable, BadRequest, Conflict, Forbidden, NotFound, RateLimited,
        Unauthenticated, ValidationFailed,
    };
    let invoker = invoker();
    let fields = "{\"errors\": {\"qty\": \"must be positive\"}}";
    let list = "{\"message\": [\"nothing is right\"]}";
    for (status, body, want) in [
        (400, fields, ValidationFailed),
        (422, fields, ValidationFailed),
        (400, list, ValidationFailed),
        (422, list, ValidationFailed),
        (400, "{}", BadRequest),
        (422, "{\"message\": \"no\"}", BadRequest),
        (405, fields, BadRequest),
        (406, "", BadRequest),
        (415, "", BadRequest),
        (402, "", BadRequest),
        (418, "", BadRequest),
        (451, "", BadRequest),
        (401, fields, Unauthenticated),
        (403, "", Forbidden),
        (404, "", NotFound),
        (410, "", NotFound),
        (409, "", Conflict),
        (412, "", Conflict),
        (428, "", Conflict),
        (429, "", RateLimited),
        (500, fields, BackendError),
        (501, "", BackendError),
        (505, "", BackendError),
        (599, "", BackendError),
        (700, "", BackendError),
        (502, "", BackendUnavailable),
        (503, "", BackendUnavailable),
        (504, "", BackendUnavailable),
        (408, "", BackendUnavailable),
    ] {
        let failed = failure(&invoker, json_response(status, body)).await;
        assert_eq!(
            (failed.kind, failed.status),
            (want, Some(status)),
            "{status} {body}"
        );
        if body.is_empty() {
            assert_eq!(failed.message, Filtered::standard(want));
        }
    }
}

#[tokio::test]
async fn shapes_become_messages_and_fields() {
    let invoker = invoker();
    for (body, message, fields) in [
        (
            json!({"title": "One or more errors.", "errors": {"Qty": ["must be positive"], "$.items[0].sku": ["unknown"]}}),
            Some("One or more errors."),
            vec![
                (Some("quantity"), "must be positive"),
                (Some("items.0.sku"), "unknown"),
            ],
        ),
        (
            json!({"detail": "Not good.", "errors": [{"pointer": "#/qty", "detail": "too many"}]}),
            Some("Not good."),
            vec![(Some("quantity"), "too many")],
        ),
        (
            json!({"message": ["qty must not be less than 1", "No stock"], "statusCode": 400}),
            None,
            vec![
                (Some("quantity"), "qty must not be less than 1"),
                (None, "No stock"),
            ],
        ),
        (
            json!({"detail": [{"loc": ["body", "qty"], "msg": "field required", "type": "missing"}]}),
            None,
            vec![(Some("quantity"), "field required")],
        ),
        (
            json!({"errors": [{"title": "Bad", "source": {"pointer": "/data/attributes/qty"}}]}),
            None,
            vec![(Some("quantity"), "Bad")],
        ),
    ] {
        let failed = failure(&invoker, json_response(422, &body.to_string())).await;
        assert_eq!(failed.kind, FailureKind::ValidationFailed, "{body}");
        let standard = Filtered::standard(FailureKind::ValidationFailed);
        let want = message.unwrap_or(standard.as_str());
        assert_eq!(failed.message.as_str(), want);
        let found: Vec<_> = failed
            .fields
            .iter()
            .map(|field| (field.name.as_deref(), field.message.as_str()))
            .collect();
        assert_eq!(found, fields, "{body}");
    }
    for (headers, body, want) in [
        (
            vec![("content-type", "application/json")],
            "\"Sold out\"",
            Some("Sold out"),
        ),
        (
            vec![("content-type", "text/plain")],
            " Sold out\n",
            Some("Sold out"),
        ),
        (vec![], "Sold out", Some("Sold out")),
        (
            vec![("content-type", "application/json")],
            "Sold out",
            Some("Sold out"),
        ),
        (
            vec![("content-type", "application/json")],
            "{\"message\": \"Sold o",
            None,
        ),
        (
            vec![("content-type", "application/problem+json")],
            "{\"title\":\"Sold out\"}",
            Some("Sold out"),
        ),
        (vec![("content-type", "text/html")], "Sold out", None),
        (
            vec![("content-type", "text/plain")],
            "<html><p>Sold out</p></html>",
            None,
        ),
        (
            vec![("content-type", "application/json")],
            "\"<h1>Sold out</h1>\"",
            None,
        ),
        (
            vec![("content-type", "application/xml")],
            "<e>Sold out</e>",
            None,
        ),
        (vec![("content-type", "image/png")], "Sold out", None),
        (vec![("content-type", "text/plain")], "", None),
    ] {
        let failed = failure(&invoker, response(409, &headers, body)).await;
        let standard = Filtered::standard(FailureKind::Conflict);
        assert_eq!(
            failed.message.as_str(),
            want.unwrap_or(standard.as_str()),
            "{headers:?} {body}"
        );
    }
}

#[tokio::test]
async fn what_must_not_leave_does_not() {
    let invoker = invoker();
    let secret = "Server=db7;Database=orders;User Id=sa;Password=hunter22";
    // Every status with a body that tells, and bodies that are never forwarded with one that does not.
    for status in [400, 401, 403, 404, 409, 418, 422, 429, 500, 502, 503] {
        for body in [
            json!({"message": secret}),
            json!({"message": [secret, format!("qty: {secret}")]}),
            json!({"errors": {secret: secret, "qty": secret}}),
            json!({"errors": [{"field": secret, "message": secret}]}),
            json!({"detail": [{"loc": ["body", secret], "msg": secret}]}),
            json!({"error": {"message": secret}}),
            json!({"traceId": secret, "title": secret}),
            json!(secret),
        ] {
            let failed = failure(&invoker, json_response(status, &body.to_string())).await;
            let told = format!("{failed:?}");
            assert!(
                !told.contains("hunter22") && !told.contains("db7"),
                "{status}: {told}"
            );
        }
    }
    for status in [401, 500, 503] {
        let failed = failure(
            &invoker,
            json_response(status, "{\"message\": \"plain words\"}"),
        )
        .await;
        assert!(!format!("{failed:?}").contains("plain words"));
        assert!(failed.fields.is_empty());
    }
    // The message of a field is replaced, its name stays.
    let body = json!({"errors": {"qty": "System.FormatException: bad"}}).to_string();
    let failed = failure(&invoker, json_response(400, &body)).await;
    assert_eq!(failed.fields[0].name.as_deref(), Some("quantity"));
    assert_eq!(
        failed.fields[0].message.as_str(),
        "was not accepted by the backend"
    );
    // Error bodies that are too long to be errors are not read.
    let long = json!({"message": "no", "pad": "x".repeat(100_000)}).to_string();
    let failed = failure(&invoker, json_response(404, &long)).await;
    assert_eq!(failed.message, Filtered::standard(FailureKind::NotFound));
}

#[tokio::test]
async fn waits_and_references_are_told() {
    let invoker = invoker();
    let headers = [("retry-after", "17"), ("x-request-id", "req-1:a.b")];
    let failed = failure(&invoker, response(429, &headers, "")).await;
    assert_eq!(failed.retry_after_seconds, Some(17));
    assert_eq!(failed.reference.as_deref(), Some("req-1:a.b"));
    let past = [("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")];
    assert_eq!(
        failure(&invoker, response(503, &past, ""))
            .await
            .retry_after_seconds,
        Some(0)
    );
    let body = json!({"title": "x", "traceId": "00-4bf9-01"}).to_string();
    assert_eq!(
        failure(&invoker, json_response(500, &body))
            .await
            .reference
            .as_deref(),
        Some("00-4bf9-01")
    );
    let bad = [
        ("x-correlation-id", "<script>"),
        ("x-request-id", "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.x"),
    ];
    assert_eq!(
        failure(&invoker, response(500, &bad, "")).await.reference,
        None
    );
}

#[tokio::test]
async fn half_an_answer_is_no_answer() {
    let invoker = invoker();
    let chunked =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n";
    let gzip_half = {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(&[b'1'; 1000]).unwrap();
        let whole = encoder.finish().unwrap();
        let headers = [
            ("content-encoding", "gzip"),
            ("content-type", "application/json"),
        ];
        response(200, &headers, &whole[..500])
    };
    for bytes in [
        b"".to_vec(),
        b"HTTP/1.1 200 OK\r\ncont".to_vec(),
        b"SSH-2.0-OpenSSH_9.7\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n[1]"
            .to_vec(),
        format!("{chunked}3\r\n[1]\r\n").into_bytes(),
        format!("{chunked}3\r\n[1]\r\n0\r\n").into_bytes(),
        format!("{chunked}zz\r\n").into_bytes(),
        gzip_half,
        response(200, &[("content-encoding", "gzip")], "not gzip at all"),
    ] {
        let mut backend = Backend::fixed(bytes.clone()).await;
        let Outcome::Failed(failed) = call(&invoker, &backend, &json!({})).await else {
            panic!("{}", String::from_utf8_lossy(&bytes));
        };
        assert_eq!(
            (failed.kind, failed.status),
            (FailureKind::BackendUnavailable, Some(502))
        );
        assert!(
            failed.message.as_str().contains("may have been applied"),
            "{failed:?}"
        );
        // Never sent twice.
        assert_eq!(backend.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_reset_in_the_middle_of_a_body_is_no_answer() {
    let invoker = invoker();
    // Closing with the request's body unread resets the connection.
    let backend = Backend::fixed(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n[1"
            .as_slice(),
    )
    .await;
    let arguments = json!({"x_token": "1", "items": "x".repeat(4_000_000)});
    let Outcome::Failed(failed) = call(&invoker, &backend, &arguments).await else {
        panic!("half an answer came through")
    };
    assert_eq!(
        (failed.kind, failed.status),
        (FailureKind::BackendUnavailable, Some(502))
    );
}

#[tokio::test]
async fn bytes_past_the_end_are_not_the_answer() {
    let invoker = invoker();
    let backend = Backend::fixed(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n[1][2]"
            .as_slice(),
    )
    .await;
    let Outcome::Answer(answer) = call(&invoker, &backend, &json!({})).await else {
        panic!("no answer")
    };
    assert_eq!(
        answer.body,
        Some(sezzlee::invoke::AnswerBody::Json(json!([1])))
    );
}

#[tokio::test]
async fn a_call_on_a_reused_connection_that_dies_is_not_made_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let count = AtomicUsize::new(0);
    let mut backend = Backend::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => vec![Step::Send(json_response(200, "1")), Step::Keep],
        _ => vec![],
    })
    .await;
    let template = template(&backend);
    let invoker = Invoker::new(client(&["127.0.0.1"]), Settings::default());
    let request = compose(&template, &serde_json::Map::new()).unwrap();
    assert!(matches!(
        invoker.call(&template, request.clone()).await,
        Outcome::Answer(_)
    ));
    let Outcome::Failed(failed) = invoker.call(&template, request).await else {
        panic!("answered without a backend")
    };
    assert_eq!(failed.kind, FailureKind::BackendUnavailable);
    assert_eq!(backend.requests().len(), 2);
}

#[tokio::test]
async fn an_unreachable_backend_is_not_named() {
    let backend = Backend::fixed("").await;
    let mut template = template(&backend);
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    for (base, hosts) in [
        (format!("http://127.0.0.1:{port}"), vec!["127.0.0.1"]),
        (format!("https://{}", backend.address), vec!["127.0.0.1"]),
        // Behind the fence.
        (backend.url(""), vec![]),
        (format!("http://localhost:{port}"), vec![]),
        ("http://169.254.169.254".to_owned(), vec!["169.254.169.254"]),
    ] {
        template.base_url = Some(base.clone());
        let request = compose(&template, &serde_json::Map::new()).unwrap();
        let invoker = Invoker::new(client(&hosts), Settings::default());
        let Outcome::Failed(failed) = invoker.call(&template, request).await else {
            panic!("{base} was reached")
        };
        assert_eq!(
            (failed.kind, failed.status),
            (FailureKind::BackendUnavailable, Some(502))
        );
        assert_eq!(
            failed.message,
            Filtered::standard(FailureKind::BackendUnavailable)
        );
    }
}
