//! Names of exception types, and names qualified as only source code does.

use super::scan::{before, is_word, run, run_back, words};

/// The longest qualified name that is looked at, in bytes.
const NAME_BYTES_MAX: usize = 200;

pub(super) fn found(text: &str, lower: &str) -> bool {
    words(text).any(|(at, word)| is_exception_type(text, at, word))
        || has_scope(text)
        || has_namespace(text)
        || ["exceptions.", ".exc.", ".errors."].iter().any(|module| {
            lower.match_indices(module).any(|(at, _)| {
                let after = &text[at + module.len()..];
                after.starts_with(|first: char| first.is_ascii_uppercase())
                    && (module.starts_with('.') || before(text, at) == Some(b'.'))
                    && !run_back(&text[..at], NAME_BYTES_MAX, |byte| {
                        is_word(byte) || byte == b'.'
                    })
                    .is_empty()
            })
        })
}

/// `NullPointerException`, `TypeError`, and `System.Exception`, `url.Error` where a module stands before.
///
/// `Error: …` and `an exception occurred` are words; `VALIDATION_ERROR` and `fieldError` are codes and keys.
fn is_exception_type(text: &str, at: usize, word: &str) -> bool {
    for ending in ["Exception", "Error"] {
        let Some(stem) = word.strip_suffix(ending) else {
            continue;
        };
        if stem.is_empty() {
            return has_module_before(text, at);
        }
        // The last part of a name with underscores: `My_Error` is none, `_InactiveRpcError` is one.
        let last = stem.rsplit('_').next().unwrap_or_default();
        return last.starts_with(|first: char| first.is_ascii_uppercase());
    }
    false
}

/// Whether `module.` stands directly before, as in `System.` or `java.lang.`.
fn has_module_before(text: &str, at: usize) -> bool {
    text[..at].strip_suffix('.').is_some_and(|module| {
        let module = run_back(module, NAME_BYTES_MAX, |byte| is_word(byte) || byte == b'.');
        module.starts_with(|first: char| first.is_ascii_alphabetic())
    })
}

/// `Module::Name` of Ruby, C++, Rust and PHP; not the `::` of an address.
fn has_scope(text: &str) -> bool {
    text.match_indices("::").any(|(at, sign)| {
        let left = run_back(&text[..at], NAME_BYTES_MAX, is_word);
        let right = run(&text[at + sign.len()..], is_word);
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        };
        let is_hex = |name: &str| name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name(left) && is_name(right) && !(is_hex(left) && is_hex(right))
    })
}

/// `App\Models\User`: three names with capitals, joined by backslashes (doubled by a second encoding).
fn has_namespace(text: &str) -> bool {
    let mut joined = 0_usize;
    // Where the last capitalised word ended.
    let mut end = None;
    for (at, word) in words(text) {
        let capital = word.len() > 1 && word.starts_with(|first: char| first.is_ascii_uppercase());
        let follows = end.is_some_and(|end: usize| matches!(&text[end..at], "\\" | "\\\\"));
        joined = if capital && follows { joined + 1 } else { 0 };
        end = capital.then_some(at + word.len());
        if joined >= 2 {
            return true;
        }
    }
    false
}
