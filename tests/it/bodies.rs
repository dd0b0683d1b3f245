//! Bodies through the whole stack: from a document to the bytes that a backend reads, and the cases about
//! requests whole.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use base64::Engine as _;
use serde_json::{Value, json};
use sezzlee::invoke::{Request, compose};

use crate::cli_process;
use crate::tools_harness::{Gateway, operations};

fn case(file: &str) -> Value {
    let path = format!("{}/tests/cases/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(path).unwrap();
    sezzlee::json::parse(&text, 200).unwrap().value
}

/// What a call of a case's one operation is composed to.
fn composed(case: &Value, arguments: &Value) -> Result<Request, String> {
    let published = operations("orchard.json", &case["input"]["openapi"].to_string());
    assert_eq!(published.len(), 1);
    let template = published[0].template.as_ref().unwrap();
    compose(template, arguments.as_object().unwrap()).map_err(|error| format!("{error:?}"))
}

/// One part of a multipart body, read by RFC 7578 and by HTML's escapes.
#[derive(Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) content: Vec<u8>,
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

/// Reads a multipart body strictly: nothing but the parts, each with its headers.
pub(crate) fn multipart(content_type: &str, body: &[u8]) -> Vec<Part> {
    let boundary = content_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    assert!(!boundary.is_empty() && boundary.len() <= 70);
    let mut parts = Vec::new();
    let opening = format!("--{boundary}\r\n");
    let closing = format!("--{boundary}--\r\n");
    let delimiter = format!("\r\n--{boundary}");
    let mut rest = body;
    while let Some(part) = rest.strip_prefix(opening.as_bytes()) {
        let head = find(part, b"\r\n\r\n").unwrap();
        let end = head + 4 + find(&part[head + 4..], delimiter.as_bytes()).unwrap();
        parts.push(read_part(&part[..head], &part[head + 4..end]));
        rest = &part[end + 2..];
    }
    assert_eq!(rest, closing.as_bytes());
    parts
}

fn read_part(head: &[u8], content: &[u8]) -> Part {
    let head = std::str::from_utf8(head).unwrap();
    let mut part = Part {
        name: String::new(),
        file_name: None,
        content_type: None,
        content: content.to_vec(),
    };
    for line in head.split("\r\n") {
        let (name, value) = line.split_once(": ").unwrap();
        match name {
            "Content-Type" => part.content_type = Some(value.to_owned()),
            "Content-Disposition" => {
                let rest = value.strip_prefix("form-data; name=\"").unwrap();
                let (name, rest) = rest.split_once('"').unwrap();
                part.name = unescaped(name);
                if !rest.is_empty() {
                    let file = rest.strip_prefix("; filename=\"").unwrap();
                    part.file_name = Some(unescaped(file.strip_suffix('"').unwrap()));
                }
            }
            other => panic!("{other}"),
        }
    }
    part
}

fn unescaped(name: &str) -> String {
    assert!(!name.contains('"'), "{name}");
    name.replace("%22", "\"")
        .replace("%0D", "\r")
        .replace("%0A", "\n")
}

/// A backend that takes one request and gives back its bytes; its headers end before the body.
fn one_request() -> (String, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/api", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let count = stream.read(&mut chunk).unwrap();
            assert_ne!(count, 0, "the request ends before it is complete");
            bytes.extend_from_slice(&chunk[..count]);
            let Some(head) = find(&bytes, b"\r\n\r\n") else {
                continue;
            };
            let length = header(&bytes, "content-length").map_or(0, |text| text.parse().unwrap());
            if bytes.len() == head + 4 + length {
                break;
            }
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{}")
            .unwrap();
        bytes
    });
    (url, thread)
}

fn header(request: &[u8], name: &str) -> Option<String> {
    let head = &request[..find(request, b"\r\n\r\n")?];
    let head = std::str::from_utf8(head).unwrap();
    head.lines().skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().to_owned())
    })
}

fn body_of(request: &[u8]) -> &[u8] {
    &request[find(request, b"\r\n\r\n").unwrap() + 4..]
}

/// The case calls the file's name `filename`; here it is `name`.
fn arguments_of_upload(case: &Value) -> Value {
    let mut arguments = case["input"]["call"]["arguments"].clone();
    let image = arguments["image"].as_object_mut().unwrap();
    let name = image.remove("filename").unwrap();
    image.insert("name".into(), name);
    arguments
}

#[track_caller]
fn check_upload(case: &Value, content_type: &str, body: &[u8]) {
    let expected = &case["expected"];
    let prefix = expected["request_content_type_prefix"].as_str().unwrap();
    assert!(content_type.starts_with(prefix), "{content_type}");
    let parts = multipart(content_type, body);
    let wanted = expected["parts"].as_array().unwrap();
    assert_eq!(parts.len(), wanted.len());
    let name = arguments_of_upload(case)["image"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    for (part, want) in parts.iter().zip(wanted) {
        assert_eq!(json!(part.name), want["name"]);
        for (what, want) in want.as_object().unwrap() {
            let text = || std::str::from_utf8(&part.content).unwrap();
            match what.as_str() {
                "name" => {}
                "filename_escaped" => assert_eq!(part.file_name.as_ref(), Some(&name)),
                "content_type" => assert_eq!(json!(part.content_type), *want),
                "bytes_b64" => {
                    let digits = base64::prelude::BASE64_STANDARD.encode(&part.content);
                    assert_eq!(json!(digits), *want);
                }
                "text" => assert_eq!(json!(text()), *want),
                "json" => {
                    let value = sezzlee::json::parse(text().as_bytes(), 9).unwrap().value;
                    assert_eq!(value, *want);
                }
                other => panic!("nobody checks {other}"),
            }
        }
    }
}

#[test]
fn an_upload_is_composed_as_expected() {
    let case = case("19-multipart-upload");
    let arguments = arguments_of_upload(&case);
    let request = composed(&case, &arguments).unwrap();
    let content_type = request.headers["content-type"].to_str().unwrap();
    check_upload(&case, content_type, request.body.as_deref().unwrap());
    assert_eq!(
        composed(&case, &arguments).unwrap(),
        request,
        "the same call, the same bytes"
    );
    for rejected in case["expected"]["rejects"].as_array().unwrap() {
        let error = composed(&case, rejected).unwrap_err();
        assert!(error.contains("InvalidFileArgument"), "{error}");
    }
    let as_sent = &case["input"]["call"]["arguments"];
    let error = composed(&case, as_sent).unwrap_err();
    assert!(
        error.contains("InvalidFileArgument") && error.contains("`name`"),
        "{error}"
    );
}

#[tokio::test]
async fn an_upload_arrives_through_invoke_tool() {
    let case = case("19-multipart-upload");
    let (url, backend) = one_request();
    let gateway = Gateway::of("orchard.json", &case["input"]["openapi"].to_string(), &url);
    let call = json!({"name": "add_photo", "arguments": arguments_of_upload(&case)});
    let answer = gateway.invoke(call).await;
    assert_eq!(answer.text, r#"{"status":200,"body":{}}"#);
    let request = backend.join().unwrap();
    assert!(request.starts_with(b"POST /api/photos HTTP/1.1\r\n"));
    check_upload(
        &case,
        &header(&request, "content-type").unwrap(),
        body_of(&request),
    );
    let refused = json!({"name": "add_photo", "arguments": {"image": {"base64": "***"}}});
    assert_eq!(
        gateway.invoke(refused).await.code(),
        "invalid_file_argument"
    );
    let large =
        json!({"name": "add_photo", "arguments": {"image": {"text": "x".repeat(1024 * 1024 + 1)}}});
    assert_eq!(gateway.invoke(large).await.code(), "file_too_large");
}

#[test]
fn an_upload_arrives_through_the_command() {
    let case = case("19-multipart-upload");
    let (url, backend) = one_request();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(
        directory.path().join("orchard.json"),
        case["input"]["openapi"].to_string(),
    )
    .unwrap();
    let arguments = arguments_of_upload(&case).to_string();
    let call = [
        "invoke",
        "add_photo",
        "orchard.json",
        "--args",
        &arguments,
        "--json",
    ];
    let mut sent = call.to_vec();
    sent.extend(["--base-url", &url]);
    let ran = cli_process::run(directory.path(), &sent);
    assert_eq!(ran.out.trim(), r#"{"status":200,"body":{}}"#, "{}", ran.err);
    let request = backend.join().unwrap();
    check_upload(
        &case,
        &header(&request, "content-type").unwrap(),
        body_of(&request),
    );

    let mut refused = call.to_vec();
    refused.extend(["--max-inline-bytes", "7"]);
    let ran = cli_process::run(directory.path(), &refused);
    assert!(ran.out.contains("file_too_large"), "{}", ran.out);
    let texts =
        json!({"image": {"text": "a", "mediaType": "image/png"}, "caption": "c"}).to_string();
    let dry = [
        "invoke",
        "add_photo",
        "orchard.json",
        "--dry-run",
        "--args",
        &texts,
    ];
    let (first, again) = (
        cli_process::run(directory.path(), &dry),
        cli_process::run(directory.path(), &dry),
    );
    assert_eq!(first.out, again.out);
    assert!(first.out.contains("filename=\"file\""), "{}", first.out);
}

#[test]
fn arrays_travel_as_expected() {
    let case = case("13-array-not-exploded");
    let request = composed(&case, &case["input"]["call"]["arguments"]).unwrap();
    let pairs: Vec<&str> = request.url.query().unwrap().split('&').collect();
    let want: Vec<&str> = case["expected"]["request_line_query_pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair.as_str().unwrap())
        .collect();
    assert_eq!(pairs.join("&"), want.join("&"));
}

#[test]
fn path_values_stay_where_they_are() {
    let case = case("15-path-value-cannot-leave-segment");
    let calls = case["input"]["calls"].as_array().unwrap();
    let targets = case["expected"]["request_targets"].as_array().unwrap();
    assert_eq!(calls.len(), targets.len());
    for (call, want) in calls.iter().zip(targets) {
        match want.as_str() {
            Some(target) => {
                let request = composed(&case, call).unwrap();
                assert_eq!(request.target(), target);
                // What the HTTP client makes of it is the same path.
                let again = url::Url::parse(request.url.as_str()).unwrap();
                assert_eq!(again.path(), request.url.path());
            }
            None => assert!(
                composed(&case, call)
                    .unwrap_err()
                    .contains("InvalidPathType")
            ),
        }
    }
}

/// The case leaves open what the two arguments are called; here the body is one argument.
#[test]
fn the_same_name_in_path_and_body_arrives_twice() {
    let case = case("16-same-name-in-path-and-body");
    let call = &case["input"]["call"];
    let arguments =
        json!({"id": call["path_id"], "body": {"id": call["body_id"], "lid": call["lid"]}});
    let request = composed(&case, &arguments).unwrap();
    let want = &case["expected"]["request"];
    assert_eq!(json!(request.method.as_str()), want["method"]);
    assert_eq!(json!(request.target()), want["target"]);
    let body = sezzlee::json::parse(request.body.as_deref().unwrap(), 9).unwrap();
    assert_eq!(body.value, want["json"]);
}

#[test]
fn header_parameters_travel_and_break_no_line() {
    let case = case("18-header-parameters");
    let request = composed(&case, &case["input"]["call"]["arguments"]).unwrap();
    for (name, value) in case["expected"]["request_headers_include"]
        .as_object()
        .unwrap()
    {
        assert_eq!(
            json!(request.headers[name.as_str()].to_str().unwrap()),
            *value
        );
    }
    let error = composed(&case, &case["input"]["hostile_call"]).unwrap_err();
    assert!(error.contains("HeaderInjection"), "{error}");
    for name in case["expected"]["never_from_arguments"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let carries = name == "cookie of a security scheme";
        let (name, place) = if carries {
            ("sid", "cookie")
        } else {
            (name, "header")
        };
        let mut document = case["input"]["openapi"].clone();
        document["paths"]["/lots"]["get"]["parameters"] =
            json!([{"name": name, "in": place, "required": true, "schema": {"type": "string"}}]);
        document["components"] =
            json!({"securitySchemes": {"s": {"type": "apiKey", "in": "cookie", "name": "sid"}}});
        let published = operations("orchard.json", &document.to_string());
        assert_eq!(
            published[0].template.as_ref().unwrap().parameters,
            [],
            "{name}"
        );
    }
}
