//! The token of HTTP: what methods, header names and cookie names are made of.
//!
//! Owns: the grammar. Must never decide which tokens are allowed where.

/// Whether a text is a token (RFC 9110, 5.6.2): one or more of the letters, digits and signs that separate nothing.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_no_separator_space_or_control() {
        for good in ["a", "X-Y", "M-SEARCH", "!#$%&'*+-.^_`|~0"] {
            assert!(is_token(good), "{good}");
        }
        for bad in [
            "", "a b", "a:b", "a;b", "a=b", "a,b", "(a)", "\"a\"", "a/b", "[a]", "a\r\nb", "\0",
            "é",
        ] {
            assert!(!is_token(bad), "{bad:?}");
        }
    }
}
