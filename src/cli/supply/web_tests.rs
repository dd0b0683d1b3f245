//! Documents and what they refer to over loopback: what is asked for, how often, and what is not.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use super::*;

/// What a path answers.
#[derive(Clone, Default)]
struct Page {
    body: String,
    etag: Option<&'static str>,
    modified: Option<&'static str>,
    /// Instead of all of this.
    instead: Option<Instead>,
}

#[derive(Clone, Copy)]
enum Instead {
    /// Leads to itself.
    Redirect,
    /// Never ends.
    Endless,
    /// Says that nothing changed, whatever was asked.
    NotModified,
}

/// A server of pages that may be changed, and notes every request: its path, its conditions, its status.
struct Web {
    address: SocketAddr,
    pages: Arc<Mutex<HashMap<String, Page>>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Web {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let web = Self {
            address: listener.local_addr().unwrap(),
            pages: Arc::default(),
            log: Arc::default(),
        };
        let (pages, log) = (Arc::clone(&web.pages), Arc::clone(&web.log));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (pages, log) = (Arc::clone(&pages), Arc::clone(&log));
                std::thread::spawn(move || {
                    // Whoever asked may have had enough.
                    let _ = answer(stream.unwrap(), &pages, &log);
                });
            }
        });
        web
    }

    fn put(&self, path: &str, page: Page) {
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    fn text(&self, path: &str, body: &str) {
        let body = body.to_owned();
        self.put(
            path,
            Page {
                body,
                ..Page::default()
            },
        );
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// What was asked for since the last time.
    fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.log.lock().unwrap());
        asked.sort();
        asked
    }

    fn source(&self, path: &str) -> SourceArgs {
        SourceArgs {
            sources: vec![self.url("127.0.0.1", path)],
            ..SourceArgs::default()
        }
    }
}

fn answer(
    mut stream: TcpStream,
    pages: &Mutex<HashMap<String, Page>>,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap()?;
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let (mut none_match, mut modified_since) = (None, None);
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        match name.to_ascii_lowercase().as_str() {
            "if-none-match" => none_match = Some(value.to_owned()),
            "if-modified-since" => modified_since = Some(value.to_owned()),
            _ => {}
        }
    }
    let page = pages.lock().unwrap().get(&path).cloned();
    let is_conditional = none_match.is_some() || modified_since.is_some();
    let matches = page
        .as_ref()
        .is_some_and(|page| match (&none_match, &modified_since) {
            (Some(asked), _) => page.etag == Some(asked),
            (None, Some(asked)) => page.modified == Some(asked),
            (None, None) => false,
        });
    let status = match &page {
        None => 404,
        Some(Page {
            instead: Some(Instead::Redirect),
            ..
        }) => 302,
        Some(Page {
            instead: Some(Instead::NotModified),
            ..
        }) => 304,
        Some(_) if matches => 304,
        Some(_) => 200,
    };
    let condition = if is_conditional { " if" } else { "" };
    log.lock()
        .unwrap()
        .push(format!("{path}{condition} {status}"));
    let page = page.unwrap_or_default();
    let mut head = format!("HTTP/1.1 {status} it\r\nConnection: close\r\n");
    for (name, value) in [("ETag", page.etag), ("Last-Modified", page.modified)] {
        if let Some(value) = value {
            head += &[name, ": ", value, "\r\n"].concat();
        }
    }
    if status == 302 {
        head += &["Location: ", &path, "\r\n"].concat();
    }
    if matches!(page.instead, Some(Instead::Endless)) {
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        loop {
            stream.write_all(&[b' '; 8_192])?;
        }
    }
    let body = if status == 200 {
        page.body.as_str()
    } else {
        ""
    };
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

const TWO: &str = "openapi: 3.1.0\npaths:\n  /own: {get: {}}\n  /a: {$ref: 'parts/a.yaml'}\n";

#[test]
fn a_document_is_fetched_again_only_when_its_server_says_that_it_changed() {
    let page = |body: &str, etag, modified| Page {
        body: body.to_owned(),
        etag,
        modified,
        instead: None,
    };
    let lines = "{\"name\": \"a\", \"description\": \"\"}\n";
    let one = "openapi: 3.1.0\npaths: {/a: {get: {}}}\n";
    let two = "openapi: 3.1.0\npaths: {/a: {get: {}, put: {}}}\n";
    for (path, before, after) in [
        (
            "/d.yaml",
            page(one, Some("\"1\""), None),
            page(two, Some("\"2\""), None),
        ),
        (
            "/d.yaml",
            page(one, Some("W/\"1\""), None),
            page(two, Some("W/\"2\""), None),
        ),
        (
            "/d.yaml",
            page(one, None, Some("Mon, 01 Jan 2024 00:00:00 GMT")),
            page(two, None, None),
        ),
        (
            "/l.jsonl",
            page(lines, Some("\"1\""), Some("x")),
            page(
                &format!("{lines}{}", lines.replace("\"a\"", "\"b\"")),
                Some("\"2\""),
                None,
            ),
        ),
    ] {
        let web = Web::new();
        web.put(path, before.clone());
        let supply = Supply::new(&web.source(path), None);
        assert_eq!(supply.first().unwrap().reader.len(), 1);
        assert_eq!(web.asked(), [format!("{path} 200")]);
        for _ in 0..2 {
            assert!(supply.again().unwrap().is_none());
            assert_eq!(web.asked(), [format!("{path} if 304")], "no body");
        }
        // The same text under another validator, which counts from then on.
        if before.etag.is_some() {
            web.put(
                path,
                Page {
                    etag: Some("\"new\""),
                    ..before
                },
            );
            assert!(supply.again().unwrap().is_none());
            assert_eq!(web.asked(), [format!("{path} if 200")]);
            assert!(supply.again().unwrap().is_none());
            assert_eq!(web.asked(), [format!("{path} if 304")]);
        }
        web.put(path, after);
        let reader = supply.again().unwrap().unwrap().reader;
        assert_eq!(reader.len(), 2);
        assert_eq!(
            web.asked(),
            [format!("{path} 200"), format!("{path} if 200")]
        );
    }
}

#[test]
fn a_server_is_believed_only_when_it_was_asked() {
    let web = Web::new();
    let one = "openapi: 3.1.0\npaths: {/a: {get: {}}}\n";
    web.text("/d.yaml", one);
    let supply = Supply::new(&web.source("/d.yaml"), None);
    supply.first().unwrap();
    assert!(supply.again().unwrap().is_none());
    assert_eq!(
        web.asked(),
        ["/d.yaml 200", "/d.yaml 200"],
        "nothing to ask with"
    );
    let lie = Page {
        instead: Some(Instead::NotModified),
        ..Page::default()
    };
    web.put("/d.yaml", lie);
    let refused = format!("{:#}", supply.again().err().unwrap());
    assert!(refused.contains("304"), "{refused}");
    // An entity tag that stays is believed, whatever it stands for.
    let tagged = |body: &str| Page {
        body: body.to_owned(),
        etag: Some("\"x\""),
        ..Page::default()
    };
    web.put("/d.yaml", tagged(one));
    let supply = Supply::new(&web.source("/d.yaml"), None);
    supply.first().unwrap();
    web.put(
        "/d.yaml",
        tagged("openapi: 3.1.0\npaths: {/b: {get: {}}}\n"),
    );
    assert!(supply.again().unwrap().is_none());
}

#[test]
fn an_index_remembers_what_servers_said() {
    let web = Web::new();
    let tagged = |body: &str, etag| Page {
        body: body.to_owned(),
        etag: Some(etag),
        ..Page::default()
    };
    web.put("/d.yaml", tagged(TWO, "\"d\""));
    web.put("/parts/a.yaml", tagged("get: {}\n", "\"a\""));
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("index");
    let source = web.source("/d.yaml");
    assert_eq!(build_on_disk(&source, &out, false).unwrap().reader.len(), 2);
    assert_eq!(web.asked(), ["/d.yaml 200", "/parts/a.yaml 200"]);
    assert!(build_on_disk(&source, &out, false).unwrap().is_reused);
    assert_eq!(web.asked(), ["/d.yaml if 304", "/parts/a.yaml if 304"]);
    // One changed: both are needed, and fetched whole.
    web.put("/parts/a.yaml", tagged("get: {}\nput: {}\n", "\"b\""));
    let built = build_on_disk(&source, &out, false).unwrap();
    assert_eq!((built.is_reused, built.reader.len()), (false, 3));
    assert_eq!(
        web.asked(),
        [
            "/d.yaml 200",
            "/d.yaml if 304",
            "/parts/a.yaml 200",
            "/parts/a.yaml if 200"
        ]
    );
}

#[test]
fn what_a_document_refers_to_is_not_lost_to_its_server() {
    let web = Web::new();
    web.text("/d.yaml", TWO);
    web.text("/parts/a.yaml", "get: {}\n");
    let supply = Supply::new(&web.source("/d.yaml"), None);
    assert_eq!(supply.first().unwrap().reader.len(), 2);
    assert!(supply.again().unwrap().is_none());
    web.pages.lock().unwrap().remove("/parts/a.yaml");
    let refused = format!("{:#}", supply.again().err().unwrap());
    assert!(
        refused.contains("/parts/a.yaml`, to which") && refused.contains("404"),
        "{refused}"
    );
    web.text("/parts/a.yaml", "get: {}\nput: {}\n");
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 3);
}

#[test]
fn references_reach_the_own_host_and_those_that_are_allowed() {
    let web = Web::new();
    let other = Web::new();
    let elsewhere = other.url("127.0.0.1", "/a.yaml");
    let by_name = web.url("localhost", "/a.yaml");
    web.text(
        "/d.yaml",
        &format!(
            "openapi: 3.1.0\npaths:\n  /a: {{$ref: /a.yaml}}\n  /b: {{$ref: '{elsewhere}'}}\n  /c: {{$ref: '{by_name}'}}\n  /d: {{get: {{}}}}\n"
        ),
    );
    web.text("/a.yaml", "get: {}\n");
    other.text("/a.yaml", "get: {}\n");
    let mut source = web.source("/d.yaml");
    let read = |source: &SourceArgs| Supply::new(source, None).first().unwrap().reader.len();
    assert_eq!(read(&source), 2);
    assert_eq!(web.asked(), ["/a.yaml 200", "/d.yaml 200"]);
    // Another port is another server; allowing the host allows it.
    assert_eq!(other.asked(), [""; 0]);
    source.allow_ref_host = vec!["127.0.0.1".to_owned()];
    assert_eq!(read(&source), 3);
    assert_eq!(other.asked(), ["/a.yaml 200"]);
    // A host that is allowed is not one that may be private.
    web.asked();
    source.allow_ref_host.push("localhost".to_owned());
    assert_eq!(read(&source), 3);
    assert_eq!(web.asked(), ["/a.yaml 200", "/d.yaml 200"]);
    source.sources.push(web.url("localhost", "/none.yaml"));
    assert_eq!(read(&source), 4);
}

#[test]
fn a_file_refers_to_no_host_that_is_not_allowed_and_to_no_private_one() {
    let web = Web::new();
    web.text("/a.yaml", "get: {}\n");
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("d.yaml");
    let text = format!(
        "openapi: 3.1.0\npaths:\n  /a: {{$ref: '{}'}}\n  /b: {{get: {{}}}}\n",
        web.url("127.0.0.1", "/a.yaml")
    );
    std::fs::write(&path, text).unwrap();
    let mut source = web.source("/d.yaml");
    source.sources = vec![path.display().to_string()];
    for hosts in [vec![], vec!["127.0.0.1".to_owned()]] {
        source.allow_ref_host = hosts;
        assert_eq!(Supply::new(&source, None).first().unwrap().reader.len(), 1);
        assert_eq!(web.asked(), [""; 0]);
    }
}

#[test]
fn hostile_answers_cost_what_refers_to_them() {
    let web = Web::new();
    let instead = |instead| Page {
        instead: Some(instead),
        ..Page::default()
    };
    web.put("/loop.yaml", instead(Instead::Redirect));
    web.put("/endless.yaml", instead(Instead::Endless));
    web.text(
        "/d.yaml",
        "openapi: 3.1.0\npaths:\n  /a: {$ref: loop.yaml}\n  /b: {$ref: endless.yaml}\n  /c: {get: {}}\n",
    );
    let source = web.source("/d.yaml");
    let report = crate::cli::catalogue::read_only(&source).unwrap();
    let told: Vec<&str> = report
        .diagnostics
        .iter()
        .map(|one| one.message.as_str())
        .collect();
    assert_eq!(report.counts.published, 1);
    assert!(told[0].contains("redirects are not followed"), "{told:?}");
    assert!(told[1].contains("too large"), "{told:?}");
    assert_eq!(
        web.asked(),
        ["/d.yaml 200", "/endless.yaml 200", "/loop.yaml 302"]
    );
}
