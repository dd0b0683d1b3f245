//! Streamable HTTP: one POST, one answer; only `subscriptions/listen` streams.
//!
//! Owns: the endpoint's methods, the fence in front of it, media type, size and time of a body, and the
//! event stream. Must never keep a session, nor wait for a client that does not read.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures_util::stream;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::era::Era;
use super::reply;
use super::{Answer, Dispatcher, Id, Refusal, Stop, Subscription};
use crate::access::Caller;

/// Where the search-first surface is served.
pub const PATH: &str = "/mcp";

/// Frames a stream holds for a client that does not read. A reader that is only briefly behind never has
/// more than a few: swaps are rare and coalesced.
const FRAMES_MAX: usize = 16;

/// A body over the limit is read and thrown away up to this many bytes more, so that a client which sends
/// before it reads gets its answer instead of a reset connection.
const DISCARD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// When a client that found no free stream may come back, in seconds.
const RETRY_AFTER_SECONDS: &str = "5";

struct Endpoint {
    dispatcher: Arc<Dispatcher>,
    streams: Arc<Semaphore>,
    stop: Stop,
}

/// The routes of one surface at `path` (normally [`PATH`]). A [`Caller`] among the extensions of a request
/// is who sent it; without one the caller is anonymous. `stop` ends the open streams with their result.
pub fn router(path: &str, dispatcher: Arc<Dispatcher>, stop: Stop) -> Router {
    let streams_max = dispatcher.settings().streams_max;
    let endpoint = Endpoint {
        streams: Arc::new(Semaphore::new(streams_max.min(Semaphore::MAX_PERMITS))),
        dispatcher,
        stop,
    };
    Router::new()
        .route(path, any(serve))
        .with_state(Arc::new(endpoint))
}

async fn serve(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let settings = endpoint.dispatcher.settings();
    let (head, body) = request.into_parts();
    if !settings.allowed_hosts.admits_host(&head.uri, &head.headers) {
        let why = "the Host of this request is not one this server answers to\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    if !settings.allowed_origins.admits_origin(&head.headers) {
        let why = "pages of this Origin may not call this server\n";
        return (StatusCode::FORBIDDEN, why).into_response();
    }
    if head.method != Method::POST {
        let allow = [(header::ALLOW, "POST")];
        return (StatusCode::METHOD_NOT_ALLOWED, allow, "Method Not Allowed").into_response();
    }
    if let Err(refusal) = check_media_type(&head.headers) {
        return refused(None, &refusal);
    }
    if will_be_too_large(&head.headers, settings.body_bytes_max) {
        return closing(refused(None, &Refusal::TooLarge(settings.body_bytes_max)));
    }
    let read = read_body(body, settings.body_bytes_max);
    let bytes = match timeout(settings.body_deadline, read).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(refusal)) => return closing(refused(None, &refusal)),
        Err(_) => return closing(refused(None, &Refusal::TooSlow)),
    };
    let anonymous = Caller::anonymous();
    let caller = head.extensions.get::<Caller>().unwrap_or(&anonymous);
    let answer = endpoint
        .dispatcher
        .answer(&bytes, Some(&head.headers), caller)
        .await;
    match answer {
        Answer::Message { status, body } => message(status, body),
        Answer::Accepted => StatusCode::ACCEPTED.into_response(),
        Answer::Listen(subscription) => endpoint.listen(subscription),
    }
}

/// Holds that the body is announced as plain JSON. It is also what keeps a web page from posting here
/// without asking first: a browser sends this media type across origins only when it was allowed to.
fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.map(|value| value.split(';').next().unwrap_or(value).trim());
    if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
        return Err(Refusal::MediaType(
            "the Content-Type must be application/json",
        ));
    }
    let encoded = headers.get(header::CONTENT_ENCODING);
    if encoded.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Refusal::MediaType("a compressed body is not read"));
    }
    Ok(())
}

/// Whether the head says enough to refuse the body unread: it is larger than would be thrown away, or its
/// sender waits for leave to send what is over the limit.
fn will_be_too_large(headers: &HeaderMap, bytes_max: usize) -> bool {
    let Some(announced) = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok())
    else {
        return false;
    };
    let waits = headers
        .get(header::EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    let read_max = if waits {
        bytes_max
    } else {
        bytes_max.saturating_add(DISCARD_BYTES_MAX)
    };
    usize::try_from(announced).map_or(true, |announced| announced > read_max)
}

/// Reads a body of at most `bytes_max` bytes.
async fn read_body(mut body: Body, bytes_max: usize) -> Result<Bytes, Refusal> {
    let mut first = Bytes::new();
    let mut all = Vec::new();
    let mut total: usize = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Refusal::InvalidRequest(format!("the body could not be read: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        total = total.saturating_add(data.len());
        if total > bytes_max.saturating_add(DISCARD_BYTES_MAX) {
            break;
        }
        if total > bytes_max {
            all = Vec::new();
            first = Bytes::new();
        } else if first.is_empty() && all.is_empty() {
            // Most messages arrive in one piece and need no copy.
            first = data;
        } else {
            if all.is_empty() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
    }
    if total > bytes_max {
        return Err(Refusal::TooLarge(bytes_max));
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

fn message(status: StatusCode, body: Vec<u8>) -> Response {
    let json = [(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    )];
    (status, json, body).into_response()
}

/// A refusal of the transport's own, none of which has a status that depends on the era.
fn refused(id: Option<&Id>, refusal: &Refusal) -> Response {
    message(refusal.status(Era::Modern), reply::error(id, refusal))
}

/// The rest of the body is not wanted: the connection cannot serve another request.
fn closing(mut response: Response) -> Response {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

impl Endpoint {
    fn listen(&self, subscription: Subscription) -> Response {
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            let refusal = Refusal::Busy("too many open streams");
            let mut response = refused(Some(subscription.id()), &refusal);
            let after = HeaderValue::from_static(RETRY_AFTER_SECONDS);
            response.headers_mut().insert(header::RETRY_AFTER, after);
            return response;
        };
        let (frames, queue) = mpsc::channel(FRAMES_MAX);
        let keep_alive = self.dispatcher.settings().keep_alive;
        let stop = self.stop.clone();
        tokio::spawn(feed(subscription, frames, keep_alive, stop, permit));
        let head = [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-cache"),
            // Proxies that hold answers back until they are whole would hold this one for ever.
            (header::HeaderName::from_static("x-accel-buffering"), "no"),
        ];
        (head, Body::from_stream(events(queue))).into_response()
    }
}

/// One piece of an event stream.
enum Frame {
    Message(Vec<u8>),
    KeepAlive,
    /// The closing result; a stream without it was cut off.
    Last(Vec<u8>),
}

/// Runs beside one stream and feeds it. The client's pace is the stream's, never this task's: a client that
/// lets the queue fill up is dropped, its place is free at once.
async fn feed(
    mut subscription: Subscription,
    frames: mpsc::Sender<Frame>,
    keep_alive: Duration,
    mut stop: Stop,
    _place: OwnedSemaphorePermit,
) {
    let keep_alive = keep_alive.max(Duration::from_millis(1));
    let mut silence = interval_at(Instant::now() + keep_alive, keep_alive);
    silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = Frame::Message(subscription.acknowledged());
    loop {
        let last = matches!(next, Frame::Last(_));
        if frames.try_send(next).is_err() || last {
            return;
        }
        next = tokio::select! {
            biased;
            () = frames.closed() => return,
            () = stop.stopping() => Frame::Last(subscription.ended()),
            () = subscription.changed() => Frame::Message(subscription.tools_changed()),
            _ = silence.tick() => Frame::KeepAlive,
        };
    }
}

/// The frames as the client reads them; an error at the end of a stream that was cut off, so that the client
/// does not take it for a whole one.
fn events(
    queue: mpsc::Receiver<Frame>,
) -> impl futures_util::Stream<Item = Result<Bytes, CutOff>> + Send + 'static {
    stream::unfold(Some(queue), |queue| async {
        let mut queue = queue?;
        Some(match queue.recv().await {
            Some(Frame::Message(body)) => (Ok(event(&body)), Some(queue)),
            Some(Frame::KeepAlive) => (Ok(Bytes::from_static(b":\n\n")), Some(queue)),
            Some(Frame::Last(body)) => (Ok(event(&body)), None),
            None => (Err(CutOff), None),
        })
    })
}

/// The listener did not read for too long.
#[derive(Debug, thiserror::Error)]
#[error("the listener was too slow")]
struct CutOff;

fn event(body: &[u8]) -> Bytes {
    [b"data: ", body, b"\n\n"].concat().into()
}
