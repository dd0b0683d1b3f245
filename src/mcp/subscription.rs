//! One `subscriptions/listen`: what was asked for, and the messages it leads to.
//!
//! Owns: the acknowledgement, the notification of a swap, the closing result. Must never queue: swaps that
//! a listener has not been told of yet are one notification.

use std::future::pending;

use serde_json::Value;
use tokio::sync::watch;

use super::reply::push;
use super::{Id, Params, Refusal};

const ID_KEY: &str = "{\"io.modelcontextprotocol/subscriptionId\":";

/// An open subscription. The transport writes [`Subscription::acknowledged`] first, then
/// [`Subscription::tools_changed`] after each [`Subscription::changed`], and [`Subscription::ended`] last.
#[derive(Debug)]
pub struct Subscription {
    id: Id,
    tools: bool,
    generation: watch::Receiver<u64>,
    server_info: String,
}

impl Subscription {
    /// Reads the parameters. Categories this server has nothing of are not an error; they are left out of
    /// the acknowledgement.
    pub(super) fn new(
        id: Id,
        params: &Params,
        mut generation: watch::Receiver<u64>,
        server_info: &str,
    ) -> Result<Self, Refusal> {
        let Some(asked) = params.get("notifications").and_then(Value::as_object) else {
            return Err(Refusal::InvalidParams(
                "`notifications` must be an object that names what to listen for".to_owned(),
            ));
        };
        let tools = match asked.get("toolsListChanged") {
            None => false,
            Some(Value::Bool(tools)) => *tools,
            Some(_) => {
                return Err(Refusal::InvalidParams(
                    "`notifications.toolsListChanged` must be true or false".to_owned(),
                ));
            }
        };
        // Only swaps after this moment are news.
        generation.borrow_and_update();
        Ok(Self {
            id,
            tools,
            generation,
            server_info: server_info.to_owned(),
        })
    }

    /// The id the subscription was opened with.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Waits until another generation serves than when this was last asked. Never, if tool changes were
    /// not asked for. Dropping the future loses nothing.
    pub async fn changed(&mut self) {
        if !self.tools || self.generation.changed().await.is_err() {
            pending::<()>().await;
        }
    }

    /// The first message.
    pub fn acknowledged(&self) -> Vec<u8> {
        let asked = if self.tools {
            "{\"toolsListChanged\":true}"
        } else {
            "{}"
        };
        self.notification(
            "notifications/subscriptions/acknowledged",
            &[",\"notifications\":", asked],
        )
    }

    /// The tools are others than before.
    pub fn tools_changed(&self) -> Vec<u8> {
        self.notification("notifications/tools/list_changed", &[])
    }

    /// The last message, when this server ends the subscription.
    pub fn ended(&self) -> Vec<u8> {
        let id = self.id.as_json();
        let mut out = Vec::with_capacity(256);
        push(
            &mut out,
            &[
                "{\"jsonrpc\":\"2.0\",\"id\":",
                id,
                ",\"result\":{\"resultType\":\"complete\",\"_meta\":",
                ID_KEY,
                id,
                ",\"io.modelcontextprotocol/serverInfo\":",
                &self.server_info,
                "}}}",
            ],
        );
        out
    }

    fn notification(&self, method: &str, more: &[&str]) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        push(
            &mut out,
            &[
                "{\"jsonrpc\":\"2.0\",\"method\":\"",
                method,
                "\",\"params\":{\"_meta\":",
                ID_KEY,
                self.id.as_json(),
                "}",
            ],
        );
        push(&mut out, more);
        out.extend_from_slice(b"}}");
        out
    }
}
