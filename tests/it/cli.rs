//! The command as a person meets it: exit codes, and one clear line for what is wrong.

use std::fs::{self, File};
use std::path::Path;

use serde_json::{Value, json};
use sezzlee::demo;
use tempfile::TempDir;

use crate::cli_process::{Ran, run};

/// One operation with a server nobody listens at.
pub(crate) const GOOD: &str = r#"openapi: 3.0.3
info: {title: Good, version: "1"}
servers: [{url: "http://127.0.0.1:9/v1"}]
paths:
  /things/{id}:
    get:
      operationId: getThing
      summary: Fetches one thing.
      tags: [Things]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
"#;

/// A directory with the sources of these tests.
pub(crate) fn sources() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    put("good.yaml", GOOD);
    put("shop.yaml", demo::DOCUMENT);
    put("empty.yaml", "");
    put("blank.json", " \n\t\n");
    put("cut.json", "{\"openapi\": \"3.0.0\",\n \"paths\": {");
    put("broken.yaml", "openapi: 3.0.0\npaths:\n  /a: [\n  b: }");
    put("other.json", "{\"hello\": 1}");
    put("text.yaml", "just some text");
    put("old.json", "{\"swagger\": \"1.2\"}");
    put(
        "deep.json",
        &format!(
            "{{\"openapi\":\"3.0.0\",\"x\":{}{}}}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        ),
    );
    put(
        "deep.yaml",
        &format!(
            "openapi: 3.0.0\nx: {}{}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        ),
    );
    let nested: String = (0..5_000).map(|level| " ".repeat(level) + "a:\n").collect();
    put("deeper.yaml", &format!("openapi: 3.0.0\n{nested}"));
    put(
        "lines.jsonl",
        "{\"name\":\"a\",\"description\":\"one\"}\nno JSON\n{\"name\":\"b\",\"description\":\"two\"}\n",
    );
    let large = File::create(directory.path().join("large.json")).unwrap();
    // Sparse: the size counts, not the bytes.
    large.set_len(100 * 1024 * 1024).unwrap();
    directory
}

/// Holds that a command ends with 2, an empty stdout, and one line on stderr that holds the parts.
#[track_caller]
pub(crate) fn complains(directory: &Path, args: &[&str], parts: &[&str]) {
    let Ran { code, out, err } = run(directory, args);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
    let line = err.strip_suffix('\n').unwrap_or(&err);
    assert!(
        line.starts_with("sezzlee: ") && !line.contains('\n'),
        "{args:?}: {err}"
    );
    for part in parts {
        assert!(line.contains(part), "{args:?}: {part:?} is missing: {err}");
    }
    assert!(line.len() < 600, "{args:?}: {err}");
}

#[test]
fn sources_that_cannot_be_read_are_told_in_one_line_with_the_place() {
    let directory = sources();
    for (source, parts) in [
        (
            "missing.yaml",
            &["missing.yaml: ", "no such file", "check the path"][..],
        ),
        ("missing/", &["missing/: ", "no such file"]),
        ("*.yml", &["*.yml: ", "no file matches"]),
        ("ftp://example.test/a.json", &["only http and https"]),
        (
            "http://127.0.0.1:9/a.json",
            &["http://127.0.0.1:9/a.json: ", "cannot be fetched"],
        ),
        ("http://[/a.json", &["the URL is malformed"]),
        ("empty.yaml", &["empty.yaml: ", "is empty"]),
        ("blank.json", &["blank.json: ", "is empty"]),
        (
            "cut.json",
            &["cut.json:2:11: ", "EOF while parsing", "correct the JSON"],
        ),
        ("broken.yaml", &["broken.yaml:4:3: ", "correct the YAML"]),
        (
            "other.json",
            &["other.json: ", "neither an `openapi` nor a `swagger`"],
        ),
        ("text.yaml", &["text.yaml: ", "name a document with"]),
        ("old.json", &["old.json", "1.2"]),
        (
            "large.json",
            &["large.json: ", "too large", "67108864 bytes"],
        ),
        ("deep.json", &["deep.json:1:", "nested over 1000 levels"]),
        ("deep.yaml", &["deep.yaml:2:", "nested over 1000 levels"]),
        ("deeper.yaml", &["deeper.yaml:1", "nested over 1000 levels"]),
    ] {
        for args in [
            &["check", source][..],
            &["search", "thing", source],
            &["serve", "--listen", "127.0.0.1:0", source],
            &["index", "--out", "never", source],
        ] {
            complains(directory.path(), args, parts);
        }
    }
    let never = directory.path().join("never");
    assert!(!never.join("CURRENT").exists());
    // All of them together: every one is named, in one line.
    let Ran { code, err, .. } = run(
        directory.path(),
        &["check", "empty.yaml", "cut.json", "missing.yaml"],
    );
    assert_eq!((code, err.lines().count()), (Some(2), 1), "{err}");
    for name in ["empty.yaml: ", "cut.json:2:11: ", "missing.yaml: "] {
        assert!(err.contains(name), "{err}");
    }
}

#[test]
fn values_that_cannot_be_used_are_told_before_sources_are_read() {
    let directory = sources();
    for (args, parts) in [
        (
            &["serve", "--listen", "0.0.0.0:0", "missing.yaml"][..],
            &["--listen", "not a loopback address", "--allow-anonymous"][..],
        ),
        (
            &["serve", "--listen", "[::]:0", "missing.yaml"],
            &["--listen", "not a loopback address"],
        ),
        (
            &["serve", "--max-answer-bytes", "5", "missing.yaml"],
            &["--max-answer-bytes", "5 bytes is too small", "1024"],
        ),
        (&["serve", "--deadline=-1", "missing.yaml"], &["--deadline"]),
        (
            &["serve", "--deadline", "NaN", "missing.yaml"],
            &["--deadline"],
        ),
        (
            &["serve", "--max-calls", "0", "missing.yaml"],
            &["--max-calls"],
        ),
        (
            &["serve", "--max-body-bytes", "0", "missing.yaml"],
            &["--max-body-bytes", "at least 1"],
        ),
        (
            &["serve", "--max-connections", "0", "missing.yaml"],
            &["--max-connections", "at least 1"],
        ),
        (
            &["serve", "--max-requests", "0", "missing.yaml"],
            &["--max-requests", "at least 1"],
        ),
        (
            &["serve", "--allow-host", "http://a b", "missing.yaml"],
            &["--allow-host"],
        ),
        (&["serve", "--host", "a b", "missing.yaml"], &["--host"]),
        (
            &["serve", "--origin", "nowhere", "missing.yaml"],
            &["--origin"],
        ),
        (
            &["search", "a", "good.yaml", "--max-answer-bytes", "5"],
            &["--max-answer-bytes"],
        ),
        (
            &["search", "orders"],
            &["name at least one source", "sezzlee search"],
        ),
        (
            &["search", "a", "good.yaml", "--queries", "missing.txt"],
            &["cannot read `missing.txt`"],
        ),
        (
            &["invoke", "get_thing", "good.yaml", "--args", "{\"id\":"],
            &["--args is not JSON", "line 1 column 6"],
        ),
        (
            &[
                "invoke",
                "get_thing",
                "good.yaml",
                "--args",
                "{\"id\":1,\"id\":2}",
            ],
            &["`/id` twice"],
        ),
        (
            &["index", "good.yaml", "--out", "good.yaml"],
            &["`good.yaml`"],
        ),
        (&["verify", "good.yaml"], &["good.yaml"]),
        (
            &["verify", "nowhere"],
            &["`nowhere` holds no index", "sezzlee index"],
        ),
    ] {
        complains(directory.path(), args, parts);
    }
    // A query has no place to be cut.
    let long = "word ".repeat(4_000);
    complains(
        directory.path(),
        &["search", &long, "good.yaml"],
        &["20000 bytes", "16384"],
    );
}

#[test]
fn what_cannot_be_parsed_is_told_with_what_was_meant() {
    let directory = sources();
    for (args, parts) in [
        (&["srch"][..], &["'srch'", "'search'"][..]),
        (
            &["search", "--limt", "3", "a", "good.yaml"],
            &["'--limt'", "'--limit'"],
        ),
        (&["serve"], &["SOURCE"]),
        (&["load", "get_thing"], &["SOURCE"]),
        (
            &["serve", "--prefix", "sometimes", "good.yaml"],
            &["sometimes", "always", "never"],
        ),
        (&["serve", "--log", "loud", "good.yaml"], &["loud", "debug"]),
        (
            &["serve", "--listen", "8080", "good.yaml"],
            &["8080", "--listen"],
        ),
        (
            &["serve", "--listen", "localhost:80", "good.yaml"],
            &["--listen", "such as 127.0.0.1:8848"],
        ),
        (&["completions", "cmd"], &["cmd", "bash"]),
        (&["search", "a", "good.yaml", "--limit", "-1"], &["-1"]),
        (
            &["load", "a", "good.yaml", "--base-url", "ftp://x.test"],
            &["ftp://x.test", "http or https"],
        ),
        (
            &["load", "a", "good.yaml", "--base-url", "shop"],
            &["shop", "--base-url"],
        ),
        (
            &["load", "a", "good.yaml", "--base-url", "http://u:p@x.test"],
            &["user name or password"],
        ),
        (
            &["load", "a", "good.yaml", "--base-url", "http://x.test/?k=v"],
            &["`?`"],
        ),
    ] {
        let Ran { code, out, err } = run(directory.path(), args);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}: {err}");
        assert!(err.starts_with("error: "), "{args:?}: {err}");
        for part in parts {
            assert!(err.contains(part), "{args:?}: {part:?} is missing: {err}");
        }
    }
}

#[test]
fn exit_codes_tell_done_no_and_not_carried_out() {
    let directory = sources();
    for (args, want) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["help", "serve"], 0),
        (&["check", "good.yaml"], 0),
        (&["check", "--strict", "good.yaml"], 0),
        (&["check", "lines.jsonl"], 0),
        (&["check", "--strict", "lines.jsonl"], 1),
        (&["check", "good.yaml", "cut.json"], 0),
        (&["search", "thing", "good.yaml"], 0),
        (&["search", "nothing like it", "good.yaml"], 0),
        (&["search", "", "good.yaml", "--limit", "0"], 0),
        (&["search", "", "good.yaml", "--limit", "99999999999"], 0),
        (&["load", "get_thing", "good.yaml"], 0),
        (&["load", "nope", "good.yaml"], 1),
        (&["invoke", "nope", "good.yaml"], 1),
        (&["invoke", "nope", "good.yaml", "--dry-run"], 1),
        (&["invoke", "get_thing", "good.yaml", "--dry-run"], 1),
        (
            &[
                "invoke",
                "get_thing",
                "good.yaml",
                "--dry-run",
                "--args",
                "[]",
            ],
            1,
        ),
        (
            &[
                "invoke",
                "get_thing",
                "good.yaml",
                "--dry-run",
                "--args",
                "{\"id\":1}",
                "--version",
                "0",
            ],
            1,
        ),
        (
            &["invoke", "get_thing", "good.yaml", "--args", "{\"id\":1}"],
            1,
        ),
        (&["explain", "thing", "good.yaml"], 0),
        (&["explain", "thing", "good.yaml", "--name", "nope"], 1),
        (&["explain", "unheard", "good.yaml"], 1),
        (
            &["explain", "unheard", "good.yaml", "--name", "get_thing"],
            0,
        ),
        (&["check", "missing.yaml"], 2),
        (&["--nope"], 2),
        (&[], 2),
    ] {
        let ran = run(directory.path(), args);
        assert_eq!(ran.code, Some(want), "{args:?}: {ran:?}");
    }
}

#[test]
fn with_several_sources_one_that_is_broken_costs_only_itself() {
    let directory = sources();
    let args = [
        "search",
        "thing",
        "good.yaml",
        "cut.json",
        "missing.yaml",
        "large.json",
        "deep.json",
    ];
    let Ran { code, out, err } = run(directory.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("  1. good_get_thing\n"), "{out}");
    for place in [
        "cut.json:2:11: dropped[not_parseable]",
        "missing.yaml: ",
        "large.json: ",
        "deep.json:1:",
    ] {
        assert!(err.contains(place), "{place}: {err}");
    }
    let Ran { code, out, .. } = run(
        directory.path(),
        &["check", "--json", "good.yaml", "cut.json"],
    );
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["code"], "not_parseable");
    assert_eq!(lines[0]["document"], "cut.json");
    assert_eq!(
        lines[1],
        json!({"counts": {"found": 1, "selected": 1, "published": 1, "dropped": 0}})
    );
    // A line of a catalogue costs that line.
    let Ran { out, .. } = run(directory.path(), &["check", "lines.jsonl"]);
    let place = "\nlines.jsonl:2:2: dropped[bad_entry]: ";
    assert!(out.contains(place), "{out}");
    assert!(
        out.ends_with("3 found, 3 selected, 2 published, 1 dropped\n"),
        "{out}"
    );
}
