//! A surface of three tools that answers at the tests' word, and the wires to it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use sezzlee::access::Caller;
use sezzlee::contract::{Budget, Envelope, ErrorEnvelope, ToolResult, emit};
use sezzlee::invoke::{Answer, AnswerBody};
use sezzlee::mcp::{Dispatcher, Settings, Stopper};
use sezzlee::tools::{InvalidCursor, Listing, Surface, UnknownTool};
use tokio::sync::{Notify, Semaphore, watch};
use tower::ServiceExt as _;

/// `search_tools` echoes its arguments, `load_tool` fails, `invoke_tool` waits to be released, or panics when
/// its arguments say so.
pub(crate) struct Fake {
    pub(crate) generation: watch::Sender<u64>,
    /// Lets `invoke_tool` end, one call a permit.
    pub(crate) release: Semaphore,
    /// Calls of `invoke_tool` that have begun, and those that ended or were dropped.
    begun: AtomicUsize,
    over: AtomicUsize,
    changed: Notify,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            generation: watch::Sender::new(0),
            release: Semaphore::new(0),
            begun: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }
}

impl Fake {
    /// Another generation serves.
    pub(crate) fn swap(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }

    /// Waits until this many calls of `invoke_tool` have begun and this many are over.
    pub(crate) async fn calls(&self, begun: usize, over: usize) {
        loop {
            let changed = self.changed.notified();
            if self.begun.load(Ordering::SeqCst) >= begun
                && self.over.load(Ordering::SeqCst) >= over
            {
                return;
            }
            changed.await;
        }
    }
}

/// A success that holds a body.
fn answer(body: Option<Value>) -> ToolResult {
    let answer = Answer {
        status: 200,
        body: body.map(AnswerBody::Json),
        content_type: None,
        location: None,
    };
    let input_schema = json!({});
    let envelope = Envelope::Answer {
        answer: &answer,
        input_schema: &input_schema,
    };
    emit(&envelope, Budget::default())
}

fn failure() -> ToolResult {
    emit(
        &Envelope::Error(ErrorEnvelope::unknown_tool()),
        Budget::default(),
    )
}

/// Counts a call as over however it ends.
struct Over<'a>(&'a Fake);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

impl Surface for Fake {
    fn list(&self, _caller: &Caller, cursor: Option<&str>) -> Result<Listing, InvalidCursor> {
        let generation = *self.generation.borrow();
        let tool = |name: &str| {
            json!({"name": name, "description": name, "inputSchema": {"type": "object"},
                "_meta": {"sezzlee/catalogGeneration": generation}})
        };
        let (tools, next) = match cursor {
            None => (
                json!([tool("load_tool"), tool("search_tools"), tool("invoke_tool")]),
                None,
            ),
            Some("first") => (json!([tool("load_tool")]), Some("second")),
            Some("second") => (json!([]), None),
            Some(_) => return Err(InvalidCursor),
        };
        Ok(Listing {
            tools_json: tools.to_string().into(),
            next_cursor: next.map(str::to_owned),
        })
    }

    fn call<'a>(
        &'a self,
        _caller: &'a Caller,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolResult, UnknownTool>> {
        async move {
            match name {
                "search_tools" => Ok(answer(Some(arguments.into()))),
                "load_tool" => Ok(failure()),
                "invoke_tool" => {
                    assert!(!arguments.contains_key("panic"), "asked to panic");
                    let _over = Over(self);
                    self.begun.fetch_add(1, Ordering::SeqCst);
                    self.changed.notify_waiters();
                    self.release.acquire().await.unwrap().forget();
                    Ok(answer(None))
                }
                _ => Err(UnknownTool),
            }
        }
        .boxed()
    }

    fn generation(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

/// A fake, its routes, and the one who stops them.
pub(crate) struct Served {
    pub(crate) fake: Arc<Fake>,
    pub(crate) router: Router,
    pub(crate) stopper: Stopper,
}

/// Settings under which the versions of this crate do not show in a snapshot.
pub(crate) fn settings() -> Settings {
    Settings {
        server_name: "example".to_owned(),
        server_version: "1.2.3".to_owned(),
        ..Settings::default()
    }
}

pub(crate) fn served(settings: Settings) -> Served {
    let fake = Arc::new(Fake::default());
    let stopper = Stopper::new();
    let surface: Arc<dyn Surface> = Arc::clone(&fake) as _;
    let dispatcher = Arc::new(Dispatcher::new(surface, settings));
    let router = sezzlee::mcp::router(sezzlee::mcp::PATH, dispatcher, stopper.listener());
    Served {
        fake,
        router,
        stopper,
    }
}

/// The `_meta` of a 2026-07-28 request.
pub(crate) fn meta() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}})
}

/// A 2026-07-28 message.
pub(crate) fn modern(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A 2025 message.
pub(crate) fn legacy(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "id": id.into(), "method": method});
    message["params"] = params;
    message
}

/// The headers that belong to a 2026-07-28 message.
pub(crate) fn headers_of(message: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut headers = vec![
        ("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()),
        ("Mcp-Method".to_owned(), text(&message["method"])),
    ];
    if message["method"] == "tools/call" {
        headers.push(("Mcp-Name".to_owned(), text(&message["params"]["name"])));
    }
    headers
}

/// Posts a body with headers.
pub(crate) async fn post(
    router: &Router,
    headers: &[(String, String)],
    body: impl Into<Body>,
) -> (StatusCode, HeaderMap, Body) {
    let mut request = Request::post("/mcp")
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    send(router, request.body(body.into()).unwrap()).await
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> (StatusCode, HeaderMap, Body) {
    let response = router.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    (head.status, head.headers, body)
}

pub(crate) async fn bytes(body: Body) -> Bytes {
    body.collect().await.unwrap().to_bytes()
}

/// An answer as a snapshot reads it: status, headers, body.
pub(crate) async fn shown((status, headers, body): (StatusCode, HeaderMap, Body)) -> String {
    let mut out = format!("{}\n", status.as_u16());
    for (name, value) in &headers {
        writeln!(out, "{name}: {}", value.to_str().unwrap()).unwrap();
    }
    out.push('\n');
    out.push_str(std::str::from_utf8(&bytes(body).await).unwrap());
    out
}

/// The next piece of a stream as text; `None` at its end.
pub(crate) async fn next_event(body: &mut Body) -> Option<String> {
    let frame = body.frame().await?.unwrap().into_data().unwrap();
    Some(String::from_utf8(frame.to_vec()).unwrap())
}

/// The answer to bytes under headers.
pub(crate) async fn ask(headers: &[(&str, &str)], body: &str) -> String {
    let served = served(settings());
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    shown(post(&served.router, &headers, body.to_owned()).await).await
}
