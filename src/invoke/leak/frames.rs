//! Stack frames: positions in source files, frames without a position, and the words around a trace.

use super::scan::{before, is_word, is_word_start, run, run_back};

/// Extensions of source files that frames name.
const SOURCES: [&str; 37] = [
    "java", "kt", "kts", "scala", "groovy", "clj", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts",
    "tsx", "vue", "svelte", "py", "pyx", "cs", "vb", "fs", "cshtml", "go", "rb", "erb", "php",
    "rs", "c", "cc", "cpp", "h", "swift", "dart", "ex", "exs", "lua", "pl",
];

/// Those that are also top-level domains: `shop.rs:8080` is a host unless a column follows.
const DOMAINS: [&str; 6] = ["rs", "cc", "pl", "vb", "fs", "h"];

/// What stands around traces and nowhere else, in lower case.
const PHRASES: [&str; 21] = [
    "traceback (most recent call last",
    "stack trace:",
    "stacktrace",
    "stack backtrace",
    "panicked at",
    "panic: runtime error",
    "exception in thread",
    "--- end of ",
    "end of inner exception",
    "node:internal/",
    "webpack://",
    "webpack-internal:",
    "object.<anonymous>",
    "promise.all (index",
    "(<anonymous>)",
    "(native method)",
    "(unknown source)",
    "(native)",
    "#0 {main}",
    "{main}",
    "[as handle_request]",
];

pub(super) fn found(text: &str, lower: &str) -> bool {
    PHRASES.iter().any(|phrase| lower.contains(phrase))
        || has_goroutine(lower)
        || has_position(text, lower)
        || has_python_line(lower)
        || has_call_frame(text, lower)
        || has_qualified_call(text)
        || has_go_frame(lower)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

fn has_goroutine(lower: &str) -> bool {
    lower.match_indices("goroutine ").any(|(at, word)| {
        let rest = &lower[at + word.len()..];
        rest[run(rest, |byte| byte.is_ascii_digit()).len()..].starts_with(" [")
            && starts_with_digit(rest)
    })
}

/// `File.java:12`, `app.js:3:14`, `a.php(12)`, `Foo.cs:line 42`, `x.pl line 3`, `(Foo.java)`.
fn has_position(text: &str, lower: &str) -> bool {
    lower.match_indices('.').any(|(at, _)| {
        let extension = run(&lower[at + 1..], |byte| byte.is_ascii_alphanumeric());
        if !SOURCES.contains(&extension)
            || !before(text, at).is_some_and(|byte| is_word(byte) || b"])->".contains(&byte))
        {
            return false;
        }
        let rest = &lower[at + 1 + extension.len()..];
        match rest.strip_prefix(':') {
            Some(position) if starts_with_digit(position) => {
                let line = run(position, |byte| byte.is_ascii_digit());
                let column = position[line.len()..].strip_prefix(':');
                column.is_some_and(starts_with_digit)
                    || !(DOMAINS.contains(&extension) || is_in_web_url(&lower[..at]))
            }
            Some(position) => position
                .strip_prefix("line ")
                .is_some_and(starts_with_digit),
            None => {
                let call = rest.strip_prefix('(').is_some_and(|line| {
                    let digits = run(line, |byte| byte.is_ascii_digit());
                    !digits.is_empty() && line[digits.len()..].starts_with([')', ','])
                });
                let worded = [" line ", " on line ", "\", line ", "', line ", ", line "]
                    .iter()
                    .any(|words| rest.strip_prefix(words).is_some_and(starts_with_digit));
                let closed = rest.starts_with(')')
                    && matches!(extension, "java" | "kt" | "scala" | "groovy");
                call || worded || closed
            }
        }
    })
}

/// The longest qualified name of a method that is looked at, in bytes.
const CALL_BYTES_MAX: usize = 200;

/// How far back the scheme of a URL is looked for, in bytes.
const URL_BYTES_MAX: usize = 300;

fn is_in_web_url(until: &str) -> bool {
    let token = run_back(until, URL_BYTES_MAX, |byte| {
        byte.is_ascii_graphic() && !b"\"'`()<>".contains(&byte)
    });
    token.contains("http://") || token.contains("https://")
}

/// `File "x", line 12, in f`, whatever the file is called.
fn has_python_line(lower: &str) -> bool {
    lower
        .match_indices("\", line ")
        .any(|(at, words)| starts_with_digit(&lower[at + words.len()..]))
}

/// `at Namespace.Type.Method(` of .NET and Java, without a space before the bracket.
fn has_call_frame(text: &str, lower: &str) -> bool {
    lower.match_indices("at ").any(|(at, word)| {
        if !is_word_start(lower, at) {
            return false;
        }
        let name = run(&text[at + word.len()..], |byte| {
            is_word(byte) || b".$<>`+[]/".contains(&byte)
        });
        if !text[at + word.len() + name.len()..].starts_with('(') {
            return false;
        }
        let dots = name.matches('.').count();
        let last = name.rsplit('.').next().unwrap_or_default();
        dots >= 2
            || (dots == 1
                && last.starts_with(|first: char| first.is_ascii_uppercase() || first == '<'))
    })
}

/// `Namespace.Part.Type.Method(`, a frame whose `at` was cut off: three dots and a bracket.
fn has_qualified_call(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let name = run_back(&text[..at], CALL_BYTES_MAX, |byte| {
            is_word(byte) || byte == b'.'
        });
        name.matches('.').count() >= 3
            && name
                .split('.')
                .all(|part| part.starts_with(|first: char| first.is_ascii_alphabetic()))
    })
}

/// `main.(*Server).handle(0xc0001)` and `+0x1d`.
fn has_go_frame(lower: &str) -> bool {
    lower.contains(".(*")
        || ["(0x", "+0x"].iter().any(|sign| {
            lower.match_indices(sign).any(|(at, _)| {
                lower[at + sign.len()..].starts_with(|first: char| first.is_ascii_hexdigit())
            })
        })
}
