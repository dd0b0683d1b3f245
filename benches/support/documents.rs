//! Reading documents beside a plain parse of the same bytes into generic values.
//!
//! Parsing (with its limits, repeated keys, digits kept, YAML made JSON) may take four times the CPU time of
//! the plain parse; the bench fails over that. What the whole way to operations takes is told. Documents are
//! those under `SEZZLEE_DOCUMENTS` (a file or a directory; `.zst` is unpacked), else generated ones.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cpu_time::ProcessTime;
use criterion::{Criterion, Throughput};
use saphyr::{LoadableYamlNode as _, Yaml};
use serde_json::{Map, Value, json};
use sezzlee::catalog::{
    self, LoadError, Loader, Operation, ReadOptions, Sink, SinkError, SourceTarget,
};
use sezzlee::synthetic::Catalogue;

/// Parsing may take so many times the CPU time of a plain parse.
const RATIO_MAX: f64 = 4.0;

/// Each way is timed so often, in turn with the others; the shortest time counts.
const ROUNDS: usize = 5;

/// Smaller documents say more about the machine than about parsing.
const BYTES_MIN: usize = 256 * 1024;

struct Document {
    name: String,
    bytes: Vec<u8>,
    is_json: bool,
}

/// Criterion's group: times of all ways for every document, and the ratios.
pub(crate) fn read_and_parse(c: &mut Criterion) {
    for document in documents() {
        let mut group = c.benchmark_group(format!("document {}", document.name));
        group.sample_size(10);
        group.throughput(Throughput::Bytes(document.bytes.len() as u64));
        group.bench_function("plain parse", |b| b.iter(|| plain(&document)));
        group.bench_function("parse", |b| b.iter(|| parse(&document)));
        group.bench_function("read", |b| b.iter(|| read(&document)));
        group.finish();
        ratios(&document);
    }
}

fn ratios(document: &Document) {
    let [mut base, mut parsed, mut whole] = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        base = base.min(timed(|| plain(document)));
        parsed = parsed.min(timed(|| parse(document)));
        whole = whole.min(timed(|| read(document)));
    }
    let ratio = parsed.as_secs_f64() / base.as_secs_f64();
    println!(
        "{}: plain {base:.1?}, parse {parsed:.1?} ({ratio:.2} ×), read {whole:.1?} ({:.2} ×), CPU time",
        document.name,
        whole.as_secs_f64() / base.as_secs_f64()
    );
    assert!(
        ratio <= RATIO_MAX,
        "parsing {} takes over {RATIO_MAX} times a plain parse",
        document.name
    );
}

fn timed(run: impl Fn()) -> Duration {
    let start = ProcessTime::now();
    run();
    start.elapsed()
}

fn plain(document: &Document) {
    if document.is_json {
        let value: Value = serde_json::from_slice(&document.bytes).unwrap();
        black_box(value);
    } else {
        let text = std::str::from_utf8(&document.bytes).unwrap();
        black_box(Yaml::load_from_str(text).unwrap());
    }
}

fn parse(document: &Document) {
    black_box(catalog::read_text(document.bytes.clone(), document.is_json).unwrap());
}

fn read(document: &Document) {
    let mut count = Count(0);
    let options = ReadOptions {
        threads: Some(1),
        ..ReadOptions::default()
    };
    let name = if document.is_json { "d.json" } else { "d.yaml" };
    let report = catalog::read(&[name.to_owned()], &options, &One(document), &mut count);
    assert!(report.unwrap().counts.published > 0);
}

struct Count(u32);

impl Sink for Count {
    fn operation(&mut self, operation: Operation) -> Result<u32, SinkError> {
        black_box(operation);
        self.0 += 1;
        Ok(self.0 - 1)
    }

    fn rename(&mut self, _ordinal: u32, _name: &str) -> Result<(), SinkError> {
        Ok(())
    }
}

/// The bytes of one document, whatever is asked for.
struct One<'d>(&'d Document);

impl Loader for One<'_> {
    fn open(
        &self,
        _target: &SourceTarget,
        _bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        Ok(Box::new(Cursor::new(self.0.bytes.clone())))
    }
}

fn documents() -> Vec<Document> {
    let Some(path) = std::env::var_os("SEZZLEE_DOCUMENTS") else {
        return generated();
    };
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(path)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|one| one.unwrap().path()));
        } else {
            found.extend(document(&path).filter(|one| one.bytes.len() >= BYTES_MIN));
        }
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.bytes.len()));
    found
}

fn document(path: &Path) -> Option<Document> {
    let mut path = path.to_owned();
    let mut bytes = fs::read(&path).unwrap();
    if path.extension().is_some_and(|ending| ending == "zst") {
        bytes = zstd::decode_all(bytes.as_slice()).unwrap();
        path.set_extension("");
    }
    let name = path.file_name()?.to_str()?.to_owned();
    let ending = path.extension()?;
    let is_json = ending == "json";
    let is_yaml = ending == "yaml" || ending == "yml";
    (is_json || is_yaml).then_some(Document {
        name,
        bytes,
        is_json,
    })
}

/// One document of generated operations, in both languages.
fn generated() -> Vec<Document> {
    let mut paths = Map::new();
    for operation in Catalogue::new(1, 2_000).operations() {
        let definition = &operation.definition;
        let described = json!({
            "operationId": definition.name,
            "summary": definition.description,
            "tags": operation.tags,
            "requestBody": {"content": {"application/json": {"schema": definition.input_schema}}},
            "responses": {"200": {"description": "done"}},
        });
        paths.insert(format!("/{}", definition.name), json!({"post": described}));
    }
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "Generated", "version": "1"},
        "servers": [{"url": "https://generated.test"}], "paths": paths,
    });
    let mut yaml = String::new();
    write_yaml(&document, 0, &mut yaml);
    let pretty = serde_json::to_vec_pretty(&document).unwrap();
    [
        ("generated.json", pretty, true),
        ("generated.yaml", yaml.into_bytes(), false),
    ]
    .into_iter()
    .map(|(name, bytes, is_json)| Document {
        name: name.to_owned(),
        bytes,
        is_json,
    })
    .collect()
}

/// Block YAML; words stand plain, other texts quoted.
fn write_yaml(value: &Value, indent: usize, out: &mut String) {
    let scalar = |value: &Value| match value.as_str() {
        Some(text)
            if text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '_')
                && !text.ends_with(' ')
                && !matches!(text, "null" | "true" | "false") =>
        {
            text.to_owned()
        }
        _ => value.to_string(),
    };
    let is_block = |value: &Value| match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    let pad = " ".repeat(indent);
    let mut line = |start: String, value: &Value| {
        if is_block(value) {
            writeln!(out, "{pad}{start}").unwrap();
            write_yaml(value, indent + 2, out);
        } else {
            writeln!(out, "{pad}{start} {}", scalar(value)).unwrap();
        }
    };
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, member)| line(format!("{}:", scalar(&Value::from(&**key))), member)),
        Value::Array(items) => items.iter().for_each(|item| line("-".to_owned(), item)),
        _ => {}
    }
}
