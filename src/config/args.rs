//! The flags, grouped by the room they are for.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::level_filters::LevelFilter;
use url::Url;

use super::{DefinitionSettings, Outbound};
use crate::access::OnUnknown;
use crate::catalog::DefinitionSize;
use crate::contract::Budget;
use crate::http::AllowedHosts;
use crate::index::BuildOptions;
use crate::mcp::Allowed;
use crate::telemetry::Form;
use crate::{http, invoke, mcp, server, tools};

/// A value that cannot be used, with the flag it was given for.
#[derive(Debug, thiserror::Error)]
#[error("--{flag}: {reason}")]
pub struct BadValue {
    flag: &'static str,
    reason: String,
}

impl BadValue {
    fn new(flag: &'static str, reason: &dyn ToString) -> Self {
        Self {
            flag,
            reason: reason.to_string(),
        }
    }
}

/// Refuses a limit under which nothing could be served.
fn at_least_one(flag: &'static str, limit: usize) -> Result<(), BadValue> {
    if limit == 0 {
        return Err(BadValue::new(
            flag,
            &"with 0 nothing could be served; give at least 1",
        ));
    }
    Ok(())
}

/// How large definitions may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
pub struct SizeArgs {
    /// Reduce definitions with more bytes of canonical JSON than this, with a warning: first what describes
    /// the answer, never what a required argument needs. Left out, 65,536.
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=DefinitionSize::BYTES_MAX as i64))]
    pub definition_max_bytes: Option<u32>,
    /// Leave out of every schema what is referred to over more references than this; what a required
    /// argument needs stays.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub schema_depth: Option<u32>,
    /// Leave the descriptions and examples of referenced schemas out of every definition.
    #[arg(long)]
    pub trim_descriptions: bool,
}

impl SizeArgs {
    /// The limits of definitions: a flag prevails over the configuration, and what neither says is the default.
    pub fn settings(&self, configured: &DefinitionSettings) -> DefinitionSize {
        let whole = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let defaults = DefinitionSize::default();
        DefinitionSize {
            definition_bytes_max: self
                .definition_max_bytes
                .or(configured.max_bytes)
                .map_or(defaults.definition_bytes_max, whole),
            schema_depth_max: self.schema_depth.or(configured.schema_depth).map(whole),
            trim_descriptions: self.trim_descriptions || configured.trim_descriptions,
        }
    }
}

/// A host without scheme, port and path.
pub(super) fn host(text: &str) -> Result<String, http::InvalidHost> {
    AllowedHosts::none().allow(text)?;
    Ok(text.to_owned())
}

/// What reading and building may take of the machine.
#[derive(Debug, Clone, Args)]
pub struct BuildArgs {
    /// Threads that read and build; left out, as many as there are cores.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Memory for postings while an index is built, in MiB; a build takes about 250 bytes an operation more.
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

impl BuildArgs {
    /// The settings of a build.
    pub fn settings(&self) -> BuildOptions {
        BuildOptions {
            memory_bytes: usize::try_from(self.memory)
                .unwrap_or(usize::MAX)
                .saturating_mul(1 << 20),
            threads: self.threads(),
            ..BuildOptions::default()
        }
    }

    /// How many threads; none for as many as there are cores.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// An address to listen on. Names are not resolved: one may stand for several addresses.
fn socket_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "give an IP address and a port, such as 127.0.0.1:8848 or [::1]:8848")
}

/// A URL that calls can be sent to. What would silently be left out of it is refused.
pub(super) fn base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("it must be an http or https URL with a host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it must not hold a user name or password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it must end with its path, without `?` and `#`".to_owned());
    }
    Ok(url)
}

/// When derived names start with their document's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NamePrefix {
    /// Every name does.
    Always,
    /// No name does.
    Never,
}

/// How answers are made.
#[derive(Debug, Clone, Args)]
pub struct AnswerArgs {
    /// The most bytes of one answer; a larger one is refused, never cut.
    #[arg(long, value_name = "BYTES", default_value_t = 262_144)]
    pub max_answer_bytes: usize,
    /// Leave the tags out of search answers when there are more than this.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub max_tags: usize,
    /// What to do with operations of which nothing tells whether the caller may use them.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "show")]
    pub on_unknown: OnUnknownArg,
}

/// The defaults of a group of flags are those its flags declare: there is one place for each.
macro_rules! default_by_parsing {
    ($($group:ty),+) => {
        $(impl Default for $group {
            fn default() -> Self {
                use clap::{Args as _, FromArgMatches as _};
                let command = <$group>::augment_args(clap::Command::new("defaults"));
                let parsed = command.get_matches_from(["defaults"]);
                match <$group>::from_arg_matches(&parsed) {
                    Ok(group) => group,
                    Err(error) => error.exit(),
                }
            }
        })+
    };
}

default_by_parsing!(BuildArgs, AnswerArgs, CallArgs, ListenArgs);

/// What happens to operations whose decision is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnUnknownArg {
    /// Show them, marked authUncertain.
    Show,
    /// Hide them.
    Hide,
}

impl AnswerArgs {
    /// The settings of the meta-tools.
    pub fn settings(&self) -> Result<tools::Settings, BadValue> {
        let budget = Budget::new(self.max_answer_bytes)
            .map_err(|error| BadValue::new("max-answer-bytes", &error))?;
        Ok(tools::Settings {
            budget,
            vocabulary_limit: self.max_tags,
            on_unknown: match self.on_unknown {
                OnUnknownArg::Show => OnUnknown::Show,
                OnUnknownArg::Hide => OnUnknown::Hide,
            },
            ..tools::Settings::default()
        })
    }
}

/// How backends are called.
#[derive(Debug, Clone, Args)]
pub struct CallArgs {
    /// Seconds a call may take, body included; 0 for no limit.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub deadline: f64,
    /// Calls in flight to one backend; more wait under their deadline.
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    pub max_calls: usize,
    /// The most bytes of the files that one call holds inline; more is refused.
    #[arg(long, value_name = "BYTES", default_value_t = 1024 * 1024)]
    pub max_inline_bytes: usize,
    /// Let the servers that the documents name have loopback and private addresses.
    #[arg(long)]
    pub allow_private: bool,
    /// Let this host have loopback and private addresses; may be given several times.
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
}

/// What a deadline that rounds to nothing becomes.
const DEADLINE_MIN: Duration = Duration::from_millis(1);

/// Longer than any call; what a float of seconds can safely become.
const DEADLINE_SECONDS_MAX: f64 = 86_400.0;

impl CallArgs {
    /// The settings of the outbound client.
    pub fn client(&self, outbound: &Outbound) -> Result<http::Settings, BadValue> {
        let mut allowed = if self.allow_private {
            AllowedHosts::all()
        } else {
            AllowedHosts::none()
        };
        for url in &outbound.urls {
            allowed.allow_url(url);
        }
        for host in self.allow_host.iter().chain(&outbound.hosts) {
            allowed
                .allow(host)
                .map_err(|error| BadValue::new("allow-host", &error))?;
        }
        Ok(http::Settings {
            allowed,
            ..http::Settings::default()
        })
    }

    /// The settings of calls.
    pub fn invoker(&self, budget: Budget) -> Result<invoke::Settings, BadValue> {
        if !(0.0..=DEADLINE_SECONDS_MAX).contains(&self.deadline) {
            return Err(BadValue::new(
                "deadline",
                &format!("give seconds from 0 to {DEADLINE_SECONDS_MAX}"),
            ));
        }
        at_least_one("max-calls", self.max_calls)?;
        Ok(invoke::Settings {
            // However small, it is a limit: only 0 is none.
            deadline: (self.deadline > 0.0)
                .then(|| Duration::from_secs_f64(self.deadline).max(DEADLINE_MIN)),
            budget_bytes: budget.bytes(),
            in_flight_max: self.max_calls,
            limits: invoke::Limits {
                inline_bytes_max: self.max_inline_bytes,
            },
            ..invoke::Settings::default()
        })
    }
}

/// How the gateway is reached.
#[derive(Debug, Clone, Args)]
pub struct ListenArgs {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8848", value_parser = socket_address)]
    pub listen: SocketAddr,
    /// A host that requests may be for; may be given several times; `*` for any. Left out: loopback names.
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// An origin that browsers may call from; may be given several times; `*` for any. Left out: loopback
    /// origins.
    #[arg(long, value_name = "ORIGIN")]
    pub origin: Vec<String>,
    /// Serve callers of whom nothing is known on an address that is not loopback.
    #[arg(long)]
    pub allow_anonymous: bool,
    /// The largest request body in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 4 * 1024 * 1024)]
    pub max_body_bytes: usize,
    /// Connections at the same time.
    #[arg(long, value_name = "COUNT", default_value_t = 2048)]
    pub max_connections: usize,
    /// Requests at the same time; one more is answered 503.
    #[arg(long, value_name = "COUNT", default_value_t = 512)]
    pub max_requests: usize,
    /// Searches at the same time; more wait for at most two seconds. Left out: one a core.
    #[arg(long, value_name = "COUNT")]
    pub search_threads: Option<NonZero<usize>>,
}

impl ListenArgs {
    /// The settings of the protocol.
    pub fn protocol(&self) -> Result<mcp::Settings, BadValue> {
        let listed =
            |given: &[String], flag, make: fn(&[String]) -> Result<Allowed, mcp::AllowedError>| {
                if given.is_empty() {
                    Ok(Allowed::Loopback)
                } else {
                    make(given).map_err(|error| BadValue::new(flag, &error))
                }
            };
        at_least_one("max-body-bytes", self.max_body_bytes)?;
        Ok(mcp::Settings {
            body_bytes_max: self.max_body_bytes,
            allowed_hosts: listed(&self.host, "host", |given| {
                Allowed::hosts(given.iter().map(String::as_str))
            })?,
            allowed_origins: listed(&self.origin, "origin", |given| {
                Allowed::origins(given.iter().map(String::as_str))
            })?,
            ..mcp::Settings::default()
        })
    }

    /// The settings of the server.
    pub fn server(&self) -> Result<server::Settings, BadValue> {
        if !self.listen.ip().is_loopback() && !self.allow_anonymous {
            return Err(BadValue::new(
                "listen",
                &format!(
                    "{} is not a loopback address and callers are not authenticated: anyone who reaches \
                     it could call every operation; listen on 127.0.0.1, or insist with --allow-anonymous",
                    self.listen
                ),
            ));
        }
        at_least_one("max-connections", self.max_connections)?;
        at_least_one("max-requests", self.max_requests)?;
        Ok(server::Settings {
            listen: self.listen,
            connections_max: self.max_connections,
            requests_max: self.max_requests,
            ..server::Settings::default()
        })
    }
}

/// How the operator reaches the gateway, beside those who use it.
#[derive(Debug, Clone, Args)]
pub struct AdminArgs {
    /// Answer GET /admin/status and POST /admin/reload at this address; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address, requires = "admin_token_file")]
    pub admin: Option<SocketAddr>,
    /// The file with the token of the admin address, which is sent as `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", requires = "admin")]
    pub admin_token_file: Option<PathBuf>,
    /// Let the admin address be one that is not loopback: its token then crosses a network in the clear.
    #[arg(long, requires = "admin")]
    pub allow_remote_admin: bool,
}

/// Operators are few, and a reload that one waits for is a connection.
const ADMIN_CONNECTIONS_MAX: usize = 32;

impl AdminArgs {
    /// The settings of the admin address and its token, where there is one.
    pub fn server(&self) -> Result<Option<(server::Settings, server::Token)>, BadValue> {
        let (Some(listen), Some(path)) = (self.admin, &self.admin_token_file) else {
            return Ok(None);
        };
        if !listen.ip().is_loopback() && !self.allow_remote_admin {
            return Err(BadValue::new(
                "admin",
                &format!(
                    "{listen} is not a loopback address, and the token would cross a network in the clear; \
                     take one such as 127.0.0.1:8849, or insist with --allow-remote-admin"
                ),
            ));
        }
        let token = server::Token::read(path).map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            BadValue::new(
                "admin-token-file",
                &format!("{error}{}", cause.unwrap_or_default()),
            )
        })?;
        let settings = server::Settings {
            listen,
            connections_max: ADMIN_CONNECTIONS_MAX,
            requests_max: ADMIN_CONNECTIONS_MAX,
            ..server::Settings::default()
        };
        Ok(Some((settings, token)))
    }
}

/// What is logged, to stderr.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// The least important lines that are logged. Left out: `info` for `serve`, `warn` otherwise.
    #[arg(long, global = true, value_name = "LEVEL", value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    pub log: Option<String>,
    /// How log lines look. Left out: `json` for `serve` with stderr no terminal, `text` otherwise.
    #[arg(long, global = true, value_name = "FORM", value_parser = ["text", "json"])]
    pub log_format: Option<String>,
}

impl LogArgs {
    /// The least level that is logged.
    pub fn level(&self, serves: bool) -> LevelFilter {
        let default = if serves {
            LevelFilter::INFO
        } else {
            LevelFilter::WARN
        };
        // The parser admitted level names only.
        self.log
            .as_deref()
            .and_then(|level| level.parse().ok())
            .unwrap_or(default)
    }

    /// How log lines look.
    pub fn form(&self, serves: bool) -> Form {
        match self.log_format.as_deref() {
            Some("json") => Form::Json,
            None if serves => Form::fitting_stderr(),
            _ => Form::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_is_no_deadline() {
        let deadline = |seconds| {
            let calls = CallArgs {
                deadline: seconds,
                ..CallArgs::default()
            };
            calls.invoker(Budget::default()).unwrap().deadline
        };
        assert_eq!(deadline(0.0), None);
        assert_eq!(deadline(1e-300), Some(DEADLINE_MIN));
        assert_eq!(deadline(2.5), Some(Duration::from_millis(2_500)));
    }

    #[test]
    fn base_urls_hold_nothing_that_would_be_left_out() {
        for good in ["http://127.0.0.1:80", "https://shop.test/v1/"] {
            assert!(base_url(good).is_ok(), "{good}");
        }
        for bad in [
            "shop.test",
            "ftp://shop.test",
            "file:///srv",
            "http://u@shop.test",
            "http://:p@shop.test",
            "http://shop.test/?q",
            "http://shop.test/#f",
            "h.test:80",
            "/v1",
            "",
        ] {
            assert!(base_url(bad).is_err(), "{bad}");
        }
    }
}
