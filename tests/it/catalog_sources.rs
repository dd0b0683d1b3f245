//! Sources: files, trees, globs, URLs and JSON Lines together; what one bad source costs.

use std::fs;
use std::io::Write;

use serde_json::json;
use sezzlee::catalog::{DiagnosticCode, FileLoader, ReadOptions, Severity, read};

use crate::catalog::{Memory, Outcome, openapi, read_sources};

fn read_paths(sources: &[String]) -> Outcome {
    let mut list: Vec<sezzlee::catalog::Operation> = Vec::new();
    let report = read(sources, &ReadOptions::default(), &FileLoader, &mut list).unwrap();
    Outcome {
        operations: list,
        report,
    }
}

fn document(id: &str) -> String {
    openapi(&json!({format!("/{id}"): {"get": {"operationId": id}}})).to_string()
}

fn line(name: &str) -> String {
    json!({"name": name, "description": "d"}).to_string()
}

#[test]
fn a_tree_of_everything_is_read_in_order_and_bad_files_cost_themselves() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("sub/openapi.json"), document("one")).unwrap();
    fs::write(
        at("sub/two.yaml"),
        "openapi: 3.0.0\npaths:\n  /two: {get: {}}\n",
    )
    .unwrap();
    fs::write(at("broken.json"), "{\n  \"openapi\": ").unwrap();
    fs::write(at("package.json"), "{\"name\": \"x\"}").unwrap();
    fs::write(at("empty.yml"), "").unwrap();
    fs::write(
        at("a.jsonl"),
        format!("{}\n\n{{\n{}", line("Plain name"), line("Other")),
    )
    .unwrap();
    let mut gzip = flate2::write::GzEncoder::new(
        fs::File::create(at("b.jsonl.gz")).unwrap(),
        flate2::Compression::fast(),
    );
    gzip.write_all(line("zipped").as_bytes()).unwrap();
    gzip.finish().unwrap();
    fs::write(
        at("c.jsonl.zst"),
        zstd::encode_all(line("standard").as_bytes(), 1).unwrap(),
    )
    .unwrap();
    fs::write(at("d.jsonl.gz"), "no gzip").unwrap();

    let tree = root.path().display().to_string();
    let read = read_paths(std::slice::from_ref(&tree));
    assert_eq!(
        read.names(),
        [
            "Plain name",
            "Other",
            "zipped",
            "standard",
            "sub_one",
            "sub_two_get_two"
        ]
    );
    let below = |name: &str| format!("{tree}/{name}");
    let seen: Vec<_> = read
        .report
        .diagnostics
        .iter()
        .filter(|one| one.code != DiagnosticCode::NoServer)
        .map(|one| (one.document.clone(), one.code, one.severity))
        .collect();
    assert_eq!(
        seen,
        [
            (
                below("a.jsonl"),
                DiagnosticCode::BadEntry,
                Severity::Dropped
            ),
            (
                below("broken.json"),
                DiagnosticCode::NotParseable,
                Severity::Dropped
            ),
            (
                below("d.jsonl.gz"),
                DiagnosticCode::UnreadableSource,
                Severity::Dropped
            ),
            (
                below("d.jsonl.gz"),
                DiagnosticCode::NoOperations,
                Severity::Warning
            ),
            (
                below("empty.yml"),
                DiagnosticCode::NotOpenapi,
                Severity::Warning
            ),
            (
                below("package.json"),
                DiagnosticCode::NotOpenapi,
                Severity::Warning
            ),
        ]
    );
    let globbed = read_paths(&[format!("{tree}/sub/*.json")]);
    // The stem says nothing and nothing is below the pattern's directory, so the key is the title's.
    assert_eq!(globbed.names(), ["orchard_one"]);
}

#[test]
fn a_faulty_source_is_told_with_place_and_the_others_are_read() {
    let good = document("good");
    let large = format!(
        "{{\"openapi\": \"3.0.0\", \"x\": \"{}\"}}",
        "y".repeat(64 * 1024 * 1024)
    );
    let deep = format!(
        "{{\"openapi\": \"3.0.0\", \"x\": {}{}}}",
        "[".repeat(1_000),
        "]".repeat(1_000)
    );
    let sources: Vec<(&str, &[u8])> = vec![
        ("missing.json", b""),
        ("html.json", b"<!DOCTYPE html><p>hi</p>"),
        ("array.json", b"[]"),
        ("old.json", br#"{"swaggerVersion": "1.2"}"#),
        ("late.yaml", b"openapi: 3.0.0\npaths:\n  /a: b: c\n"),
        ("good.json", good.as_bytes()),
        ("large.json", large.as_bytes()),
        ("deep.json", deep.as_bytes()),
        ("https://h.test/specs/good.json", good.as_bytes()),
    ];
    let read = read_sources(&sources, &ReadOptions::default());
    assert_eq!(read.report.counts.published, 2);
    let seen: Vec<_> = read
        .report
        .diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Dropped)
        .map(|one| (one.document.as_str(), one.code.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            ("missing.json", "not_openapi"),
            ("html.json", "not_openapi"),
            ("array.json", "not_openapi"),
            ("old.json", "unsupported_version"),
            ("late.yaml", "not_parseable"),
            ("large.json", "source_too_large"),
            ("deep.json", "too_deep"),
        ]
    );
    let late = read
        .report
        .diagnostics
        .iter()
        .find(|one| one.document == "late.yaml")
        .unwrap();
    assert_eq!((late.line, late.column), (Some(3), Some(8)), "{late}");
}

#[test]
fn a_source_that_is_not_there_is_unreadable() {
    let read = read_paths(&[
        "nowhere/at/all.json".into(),
        "nowhere/*.json".into(),
        "http://[".into(),
    ]);
    let codes: Vec<_> = read.report.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, [DiagnosticCode::UnreadableSource; 3]);
    let url = read_paths(&["https://h.test/openapi.json".into()]);
    assert_eq!(
        url.report.diagnostics[0].code,
        DiagnosticCode::UnreadableSource
    );
}

#[test]
fn a_large_file_is_refused_by_its_size_alone() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("hundred.json");
    let file = fs::File::create(&path).unwrap();
    // A hole of 100 MiB: nothing is written and nothing may be read.
    file.set_len(100 * 1024 * 1024).unwrap();
    let read = read_paths(&[path.display().to_string()]);
    assert_eq!(
        read.report.diagnostics[0].code,
        DiagnosticCode::SourceTooLarge
    );
}

#[test]
fn documents_from_urls_resolve_their_servers_there() {
    let text =
        json!({"openapi": "3.0.0", "servers": [{"url": "../v1"}], "paths": {"/a": {"get": {}}}})
            .to_string();
    let read = read_sources(
        &[("https://h.test/docs/x/openapi.json", text.as_bytes())],
        &ReadOptions::default(),
    );
    let template = read.operations[0].template.as_ref().unwrap();
    assert_eq!(template.base_url.as_deref(), Some("https://h.test/docs/v1"));
    assert_eq!(read.names(), ["get_a"]);
}

#[test]
fn given_names_stand_and_derived_ones_give_way() {
    let derived = openapi(&json!({"/x": {"get": {"operationId": "taken"}}})).to_string();
    let lines = format!(
        "{}\n{}\n{}",
        line("d_taken"),
        line("d_taken"),
        line("d_free")
    );
    let digits = sezzlee::json::sha256_hex(b"GET /x")[..6].to_owned();
    let moved = format!("d_taken_{digits}");
    let document = ("d.json", derived.as_bytes());
    let catalogue = ("c.jsonl", lines.as_bytes());
    let forward = read_sources(&[document, catalogue], &ReadOptions::default());
    assert_eq!(forward.names(), [moved.as_str(), "d_taken", "d_free"]);
    let backward = read_sources(&[catalogue, document], &ReadOptions::default());
    assert_eq!(backward.names(), ["d_taken", "d_free", moved.as_str()]);
    for read in [forward, backward] {
        assert!(
            read.findings()
                .iter()
                .any(|one| one.starts_with("dropped duplicate_name"))
        );
        assert!(
            read.findings()
                .iter()
                .any(|one| one.starts_with("warning name_collision"))
        );
    }
}

#[test]
fn many_lines_keep_their_order() {
    let lines: Vec<String> = (0..20_000)
        .map(|n| json!({"name": format!("tool {n}"), "description": "x".repeat(500)}).to_string())
        .collect();
    let read = read_sources(
        &[("c.jsonl", lines.join("\n").as_bytes())],
        &ReadOptions::default(),
    );
    let names = read.names();
    assert_eq!(names.len(), 20_000);
    assert!(
        names
            .iter()
            .enumerate()
            .all(|(n, name)| *name == format!("tool {n}"))
    );
}

#[test]
fn many_documents_keep_their_order() {
    let texts: Vec<(String, String)> = (0..200)
        .map(|n| (format!("s{n}.json"), document(&format!("op{n}"))))
        .collect();
    let sources: Vec<(&str, &[u8])> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let read = read_sources(&sources, &ReadOptions::default());
    assert!(
        read.names()
            .iter()
            .enumerate()
            .all(|(n, name)| *name == format!("s{n}_op{n}"))
    );
}

#[test]
fn a_sink_that_fails_stops_the_reading() {
    struct Full;
    impl sezzlee::catalog::Sink for Full {
        fn operation(
            &mut self,
            _: sezzlee::catalog::Operation,
        ) -> Result<u32, sezzlee::catalog::SinkError> {
            Err(sezzlee::catalog::SinkError("full".into()))
        }
        fn rename(&mut self, _: u32, _: &str) -> Result<(), sezzlee::catalog::SinkError> {
            Ok(())
        }
    }
    let loader = Memory([("d.json".to_owned(), document("x").into_bytes())].into());
    assert!(
        read(
            &["d.json".into()],
            &ReadOptions::default(),
            &loader,
            &mut Full
        )
        .is_err()
    );
}

/// Reads on a thread of its own; a reading that hangs is a failure, not a test that never ends.
#[cfg(unix)]
fn read_in_time(source: String) -> Outcome {
    let (done, outcome) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Whoever waits may have given up.
        let _ = done.send(read_paths(&[source]));
    });
    outcome
        .recv_timeout(std::time::Duration::from_mins(1))
        .expect("reading must end")
}

#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_are_refused_and_never_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("good.json"), document("good")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .args([at("pipe.json"), at("pipe.jsonl"), at("pipe.jsonl.gz")])
        .status()
        .unwrap();
    assert!(made.success());
    let _listener = std::os::unix::net::UnixListener::bind(at("socket.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("device.yaml")).unwrap();
    let odd = [
        "device.yaml",
        "pipe.json",
        "pipe.jsonl",
        "pipe.jsonl.gz",
        "socket.json",
    ];

    let outcome = read_in_time(root.path().display().to_string());
    assert_eq!(outcome.operations.len(), 1);
    assert_eq!(outcome.report.diagnostics.len(), odd.len());
    for name in odd {
        let alone = read_in_time(at(name).display().to_string());
        let [diagnostic] = &alone.report.diagnostics[..] else {
            panic!("{name}: {:?}", alone.report.diagnostics)
        };
        assert_eq!(diagnostic.code, DiagnosticCode::UnreadableSource, "{name}");
        assert!(diagnostic.message.contains("no regular file"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_go_round_or_cross_are_walked_in_bounded_time() {
    use std::os::unix::fs::symlink;

    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("in/side")).unwrap();
    fs::write(at("in/good.json"), document("good")).unwrap();
    fs::write(at("in/side/other.json"), document("other")).unwrap();
    symlink(".", at("in/a")).unwrap();
    symlink(at("in"), at("in/b")).unwrap();
    symlink("..", at("in/side/up")).unwrap();
    let outcome = read_in_time(at("in").display().to_string());
    assert_eq!(outcome.operations.len(), 2);
    assert_eq!(outcome.report.diagnostics, []);
    // A link to elsewhere is followed, and a pattern may name the way through it.
    symlink(at("in/side"), at("out")).unwrap();
    let outcome = read_in_time(format!("{}/o*/*.json", root.path().display()));
    assert_eq!(outcome.operations.len(), 1);

    // Each level leads to the next in three ways: no circle, and yet endless.
    for level in 0..40 {
        fs::create_dir_all(at(&format!("many/{level}"))).unwrap();
        for way in ["x", "y", "z"] {
            let next = at(&format!("many/{}", level + 1));
            symlink(next, at(&format!("many/{level}/{way}"))).unwrap();
        }
    }
    fs::create_dir_all(at("many/40")).unwrap();
    let outcome = read_in_time(at("many/0").display().to_string());
    let [diagnostic] = &outcome.report.diagnostics[..] else {
        panic!("{:?}", outcome.report.diagnostics)
    };
    assert!(diagnostic.message.contains("met before"));
}
