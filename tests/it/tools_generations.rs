//! One request, one generation; and what a damaged index costs: one answer, never the process.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sezzlee::access::Caller;
use sezzlee::catalog::Sink as _;
use sezzlee::index::{self, BuildOptions, Builder};
use sezzlee::tools::Surface as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::http_backend::{Backend, response};
use crate::tools::SHOP;
use crate::tools_harness::{Answer, Gateway, Setup, operations, reader};
use crate::tools_invoke::CALLS;

fn stamp(gateway: &Gateway) -> Value {
    let listing = gateway.tools.list(&Caller::anonymous(), None).unwrap();
    let tools: Value = serde_json::from_str(&listing.tools_json).unwrap();
    tools[0]["_meta"]["sezzlee/catalogGeneration"].clone()
}

#[test]
fn an_equal_catalogue_bumps_nothing() {
    let gateway = Gateway::over(reader("shop.yaml", SHOP, None), Setup::default());
    let mut heard = gateway.generations.subscribe();
    let before = gateway.generations.current();
    assert_eq!(
        gateway.generations.replace(reader("shop.yaml", SHOP, None)),
        None
    );
    assert!(Arc::ptr_eq(&before, &gateway.generations.current()));
    assert_eq!(stamp(&gateway), 0);
    assert!(!heard.has_changed().unwrap());
    // Anything an agent or a call can tell is a change: a word, a tag, a route, a server, a scope.
    let mut number = 0;
    for (from, to) in [
        ("Lists orders.", "Lists all orders."),
        ("tags: [Billing]", "tags: [Bills]"),
        ("/invoices:", "/bills:"),
        ("shop.test/v1", "shop.test/v2"),
        ("[{oauth: [write]}]", "[{oauth: [read]}]"),
    ] {
        assert!(SHOP.contains(from), "{from}");
        let other = reader("shop.yaml", &SHOP.replace(from, to), None);
        number += 1;
        assert_eq!(gateway.generations.replace(other), Some(number), "{from}");
        assert_eq!(stamp(&gateway), number);
        assert!(heard.has_changed().unwrap());
        assert_eq!(*heard.borrow_and_update(), number);
    }
}

#[tokio::test]
async fn a_call_keeps_the_generation_it_began_with() {
    let backend = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", backend.local_addr().unwrap());
    let gateway = Gateway::of("calls.yaml", CALLS, &url);
    let begun = Arc::downgrade(&gateway.generations.current());
    let call = json!({"name": "delete_things", "arguments": {}});
    let swapped_meanwhile = async {
        let (mut socket, _) = backend.accept().await.unwrap();
        assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0);
        // The operation is gone from the catalogue, not from under the call.
        let other = reader("shop.yaml", SHOP, None);
        assert_eq!(gateway.generations.replace(other), Some(1));
        let gone = gateway.load(&json!({"name": "delete_things"}));
        assert_eq!(gone.code(), "unknown_tool");
        socket.write_all(&response(204, &[], "")).await.unwrap();
    };
    let (answer, ()) = tokio::join!(gateway.invoke(&call), swapped_meanwhile);
    assert_eq!(answer.text, r#"{"status":204}"#);
    // Nobody reads the old generation any more, so it is freed.
    assert!(begun.upgrade().is_none());
    let held = gateway.generations.current();
    let weak = Arc::downgrade(&held);
    gateway
        .generations
        .replace(reader("calls.yaml", CALLS, Some(&url)));
    assert_eq!(held.number, 1);
    assert_eq!(held.reader.len(), 4);
    drop(held);
    assert!(weak.upgrade().is_none());
}

/// While generations are swapped, every answer is one generation's: its total, its names, its definitions.
#[test]
fn answers_never_mix_generations() {
    let catalogue = |count: usize, word: &str| -> String {
        (0..count)
            .map(|n| {
                json!({"name": format!("{word}_{n}"), "description": word, "tags": [word]})
                    .to_string()
                    + "\n"
            })
            .collect()
    };
    let texts = [catalogue(7, "ash"), catalogue(11, "birch")];
    let build = |which: usize| reader("lines.jsonl", &texts[which], None);
    let gateway = Gateway::over(build(0), Setup::default());
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            for n in 1..40 {
                assert!(gateway.generations.replace(build(n % 2)).is_some());
            }
        });
        let mut checked = 0;
        while !swapping.is_finished() || checked < 50 {
            for detail in ["card", "schema"] {
                let answer =
                    gateway.search(&json!({"query": "ash birch", "limit": 50, "detail": detail}));
                let total = answer.value["total"].as_u64().unwrap();
                let word = if total == 7 { "ash" } else { "birch" };
                assert!(total == 7 || total == 11, "{total}");
                assert_eq!(answer.value["tags"], json!([word]));
                assert_eq!(answer.names().len() as u64, total);
                assert!(
                    answer.names().iter().all(|name| name.starts_with(word)),
                    "{}",
                    answer.text
                );
                checked += 1;
            }
        }
        swapping.join().unwrap();
    });
}

#[tokio::test]
async fn over_the_wire_an_answer_is_one_block_and_errors_say_so() {
    use crate::mcp_fake::{bytes, headers_of, legacy, modern, post, settings};
    use sezzlee::mcp::{Dispatcher, PATH, Stopper, router};

    let mut backend = Backend::fixed(response(
        200,
        &[("content-type", "application/json")],
        r#"{"id":9007199254740993}"#,
    ))
    .await;
    let gateway = Gateway::of("calls.yaml", CALLS, &backend.url("/v1"));
    let dispatcher = Dispatcher::new(Arc::new(gateway.tools.clone()), settings());
    let routes = router(PATH, Arc::new(dispatcher), Stopper::new().listener());
    let ask = |message: String, headers: Vec<(String, String)>| {
        let routes = routes.clone();
        async move {
            let (status, _, body) = post(&routes, &headers, message).await;
            let body = bytes(body).await;
            (status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
        }
    };
    for (name, arguments) in [
        ("search_tools", json!({"query": "things"})),
        ("search_tools", json!({"query": 1})),
        ("load_tool", json!({"name": "list_things"})),
        ("load_tool", json!({"name": "nope"})),
        (
            "invoke_tool",
            json!({"name": "list_things", "arguments": "{}"}),
        ),
        (
            "invoke_tool",
            json!({"name": "list_things", "arguments": 7}),
        ),
    ] {
        let direct = match name {
            "search_tools" => gateway.search(&arguments),
            "load_tool" => gateway.load(&arguments),
            _ => gateway.invoke(&arguments).await,
        };
        let params = json!({"name": name, "arguments": arguments});
        let calls = [
            modern(1, "tools/call", params.clone()),
            legacy(1, "tools/call", params),
        ];
        for (call, is_modern) in calls.iter().zip([true, false]) {
            let headers = if is_modern {
                headers_of(call)
            } else {
                Vec::new()
            };
            let (status, body) = ask(call.to_string(), headers).await;
            assert_eq!(status, 200);
            let result = serde_json::from_str::<Value>(&body).unwrap()["result"].clone();
            let content = json!([{"type": "text", "text": direct.text}]);
            assert_eq!(result["content"], content);
            let failed = direct.value.get("error").map(|_| json!(true));
            assert_eq!(result.get("isError"), failed.as_ref(), "{body}");
            assert_eq!(result.get("structuredContent"), None);
        }
    }
    backend.requests();
    // Raw digits reach the backend, and come back.
    let call = legacy(
        1,
        "tools/call",
        json!({"name": "invoke_tool", "arguments": {"name": "change_thing", "arguments": {"id": 0}}}),
    );
    let call = call
        .to_string()
        .replace("\"id\":0", "\"id\":9007199254740993");
    let (_, body) = ask(call, Vec::new()).await;
    assert!(
        body.contains(r#"{\"status\":200,\"body\":{\"id\":9007199254740993}}"#),
        "{body}"
    );
    assert!(backend.requests()[0].starts_with("POST /v1/things/9007199254740993 "));
    // A key that stands twice is refused before any tool sees it.
    for (twice, code) in [
        (r#"{"query":"a","query":"b"}"#, -32600),
        (r#"{"query":"a","tags":["a"],"tags":[]}"#, -32600),
    ] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"search_tools","arguments":{twice}}}}}"#
        );
        let (_, body) = ask(call, Vec::new()).await;
        let error = serde_json::from_str::<Value>(&body).unwrap()["error"]["code"].clone();
        assert_eq!(error, code, "{body}");
    }
}

/// The small shop as an index directory; answers the directory of its generation.
fn on_disk(out: &Path) -> PathBuf {
    let mut builder = Builder::on_disk(out, BuildOptions::default()).unwrap();
    for operation in operations("shop.yaml", SHOP) {
        builder.operation(operation).unwrap();
    }
    builder.finish().unwrap();
    let current = fs::read_to_string(out.join("CURRENT")).unwrap();
    out.join(current.split_whitespace().next().unwrap())
}

/// What a gateway answers to a fixed set of questions.
fn answers(gateway: &Gateway) -> Vec<Answer> {
    vec![
        gateway.search(&json!({"query": "order"})),
        gateway.search(&json!({"query": "", "tags": ["orders"]})),
        gateway.search(&json!({"query": "get", "detail": "schema"})),
        gateway.load(&json!({"name": "get_order"})),
        gateway.load(&json!({"name": "create_invoice"})),
    ]
}

/// An answer of a gateway whose definitions are damaged.
pub(crate) fn damaged() -> Answer {
    let out = tempfile::tempdir().unwrap();
    let generation = on_disk(out.path());
    let path = generation.join("definitions");
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 0x20;
    fs::write(&path, bytes).unwrap();
    let gateway = Gateway::over(index::open_current(out.path()).unwrap(), Setup::default());
    gateway.search(&json!({"query": "", "detail": "schema", "limit": 50}))
}

#[test]
fn a_damaged_record_is_an_internal_error_without_a_word_about_the_damage() {
    let answer = damaged();
    insta::assert_snapshot!(answer.text, @r#"{"error":"internal_error","message":"the gateway failed to answer; its operator finds the cause in its log","retryable":false}"#);
}

/// Bytes are flipped in every file, one at a time. Where a checksum covers them the answer is right or
/// `internal_error`; where none does, it is an answer all the same.
#[test]
fn flipped_bytes_cost_an_answer_and_never_the_process() {
    let out = tempfile::tempdir().unwrap();
    let generation = on_disk(out.path());
    let opened = index::open_current(out.path()).unwrap();
    let right = answers(&Gateway::over(opened, Setup::default()));
    let texts: Vec<_> = right.iter().map(|answer| answer.text.clone()).collect();
    let (mut internal, mut refused) = (0, 0);
    for entry in fs::read_dir(&generation).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = fs::read(&path).unwrap();
        let is_checked = matches!(name.as_str(), "definitions" | "cards");
        let step = (whole.len() / 60).max(1);
        for at in (0..whole.len()).step_by(step) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x55;
            // A file that is mapped is not written to: a new one takes its place.
            fs::remove_file(&path).unwrap();
            fs::write(&path, &flipped).unwrap();
            match index::open_current(out.path()) {
                Err(error) => {
                    assert!(error.to_string().len() > 20, "{error}");
                    refused += 1;
                }
                Ok(reader) => {
                    let gateway = Gateway::over(reader, Setup::default());
                    for (answer, want) in answers(&gateway).iter().zip(&texts) {
                        let failed = answer.value.get("error") == Some(&json!("internal_error"));
                        internal += usize::from(failed);
                        if is_checked {
                            assert!(
                                failed || answer.text == *want,
                                "{name} at {at}: {}",
                                answer.text
                            );
                        }
                    }
                }
            }
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, &whole).unwrap();
    }
    assert!(internal > 20 && refused > 20, "{internal} {refused}");
}
