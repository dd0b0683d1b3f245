//! What was wrong with a source, where, and what it cost.

use std::fmt;

use serde::Serialize;

use crate::json::Pointer;

/// One finding about a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What kind of fault.
    pub code: DiagnosticCode,
    /// What it costs.
    pub severity: Severity,
    /// The document, as the operator named it.
    pub document: String,
    /// Where in the document: an RFC 6901 pointer, empty for the whole.
    pub at: Pointer,
    /// The line of the document's text, from 1; none where the whole document is meant or its text is not
    /// at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column in that line, from 1, in Unicode code points (a tab is one, a byte order mark none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What is wrong and what to do, in a sentence.
    pub message: String,
}

impl Diagnostic {
    /// The document with line and column, as far as they are known, in the spelling that editors open.
    pub fn place(&self) -> String {
        let mut place = self.document.clone();
        for number in [self.line, self.column].into_iter().map_while(|one| one) {
            place.push(':');
            place.push_str(&number.to_string());
        }
        place
    }
}

/// What a diagnostic costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is lost, but something may not be meant.
    Warning,
    /// One operation (or one source that could not be read at all) is left out; the others serve.
    Dropped,
    /// The catalogue is refused.
    Fatal,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal,)+) => {
        /// The kinds of finding, in wire spelling by [`DiagnosticCode::as_str`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DiagnosticCode { $($(#[doc = $doc])+ $name,)+ }

        impl DiagnosticCode {
            /// Every code, in the order of the table in `docs/diagnostics.md`.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The code on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What the code means, in the words of its documentation.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc, "\n",)+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The source could not be opened or read.
    UnreadableSource => "unreadable_source",
    /// The source is larger than the limit.
    SourceTooLarge => "source_too_large",
    /// The text is neither JSON nor YAML.
    NotParseable => "not_parseable",
    /// The document nests deeper than the limit.
    TooDeep => "too_deep",
    /// The text parses but is no OpenAPI or Swagger document.
    NotOpenapi => "not_openapi",
    /// The document's OpenAPI version is not one that is read.
    UnsupportedVersion => "unsupported_version",
    /// The document publishes no operation.
    NoOperations => "no_operations",
    /// A key stands twice in one object; the last one counts.
    DuplicateKey => "duplicate_key",
    /// A line of a JSON Lines catalogue is not an entry.
    BadEntry => "bad_entry",
    /// A name that is taken as it is stands twice in the catalogue; the first one counts.
    DuplicateName => "duplicate_name",
    /// Two operations would have had the same name; each was given its longer one.
    NameCollision => "name_collision",
    /// An operation id is used by several operations of the document.
    DuplicateOperationId => "duplicate_operation_id",
    /// A part of the document is not of the kind OpenAPI says.
    Malformed => "malformed",
    /// A reference leads nowhere.
    UnresolvableRef => "unresolvable_ref",
    /// A reference leads to itself without ever reaching a value.
    CyclicRef => "cyclic_ref",
    /// A reference leads out of the fence around its document and is not followed.
    ExternalRefBlocked => "external_ref_blocked",
    /// The body is of a media type that cannot be written.
    UnsupportedMediaType => "unsupported_media_type",
    /// A parameter is of a kind or style that cannot be written.
    UnsupportedParameter => "unsupported_parameter",
    /// A placeholder of the route has no path parameter.
    MissingPathParameter => "missing_path_parameter",
    /// A parameter that belongs to the transport or to credentials is no argument.
    ParameterDropped => "parameter_dropped",
    /// A body member and a parameter share a name; the body became one argument.
    ArgumentCollision => "argument_collision",
    /// No absolute server URL is known; the operation can be found but not called.
    NoServer => "no_server",
    /// The definition was over the limit; parts of its schemas that no required argument needs are left out.
    SchemaReduced => "schema_reduced",
    /// A definition is too large for any answer, and nothing more of it may be left out.
    DefinitionTooLarge => "definition_too_large",
    /// A keyword of a body cannot be said of flat arguments and is left out.
    BodyKeywordLeftOut => "body_keyword_left_out",
    /// A body that travels as one text, as one file or as a sequence is not described by its schema.
    BodySchemaLeftOut => "body_schema_left_out",
    /// An encoding of a part within a part, or a header of a part that has no fixed value, is not sent.
    EncodingLeftOut => "encoding_left_out",
    /// A keyword of a schema has a value that it cannot have, and is left out.
    KeywordLeftOut => "keyword_left_out",
    /// What stands where a schema should is none; anything is accepted there.
    SchemaLeftOut => "schema_left_out",
    /// A pattern is no regular expression of ECMA-262 and is left out.
    PatternLeftOut => "pattern_left_out",
    /// A default, an example or a list of values nests too deeply to be of use and is left out.
    ValueLeftOut => "value_left_out",
    /// A dynamic reference, which could lead to several schemas, is read as a plain one.
    DynamicRefFlattened => "dynamic_ref_flattened",
    /// A schema tells its subtypes apart by a discriminator but does not list them; only the schema itself is left.
    SubtypesLeftOut => "subtypes_left_out",
    /// A member of `x-sezzlee` is unknown.
    UnsupportedExtension => "unsupported_extension",
    /// A member of `x-sezzlee` counts only in a document that is trusted.
    UntrustedExtension => "untrusted_extension",
    /// A required argument is hidden and would never have a value.
    HiddenRequiredOmitted => "hidden_required_omitted",
    /// An argument that does not exist is curated.
    UnknownCuratedArgument => "unknown_curated_argument",
    /// Two arguments would have the same name after they were renamed.
    CurationCollision => "curation_collision",
    /// A curation cannot be carried out.
    InvalidCuration => "invalid_curation",
    /// A file that is named as an overlay is none, or cannot be applied.
    BadOverlay => "bad_overlay",
    /// An action of an overlay matches nothing.
    OverlayNoMatch => "overlay_no_match",
    /// A setting of the operator's matches nothing.
    UnusedSetting => "unused_setting",
    /// A setting is kept and not carried out.
    NotCarriedOut => "not_carried_out",
    /// Two equally sharp selection rules disagree.
    AmbiguousSelection => "ambiguous_selection",
}

impl DiagnosticCode {
    /// Whether a warning of this kind is about meaning that was lost: what is published says less than the
    /// document. Where the same code costs an operation, nothing of it is published at all.
    pub fn is_lossy(self) -> bool {
        matches!(
            self,
            Self::UnresolvableRef
                | Self::CyclicRef
                | Self::ExternalRefBlocked
                | Self::SchemaReduced
                | Self::BodyKeywordLeftOut
                | Self::BodySchemaLeftOut
                | Self::EncodingLeftOut
                | Self::KeywordLeftOut
                | Self::SchemaLeftOut
                | Self::PatternLeftOut
                | Self::ValueLeftOut
                | Self::DynamicRefFlattened
                | Self::SubtypesLeftOut
        )
    }
}

impl Serialize for DiagnosticCode {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Dropped => "dropped",
            Self::Fatal => "fatal",
        })
    }
}

impl fmt::Display for Diagnostic {
    /// One line: place, severity, code, message, pointer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, severity, code) = (self.place(), self.severity, self.code);
        write!(f, "{place}: {severity}[{code}]: {}", self.message)?;
        if self.at.as_str().is_empty() {
            Ok(())
        } else {
            write!(f, " (#{})", self.at)
        }
    }
}

/// How many operations a set of sources held and what became of them:
/// `found = published + dropped + not selected`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Operations met in the sources.
    pub found: u64,
    /// Those that selection kept.
    pub selected: u64,
    /// Those that became tools.
    pub published: u64,
    /// Selected ones left out with a diagnostic.
    pub dropped: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.selected += other.selected;
        self.published += other.published;
        self.dropped += other.dropped;
    }
}
