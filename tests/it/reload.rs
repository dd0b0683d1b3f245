//! Reloads under load, over the wire: every answer is one generation's, nobody is disturbed, and a broken
//! catalogue changes nothing. The figures are those of the case `35-reload-is-atomic`.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sezzlee::catalog::{self, FileLoader, ReadOptions};
use sezzlee::http::{self, AllowedHosts};
use sezzlee::index::{BuildOptions, Builder, Reader};
use sezzlee::invoke::{self, Invoker};
use sezzlee::mcp::{self, Dispatcher, Stopper};
use sezzlee::server::{self, Drained, Outcome, Reloader, Trigger};
use sezzlee::tools::{Generations, MetaTools, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::http_backend::{Backend, Step, json_response};
use crate::mcp_fake::{headers_of, legacy, modern};

const PATIENCE: Duration = Duration::from_mins(1);

/// Operations of a version, and how many of them the next renames.
const OPERATIONS: usize = 1000;
const RENAMED: usize = 10;

/// At least this many answers of each kind are checked in each state.
const ANSWERS_MIN: usize = 40;

/// A document of which some operations have the version's own name.
fn document(word: &str) -> String {
    let mut text = "openapi: 3.1.0\ninfo: {title: Case, version: '1'}\npaths:\n".to_owned();
    for number in 0..OPERATIONS {
        let name = if number < RENAMED {
            format!("{word}_{number}")
        } else {
            format!("steady_{number}")
        };
        write!(
            text,
            "  /things/{number}:\n    get:\n      operationId: {name}\n      \
             responses: {{'200': {{description: fine}}}}\n"
        )
        .unwrap();
    }
    text
}

fn read(path: &Path, base_url: &str) -> Result<Reader, String> {
    let mut builder = Builder::in_memory(BuildOptions::default());
    let options = ReadOptions {
        base_url: Some(base_url.parse().unwrap()),
        ..ReadOptions::default()
    };
    let sources = [path.display().to_string()];
    let report = catalog::read(&sources, &options, &FileLoader, &mut builder).unwrap();
    if report.documents.is_empty() {
        return Err(report.diagnostics[0].to_string());
    }
    Ok(builder.finish().unwrap().reader)
}

struct Gateway {
    _directory: tempfile::TempDir,
    source: PathBuf,
    generations: Arc<Generations>,
    reloader: Reloader,
    addr: SocketAddr,
    stopper: Stopper,
    served: JoinHandle<Drained>,
}

impl Gateway {
    fn start(base_url: String, tools: Settings) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("case.yaml");
        std::fs::write(&source, document("alpha")).unwrap();
        let generations = Arc::new(Generations::new(read(&source, &base_url).unwrap()));
        let mut allowed = AllowedHosts::none();
        allowed.allow("127.0.0.1").unwrap();
        let client = http::Client::new(http::Settings {
            allowed,
            ..http::Settings::default()
        });
        let invoker = Invoker::new(client.unwrap(), invoke::Settings::default());
        let tools = MetaTools::new(Arc::clone(&generations), invoker, tools);
        let stopper = Stopper::new();
        let dispatcher = Dispatcher::new(Arc::new(tools), mcp::Settings::default());
        let routes = mcp::router(mcp::PATH, Arc::new(dispatcher), stopper.listener());
        let bound = server::bind(server::Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            ..server::Settings::default()
        });
        let bound = bound.unwrap();
        let addr = bound.addr();
        let served = tokio::spawn(bound.serve(routes, || true, stopper.listener()));
        let path = source.clone();
        let reloader = Reloader::new(Arc::clone(&generations), move || {
            read(&path, &base_url).map(Some)
        });
        Self {
            _directory: directory,
            source,
            generations,
            reloader,
            addr,
            stopper,
            served,
        }
    }

    async fn put(&self, text: &str) -> Outcome {
        // Put in place by renaming, as a source that is read any time should be.
        let staged = self.source.with_extension("new");
        std::fs::write(&staged, text).unwrap();
        std::fs::rename(&staged, &self.source).unwrap();
        self.reloader.reload(Trigger::Admin).await.outcome
    }
}

/// A client with one connection.
struct Client {
    socket: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    async fn connect(addr: SocketAddr) -> Self {
        Self {
            socket: TcpStream::connect(addr).await.unwrap(),
            unread: Vec::new(),
        }
    }

    async fn send(&mut self, message: &Value, headers: &[(String, String)]) {
        let body = message.to_string();
        let mut text =
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                .to_owned();
        for (name, value) in headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until what was read satisfies, and takes it.
    async fn take(&mut self, enough: impl Fn(&[u8]) -> Option<usize>) -> String {
        let read = async {
            loop {
                if let Some(end) = enough(&self.unread) {
                    let taken: Vec<u8> = self.unread.drain(..end).collect();
                    return String::from_utf8(taken).unwrap();
                }
                assert!(
                    self.socket.read_buf(&mut self.unread).await.unwrap() > 0,
                    "closed"
                );
            }
        };
        timeout(PATIENCE, read).await.unwrap()
    }

    /// One request and its result.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&legacy(1, method, params), &[]).await;
        let answer = self
            .take(|bytes| {
                let head = find(bytes, b"\r\n\r\n")? + 4;
                let text = std::str::from_utf8(&bytes[..head])
                    .unwrap()
                    .to_ascii_lowercase();
                let length = text
                    .split("content-length: ")
                    .nth(1)?
                    .split("\r\n")
                    .next()?;
                let end = head + length.parse::<usize>().unwrap();
                (bytes.len() >= end).then_some(end)
            })
            .await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let answer: Value = serde_json::from_str(body).unwrap();
        answer["result"].clone()
    }

    /// One call and what its text holds, or the code of its error.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let result = self
            .ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await;
        let text = result["content"][0]["text"].as_str().unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        if result.get("isError").is_some() {
            return Err(value["error"].as_str().unwrap().to_owned());
        }
        Ok(value)
    }

    /// The stamp of the generation that lists.
    async fn stamp(&mut self) -> u64 {
        let listed = self.ask("tools/list", json!({})).await;
        let stamps: Vec<u64> = listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["_meta"]["sezzlee/catalogGeneration"].as_u64().unwrap())
            .collect();
        assert_eq!(stamps, [stamps[0]; 3], "one list, one generation");
        stamps[0]
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Which version each generation is of.
fn word_of(stamp: u64) -> &'static str {
    ["alpha", "omega", "zeta"][usize::try_from(stamp).unwrap()]
}

/// Asks until told to stop; counts what was asked.
struct Load {
    addr: SocketAddr,
    is_over: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Load {
    async fn each<F: AsyncFnMut(&mut Client)>(self, mut one: F) {
        let mut client = Client::connect(self.addr).await;
        while !self.is_over.load(Ordering::SeqCst) {
            one(&mut client).await;
            self.asked.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Searches that find the renamed operations: all of one version, and of the version that listed before
    /// and after, if that is the same.
    async fn search(self) {
        self.each(async |client| {
            let before = client.stamp().await;
            let query = json!({"query": "alpha omega zeta", "limit": 50});
            let page = client.call("search_tools", query).await.unwrap();
            let after = client.stamp().await;
            assert_eq!(page["total"], json!(OPERATIONS), "{page}");
            let names: Vec<&str> = page["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|card| card["name"].as_str().unwrap())
                .filter(|name| !name.starts_with("steady"))
                .collect();
            assert_eq!(names.len(), RENAMED, "{page}");
            let word = names[0].split('_').next().unwrap();
            assert!(
                names.iter().all(|name| name.starts_with(word)),
                "mixed: {names:?}"
            );
            assert!(before <= after);
            let words: Vec<&str> = (before..=after).map(word_of).collect();
            assert!(
                words.contains(&word),
                "{word} of generations {before} to {after}"
            );
        })
        .await;
    }

    /// A renamed operation is there or not, as the generation has it.
    async fn load(self) {
        self.each(async |client| {
            let before = client.stamp().await;
            let loaded = client.call("load_tool", json!({"name": "alpha_3"})).await;
            let after = client.stamp().await;
            match loaded {
                Ok(definition) => {
                    assert_eq!(definition["name"], "alpha_3");
                    assert_eq!(before, 0, "loaded after it was renamed");
                }
                Err(code) => {
                    assert_eq!(code, "unknown_tool");
                    assert!(after > 0, "missed while it was there");
                }
            }
        })
        .await;
    }

    /// A steady operation can be called all the time.
    async fn invoke(self) {
        self.each(async |client| {
            let call = json!({"name": "steady_500", "arguments": {}});
            let answer = client.call("invoke_tool", call).await.unwrap();
            assert_eq!(answer["status"], 200);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_answer_is_of_one_generation() {
    let case = include_str!("../cases/35-reload-is-atomic.json");
    let case: Value = serde_json::from_str(case).unwrap();
    // What is held to below: one notification for each swap and no other message between, no error.
    let expected = &case["expected"];
    assert_eq!(expected["list_changed_sent"], json!({"v2": 1, "v3": 0}));
    assert_eq!(expected["errors"], 0);
    let body = json_response(200, "{\"fine\":true}");
    let backend = Backend::start(move |_| vec![Step::Send(body.clone()), Step::Keep]).await;
    let gateway = Gateway::start(backend.url(""), Settings::default());

    // Someone listens for tool changes.
    let mut listener = Client::connect(gateway.addr).await;
    let listen = modern(
        "l",
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    listener.send(&listen, &headers_of(&listen)).await;
    let event = |bytes: &[u8]| {
        let start = find(bytes, b"data: ")?;
        Some(start + find(&bytes[start..], b"\n\n")? + 2)
    };
    assert!(listener.take(event).await.contains("acknowledged"));

    let is_over = Arc::new(AtomicBool::new(false));
    let asked: Vec<Arc<AtomicUsize>> = (0..5).map(|_| Arc::default()).collect();
    let load = |number: usize| Load {
        addr: gateway.addr,
        is_over: Arc::clone(&is_over),
        asked: Arc::clone(&asked[number]),
    };
    let mut clients = tokio::task::JoinSet::new();
    clients.spawn(load(0).search());
    clients.spawn(load(1).search());
    clients.spawn(load(2).load());
    clients.spawn(load(3).load());
    clients.spawn(load(4).invoke());
    // Every client has had so many answers more. When one of them failed, the count stands still and its
    // failure is what is told.
    let more = async |clients: &mut tokio::task::JoinSet<()>| {
        let wanted: Vec<usize> = asked
            .iter()
            .map(|asked| asked.load(Ordering::SeqCst) + ANSWERS_MIN)
            .collect();
        let reached = || {
            let mut counts = asked.iter().zip(&wanted);
            counts.all(|(asked, wanted)| asked.load(Ordering::SeqCst) >= *wanted)
        };
        while !reached() {
            if let Some(failed) = clients.try_join_next() {
                failed.unwrap();
            }
            tokio::task::yield_now().await;
        }
    };

    more(&mut clients).await;
    let old = Arc::downgrade(&gateway.generations.current());
    assert_eq!(
        gateway.put(&document("omega")).await,
        Outcome::Swapped { generation: 1 }
    );
    assert!(listener.take(event).await.contains("tools/list_changed"));
    more(&mut clients).await;
    assert!(old.upgrade().is_none(), "the first generation is freed");

    let Outcome::Refused { reason } = gateway.put("openapi: [\n").await else {
        panic!("it is broken");
    };
    assert!(reason.contains("case.yaml"), "{reason}");
    more(&mut clients).await;
    let status = gateway.reloader.status();
    assert_eq!((status.generation, status.operations), (1, 1000));
    assert!(matches!(
        status.last.unwrap().outcome,
        Outcome::Refused { .. }
    ));

    // The same again is no news, and the next news is the next that is heard.
    assert_eq!(gateway.put(&document("omega")).await, Outcome::Unchanged);
    assert_eq!(
        gateway.put(&document("zeta")).await,
        Outcome::Swapped { generation: 2 }
    );
    assert!(listener.take(event).await.contains("tools/list_changed"));
    more(&mut clients).await;
    is_over.store(true, Ordering::SeqCst);
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    assert_eq!(gateway.generations.current().number, 2);

    gateway.stopper.stop();
    let last = listener.take(event).await;
    assert!(
        last.contains("\"id\":\"l\""),
        "one notification a swap, then the end: {last}"
    );
    assert_eq!(gateway.served.await.unwrap(), Drained::Clean);
}

/// More searches than threads: each is answered, or refused in words that say to come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overload_is_answered() {
    let gateway = Gateway::start(
        "http://127.0.0.1:9".to_owned(),
        Settings {
            search_threads: 1,
            search_wait_max: Duration::ZERO,
            ..Settings::default()
        },
    );
    let is_refused = Arc::new(AtomicBool::new(false));
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let mut client = Client::connect(gateway.addr).await;
        let is_refused = Arc::clone(&is_refused);
        clients.spawn(async move {
            let query = json!({"name": "search_tools", "arguments": {"query": "alpha steady", "limit": 50}});
            while !is_refused.load(Ordering::SeqCst) {
                let result = client.ask("tools/call", query.clone()).await;
                if result.get("isError").is_none() {
                    continue;
                }
                let text = result["content"][0]["text"].as_str().unwrap();
                let error: Value = serde_json::from_str(text).unwrap();
                assert_eq!(
                    error,
                    json!({
                        "error": "search_ranker_unavailable",
                        "message": "too many searches are running; search again shortly",
                        "retryable": true,
                        "retryAfterSeconds": 1
                    })
                );
                is_refused.store(true, Ordering::SeqCst);
            }
        });
    }
    // Eight at once over one thread that nobody waits for: some search meets another.
    timeout(PATIENCE, clients.join_all()).await.unwrap();
}
