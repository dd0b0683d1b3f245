//! How many requests run at the same time.
//!
//! Owns: the one count of requests in flight, refusing beyond it, and knowing when none is left. Must never
//! let a request wait for a place.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::mcp::Stop;

/// When a refused client may come back, in seconds. Calls are short.
pub(super) const RETRY_AFTER_SECONDS: &str = "1";

/// Lets requests through while there are places and nobody said stop.
#[derive(Clone)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    requests_max: u32,
    stop: Stop,
}

impl Gate {
    pub(super) fn new(requests_max: usize, stop: Stop) -> Self {
        // A limit beyond what the count can hold is no limit; this many never run.
        let requests_max = u32::try_from(requests_max.min(Semaphore::MAX_PERMITS))
            .unwrap_or(u32::MAX >> 3)
            .max(1);
        Self {
            places: Arc::new(Semaphore::new(requests_max as usize)),
            requests_max,
            stop,
        }
    }

    /// Waits until nothing is in flight.
    pub(super) async fn drained(&self) {
        // The count is never closed, so this cannot fail.
        let _ = self.places.acquire_many(self.requests_max).await;
    }
}

/// The layer in front of the routes. A place is held until the head of the answer is there: open streams
/// have their own limit.
pub(super) async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    if gate.stop.is_stopping() {
        let mut response = busy("this server is stopping\n");
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
        return response;
    }
    let Ok(_place) = gate.places.try_acquire() else {
        return busy("too many requests are running\n");
    };
    next.run(request).await
}

fn busy(why: &'static str) -> Response {
    let after = [(header::RETRY_AFTER, RETRY_AFTER_SECONDS)];
    (StatusCode::SERVICE_UNAVAILABLE, after, why).into_response()
}
