//! The corpus, and what holds for every text.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// How many innocent texts of the corpus the filter may lose.
const LOST_MAX: usize = 1;

fn corpus(list: &str) -> Vec<(String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/leaks.json");
    let text = std::fs::read(path).unwrap();
    let all = crate::json::parse(&text, 10).unwrap().value;
    let entries = all[list].as_array().unwrap();
    assert!(entries.len() >= 80, "{list}: {}", entries.len());
    entries
        .iter()
        .map(|entry| match entry {
            Value::String(text) => (String::new(), text.clone()),
            entry => (
                entry["kind"].as_str().unwrap().to_owned(),
                entry["text"].as_str().unwrap().to_owned(),
            ),
        })
        .collect()
}

#[test]
fn no_leak_passes() {
    let passed: Vec<_> = corpus("leaks")
        .into_iter()
        .filter(|(_, text)| filter(text).is_some())
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn at_most_one_innocent_text_is_lost() {
    let lost: Vec<_> = corpus("innocent")
        .into_iter()
        .filter_map(|(_, text)| find(&text).map(|leak| (leak, text)))
        .collect();
    assert!(lost.len() <= LOST_MAX, "{lost:#?}");
}

#[test]
fn a_leak_is_found_wherever_it_stands() {
    for (kind, text) in corpus("leaks") {
        for placed in [
            format!("Could not save the order: {text}"),
            format!("{text} (see the log)"),
            format!("\"{text}\""),
            format!("first line\n{text}\nlast line"),
        ] {
            assert!(filter(&placed).is_none(), "{kind}: {placed}");
        }
    }
}

#[test]
fn a_text_over_a_thousand_characters_is_dropped() {
    assert!(filter(&"é ".repeat(500)).is_some());
    assert_eq!(find(&"é".repeat(1001)), Some(Leak::TooLong));
}

#[test]
fn tokens_of_known_vendors_are_secrets() {
    let tail = "0123456789abcdefABCDEF";
    for kind in ["ghp_", "github_pat_", "glpat-", "xoxb-", "sk_live_", "AIza"] {
        assert_eq!(
            find(&format!("key {kind}{tail} is bad")),
            Some(Leak::Secret)
        );
        assert_eq!(find(&format!("keys start with {kind}")), None);
    }
}

#[test]
fn every_kind_has_a_sentence_that_passes_the_filter_itself() {
    for kind in [
        FailureKind::ValidationFailed,
        FailureKind::BadRequest,
        FailureKind::Unauthenticated,
        FailureKind::Forbidden,
        FailureKind::NotFound,
        FailureKind::Conflict,
        FailureKind::RateLimited,
        FailureKind::BackendError,
        FailureKind::BackendUnavailable,
        FailureKind::Timeout,
    ] {
        let sentence = Filtered::standard(kind);
        assert_eq!(find(sentence.as_str()), None);
    }
    let own = Filtered::own(&[
        Part::Text("over "),
        Part::Number(30),
        Part::Text(" s for "),
        Part::Argument("limit"),
    ]);
    assert_eq!(own.as_str(), "over 30 s for `limit`");
}

proptest! {
    #[test]
    fn the_filter_never_panics(text in "\\PC{0,200}") {
        let _ = find(&text);
    }

    #[test]
    fn the_filter_never_panics_near_its_signs(
        text in "(eyJ|bearer |basic |://|@|at |\\.py|\\.cs|:line |::|\\\\|/usr/|=|;|é|file|\\$|Error|%|~/|C:|[a-zA-Z0-9 ]){0,40}"
    ) {
        let _ = find(&text);
    }

    #[test]
    fn plain_words_pass(text in "[a-z]{1,9}( [a-z]{1,9}){0,12}\\.?") {
        prop_assume!(!text.contains("bearer") && !text.contains("basic"));
        prop_assert_eq!(find(&text), None);
    }
}
