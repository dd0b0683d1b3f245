//! stdio: lines in, lines out.

use std::sync::Arc;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use sezzlee::access::Caller;
use sezzlee::mcp::{Dispatcher, Settings, StdioError, Stopper, serve_stdio};
use sezzlee::tools::Surface;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::mcp_fake::{Fake, legacy, modern, settings};

const PATIENCE: Duration = Duration::from_secs(30);

/// A client at the other end of the pipes.
struct Client {
    fake: Arc<Fake>,
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    stopper: Stopper,
    server: JoinHandle<Result<(), StdioError>>,
}

fn client_with(settings: Settings, drain_deadline: Duration) -> Client {
    let fake = Arc::new(Fake::default());
    let surface: Arc<dyn Surface> = Arc::clone(&fake) as _;
    let dispatcher = Arc::new(Dispatcher::new(surface, settings));
    let (input, server_input) = duplex(1024);
    let (server_output, output) = duplex(1024);
    let stopper = Stopper::new();
    let server = tokio::spawn(serve_stdio(
        dispatcher,
        Caller::anonymous(),
        server_input,
        server_output,
        stopper.listener(),
        drain_deadline,
    ));
    Client {
        fake,
        input,
        output: BufReader::new(output).lines(),
        stopper,
        server,
    }
}

fn client() -> Client {
    client_with(settings(), PATIENCE)
}

impl Client {
    async fn say(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> Option<String> {
        timeout(PATIENCE, self.output.next_line())
            .await
            .unwrap()
            .unwrap()
    }

    async fn ask(&mut self, message: &Value) -> String {
        self.say(&message.to_string()).await;
        self.hear().await.unwrap()
    }

    /// Ends the input; what is still heard, and how serving ended.
    async fn end(self) -> (Vec<String>, Result<(), StdioError>) {
        let Self {
            input,
            mut output,
            server,
            ..
        } = self;
        drop(input);
        let mut rest = Vec::new();
        while let Some(line) = timeout(PATIENCE, output.next_line())
            .await
            .unwrap()
            .unwrap()
        {
            rest.push(line);
        }
        (rest, server.await.unwrap())
    }
}

#[tokio::test]
async fn both_eras_are_answered_line_by_line() {
    let mut client = client();
    assert_snapshot!(client.ask(&modern("d", "server/discover", json!({}))).await, @r#"{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}"#);
    let initialize = legacy(0, "initialize", json!({"protocolVersion": "2025-11-25"}));
    assert_snapshot!(client.ask(&initialize).await, @r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"example","version":"1.2.3"}}}"#);
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    let call = legacy(
        1,
        "tools/call",
        json!({"name": "search_tools", "arguments": {"a": "\n"}}),
    );
    assert_snapshot!(client.ask(&call).await, @r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"status\":200,\"body\":{\"a\":\"\\n\"}}"}]}}"#);
    let (rest, ended) = client.end().await;
    assert!(rest.is_empty() && ended.is_ok(), "{rest:?} {ended:?}");
}

#[tokio::test]
async fn a_bad_line_gets_its_error_and_the_next_is_read() {
    let mut client = client_with(
        Settings {
            body_bytes_max: 200,
            ..settings()
        },
        PATIENCE,
    );
    client.say("{").await;
    assert_snapshot!(client.hear().await.unwrap(), @r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"the message is not JSON: EOF while parsing an object at line 1 column 1"}}"#);
    client.say("[]").await;
    assert_snapshot!(client.hear().await.unwrap(), @r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a message is an object, not array; batches are not served"}}"#);
    client.say(&"x".repeat(10_000)).await;
    assert_snapshot!(client.hear().await.unwrap(), @r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: the message is larger than 200 bytes"}}"#);
    client.input.write_all(b"\xff\xfe\n\n  \r\n").await.unwrap();
    assert!(client.hear().await.unwrap().contains("-32700"));
    client
        .input
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n")
        .await
        .unwrap();
    assert_eq!(
        client.hear().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
}

#[tokio::test]
async fn a_line_of_exactly_the_limit_is_read() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let limit = Settings {
        body_bytes_max: ping.len(),
        ..settings()
    };
    let mut client = client_with(limit, PATIENCE);
    client.say(ping).await;
    assert!(client.hear().await.unwrap().contains("\"result\""));
    client.say(&format!("{ping} ")).await;
    assert!(client.hear().await.unwrap().contains("larger than"));
}

#[tokio::test]
async fn a_slow_call_holds_nobody_up() {
    let mut client = client();
    let slow = legacy("slow", "tools/call", json!({"name": "invoke_tool"}));
    client.say(&slow.to_string()).await;
    timeout(PATIENCE, client.fake.calls(1, 0)).await.unwrap();
    assert!(
        client
            .ask(&legacy("quick", "ping", json!({})))
            .await
            .contains("quick")
    );
    // An id belongs to one request at a time.
    let twice = client.ask(&slow).await;
    assert!(
        twice.contains("-32600") && twice.contains("still running"),
        "{twice}"
    );
    client.fake.release.add_permits(1);
    assert!(client.hear().await.unwrap().contains("\"id\":\"slow\""));
    assert!(
        client
            .ask(&legacy("slow", "ping", json!({})))
            .await
            .contains("\"result\":{}")
    );
}

#[tokio::test]
async fn a_cancelled_request_ends_and_is_not_answered() {
    let mut client = client();
    let slow = legacy(7, "tools/call", json!({"name": "invoke_tool"}));
    client.say(&slow.to_string()).await;
    timeout(PATIENCE, client.fake.calls(1, 0)).await.unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    client.say(cancel).await;
    timeout(PATIENCE, client.fake.calls(1, 1)).await.unwrap();
    client.say(cancel).await;
    // The id is free again, and the next answer is the next request's.
    assert!(
        client
            .ask(&legacy(7, "ping", json!({})))
            .await
            .contains("\"result\":{}")
    );
    let (rest, ended) = client.end().await;
    assert!(rest.is_empty() && ended.is_ok(), "{rest:?} {ended:?}");
}

#[tokio::test]
async fn too_many_requests_are_refused_not_queued() {
    let mut client = client_with(
        Settings {
            stdio_requests_max: 1,
            ..settings()
        },
        PATIENCE,
    );
    let slow = legacy("slow", "tools/call", json!({"name": "invoke_tool"}));
    client.say(&slow.to_string()).await;
    assert_snapshot!(client.ask(&legacy(2, "ping", json!({}))).await, @r#"{"jsonrpc":"2.0","id":2,"error":{"code":-31001,"message":"too busy: too many requests are running"}}"#);
    client.fake.release.add_permits(1);
    assert!(client.hear().await.unwrap().contains("slow"));
}

#[tokio::test]
async fn listening_until_cancelled_and_until_the_end() {
    let mut client = client();
    let listen = |id: u64| {
        let tools = json!({"notifications": {"toolsListChanged": true}});
        modern(id, "subscriptions/listen", tools)
    };
    assert_snapshot!(client.ask(&listen(1)).await, @r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}"#);
    client.fake.swap();
    assert_snapshot!(client.hear().await.unwrap(), @r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}"#);
    client
        .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    assert!(
        client
            .ask(&listen(2))
            .await
            .contains("\"io.modelcontextprotocol/subscriptionId\":2")
    );
    client.fake.swap();
    let changed = client.hear().await.unwrap();
    assert!(
        changed.contains("\"io.modelcontextprotocol/subscriptionId\":2"),
        "{changed}"
    );
    let (rest, ended) = client.end().await;
    assert!(ended.is_ok());
    assert_snapshot!(rest.join("\n"), @r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":2,"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.2.3"}}}}"#);
}

#[tokio::test]
async fn the_end_of_the_input_waits_for_what_is_in_flight() {
    let mut client = client();
    let slow = legacy("slow", "tools/call", json!({"name": "invoke_tool"}));
    // The last line needs no end of its own.
    client
        .input
        .write_all(slow.to_string().as_bytes())
        .await
        .unwrap();
    client.input.shutdown().await.unwrap();
    timeout(PATIENCE, client.fake.calls(1, 0)).await.unwrap();
    client.fake.release.add_permits(1);
    let (rest, ended) = client.end().await;
    assert!(ended.is_ok());
    assert_eq!(rest.len(), 1);
    assert!(
        rest[0].contains("\"id\":\"slow\"") && rest[0].contains("\"result\""),
        "{rest:?}"
    );
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_cut_off() {
    let mut client = client_with(settings(), Duration::from_millis(20));
    let slow = legacy("slow", "tools/call", json!({"name": "invoke_tool"}));
    client.say(&slow.to_string()).await;
    timeout(PATIENCE, client.fake.calls(1, 0)).await.unwrap();
    let fake = Arc::clone(&client.fake);
    let (rest, ended) = client.end().await;
    assert!(rest.is_empty() && ended.is_ok(), "{rest:?} {ended:?}");
    timeout(PATIENCE, fake.calls(1, 1)).await.unwrap();
}

#[tokio::test]
async fn a_stop_ends_serving_although_the_input_is_open() {
    let mut client = client();
    assert!(
        client
            .ask(&legacy(1, "ping", json!({})))
            .await
            .contains("result")
    );
    client.stopper.stop();
    let ended = timeout(PATIENCE, client.server).await.unwrap().unwrap();
    assert!(ended.is_ok(), "{ended:?}");
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answers_stops_nothing_but_itself() {
    let mut client = client_with(settings(), Duration::from_millis(20));
    // Nobody reads: sooner or later pipes and queues are full and a line is not taken any more.
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#;
    while timeout(Duration::from_secs(2), client.say(line))
        .await
        .is_ok()
    {}
    client.stopper.stop();
    let ended = timeout(PATIENCE, client.server).await.unwrap().unwrap();
    assert!(matches!(ended, Err(StdioError::Write(_))), "{ended:?}");
}

#[tokio::test]
async fn a_client_that_is_gone_ends_serving() {
    let mut client = client();
    let (gone, _) = duplex(1);
    drop(std::mem::replace(
        &mut client.output,
        BufReader::new(gone).lines(),
    ));
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .await;
    let ended = timeout(PATIENCE, client.server).await.unwrap().unwrap();
    assert!(matches!(ended, Err(StdioError::Write(_))), "{ended:?}");
}
