//! Which parts of a document are the operator's word.
//!
//! Owns: the places that overlays wrote, and what becomes of them when a document is changed further. Must never
//! trust a place that may hold what a stranger wrote.

use std::collections::BTreeSet;

use crate::json::Pointer;

/// What of a document is trusted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Trust {
    /// The operator marked the whole document.
    whole: bool,
    /// What overlays wrote, with everything below.
    places: BTreeSet<Pointer>,
}

impl Trust {
    /// A document that the operator marks, or does not.
    pub(crate) fn of_document(whole: bool) -> Self {
        Self {
            whole,
            places: BTreeSet::new(),
        }
    }

    /// Whether all that stands at a place is the operator's word.
    pub(crate) fn holds(&self, at: &Pointer) -> bool {
        if self.whole {
            return true;
        }
        if self.places.is_empty() {
            return false;
        }
        let mut at = at.clone();
        loop {
            if self.places.contains(&at) {
                return true;
            }
            if at == Pointer::root() {
                return false;
            }
            at.pop();
        }
    }

    /// Notes that the operator wrote all that stands at a place.
    pub(crate) fn wrote(&mut self, at: Pointer) {
        self.places.insert(at);
    }

    /// Notes that what stood at a place is gone.
    pub(crate) fn removed(&mut self, at: &Pointer) {
        let below = format!("{}/", at.as_str());
        self.places
            .retain(|place| place != at && !place.as_str().starts_with(&below));
    }

    /// Notes that items of a list moved, so that places inside it are others'.
    pub(crate) fn moved(&mut self, list: &Pointer) {
        let below = format!("{}/", list.as_str());
        self.places
            .retain(|place| !place.as_str().starts_with(&below));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Pointer {
        Pointer::from_text(text).unwrap()
    }

    #[test]
    fn what_was_written_is_trusted_with_everything_below_and_nothing_else() {
        let mut trust = Trust::default();
        trust.wrote(at("/a/b"));
        for (place, want) in [
            ("/a/b", true),
            ("/a/b/c/0", true),
            ("/a", false),
            ("/a/bc", false),
            ("", false),
        ] {
            assert_eq!(trust.holds(&at(place)), want, "{place}");
        }
        assert!(Trust::of_document(true).holds(&at("/any")));
    }

    #[test]
    fn what_went_or_moved_is_trusted_no_more() {
        let mut trust = Trust::default();
        for place in ["/a", "/a/b", "/ab", "/list/0/x", "/list"] {
            trust.wrote(at(place));
        }
        trust.removed(&at("/a"));
        assert!(!trust.holds(&at("/a/b")));
        assert!(trust.holds(&at("/ab")));
        trust.moved(&at("/list"));
        assert!(
            trust.holds(&at("/list/0")),
            "the whole list is the operator's"
        );
        trust.removed(&at("/list"));
        assert!(!trust.holds(&at("/list/0/x")));
    }
}
