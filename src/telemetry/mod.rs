//! Seeing what goes on: the one place where logging is set up.
//!
//! Owns: where log lines go and in which form. Logs go to stderr and never hold query text, arguments,
//! bodies or credentials. Must never be imported by a room below the wiring.

use std::io::IsTerminal as _;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people, with colours on a terminal.
    Text,
    /// One JSON object a line.
    Json,
}

impl Form {
    /// Text on a terminal, JSON otherwise.
    pub fn fitting_stderr() -> Self {
        if std::io::stderr().is_terminal() {
            Self::Text
        } else {
            Self::Json
        }
    }
}

/// Logging was set up before, or cannot be.
#[derive(Debug, thiserror::Error)]
#[error("logging cannot be set up")]
pub struct SetupError(#[from] tracing_subscriber::util::TryInitError);

/// Sends the project's own lines of at least `level` to stderr; libraries are heard from warnings up.
pub fn set_up(level: LevelFilter, form: Form) -> Result<(), SetupError> {
    let filter = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("sezzlee", level);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match form {
        Form::Text => lines.with_ansi(std::io::stderr().is_terminal()).boxed(),
        Form::Json => lines.json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init()?;
    tell_panics();
    Ok(())
}

/// A panic is told like any other fault: one line with its place. What it says may hold a text of a caller
/// or of a backend, so it is told only when debug lines are asked for.
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        tracing::error!(place, "a fault inside; its place helps whoever mends it");
        tracing::debug!(said = panic.payload_as_str(), "what the fault said");
    }));
}
