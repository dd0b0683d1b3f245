//! The baseline: the engine's own ranked union over plain edge n-grams of the same tokens.
//!
//! One field, frequencies and field norms on, one segment, the same document order. A token is emitted once
//! for every half of its field's weight, as every prefix of three or more characters and as itself.
//! Queries are a `BooleanQuery` of `TermQuery` collected by `TopDocs`. Its scores are the engine's f32 BM25
//! over quantised lengths, so its order is close to the normative one but not equal.

use sezzlee::catalog::Operation;
use sezzlee::index::FieldName;
use sezzlee::text::{PREFIX_CHARS_MIN, for_each_token, query_tokens};
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Index, Searcher, SingleSegmentIndexWriter, TantivyDocument, Term};

pub(crate) struct Baseline {
    searcher: Searcher,
    field: Field,
}

impl Baseline {
    /// Indexes operations, which must come in name order.
    pub(crate) fn build(operations: impl Iterator<Item = Operation>) -> Self {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_fieldnorms(true)
            .set_index_option(IndexRecordOption::WithFreqs);
        let options = TextOptions::default().set_indexing_options(indexing);
        let field = schema.add_text_field("edges", options);
        let mut writer: SingleSegmentIndexWriter<TantivyDocument> = Index::builder()
            .schema(schema.build())
            .single_segment_index_writer(RamDirectory::create(), 1_000_000_000)
            .unwrap();
        for operation in operations {
            let mut document = TantivyDocument::default();
            document.add_pre_tokenized_text(
                field,
                PreTokenizedString {
                    text: String::new(),
                    tokens: edges(&operation),
                },
            );
            writer.add_document(document).unwrap();
        }
        let index = writer.finalize().unwrap();
        let searcher = index.reader().unwrap().searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        Self { searcher, field }
    }

    /// The best `limit` documents.
    pub(crate) fn top(&self, query: &str, limit: usize) -> usize {
        let clauses: Vec<(Occur, Box<dyn Query>)> = query_tokens(query)
            .iter()
            .map(|token| {
                let term = Term::from_field_text(self.field, token);
                let clause: Box<dyn Query> =
                    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                (Occur::Should, clause)
            })
            .collect();
        let query = BooleanQuery::new(clauses);
        let top = TopDocs::with_limit(limit).order_by_score();
        self.searcher.search(&query, &top).unwrap().len()
    }
}

fn edges(operation: &Operation) -> Vec<Token> {
    let text = operation.search_text();
    let mut tokens = Vec::new();
    let mut emit = |field: FieldName, text: &str| {
        for_each_token(text, |token| {
            let ends = token
                .char_indices()
                .map(|(at, _)| at)
                .skip(PREFIX_CHARS_MIN)
                .chain([token.len()]);
            for end in ends {
                for _ in 0..field.weight2() {
                    tokens.push(Token {
                        text: token[..end].to_owned(),
                        position: tokens.len(),
                        ..Token::default()
                    });
                }
            }
        });
    };
    emit(FieldName::Name, text.name);
    emit(FieldName::Description, text.description);
    text.search_terms
        .iter()
        .for_each(|text| emit(FieldName::SearchTerms, text));
    text.tags
        .iter()
        .for_each(|text| emit(FieldName::Tags, text));
    text.route
        .iter()
        .for_each(|text| emit(FieldName::Route, text));
    text.alternate_routes
        .iter()
        .for_each(|text| emit(FieldName::Route, text));
    text.parameters
        .iter()
        .for_each(|text| emit(FieldName::Parameters, text));
    tokens
}
