//! What tokenizing a document came to, kept small until every document is known.
//!
//! A document's entries are one run of bytes: for each distinct (token, field) in rising order the step
//! from the token before, and the field with the count, both as variable-length integers. A million
//! documents of average length take under 200 MB.

use super::FieldName;
use super::vocabulary::{Interner, indexed_front};
use crate::catalog::SearchText;
use crate::text::for_each_token;

/// Bits of an entry's second integer that name the field.
const FIELD_BITS: u32 = 3;

/// One distinct (token, field) of a document with how often it occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) token: u32,
    pub(super) count: u32,
    pub(super) field: u8,
}

/// The tokens of one document before they are numbered; made on any thread.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// Every token, one after the other.
    text: String,
    /// Where each token ends, and the field it stands in.
    ends: Vec<(u32, u8)>,
}

impl Tokens {
    /// Tokenizes the texts of a document.
    pub(super) fn of(text: &SearchText<'_>) -> Self {
        let mut tokens = Self::default();
        tokens.read(FieldName::Name, text.name);
        tokens.read(FieldName::Description, text.description);
        for &term in &text.search_terms {
            tokens.read(FieldName::SearchTerms, term);
        }
        for &tag in &text.tags {
            tokens.read(FieldName::Tags, tag);
        }
        for &route in text.route.iter().chain(&text.alternate_routes) {
            tokens.read(FieldName::Route, route);
        }
        for parameter in &text.parameters {
            tokens.read(FieldName::Parameters, parameter);
        }
        tokens
    }

    fn read(&mut self, field: FieldName, text: &str) {
        for_each_token(text, |token| {
            self.text.push_str(indexed_front(token));
            // A document is bounded far below 4 GiB of tokens.
            let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
            self.ends.push((end, field.ordinal()));
        });
    }

    /// Numbers the tokens and appends the document's entries; answers twice its weighted length.
    pub(super) fn encode(
        &self,
        words: &mut Interner,
        scratch: &mut Vec<(u32, u8)>,
        out: &mut Vec<u8>,
    ) -> u32 {
        scratch.clear();
        let mut start = 0;
        for &(end, field) in &self.ends {
            let end = end as usize;
            scratch.push((words.intern(&self.text[start..end]), field));
            start = end;
        }
        scratch.sort_unstable();
        let mut len2 = 0u32;
        let mut before = 0;
        for run in scratch.chunk_by(|a, b| a == b) {
            let (token, field) = run[0];
            let count = u32::try_from(run.len()).unwrap_or(u32::MAX) & (u32::MAX >> FIELD_BITS);
            let weight2 = FieldName::ALL[usize::from(field)].weight2();
            len2 = len2.saturating_add(weight2.saturating_mul(count));
            write_varint(token - before, out);
            write_varint(count << FIELD_BITS | u32::from(field), out);
            before = token;
        }
        len2
    }
}

/// Reads the entries of one document back.
pub(super) fn decode(bytes: &[u8]) -> impl Iterator<Item = Entry> + '_ {
    let mut rest = bytes;
    let mut token = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        token += read_varint(&mut rest);
        let packed = read_varint(&mut rest);
        Some(Entry {
            token,
            count: packed >> FIELD_BITS,
            field: packed.to_le_bytes()[0] & ((1 << FIELD_BITS) - 1),
        })
    })
}

fn write_varint(mut value: u32, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn read_varint(bytes: &mut &[u8]) -> u32 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_come_back(values in prop::collection::vec(any::<u32>(), 0..20)) {
            let mut bytes = Vec::new();
            for &value in &values {
                write_varint(value, &mut bytes);
            }
            let mut rest = bytes.as_slice();
            let mut back = Vec::new();
            while !rest.is_empty() {
                back.push(read_varint(&mut rest));
            }
            prop_assert_eq!(back, values);
        }

        #[test]
        fn entries_count_every_token_of_every_field(name in "[ab ]{0,12}", description in "[ab ]{0,12}") {
            let text = SearchText { name: &name, description: &description, ..SearchText::default() };
            let mut words = Interner::default();
            let mut bytes = Vec::new();
            let len2 = Tokens::of(&text).encode(&mut words, &mut Vec::new(), &mut bytes);
            let entries: Vec<_> = decode(&bytes).collect();
            prop_assert!(entries.windows(2).all(|w| (w[0].token, w[0].field) < (w[1].token, w[1].field)));
            let count = |field: FieldName| -> usize {
                entries.iter().filter(|e| e.field == field.ordinal()).map(|e| e.count as usize).sum()
            };
            let (names, descriptions) = (crate::text::tokens(&name).len(), crate::text::tokens(&description).len());
            prop_assert_eq!((count(FieldName::Name), count(FieldName::Description)), (names, descriptions));
            prop_assert_eq!(len2 as usize, 6 * names + 3 * descriptions);
        }
    }
}
