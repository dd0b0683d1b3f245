//! `sezzlee check`: what it shows of many findings, what it writes for programs, when it says no.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use sezzlee::catalog::DiagnosticCode;

use crate::cli::{GOOD, sources};
use crate::cli_process::{Ran, command, finish, run};

/// A document with so many operations without a declared path parameter.
fn undeclared(operations: usize) -> String {
    let paths: String = (0..operations)
        .map(|index| format!("  /p{index}/{{id}}:\n    get: {{}}\n"))
        .collect();
    format!("openapi: 3.0.0\nservers: [{{url: 'https://h.test'}}]\npaths:\n{paths}")
}

fn check(sources: &[(&str, &str)], args: &[&str]) -> Ran {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in sources {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let mut all = vec!["check"];
    all.extend(sources.iter().map(|(name, _)| *name));
    all.extend(args);
    run(directory.path(), &all)
}

#[test]
fn findings_are_grouped_and_each_is_at_its_line() {
    let text = undeclared(9);
    let Ran { code, out, .. } = check(&[("d.yaml", &text)], &[]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[0],
        "warning[missing_path_parameter] × 9: A placeholder of the route has no path parameter; \
         a required string is assumed."
    );
    assert!(
        lines[1].starts_with("d.yaml:5:5: warning[missing_path_parameter]: "),
        "{out}"
    );
    assert!(lines[1].ends_with(" (#/paths/~1p0~1{id}/get)"), "{out}");
    assert!(lines[5].starts_with("d.yaml:13:5: "), "{out}");
    assert_eq!(lines[6], "and 4 more; --all shows each");
    assert_eq!(lines[8], "9 found, 9 selected, 9 published, 0 dropped");
    assert_eq!(lines.len(), 9);
    let Ran { out, .. } = check(&[("d.yaml", &text)], &["--all"]);
    assert_eq!(out.matches("\nd.yaml:").count(), 9, "{out}");
    assert!(!out.contains("--all"), "{out}");
}

#[test]
fn several_documents_have_a_row_each() {
    let text = undeclared(2);
    let xml = GOOD.replace("    get:", "    post:") + XML_BODY;
    let sources = [("a.yaml", GOOD), ("b.yaml", &text), ("c.yaml", &xml)];
    let Ran { out, .. } = check(&[&sources[..], &[("d.json", "{")]].concat(), &[]);
    let table = "   found selected published  dropped warnings  document\n\
        \x20      1        1         1        0        0  a.yaml\n\
        \x20      2        2         2        0        2  b.yaml\n\
        \x20      1        1         0        1        1  c.yaml\n\
        \x20                           not read        0  d.json\n\n\
        4 found, 4 selected, 3 published, 1 dropped\n";
    assert!(out.ends_with(table), "{out}");
    // What costs an operation comes before what costs nothing.
    let dropped = out.find("dropped[").unwrap();
    assert!(dropped < out.find("warning[").unwrap(), "{out}");
}

const XML_BODY: &str = "      requestBody: {content: {application/xml: {schema: {}}}}\n";

#[test]
fn many_documents_do_not_flood() {
    let directory = tempfile::tempdir().unwrap();
    let good = GOOD.to_owned();
    for index in 0..60 {
        let text = if index == 59 {
            undeclared(1)
        } else {
            good.clone()
        };
        fs::write(directory.path().join(format!("d{index}.yaml")), text).unwrap();
    }
    let Ran { out, .. } = run(directory.path(), &["check", "."]);
    assert!(
        out.contains("\nand 20 more with less to say; --all shows each\n"),
        "{out}"
    );
    // The one that has something to say is shown.
    assert!(out.contains("0        1  ./d59.yaml\n"), "{out}");
    let Ran { out, .. } = run(directory.path(), &["check", "--all", "."]);
    assert_eq!(out.matches("0  ./d").count(), 59, "{out}");
}

#[test]
fn conversions_that_lost_meaning_are_counted() {
    let lossy = r#"{"openapi":"3.0.0","servers":[{"url":"https://h.test"}],"paths":{"/a":{"post":{"requestBody":
        {"content":{"application/json":{"schema":{"properties":{"x":{}},"not":{"required":["x"]}}}}}}}}}"#;
    let Ran { out, .. } = check(&[("d.json", lossy)], &[]);
    assert!(out.contains("\nconversions that lost meaning: 1 "), "{out}");
    let Ran { out, .. } = check(&[("d.yaml", GOOD)], &[]);
    assert_eq!(out, "1 found, 1 selected, 1 published, 0 dropped\n");
}

#[test]
fn for_programs_every_finding_is_an_object_and_the_counts_come_last() {
    let text = undeclared(7);
    let Ran { out, .. } = check(&[("d.yaml", &text), ("l.jsonl", "\nx\n")], &["--json"]);
    let lines: Vec<Value> = out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 10);
    assert_eq!(
        lines[1],
        json!({
            "code": "missing_path_parameter", "severity": "warning", "document": "d.yaml",
            "at": "/paths/~1p1~1{id}/get", "line": 7, "column": 5, "message": lines[1]["message"],
        })
    );
    assert_eq!(
        (&lines[7]["at"], &lines[7]["line"], &lines[7]["column"]),
        (&json!(""), &json!(2), &json!(1))
    );
    // A finding about a whole source has no line.
    assert_eq!(lines[8]["code"], "no_operations");
    assert_eq!(lines[8].get("line"), None);
    let counts = json!({"found": 8, "selected": 8, "published": 7, "dropped": 1});
    assert_eq!(lines[9], json!({"counts": counts}));
}

#[test]
fn strict_says_no_to_whatever_was_found() {
    let warned = undeclared(1);
    let dropped = GOOD.replace("    get:", "    post:") + XML_BODY;
    for (text, want) in [(GOOD, 0), (&warned, 1), (&dropped, 1)] {
        for args in [&[][..], &["--json"], &["--all"]] {
            let lax = check(&[("d.yaml", text)], args);
            assert_eq!(lax.code, Some(0), "{lax:?}");
            let strict = check(&[("d.yaml", text)], &[args, &["--strict"]].concat());
            assert_eq!(strict.code, Some(want), "{strict:?}");
            // What is shown is the same.
            assert_eq!(lax.out, strict.out);
        }
    }
}

#[test]
fn every_code_can_be_looked_up() {
    let directory = sources();
    for code in DiagnosticCode::ALL {
        let Ran {
            code: ended, out, ..
        } = run(directory.path(), &["check", "--explain", code.as_str()]);
        let row = code.explanation().unwrap();
        assert_eq!(ended, Some(0));
        for part in [code.as_str(), row.cost, row.meaning, row.remedy] {
            assert!(out.contains(part), "{part}: {out}");
        }
    }
    let Ran { code, err, .. } = run(directory.path(), &["check", "--explain", "nope"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no_server"), "{err}");
    let both = run(
        directory.path(),
        &["check", "--explain", "no_server", "good.yaml"],
    );
    assert_eq!(both.code, Some(2), "{both:?}");
    assert_eq!(run(directory.path(), &["check"]).code, Some(2));
}

/// What a terminal would obey is shown, in places as in messages, and colours are for terminals.
#[test]
fn output_that_is_no_terminal_holds_no_escapes() {
    let text = "openapi: 3.0.0\nservers: [{url: 'https://h.test'}]\npaths:\n  \"/\\e[31m{a}\\u000a\": {get: {}}\n";
    let Ran { out, .. } = check(&[("d.yaml", text), ("e\u{1b}[m.yaml", text)], &[]);
    assert!(out.contains("\\u{1b}[31m"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out:?}");
    assert!(
        out.lines()
            .filter(|line| line.starts_with("d.yaml:4:24: "))
            .count()
            >= 1,
        "{out}"
    );
}

#[test]
fn whoever_reads_may_stop_reading() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("bad.jsonl"), "{}\n".repeat(9_000)).unwrap();
    let mut child = command(directory.path(), &["check", "--all", "bad.jsonl"]);
    let mut child = child.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = finish(child);
    assert_eq!(
        (ran.code, ran.err.contains("cannot be written")),
        (Some(0), false),
        "{ran:?}"
    );
}

/// Opening a catalogue tells of every kind of finding, not every finding.
#[test]
fn a_log_has_a_few_lines_of_each_kind() {
    let directory = tempfile::tempdir().unwrap();
    let xml = |index: usize| format!("  /x{index}:\n    post:\n{XML_BODY}");
    let text = undeclared(50) + &(0..50).map(xml).collect::<String>();
    fs::write(directory.path().join("d.yaml"), text).unwrap();
    let args = ["--log", "info", "index", "--out", "idx", "d.yaml"];
    let Ran { code, err, .. } = run(directory.path(), &args);
    assert_eq!(code, Some(0), "{err}");
    let told = |part: &str| err.matches(part).count();
    assert_eq!(told("d.yaml:104:"), 0, "{err}");
    assert_eq!(told("dropped[unsupported_media_type]"), 4, "{err}");
    assert_eq!(
        told("47 more of dropped[unsupported_media_type]"),
        1,
        "{err}"
    );
    assert_eq!(
        told("49 more of warning[missing_path_parameter]"),
        1,
        "{err}"
    );
    assert!(told("\n") < 20, "{err}");
    for part in ["found", "100", "published", "50", "`sezzlee check`"] {
        assert!(err.contains(part), "{part}: {err}");
    }
}
