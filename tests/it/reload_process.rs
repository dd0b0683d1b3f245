//! The command while its sources change: what triggers a reload, the operator's endpoint, an index that is
//! reused, signals, a disk that is full.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use sezzlee::index;

const PATIENCE: Duration = Duration::from_mins(1);

const TOKEN: &str = "a-token-of-the-tests-0123456789";

/// A directory with a source of some operations and a token.
pub(crate) struct Here(tempfile::TempDir);

impl Here {
    pub(crate) fn new() -> Self {
        let here = Self(tempfile::tempdir().unwrap());
        fs::create_dir(here.path("apis")).unwrap();
        here.put("apis/shop.yaml", &document("order", 3));
        fs::write(here.path("token"), format!("{TOKEN}\n")).unwrap();
        here
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes beside and renames, as editors do.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let staged = self.path(".staged");
        fs::write(&staged, text).unwrap();
        fs::rename(staged, path).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sezzlee"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> (ExitStatus, String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status, text(output.stdout), text(output.stderr))
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Running {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
        all.extend(["--admin", "127.0.0.1:0", "--admin-token-file", "token"]);
        all.extend(["--log-format", "json"]);
        all.extend(arguments);
        let mut running = Running::start(self.command(&all));
        running.admin = Some(running.address("admin: http://"));
        running.address("gateway: http://");
        running
    }

    /// Unfinished builds in an index directory.
    fn litter(&self, out: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(out)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".build")).collect()
    }
}

pub(crate) fn document(word: &str, operations: usize) -> String {
    let mut text = format!("openapi: 3.1.0\ninfo: {{title: {word}, version: '1'}}\npaths:\n");
    for number in 0..operations {
        write!(
            text,
            "  /{word}/{number}:\n    get: {{operationId: {word}_{number}, \
             responses: {{'200': {{description: fine}}}}}}\n"
        )
        .unwrap();
    }
    text
}

/// A process whose stderr is read; killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    told: Vec<String>,
    admin: Option<SocketAddr>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (tell, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            told: Vec::new(),
            admin: None,
        }
    }

    /// The next line of stderr that holds a text.
    #[track_caller]
    pub(crate) fn line(&mut self, what: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.told.push(line.clone());
                    if line.contains(what) {
                        return line;
                    }
                }
                Err(error) => panic!("{error}: no line with {what:?} among {:#?}", self.told),
            }
        }
    }

    #[track_caller]
    fn address(&mut self, start: &str) -> SocketAddr {
        let line = self.line(start);
        let rest = line.strip_prefix(start).unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// The next reload that is over: how it ended by the log, and by the operator's endpoint.
    #[track_caller]
    pub(crate) fn reloaded(&mut self) -> Value {
        self.line("reload");
        self.status()["lastReload"].clone()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end");
            std::thread::yield_now();
        }
    }

    /// A request to the admin address: status and body.
    fn ask(&self, request: &str, token: Option<&str>) -> (u16, String) {
        let mut socket = TcpStream::connect(self.admin.unwrap()).unwrap();
        let authorization = token.map_or_else(String::new, |token| {
            format!("Authorization: Bearer {token}\r\n")
        });
        let text = format!(
            "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n{authorization}\r\n"
        );
        socket.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        if head.starts_with("HTTP/1.1 401") {
            assert!(head.contains("www-authenticate: Bearer"), "{head}");
        }
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    fn status(&self) -> Value {
        let (code, body) = self.ask("GET /admin/status", Some(TOKEN));
        assert_eq!(code, 200);
        serde_json::from_str(&body).unwrap()
    }

    fn reload(&self) -> (u16, Value) {
        let (code, body) = self.ask("POST /admin/reload", Some(TOKEN));
        (code, serde_json::from_str(&body).unwrap())
    }
}

/// What is served, as the operator is told.
#[track_caller]
pub(crate) fn check_serves(running: &Running, generation: u64, operations: u64) {
    let status = running.status();
    assert_eq!(status["generation"], generation, "{status}");
    assert_eq!(status["operations"], operations, "{status}");
}

#[test]
fn every_trigger_reloads() {
    let here = Here::new();
    let mut running = here.serve(&["--watch", "apis"]);
    check_serves(&running, 0, 3);
    assert_eq!(running.status()["lastReload"], Value::Null);

    running.signal("HUP");
    let last = running.reloaded();
    assert_eq!(last["outcome"], "unchanged");
    assert_eq!(last["trigger"], "hangup");

    // Replaced by renaming.
    here.put("apis/shop.yaml", &document("order", 5));
    let last = running.reloaded();
    assert_eq!(last["outcome"], "swapped");
    assert_eq!(last["trigger"], "watch");
    assert_eq!(last["generation"], 1);
    check_serves(&running, 1, 5);

    // A directory that was not there.
    here.put("apis/deep/er/bill.yaml", &document("bill", 2));
    assert_eq!(running.reloaded()["generation"], 2);
    check_serves(&running, 2, 7);

    // In a directory that came later, in place.
    fs::write(here.path("apis/deep/er/bill.yaml"), document("bill", 4)).unwrap();
    assert_eq!(running.reloaded()["generation"], 3);
    check_serves(&running, 3, 9);

    // Taken away as a whole, and back.
    fs::rename(here.path("apis"), here.path("elsewhere")).unwrap();
    let last = running.reloaded();
    assert_eq!(last["outcome"], "refused", "{last}");
    check_serves(&running, 3, 9);
    fs::remove_file(here.path("elsewhere/shop.yaml")).unwrap();
    fs::rename(here.path("elsewhere"), here.path("apis")).unwrap();
    assert_eq!(running.reloaded()["generation"], 4);
    check_serves(&running, 4, 4);
}

#[test]
fn a_single_file_is_watched_through_everything_that_happens_to_it() {
    let here = Here::new();
    let mut running = here.serve(&["--watch", "apis/shop.yaml"]);
    here.put("apis/other.yaml", &document("other", 1));
    here.put("apis/shop.yaml", &document("order", 4));
    assert_eq!(running.reloaded()["generation"], 1);
    check_serves(&running, 1, 4);
    fs::remove_file(here.path("apis/shop.yaml")).unwrap();
    let last = running.reloaded();
    assert_eq!(last["outcome"], "refused", "{last}");
    here.put("apis/shop.yaml", &document("order", 6));
    assert_eq!(running.reloaded()["generation"], 2);
    check_serves(&running, 2, 6);
}

#[test]
fn files_that_a_document_refers_to_are_watched() {
    let here = Here::new();
    here.put(
        "apis/main.yaml",
        "openapi: 3.1.0\npaths: {/a: {$ref: parts/a.txt}}\n",
    );
    here.put("apis/parts/a.txt", "get: {}\n");
    let mut running = here.serve(&["--watch", "apis/main.yaml"]);
    check_serves(&running, 0, 1);
    here.put("apis/parts/a.txt", "get: {}\nput: {}\n");
    let last = running.reloaded();
    assert_eq!(
        (&last["outcome"], &last["trigger"]),
        (&"swapped".into(), &"watch".into())
    );
    check_serves(&running, 1, 2);
    fs::remove_file(here.path("apis/parts/a.txt")).unwrap();
    let last = running.reloaded();
    assert_eq!(last["outcome"], "refused", "{last}");
    here.put("apis/parts/a.txt", "get: {}\nput: {}\npost: {}\n");
    assert_eq!(running.reloaded()["generation"], 2);
    check_serves(&running, 2, 3);
}

/// The links that cluster managers mount: the file is a link into a directory that is a link, and only the
/// latter changes.
#[cfg(unix)]
#[test]
fn links_that_move_are_seen() {
    use std::os::unix::fs::symlink;
    let here = Here::new();
    here.put("mount/..1/shop.yaml", &document("order", 1));
    here.put("mount/..2/shop.yaml", &document("order", 2));
    symlink("..1", here.path("mount/..data")).unwrap();
    symlink("..data/shop.yaml", here.path("mount/shop.yaml")).unwrap();
    let mut running = here.serve(&["--watch", "mount/shop.yaml"]);
    check_serves(&running, 0, 1);
    symlink("..2", here.path("mount/..next")).unwrap();
    fs::rename(here.path("mount/..next"), here.path("mount/..data")).unwrap();
    assert_eq!(running.reloaded()["generation"], 1);
    check_serves(&running, 1, 2);
}

#[test]
fn the_operator_is_answered_and_nobody_else() {
    let here = Here::new();
    let running = here.serve(&["apis"]);
    for request in [
        "GET /admin/status",
        "POST /admin/reload",
        "GET /",
        "GET /nothing",
    ] {
        for token in [None, Some(""), Some("wrong"), Some(&TOKEN[1..])] {
            let (code, body) = running.ask(request, token);
            assert_eq!(code, 401, "{request} {token:?}");
            assert_eq!(body, "the admin token is needed\n");
        }
    }
    assert_eq!(
        running.status()["lastReload"],
        Value::Null,
        "nothing was reloaded"
    );
    assert_eq!(running.ask("GET /nothing", Some(TOKEN)).0, 404);
    assert_eq!(running.ask("GET /admin/reload", Some(TOKEN)).0, 405);
    assert_eq!(running.ask("POST /admin/status", Some(TOKEN)).0, 405);
    assert_eq!(running.ask("GET /healthz", None).0, 200);

    let (code, told) = running.reload();
    assert_eq!((code, &told["outcome"]), (200, &"unchanged".into()));
    here.put("apis/shop.yaml", &document("order", 4));
    let (code, told) = running.reload();
    assert_eq!((code, &told["outcome"]), (200, &"swapped".into()));
    assert_eq!(told["generation"], 1);
    assert!(told["at"].as_str().unwrap().ends_with('Z'));
    assert!(told["seconds"].as_f64().unwrap() >= 0.0);
    here.put("apis/shop.yaml", "openapi: [");
    let (code, told) = running.reload();
    assert_eq!((code, &told["outcome"]), (422, &"refused".into()));
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains("apis/shop.yaml"), "{reason}");
    here.put(
        "apis/shop.yaml",
        "openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\n",
    );
    let (code, told) = running.reload();
    assert_eq!((code, &told["outcome"]), (422, &"refused".into()));
    assert_eq!(told["reason"], "the sources publish no operation any more");
    let status = running.status();
    assert_eq!(status["generation"], 1);
    assert_eq!(status["operations"], 4);
    assert_eq!(status["reloading"], false);
    assert_eq!(status["lastReload"], told);
    assert_eq!(status["revision"].as_str().unwrap().len(), 16);
}

#[test]
fn an_admin_address_wants_a_token_and_loopback() {
    let here = Here::new();
    for (flags, what) in [
        (&["--admin", "127.0.0.1:0"][..], "--admin-token-file"),
        (&["--admin-token-file", "token"], "--admin"),
        (
            &["--admin", "0.0.0.0:0", "--admin-token-file", "token"],
            "insist with --allow-remote-admin",
        ),
        (
            &["--admin", "127.0.0.1:0", "--admin-token-file", "apis/none"],
            "`apis/none` cannot be read: No such file",
        ),
        (
            &["--admin", "127.0.0.1:0", "--admin-token-file", "short"],
            "must hold one token of at least 16",
        ),
    ] {
        fs::write(here.path("short"), "secret").unwrap();
        let mut arguments = vec!["serve", "apis"];
        arguments.extend(flags);
        let (status, _, stderr) = here.run(&arguments);
        assert_eq!(status.code(), Some(2), "{flags:?}");
        assert!(stderr.contains(what), "{flags:?}: {stderr}");
    }
}

#[test]
fn an_index_is_reused_until_its_sources_change() {
    let here = Here::new();
    let build = |more: &[&str]| -> Value {
        let mut arguments = vec!["index", "apis", "--out", "idx", "--json"];
        arguments.extend(more);
        let (status, stdout, stderr) = here.run(&arguments);
        assert!(status.success(), "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    };
    assert_eq!(build(&[])["reused"], false);
    let first = index::current(&here.path("idx")).unwrap();
    assert_eq!(build(&[])["reused"], true);
    assert_eq!(index::current(&here.path("idx")).unwrap(), first);
    assert_eq!(build(&["--rebuild"])["reused"], false);
    let (_, stdout, _) = here.run(&["index", "apis", "--out", "idx"]);
    assert!(stdout.contains("nothing was built"), "{stdout}");

    // Serving takes it, and what a reload builds is there for the next start.
    let mut running = here.serve(&["apis", "--index", "idx"]);
    assert!(
        running.told[0].contains("\"reused\":true"),
        "{:?}",
        running.told
    );
    here.put("apis/shop.yaml", &document("order", 8));
    assert_eq!(running.reload().1["outcome"], "swapped");
    assert_eq!(running.reload().1["outcome"], "unchanged");
    running.signal("TERM");
    assert_eq!(running.ended().code(), Some(0));
    assert_eq!(build(&[])["reused"], true);
    assert_eq!(index::open_current(&here.path("idx")).unwrap().len(), 8);
}

#[test]
fn a_prebuilt_index_is_reloaded_when_another_becomes_current() {
    let here = Here::new();
    let build = || {
        let (status, _, stderr) = here.run(&["index", "apis", "--out", "idx"]);
        assert!(status.success(), "{stderr}");
    };
    build();
    let mut running = here.serve(&["idx", "--watch"]);
    check_serves(&running, 0, 3);
    here.put("apis/shop.yaml", &document("order", 9));
    build();
    assert_eq!(running.reloaded()["trigger"], "watch");
    check_serves(&running, 1, 9);
    // Built again from the same: another directory, the same catalogue.
    let (status, _, _) = here.run(&["index", "apis", "--out", "idx", "--rebuild"]);
    assert!(status.success());
    assert_eq!(running.reloaded()["outcome"], "unchanged");
    // Torn by something else.
    fs::write(here.path("idx/CURRENT"), "nonsense").unwrap();
    let last = running.reloaded();
    assert_eq!(last["outcome"], "refused");
    assert!(
        last["reason"].as_str().unwrap().contains("CURRENT"),
        "{last}"
    );
    check_serves(&running, 1, 9);
}

/// A server of one catalogue that gives a builder one entry and then nothing: whoever reads it is at work until
/// it is told to stop.
struct Slow(TcpListener);

impl Slow {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn url(&self) -> String {
        format!("http://{}/slow.jsonl", self.0.local_addr().unwrap())
    }

    /// Waits for a reader and answers with `head` and one entry of this name. The body ends when what is returned is dropped,
    /// unless the head says otherwise.
    #[track_caller]
    fn answer(&self, head: &str, name: &str) -> TcpStream {
        let until = Instant::now() + PATIENCE;
        let mut reader = loop {
            match self.0.accept() {
                Ok((reader, _)) => break reader,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            assert!(Instant::now() < until, "nobody reads");
            std::thread::yield_now();
        };
        // Some systems hand the listener's mode on.
        reader.set_nonblocking(false).unwrap();
        // An answer that comes before its request is none to a client.
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        let entry = format!("{{\"name\":\"{name}\",\"description\":\"\"}}\n");
        let text = format!("HTTP/1.1 200 OK\r\n{head}\r\n{entry}");
        reader.write_all(text.as_bytes()).unwrap();
        reader
    }

    /// Waits for a reader, so that its build has begun, and keeps it waiting.
    #[track_caller]
    fn stall(&self) -> TcpStream {
        self.answer("Content-Length: 1000\r\n", "one")
    }
}

#[cfg(unix)]
#[test]
fn who_interrupts_a_build_finds_everything_as_it_was() {
    use std::os::unix::process::ExitStatusExt as _;
    let here = Here::new();
    assert!(here.run(&["index", "apis", "--out", "idx"]).0.success());
    let serving = index::current(&here.path("idx")).unwrap();
    let slow = Slow::new();
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let mut building = Running::start(here.command(&["index", &slow.url(), "--out", "idx"]));
        let _stalled = slow.stall();
        assert_eq!(here.litter("idx").len(), 1, "it builds");
        building.signal(signal);
        let status = building.ended();
        assert_eq!(status.code(), code);
        if code.is_some() {
            let line = building.line("interrupted");
            assert_eq!(
                line,
                "sezzlee: interrupted: the unfinished index was taken away, what was there before is untouched"
            );
            assert_eq!(here.litter("idx"), Vec::<String>::new());
        } else {
            assert_eq!(status.signal(), Some(9));
        }
        assert_eq!(index::current(&here.path("idx")).unwrap(), serving);
        index::verify(&here.path("idx")).unwrap();
    }
    // What a kill left is taken away by the next build.
    assert_eq!(here.litter("idx").len(), 1);
    let (status, _, stderr) = here.run(&["index", "apis", "--out", "idx", "--rebuild"]);
    assert!(status.success(), "{stderr}");
    assert_eq!(here.litter("idx"), Vec::<String>::new());
}

/// Stopping does not wait for a reload, and leaves nothing of it.
#[cfg(unix)]
#[test]
fn stopping_gives_up_a_reload() {
    let here = Here::new();
    let slow = Slow::new();
    let url = slow.url();
    let mut running = std::thread::scope(|scope| {
        let served = scope.spawn(|| here.serve(&["apis", &url, "--index", "idx"]));
        drop(slow.answer("Connection: close\r\n", "one"));
        served.join().unwrap()
    });
    let serving = index::current(&here.path("idx")).unwrap();
    // Another file tells that the sources changed, without a look at the URL: only the build fetches it.
    here.put("apis/more.yaml", &document("more", 1));
    running.signal("HUP");
    let _stalled = slow.stall();
    assert_eq!(running.status()["reloading"], true);
    assert_eq!(here.litter("idx").len(), 1, "it builds");
    running.signal("TERM");
    assert_eq!(running.ended().code(), Some(0));
    assert_eq!(here.litter("idx"), Vec::<String>::new());
    assert_eq!(index::current(&here.path("idx")).unwrap(), serving);
    index::verify(&here.path("idx")).unwrap();
}

/// A URL is fetched to see whether it changed, and once more to be read if it did. A fetch more would wait for
/// an answer that nobody gives here.
#[cfg(unix)]
#[test]
fn a_url_is_fetched_no_more_than_needed() {
    let here = Here::new();
    let slow = Slow::new();
    let url = slow.url();
    let answer = |name: &str| drop(slow.answer("Connection: close\r\n", name));
    let mut running = std::thread::scope(|scope| {
        let served = scope.spawn(|| here.serve(&["apis", &url, "--index", "idx"]));
        answer("one");
        served.join().unwrap()
    });
    running.signal("HUP");
    answer("one");
    assert_eq!(running.reloaded()["outcome"], "unchanged");
    running.signal("HUP");
    answer("two");
    answer("two");
    assert_eq!(running.reloaded()["outcome"], "swapped");
    check_serves(&running, 1, 4);
}

/// A limit on file sizes is met like a full disk, and needs no disk to fill.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_and_costs_only_the_build() {
    let here = Here::new();
    assert!(here.run(&["index", "apis", "--out", "idx"]).0.success());
    let serving = index::current(&here.path("idx")).unwrap();
    here.put("apis/large.yaml", &document("large", 3000));
    // Blocks of 512 or 1024 bytes, as the shell has it: a few kilobytes up to where the index is written.
    for blocks in ["8", "64", "400", "1000"] {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" index apis --out idx");
        let output = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_sezzlee")])
            .current_dir(here.0.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{blocks}: {stderr}");
        let last = stderr.lines().last().unwrap();
        assert!(
            last.starts_with("sezzlee: there is no room for the index in `idx`; what was there before is untouched: "),
            "{blocks}: {stderr}"
        );
        assert_eq!(here.litter("idx"), Vec::<String>::new());
        assert_eq!(index::current(&here.path("idx")).unwrap(), serving);
    }
    let (status, _, stderr) = here.run(&["index", "apis", "--out", "idx"]);
    assert!(status.success(), "{stderr}");
    assert_eq!(index::open_current(&here.path("idx")).unwrap().len(), 3003);
}
