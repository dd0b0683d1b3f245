//! The server on a real socket: limits, health, hang-ups, stopping.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sezzlee::mcp::Stopper;
use sezzlee::server::{BindError, Drained, Settings, bind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::mcp_fake::{Fake, headers_of, legacy, modern, served, settings};

const PATIENCE: Duration = Duration::from_secs(30);

struct Running {
    addr: SocketAddr,
    fake: Arc<Fake>,
    stopper: Stopper,
    ready: Arc<AtomicBool>,
    server: JoinHandle<Drained>,
}

fn running(mut server: Settings) -> Running {
    let all = served(settings());
    server.listen = ([127, 0, 0, 1], 0).into();
    let bound = bind(server).unwrap();
    let addr = bound.addr();
    assert_ne!(addr.port(), 0);
    let ready = Arc::new(AtomicBool::new(true));
    let is_ready = Arc::clone(&ready);
    let server = tokio::spawn(bound.serve(
        all.router,
        move || is_ready.load(Ordering::SeqCst),
        all.stopper.listener(),
    ));
    Running {
        addr,
        fake: all.fake,
        stopper: all.stopper,
        ready,
        server,
    }
}

fn short() -> Settings {
    Settings {
        drain_deadline: PATIENCE,
        ..Settings::default()
    }
}

/// A POST as bytes.
fn request(message: &Value, headers: &[(String, String)]) -> String {
    let body = message.to_string();
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Says something on a new connection.
async fn say(addr: SocketAddr, text: &str) -> TcpStream {
    let mut socket = TcpStream::connect(addr).await.unwrap();
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// Reads until a text was read, or the end.
async fn hear(socket: &mut TcpStream, until: &str) -> String {
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    let read = async {
        loop {
            let text = String::from_utf8_lossy(&heard).into_owned();
            if text.contains(until) {
                return text;
            }
            match socket.read(&mut buffer).await {
                Ok(0) | Err(_) => return text,
                Ok(read) => heard.extend_from_slice(&buffer[..read]),
            }
        }
    };
    timeout(PATIENCE, read).await.unwrap()
}

/// What one request on its own connection gets, to the end of the connection.
async fn ask(addr: SocketAddr, text: &str) -> String {
    let mut socket = say(addr, text).await;
    hear(&mut socket, "never said").await
}

async fn get(addr: SocketAddr, path: &str) -> String {
    ask(
        addr,
        &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    )
    .await
}

fn slow_call() -> String {
    let message = modern("slow", "tools/call", json!({"name": "invoke_tool"}));
    request(&message, &headers_of(&message))
}

#[tokio::test]
async fn two_requests_on_one_connection() {
    let running = running(short());
    let ping = request(&legacy(1, "ping", json!({})), &[]);
    let mut socket = say(running.addr, &ping).await;
    let first = hear(&mut socket, "}}").await;
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
    socket.write_all(ping.as_bytes()).await.unwrap();
    assert!(
        hear(&mut socket, "}}")
            .await
            .ends_with(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    );
}

#[tokio::test]
async fn health_and_readiness() {
    let running = running(short());
    assert!(
        get(running.addr, "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        get(running.addr, "/readyz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    running.ready.store(false, Ordering::SeqCst);
    assert!(
        get(running.addr, "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    assert!(
        get(running.addr, "/readyz")
            .await
            .starts_with("HTTP/1.1 503")
    );
}

#[tokio::test]
async fn a_busy_port_is_one_clear_error() {
    let running = running(short());
    let error = bind(Settings {
        listen: running.addr,
        ..short()
    })
    .unwrap_err();
    assert!(matches!(error, BindError::InUse(addr) if addr == running.addr));
    assert_eq!(
        error.to_string(),
        format!(
            "{} is in use by another process; choose another port, or 0 for a free one",
            running.addr
        )
    );
    let elsewhere = bind(Settings {
        listen: ([192, 0, 2, 1], 0).into(),
        ..short()
    });
    assert!(matches!(elsewhere, Err(BindError::Other { .. })));
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_call() {
    let running = running(short());
    let socket = say(running.addr, &slow_call()).await;
    timeout(PATIENCE, running.fake.calls(1, 0)).await.unwrap();
    drop(socket);
    timeout(PATIENCE, running.fake.calls(1, 1)).await.unwrap();
}

#[tokio::test]
async fn requests_beyond_the_limit_get_503_at_once_and_health_still_answers() {
    let running = running(Settings {
        requests_max: 1,
        ..short()
    });
    let mut first = say(running.addr, &slow_call()).await;
    timeout(PATIENCE, running.fake.calls(1, 0)).await.unwrap();
    let mut second = say(running.addr, &slow_call()).await;
    let refused = hear(&mut second, "running").await;
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"),
        "{refused}"
    );
    assert!(
        get(running.addr, "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    running.fake.release.add_permits(1);
    assert!(hear(&mut first, "}}").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn connections_beyond_the_limit_get_503_at_once() {
    let running = running(Settings {
        connections_max: 1,
        ..short()
    });
    let ping = request(&legacy(1, "ping", json!({})), &[]);
    let mut first = say(running.addr, &ping).await;
    assert!(hear(&mut first, "}}").await.contains("200 OK"));
    let refused = ask(running.addr, &ping).await;
    assert!(
        refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 1"),
        "{refused}"
    );
    assert!(refused.ends_with("too many connections\n"), "{refused}");
    drop(first);
    let served = async {
        while !ask(
            running.addr,
            &format!(
                "{}\r\n",
                ping.replacen("\r\n", "\r\nConnection: close\r\n", 1)
            ),
        )
        .await
        .contains("200 OK")
        {}
    };
    timeout(PATIENCE, served).await.unwrap();
}

#[tokio::test]
async fn who_does_not_finish_a_head_is_cut_off() {
    let running = running(Settings {
        head_deadline: Duration::from_millis(50),
        ..short()
    });
    for begun in [
        "",
        "POST",
        "PRI * HTTP/2.0\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: ",
    ] {
        // Whatever it is told, the connection ends.
        let heard = ask(running.addr, begun).await;
        assert!(!heard.contains("200 OK"), "{begun}: {heard}");
    }
    let ping = request(&legacy(1, "ping", json!({})), &[]);
    let idle = ask(running.addr, &ping).await;
    assert!(
        idle.contains("200 OK"),
        "answered, then closed for being idle: {idle}"
    );
}

#[tokio::test]
async fn a_stop_finishes_calls_ends_streams_and_turns_readiness_off() {
    let running = running(short());
    let listen = modern("l", "subscriptions/listen", json!({"notifications": {}}));
    let mut stream = say(running.addr, &request(&listen, &headers_of(&listen))).await;
    hear(&mut stream, "acknowledged").await;
    let mut idle = say(running.addr, &request(&legacy(1, "ping", json!({})), &[])).await;
    hear(&mut idle, "}}").await;
    let mut slow = say(running.addr, &slow_call()).await;
    timeout(PATIENCE, running.fake.calls(1, 0)).await.unwrap();

    running.stopper.stop();
    let ended = hear(&mut stream, "\"result\"").await;
    assert!(ended.contains(r#""id":"l""#), "{ended}");
    // The call in flight keeps the server answering: not ready, alive, and nothing new.
    assert!(
        get(running.addr, "/readyz")
            .await
            .starts_with("HTTP/1.1 503")
    );
    assert!(
        get(running.addr, "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    let refused = ask(running.addr, &request(&legacy(2, "ping", json!({})), &[])).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(!running.server.is_finished());

    running.fake.release.add_permits(1);
    assert!(hear(&mut slow, "}}").await.starts_with("HTTP/1.1 200"));
    assert_eq!(
        timeout(PATIENCE, running.server).await.unwrap().unwrap(),
        Drained::Clean
    );
    assert!(TcpStream::connect(running.addr).await.is_err());
    assert_eq!(
        hear(&mut idle, "never said").await,
        "",
        "idle connections are closed"
    );
}

#[tokio::test]
async fn a_call_that_outlives_the_deadline_is_cut_off() {
    let running = running(Settings {
        drain_deadline: Duration::from_millis(20),
        ..short()
    });
    let mut slow = say(running.addr, &slow_call()).await;
    timeout(PATIENCE, running.fake.calls(1, 0)).await.unwrap();
    running.stopper.stop();
    // Asking again to stop does not wait even for the flush.
    running.stopper.stop_now();
    assert_eq!(
        timeout(PATIENCE, running.server).await.unwrap().unwrap(),
        Drained::CutOff
    );
    timeout(PATIENCE, running.fake.calls(1, 1)).await.unwrap();
    assert_eq!(hear(&mut slow, "never said").await, "");
}

#[tokio::test]
async fn a_listener_over_a_socket_hears_each_swap_once() {
    let running = running(short());
    let listen = modern(
        "l",
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let mut stream = say(running.addr, &request(&listen, &headers_of(&listen))).await;
    let head = hear(&mut stream, "acknowledged").await;
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    running.fake.swap();
    hear(&mut stream, "list_changed").await;
    running.fake.swap();
    hear(&mut stream, "list_changed").await;
    running.stopper.stop();
    let rest = hear(&mut stream, "\r\n0\r\n").await;
    assert!(
        !rest.contains("list_changed") && rest.contains("\"result\""),
        "{rest}"
    );
}

#[tokio::test]
async fn http2_is_spoken_too() {
    let running = running(short());
    // The client wants to know how TLS would be done even where none is.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let ping = legacy(1, "ping", json!({})).to_string();
    let answer = client
        .post(format!("http://{}/mcp", running.addr))
        .header("content-type", "application/json")
        .body(ping)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.version(), axum::http::Version::HTTP_2);
    assert_eq!(
        answer.text().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
}

#[tokio::test]
async fn a_body_too_large_is_answered_although_it_is_still_being_sent() {
    let running = running(short());
    let mut socket = TcpStream::connect(running.addr).await.unwrap();
    let bytes = 6 * 1024 * 1024;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(&vec![b' '; bytes]).await.unwrap();
    let answer = hear(&mut socket, "}}").await;
    assert!(
        answer.starts_with("HTTP/1.1 413") && answer.contains("-32600"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_body_announced_too_large_is_refused_before_it_is_sent() {
    let running = running(short());
    for head in [
        // The sender waits for leave, and gets none.
        "Expect: 100-continue\r\nContent-Length: 5000000",
        "expect: 100-Continue\r\ncontent-length: 99999999999999999999",
        // Nobody would throw so much away.
        "Content-Length: 99999999999",
    ] {
        let mut socket = TcpStream::connect(running.addr).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}\r\n\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        let answer = hear(&mut socket, "\r\n").await;
        let refused = answer.starts_with("HTTP/1.1 413") || answer.starts_with("HTTP/1.1 400");
        assert!(refused, "{head}{answer}");
    }
    // What is within the limit is asked for.
    let mut socket = TcpStream::connect(running.addr).await.unwrap();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    let answer = hear(&mut socket, "\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 100"), "{answer}");
}
