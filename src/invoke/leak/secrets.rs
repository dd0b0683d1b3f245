//! Credentials in text: key blocks, tokens, keys, user info in URLs, assignments. Never decodes more than it
//! must to tell a credential from a word.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::scan::{behind, is_word, is_word_start, run};

pub(super) fn found(text: &str, lower: &str) -> bool {
    text.contains("-----BEGIN ")
        || lower.contains("putty-user-key-file")
        || has_jwt(text)
        || has_bearer(text, lower)
        || has_basic(text, lower)
        || has_authorization(text, lower)
        || has_access_key(text)
        || has_secret_key(text)
        || has_vendor_token(text)
        || has_user_info(lower)
        || has_assignment(text, lower)
}

fn is_base64url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// `eyJ…` is how every base64 text of a JSON object starts; a second part after a dot makes it a token.
fn has_jwt(text: &str) -> bool {
    text.match_indices("eyJ").any(|(at, _)| {
        if !is_word_start(text, at) {
            return false;
        }
        let head = run(&text[at..], is_base64url);
        let Some(payload) = text[at + head.len()..].strip_prefix('.') else {
            return false;
        };
        head.len() >= 10 && run(payload, is_base64url).len() >= 4
    })
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// Whether something looks drawn rather than written: a digit, or capitals among small letters, or no word
/// of any language so long.
fn looks_random(token: &str) -> bool {
    let token = token.trim_end_matches(['.', '=', '-']);
    let mixed = token
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    token.len() >= 8
        && (token.bytes().any(|byte| byte.is_ascii_digit()) || mixed || token.len() >= 24)
}

fn has_bearer(text: &str, lower: &str) -> bool {
    behind(lower, "bearer").any(|at| {
        let rest = text[at..].trim_start_matches([' ', ':', '=', '"', '\'', '`', '\t']);
        // In a URL or a form.
        let rest = rest.strip_prefix("%20").unwrap_or(rest);
        rest.len() < text.len() - at && looks_random(run(rest, is_token))
    })
}

/// `Basic` with what decodes to `user:password`.
fn has_basic(text: &str, lower: &str) -> bool {
    behind(lower, "basic ").any(|at| {
        let token = run(text[at..].trim_start(), is_token).trim_end_matches('=');
        token.len() >= 4
            && STANDARD_NO_PAD.decode(token).is_ok_and(|bytes| {
                bytes.contains(&b':') && bytes.iter().all(|byte| (b' '..0x7f).contains(byte))
            })
    })
}

/// An Authorization header as it was sent: whatever follows the scheme is a credential, however short.
fn has_authorization(text: &str, lower: &str) -> bool {
    const SCHEMES: [&str; 6] = ["bearer", "basic", "digest", "token", "apikey", "negotiate"];
    behind(lower, "authorization").any(|at| {
        let rest = text[at..].trim_start_matches(['"', '\'', ' ']);
        let Some(value) = rest.strip_prefix([':', '=']) else {
            return false;
        };
        let value = value.trim_start_matches(['"', '\'', ' ']);
        let scheme = run(value, |byte| byte.is_ascii_alphabetic());
        let token = run(value[scheme.len()..].trim_start(), is_token);
        SCHEMES.iter().any(|one| scheme.eq_ignore_ascii_case(one)) && token.len() >= 4
    })
}

/// The secret half of such a key: forty letters, digits, slashes and pluses, of every kind of character.
fn has_secret_key(text: &str) -> bool {
    const SECRET_CHARS: usize = 40;
    let is_secret = |byte: u8| byte.is_ascii_alphanumeric() || b"/+".contains(&byte);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = run(&text[at..], is_secret).len();
        let word = &bytes[at..at + length];
        if length == SECRET_CHARS
            && word.iter().any(u8::is_ascii_digit)
            && word.iter().any(u8::is_ascii_lowercase)
            && word.iter().any(u8::is_ascii_uppercase)
        {
            return true;
        }
        // Past the run and the one character that ended it, which may be longer than a byte.
        at += length;
        at += text[at..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// The four letters that every key identifier of Amazon's kind starts with, and sixteen more.
fn has_access_key(text: &str) -> bool {
    const KINDS: [&str; 10] = [
        "AKIA", "ASIA", "AGPA", "AIDA", "AROA", "AIPA", "ANPA", "ANVA", "ABIA", "ACCA",
    ];
    super::scan::words(text).any(|(_, word)| {
        word.len() == 20
            && KINDS.iter().any(|kind| word.starts_with(kind))
            && word
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    })
}

/// Tokens that say by their first letters whose they are.
fn has_vendor_token(text: &str) -> bool {
    const KINDS: [&str; 14] = [
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "xapp-",
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "AIza",
    ];
    const TAIL_MIN: usize = 16;
    KINDS.iter().any(|kind| {
        text.match_indices(kind).any(|(at, _)| {
            is_word_start(text, at) && run(&text[at + kind.len()..], is_base64url).len() >= TAIL_MIN
        })
    })
}

/// `scheme://user@host` and `scheme://user:password@host`.
fn has_user_info(lower: &str) -> bool {
    lower.match_indices("://").any(|(at, separator)| {
        let rest = &lower[at + separator.len()..];
        let end = rest
            .find(|character: char| {
                character.is_whitespace() || "/?#\"'`<>()\\".contains(character)
            })
            .unwrap_or(rest.len());
        rest[..end].find('@').is_some_and(|at| at > 0)
    })
}

/// `password=…` and its like: a name that asks for secrecy, and a value.
fn has_assignment(text: &str, lower: &str) -> bool {
    const NAMES: [&str; 19] = [
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "secret",
        "secretkey",
        "secret_key",
        "secretaccesskey",
        "secret_access_key",
        "client_secret",
        "api_key",
        "api-key",
        "apikey",
        "access_key",
        "access_token",
        "refresh_token",
        "private_key",
        "accountkey",
        "sharedaccesskey",
    ];
    NAMES.iter().any(|name| {
        lower
            .match_indices(name)
            .any(|(at, _)| is_secret_value(&text[at + name.len()..]))
    })
}

/// Whether what follows a name is its value rather than the rest of a sentence.
fn is_secret_value(rest: &str) -> bool {
    // Words that stand for a value without being one.
    const NO_VALUES: [&str; 8] = [
        "null", "none", "true", "false", "string", "value", "your", "example",
    ];
    let value_of = |rest: &str| {
        let value = run(rest.trim_start_matches(['"', '\'', '`']), |byte| {
            byte.is_ascii_graphic() && !b"\"'`;,&<>".contains(&byte)
        });
        value.to_owned()
    };
    // Written without a space, or as a member of JSON text: any value.
    let tight = rest.strip_prefix('=').or_else(|| {
        rest.strip_prefix("\":")
            .map(str::trim_start)
            .filter(|value| value.starts_with('"'))
    });
    if let Some(tight) = tight {
        let value = value_of(tight).to_ascii_lowercase();
        return value.len() >= 4 && NO_VALUES.iter().all(|word| !value.starts_with(word));
    }
    // With a space it may be a sentence (`password: must be …`): only what no word looks like.
    let loose = rest
        .trim_start_matches(' ')
        .strip_prefix(['=', ':'])
        .map(str::trim_start);
    loose.is_some_and(|loose| {
        let value = value_of(loose);
        value.len() >= 7
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
