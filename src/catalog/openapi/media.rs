//! Media types of bodies: which of those offered is used.
//!
//! Owns: telling JSON from the rest, and the choice among several. Must never look at a schema.

/// The type without its parameters, in lower case.
pub(super) fn essence(media_type: &str) -> String {
    let end = media_type.find(';').unwrap_or(media_type.len());
    media_type[..end].trim().to_ascii_lowercase()
}

/// Whether a type is JSON, or a range that JSON is in.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = essence(media_type);
    matches!(
        essence.as_str(),
        "application/json" | "text/json" | "*/*" | "application/*"
    ) || essence.ends_with("+json")
}

/// The JSON type to use of those offered: `application/json` itself before its relatives.
pub(super) fn json_of<'a>(mut offered: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let mut relatives = offered.clone();
    offered
        .find(|one| essence(one) == "application/json")
        .or_else(|| relatives.find(|one| is_json(one)))
}

/// What a JSON body is sent as: the type as declared, a range as `application/json`.
pub(super) fn sent_as(declared: &str) -> String {
    if declared.contains('*') {
        "application/json".to_owned()
    } else {
        declared.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_among_its_relatives() {
        for (offered, want) in [
            (
                &["application/xml", "application/json"][..],
                Some("application/json"),
            ),
            (
                &[
                    "application/merge-patch+json",
                    "application/JSON; charset=utf-8",
                ],
                Some("application/JSON; charset=utf-8"),
            ),
            (
                &["application/vnd.a+json", "*/*"],
                Some("application/vnd.a+json"),
            ),
            (&["*/*"], Some("*/*")),
            (&["application/x-www-form-urlencoded", "text/plain"], None),
            (&["application/jsonlines"], None),
            (&[], None),
        ] {
            assert_eq!(json_of(offered.iter().copied()), want);
        }
        assert_eq!(sent_as("application/*"), "application/json");
    }
}
