//! Keys that come out of values: none of them sets a parameter or field that is another's.

use std::collections::HashSet;

const ANOTHERS: &str =
    "has a key that is another parameter's name; give that value in its own argument";

/// The names that are taken in one query, form or cookie header.
#[derive(Debug)]
pub(super) struct Keys {
    /// Names that are declared, in lower case: some backends ignore case.
    taken: Vec<String>,
    /// Keys that came out of values, in lower case.
    generated: HashSet<String>,
}

impl Keys {
    pub(super) fn new<'a>(declared: impl Iterator<Item = &'a str>) -> Self {
        Self {
            taken: declared.map(str::to_lowercase).collect(),
            generated: HashSet::new(),
        }
    }

    /// Takes a key of an exploded object, which stands beside the others as if it were one.
    pub(super) fn claim_exploded(&mut self, own: &str, key: &str) -> Result<(), &'static str> {
        let own = own.to_lowercase();
        let folded = key.to_lowercase();
        let met = self
            .taken
            .iter()
            .filter(|name| **name != own)
            .any(|name| stem(name) == stem(&folded));
        if met {
            return Err(ANOTHERS);
        }
        self.claim(folded)
    }

    /// Takes a bracketed key: something may be declared under the very name.
    pub(super) fn claim_deep(&mut self, own: &str, name: &str) -> Result<(), &'static str> {
        let own = own.to_lowercase();
        let folded = name.to_lowercase();
        let met = self.taken.iter().any(|taken| {
            folded
                .strip_prefix(taken.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
                && *taken != own
        });
        if met {
            return Err(ANOTHERS);
        }
        self.claim(folded)
    }

    fn claim(&mut self, folded: String) -> Result<(), &'static str> {
        if folded.is_empty() {
            return Err("has an empty key");
        }
        if self.generated.insert(folded) {
            Ok(())
        } else {
            Err(
                "has a key that differs from another only in case, or that another argument sets too",
            )
        }
    }
}

/// The part of a key before its brackets: `a[b]` and `a` are one parameter to readers of nested queries.
fn stem(key: &str) -> &str {
    match key.find('[') {
        Some(at) if at > 0 => &key[..at],
        _ => key,
    }
}
