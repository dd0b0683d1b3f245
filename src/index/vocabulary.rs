//! The vocabulary of a generation: interned tokens, and the path-compressed prefix lists over them.
//!
//! A prefix has a posting list only where the vocabulary branches or a word ends. A query token's list
//! is the first term that is not below it and starts with it: every word that starts with the query token
//! starts with that term too, so documents, frequencies and df are those of plain edge n-grams at less
//! than half the postings.

use std::collections::HashMap;

use crate::text::{PREFIX_CHARS_MIN, QUERY_BYTES_MAX};

/// A word is indexed by at most this many bytes of its front.
///
/// No answer can tell: a query is at most [`QUERY_BYTES_MAX`] bytes, folding at most triples them (NFC's
/// greatest expansion in UTF-8), and one more byte allows for the cut to stand on a character. The cap
/// keeps words below the engine's own limit of 65,530 bytes, past which it drops them in silence.
const WORD_BYTES_MAX: usize = 3 * QUERY_BYTES_MAX + 4;

/// The front of a word that is indexed.
pub(super) fn indexed_front(word: &str) -> &str {
    &word[..word.floor_char_boundary(WORD_BYTES_MAX)]
}

/// Numbers words in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Interner {
    ids: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
}

impl Interner {
    pub(super) fn intern(&mut self, word: &str) -> u32 {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        // Words are at most as many as tokens were read, which the builder bounds below u32::MAX.
        let id = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.insert(word.into(), id);
        id
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Words with their numbers, sorted bytewise (which is by code point).
    pub(super) fn sorted(&self) -> Vec<(&str, u32)> {
        let mut words: Vec<_> = self.ids.iter().map(|(word, &id)| (&**word, id)).collect();
        words.sort_unstable();
        words
    }
}

/// The terms of the prefix fields, sorted, and for every word the chain of terms that stand for it.
#[derive(Debug)]
pub(super) struct PrefixTerms<'a> {
    /// The terms in dictionary order.
    pub(super) terms: Vec<&'a str>,
    /// For each word by interner number: the index of its own term.
    own: Vec<u32>,
    /// For each term: the nearest shorter term it starts with, or `NONE`.
    parent: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> PrefixTerms<'a> {
    pub(super) fn new(interner: &'a Interner) -> Self {
        let words = interner.sorted();
        let mut nodes = Nodes::default();
        let mut own = vec![NONE; words.len()];
        for (word, id) in words {
            own[id as usize] = nodes.insert(word);
        }
        // Dictionary order; a word and its prefixes sort with the prefix first.
        let mut order: Vec<u32> = (0..u32::try_from(nodes.text.len()).unwrap_or(NONE)).collect();
        order.sort_unstable_by_key(|&node| nodes.text[node as usize]);
        let mut rank = vec![NONE; order.len()];
        for (place, &node) in order.iter().enumerate() {
            rank[node as usize] = u32::try_from(place).unwrap_or(NONE);
        }
        let ranked = |node: u32| {
            if node == NONE {
                NONE
            } else {
                rank[node as usize]
            }
        };
        Self {
            terms: order
                .iter()
                .map(|&node| nodes.text[node as usize])
                .collect(),
            own: own.into_iter().map(ranked).collect(),
            parent: order
                .iter()
                .map(|&node| ranked(nodes.parent[node as usize]))
                .collect(),
        }
    }

    /// The terms that stand for a word: its own, then ever shorter ones.
    pub(super) fn chain(&self, word: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.own[word as usize];
        std::iter::from_fn(move || {
            let here = next;
            if here == NONE {
                return None;
            }
            next = self.parent[here as usize];
            Some(here)
        })
    }
}

/// The trie while it is built from sorted words; the stack is the path to the last word.
#[derive(Default)]
struct Nodes<'a> {
    text: Vec<&'a str>,
    parent: Vec<u32>,
    path: Vec<u32>,
    last: &'a str,
}

impl<'a> Nodes<'a> {
    /// Adds the next word in sorted order and answers its node.
    fn insert(&mut self, word: &'a str) -> u32 {
        let shared = shared_prefix(self.last, word);
        let mut below = None;
        while let Some(&top) = self.path.last() {
            if self.text[top as usize].len() <= shared {
                break;
            }
            below = self.path.pop();
        }
        let top = self.path.last().copied();
        let reach = top.map_or(0, |top| self.text[top as usize].len());
        if let Some(below) = below
            && shared > reach
        {
            // The vocabulary branches inside an edge: the branch gets a term of its own.
            let branch = self.push(&word[..shared], top);
            self.parent[below as usize] = branch;
        }
        let top = self.path.last().copied();
        self.last = word;
        self.push(word, top)
    }

    fn push(&mut self, text: &'a str, parent: Option<u32>) -> u32 {
        let node = u32::try_from(self.text.len()).unwrap_or(NONE);
        self.text.push(text);
        self.parent.push(parent.unwrap_or(NONE));
        self.path.push(node);
        node
    }
}

/// Bytes of the longest common prefix in whole characters; 0 when it is too short to be a prefix query.
///
/// A word too short to match by prefix therefore never becomes another word's parent.
fn shared_prefix(left: &str, right: &str) -> usize {
    let mut bytes = 0;
    let mut chars = 0;
    for (a, b) in left.chars().zip(right.chars()) {
        if a != b {
            break;
        }
        bytes += a.len_utf8();
        chars += 1;
    }
    if chars < PREFIX_CHARS_MIN { 0 } else { bytes }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::text::is_prefix_query;

    /// The words a query token matches, by the rule itself.
    fn naive<'a>(words: &'a BTreeSet<String>, query: &str) -> BTreeSet<&'a str> {
        let by_prefix = is_prefix_query(query);
        words
            .iter()
            .map(String::as_str)
            .filter(|word| {
                if by_prefix {
                    word.starts_with(query)
                } else {
                    *word == query
                }
            })
            .collect()
    }

    fn by_terms<'a>(
        words: &'a BTreeSet<String>,
        interner: &'a Interner,
        terms: &PrefixTerms<'a>,
        query: &str,
    ) -> BTreeSet<&'a str> {
        let at = terms.terms.partition_point(|term| *term < query);
        let found = terms.terms.get(at).copied().filter(|term| {
            if is_prefix_query(query) {
                term.starts_with(query)
            } else {
                *term == query
            }
        });
        let Some(found) = found else {
            return BTreeSet::new();
        };
        words
            .iter()
            .map(String::as_str)
            .filter(|word| {
                let id = interner.ids[*word];
                terms
                    .chain(id)
                    .any(|term| terms.terms[term as usize] == found)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn compressed_prefix_lists_answer_like_the_rule(
            words in prop::collection::btree_set("[abé订]{2,7}", 1..40),
            query in "[abé订]{2,8}",
        ) {
            let mut interner = Interner::default();
            for word in &words {
                interner.intern(word);
            }
            let terms = PrefixTerms::new(&interner);
            let mut queries: Vec<String> = vec![query];
            for word in &words {
                queries.extend(word.char_indices().skip(2).map(|(end, _)| word[..end].to_owned()));
                queries.push(word.clone());
            }
            for query in queries {
                prop_assert_eq!(
                    by_terms(&words, &interner, &terms, &query),
                    naive(&words, &query),
                    "{}", query
                );
            }
        }
    }

    #[test]
    fn a_word_of_a_megabyte_is_indexed_by_its_front() {
        let word = "é".repeat(500_000);
        assert!(indexed_front(&word).len() >= 3 * QUERY_BYTES_MAX);
        assert!(indexed_front(&word).len() < 65_530);
    }
}
