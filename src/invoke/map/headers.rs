//! Headers of errors that are forwarded: how long to wait, and under which id the call can be found.

use std::time::SystemTime;

use crate::http::header::{HeaderMap, RETRY_AFTER};
use crate::invoke::leak;

/// Headers that name a call, the first that is usable wins (invoke.md, "Map").
const REFERENCES: [&str; 4] = [
    "x-correlation-id",
    "x-request-id",
    "request-id",
    "x-trace-id",
];

/// The longest reference, in characters (invoke.md, "Map").
const REFERENCE_CHARS_MAX: usize = 100;

/// The seconds of Retry-After, written as seconds or as a date; a date that has passed is 0.
pub(super) fn retry_after_seconds(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(seconds);
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let wait = until.duration_since(now).unwrap_or_default();
    // Rounded up: a second too early is too early.
    Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

/// The reference of the headers, else the problem's.
pub(super) fn reference(headers: &HeaderMap, problem: Option<&str>) -> Option<String> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let named = REFERENCES
        .iter()
        .find_map(|name| value(name).and_then(usable));
    let traced = || {
        let mut parts = value("traceparent")?.split('-');
        // version-traceid-parentid-flags (W3C Trace Context).
        parts.nth(1).and_then(usable)
    };
    named.or_else(traced).or_else(|| problem.and_then(usable))
}

fn usable(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b":_.-".contains(&byte));
    let fits = !text.is_empty() && text.len() <= REFERENCE_CHARS_MAX;
    (plain && fits && leak::find(text).is_none()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::http::header::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn retry_after_in_both_forms() {
        // 1994-11-06T08:49:37Z, the example date of RFC 9110.
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(784_111_777_500);
        for (value, want) in [
            ("120", Some(120)),
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun Nov  6 08:50:37 1994", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let headers = headers(&[("retry-after", value)]);
            assert_eq!(retry_after_seconds(&headers, now), want, "{value}");
        }
        assert_eq!(retry_after_seconds(&HeaderMap::new(), now), None);
    }

    #[test]
    fn the_first_usable_reference_wins() {
        let all = [
            (
                "traceparent",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ),
            ("x-trace-id", "t"),
            ("request-id", "r"),
            ("x-request-id", "a b"),
        ];
        assert_eq!(reference(&headers(&all), Some("p")).as_deref(), Some("r"));
        assert_eq!(
            reference(&headers(&all[..1]), Some("p")).as_deref(),
            Some("4bf92f3577b34da6a3ce929d0e0e4736")
        );
        assert_eq!(
            reference(&HeaderMap::new(), Some("00-ab.c")).as_deref(),
            Some("00-ab.c")
        );
        for bad in ["", "a\"b", "é", "<x>", "AKIAIOSFODNN7EXAMPLE"] {
            assert_eq!(reference(&HeaderMap::new(), Some(bad)), None, "{bad}");
        }
        assert_eq!(reference(&HeaderMap::new(), Some(&"a".repeat(101))), None);
        assert!(reference(&HeaderMap::new(), Some(&"a".repeat(100))).is_some());
    }
}
