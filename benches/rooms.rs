//! Every room's own work, one group each.
//!
//! What: tokenizing; building; searching by catalogue size and kind of query, beside the engine's own ranked
//! union and a naive scan; explaining; pages of cards and of schemas; loading; canonical JSON and versions;
//! composing requests; mapping errors; reading documents beside a plain parse of the same bytes. Corpus:
//! `synthetic::Catalogue` of seed 1 and the demo's document. How: `cargo bench --bench rooms`;
//! SEZZLEE_BENCH_SIZES=1000,10000,100000,1000000 sets the sizes, SEZZLEE_DOCUMENTS=PATH the documents.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "support/baseline.rs"]
mod baseline;
#[path = "support/documents.rs"]
mod documents;
#[path = "support/naive.rs"]
mod naive;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use baseline::Baseline;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use naive::Naive;
use serde_json::{Map, Value, json};
use sezzlee::access::{Caller, OnUnknown, View};
use sezzlee::catalog::{self, FileLoader, Operation, ReadOptions};
use sezzlee::contract::Budget;
use sezzlee::index::{BuildOptions, Builder, Filter, Reader};
use sezzlee::invoke::{self, Invoker};
use sezzlee::synthetic::{Catalogue, Class, queries};
use sezzlee::tools::{Generations, MetaTools, Settings};
use sezzlee::{http, json as strict_json, search, text};

const SEED: u64 = 1;

fn operations(size: usize) -> Vec<Operation> {
    let mut operations: Vec<_> = Catalogue::new(SEED, size).operations().collect();
    operations.sort_unstable_by(|a, b| a.definition.name.cmp(&b.definition.name));
    operations
}

fn build(operations: &[Operation]) -> Reader {
    let mut builder = Builder::in_memory(BuildOptions::default());
    for operation in operations {
        builder.push(operation.clone()).unwrap();
    }
    builder.finish().unwrap().reader
}

fn tokenize(c: &mut Criterion) {
    let operations = operations(1_000);
    let bytes: usize = operations
        .iter()
        .map(|o| o.definition.description.len())
        .sum();
    let mut group = c.benchmark_group("tokenize");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("descriptions", |b| {
        b.iter(|| {
            let mut count = 0usize;
            for operation in &operations {
                text::for_each_token(&operation.definition.description, |token| {
                    count += token.len();
                });
            }
            count
        });
    });
    group.finish();
}

fn build_index(c: &mut Criterion) {
    let operations = operations(10_000);
    let mut group = c.benchmark_group("build");
    group.sample_size(10);
    group.throughput(Throughput::Elements(operations.len() as u64));
    group.bench_function("10000 operations in memory", |b| {
        b.iter_batched(
            || operations.clone(),
            |operations| {
                let mut builder = Builder::in_memory(BuildOptions::default());
                for operation in operations {
                    builder.push(operation).unwrap();
                }
                builder.finish().unwrap().reader.len()
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// The kinds of query of the search group: name, text, tag.
fn kinds(catalogue: &Catalogue) -> Vec<(&'static str, String, Vec<String>)> {
    let one = |class: Class| queries(SEED, class, 1).remove(0);
    let tag = vec![text::fold(&catalogue.tag(3))];
    vec![
        ("rare", one(Class::Rare), vec![]),
        ("common", "get".into(), vec![]),
        ("mixed", one(Class::Sentence), vec![]),
        ("6 tokens", "get list the user order item".into(), vec![]),
        ("listing", String::new(), vec![]),
        ("tag-filtered", "get user".into(), tag),
        ("nothing matches", "zzqqxx".into(), vec![]),
    ]
}

fn search_by_size(c: &mut Criterion) {
    let sizes = std::env::var("SEZZLEE_BENCH_SIZES").unwrap_or_else(|_| "1000,10000,100000".into());
    for size in sizes
        .split(',')
        .filter_map(|size| size.parse::<usize>().ok())
    {
        let catalogue = Catalogue::new(SEED, size);
        let operations = operations(size);
        let reader = build(&operations);
        let union = Baseline::build(operations.iter().cloned());
        let naive = Naive::new(operations.iter().cloned());
        drop(operations);
        let mut group = c.benchmark_group(format!("search {size}"));
        group.sample_size(10);
        for (kind, query, tags) in kinds(&catalogue) {
            let filter = Filter {
                tags: &tags,
                shown: &[true],
            };
            group.bench_function(BenchmarkId::new("exact", kind), |b| {
                b.iter(|| reader.top(black_box(&query), filter, 20).unwrap());
            });
            if query.is_empty() || !tags.is_empty() {
                // Neither landmark lists or filters.
                continue;
            }
            group.bench_function(BenchmarkId::new("engine's union", kind), |b| {
                b.iter(|| union.top(black_box(&query), 20));
            });
            group.bench_function(BenchmarkId::new("naive scan", kind), |b| {
                b.iter(|| naive.top(black_box(&query), 20));
            });
        }
        group.finish();
    }
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn answers(c: &mut Criterion) {
    let reader = build(&operations(10_000));
    let view = View::new(reader.audiences(), &Caller::anonymous(), OnUnknown::Show);
    let name = String::from_utf8(reader.card(77).unwrap().name().to_vec()).unwrap();
    let mut group = c.benchmark_group("answers 10000");
    group.bench_function("explain", |b| {
        b.iter(|| {
            search::explain(&reader, &view, "get user item", &name)
                .unwrap()
                .unwrap()
        });
    });
    let client = http::Client::new(http::Settings::default()).unwrap();
    let invoker = Invoker::new(client, invoke::Settings::default());
    let tools = MetaTools::new(
        Arc::new(Generations::new(reader)),
        invoker,
        Settings {
            budget: Budget::default(),
            ..Settings::default()
        },
    );
    let caller = Caller::anonymous();
    let cards = arguments(&json!({"query": "get user item"}));
    group.bench_function("page of 20 cards", |b| {
        b.iter(|| tools.search(&caller, &cards));
    });
    let schemas = arguments(&json!({"query": "get user item", "detail": "schema"}));
    group.bench_function("page of 20 schemas", |b| {
        b.iter(|| tools.search(&caller, &schemas));
    });
    let load = arguments(&json!({"name": name}));
    group.bench_function("load", |b| b.iter(|| tools.load(&caller, &load)));
    let absent = arguments(&json!({"name": "no_such_name"}));
    group.bench_function("load of an absent name", |b| {
        b.iter(|| tools.load(&caller, &absent));
    });
    group.finish();
}

fn definitions(c: &mut Criterion) {
    let operation = Catalogue::new(SEED, 100).operation(42);
    let object = Value::Object(operation.definition.to_object());
    let mut group = c.benchmark_group("definition");
    group.bench_function("canonical JSON", |b| {
        b.iter(|| strict_json::canonical(black_box(&object)));
    });
    group.bench_function("version", |b| {
        b.iter(|| black_box(&operation.definition).version());
    });
    group.finish();
}

fn calls(c: &mut Criterion) {
    let document = format!("{}/examples/shop/openapi.yaml", env!("CARGO_MANIFEST_DIR"));
    let mut shop: Vec<Operation> = Vec::new();
    let options = ReadOptions {
        base_url: Some("http://127.0.0.1:1".parse().unwrap()),
        ..ReadOptions::default()
    };
    catalog::read(&[document], &options, &FileLoader, &mut shop).unwrap();
    let named = |name: &str| shop.iter().find(|o| o.definition.name == name).unwrap();
    let mut group = c.benchmark_group("call");
    let list = named("list_orders").template.clone().unwrap();
    let query =
        json!({"status": ["pending", "shipped"], "limit": 5, "filter": {"currency": "EUR"}});
    let query = arguments(&query);
    group.bench_function("compose a query", |b| {
        b.iter(|| invoke::compose(&list, &query).unwrap());
    });
    for (name, text) in [
        (
            "filter an innocent message",
            "quantity must be between 1 and 100 for product 7",
        ),
        (
            "filter a stack trace",
            "java.lang.IllegalStateException: x\n\tat com.shop.Orders.cancel(Orders.java:42)",
        ),
    ] {
        group.bench_function(name, |b| b.iter(|| invoke::filter(black_box(text))));
    }
    group.finish();
}

/// Long enough for a ratio, short enough that four sizes with two landmarks each end within minutes.
fn quick() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
}

criterion_group!(
    name = benches;
    config = quick();
    targets = tokenize,
    build_index,
    search_by_size,
    answers,
    definitions,
    calls,
    documents::read_and_parse
);
criterion_main!(benches);
