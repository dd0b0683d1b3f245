//! The real binary as a process: run to its end, or started and talked to.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for anything that is going to happen, on a busy machine as well.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The binary in a directory, without what the environment of the tests may say.
pub(crate) fn command(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sezzlee"));
    command
        .args(args)
        .current_dir(directory)
        // What a developer's shell sets must not show a user the insides.
        .env("RUST_BACKTRACE", "1")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// What a run came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the binary to its end.
#[track_caller]
pub(crate) fn run(directory: &Path, args: &[&str]) -> Ran {
    run_with(directory, args, b"")
}

/// Runs the binary to its end with something to read.
#[track_caller]
pub(crate) fn run_with(directory: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = command(directory, args)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    std::thread::spawn(move || {
        // A command that reads no input has closed it.
        let _ = stdin.write_all(&input);
    });
    let ran = finish(child);
    for inside in ["panicked", "backtrace", "RUST_BACKTRACE"] {
        assert!(!ran.err.contains(inside), "{args:?}: {}", ran.err);
    }
    ran
}

/// Waits for a process and takes what it said.
pub(crate) fn finish(mut child: Child) -> Ran {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut err) = err {
            let _ = err.read_to_string(&mut text);
        }
        let _ = tell.send(text);
    });
    let (tell_out, told_out) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut out) = out {
            let _ = out.read_to_string(&mut text);
        }
        let _ = tell_out.send(text);
    });
    let (Ok(out), Ok(err)) = (told_out.recv_timeout(PATIENCE), told.recv_timeout(PATIENCE)) else {
        child.kill().unwrap();
        panic!("the process did not end");
    };
    let code = child.wait().unwrap().code();
    Ran { code, out, err }
}

/// A process that serves; it is killed when the test drops it.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream as they come.
fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (tell, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let Ok(line) = line else { return };
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Starts `sezzlee serve` on a free port and waits until it says where.
#[track_caller]
pub(crate) fn serve(directory: &Path, args: &[&str]) -> Serving {
    let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
    started(command(directory, &args), |child| child.stderr.take())
}

/// Starts a command and waits until the stream says where the gateway is.
#[track_caller]
fn started(mut command: Command, stream: fn(&mut Child) -> Option<ChildStderr>) -> Serving {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let stream = stream(&mut child).unwrap();
    let mut serving = Serving {
        child,
        address: ([127, 0, 0, 1], 0).into(),
        lines: lines_of(stream),
        said: Vec::new(),
    };
    let line = serving.hear("gateway: http://");
    let address = line.trim_start_matches("gateway: http://");
    let address = address.trim_end_matches("/mcp");
    serving.address = address.parse().unwrap();
    serving
}

impl Serving {
    /// Waits for a line that holds a text.
    #[track_caller]
    pub(crate) fn hear(&mut self, text: &str) -> String {
        let ends = Instant::now() + PATIENCE;
        loop {
            let left = ends.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    self.said.push(line.clone());
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("never said {text:?}: {:#?}", self.said);
                }
            }
        }
    }

    /// Everything it said on stderr, up to its end.
    pub(crate) fn said_to_the_end(&mut self) -> Vec<String> {
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.said.push(line);
        }
        std::mem::take(&mut self.said)
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([format!("-{name}"), self.child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits for its end; the lines it said last can still be read.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> Option<i32> {
        // Its stderr ends with it.
        self.said = self.said_to_the_end();
        self.child.wait().unwrap().code()
    }

    /// What a meta-tool answers over HTTP, and the stamp of the list before it.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = serde_json::json!({"name": tool, "arguments": arguments});
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = post(self.address, &message.to_string());
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        serde_json::from_str(text).unwrap()
    }

    /// The generation that `tools/list` is stamped with.
    #[track_caller]
    pub(crate) fn generation(&self) -> u64 {
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let answer = post(self.address, message);
        let stamp = &answer["result"]["tools"][0]["_meta"]["sezzlee/catalogGeneration"];
        stamp.as_u64().unwrap_or_else(|| panic!("{answer}"))
    }
}

/// Posts one message and reads the answer.
#[track_caller]
pub(crate) fn post(address: SocketAddr, message: &str) -> Value {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{message}",
        message.len()
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    serde_json::from_str(body).unwrap()
}
