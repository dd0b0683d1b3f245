//! The command that serves: over HTTP and stdio, reloaded and stopped by signals.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use sezzlee::demo;

use crate::cli_process::{PATIENCE, Ran, command, finish, post, run, serve};

fn document(operations: &[&str]) -> String {
    let paths: String = operations
        .iter()
        .map(|name| format!("  /{name}:\n    get: {{operationId: {name}, summary: About {name}., responses: {{\"200\": {{description: ok}}}}}}\n"))
        .collect();
    format!(
        "openapi: 3.0.3\ninfo: {{title: T, version: '1'}}\nservers: [{{url: 'http://127.0.0.1:9'}}]\npaths:\n{paths}"
    )
}

fn names(page: &Value) -> Vec<&str> {
    let results = page["results"].as_array().unwrap();
    results
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_hangup_reloads_and_a_broken_source_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("api.yaml");
    fs::write(&source, document(&["alpha"])).unwrap();
    let mut serving = serve(directory.path(), &["api.yaml"]);
    let all = json!({});
    assert_eq!(serving.generation(), 0);
    assert_eq!(names(&serving.call("search_tools", &all)), ["alpha"]);

    fs::write(&source, document(&["alpha", "beta"])).unwrap();
    serving.signal("HUP");
    let line: Value = serde_json::from_str(&serving.hear("reloaded")).unwrap();
    assert_eq!(
        (&line["generation"], &line["operations"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(serving.generation(), 1);
    assert_eq!(
        names(&serving.call("search_tools", &all)),
        ["alpha", "beta"]
    );

    // Other text, the same catalogue.
    fs::write(&source, document(&["alpha", "beta"]) + "# a comment\n").unwrap();
    serving.signal("HUP");
    serving.hear("nothing changed");
    assert_eq!(serving.generation(), 1);

    for broken in ["", "openapi: [", "hello: 1"] {
        fs::write(&source, broken).unwrap();
        serving.signal("HUP");
        let line: Value = serde_json::from_str(&serving.hear("the reload failed")).unwrap();
        assert!(
            line["reason"].as_str().unwrap().contains("api.yaml"),
            "{line}"
        );
        assert_eq!(serving.generation(), 1);
        assert_eq!(
            names(&serving.call("search_tools", &all)),
            ["alpha", "beta"]
        );
    }
    fs::remove_file(&source).unwrap();
    serving.signal("HUP");
    serving.hear("the reload failed");
    fs::write(&source, document(&["gamma"])).unwrap();
    serving.signal("HUP");
    serving.hear("reloaded");
    assert_eq!(names(&serving.call("search_tools", &all)), ["gamma"]);

    serving.signal("TERM");
    assert_eq!(serving.ended(), Some(0));
    for line in serving.said_to_the_end() {
        let is_json = serde_json::from_str::<Value>(&line).is_ok();
        assert!(is_json || line.starts_with("gateway: "), "{line}");
    }
}

#[test]
fn an_index_directory_serves_and_a_hangup_takes_its_next_generation() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("api.yaml"), document(&["alpha"])).unwrap();
    assert_eq!(
        run(at, &["index", "api.yaml", "--out", "idx"]).code,
        Some(0)
    );
    let mut serving = serve(at, &["idx"]);
    assert_eq!(names(&serving.call("search_tools", &json!({}))), ["alpha"]);
    fs::write(at.join("api.yaml"), document(&["beta"])).unwrap();
    assert_eq!(
        run(at, &["index", "api.yaml", "--out", "idx"]).code,
        Some(0)
    );
    // The files of the old generation are gone, what was mapped of them is not.
    assert_eq!(names(&serving.call("search_tools", &json!({}))), ["alpha"]);
    assert!(serving.call("load_tool", &json!({"name": "alpha"}))["version"].is_string());
    serving.signal("HUP");
    serving.hear("reloaded");
    assert_eq!(names(&serving.call("search_tools", &json!({}))), ["beta"]);
    fs::write(at.join("idx/CURRENT"), "torn").unwrap();
    serving.signal("HUP");
    serving.hear("the reload failed");
    assert_eq!(names(&serving.call("search_tools", &json!({}))), ["beta"]);
}

#[test]
fn a_busy_port_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("api.yaml"), document(&["alpha"])).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let Ran { code, out, err } = run(
        directory.path(),
        &["serve", "--log", "error", "--listen", &address, "api.yaml"],
    );
    assert_eq!((code, out.as_str()), (Some(2), ""));
    let want = format!(
        "sezzlee: {address} is in use by another process; choose another port, or 0 for a free one\n"
    );
    assert_eq!(err, want);
    let port = taken.local_addr().unwrap().port().to_string();
    let Ran { code, err, .. } = run(directory.path(), &["demo", "--port", &port]);
    assert_eq!((code, err), (Some(2), want));
}

#[test]
fn signals_stop_and_the_interrupt_is_one_of_them() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("api.yaml"), document(&["alpha"])).unwrap();
    for signal in ["TERM", "INT"] {
        let mut serving = serve(directory.path(), &["api.yaml"]);
        // Right after it said where it is, before anything was asked.
        serving.signal(signal);
        assert_eq!(serving.ended(), Some(0), "{signal}");
    }
}

#[test]
fn arguments_that_came_as_text_are_told_to_the_log_without_their_values() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("api.yaml"), document(&["alpha"])).unwrap();
    let mut serving = serve(directory.path(), &["api.yaml"]);
    let arguments = "{\"secret\": \"s3cret\"}";
    let answer = serving.call(
        "invoke_tool",
        &json!({"name": "alpha", "arguments": arguments}),
    );
    assert_eq!(answer["error"], "unknown_argument");
    let line: Value = serde_json::from_str(&serving.hear("unwrapped")).unwrap();
    assert_eq!(line["tool"], "alpha");
    serving.signal("TERM");
    serving.ended();
    assert!(!serving.said_to_the_end().join("\n").contains("s3cret"));
}

/// A record that is damaged while it serves costs the answers that need it; the log says which record.
#[test]
fn what_fails_inside_is_told_to_the_log_and_not_to_the_caller() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::write(at.join("api.yaml"), document(&["alpha", "beta"])).unwrap();
    assert_eq!(
        run(at, &["index", "api.yaml", "--out", "idx"]).code,
        Some(0)
    );
    let current = fs::read_to_string(at.join("idx/CURRENT")).unwrap();
    let path = at
        .join("idx")
        .join(current.split_whitespace().next().unwrap())
        .join("definitions");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut serving = serve(at, &["idx"]);
    let failed = serving.call("load_tool", &json!({"name": "alpha"}));
    assert_eq!(failed["error"], "internal_error");
    assert!(!failed.to_string().contains("definitions"));
    let line = serving.hear("the index could not answer");
    assert!(
        line.contains("definitions") && line.contains("record 0"),
        "{line}"
    );
    // The others are whole.
    assert!(serving.call("load_tool", &json!({"name": "beta"}))["version"].is_string());
    assert_eq!(
        names(&serving.call("search_tools", &json!({}))),
        ["alpha", "beta"]
    );
}

#[test]
fn stdio_serves_lines_and_ends_with_its_input() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("shop.yaml"), demo::DOCUMENT).unwrap();
    let mut child = command(directory.path(), &["serve", "--stdio", "shop.yaml"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let _ = tell.send(line.unwrap());
        }
    });
    let mut ask = |message: &str| {
        writeln!(input, "{message}").unwrap();
        let line = lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let greeted = ask(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    assert_eq!(greeted["result"]["serverInfo"]["name"], "sezzlee");
    let listed = ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 3);
    let found = ask(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools","arguments":{"query":"cancel order","limit":1}}}"#,
    );
    let text = found["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("cancel_order"), "{text}");
    assert_eq!(ask("no JSON")["error"]["code"], -32700);
    drop(input);
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        lines.recv_timeout(PATIENCE).is_err(),
        "nothing but answers on stdout"
    );
}

/// A stop ends stdio although its input goes on.
#[test]
fn stdio_ends_at_a_signal() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("api.yaml"), document(&["alpha"])).unwrap();
    let mut child = command(directory.path(), &["serve", "--stdio", "api.yaml"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // An answer means that it serves, and that it hears signals.
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line.trim(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").arg(pid).status();
    assert!(sent.unwrap().success());
    assert_eq!(finish(child).code, Some(0));
    drop(input);
}

/// What the demo prints can be tried as it is printed.
#[test]
fn the_demo_says_what_to_try_and_it_works() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = command(directory.path(), &["demo"]).spawn().unwrap();
    let output = child.stdout.take().unwrap();
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let _ = tell.send(line.unwrap());
        }
    });
    let mut address = None;
    let mut tried = 0;
    loop {
        let line = lines.recv_timeout(PATIENCE).unwrap();
        if let Some(url) = line.strip_prefix("gateway: http://") {
            address = Some(url.trim_end_matches("/mcp").parse().unwrap());
        }
        if let Some((_, body)) = line.split_once(" -d '") {
            let answer = post(address.unwrap(), body.strip_suffix('\'').unwrap());
            let result = &answer["result"];
            assert_eq!(result.get("isError"), None, "{line}: {answer}");
            let text = result["content"][0]["text"].as_str().unwrap();
            let wanted = ["cancel_order", "\"version\"", "\"status\":200"][tried];
            assert!(text.contains(wanted), "{text}");
            tried += 1;
        }
        if line.contains("mcpServers") {
            let config: Value = serde_json::from_str(&line).unwrap();
            let url = format!("http://{}/mcp", address.unwrap());
            assert_eq!(config["mcpServers"]["shop"]["url"], url);
            break;
        }
    }
    assert_eq!(tried, 3);
    let stopped = std::process::Command::new("kill")
        .arg(child.id().to_string())
        .status();
    assert!(stopped.unwrap().success());
    assert_eq!(finish(child).code, Some(0));
}
