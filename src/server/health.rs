//! `/healthz` and `/readyz`.
//!
//! Owns: telling a supervisor that the process answers and whether it should get requests. Must never be
//! behind the limits: it is asked most when they are reached.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use crate::mcp::Stop;

/// Whether a generation serves.
pub(super) type Ready = Arc<dyn Fn() -> bool + Send + Sync>;

pub(super) fn routes(ready: Ready, stop: Stop) -> Router {
    let readiness = move || async move {
        if stop.is_stopping() {
            (StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
        } else if ready() {
            (StatusCode::OK, "ready\n")
        } else {
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "no generation serves yet\n",
            )
        }
    };
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(readiness))
}
