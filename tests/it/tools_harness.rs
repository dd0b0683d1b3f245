//! A gateway in process over a document of a test, and what every answer of a meta-tool must be.

use std::borrow::Borrow;
use std::io::{Cursor, Read};
use std::sync::Arc;

use serde_json::{Map, Value};
use sezzlee::access::Caller;
use sezzlee::catalog::{
    self, LoadError, Loader, Operation, Prefix, ReadOptions, Sink, SourceTarget,
};
use sezzlee::contract::{Code, ToolResult};
use sezzlee::http::{self, AllowedHosts};
use sezzlee::index::{BuildOptions, Builder, Reader};
use sezzlee::invoke::{self, Invoker};
use sezzlee::tools::{Generations, MetaTools, Settings};
use url::Url;

/// One text, whatever is asked for.
struct Text(String);

impl Loader for Text {
    fn open(&self, _: &SourceTarget, _: Option<u64>) -> Result<Box<dyn Read + Send>, LoadError> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

fn read_into(sink: &mut dyn Sink, name: &str, text: &str, base_url: Option<&str>) {
    let options = ReadOptions {
        base_url: base_url.map(|url| Url::parse(url).unwrap()),
        prefix: Prefix::Never,
        ..ReadOptions::default()
    };
    let loader = Text(text.to_owned());
    let report = catalog::read(&[name.to_owned()], &options, &loader, sink).unwrap();
    assert_eq!(report.counts.dropped, 0, "{:?}", report.diagnostics);
    assert!(!report.documents.is_empty(), "{:?}", report.diagnostics);
}

/// What a document (`name` ends in `.json` or `.yaml`) or a catalogue (`.jsonl`) publishes.
pub(crate) fn operations(name: &str, text: &str) -> Vec<Operation> {
    let mut listed: Vec<Operation> = Vec::new();
    read_into(&mut listed, name, text, None);
    listed
}

/// A generation of a document or a catalogue.
pub(crate) fn reader(name: &str, text: &str, base_url: Option<&str>) -> Reader {
    let mut builder = Builder::in_memory(BuildOptions::default());
    read_into(&mut builder, name, text, base_url);
    builder.finish().unwrap().reader
}

/// How the gateway of a test is set; the rest is as it is by default.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) tools: Settings,
    pub(crate) calls: invoke::Settings,
}

impl Setup {
    /// A budget for answers in bytes, and for bodies as they stream.
    pub(crate) fn budget(bytes: usize) -> Self {
        let mut setup = Self::default();
        setup.tools.budget = sezzlee::contract::Budget::new(bytes).unwrap();
        setup.calls.budget_bytes = bytes;
        setup
    }
}

/// The meta-tools over some generations.
pub(crate) struct Gateway {
    pub(crate) tools: MetaTools,
    pub(crate) generations: Arc<Generations>,
}

impl Gateway {
    pub(crate) fn over(reader: Reader, setup: Setup) -> Self {
        let mut allowed = AllowedHosts::none();
        allowed.allow("127.0.0.1").unwrap();
        let client = http::Client::new(http::Settings {
            allowed,
            ..http::Settings::default()
        });
        let invoker = Invoker::new(client.unwrap(), setup.calls);
        let generations = Arc::new(Generations::new(reader));
        Self {
            tools: MetaTools::new(Arc::clone(&generations), invoker, setup.tools),
            generations,
        }
    }

    /// Over one document, its calls sent to a backend.
    pub(crate) fn of(name: &str, text: &str, base_url: &str) -> Self {
        Self::over(reader(name, text, Some(base_url)), Setup::default())
    }

    pub(crate) fn search(&self, arguments: &Value) -> Answer {
        Answer::of(&self.tools.search(&Caller::anonymous(), map(arguments)))
    }

    pub(crate) fn load(&self, arguments: &Value) -> Answer {
        Answer::of(&self.tools.load(&Caller::anonymous(), map(arguments)))
    }

    pub(crate) async fn invoke(&self, arguments: impl Borrow<Value>) -> Answer {
        let caller = Caller::anonymous();
        let arguments = map(arguments.borrow());
        Answer::of(&self.tools.invoke(&caller, arguments).await)
    }
}

/// The arguments of a meta-tool.
pub(crate) fn map(arguments: &Value) -> &Map<String, Value> {
    arguments.as_object().unwrap()
}

/// One answer, held to what every answer must be.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) value: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn of(result: &ToolResult) -> Self {
        let text = result.text().to_owned();
        let parsed = sezzlee::json::parse(text.as_bytes(), 1_000).unwrap();
        assert!(parsed.duplicates.is_empty(), "{text}");
        let value = parsed.value;
        let members: Vec<&str> = map(&value).keys().map(String::as_str).collect();
        if result.is_error() {
            let code = value["error"].as_str().unwrap();
            let code = Code::ALL.iter().find(|one| one.as_str() == code);
            let code = code.unwrap_or_else(|| panic!("no code of the table: {text}"));
            assert_eq!(value["retryable"], code.retryable(), "{text}");
            assert!(value["message"].as_str().unwrap().len() > 10, "{text}");
            let order = [
                "error",
                "message",
                "status",
                "retryable",
                "payload",
                "fields",
                "retryAfterSeconds",
                "reference",
            ];
            let in_order = order.iter().filter(|name| members.contains(name));
            assert!(in_order.eq(members.iter()), "{text}");
        } else {
            assert!(!members.contains(&"error"), "{text}");
        }
        Self { text, value }
    }

    /// The code of a failure; panics on a success.
    #[track_caller]
    pub(crate) fn code(&self) -> &str {
        let code = self.value.get("error").and_then(Value::as_str);
        code.unwrap_or_else(|| panic!("not an error: {}", self.text))
    }

    #[track_caller]
    pub(crate) fn message(&self) -> &str {
        self.value["message"].as_str().unwrap()
    }

    /// The names of a page of results.
    #[track_caller]
    pub(crate) fn names(&self) -> Vec<&str> {
        let results = self.value.get("results").and_then(Value::as_array);
        results
            .unwrap_or_else(|| panic!("no page: {}", self.text))
            .iter()
            .map(|result| result["name"].as_str().unwrap())
            .collect()
    }

    /// The names of the fields of a failure.
    pub(crate) fn fields(&self) -> Vec<&str> {
        let fields = self.value["fields"].as_array().unwrap();
        fields
            .iter()
            .map(|field| field["name"].as_str().unwrap())
            .collect()
    }
}
