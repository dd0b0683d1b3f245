//! Search by query class: CPU time of the thread, ours against the engine's own union, interleaved.
//!
//! What: the best 20 of a query, for six classes of at least 200 queries; every query runs on both sides,
//! one right after the other, best of three. Beside them a naive scan of some queries of each class.
//! Corpus: `synthetic::Catalogue` of seed 1. How: `cargo bench --bench classes -- 100000 1000000`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::needless_for_each
)]

#[path = "support/baseline.rs"]
mod baseline;
#[path = "support/naive.rs"]
mod naive;

use std::sync::Arc;
use std::time::{Duration, Instant};

use baseline::Baseline;
use cpu_time::ThreadTime;
use serde_json::{Map, Value};
use sezzlee::access::Caller;
use sezzlee::http;
use sezzlee::index::{BuildOptions, Builder, Filter, Reader};
use sezzlee::invoke::{self, Invoker};
use sezzlee::synthetic::{Catalogue, Class, queries};
use sezzlee::tools::{Generations, MetaTools, Settings};

const SEED: u64 = 1;
const LIMIT: usize = 20;
const QUERIES: usize = 200;
const RUNS: usize = 3;
/// The naive scan takes tens of milliseconds a query and serves as a landmark only.
const NAIVE_QUERIES: usize = 3;

fn main() {
    let mut sizes: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes.push(100_000);
    }
    for size in sizes {
        measure(size);
    }
}

fn measure(size: usize) {
    let catalogue = Catalogue::new(SEED, size);
    let started = Instant::now();
    let mut builder = Builder::in_memory(BuildOptions::default());
    let mut order = Vec::with_capacity(size);
    for (at, operation) in catalogue.operations().enumerate() {
        order.push((operation.definition.name.clone(), at));
        builder.push(operation).unwrap();
    }
    let reader = builder.finish().unwrap().reader;
    println!(
        "{size} operations: ours built in {:.1} s",
        started.elapsed().as_secs_f64()
    );
    let started = Instant::now();
    order.sort_unstable();
    let baseline = Baseline::build(order.iter().map(|(_, at)| catalogue.operation(*at)));
    println!("baseline built in {:.1} s", started.elapsed().as_secs_f64());
    let naive = naive::Naive::new(order.iter().map(|(_, at)| catalogue.operation(*at)));

    let generations = Arc::new(Generations::new(reader));
    let generation = generations.current();
    let reader = &generation.reader;
    let client = http::Client::new(http::Settings::default()).unwrap();
    let invoker = Invoker::new(client, invoke::Settings::default());
    let tools = MetaTools::new(generations, invoker, Settings::default());
    let page = |query: &str| {
        let mut arguments = Map::new();
        arguments.insert("query".to_owned(), Value::from(query));
        tools.search(&Caller::anonymous(), &arguments).text().len()
    };

    println!(
        "| class | ours mean | p50 | p99 | union mean | p50 | p99 | ratio mean | p50 | p99 | naive mean | page mean | page to search |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    let mut naive_all = Vec::new();
    for class in Class::ALL {
        let mut ours = Vec::new();
        let mut union = Vec::new();
        let mut scan = Vec::new();
        let mut pages = Vec::new();
        for (number, query) in queries(SEED, class, QUERIES).iter().enumerate() {
            let found = top(reader, query);
            if number < NAIVE_QUERIES {
                let started = ThreadTime::now();
                let expected = naive.top(query, LIMIT);
                scan.push(started.elapsed());
                assert_eq!(found, expected, "{query}");
            }
            ours.push(best(|| top(reader, query).len()));
            pages.push(best(|| page(query)));
            union.push(best(|| baseline.top(query, LIMIT)));
        }
        row(
            class.as_str(),
            &mut ours.clone(),
            &mut union.clone(),
            &scan,
            &pages,
        );
        all.0.append(&mut ours);
        all.1.append(&mut union);
        all.2.append(&mut pages);
        naive_all.append(&mut scan);
    }
    row("all", &mut all.0, &mut all.1, &naive_all, &all.2);
}

/// Document numbers and score bits.
fn top(reader: &Reader, query: &str) -> Vec<(u32, u64)> {
    let filter = Filter {
        tags: &[],
        shown: &[true],
    };
    let hits = reader.top(query, filter, LIMIT).unwrap();
    hits.iter()
        .map(|hit| (hit.document, hit.score.to_bits()))
        .collect()
}

fn best<T>(run: impl Fn() -> T) -> Duration {
    (0..RUNS)
        .map(|_| {
            let started = ThreadTime::now();
            std::hint::black_box(run());
            started.elapsed()
        })
        .min()
        .unwrap()
}

fn row(
    name: &str,
    ours: &mut [Duration],
    union: &mut [Duration],
    naive: &[Duration],
    pages: &[Duration],
) {
    let [a, b] = [ours, union].map(|times| {
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let mean = times.iter().copied().map(ms).sum::<f64>() / times.len() as f64;
        [
            mean,
            ms(times[times.len() / 2]),
            ms(times[times.len() * 99 / 100]),
        ]
    });
    let mean = |times: &[Duration]| {
        times
            .iter()
            .map(|time| time.as_secs_f64() * 1e3)
            .sum::<f64>()
            / times.len() as f64
    };
    let (naive, page) = (mean(naive), mean(pages));
    println!(
        "| {name} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} | {naive:.1} | {page:.3} | {:.2} |",
        a[0],
        a[1],
        a[2],
        b[0],
        b[1],
        b[2],
        a[0] / b[0],
        a[1] / b[1],
        a[2] / b[2],
        page / a[0]
    );
}
