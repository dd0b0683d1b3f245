//! A naive scan: every document's tokens are walked for every query.
//!
//! Written from the specification's page on search; the landmark that says what an index is worth, and the
//! oracle that sampled answers of a large catalogue are held to.

use sezzlee::catalog::Operation;
use sezzlee::index::FieldName;
use sezzlee::text::{for_each_token, is_prefix_query, query_tokens};

pub(crate) struct Naive {
    words: Vec<String>,
    /// For each document its words with twice their weight.
    documents: Vec<Vec<(u32, u32)>>,
    lengths: Vec<f64>,
}

impl Naive {
    /// Takes operations in name order.
    pub(crate) fn new(operations: impl Iterator<Item = Operation>) -> Self {
        let mut numbers = std::collections::HashMap::new();
        let mut words = Vec::new();
        let mut documents = Vec::new();
        for operation in operations {
            let text = operation.search_text();
            let mut document = Vec::new();
            let mut add = |field: FieldName, text: &str| {
                for_each_token(text, |token| {
                    let number = *numbers.entry(token.to_owned()).or_insert_with(|| {
                        words.push(token.to_owned());
                        u32::try_from(words.len() - 1).unwrap()
                    });
                    document.push((number, field.weight2()));
                });
            };
            add(FieldName::Name, text.name);
            add(FieldName::Description, text.description);
            text.search_terms
                .iter()
                .for_each(|text| add(FieldName::SearchTerms, text));
            text.tags.iter().for_each(|text| add(FieldName::Tags, text));
            text.route
                .iter()
                .for_each(|text| add(FieldName::Route, text));
            text.alternate_routes
                .iter()
                .for_each(|text| add(FieldName::Route, text));
            text.parameters
                .iter()
                .for_each(|text| add(FieldName::Parameters, text));
            documents.push(document);
        }
        let length = |document: &Vec<(u32, u32)>| {
            document
                .iter()
                .map(|(_, weight2)| f64::from(*weight2) / 2.0)
                .sum()
        };
        let lengths = documents.iter().map(length).collect();
        Self {
            words,
            documents,
            lengths,
        }
    }

    /// Document numbers and score bits, best first.
    pub(crate) fn top(&self, query: &str, limit: usize) -> Vec<(u32, u64)> {
        let n = self.documents.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / n;
        let mut scores = vec![0.0f64; self.documents.len()];
        for token in query_tokens(query) {
            let matching: Vec<bool> = self
                .words
                .iter()
                .map(|word| {
                    if is_prefix_query(&token) {
                        word.starts_with(&token)
                    } else {
                        *word == token
                    }
                })
                .collect();
            let tfs: Vec<f64> = self
                .documents
                .iter()
                .map(|document| {
                    document
                        .iter()
                        .filter(|(word, _)| matching[*word as usize])
                        .map(|(_, weight2)| f64::from(*weight2) / 2.0)
                        .sum()
                })
                .collect();
            let df = tfs.iter().filter(|tf| **tf > 0.0).count() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for ((score, tf), len) in scores.iter_mut().zip(&tfs).zip(&self.lengths) {
                if *tf > 0.0 {
                    *score += idf
                        * ((tf * (1.2 + 1.0))
                            / (tf + 1.2 * ((1.0 - 0.75) + (0.75 * len) / average)));
                }
            }
        }
        let mut order: Vec<u32> = (0..u32::try_from(self.documents.len()).unwrap())
            .filter(|&d| scores[d as usize] > 0.0)
            .collect();
        order.sort_by(|&a, &b| {
            scores[b as usize]
                .total_cmp(&scores[a as usize])
                .then(a.cmp(&b))
        });
        order.truncate(limit);
        order
            .into_iter()
            .map(|d| (d, scores[d as usize].to_bits()))
            .collect()
    }
}
