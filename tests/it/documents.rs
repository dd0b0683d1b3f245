//! Real documents: every operation is published, not selected, or dropped with a diagnostic at its place.
//!
//! What reading came to is kept in `tests/fixtures/documents/counts.txt`, so that a change shows what it does to
//! the documents of others. `UPDATE_COUNTS=1` writes it anew. With `SEZZLEE_DOCUMENTS` naming a directory, its
//! documents are held to the same rules.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sezzlee::catalog::{FileLoader, Operation, ReadOptions, Report, Severity, read};
use sezzlee::json::canonical;

/// What an answer may hold by default, with room for what stands around a definition.
const LOADABLE_BYTES_MAX: usize = 262_144 - 1_024;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/documents")
}

/// The documents of a directory and below, in the order of their paths; compressed ones are unpacked.
fn documents(root: &Path, unpacked: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                open.push(path);
            } else if let Some(name) = name.strip_suffix(".zst") {
                let to = unpacked.join(name);
                let bytes = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
                std::fs::write(&to, bytes).unwrap();
                found.push((name.to_owned(), to));
            } else if is_document(&path) {
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

/// Whether a file says of itself that it is one: pieces of others and lists of files do not.
fn is_document(path: &Path) -> bool {
    let is_text = matches!(
        path.extension().and_then(|one| one.to_str()),
        Some("json" | "yaml" | "yml")
    );
    is_text
        && std::fs::read_to_string(path).is_ok_and(|text| {
            ["openapi", "swagger"].iter().any(|member| {
                text.lines().any(|line| {
                    let line = line.trim_start_matches(['{', ' ', '\t', '"', '\'', '\u{feff}']);
                    line.starts_with(member)
                        && line[member.len()..]
                            .trim_start_matches(['"', '\'', ' '])
                            .starts_with(':')
                })
            })
        })
}

fn read_file(path: &Path) -> (Vec<Operation>, Report) {
    let mut operations: Vec<Operation> = Vec::new();
    let sources = [path.to_string_lossy().into_owned()];
    let report = read(
        &sources,
        &ReadOptions::default(),
        &FileLoader,
        &mut operations,
    )
    .unwrap();
    (operations, report)
}

/// Holds one document to the rules, and answers its row.
fn check(name: &str, operations: &[Operation], report: &Report) -> String {
    let counts = report.counts;
    assert_eq!(counts.selected, counts.published + counts.dropped, "{name}");
    assert!(counts.selected <= counts.found, "{name}");
    assert_eq!(counts.published, operations.len() as u64, "{name}");
    assert!(!report.is_fatal(), "{name}: {:?}", report.diagnostics);
    assert_eq!(report.diagnostics_left_out, 0, "{name}");
    let dropped = report
        .diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Dropped)
        .inspect(|one| assert_ne!(one.at.as_str(), "", "{name}: {one}"));
    assert_eq!(
        counts.dropped,
        dropped.count() as u64,
        "{name}: {:?}",
        report.diagnostics
    );
    let mut names = HashSet::new();
    let mut largest = 0;
    for operation in operations {
        let own = &operation.definition.name;
        assert!(names.insert(own), "{name}: {own} stands twice");
        assert!((1..=128).contains(&own.len()), "{name}: {own}");
        let bytes = canonical(&serde_json::to_value(&operation.definition).unwrap()).len();
        assert!(
            bytes <= LOADABLE_BYTES_MAX,
            "{name}: {own} has {bytes} bytes"
        );
        largest = largest.max(bytes);
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for one in &report.diagnostics {
        *kinds
            .entry(format!("{} {}", one.severity, one.code))
            .or_default() += 1;
    }
    let mut row = format!(
        "{name}: {} found, {} selected, {} published, {} dropped, largest definition {largest} bytes\n",
        counts.found, counts.selected, counts.published, counts.dropped
    );
    for (kind, count) in kinds {
        writeln!(row, "  {count} {kind}").unwrap();
    }
    row
}

fn check_all(root: &Path) -> String {
    let unpacked = tempfile::tempdir().unwrap();
    let (mut table, mut selected, mut published) = (String::new(), 0, 0);
    for (name, path) in documents(root, unpacked.path()) {
        let (operations, report) = read_file(&path);
        table.push_str(&check(&name, &operations, &report));
        selected += report.counts.selected;
        published += report.counts.published;
    }
    assert!(
        selected > 0,
        "there are no documents under {}",
        root.display()
    );
    assert!(
        published * 1_000 >= selected * 995,
        "{published} of {selected} operations are published, which is under 99.5 %:\n{table}"
    );
    writeln!(
        table,
        "together: {selected} selected, {published} published"
    )
    .unwrap();
    table
}

#[test]
fn every_operation_is_accounted_for() {
    let table = check_all(&fixtures());
    let path = fixtures().join("counts.txt");
    if std::env::var_os("UPDATE_COUNTS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == table,
        "reading came to something else; look at it and run the test with UPDATE_COUNTS=1:\n{table}"
    );
}

#[test]
fn documents_named_by_the_environment_are_accounted_for() {
    if let Some(root) = std::env::var_os("SEZZLEE_DOCUMENTS") {
        println!("{}", check_all(Path::new(&root)));
    }
}
