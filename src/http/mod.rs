//! The one outbound client and its fence: every request of the process leaves through here.
//!
//! Owns: the connection pool, TLS, timeouts of a connection, which addresses may be connected to, and
//! reading an answer as it streams. Must never know what it fetches, follow a redirect, retry, or tell an
//! address to whoever called. No other code opens an outbound socket.

mod address;
mod client;
mod fence;
mod fetch;
mod request;
mod response;
mod token;

pub use address::{Reach, reach};
pub use client::{Client, ClientError, Settings};
pub use fence::{AllowedHosts, InvalidHost};
pub use fetch::{FetchError, Fetched, Validators};
pub use request::Request;
pub use reqwest::header;
pub use reqwest::{Method, StatusCode};
pub use response::{Response, SendError};
pub use token::is_token;
