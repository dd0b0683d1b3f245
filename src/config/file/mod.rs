//! The configuration file: what an operator writes down instead of typing it as flags.
//!
//! Owns: the sections and their keys with their meaning, how a file becomes settings, and where in the file a
//! fault stands. Must never hold a value that is a secret, nor decide what a flag already decided: flags prevail.
//!
//! Reading order: `read` (a text in one of three languages becomes one value that knows its places), `keys`
//! (unknown keys), the types here, `resolve` (paths and names become the settings of the rooms).

mod keys;
mod places;
mod read;
mod resolve;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::NamePrefix;
use crate::catalog::{Curations, SelectionRule, Variant};

pub use resolve::Configured;

/// The example that `sezzlee config example` prints; a test holds it to be a good file.
pub const EXAMPLE: &str = include_str!("../../../examples/sezzlee.toml");

/// A configuration file. Every relative path in it is relative to the file. Flags prevail over it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConfigFile {
    /// What the catalogue is made of, with the settings of each source. Sources on the command line replace the
    /// list; one that the file names too keeps the settings it has here.
    pub sources: Vec<SourceSettings>,
    /// How derived names look.
    pub naming: NamingSettings,
    /// Which operations of all documents are in. The rule that names more fields wins; two that name as many
    /// and disagree refuse the catalogue. Without a matching rule everything is in but OPTIONS, TRACE and HEAD.
    pub selection: Vec<SelectionRule>,
    /// Hosts that may have loopback and private addresses, beside those of every `baseUrl`. A change counts
    /// from the next start on.
    pub allow_hosts: Vec<String>,
    /// Hosts that references in documents may lead to, beside a document's own. Their addresses must be public,
    /// unless they are sources' hosts, too.
    pub allow_reference_hosts: Vec<String>,
    /// How large definitions may be.
    pub definition: DefinitionSettings,
}

/// How large definitions may be.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DefinitionSettings {
    /// Definitions with more bytes of canonical JSON than this are reduced, with a warning: first what describes
    /// the answer, never what a required argument needs. Left out, 65,536.
    pub max_bytes: Option<u32>,
    /// What is referred to over more references than this is left out of every schema; what a required argument
    /// needs stays.
    pub schema_depth: Option<u32>,
    /// Whether the descriptions and examples of referenced schemas are left out of every definition.
    pub trim_descriptions: bool,
}

/// How derived names look.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NamingSettings {
    /// Whether names start with their document's key. Left out: `never` for exactly one file or URL on the
    /// command line, `always` otherwise.
    pub prefix: Option<NamePrefix>,
}

/// One source and what is decided for its documents.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceSettings {
    /// An OpenAPI document, a directory, a glob, an http(s) URL or a .jsonl catalogue.
    pub source: String,
    /// The document's key in names, tags and limits: a letter, then letters, digits and `_`, all lower case.
    /// Only for a source that is one document.
    #[serde(default)]
    pub key: Option<String>,
    /// Send calls to this URL instead of the servers the documents name; its host may be private.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Values of server variables, by name; others take their defaults.
    #[serde(default)]
    pub server_variables: BTreeMap<String, String>,
    /// Whether what `x-sezzlee` in the documents says of callers counts: sources of arguments in claims and
    /// headers, scopes, audience, requiresApproval.
    #[serde(default)]
    pub trust: Option<bool>,
    /// OpenAPI Overlay 1.0 files, applied in this order before a document is read. What they bring counts as
    /// said here.
    #[serde(default)]
    pub overlays: Vec<PathBuf>,
    /// Which operations are in, beside the rules for all documents. A rule here names one more field, the
    /// document.
    #[serde(default)]
    pub selection: Vec<SelectionRule>,
    /// What is different about single operations.
    #[serde(default)]
    pub operations: Vec<OperationSettings>,
    /// What is decided for single documents of a directory or a glob, on top of what holds for all of them.
    #[serde(default)]
    pub documents: Vec<DocumentEntry>,
}

/// One document below a source. Its settings refine those of the source: what is given here replaces, lists are
/// continued.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DocumentEntry {
    /// The document's path below the directory of the source.
    pub path: String,
    /// The document's key in names, tags and limits: a letter, then letters, digits and `_`, all lower case.
    #[serde(default)]
    pub key: Option<String>,
    /// Send calls to this URL instead of the servers the document names; its host may be private.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Values of server variables, by name.
    #[serde(default)]
    pub server_variables: BTreeMap<String, String>,
    /// Whether what `x-sezzlee` in the document says of callers counts.
    #[serde(default)]
    pub trust: Option<bool>,
    /// OpenAPI Overlay 1.0 files, applied after those of the source.
    #[serde(default)]
    pub overlays: Vec<PathBuf>,
    /// Which operations are in, beside the other rules.
    #[serde(default)]
    pub selection: Vec<SelectionRule>,
    /// What is different about single operations.
    #[serde(default)]
    pub operations: Vec<OperationSettings>,
}

/// What is different about one operation. It is named by its operation id, or by method and route.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OperationSettings {
    /// The operation id as the document declares it.
    pub operation_id: Option<String>,
    /// The method, in any case.
    pub method: Option<String>,
    /// The route as the document spells it, such as `/orders/{id}`.
    pub route: Option<String>,
    /// The tool's name, taken as it is: 1 to 128 of `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`.
    pub name: Option<String>,
    /// The tool's description.
    pub description: Option<String>,
    /// Replaces the tags.
    pub tags: Option<Vec<String>>,
    /// More vocabulary: searched, never shown.
    pub search_terms: Vec<String>,
    /// Whether the operation is left out, whatever the document says.
    pub ignore: Option<bool>,
    /// Hints that hold, or do not although the method says so.
    pub hints: HintSettings,
    /// What is different about arguments, by the names they have without it.
    pub arguments: Curations,
    /// The tools the operation is published as, instead of one.
    pub variants: Vec<Variant>,
    /// The scopes a caller needs, instead of those the document names.
    pub scopes: Option<Vec<String>>,
    /// The audience the operation is exported for. Kept and not carried out yet, which `check` says.
    pub audience: Option<String>,
    /// Whether calls wait for a person. Not carried out yet: such an operation is left out.
    pub requires_approval: Option<bool>,
}

/// Hints of a tool.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HintSettings {
    /// The call changes nothing.
    pub read_only_hint: Option<bool>,
    /// The call may destroy something.
    pub destructive_hint: Option<bool>,
    /// The same call again changes nothing more.
    pub idempotent_hint: Option<bool>,
    /// The call reaches something that is not the backend's own.
    pub open_world_hint: Option<bool>,
}

/// One fault of a file: where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigFault {
    /// `file:line:column` as far as known, else the file and the key.
    pub place: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration file `{}` cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file's name does not say its language.
    #[error(
        "the configuration file `{}` has a name that does not say its language; end it in .toml, .yaml, .yml or .json",
        path.display()
    )]
    UnknownLanguage {
        /// The file.
        path: PathBuf,
    },
    /// The file has faults.
    #[error("the configuration is refused: {}", listed(faults))]
    Faults {
        /// All that were found.
        faults: Vec<ConfigFault>,
    },
    /// Neither the command line nor the file names a source.
    #[error(
        "no source is named: name one on the command line, or under `sources` in `{}`",
        path.display()
    )]
    NoSources {
        /// The file.
        path: PathBuf,
    },
    /// An overlay on the command line is not for one document.
    #[error(
        "--overlay changes one document: name exactly one file or URL as the source, or give each document its `overlays` in the configuration file"
    )]
    OverlayOfMany,
}

/// More faults than this are counted in a sentence.
const FAULTS_LISTED_MAX: usize = 5;

fn listed(faults: &[ConfigFault]) -> String {
    let mut all: Vec<String> = faults
        .iter()
        .take(FAULTS_LISTED_MAX)
        .map(ToString::to_string)
        .collect();
    if faults.len() > FAULTS_LISTED_MAX {
        all.push(format!("and {} more", faults.len() - FAULTS_LISTED_MAX));
    }
    all.join("; ")
}

/// The JSON Schema (2020-12) of configuration files.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(ConfigFile).to_value()
}
