//! Whatever a stranger sends gets a well-formed answer.

use axum::http::StatusCode;
use proptest::prelude::*;
use serde_json::{Value, json};
use sezzlee::access::Caller;
use sezzlee::mcp::{Answer, Dispatcher};
use sezzlee::tools::Surface;
use std::sync::Arc;

use crate::mcp_fake::{Fake, settings};

fn dispatcher() -> Dispatcher {
    let fake = Fake::default();
    // Calls end at once.
    fake.release.add_permits(1 << 20);
    let surface: Arc<dyn Surface> = Arc::new(fake);
    Dispatcher::new(surface, settings())
}

/// Answers bytes on both transports and holds the answer to the envelope's rules.
fn hold(bytes: &[u8], headers: &axum::http::HeaderMap) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let dispatcher = dispatcher();
    let sent: Option<Value> = serde_json::from_slice(bytes).ok();
    for headers in [None, Some(headers)] {
        let caller = Caller::anonymous();
        let answer = runtime.block_on(dispatcher.answer(bytes, headers, &caller));
        let (status, body) = match answer {
            Answer::Message { status, body } => (status, body),
            Answer::Accepted => {
                let sent = sent.as_ref().unwrap();
                prop_assert!(sent.get("id").is_none() && sent["method"].is_string());
                continue;
            }
            Answer::Listen(subscription) => {
                prop_assert_eq!(&sent.as_ref().unwrap()["method"], "subscriptions/listen");
                let messages = [
                    subscription.acknowledged(),
                    subscription.tools_changed(),
                    subscription.ended(),
                ];
                for message in messages {
                    let message: Value = serde_json::from_slice(&message).unwrap();
                    prop_assert_eq!(&message["jsonrpc"], "2.0");
                }
                continue;
            }
        };
        prop_assert!(!body.contains(&b'\n'), "one line");
        let body = sezzlee::json::parse(&body, 200).unwrap();
        prop_assert!(body.duplicates.is_empty());
        let body = body.value;
        prop_assert_eq!(&body["jsonrpc"], "2.0");
        if let Some(id) = body.get("id") {
            prop_assert_eq!(Some(id), sent.as_ref().unwrap().get("id"));
        }
        match body.get("error") {
            None => {
                prop_assert_eq!(status, StatusCode::OK);
                prop_assert!(body["result"].is_object() && body.get("id").is_some());
            }
            Some(error) => {
                prop_assert!(body.get("result").is_none());
                prop_assert!(
                    error["message"]
                        .as_str()
                        .is_some_and(|text| text.len() < 2000)
                );
                let code = error["code"].as_i64().unwrap();
                let known = [
                    -32_700, -32_600, -32_601, -32_602, -32_603, -32_020, -32_022,
                ];
                prop_assert!(known.contains(&code), "{}", code);
            }
        }
    }
    Ok(())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Values that are nearly what a member should hold.
fn nearly(right: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => prop::sample::select(right).prop_map(Value::from),
        1 => any_json(),
    ]
}

fn any_params() -> impl Strategy<Value = Value> {
    let meta = prop_oneof![
        3 => nearly(&["2026-07-28", "2025-11-25", "2025-06-18", "1900-01-01"]).prop_map(|version|
            json!({"io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {}})),
        1 => any_json(),
    ];
    let member = prop::sample::select(
        &[
            "arguments",
            "cursor",
            "notifications",
            "protocolVersion",
            "x",
        ][..],
    );
    let name = nearly(&["load_tool", "search_tools", "invoke_tool", "other"]);
    (
        prop::option::of(meta),
        name,
        member,
        any_json(),
        any::<bool>(),
    )
        .prop_map(|(meta, name, member, value, object)| {
            let mut params = json!({"name": name, member: value});
            if let Some(meta) = meta {
                params["_meta"] = meta;
            }
            if object {
                params
            } else {
                params[member].clone()
            }
        })
}

const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "subscriptions/listen",
    "notifications/cancelled",
    "resources/list",
    "",
];

fn any_message() -> impl Strategy<Value = Value> {
    let id = prop::option::of(prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        any_json(),
    ]);
    let params = prop::option::of(any_params());
    let jsonrpc = nearly(&["2.0"]);
    (jsonrpc, id, nearly(METHODS), params).prop_map(|(jsonrpc, id, method, params)| {
        let mut message = json!({"jsonrpc": jsonrpc, "method": method});
        if let Some(id) = id {
            message["id"] = id;
        }
        if let Some(params) = params {
            message["params"] = params;
        }
        message
    })
}

fn any_headers() -> impl Strategy<Value = axum::http::HeaderMap> {
    let name = prop::sample::select(&["mcp-protocol-version", "mcp-method", "mcp-name"][..]);
    let known = prop::sample::select(
        &[
            "2026-07-28",
            "2025-11-25",
            "tools/list",
            "tools/call",
            "server/discover",
            "load_tool",
        ][..],
    );
    let value = prop_oneof![
        3 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec((name, value), 0..4).prop_map(|headers| {
        let mut map = axum::http::HeaderMap::new();
        for (name, value) in headers {
            if let Ok(value) = axum::http::HeaderValue::from_bytes(&value) {
                map.append(name, value);
            }
        }
        map
    })
}

proptest! {
    #[test]
    fn any_bytes_get_an_answer(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        headers in any_headers(),
    ) {
        hold(&bytes, &headers)?;
    }

    #[test]
    fn any_message_gets_an_answer(message in any_message(), headers in any_headers()) {
        hold(message.to_string().as_bytes(), &headers)?;
    }

    #[test]
    fn any_cut_message_gets_an_answer(message in any_message(), cut in any::<prop::sample::Index>()) {
        let text = message.to_string();
        let end = cut.index(text.len());
        hold(&text.as_bytes()[..end], &axum::http::HeaderMap::new())?;
    }
}
