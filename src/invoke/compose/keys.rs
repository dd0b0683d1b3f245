//! Keys that come out of values: none of them sets a parameter or field that is another's.
//!
//! Owns: when two keys mean the same to a lenient reader. Must never let a doubt pass: what is refused can be given
//! in its own argument, what passes wrongly sets something else.

use std::collections::{HashMap, HashSet};

const ANOTHERS: &str =
    "has a key that is another parameter's name; give that value in its own argument";

/// The names that are taken in one query, form or cookie header.
#[derive(Debug)]
pub(super) struct Keys {
    /// Names that are declared or reserved, in lower case (some backends ignore case), by their path.
    paths: HashMap<String, HashSet<String>>,
    /// The same by the stem of their path.
    stems: HashMap<String, HashSet<String>>,
    /// Keys that came out of values, in lower case.
    generated: HashSet<String>,
    /// The stems of exploded keys, with the parameter whose value they came out of.
    owners: HashMap<String, String>,
}

impl Keys {
    pub(super) fn new<'a>(taken: impl Iterator<Item = &'a str>) -> Self {
        let mut keys = Self {
            paths: HashMap::new(),
            stems: HashMap::new(),
            generated: HashSet::new(),
            owners: HashMap::new(),
        };
        for name in taken {
            let folded = name.to_lowercase();
            let path = path(name);
            let stem = stem(&path).to_owned();
            keys.stems.entry(stem).or_default().insert(folded.clone());
            keys.paths.entry(path).or_default().insert(folded);
        }
        keys
    }

    /// Takes a key of an exploded object, which stands beside the others as if it were one.
    pub(super) fn claim_exploded(&mut self, own: &str, key: &str) -> Result<(), &'static str> {
        let own = own.to_lowercase();
        let path = path(key);
        let stem = stem(&path);
        if has_another(&self.stems, stem, &own) {
            return Err(ANOTHERS);
        }
        match self.owners.get(stem) {
            Some(owner) if *owner != own => return Err(ANOTHERS),
            Some(_) => {}
            None => {
                self.owners.insert(stem.to_owned(), own);
            }
        }
        self.claim(key)
    }

    /// Takes a bracketed key that came out of an object.
    pub(super) fn claim_deep(&mut self, own: &str, name: &str) -> Result<(), &'static str> {
        self.check_deep(own, name)?;
        self.claim(name)
    }

    /// Looks at the bracketed name of the items of a list, which may repeat: something may be declared under the
    /// very name, or around it.
    pub(super) fn check_deep(&self, own: &str, name: &str) -> Result<(), &'static str> {
        let own = own.to_lowercase();
        let path = path(name);
        let around = path.match_indices('.').map(|(at, _)| &path[..at]);
        // A list under `a[]` leaves room for members of `a` beside it.
        let holds = |name: &str| name != own && !name.ends_with("[]");
        let met = around
            .filter_map(|path| self.paths.get(path))
            .flatten()
            .any(|name| holds(name));
        if met || has_another(&self.paths, &path, &own) {
            Err(ANOTHERS)
        } else {
            Ok(())
        }
    }

    fn claim(&mut self, key: &str) -> Result<(), &'static str> {
        if key.is_empty() {
            return Err("has an empty key");
        }
        if self.generated.insert(key.to_lowercase()) {
            Ok(())
        } else {
            Err(
                "has a key that differs from another only in case, or that another argument sets too",
            )
        }
    }
}

fn has_another(names: &HashMap<String, HashSet<String>>, at: &str, own: &str) -> bool {
    names
        .get(at)
        .is_some_and(|taken| taken.iter().any(|name| name != own))
}

/// A key as readers of nested forms take it apart: `a[b][]`, `A[b]` and `a.b` are one.
pub(super) fn path(key: &str) -> String {
    let mut path: String = key
        .to_lowercase()
        .chars()
        .filter(|c| *c != ']')
        .map(|c| if c == '[' { '.' } else { c })
        .collect();
    path.truncate(path.trim_end_matches('.').len());
    path
}

/// The first part of a path.
pub(super) fn stem(path: &str) -> &str {
    match path.find('.') {
        Some(at) if at > 0 => &path[..at],
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_mean_a_taken_name_are_refused_in_every_spelling() {
        let taken = || Keys::new(["tenant", "filter[]", "own", "A.b"].into_iter());
        for key in [
            "tenant",
            "TENANT",
            "tenant[id]",
            "tenant.id",
            "tenant[]",
            "filter",
            "a[c]",
        ] {
            assert!(taken().claim_exploded("own", key).is_err(), "{key}");
        }
        for key in ["other", "own", "own[x]", "tenants", "te.nant"] {
            assert!(taken().claim_exploded("own", key).is_ok(), "{key}");
        }
        for (own, name) in [("filter", "filter[]"), ("a", "a[b]"), ("a", "a[B][c]")] {
            assert!(taken().claim_deep(own, name).is_err(), "{name}");
            assert!(taken().check_deep(own, name).is_err(), "{name}");
        }
        for (own, name) in [
            ("a", "a[c]"),
            ("filter", "filter[a]"),
            ("filter", "filter[a][]"),
        ] {
            assert!(taken().claim_deep(own, name).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_one_value_set_no_other_value_sets() {
        let mut keys = Keys::new(["one", "two"].into_iter());
        keys.claim_exploded("one", "x").unwrap();
        keys.claim_exploded("one", "x[a]").unwrap();
        for key in ["x", "X", "x[]", "x.b"] {
            assert!(keys.claim_exploded("two", key).is_err(), "{key}");
        }
        assert!(keys.claim_exploded("one", "X").is_err());
        assert!(keys.claim_exploded("one", "").is_err());
    }
}
