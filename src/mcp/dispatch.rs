//! From a message to its answer: the methods of both eras.
//!
//! Owns: which methods there are, what their parameters must be, and that a fault inside a surface costs
//! one request. Must never know which transport carries the bytes, beyond whether it has headers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use futures_util::FutureExt as _;
use serde_json::{Map, Value};

use super::era::{self, Era, LEGACY_VERSIONS};
use super::headers::Headers;
use super::message::Message;
use super::refusal::cut;
use super::reply::{self, Cache, Reply, push, push_member};
use super::written::{Listed, discovered, push_instructions};
use super::{Id, Params, Refusal, Request, Settings, Subscription};
use crate::access::Caller;
use crate::json;
use crate::tools::Surface;

/// What this server can do: tools, and telling of another generation's.
const CAPABILITIES: &str = "{\"tools\":{\"listChanged\":true}}";

/// Serves one surface to any number of transports. Keeps nothing between requests.
pub struct Dispatcher {
    surface: Arc<dyn Surface>,
    settings: Settings,
    server_info: String,
    /// The result of `server/discover`: nothing in it depends on the catalogue.
    discovered: Vec<u8>,
    listed: Listed,
}

/// What becomes of a message.
#[derive(Debug)]
pub enum Answer {
    /// One JSON-RPC answer.
    Message {
        /// The HTTP status it travels with; stdio has none.
        status: StatusCode,
        /// The answer.
        body: Vec<u8>,
    },
    /// The message wanted none.
    Accepted,
    /// A stream of messages.
    Listen(Subscription),
}

impl Answer {
    pub(super) fn refused(era: Era, id: Option<&Id>, refusal: &Refusal) -> Self {
        Self::Message {
            status: refusal.status(era),
            body: reply::error(id, refusal),
        }
    }
}

impl Dispatcher {
    /// Serves a surface.
    pub fn new(surface: Arc<dyn Surface>, settings: Settings) -> Self {
        let server_info = reply::server_info(&settings.server_name, &settings.server_version);
        Self {
            surface,
            discovered: discovered(&settings, &server_info, CAPABILITIES),
            listed: Listed::default(),
            server_info,
            settings,
        }
    }

    /// What the operator chose.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Answers the bytes of one message. `headers` are those of an HTTP request, `None` on stdio.
    /// Dropping the future cancels what it does.
    pub async fn answer(
        &self,
        bytes: &[u8],
        headers: Option<&HeaderMap>,
        caller: &Caller,
    ) -> Answer {
        match Message::read(bytes) {
            Ok(Message::Request(request)) => self.request(request, headers, caller).await,
            Ok(Message::Notification(_)) => Answer::Accepted,
            Err((id, refusal)) => Answer::refused(Era::Legacy, id.as_ref(), &refusal),
        }
    }

    /// Answers one request that was read before.
    pub async fn request(
        &self,
        request: Request,
        headers: Option<&HeaderMap>,
        caller: &Caller,
    ) -> Answer {
        let id = request.id.clone();
        let headers = headers.map(Headers);
        let method = cut(&request.method);
        let era = match era::select(&request, headers) {
            Ok(era) => era,
            Err((era, refusal)) => {
                tracing::debug!(%method, code = refusal.code(), %refusal, "request refused");
                return Answer::refused(era, Some(&id), &refusal);
            }
        };
        // A panic in a surface must cost this request only, not the connection with all its others.
        let handled = AssertUnwindSafe(self.method(era, request, headers, caller)).catch_unwind();
        let outcome = handled.await.unwrap_or_else(|_| {
            tracing::error!(%method, id = id.as_json(), "a request ended in a panic");
            Err(Refusal::Internal)
        });
        outcome.unwrap_or_else(|refusal| {
            tracing::debug!(%method, code = refusal.code(), %refusal, "request refused");
            Answer::refused(era, Some(&id), &refusal)
        })
    }

    async fn method(
        &self,
        era: Era,
        request: Request,
        headers: Option<Headers<'_>>,
        caller: &Caller,
    ) -> Result<Answer, Refusal> {
        let Request { id, method, params } = request;
        let reply = Reply {
            era,
            id: &id,
            server_info: &self.server_info,
        };
        if let Params::Other(kind) = params {
            return Err(Refusal::InvalidParams(format!(
                "`params` must be an object, not {kind}"
            )));
        }
        let body = match (era, method.as_str()) {
            (Era::Modern, "server/discover") => reply.written(&self.discovered),
            (Era::Legacy, "initialize") => self.initialize(&reply, &params)?,
            (Era::Legacy, "ping") => reply.result(Cache::Silent, |_| {}),
            (_, "tools/list") => self.list(&reply, &params, caller)?,
            (_, "tools/call") => {
                let call = Call::read(params)?;
                if let (Era::Modern, Some(headers)) = (era, headers) {
                    headers.name_must_equal(&call.name)?;
                }
                let result = self
                    .surface
                    .call(caller, &call.name, call.arguments)
                    .await
                    .map_err(|_| Refusal::InvalidParams(unknown_tool(&call.name)))?;
                reply.tool(&result)
            }
            (Era::Modern, "subscriptions/listen") => {
                let generation = self.surface.generation();
                let subscription = Subscription::new(id, &params, generation, &self.server_info)?;
                return Ok(Answer::Listen(subscription));
            }
            _ => return Err(Refusal::method(&method)),
        };
        Ok(Answer::Message {
            status: StatusCode::OK,
            body,
        })
    }

    fn initialize(&self, reply: &Reply<'_>, params: &Params) -> Result<Vec<u8>, Refusal> {
        let asked = text(params, "protocolVersion")?
            .ok_or_else(|| Refusal::InvalidParams("`protocolVersion` is missing".to_owned()))?;
        // A version that is not spoken here is answered with the newest that begins with a handshake.
        let spoken = LEGACY_VERSIONS
            .into_iter()
            .find(|version| *version == asked);
        let version = spoken.unwrap_or(LEGACY_VERSIONS[0]);
        Ok(reply.result(Cache::Silent, |out| {
            push_member(out, "protocolVersion", version);
            push(
                out,
                &[
                    "\"capabilities\":",
                    CAPABILITIES,
                    ",\"serverInfo\":",
                    &self.server_info,
                    ",",
                ],
            );
            push_instructions(out, &self.settings);
        }))
    }

    fn list(
        &self,
        reply: &Reply<'_>,
        params: &Params,
        caller: &Caller,
    ) -> Result<Vec<u8>, Refusal> {
        let cursor = text(params, "cursor")?;
        let listing = self
            .surface
            .list(caller, cursor)
            .map_err(|invalid| Refusal::InvalidParams(invalid.to_string()))?;
        let object = self
            .listed
            .object(reply, &listing, self.settings.list_ttl_ms);
        Ok(reply.written(&object))
    }
}

/// The parameters of `tools/call`.
struct Call {
    name: String,
    arguments: Map<String, Value>,
}

impl Call {
    fn read(params: Params) -> Result<Self, Refusal> {
        let mut params = match params {
            Params::Object(map) => map,
            Params::Absent | Params::Other(_) => Map::new(),
        };
        let name = match params.remove("name") {
            Some(Value::String(name)) => name,
            Some(other) => {
                let kind = json::kind(&other);
                return Err(Refusal::InvalidParams(format!(
                    "`name` must be a string, not {kind}"
                )));
            }
            None => return Err(Refusal::InvalidParams("`name` is missing".to_owned())),
        };
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(other) => {
                let kind = json::kind(&other);
                return Err(Refusal::InvalidParams(format!(
                    "`arguments` must be an object, not {kind}"
                )));
            }
        };
        Ok(Self { name, arguments })
    }
}

fn unknown_tool(name: &str) -> String {
    format!("Unknown tool: {}", cut(name))
}

/// A parameter that is a string, or is not there (or null).
fn text<'a>(params: &'a Params, key: &str) -> Result<Option<&'a str>, Refusal> {
    match params.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Refusal::InvalidParams(format!(
            "`{key}` must be a string, not {}",
            json::kind(other)
        ))),
    }
}
