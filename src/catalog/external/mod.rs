//! The files a document refers to, as parts of the one value the document is read as.
//!
//! Owns: where such a file stands in that value, how a place in it is told to people, what its schemas are
//! called. Must never load a file itself (`link` does) nor know what one means.
//!
//! Every file is put below one reserved member of the document's root, and references to it are rewritten to
//! local pointers. All other code sees one tree and knows nothing of files.

mod link;
mod load;
mod locate;
mod place;
mod scan;

use std::borrow::Cow;
use std::collections::HashMap;

use url::Url;

use super::document::Version;
use super::finding::Finding;
use super::parse::Original;
use super::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Pointer;

pub(crate) use link::{Origin, link, needs_linking};

/// The member of the root that holds the files, in a list. No text can name it: a member of this name is taken
/// out of the root, and a reference that spells it leads nowhere.
const MEMBER: &str = "\u{0}files";

/// What a rewritten reference begins with, before the number of its file and the place there. A reference that
/// a document begins with it leaves the document like any other that does not begin with `#`, and is rewritten
/// or never followed.
const MARK: char = '\u{0}';

/// The pointer, still encoded, that a rewritten reference stands for.
pub(crate) fn rewritten(reference: &str) -> Option<String> {
    let rest = reference.strip_prefix(MARK)?;
    Some(format!("/{MEMBER}{rest}"))
}

/// Whether a key of the root is the reserved one.
pub(crate) fn is_reserved(key: &str) -> bool {
    key == MEMBER
}

/// The files of a document.
#[derive(Debug, Default)]
pub(crate) struct Externals {
    files: Vec<ExternalFile>,
    /// What a schema that a reference leads to is called under `$defs`.
    names: HashMap<Pointer, String>,
}

/// One file that a document refers to.
#[derive(Debug)]
struct ExternalFile {
    /// As diagnostics name it: like the document, with the path from there; or its URL.
    label: String,
    /// The same for every spelling of the document's own place.
    stable: String,
    /// Where it was fetched from, when it was.
    url: Option<Url>,
    /// What its schemas are written in.
    version: Version,
    /// Whether it is an OpenAPI document of its own.
    is_document: bool,
    /// Its text; none of one that is not there.
    original: Option<Original>,
    /// Why it is not there.
    fault: Option<(DiagnosticCode, String)>,
}

/// What became of the files that documents refer to.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// Those that were read, as diagnostics name them.
    pub read: Vec<String>,
    /// Those that were not, and why.
    pub unread: Vec<(String, String)>,
}

impl Externals {
    /// The file a place stands in, by number, and the place within it; none in the document itself.
    fn split(at: &Pointer) -> Option<(usize, &str)> {
        let rest = at
            .as_str()
            .strip_prefix('/')?
            .strip_prefix(MEMBER)?
            .strip_prefix('/')?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (number, within) = rest.split_at(end);
        Some((number.parse().ok()?, within))
    }

    fn file<'a>(&'a self, at: &'a Pointer) -> Option<(&'a ExternalFile, &'a str)> {
        let (number, within) = Self::split(at)?;
        Some((self.files.get(number)?, within))
    }

    /// Why the file that a place stands in is not there, when it is not.
    pub(crate) fn fault(&self, at: &Pointer) -> Option<&(DiagnosticCode, String)> {
        let (number, _) = Self::split(at)?;
        self.files.get(number)?.fault.as_ref()
    }

    /// What a schema at a place is written in, where that is not the document's own version.
    pub(crate) fn version(&self, at: &Pointer) -> Option<Version> {
        Some(self.file(at)?.0.version)
    }

    /// Where what stands at a place was fetched from; `own` is where the document was.
    pub(crate) fn url<'u>(&'u self, at: &Pointer, own: Option<&'u Url>) -> Option<&'u Url> {
        match Self::split(at).and_then(|(number, _)| self.files.get(number)) {
            Some(file) => file.url.as_ref(),
            None => own,
        }
    }

    /// How many tokens lead to the root of what a place stands in, and whether that is a whole document.
    pub(crate) fn home(&self, at: &Pointer) -> (usize, bool) {
        self.file(at)
            .map_or((0, true), |(file, _)| (2, file.is_document))
    }

    /// The name of the schema at a place under `$defs`, where a reference into another file led to it.
    pub(crate) fn name(&self, at: &Pointer) -> Option<&str> {
        self.names.get(at).map(String::as_str)
    }

    /// What a person would call what stands at a place: its key, or the stem of its file.
    pub(crate) fn title(&self, at: &Pointer) -> String {
        match self.file(at) {
            Some((file, "" | "/")) => {
                let path = file.stable.split(['?', '#']).next().unwrap_or_default();
                let name = path.rsplit('/').next().unwrap_or_default();
                let stem = name.split('.').next().filter(|stem| !stem.is_empty());
                stem.unwrap_or(name).to_owned()
            }
            _ => at.tokens().last().unwrap_or_default(),
        }
    }

    /// A text for a place that does not depend on which files were met before it.
    pub(crate) fn stable(&self, at: &Pointer) -> String {
        match self.file(at) {
            Some((file, within)) => format!("{}#{within}", file.stable),
            None => at.as_str().to_owned(),
        }
    }

    /// A place as people know it: the file (none for the document itself) and the pointer there.
    pub(crate) fn shown(&self, at: &Pointer) -> String {
        match self.file(at) {
            Some((file, within)) => format!("{}#{within}", file.label),
            None => format!("#{at}"),
        }
    }

    /// A reference as people may read it, given where it leads.
    pub(crate) fn spelled<'t>(&self, reference: &'t str, to: &Pointer) -> Cow<'t, str> {
        match self.file(to) {
            Some(_) => Cow::Owned(self.shown(to)),
            None => Cow::Borrowed(reference),
        }
    }

    /// The names of all files, by their numbers.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.files.iter().map(|file| file.label.clone()).collect()
    }

    /// The texts of the files that are there, by the names of the files.
    pub(crate) fn originals(&self) -> impl Iterator<Item = (&str, &Original)> {
        self.files
            .iter()
            .filter_map(|file| Some((file.label.as_str(), file.original.as_ref()?)))
    }

    /// What became of the files.
    pub(crate) fn references(&self) -> References {
        let mut references = References::default();
        for file in &self.files {
            match &file.fault {
                None => references.read.push(file.label.clone()),
                Some((_, why)) => references.unread.push((file.label.clone(), why.clone())),
            }
        }
        references
    }
}

/// The diagnostic of a finding: about the file it is in, by the pointer there.
pub(super) fn placed(
    files: &[String],
    document: &str,
    finding: Finding,
    severity: Severity,
) -> Diagnostic {
    let own = Externals::split(&finding.at).and_then(|(number, within)| {
        Some((files.get(number)?.clone(), Pointer::from_text(within)?))
    });
    match own {
        Some((file, at)) => Finding { at, ..finding }.into_diagnostic(severity, &file),
        None => finding.into_diagnostic(severity, document),
    }
}
