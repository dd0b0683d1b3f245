//! What the endpoint refuses, and what it takes without an answer.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use insta::assert_snapshot;
use serde_json::json;
use sezzlee::mcp::{Allowed, Settings};

use crate::mcp_fake::{ask, legacy, modern, post, send, served, settings, shown};

#[tokio::test]
async fn notifications() {
    let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_snapshot!(ask(&[], body).await, @r#"
    202
    content-length: 0
    "#);
    // What the listening client posts when it closes, without the method header.
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": "listen:0", "_meta": crate::mcp_fake::meta()}});
    let answer = ask(
        &[("mcp-protocol-version", "2026-07-28")],
        &cancelled.to_string(),
    )
    .await;
    assert_eq!(answer, "202\ncontent-length: 0\n\n");
    // A call that wants no answer is not made.
    let call = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"invoke_tool"}}"#;
    assert_eq!(ask(&[], call).await, "202\ncontent-length: 0\n\n");
}

#[tokio::test]
async fn what_is_no_message() {
    assert_snapshot!(ask(&[], "{").await, @r#"
    400
    content-type: application/json
    content-length: 125

    {"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not JSON: EOF while parsing an object at line 1 column 1"}}
    "#);
    assert_snapshot!(ask(&[], "[]").await, @r#"
    400
    content-type: application/json
    content-length: 128

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a message is an object, not array; batches are not served"}}
    "#);
    assert_snapshot!(ask(&[], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#).await, @r#"
    400
    content-type: application/json
    content-length: 128

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: `id` must be a string or an integer of at most 1024 bytes"}}
    "#);
    assert_snapshot!(ask(&[], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await, @r#"
    400
    content-type: application/json
    content-length: 133

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: this server asks nothing of a client, so it takes no responses"}}
    "#);
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"load_tool","arguments":{"a":1,"a":2}}}"#;
    assert_snapshot!(ask(&[], twice).await, @r#"
    400
    content-type: application/json
    content-length: 122

    {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request: the key at `/params/arguments/a` is repeated"}}
    "#);
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_snapshot!(ask(&[], &deep).await, @r#"
    400
    content-type: application/json
    content-length: 117

    {"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not JSON: nested too deeply at line 1 column 129"}}
    "#);
}

#[tokio::test]
async fn meta_that_is_missing() {
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    let mut message = modern(1, "tools/list", json!({}));
    message["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    assert_snapshot!(ask(&headers, &message.to_string()).await, @r#"
    400
    content-type: application/json
    content-length: 146

    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid params: `_meta` needs `io.modelcontextprotocol/clientCapabilities`, an object"}}
    "#);
    message["params"] = json!({});
    assert_snapshot!(ask(&headers, &message.to_string()).await, @r#"
    400
    content-type: application/json
    content-length: 142

    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid params: `_meta` needs `io.modelcontextprotocol/protocolVersion`, a string"}}
    "#);
    message["params"] = json!([]);
    assert_snapshot!(ask(&headers, &message.to_string()).await, @r#"
    400
    content-type: application/json
    content-length: 142

    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid params: `_meta` needs `io.modelcontextprotocol/protocolVersion`, a string"}}
    "#);
}

#[tokio::test]
async fn versions_that_are_not_spoken() {
    let mut message = modern(13, "tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let headers = [
        ("mcp-protocol-version", "2099-01-01"),
        ("mcp-method", "tools/list"),
    ];
    assert_snapshot!(ask(&headers, &message.to_string()).await, @r#"
    400
    content-type: application/json
    content-length: 177

    {"jsonrpc":"2.0","id":13,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"2099-01-01","supported":["2026-07-28","2025-11-25","2025-06-18"]}}}
    "#);
    let headers = [("mcp-protocol-version", "1900-01-01")];
    let old = legacy(13, "tools/list", json!({})).to_string();
    assert_snapshot!(ask(&headers, &old).await, @r#"
    400
    content-type: application/json
    content-length: 177

    {"jsonrpc":"2.0","id":13,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"1900-01-01","supported":["2026-07-28","2025-11-25","2025-06-18"]}}}
    "#);
}

#[tokio::test]
async fn headers_that_do_not_match() {
    let message = modern(18, "tools/list", json!({})).to_string();
    let version = ("mcp-protocol-version", "2026-07-28");
    assert_snapshot!(ask(&[version, ("mcp-method", "tools/call")], &message).await, @r#"
    400
    content-type: application/json
    content-length: 132

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Method header `tools/call` does not match body method `tools/list`"}}
    "#);
    assert_snapshot!(ask(&[version], &message).await, @r#"
    400
    content-type: application/json
    content-length: 90

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Method header is missing"}}
    "#);
    assert_snapshot!(ask(&[("mcp-method", "tools/list")], &message).await, @r#"
    400
    content-type: application/json
    content-length: 100

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"MCP-Protocol-Version header is missing"}}
    "#);
    assert_snapshot!(
        ask(&[("mcp-protocol-version", "2025-06-18"), ("mcp-method", "tools/list")], &message).await,
        @r#"
        400
        content-type: application/json
        content-length: 151

        {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"MCP-Protocol-Version header `2025-06-18` does not match body protocolVersion `2026-07-28`"}}
        "#);
    let method = ("mcp-method", "tools/list");
    assert_snapshot!(ask(&[version, method, method], &message).await, @r#"
    400
    content-type: application/json
    content-length: 91

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Method header is repeated"}}
    "#);
    assert_snapshot!(ask(&[version, ("mcp-method", "töols/list")], &message).await, @r#"
    400
    content-type: application/json
    content-length: 107

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Method header holds characters it may not"}}
    "#);
    let call = modern(18, "tools/call", json!({"name": "load_tool"})).to_string();
    let method = ("mcp-method", "tools/call");
    assert_snapshot!(ask(&[version, method], &call).await, @r#"
    400
    content-type: application/json
    content-length: 88

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Name header is missing"}}
    "#);
    assert_snapshot!(ask(&[version, method, ("mcp-name", "search_tools")], &call).await, @r#"
    400
    content-type: application/json
    content-length: 129

    {"jsonrpc":"2.0","id":18,"error":{"code":-32020,"message":"Mcp-Name header `search_tools` does not match body name `load_tool`"}}
    "#);
    let encoded = ("mcp-name", "=?base64?bG9hZF90b29s?=");
    assert!(
        ask(&[version, method, encoded], &call)
            .await
            .starts_with("200")
    );
    // Header names are any case, and white space around a value is not part of it.
    let spaced = [
        ("MCP-PROTOCOL-VERSION", " 2026-07-28 "),
        ("MCP-METHOD", "tools/list\t"),
    ];
    assert!(ask(&spaced, &message).await.starts_with("200"));
}

fn bare(method: Method) -> axum::http::request::Builder {
    Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "127.0.0.1:1")
}

#[tokio::test]
async fn http_methods_other_than_post() {
    let served = served(settings());
    let get = bare(Method::GET).body(Body::empty()).unwrap();
    assert_snapshot!(shown(send(&served.router, get).await).await, @r#"
    405
    content-type: text/plain; charset=utf-8
    allow: POST
    content-length: 18

    Method Not Allowed
    "#);
    for method in ["DELETE", "HEAD", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let (status, headers, _) = send(
            &served.router,
            bare(method.clone()).body(Body::empty()).unwrap(),
        )
        .await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(headers["allow"], "POST", "{method}");
    }
}

#[tokio::test]
async fn hosts_and_origins_that_are_not_allowed() {
    let served_here = served(settings());
    let post = || Request::post("/mcp").header("content-type", "application/json");
    let ping = || Body::from(legacy(1, "ping", json!({})).to_string());
    let evil = post().header("host", "evil.example").body(ping()).unwrap();
    assert_snapshot!(shown(send(&served_here.router, evil).await).await, @r#"
    403
    content-type: text/plain; charset=utf-8
    content-length: 59

    the Host of this request is not one this server answers to
    "#);
    let evil = post()
        .header("host", "localhost")
        .header("origin", "http://evil.example");
    assert_snapshot!(shown(send(&served_here.router, evil.body(ping()).unwrap()).await).await, @r#"
    403
    content-type: text/plain; charset=utf-8
    content-length: 46

    pages of this Origin may not call this server
    "#);
    let none = post().body(ping()).unwrap();
    assert_eq!(
        send(&served_here.router, none).await.0,
        StatusCode::FORBIDDEN
    );
    // The fence stands before everything else.
    let evil = Request::get("/mcp")
        .header("host", "evil.example")
        .body(Body::empty())
        .unwrap();
    assert_eq!(
        send(&served_here.router, evil).await.0,
        StatusCode::FORBIDDEN
    );

    let elsewhere = served(Settings {
        allowed_hosts: Allowed::hosts(["gw.example"]).unwrap(),
        allowed_origins: Allowed::origins(["https://app.example"]).unwrap(),
        ..settings()
    });
    for (host, origin, want) in [
        ("gw.example", "https://app.example", StatusCode::OK),
        ("gw.example:8443", "https://app.example", StatusCode::OK),
        ("gw.example", "https://gw.example", StatusCode::FORBIDDEN),
        ("localhost", "https://app.example", StatusCode::FORBIDDEN),
    ] {
        let request = post().header("host", host).header("origin", origin);
        let (status, ..) = send(&elsewhere.router, request.body(ping()).unwrap()).await;
        assert_eq!(status, want, "{host} {origin}");
    }
}

#[tokio::test]
async fn media_types() {
    let served = served(settings());
    let ask = |media_type: &'static str, encoding: &'static str| {
        let request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", media_type)
            .header("content-encoding", encoding)
            .body(Body::from(legacy(1, "ping", json!({})).to_string()))
            .unwrap();
        send(&served.router, request)
    };
    for good in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json ;x=1",
    ] {
        assert_eq!(ask(good, "identity").await.0, StatusCode::OK, "{good}");
    }
    assert_snapshot!(shown(ask("text/plain", "identity").await).await, @r#"
    415
    content-type: application/json
    content-length: 112

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: the Content-Type must be application/json"}}
    "#);
    assert_snapshot!(shown(ask("application/json", "gzip").await).await, @r#"
    415
    content-type: application/json
    content-length: 100

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a compressed body is not read"}}
    "#);
    let silent = bare(Method::POST).body(Body::from("{}")).unwrap();
    let (status, ..) = send(&served.router, silent).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn bodies_over_the_limit() {
    let served = served(Settings {
        body_bytes_max: 100,
        ..settings()
    });
    let message = |bytes: usize| {
        let ping = legacy(1, "ping", json!({})).to_string();
        format!("{ping}{}", " ".repeat(bytes - ping.len()))
    };
    assert_eq!(
        post(&served.router, &[], message(100)).await.0,
        StatusCode::OK
    );
    assert_snapshot!(shown(post(&served.router, &[], message(101)).await).await, @r#"
    413
    content-type: application/json
    connection: close
    content-length: 107

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: the message is larger than 100 bytes"}}
    "#);
    let endless = Body::from_stream(futures_util::stream::repeat_with(|| {
        Ok::<_, std::io::Error>(vec![b' '; 1 << 20])
    }));
    let (status, ..) = post(&served.router, &[], endless).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_body_in_pieces_is_read_whole() {
    let served = served(settings());
    let ping = legacy("in pieces", "ping", json!({})).to_string();
    let pieces: Vec<_> = ping
        .bytes()
        .map(|byte| Ok::<_, std::io::Error>(vec![byte]))
        .collect();
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    let answer = shown(post(&served.router, &[], body).await).await;
    assert!(
        answer.ends_with(r#"{"jsonrpc":"2.0","id":"in pieces","result":{}}"#),
        "{answer}"
    );
}
