//! How sources are read: what the operator decides.
//!
//! Owns: the options and their defaults. Must never read a configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use url::Url;

use super::schema::DEFINITION_BYTES_MAX;
use super::{DocumentSettings, SelectionRule};
use crate::http::AllowedHosts;

/// How sources are read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Replaces the server of every document; http or https.
    pub base_url: Option<Url>,
    /// Values of server variables, by name; others take their defaults.
    pub server_variables: BTreeMap<String, String>,
    /// Which operations are in.
    pub selection: Vec<SelectionRule>,
    /// Whether names start with their document's key.
    pub prefix: Prefix,
    /// The operator's keys of documents, by the source as it is named (below a directory: that and the
    /// path, as diagnostics name it).
    pub keys: BTreeMap<String, String>,
    /// The operator's names of single operations.
    pub names: Vec<NameOverride>,
    /// How large definitions may be.
    pub size: DefinitionSize,
    /// The hosts that references may lead to besides a document's own. Which of their addresses may be
    /// connected to is for the loader to say.
    pub reference_hosts: AllowedHosts,
    /// Settings of sources, and of documents below them.
    pub documents: Vec<DocumentSettings>,
    /// Overlay files applied to every document after its own; meant for a single one.
    pub overlays: Vec<PathBuf>,
    /// What diagnostics about the settings for all documents call them: the configuration file, or nothing.
    pub settings_name: String,
    /// Threads that parse and convert; none for as many as there are cores. Changes no result.
    pub threads: Option<usize>,
}

/// How large the definitions of documents may be (ingestion.md, "Size"). A definition of a JSON Lines
/// catalogue is taken as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefinitionSize {
    /// Bytes of a definition's canonical JSON; one with more is reduced, step by step, with a warning. At
    /// most [`Self::BYTES_MAX`] count.
    pub definition_bytes_max: usize,
    /// Leaves what is referred to over more than this many references out of every schema, whatever its
    /// size and without a warning. What a required path of the input needs stays.
    pub schema_depth_max: Option<usize>,
    /// Leaves the descriptions and examples under `$defs` out of every schema, whatever its size and
    /// without a warning.
    pub trim_descriptions: bool,
}

impl DefinitionSize {
    /// No limit is above this many bytes.
    pub const BYTES_MAX: usize = DEFINITION_BYTES_MAX;
}

impl Default for DefinitionSize {
    fn default() -> Self {
        Self {
            definition_bytes_max: 65_536,
            schema_depth_max: None,
            trim_descriptions: false,
        }
    }
}

/// Whether names start with their document's key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prefix {
    /// Never for exactly one file or URL, always otherwise.
    #[default]
    Unset,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A name the operator gives an operation; it is taken as it is, and its use elsewhere is fatal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOverride {
    /// The key of the document; none for any document that has the operation.
    pub document: Option<String>,
    /// The method, in any case.
    pub method: String,
    /// The route as the document spells it.
    pub route: String,
    /// The name: 1 to 128 of `[A-Za-z0-9_.-]`.
    pub name: String,
}

impl ReadOptions {
    /// The settings of one document: those of the source that led to it, refined by its own.
    pub(super) fn settings_of(&self, source: &str, label: &str) -> DocumentSettings {
        let mut settings = DocumentSettings {
            source: label.to_owned(),
            ..DocumentSettings::default()
        };
        for one in self.settings_of_label(source) {
            settings.refine(one);
        }
        if label != source {
            for one in self.settings_of_label(label) {
                settings.refine(one);
            }
        }
        settings.overlays.extend(self.overlays.iter().cloned());
        settings
    }

    pub(super) fn settings_of_label(&self, label: &str) -> impl Iterator<Item = &DocumentSettings> {
        self.documents.iter().filter(move |one| one.source == label)
    }

    /// Every name that the operator gives.
    pub(super) fn given_names(&self) -> impl Iterator<Item = &str> {
        let operations = self.documents.iter().flat_map(|one| &one.operations);
        let own = operations.flat_map(|one| {
            let variants = one.amendment.variants.iter().map(|variant| &variant.name);
            one.amendment.name.iter().chain(variants)
        });
        let of_all = self.names.iter().map(|one| &one.name);
        of_all.chain(own).map(String::as_str)
    }

    /// Every overlay file that some document may need, each once, in a fixed order.
    pub fn overlay_files(&self) -> Vec<&Path> {
        let own = self.documents.iter().flat_map(|one| &one.overlays);
        let mut files: Vec<&Path> = Vec::new();
        for file in own.chain(&self.overlays) {
            if !files.contains(&file.as_path()) {
                files.push(file);
            }
        }
        files
    }

    /// The position and the name of the first entry about an operation.
    pub(super) fn name_of(&self, key: &str, method: &str, route: &str) -> Option<(usize, String)> {
        self.names
            .iter()
            .enumerate()
            .find(|(_, one)| {
                one.document
                    .as_deref()
                    .is_none_or(|document| document == key)
                    && one.method.eq_ignore_ascii_case(method)
                    && one.route == route
            })
            .map(|(index, one)| (index, one.name.clone()))
    }
}
