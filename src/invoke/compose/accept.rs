//! The Accept header: what the operation declares, JSON first, anything rather than nothing last.

use crate::http::header::HeaderValue;
use mime::Mime;

use crate::catalog::is_json_media_type as is_json;

/// How many declared media types are sent: documents that list dozens generate them.
const TYPES_MAX: usize = 8;

/// How many declared media types are looked at.
const READ_MAX: usize = 64;

/// What is sent for an operation that declares nothing usable.
const DEFAULT: HeaderValue = HeaderValue::from_static("application/json, */*;q=0.5");

/// The Accept header for the declared media types; those that are none are left out.
pub(super) fn header(declared: &[String]) -> HeaderValue {
    let mut types: Vec<String> = Vec::new();
    for text in declared.iter().take(READ_MAX) {
        let Some(essence) = text
            .parse::<Mime>()
            .ok()
            .map(|mime| mime.essence_str().to_owned())
        else {
            continue;
        };
        if essence != "*/*" && !types.contains(&essence) {
            types.push(essence);
        }
    }
    if types.is_empty() {
        return DEFAULT;
    }
    let any_json = types.iter().any(|one| is_json(one));
    // A stable sort: JSON first, otherwise the document's order.
    types.sort_by_key(|one| !is_json(one));
    types.truncate(TYPES_MAX);
    let mut ranges: Vec<String> = types
        .into_iter()
        .map(|one| {
            if any_json && !is_json(&one) {
                format!("{one};q=0.5")
            } else {
                one
            }
        })
        .collect();
    // Errors often come as another type than successes.
    ranges.push("*/*;q=0.1".to_owned());
    HeaderValue::from_str(&ranges.join(", ")).unwrap_or(DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_comes_first_and_what_is_no_type_is_left_out() {
        for (declared, want) in [
            (vec![], "application/json, */*;q=0.5"),
            (vec!["*/*"], "application/json, */*;q=0.5"),
            (
                vec!["text/csv", "application/hal+json; charset=utf-8"],
                "application/hal+json, text/csv;q=0.5, */*;q=0.1",
            ),
            (
                vec!["text/csv", "application/pdf", "text/csv"],
                "text/csv, application/pdf, */*;q=0.1",
            ),
            (
                vec!["a\r\nX-Evil: 1", "not a type", "application/json"],
                "application/json, */*;q=0.1",
            ),
        ] {
            let declared: Vec<String> = declared.into_iter().map(str::to_owned).collect();
            assert_eq!(header(&declared), want, "{declared:?}");
        }
        // JSON is not lost behind a long list.
        let mut many: Vec<String> = (0..20).map(|number| format!("text/x{number}")).collect();
        many.push("application/json".to_owned());
        let value = header(&many);
        let text = value.to_str().unwrap();
        assert!(
            text.starts_with("application/json, text/x0;q=0.5"),
            "{text}"
        );
        assert_eq!(text.split(", ").count(), TYPES_MAX + 1);
    }
}
