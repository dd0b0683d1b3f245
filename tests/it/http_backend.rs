//! Backends on loopback that answer byte by byte as a test says, and tell what they saw.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What a backend does with a request, in order; then it closes, unless the last step kept the connection.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends one byte again and again until the other side is gone.
    Drip(u8),
    /// Waits until the other side closes.
    Hang,
    /// Reads the next request on the same connection.
    Keep,
}

/// What a backend saw.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The request line, headers and body.
    Request(String),
    /// The other side closed or reset the connection while the backend hung or dripped.
    Closed,
}

pub(crate) struct Backend {
    pub(crate) address: SocketAddr,
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
}

impl Backend {
    /// Answers every request by the steps that `answer` gives for it.
    pub(crate) async fn start(answer: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, seen) = mpsc::unbounded_channel();
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, tell) = (Arc::clone(&answer), tell.clone());
                tokio::spawn(async move {
                    // A connection that breaks is what some tests are about.
                    let _ = serve(stream, &*answer, &tell).await;
                });
            }
        });
        Self { address, seen }
    }

    /// A backend that sends the same bytes to everyone.
    pub(crate) async fn fixed(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_| vec![Step::Send(response.clone())]).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next thing that the backend saw.
    pub(crate) async fn next(&mut self) -> Seen {
        let next = tokio::time::timeout(std::time::Duration::from_secs(20), self.seen.recv());
        next.await.expect("the backend saw nothing").unwrap()
    }

    /// The requests that were seen up to now.
    pub(crate) fn requests(&mut self) -> Vec<String> {
        let mut requests = Vec::new();
        while let Ok(seen) = self.seen.try_recv() {
            if let Seen::Request(request) = seen {
                requests.push(request);
            }
        }
        requests
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&str) -> Vec<Step> + Send + Sync),
    tell: &mpsc::UnboundedSender<Seen>,
) -> std::io::Result<()> {
    loop {
        let Some(request) = read_request(&mut stream).await? else {
            return Ok(());
        };
        let steps = answer(&request);
        let _ = tell.send(Seen::Request(request));
        let mut kept = false;
        for step in steps {
            match step {
                Step::Send(bytes) => stream.write_all(&bytes).await?,
                Step::Keep => kept = true,
                Step::Hang => {
                    let mut sink = [0; 64];
                    while matches!(stream.read(&mut sink).await, Ok(1..)) {}
                    let _ = tell.send(Seen::Closed);
                }
                Step::Drip(byte) => {
                    let mut tick = tokio::time::interval(std::time::Duration::from_millis(20));
                    loop {
                        tick.tick().await;
                        if stream.write_all(&[byte]).await.is_err() {
                            let _ = tell.send(Seen::Closed);
                            return Ok(());
                        }
                    }
                }
            }
        }
        if !kept {
            return Ok(());
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(head) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let length = header(&text, "content-length").map_or(0, |value| value.parse().unwrap());
            // A test of resets leaves the body unread.
            if header(&text, "x-leave-unread").is_some() || bytes.len() >= head + 4 + length {
                return Ok(Some(text));
            }
        }
        // The first byte of TLS: this backend does not speak it, and says so as plain servers do.
        if bytes.first() == Some(&0x16) {
            return Ok(Some(String::new()));
        }
        match stream.read(&mut chunk).await? {
            0 => return Ok(None),
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

/// A header of a request as the backend saw it.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    head.lines().skip(1).find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

/// A whole response.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let lines: String = headers
        .iter()
        .flat_map(|(name, value)| [name, ": ", value, "\r\n"])
        .collect();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Any\r\ncontent-length: {length}\r\n{lines}\r\n");
    let mut out = head.into_bytes();
    out.extend_from_slice(body);
    out
}

/// A JSON response.
pub(crate) fn json_response(status: u16, body: &str) -> Vec<u8> {
    response(status, &[("content-type", "application/json")], body)
}
