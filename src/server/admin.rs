//! `GET /admin/status` and `POST /admin/reload`: for the operator, at an address of their own.
//!
//! Owns: the admin token and the two endpoints. Must never be reachable through the address agents use, nor
//! say anything to who has no token.

use std::io;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::reload::{Finished, Outcome, Reloader, Trigger};
use crate::clock;
use crate::mcp::Stop;

/// Shorter tokens can be guessed: 16 characters of base 64 are 96 bits.
const TOKEN_BYTES_MIN: usize = 16;

/// A token file holds one line; whatever is larger is another file.
const TOKEN_FILE_BYTES_MAX: u64 = 4096;

const SCHEME: &[u8] = b"Bearer ";

/// The token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("`{path}` cannot be read")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file does not hold one token.
    #[error(
        "`{path}` must hold one token of at least {TOKEN_BYTES_MIN} visible ASCII characters, such as \
         `openssl rand -base64 24` makes"
    )]
    Unfit {
        /// The file.
        path: PathBuf,
    },
}

/// The operator's token. Only its hash is kept, and hashes are compared in a time that depends on neither.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// The token a file holds; white space around it does not count.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let failed = |source| TokenError::File {
            path: path.to_owned(),
            source,
        };
        let unfit = || TokenError::Unfit {
            path: path.to_owned(),
        };
        let size = std::fs::metadata(path).map_err(failed)?.len();
        if size > TOKEN_FILE_BYTES_MAX {
            return Err(unfit());
        }
        let text = std::fs::read(path).map_err(failed)?;
        Self::new(text.trim_ascii()).ok_or_else(unfit)
    }

    fn new(text: &[u8]) -> Option<Self> {
        let fits = text.len() >= TOKEN_BYTES_MIN && text.iter().all(u8::is_ascii_graphic);
        fits.then(|| Self(Sha256::digest(text).into()))
    }

    /// Whether a request carries the token.
    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return false;
        };
        let Some((_, given)) = value
            .as_bytes()
            .split_at_checked(SCHEME.len())
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
        else {
            return false;
        };
        let given: [u8; 32] = Sha256::digest(given.trim_ascii()).into();
        let differing = self
            .0
            .iter()
            .zip(given)
            .fold(0, |differing, (ours, theirs)| differing | (ours ^ theirs));
        differing == 0
    }
}

/// The admin routes. Whatever is asked without the token is answered 401, whether it is there or not. `stop`
/// ends those who wait for a reload.
pub fn admin_routes(reloader: Reloader, token: Token, stop: Stop) -> Router {
    let status = move |State(reloader): State<Reloader>| async move {
        answer(StatusCode::OK, &status(&reloader))
    };
    let reload = move |State(reloader): State<Reloader>| reload(reloader, stop);
    Router::new()
        .route("/admin/status", get(status))
        .route("/admin/reload", post(reload))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .with_state(reloader)
        .layer(middleware::from_fn_with_state(token, check_token))
}

async fn check_token(State(token): State<Token>, request: Request, next: Next) -> Response {
    if token.admits(request.headers()) {
        return next.run(request).await;
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (
        StatusCode::UNAUTHORIZED,
        challenge,
        "the admin token is needed\n",
    )
        .into_response()
}

fn status(reloader: &Reloader) -> Value {
    let status = reloader.status();
    json!({
        "generation": status.generation,
        "revision": status.revision,
        "operations": status.operations,
        "reloading": status.is_reloading,
        "lastReload": status.last.as_ref().map(told),
    })
}

/// Reloads and answers how it went: 200 when the sources serve, 422 when they must not.
async fn reload(reloader: Reloader, mut stop: Stop) -> Response {
    let finished = tokio::select! {
        finished = reloader.reload(Trigger::Admin) => finished,
        () = stop.stopping() => {
            return (StatusCode::SERVICE_UNAVAILABLE, "this server is stopping\n").into_response();
        }
    };
    let status = match finished.outcome {
        Outcome::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        Outcome::Swapped { .. } | Outcome::Unchanged => StatusCode::OK,
    };
    answer(status, &told(&finished))
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (status, json, format!("{body}\n")).into_response()
}

fn told(finished: &Finished) -> Value {
    let mut told = json!({
        "outcome": finished.outcome.as_str(),
        "trigger": finished.trigger.as_str(),
        "at": clock::rfc3339(finished.at),
        "seconds": finished.seconds,
    });
    match &finished.outcome {
        Outcome::Swapped { generation } => told["generation"] = json!(generation),
        Outcome::Refused { reason } => told["reason"] = json!(reason),
        Outcome::Unchanged => {}
    }
    told
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_the_token_is_admitted() {
        let token = Token::new(b"correct-horse-battery").unwrap();
        let admits = |value: &str| {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::from_str(value).unwrap();
            headers.insert(header::AUTHORIZATION, value);
            token.admits(&headers)
        };
        assert!(admits("Bearer correct-horse-battery"));
        assert!(admits("bearer  correct-horse-battery "));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer correct-horse-batterz",
            "Bearer correct-horse-batter",
            "Bearer correct-horse-battery2",
            "Basic correct-horse-battery",
            "correct-horse-battery",
            "Bearer: correct-horse-battery",
        ] {
            assert!(!admits(wrong), "{wrong}");
        }
        assert!(!token.admits(&HeaderMap::new()));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_token_file_holds_one_long_token() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let read = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            Token::read(&path)
        };
        assert!(read(b"0123456789abcdef\n").is_ok());
        for unfit in [
            &b""[..],
            b"\n",
            b"0123456789abcde\n",
            b"0123456789abcdef 0123456789abcdef",
            "0123456789abcdé".as_bytes(),
            &[b'x'; 5000],
        ] {
            assert!(matches!(read(unfit), Err(TokenError::Unfit { .. })));
        }
        let gone = Token::read(&directory.path().join("gone"));
        assert!(matches!(gone, Err(TokenError::File { .. })));
    }
}
