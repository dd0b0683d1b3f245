//! Every wire answer of the endpoint: status, headers and body as a client reads them.

use axum::http::StatusCode;
use insta::assert_snapshot;
use serde_json::{Value, json};
use sezzlee::mcp::Settings;

use crate::mcp_fake::{ask, headers_of, legacy, modern, next_event, post, served, settings, shown};

/// The answer to a 2026-07-28 message with the headers that belong to it.
async fn ask_modern(message: Value) -> String {
    let served = served(settings());
    shown(post(&served.router, &headers_of(&message), message.to_string()).await).await
}

/// The answer to a 2025 message, which needs no header.
async fn ask_legacy(message: Value) -> String {
    let served = served(settings());
    shown(post(&served.router, &[], message.to_string()).await).await
}

#[tokio::test]
async fn discover() {
    assert_snapshot!(ask_modern(modern("discover-1", "server/discover", json!({}))).await, @r#"
    200
    content-type: application/json
    content-length: 294

    {"jsonrpc":"2.0","id":"discover-1","result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);
}

#[tokio::test]
async fn instructions_are_told_in_both_eras() {
    let told = Settings {
        instructions: Some("Search, load, invoke.".to_owned()),
        ..settings()
    };
    let served = served(told);
    let message = modern(1, "server/discover", json!({}));
    let answer =
        shown(post(&served.router, &headers_of(&message), message.to_string()).await).await;
    assert!(
        answer.contains(r#""instructions":"Search, load, invoke.""#),
        "{answer}"
    );
    let message = legacy(1, "initialize", json!({"protocolVersion": "2025-11-25"}));
    let answer = shown(post(&served.router, &[], message.to_string()).await).await;
    assert!(
        answer.contains(r#""instructions":"Search, load, invoke.""#),
        "{answer}"
    );
}

#[tokio::test]
async fn modern_tools() {
    assert_snapshot!(ask_modern(modern(1, "tools/list", json!({}))).await, @r#"
    200
    content-type: application/json
    content-length: 553

    {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"load_tool","description":"load_tool","inputSchema":{"type":"object"},"_meta":{"sezzlee/catalogGeneration":0}},{"name":"search_tools","description":"search_tools","inputSchema":{"type":"object"},"_meta":{"sezzlee/catalogGeneration":0}},{"name":"invoke_tool","description":"invoke_tool","inputSchema":{"type":"object"},"_meta":{"sezzlee/catalogGeneration":0}}],"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);
    assert_snapshot!(ask_modern(modern(1, "tools/list", json!({"cursor": "first"}))).await, @r#"
    200
    content-type: application/json
    content-length: 327

    {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"load_tool","description":"load_tool","inputSchema":{"type":"object"},"_meta":{"sezzlee/catalogGeneration":0}}],"nextCursor":"second","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);
    assert_snapshot!(ask_modern(modern(1, "tools/list", json!({"cursor": "mine"}))).await, @r#"
    200
    content-type: application/json
    content-length: 107

    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the cursor is not one that tools/list returned"}}
    "#);
    assert_snapshot!(ask_modern(modern(1, "tools/list", json!({"cursor": 5}))).await, @r#"
    200
    content-type: application/json
    content-length: 98

    {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`cursor` must be a string, not number"}}
    "#);
}

#[tokio::test]
async fn modern_calls() {
    let call = |params: Value| ask_modern(modern(2, "tools/call", params));
    assert_snapshot!(
        call(json!({"name": "search_tools", "arguments": {"query": "a\"b\n"}})).await, @r#"
        200
        content-type: application/json
        content-length: 232

        {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"status\":200,\"body\":{\"query\":\"a\\\"b\\n\"}}"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
        "#);
    assert_snapshot!(call(json!({"name": "load_tool"})).await, @r#"
    200
    content-type: application/json
    content-length: 333

    {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"error\":\"unknown_tool\",\"message\":\"no tool of this name is available; find its exact name with search_tools\",\"retryable\":false}"}],"isError":true,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);
    assert_snapshot!(call(json!({"name": "create_order"})).await, @r#"
    200
    content-type: application/json
    content-length: 87

    {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: create_order"}}
    "#);
    assert_snapshot!(call(json!({"name": "search_tools", "arguments": [1]})).await, @r#"
    200
    content-type: application/json
    content-length: 101

    {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"`arguments` must be an object, not array"}}
    "#);
    assert_snapshot!(call(json!({"name": "search_tools", "arguments": null})).await, @r#"
    200
    content-type: application/json
    content-length: 209

    {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"status\":200,\"body\":{}}"}],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);
    assert_snapshot!(call(json!({"name": "invoke_tool", "arguments": {"panic": 1}})).await, @r#"
    200
    content-type: application/json
    content-length: 75

    {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error"}}
    "#);
}

#[tokio::test]
async fn a_call_without_a_name() {
    let mut message = modern(2, "tools/call", json!({"name": "x"}));
    let headers = headers_of(&message);
    let served = served(settings());
    message["params"].as_object_mut().unwrap().remove("name");
    assert_snapshot!(shown(post(&served.router, &headers, message.to_string()).await).await, @r#"
    200
    content-type: application/json
    content-length: 78

    {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"`name` is missing"}}
    "#);
    message["params"]["name"] = json!(7);
    assert_snapshot!(shown(post(&served.router, &headers, message.to_string()).await).await, @r#"
    200
    content-type: application/json
    content-length: 96

    {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"`name` must be a string, not number"}}
    "#);
}

#[tokio::test]
async fn numbers_of_arguments_and_ids_keep_their_digits() {
    let digits = "123456789012345678901234567890";
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{digits},"method":"tools/call","params":{{"name":"search_tools","arguments":{{"id":{digits},"price":1.10}}}}}}"#
    );
    assert_snapshot!(ask(&[], &body).await, @r#"
    200
    content-type: application/json
    content-length: 182

    {"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{"content":[{"type":"text","text":"{\"status\":200,\"body\":{\"id\":123456789012345678901234567890,\"price\":1.10}}"}]}}
    "#);
}

#[tokio::test]
async fn initialize_in_every_revision() {
    let initialize = |version: &str| {
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}});
        ask_legacy(legacy(0, "initialize", params))
    };
    assert_snapshot!(initialize("2025-06-18").await, @r#"
    200
    content-type: application/json
    content-length: 162

    {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"example","version":"1.2.3"}}}
    "#);
    let version = |answer: &str| {
        let (_, body) = answer.split_once("\n\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        body["result"]["protocolVersion"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(version(&initialize("2025-11-25").await), "2025-11-25");
    for other in ["2024-11-05", "2026-07-28", "", "1900-01-01"] {
        assert_eq!(version(&initialize(other).await), "2025-11-25", "{other}");
    }
    assert_snapshot!(ask_legacy(legacy(0, "initialize", json!({}))).await, @r#"
    200
    content-type: application/json
    content-length: 89

    {"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"`protocolVersion` is missing"}}
    "#);
    assert_snapshot!(ask_modern(modern(0, "initialize", json!({}))).await, @r#"
    404
    content-type: application/json
    content-length: 89

    {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found: initialize"}}
    "#);
}

#[tokio::test]
async fn legacy_answers() {
    assert_snapshot!(ask_legacy(legacy("p", "ping", json!({}))).await, @r#"
    200
    content-type: application/json
    content-length: 38

    {"jsonrpc":"2.0","id":"p","result":{}}
    "#);
    assert_snapshot!(ask_legacy(legacy(1, "tools/list", json!({"cursor": "first"}))).await, @r#"
    200
    content-type: application/json
    content-length: 186

    {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"load_tool","description":"load_tool","inputSchema":{"type":"object"},"_meta":{"sezzlee/catalogGeneration":0}}],"nextCursor":"second"}}
    "#);
    let call = |params: Value| ask_legacy(legacy(2, "tools/call", params));
    assert_snapshot!(call(json!({"name": "search_tools", "arguments": {}})).await, @r#"
    200
    content-type: application/json
    content-length: 101

    {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"status\":200,\"body\":{}}"}]}}
    "#);
    assert_snapshot!(call(json!({"name": "load_tool"})).await, @r#"
    200
    content-type: application/json
    content-length: 225

    {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"error\":\"unknown_tool\",\"message\":\"no tool of this name is available; find its exact name with search_tools\",\"retryable\":false}"}],"isError":true}}
    "#);
    assert_snapshot!(call(json!({"name": "create_order"})).await, @r#"
    200
    content-type: application/json
    content-length: 87

    {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: create_order"}}
    "#);
    assert_snapshot!(ask_legacy(legacy(3, "logging/setLevel", json!({}))).await, @r#"
    200
    content-type: application/json
    content-length: 95

    {"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found: logging/setLevel"}}
    "#);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    assert_snapshot!(ask_legacy(legacy(4, "subscriptions/listen", listen)).await, @r#"
    200
    content-type: application/json
    content-length: 99

    {"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"Method not found: subscriptions/listen"}}
    "#);
    let after = [("mcp-protocol-version", "2025-06-18")];
    let list = legacy(5, "tools/call", json!([])).to_string();
    assert_snapshot!(ask(&after, &list).await, @r#"
    200
    content-type: application/json
    content-length: 98

    {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"`params` must be an object, not array"}}
    "#);
}

#[tokio::test]
async fn both_eras_list_the_same_tools() {
    let tools = |answer: String| {
        let body: Value = serde_json::from_str(answer.split_once("\n\n").unwrap().1).unwrap();
        body["result"]["tools"].clone()
    };
    let new = tools(ask_modern(modern(1, "tools/list", json!({}))).await);
    let old = tools(ask_legacy(legacy(1, "tools/list", json!({}))).await);
    assert_eq!(new.as_array().unwrap().len(), 3);
    assert_eq!(new, old);
}

#[tokio::test]
async fn methods_that_are_not_there() {
    assert_snapshot!(ask_modern(modern(1, "prompts/list", json!({}))).await, @r#"
    404
    content-type: application/json
    content-length: 91

    {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: prompts/list"}}
    "#);
    for method in [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "",
    ] {
        let answer = ask_modern(modern(1, method, json!({}))).await;
        assert!(
            answer.starts_with("404") && answer.contains("-32601"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn listening() {
    let served = served(settings());
    let listen = |notifications: Value| {
        modern(
            77,
            "subscriptions/listen",
            json!({"notifications": notifications}),
        )
    };
    let message = listen(json!({"toolsListChanged": true, "promptsListChanged": true}));
    let (status, headers, mut body) =
        post(&served.router, &headers_of(&message), message.to_string()).await;
    let ack = next_event(&mut body).await.unwrap();
    served.fake.swap();
    let changed = next_event(&mut body).await.unwrap();
    served.stopper.stop();
    let ended = next_event(&mut body).await.unwrap();
    assert_eq!(next_event(&mut body).await, None);
    assert_eq!(status, StatusCode::OK);
    assert_snapshot!(format!("{headers:#?}\n{ack}{changed}{ended}"), @r#"
    {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
    }
    data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":77},"notifications":{"toolsListChanged":true}}}

    data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":77}}}

    data: {"jsonrpc":"2.0","id":77,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":77,"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}
    "#);

    for bad in [json!(null), json!([]), json!({"toolsListChanged": 1})] {
        let message = listen(bad);
        let answer = post(&served.router, &headers_of(&message), message.to_string()).await;
        let answer = shown(answer).await;
        assert!(
            answer.starts_with("200") && answer.contains("-32602"),
            "{answer}"
        );
    }
}
