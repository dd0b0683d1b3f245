//! A file becomes the settings of the rooms: paths from where the file lies, names and URLs checked.
//!
//! Owns: what a good value is beyond its type, and which settings are whose. Reads no document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use url::Url;

use super::places::Places;
use super::read::{Read, read};
use super::{
    ConfigError, ConfigFault, ConfigFile, DocumentEntry, OperationSettings, SourceSettings,
};
use crate::catalog::{
    Amendment, DefinitionSize, DocumentSettings, OperationOverride, Policy, document_label,
    is_given_name,
};
use crate::config::args::base_url;
use crate::http::AllowedHosts;
use crate::json::Pointer;

/// A key of a document has at most this many characters: half of a name is left for the operation's own.
const KEY_CHARS_MAX: usize = 64;

/// A configuration file that was read and is good.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub file: ConfigFile,
    /// Its sources, as reading names them.
    pub sources: Vec<String>,
    /// The settings of each source and of the documents below it, in the order of the file.
    settings: Vec<Vec<DocumentSettings>>,
}

impl Configured {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let Read { file, places } = read(path)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut resolving = Resolving {
            directory,
            places: &places,
            at: Pointer::root(),
            faults: Vec::new(),
        };
        let (sources, settings) = resolving.file(&file);
        if !resolving.faults.is_empty() {
            let faults = resolving.faults;
            return Err(ConfigError::Faults { faults });
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            sources,
            settings,
        })
    }

    /// The settings of the documents of some sources, which may be named otherwise than in the file.
    pub fn documents(&self, sources: &[String]) -> Vec<DocumentSettings> {
        let mut found = Vec::new();
        for source in sources {
            let Some(index) = self
                .sources
                .iter()
                .position(|own| is_same_source(own, source))
            else {
                continue;
            };
            let own = &self.sources[index];
            for settings in &self.settings[index] {
                let mut settings = settings.clone();
                // The documents below a source are named by it.
                let (own_root, root) = (document_label(own, ""), document_label(source, ""));
                settings.source = if settings.source == *own {
                    source.clone()
                } else {
                    match settings.source.strip_prefix(&own_root) {
                        Some(below) => format!("{root}{below}"),
                        None => settings.source,
                    }
                };
                found.push(settings);
            }
        }
        found
    }

    /// The URLs that calls may be sent to because the operator named them.
    pub fn base_urls(&self) -> BTreeSet<Url> {
        let all = self.settings.iter().flatten();
        all.filter_map(|one| one.base_url.clone()).collect()
    }

    /// Every file beside the sources that decides what is read: overlays, and the file itself.
    pub fn files(&self) -> Vec<PathBuf> {
        let overlays = self.settings.iter().flatten().flat_map(|one| &one.overlays);
        let mut files: Vec<PathBuf> = overlays.cloned().collect();
        files.push(self.path.clone());
        files.sort_unstable();
        files.dedup();
        files
    }
}

fn is_same_source(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (
        Path::new(one).canonicalize(),
        Path::new(other).canonicalize(),
    ) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

struct Resolving<'a> {
    directory: &'a Path,
    places: &'a Places,
    /// Where in the file is looked at now.
    at: Pointer,
    faults: Vec<ConfigFault>,
}

impl Resolving<'_> {
    fn fault(&mut self, key: &str, message: impl Into<String>) {
        let at = if key.is_empty() {
            self.at.clone()
        } else {
            self.at.join(key)
        };
        self.faults.push(ConfigFault {
            place: self.places.place(&at),
            message: message.into(),
        });
    }

    /// Looks at something one or more keys below.
    fn below<T>(&mut self, keys: &[&str], look: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.at.clone();
        for key in keys {
            self.at.push(key);
        }
        let seen = look(self);
        self.at = before;
        seen
    }

    fn file(&mut self, file: &ConfigFile) -> (Vec<String>, Vec<Vec<DocumentSettings>>) {
        for (list, hosts) in [
            ("allowHosts", &file.allow_hosts),
            ("allowReferenceHosts", &file.allow_reference_hosts),
        ] {
            for (index, host) in hosts.iter().enumerate() {
                if let Err(error) = AllowedHosts::none().allow(host) {
                    self.below(&[list, &index.to_string()], |here| {
                        here.fault("", error.to_string());
                    });
                }
            }
        }
        self.below(&["definition"], |here| {
            let most = DefinitionSize::BYTES_MAX;
            let is_possible =
                |bytes| (1..=most).contains(&usize::try_from(bytes).unwrap_or(usize::MAX));
            if file
                .definition
                .max_bytes
                .is_some_and(|bytes| !is_possible(bytes))
            {
                here.fault(
                    "maxBytes",
                    format!("a definition is limited to 1 to {most} bytes"),
                );
            }
            if file.definition.schema_depth == Some(0) {
                here.fault("schemaDepth", "give at least 1".to_owned());
            }
        });
        let mut sources: Vec<String> = Vec::new();
        let mut settings = Vec::new();
        for (index, entry) in file.sources.iter().enumerate() {
            self.below(&["sources", &index.to_string()], |here| {
                let source = here.source(&entry.source);
                if sources.contains(&source) {
                    here.fault(
                        "source",
                        format!("`{source}` is named twice; join the two entries"),
                    );
                }
                settings.push(here.entry(&source, entry));
                sources.push(source);
            });
        }
        (sources, settings)
    }

    /// A source as reading names it.
    fn source(&mut self, given: &str) -> String {
        if given.trim().is_empty() {
            self.fault("source", "a source is a path, a pattern or a URL");
        }
        let has_user = |url: &Url| !url.username().is_empty() || url.password().is_some();
        if given.contains("://") && Url::parse(given).is_ok_and(|url| has_user(&url)) {
            self.fault("source", "the URL must not hold a user name or password");
        }
        if given.contains("://") || Path::new(given).is_absolute() {
            return given.to_owned();
        }
        self.directory.join(given).to_string_lossy().into_owned()
    }

    fn entry(&mut self, source: &str, entry: &SourceSettings) -> Vec<DocumentSettings> {
        let own = Common {
            key: entry.key.as_ref(),
            base_url: entry.base_url.as_ref(),
            server_variables: &entry.server_variables,
            trust: entry.trust,
            overlays: &entry.overlays,
            selection: &entry.selection,
            operations: &entry.operations,
        };
        let mut all = vec![self.common(source.to_owned(), &own)];
        for (index, document) in entry.documents.iter().enumerate() {
            let found = self.below(&["documents", &index.to_string()], |here| {
                here.document(source, document)
            });
            all.push(found);
        }
        all
    }

    fn document(&mut self, source: &str, document: &DocumentEntry) -> DocumentSettings {
        let path = Path::new(&document.path);
        let is_below = path.components().next().is_some()
            && path
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_below {
            self.fault(
                "path",
                "a document is named by its path below the source, without `.` and `..`",
            );
        }
        let own = Common {
            key: document.key.as_ref(),
            base_url: document.base_url.as_ref(),
            server_variables: &document.server_variables,
            trust: document.trust,
            overlays: &document.overlays,
            selection: &document.selection,
            operations: &document.operations,
        };
        self.common(document_label(source, &document.path), &own)
    }

    fn common(&mut self, source: String, own: &Common<'_>) -> DocumentSettings {
        if let Some(key) = own.key.filter(|key| !is_key(key)) {
            self.fault(
                "key",
                format!(
                    "{key:?} is no key; use a letter and then letters, digits and _, all lower case, at most \
                     {KEY_CHARS_MAX}"
                ),
            );
        }
        let base = own.base_url.and_then(|text| match base_url(text) {
            Ok(url) => Some(url),
            Err(error) => {
                // The value may hold a password; the place tells which it is.
                self.fault("baseUrl", format!("the URL cannot be used: {error}"));
                None
            }
        });
        let operations = own.operations.iter().enumerate().map(|(index, operation)| {
            self.below(&["operations", &index.to_string()], |here| {
                here.operation(operation)
            })
        });
        DocumentSettings {
            source,
            key: own.key.cloned(),
            base_url: base,
            server_variables: own.server_variables.clone(),
            trust: own.trust,
            operations: operations.collect(),
            overlays: own
                .overlays
                .iter()
                .map(|file| self.directory.join(file))
                .collect(),
            selection: own.selection.to_vec(),
        }
    }

    fn operation(&mut self, operation: &OperationSettings) -> OperationOverride {
        let is_named = operation.operation_id.is_some()
            || (operation.method.is_some() && operation.route.is_some());
        if !is_named {
            self.fault(
                "",
                "an operation is named by `operationId`, or by `method` and `route`",
            );
        }
        let names = operation
            .name
            .iter()
            .map(|name| (vec!["name".to_owned()], name));
        let variants = operation
            .variants
            .iter()
            .enumerate()
            .map(|(index, variant)| {
                let at = vec!["variants".to_owned(), index.to_string(), "name".to_owned()];
                (at, &variant.name)
            });
        let mut met = BTreeSet::new();
        for (at, name) in names.chain(variants) {
            let keys: Vec<&str> = at.iter().map(String::as_str).collect();
            self.below(&keys, |here| {
                if !is_given_name(name) {
                    here.fault(
                        "",
                        format!(
                            "{name:?} is no tool name; use 1 to 128 of A-Z, a-z, 0-9, _, . and -"
                        ),
                    );
                }
                if !met.insert(name) {
                    here.fault(
                        "",
                        format!("the name {name:?} is given twice; give each tool its own"),
                    );
                }
            });
        }
        if operation.name.is_some() && !operation.variants.is_empty() {
            self.fault(
                "name",
                "the variants have their own names, so that this one has no effect; remove it",
            );
        }
        OperationOverride {
            operation_id: operation.operation_id.clone(),
            method: operation.method.clone(),
            route: operation.route.clone(),
            amendment: amendment(operation),
        }
    }
}

/// What a source and a document below it have in common.
struct Common<'a> {
    key: Option<&'a String>,
    base_url: Option<&'a String>,
    server_variables: &'a BTreeMap<String, String>,
    trust: Option<bool>,
    overlays: &'a [PathBuf],
    selection: &'a [crate::catalog::SelectionRule],
    operations: &'a [OperationSettings],
}

fn amendment(operation: &OperationSettings) -> Amendment {
    let hints = &operation.hints;
    let hints = [
        ("readOnlyHint", hints.read_only_hint),
        ("destructiveHint", hints.destructive_hint),
        ("idempotentHint", hints.idempotent_hint),
        ("openWorldHint", hints.open_world_hint),
    ];
    Amendment {
        name: operation.name.clone(),
        description: operation.description.clone(),
        tags: operation.tags.clone(),
        search_terms: operation.search_terms.clone(),
        ignore: operation.ignore,
        hints: hints
            .into_iter()
            .filter_map(|(hint, holds)| Some((hint.to_owned(), holds?)))
            .collect(),
        arguments: operation.arguments.clone(),
        variants: operation.variants.clone(),
        policy: Policy {
            scopes: operation.scopes.clone(),
            audience: operation.audience.clone(),
            requires_approval: operation.requires_approval,
        },
    }
}

/// Whether a text can stand before derived names.
fn is_key(key: &str) -> bool {
    key.len() <= KEY_CHARS_MAX
        && key.starts_with(|c: char| c.is_ascii_lowercase())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
