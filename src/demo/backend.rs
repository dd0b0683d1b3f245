//! The shop over HTTP: one axum router over the table of routes.
//!
//! Owns: taking a request off the wire under limits, the one lock around the rows, delays, and the headers
//! every answer carries. Must never hold a rule of the shop.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::on;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use url::form_urlencoded;

use crate::json;

use super::Settings;
use super::call::Call;
use super::reply::{Dialect, Refusal, Wait, Written};
use super::routes::{ROUTES, Route};
use super::shop::Shop;

/// The largest body: an import of a hundred full products is about 250 KiB.
const BODY_BYTES_MAX: usize = 512 * 1024;

/// The deepest body: orders with lines are four levels.
const BODY_LEVELS_MAX: usize = 16;

/// How long a body may take to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// Query pairs that are read; the widest operation has about fifteen parameters.
const QUERY_PAIRS_MAX: usize = 100;

/// Requests answered at once, held-back ones included.
const IN_FLIGHT_MAX: usize = 256;

/// The header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What all requests share.
#[derive(Debug)]
struct Counter {
    shop: Mutex<Shop>,
    settings: Settings,
    slots: Semaphore,
    stopping: watch::Receiver<bool>,
}

/// The shop as a router; each call opens a shop of its own with fresh rows.
pub fn router(settings: Settings) -> Router {
    let (_, never) = watch::channel(false);
    router_until(settings, never)
}

/// The same, with answers that are held back given up once `stopping` turns true.
pub(super) fn router_until(settings: Settings, stopping: watch::Receiver<bool>) -> Router {
    let counter = Arc::new(Counter {
        shop: Mutex::new(Shop::opened()),
        settings,
        slots: Semaphore::new(IN_FLIGHT_MAX),
        stopping,
    });
    let mut router = Router::new();
    for route in ROUTES {
        let counter = Arc::clone(&counter);
        let answer = move |path: RawPathParams, request: Request| {
            let counter = Arc::clone(&counter);
            async move { counter.answer(route, &path, request).await }
        };
        router = router.route(route.path, on(route.verb.filter(), answer));
    }
    router
        .fallback(|| async { refused(StatusCode::NOT_FOUND, "the shop has no such route") })
        .method_not_allowed_fallback(|| async {
            refused(
                StatusCode::METHOD_NOT_ALLOWED,
                "the route is there, but not with this method",
            )
        })
}

fn refused(status: StatusCode, message: &str) -> Response {
    Dialect::FieldMap
        .write(Refusal::new(status, message))
        .into()
}

impl Counter {
    async fn answer(&self, route: &Route, path: &RawPathParams, request: Request) -> Response {
        let Ok(_slot) = self.slots.try_acquire() else {
            let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the shop is crowded");
            return route
                .dialect
                .write(refusal.with(header::RETRY_AFTER, "1"))
                .into();
        };
        let call = self.read(path, request).await;
        let (wait, written) = self.respond(route, call);
        let delay = match wait {
            Wait::None => Duration::ZERO,
            Wait::Report => self.settings.report_delay,
            Wait::Audit => self.settings.audit_delay,
        };
        if self.hold_back(delay).await {
            written.into()
        } else {
            refused(StatusCode::SERVICE_UNAVAILABLE, "the shop is closing")
        }
    }

    /// Waits, and says whether the shop is still open.
    async fn hold_back(&self, delay: Duration) -> bool {
        if delay.is_zero() {
            return true;
        }
        let mut stopping = self.stopping.clone();
        let stopped = async {
            // A shop nobody can stop goes on.
            if stopping.wait_for(|stopped| *stopped).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(delay) => true,
            () = stopped => false,
        }
    }

    /// Answers what was read, with the rows locked: no two requests meet halfway.
    fn respond(&self, route: &Route, call: Result<Call, Refusal>) -> (Wait, Written) {
        // No desk panics; were one to, the rows are still whole rows.
        let mut shop = self.shop.lock().unwrap_or_else(PoisonError::into_inner);
        let request_id = shop.next_request();
        let (wait, mut written) = match call.and_then(|call| (route.answer)(&mut shop, &call)) {
            Ok(reply) => (reply.wait, reply.response),
            Err(refusal) => (Wait::None, route.dialect.write(refusal)),
        };
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            written.headers.push((REQUEST_ID, value));
        }
        (wait, written)
    }

    async fn read(&self, path: &RawPathParams, request: Request) -> Result<Call, Refusal> {
        let (parts, body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default();
        let media_type = parts
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        Ok(Call {
            path: path
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            query: form_urlencoded::parse(query.as_bytes())
                .take(QUERY_PAIRS_MAX)
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
            headers: parts.headers,
            body: read_body(body, media_type.as_deref()).await?,
            now: self.settings.clock.seconds(),
        })
    }
}

/// The body as JSON; none when there are no bytes.
async fn read_body(body: Body, media_type: Option<&str>) -> Result<Option<Value>, Refusal> {
    let reading = axum::body::to_bytes(body, BODY_BYTES_MAX);
    let Ok(bytes) = tokio::time::timeout(BODY_DEADLINE, reading).await else {
        return Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body did not arrive",
        ));
    };
    let Ok(bytes) = bytes else {
        let message = format!("the body is over {BODY_BYTES_MAX} bytes, or broke off");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    let is_json = media_type
        .and_then(|text| text.parse::<mime::Mime>().ok())
        .is_some_and(|mime| mime.subtype() == mime::JSON || mime.suffix() == Some(mime::JSON));
    if !is_json {
        let message = "bodies must be sent as application/json";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    match json::parse(&bytes, BODY_LEVELS_MAX) {
        Ok(parsed) => Ok(Some(parsed.value)),
        Err(error) => {
            let message = format!("the body is not JSON that is taken here: {error}");
            Err(Refusal::new(StatusCode::BAD_REQUEST, message))
        }
    }
}
