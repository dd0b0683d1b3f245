//! One call: wait for a place, send, read under the budget, map. Never sends twice, and never lets a
//! deadline end with the head of the answer.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{debug, warn};

use super::backends::Backends;
use super::map::{self, Head};
use super::media::Media;
use super::meter::{self, Bounds};
use super::{Failure, FailureKind, Filtered, Limits, Outcome, Part};
use crate::catalog::RequestTemplate;
use crate::http::{Client, Method, Request, SendError};

/// How calls are limited.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a call may take from here to the last byte of the answer; none for ever.
    pub deadline: Option<Duration>,
    /// How many calls one backend may have in flight.
    pub in_flight_max: usize,
    /// The largest body that is kept, in bytes.
    pub budget_bytes: usize,
    /// The largest body that is read to its end, in bytes.
    pub ceiling_bytes: u64,
    /// What the arguments of a call may hold.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deadline: Some(Duration::from_secs(30)),
            in_flight_max: 64,
            // The default budget of an answer: a larger body can never be forwarded.
            budget_bytes: 262_144,
            ceiling_bytes: 64 * 1024 * 1024,
            limits: Limits::default(),
        }
    }
}

/// The largest error body that is read, in bytes: a list of field errors is a few hundred.
const ERROR_BODY_BYTES_MAX: usize = 65_536;

/// Makes calls. Shared by all callers.
#[derive(Debug)]
pub struct Invoker {
    client: Client,
    settings: Settings,
    backends: Backends,
}

impl Invoker {
    /// An invoker that sends through the one client.
    pub fn new(client: Client, settings: Settings) -> Self {
        let backends = Backends::new(settings.in_flight_max);
        Self {
            client,
            settings,
            backends,
        }
    }

    /// What the arguments of a call may hold; whoever composes one needs it.
    pub fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// Makes one call under the configured deadline. Dropping the future drops the request.
    pub async fn call(&self, template: &RequestTemplate, request: Request) -> Outcome {
        self.call_within(template, request, self.settings.deadline)
            .await
    }

    /// Makes one call under a deadline of its own; none for ever.
    pub async fn call_within(
        &self,
        template: &RequestTemplate,
        request: Request,
        deadline: Option<Duration>,
    ) -> Outcome {
        // Without a deadline, or with one past the end of time, the clock never ends the call.
        let ends = deadline
            .filter(|deadline| !deadline.is_zero())
            .and_then(|deadline| Some((deadline, Instant::now().checked_add(deadline)?)));
        let Some((deadline, ends)) = ends else {
            let _place = self.backends.enter(&request.url).await;
            return self.exchange(template, request).await;
        };
        let entered = tokio::time::timeout_at(ends, self.backends.enter(&request.url)).await;
        let Ok(_place) = entered else {
            return timed_out(deadline, Sent::No);
        };
        tokio::time::timeout_at(ends, self.exchange(template, request))
            .await
            .unwrap_or_else(|_| timed_out(deadline, Sent::Yes))
    }

    async fn exchange(&self, template: &RequestTemplate, request: Request) -> Outcome {
        let method = request.method.clone();
        let result = self.send_and_read(template, request).await;
        result.unwrap_or_else(|error| {
            warn!(
                document = %template.document,
                error = &error as &(dyn std::error::Error + 'static),
                "backend not reached"
            );
            unreached(&error, &method)
        })
    }

    async fn send_and_read(
        &self,
        template: &RequestTemplate,
        request: Request,
    ) -> Result<Outcome, SendError> {
        let bodiless = request.method == Method::HEAD;
        let mut response = self.client.send(request).await?;
        let head = Head {
            status: response.status.as_u16(),
            media: Media::of(&response.headers),
            headers: std::mem::take(&mut response.headers),
        };
        debug!(document = %template.document, status = head.status, "backend answered");
        if head.status < 400 {
            if bodiless || matches!(head.status, 100..=199 | 204 | 304) {
                return Ok(map::without_body(&head));
            }
            let bounds = Bounds {
                budget_bytes: self.settings.budget_bytes,
                ceiling_bytes: self.settings.ceiling_bytes,
            };
            let measured = meter::measure(&mut response, &head.media, bounds).await?;
            return Ok(map::success(&head, measured));
        }
        // A 401 says nothing that is forwarded.
        let body = if bodiless || head.status == 401 {
            None
        } else {
            // The status is known: a body that breaks off only costs its message.
            meter::short_body(&mut response, ERROR_BODY_BYTES_MAX)
                .await
                .unwrap_or_default()
        };
        let now = crate::clock::now();
        Ok(map::failure(template, &head, body.as_deref(), now))
    }
}

/// Whether a method changes nothing, so that a call without an answer needs no warning.
fn is_safe(method: &Method) -> bool {
    matches!(
        method.as_str(),
        "GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE"
    )
}

/// What is known of a request that got no answer.
#[derive(Debug, Clone, Copy)]
enum Sent {
    No,
    Yes,
}

const MAY_BE_APPLIED: &str =
    "; the operation may have been applied, so check before you make the call again";

fn timed_out(deadline: Duration, sent: Sent) -> Outcome {
    let milliseconds = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
    let begin = match sent {
        Sent::No => "the backend has too many calls in flight; this one was not sent within ",
        Sent::Yes => "the backend did not answer completely within ",
    };
    let end = match sent {
        Sent::Yes => MAY_BE_APPLIED,
        Sent::No => "",
    };
    let message = Filtered::own(&[
        Part::Text(begin),
        Part::Number(milliseconds),
        Part::Text(" ms"),
        Part::Text(end),
    ]);
    failed(FailureKind::Timeout, None, message)
}

/// The status that stands for a backend that was not reached (invoke.md, "Map").
const UNREACHED_STATUS: u16 = 502;

fn unreached(error: &SendError, method: &Method) -> Outcome {
    let message = if error.may_have_arrived() {
        let end = if is_safe(method) { "" } else { MAY_BE_APPLIED };
        Filtered::own(&[
            Part::Text("the connection to the backend broke before its answer was complete"),
            Part::Text(end),
        ])
    } else {
        Filtered::standard(FailureKind::BackendUnavailable)
    };
    failed(
        FailureKind::BackendUnavailable,
        Some(UNREACHED_STATUS),
        message,
    )
}

fn failed(kind: FailureKind, status: Option<u16>, message: Filtered) -> Outcome {
    Outcome::Failed(Failure {
        kind,
        message,
        status,
        fields: Vec::new(),
        retry_after_seconds: None,
        reference: None,
    })
}
