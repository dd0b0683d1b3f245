//! What one `tools/call` of `search_tools` costs over loopback, beside a bare handler that returns the same
//! bytes.
//!
//! Both are asked by the same client in this process, over 16 connections that are kept, in rounds that take
//! turns; what is told is the median round. CPU time is the whole process's, so the client's part is in both
//! columns and falls out of their difference. The gateway is the one that serves: accept loop, limits,
//! protocol, tools, index. The third column is the verb alone, called in process by one thread.
//!
//! Catalogue: the demo's document, or the sources that are named.
//!
//! ```sh
//! cargo bench --bench tools_call -- [--query TEXT] [--calls COUNT] [SOURCE…]
//! ```
#![expect(clippy::print_stdout, reason = "its table is what it is for")]

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use sezzlee::access::Caller;
use sezzlee::catalog::{self, FileLoader, LoadError, Loader, ReadOptions, SourceTarget};
use sezzlee::index::{self, BuildOptions, Builder, Reader};
use sezzlee::invoke::Invoker;
use sezzlee::mcp::{self, Dispatcher, Stopper};
use sezzlee::tools::{Generations, MetaTools};
use sezzlee::{demo, http, server};

/// Connections that are kept, each with one call in flight.
const CONNECTIONS: usize = 16;

/// Rounds of each side; odd, so that one is the median.
const ROUNDS: usize = 5;

/// Calls of one round, unless told otherwise.
const CALLS_DEFAULT: usize = 4_000;

/// Words of a person, met by several operations of the demo.
const QUERY_DEFAULT: &str = "cancel order";

struct Plan {
    query: String,
    calls: usize,
    sources: Vec<String>,
}

/// The demo's document, whatever is asked for.
struct Demo;

impl Loader for Demo {
    fn open(&self, _: &SourceTarget, _: Option<u64>) -> Result<Box<dyn Read + Send>, LoadError> {
        Ok(Box::new(Cursor::new(demo::DOCUMENT)))
    }
}

/// One round, or the median of some.
#[derive(Debug, Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
}

fn main() -> anyhow::Result<()> {
    let plan = plan()?;
    let reader = reader(&plan)?;
    let operations = reader.len();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(&plan, reader, operations))
}

fn plan() -> anyhow::Result<Plan> {
    let mut plan = Plan {
        query: QUERY_DEFAULT.to_owned(),
        calls: CALLS_DEFAULT,
        sources: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // What cargo adds.
            "--bench" => {}
            "--query" => plan.query = words.next().context("--query needs a text")?,
            "--calls" => {
                let count = words.next().context("--calls needs a count")?;
                plan.calls = count.parse().context("--calls needs a count")?;
            }
            flag if flag.starts_with("--") => bail!("there is no flag {flag}"),
            _ => plan.sources.push(word),
        }
    }
    ensure!(
        plan.calls >= CONNECTIONS,
        "--calls is at least {CONNECTIONS}"
    );
    Ok(plan)
}

fn reader(plan: &Plan) -> anyhow::Result<Reader> {
    if let [one] = plan.sources.as_slice()
        && Path::new(one).join("CURRENT").is_file()
    {
        return Ok(index::open_current(Path::new(one))?);
    }
    let (sources, loader): (Vec<String>, &dyn Loader) = if plan.sources.is_empty() {
        (vec!["shop.yaml".to_owned()], &Demo)
    } else {
        (plan.sources.clone(), &FileLoader)
    };
    let mut builder = Builder::in_memory(BuildOptions::default());
    let report = catalog::read(&sources, &ReadOptions::default(), loader, &mut builder)?;
    ensure!(!report.documents.is_empty(), "no source could be read");
    Ok(builder.finish()?.reader)
}

async fn measure(plan: &Plan, reader: Reader, operations: u32) -> anyhow::Result<()> {
    let client = http::Client::new(http::Settings::default())?;
    let invoker = Invoker::new(client, sezzlee::invoke::Settings::default());
    let generations = Arc::new(Generations::new(reader));
    let tools = MetaTools::new(generations, invoker, sezzlee::tools::Settings::default());

    let stopper = Stopper::new();
    let bound = server::bind(server::Settings {
        listen: ([127, 0, 0, 1], 0).into(),
        ..server::Settings::default()
    })?;
    let gateway = format!("http://{}{}", bound.addr(), mcp::PATH);
    let dispatcher = Dispatcher::new(Arc::new(tools.clone()), mcp::Settings::default());
    let routes = mcp::router(mcp::PATH, Arc::new(dispatcher), stopper.listener());
    let serving = tokio::spawn(bound.serve(routes, || true, stopper.listener()));

    let arguments = json!({"query": plan.query});
    let message = message(&arguments);
    let asking = client_of_both()?;
    let answer = ask(&asking, &gateway, &message).await?;
    let said: Value = serde_json::from_slice(&answer)?;
    ensure!(
        said["result"]["isError"].is_null() && said["result"]["content"].is_array(),
        "the gateway did not answer with results: {said}"
    );

    let bare = bare(answer.clone()).await?;
    // Both sides are warm before anything counts.
    round(&asking, &gateway, &message, plan.calls / 4, answer.len()).await?;
    round(&asking, &bare, &message, plan.calls / 4, answer.len()).await?;
    let (mut gateways, mut bares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        gateways.push(round(&asking, &gateway, &message, plan.calls, answer.len()).await?);
        bares.push(round(&asking, &bare, &message, plan.calls, answer.len()).await?);
    }
    let verb = tokio::task::block_in_place(|| verb_alone(&tools, &arguments, plan.calls))?;
    stopper.stop();
    serving.await?;

    println!(
        "{operations} operations, query {:?}, an answer of {} bytes, {CONNECTIONS} connections, {ROUNDS} rounds of {} calls",
        plan.query,
        answer.len(),
        plan.calls
    );
    println!("{:<28} {:>12} {:>18}", "", "calls/s", "CPU µs a call");
    let (gateway, bare) = (median(gateways), median(bares));
    for (name, cost) in [
        ("gateway", gateway),
        ("bare handler", bare),
        ("verb alone, one thread", verb),
    ] {
        println!(
            "{name:<28} {:>12.0} {:>18.1}",
            plan.calls as f64 / cost.wall.as_secs_f64(),
            micros_a_call(cost, plan.calls)
        );
    }
    println!(
        "{:<28} {:>12.2} {:>18.1}",
        "gateway beside bare",
        bare.wall.as_secs_f64() / gateway.wall.as_secs_f64(),
        micros_a_call(gateway, plan.calls) - micros_a_call(bare, plan.calls)
    );
    Ok(())
}

/// The call as a client of the current revision sends it.
fn message(arguments: &Value) -> Bytes {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": mcp::MODERN_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "search_tools", "arguments": arguments, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    Bytes::from(call.to_string())
}

fn client_of_both() -> anyhow::Result<reqwest::Client> {
    Ok(reqwest::Client::builder()
        .no_proxy()
        .http1_only()
        .pool_max_idle_per_host(CONNECTIONS)
        .tcp_nodelay(true)
        .build()?)
}

/// The handler to compare with: no middleware, no parsing, fixed bytes.
async fn bare(answer: Bytes) -> anyhow::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}{}", listener.local_addr()?, mcp::PATH);
    let routes = Router::new().route(
        mcp::PATH,
        // Taking the body makes the connection fit for the next request.
        post(|_body: Bytes| async move { ([(CONTENT_TYPE, "application/json")], answer) }),
    );
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(url)
}

async fn ask(client: &reqwest::Client, url: &str, message: &Bytes) -> anyhow::Result<Bytes> {
    let answer = client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header("mcp-protocol-version", mcp::MODERN_VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "search_tools")
        .body(message.clone())
        .send()
        .await?;
    ensure!(answer.status().is_success(), "answered {}", answer.status());
    Ok(answer.bytes().await?)
}

/// Makes `calls` calls over all connections, each of which must be answered with `bytes` bytes.
async fn round(
    client: &reqwest::Client,
    url: &str,
    message: &Bytes,
    calls: usize,
    bytes: usize,
) -> anyhow::Result<Cost> {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let mut lanes = tokio::task::JoinSet::new();
    for lane in 0..CONNECTIONS {
        let (client, url, message) = (client.clone(), url.to_owned(), message.clone());
        let share = calls / CONNECTIONS + usize::from(lane < calls % CONNECTIONS);
        lanes.spawn(async move {
            for _ in 0..share {
                let answer = ask(&client, &url, &message).await?;
                ensure!(answer.len() == bytes, "an answer of {} bytes", answer.len());
            }
            anyhow::Ok(())
        });
    }
    while let Some(lane) = lanes.join_next().await {
        lane??;
    }
    Ok(Cost {
        wall: wall.elapsed(),
        cpu: cpu.elapsed(),
    })
}

/// The search without protocol and sockets.
fn verb_alone(tools: &MetaTools, arguments: &Value, calls: usize) -> anyhow::Result<Cost> {
    let arguments = arguments.as_object().context("arguments are an object")?;
    let caller = Caller::anonymous();
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    for _ in 0..calls {
        ensure!(!tools.search(&caller, arguments).is_error(), "it failed");
    }
    Ok(Cost {
        wall: wall.elapsed(),
        cpu: cpu.elapsed(),
    })
}

/// The median of wall and of CPU time, each by itself.
fn median(mut rounds: Vec<Cost>) -> Cost {
    let middle = rounds.len() / 2;
    rounds.sort_by_key(|cost| cost.wall);
    let wall = rounds[middle].wall;
    rounds.sort_by_key(|cost| cost.cpu);
    let cpu = rounds[middle].cpu;
    Cost { wall, cpu }
}

fn micros_a_call(cost: Cost, calls: usize) -> f64 {
    cost.cpu.as_secs_f64() * 1e6 / calls as f64
}
