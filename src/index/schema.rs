//! The fields of the index, their weights, and the normative profile; `index-schema/v1.json` is their
//! published form and a test holds the two together.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

/// Changes whenever the tokens of a text change: an index of another tokenizer is not read.
pub const TOKENIZER_VERSION: u32 = 1;

/// A searched field of an operation. `Route` holds the alternate routes too: their weights are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldName {
    /// The tool's name.
    Name,
    /// The whole description.
    Description,
    /// Declared vocabulary.
    SearchTerms,
    /// Tags, tokenized.
    Tags,
    /// The route template and alternates.
    Route,
    /// Argument names and descriptions.
    Parameters,
}

impl FieldName {
    /// Every searched field.
    pub const ALL: [Self; 6] = [
        Self::Name,
        Self::Description,
        Self::SearchTerms,
        Self::Tags,
        Self::Route,
        Self::Parameters,
    ];

    /// The field's name in the index and in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::SearchTerms => "terms",
            Self::Tags => "tags",
            Self::Route => "route",
            Self::Parameters => "parameters",
        }
    }

    /// Twice the field's weight in the normative profile. Every weight is a multiple of one half, so
    /// frequencies and lengths are kept as exact integers and halved where they are used.
    pub fn weight2(self) -> u32 {
        match self {
            Self::Name => 6,
            Self::Description | Self::SearchTerms => 3,
            Self::Tags | Self::Route | Self::Parameters => 2,
        }
    }

    pub(super) fn ordinal(self) -> u8 {
        match self {
            Self::Name => 0,
            Self::Description => 1,
            Self::SearchTerms => 2,
            Self::Tags => 3,
            Self::Route => 4,
            Self::Parameters => 5,
        }
    }
}

/// Constants of the normative profile (search.md of the specification, "Score").
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormativeProfile;

impl NormativeProfile {
    /// Saturation of the term frequency.
    pub const K1: f64 = 1.2;
    /// Strength of the length normalisation.
    pub const B: f64 = 0.75;
}

/// The name of the combined field whose term frequency is twice the weighted frequency.
pub(super) const WEIGHTED: &str = "weighted";
/// The name of the exact folded tag facet.
pub(super) const TAG: &str = "tag";
/// The name of the column of audience numbers.
pub(super) const AUDIENCE: &str = "audience";
/// The name of the column of twice the weighted length.
pub(super) const LEN2: &str = "len2";

/// The tantivy schema with its fields by role.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    pub(super) weighted: Field,
    pub(super) by_name: [Field; 6],
    pub(super) tag: Field,
    pub(super) audience: Field,
}

impl Fields {
    pub(super) fn new() -> Self {
        let mut builder = Schema::builder();
        // Norms are off: they count emitted tokens in one quantised byte, and the score needs len(d) exactly.
        let text = |option: IndexRecordOption| {
            TextOptions::default().set_indexing_options(
                TextFieldIndexing::default()
                    .set_tokenizer("raw")
                    .set_fieldnorms(false)
                    .set_index_option(option),
            )
        };
        let with_freqs = text(IndexRecordOption::WithFreqs);
        let weighted = builder.add_text_field(WEIGHTED, with_freqs.clone());
        let by_name =
            FieldName::ALL.map(|name| builder.add_text_field(name.as_str(), with_freqs.clone()));
        let tag = builder.add_text_field(TAG, text(IndexRecordOption::Basic));
        let column: NumericOptions = FAST.into();
        let audience = builder.add_u64_field(AUDIENCE, column.clone() | INDEXED);
        builder.add_u64_field(LEN2, column);
        Self {
            schema: builder.build(),
            weighted,
            by_name,
            tag,
            audience,
        }
    }
}
