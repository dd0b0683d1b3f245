//! A client with one HTTP/1.1 connection. Owns: the wire; must never retry, so that every failure is counted.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) struct Client {
    socket: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(addr: SocketAddr) -> Self {
        let socket = TcpStream::connect(addr).await.unwrap();
        socket.set_nodelay(true).unwrap();
        Self {
            socket,
            unread: Vec::new(),
        }
    }

    /// One search: the page, or what went wrong.
    pub(crate) async fn search(&mut self, query: &str) -> Result<Value, String> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": "search_tools", "arguments": {"query": query, "limit": 20}}});
        let answer = self
            .ask(&message.to_string())
            .await
            .map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result.get("isError").is_some() || text.is_empty() {
            return Err(answer.to_string());
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    async fn ask(&mut self, body: &str) -> io::Result<Vec<u8>> {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.socket.write_all(request.as_bytes()).await?;
        loop {
            if let Some((start, end)) = body_of(&self.unread) {
                let body = self.unread[start..end].to_vec();
                self.unread.drain(..end);
                return Ok(body);
            }
            if self.socket.read_buf(&mut self.unread).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Where the body of a whole answer lies.
fn body_of(bytes: &[u8]) -> Option<(usize, usize)> {
    let start = bytes.windows(4).position(|end| end == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..start]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then_some(value)
    })?;
    let end = start + length.parse::<usize>().ok()?;
    (bytes.len() >= end).then_some((start, end))
}
