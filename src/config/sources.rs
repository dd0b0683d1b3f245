//! The sources of a command: flags and the configuration file together.
//!
//! Owns: which of the two prevails, and the options of reading that come of both.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use url::Url;

use super::args::{BuildArgs, NamePrefix, SizeArgs, base_url, host};
use super::file::{ConfigError, Configured, DefinitionSettings};
use crate::catalog::{Prefix, ReadOptions};
use crate::http::AllowedHosts;

/// Where the catalogue comes from.
#[derive(Debug, Clone, Default, Args)]
pub struct SourceArgs {
    /// OpenAPI documents (JSON or YAML), directories, globs, http(s) URLs, .jsonl catalogues, or one index
    /// directory made by `sezzlee index`.
    #[arg(value_name = "SOURCE", required_unless_present = "config")]
    pub sources: Vec<String>,
    /// A configuration file (TOML, YAML or JSON); `sezzlee config example` prints one. Flags prevail over it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Apply this OpenAPI Overlay file to the one document before it is read; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub overlay: Vec<PathBuf>,
    /// Send calls to this URL instead of the servers the documents name; its host may be private.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    pub base_url: Option<Url>,
    /// Whether names start with their document's key. Left out: `never` for exactly one file or URL,
    /// `always` otherwise.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub prefix: Option<NamePrefix>,
    /// Let references in documents lead to this host, besides a document's own; may be given several times.
    /// Its addresses must be public, unless it is a source's host, too.
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub allow_ref_host: Vec<String>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a group of flags has no help of its own")]
    pub size: SizeArgs,
    #[command(flatten)]
    #[expect(missing_docs, reason = "a group of flags has no help of its own")]
    pub build: BuildArgs,
    /// The configuration file as it was read last; see [`SourceArgs::settled`].
    #[arg(skip)]
    pub configured: Option<Arc<Configured>>,
}

/// Whom calls may be sent to although their addresses are private, because the operator named them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outbound {
    /// Base URLs.
    pub urls: BTreeSet<Url>,
    /// Hosts.
    pub hosts: Vec<String>,
}

impl SourceArgs {
    /// These flags with the configuration file, read now: its sources, where none are on the command line, and
    /// its settings. To be asked again for every reload.
    pub fn settled(&self) -> Result<Self, ConfigError> {
        let mut settled = self.clone();
        if let Some(path) = &self.config {
            let configured = Configured::read(path)?;
            if self.sources.is_empty() {
                settled.sources.clone_from(&configured.sources);
                // Names must not depend on how many sources a file happens to list.
                settled.prefix = settled.prefix.or(configured.file.naming.prefix);
                settled.prefix.get_or_insert(NamePrefix::Always);
            }
            if settled.sources.is_empty() {
                return Err(ConfigError::NoSources { path: path.clone() });
            }
            settled.configured = Some(Arc::new(configured));
        }
        if !settled.overlay.is_empty() && !settled.is_one_document() {
            return Err(ConfigError::OverlayOfMany);
        }
        Ok(settled)
    }

    fn is_one_document(&self) -> bool {
        let [source] = self.sources.as_slice() else {
            return false;
        };
        source.contains("://") || Path::new(source).is_file()
    }

    /// How the sources are read.
    pub fn read_options(&self) -> ReadOptions {
        let configured = self.configured.as_deref();
        let prefix = self
            .prefix
            .or_else(|| configured.and_then(|one| one.file.naming.prefix));
        ReadOptions {
            base_url: self.base_url.clone(),
            prefix: match prefix {
                None => Prefix::Unset,
                Some(NamePrefix::Always) => Prefix::Always,
                Some(NamePrefix::Never) => Prefix::Never,
            },
            selection: configured.map_or_else(Vec::new, |one| one.file.selection.clone()),
            documents: configured.map_or_else(Vec::new, |one| one.documents(&self.sources)),
            overlays: self.overlay.clone(),
            settings_name: configured
                .map_or_else(String::new, |one| one.path.display().to_string()),
            size: self.size.settings(
                configured.map_or(&DefinitionSettings::default(), |one| &one.file.definition),
            ),
            reference_hosts: self.reference_hosts(),
            threads: self.build.threads(),
            ..ReadOptions::default()
        }
    }

    /// The hosts that references may lead to.
    pub fn reference_hosts(&self) -> AllowedHosts {
        let configured = self.configured.as_deref();
        let configured = configured.map_or(&[][..], |one| &one.file.allow_reference_hosts);
        let mut hosts = AllowedHosts::none();
        for host in self.allow_ref_host.iter().chain(configured) {
            // Neither the flag nor the file took what is no host.
            let _ = hosts.allow(host);
        }
        hosts
    }

    /// Whether references may lead to any host beside the documents' own.
    pub fn has_reference_hosts(&self) -> bool {
        let configured = self.configured.as_deref();
        !self.allow_ref_host.is_empty()
            || configured.is_some_and(|one| !one.file.allow_reference_hosts.is_empty())
    }

    /// Whom calls may be sent to by name.
    pub fn outbound(&self) -> Outbound {
        let mut outbound = Outbound {
            urls: self.base_url.iter().cloned().collect(),
            hosts: Vec::new(),
        };
        if let Some(configured) = &self.configured {
            outbound.urls.extend(configured.base_urls());
            outbound.hosts.clone_from(&configured.file.allow_hosts);
        }
        outbound
    }

    /// Everything in the file system that decides what is read: the sources, the overlays and the file itself.
    pub fn looked_at(&self) -> Vec<String> {
        let mut all = self.sources.clone();
        let own = self.configured.iter().flat_map(|one| one.files());
        let overlays = self.overlay.iter().cloned();
        all.extend(own.chain(overlays).map(|path| path.display().to_string()));
        all
    }
}
