//! Tokens: folded pieces long enough to match, and the tokens of a query.

use super::fold::fold_into;
use super::pieces::pieces;

/// A query token of at least this many characters matches by prefix; a shorter one only itself.
pub const PREFIX_CHARS_MIN: usize = 3;

/// Only this many distinct tokens of a query count; longer queries are pasted text.
pub const QUERY_TOKENS_MAX: usize = 64;

/// A query is at most this many bytes; a longer one is refused before it is tokenized.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;

/// Pieces under this many characters are dropped.
const TOKEN_CHARS_MIN: usize = 2;

/// A piece over this many characters loses one final `s`.
const PLURAL_CHARS_OVER: usize = 3;

/// Calls `token` with every token of the text, in order, repeats included.
///
/// Each piece is folded, dropped when under two characters, and loses one final `s` when it is over
/// three characters long. Query and catalogue text pass through this one function.
pub fn for_each_token(text: &str, mut token: impl FnMut(&str)) {
    let mut folded = String::new();
    pieces(text, |piece| {
        folded.clear();
        fold_into(piece, &mut folded);
        let chars = folded.chars().take(PLURAL_CHARS_OVER + 1).count();
        if chars < TOKEN_CHARS_MIN {
            return;
        }
        let stem = match folded.strip_suffix('s') {
            Some(stem) if chars > PLURAL_CHARS_OVER => stem,
            _ => folded.as_str(),
        };
        token(stem);
    });
}

/// The tokens of a text, in order, repeats included.
pub fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for_each_token(text, |token| all.push(token.to_owned()));
    all
}

/// The distinct tokens of a query in order of first occurrence, at most [`QUERY_TOKENS_MAX`].
pub fn query_tokens(query: &str) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for_each_token(query, |token| {
        if distinct.len() < QUERY_TOKENS_MAX && !distinct.iter().any(|known| known == token) {
            distinct.push(token.to_owned());
        }
    });
    distinct
}

/// Whether a query token matches every catalogue token that starts with it, or only itself.
pub fn is_prefix_query(token: &str) -> bool {
    token.chars().nth(PREFIX_CHARS_MIN - 1).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    proptest! {
        #[test]
        fn composed_and_decomposed_spellings_agree(text in "\\PC{0,40}") {
            let composed: String = text.nfc().collect();
            let decomposed: String = text.nfd().collect();
            prop_assert_eq!(tokens(&composed), tokens(&decomposed));
        }

        #[test]
        fn tokens_never_panic_and_survive_themselves(text in any::<String>()) {
            for token in tokens(&text) {
                prop_assert!(token.chars().count() >= TOKEN_CHARS_MIN);
            }
        }
    }

    #[test]
    fn a_query_counts_each_token_once_and_only_the_first_64() {
        assert_eq!(query_tokens("orders order ORDER list"), ["order", "list"]);
        let many: String = (0..100).map(|n| format!("word{n} ")).collect();
        assert_eq!(query_tokens(&many).len(), QUERY_TOKENS_MAX);
    }

    #[test]
    fn three_characters_make_a_prefix() {
        assert!(!is_prefix_query("ab"));
        assert!(is_prefix_query("abc"));
        assert!(!is_prefix_query("订单"));
        assert!(is_prefix_query("北京市"));
    }
}
