//! The one place that writes to stdout and stderr.

use std::io::{self, Write as _};

use anyhow::Context as _;
use serde_json::Value;

use crate::json::JsonError;

/// Writes bytes to stdout.
pub(super) fn stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.context("the output cannot be written")
}

/// Writes one line to stdout.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    stdout(format!("{text}\n").as_bytes())
}

/// Writes one line to stderr. Where stderr is gone there is nobody to tell.
pub(super) fn stderr_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether the reader of the output went away: `sezzlee … | head` is no fault.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// A text of strangers for a terminal: control characters are shown, not obeyed.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control() && c != '\n';
            let plain = (!escaped).then_some(c);
            let shown = escaped.then(|| c.escape_default());
            plain.into_iter().chain(shown.into_iter().flatten())
        })
        .collect()
}

/// An answer of the project's own as a value. However deep it nests, it was written from one as deep.
pub(super) fn read_answer(text: &str) -> Result<Value, JsonError> {
    crate::json::parse(text.as_bytes(), usize::MAX).map(|parsed| parsed.value)
}

/// Digits of a count in groups of three.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in the largest binary unit that leaves at least one whole.
pub(super) fn sized(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} bytes")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(sized(1_023), "1023 bytes");
        assert_eq!(sized(1_536), "1.5 KiB");
        assert_eq!(sized(300 << 30), "300.0 GiB");
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(printable("a\u{1b}[31m\tb\né"), "a\\u{1b}[31m\\tb\né");
    }
}
