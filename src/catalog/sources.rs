//! What the operator named becomes a list of things to read, in a fixed order.
//!
//! Owns: directory trees, globs, URLs, kinds by file name. Must never read a file's contents.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use globset::{GlobBuilder, GlobMatcher};
use url::Url;

use super::finding::Finding;
use super::loader::SourceTarget;
use super::{Diagnostic, DiagnosticCode, Severity};

/// A tree holds at most this many readable files; a larger one is not a directory of API documents.
const TREE_FILES_MAX: usize = 100_000;

/// A tree is at most this deep: nobody's is.
const TREE_LEVELS_MAX: usize = 64;

/// So many times a tree may lead to a directory that it led to before: a few links that cross make more ways
/// than can be walked.
const TREE_REPEATS_MAX: usize = 1_000;

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// As the operator named it, or that and the path below it.
    pub(crate) label: String,
    /// The source that led to it, as the operator named it.
    pub(crate) source: String,
    pub(crate) target: SourceTarget,
    pub(crate) form: Form,
    /// The path that keys are made of.
    pub(crate) key_path: String,
    /// Whether it was met in a tree or by a glob, so that it need not be an OpenAPI document.
    pub(crate) is_found: bool,
    /// Size in bytes where it is known before reading.
    pub(crate) bytes: u64,
}

/// What a source is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A document; `strict_json` when its name says that it is JSON.
    Document { strict_json: bool },
    /// A JSON Lines catalogue.
    Lines(Compression),
}

/// How a JSON Lines catalogue is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The sources as a list.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) items: Vec<Item>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether exactly one file or URL was named.
    pub(crate) is_single: bool,
}

/// Lists what the sources name. A file that is named twice is read once.
pub(crate) fn expand(sources: &[String]) -> Expanded {
    let mut expansion = Expansion::default();
    let mut named_files = 0;
    for source in sources {
        if let Some(url) = as_url(source) {
            named_files += 1;
            expansion.url(source, url);
            continue;
        }
        let path = Path::new(source);
        if path.is_dir() {
            let below = format!("{}/", source.trim_end_matches('/'));
            expansion.tree(source, path, &below, &|_| true);
        } else if !path.exists() && source.contains(['*', '?', '[', '{']) {
            expansion.glob(source);
        } else {
            named_files += 1;
            let name = path.file_name().map(|name| name.to_string_lossy());
            let name = name.unwrap_or_default().into_owned();
            expansion.file(source, source.clone(), path.to_owned(), name, false);
        }
    }
    Expanded {
        items: expansion.items,
        diagnostics: expansion.diagnostics,
        is_single: sources.len() == 1 && named_files == 1,
    }
}

pub(super) fn as_url(source: &str) -> Option<Result<Url, url::ParseError>> {
    let (scheme, _) = source.split_once("://")?;
    matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https").then(|| Url::parse(source))
}

#[derive(Default)]
struct Expansion {
    items: Vec<Item>,
    diagnostics: Vec<Diagnostic>,
    seen: HashSet<PathBuf>,
    seen_urls: HashSet<String>,
}

impl Expansion {
    fn fault(&mut self, label: &str, message: String) {
        let finding = Finding::of_source(DiagnosticCode::UnreadableSource, message);
        self.diagnostics
            .push(finding.into_diagnostic(Severity::Dropped, label));
    }

    fn url(&mut self, source: &str, url: Result<Url, url::ParseError>) {
        let url = match url {
            Ok(url) => url,
            Err(error) => return self.fault(source, format!("the URL is malformed: {error}")),
        };
        if !self.seen_urls.insert(url.to_string()) {
            return;
        }
        let segments = url.path_segments();
        let name = segments.and_then(|mut all| all.next_back()).unwrap_or("");
        self.items.push(Item {
            label: source.to_owned(),
            source: source.to_owned(),
            form: form(name),
            key_path: name.to_owned(),
            target: SourceTarget::Url(url),
            is_found: false,
            bytes: 0,
        });
    }

    fn file(
        &mut self,
        source: &str,
        label: String,
        path: PathBuf,
        key_path: String,
        is_found: bool,
    ) {
        // A path that cannot be resolved is reported when it is opened.
        if let Ok(real) = path.canonicalize()
            && !self.seen.insert(real)
        {
            return;
        }
        self.items.push(Item {
            label,
            source: source.to_owned(),
            form: form(&key_path),
            key_path,
            is_found,
            bytes: fs::metadata(&path).map_or(0, |metadata| metadata.len()),
            target: SourceTarget::File(path),
        });
    }

    /// The readable files below a directory whose path there is wanted, in the order of their names.
    fn tree(&mut self, source: &str, root: &Path, below: &str, wanted: &dyn Fn(&str) -> bool) {
        let mut files = 0;
        let mut repeats = 0;
        let mut met = HashSet::new();
        // Entries still to visit, the next one last, each with the directories above it.
        let mut open = vec![(root.to_owned(), String::new(), Above::default())];
        while let Some((path, inside, above)) = open.pop() {
            if !path.is_dir() {
                if is_readable(&inside) && wanted(&inside) {
                    files += 1;
                    if files > TREE_FILES_MAX {
                        let message = format!(
                            "over {TREE_FILES_MAX} files are below it; name a smaller directory"
                        );
                        return self.fault(source, message);
                    }
                    self.file(source, format!("{below}{inside}"), path, inside, true);
                }
                continue;
            }
            // A directory that cannot be resolved is reported when it is listed.
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if above.holds(&real) {
                continue;
            }
            if !met.insert(real.clone()) {
                repeats += 1;
            }
            if repeats > TREE_REPEATS_MAX {
                let message = format!(
                    "its links lead over {TREE_REPEATS_MAX} times to a directory that was met before; \
                     name the directories that hold the documents"
                );
                return self.fault(source, message);
            }
            let above = above.and(real);
            if above.levels() > TREE_LEVELS_MAX {
                self.fault(
                    &format!("{below}{inside}"),
                    "the directory is too deep in its tree".to_owned(),
                );
                continue;
            }
            let entries = fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            match entries {
                Ok(entries) => {
                    let mut names: Vec<_> = entries.iter().map(fs::DirEntry::file_name).collect();
                    names.sort_unstable();
                    for name in names.into_iter().rev() {
                        let text = name.to_string_lossy();
                        // Version control and editors keep their own files in hidden ones.
                        if text.starts_with('.') {
                            continue;
                        }
                        let inside = match inside.as_str() {
                            "" => text.into_owned(),
                            inside => format!("{inside}/{text}"),
                        };
                        open.push((path.join(name), inside, above.clone()));
                    }
                }
                Err(error) => self.fault(
                    &format!("{below}{inside}"),
                    format!("the directory cannot be listed: {error}"),
                ),
            }
        }
    }

    fn glob(&mut self, source: &str) {
        let (below, pattern) = glob_parts(source);
        let matcher = match matcher(pattern) {
            Ok(matcher) => matcher,
            Err(message) => return self.fault(source, message),
        };
        let root = Path::new(if below.is_empty() { "." } else { below });
        let before = self.items.len();
        let faults = self.diagnostics.len();
        if root.is_dir() {
            self.tree(source, root, below, &|inside| matcher.is_match(inside));
        }
        if self.items.len() == before && self.diagnostics.len() == faults {
            self.fault(
                source,
                "no file matches the pattern; check its directory and extension".to_owned(),
            );
        }
    }
}

/// How a document below a source is named: the directory of the source, and the path there.
pub fn document_label(source: &str, path: &str) -> String {
    match glob_root(source) {
        Some(_) if !Path::new(source).exists() => format!("{}{path}", glob_parts(source).0),
        _ => format!("{}/{path}", source.trim_end_matches('/')),
    }
}

/// A pattern in two: the directory before the first segment that holds a special character, and the rest.
fn glob_parts(source: &str) -> (&str, &str) {
    let special = source.find(['*', '?', '[', '{']).unwrap_or(0);
    let start = source[..special].rfind('/').map_or(0, |slash| slash + 1);
    source.split_at(start)
}

/// The directory below which a pattern looks; `None` when the source is no pattern.
pub(super) fn glob_root(source: &str) -> Option<PathBuf> {
    source.contains(['*', '?', '[', '{']).then(|| {
        let (below, _) = glob_parts(source);
        PathBuf::from(if below.is_empty() { "." } else { below })
    })
}

/// The real paths of the directories on the way to an entry: a link to one of them goes round.
#[derive(Clone, Default)]
struct Above(Option<Rc<(PathBuf, Self, usize)>>);

impl Above {
    fn holds(&self, real: &Path) -> bool {
        let mut next = self;
        while let Some(level) = &next.0 {
            if level.0 == real {
                return true;
            }
            next = &level.1;
        }
        false
    }

    fn levels(&self) -> usize {
        self.0.as_ref().map_or(0, |level| level.2)
    }

    fn and(self, real: PathBuf) -> Self {
        let levels = self.levels() + 1;
        Self(Some(Rc::new((real, self, levels))))
    }
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the pattern is malformed: {error}"))
}

/// The kind of a source by its name.
fn form(name: &str) -> Form {
    let name = name.to_ascii_lowercase();
    let is = |ending: &str| name.ends_with(ending);
    if is(".jsonl") || is(".ndjson") {
        Form::Lines(Compression::None)
    } else if is(".jsonl.gz") {
        Form::Lines(Compression::Gzip)
    } else if is(".jsonl.zst") {
        Form::Lines(Compression::Zstd)
    } else {
        Form::Document {
            strict_json: is(".json"),
        }
    }
}

/// Whether a file of a tree can be a source at all.
fn is_readable(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(form(name), Form::Lines(_))
        || [".json", ".yaml", ".yml"]
            .iter()
            .any(|ending| lower.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "b.yaml",
            "a/openapi.json",
            "a/z.yml",
            "a.json",
            "notes.md",
            ".git/x.json",
            "a/deep/er/c.JSON",
            "l.jsonl.gz",
            "m.jsonl.zst",
            "n.jsonl",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        root
    }

    fn paths(sources: &[String]) -> Vec<String> {
        let expanded = expand(sources);
        assert!(
            expanded.diagnostics.is_empty(),
            "{:?}",
            expanded.diagnostics
        );
        expanded
            .items
            .into_iter()
            .map(|item| item.key_path)
            .collect()
    }

    #[test]
    fn trees_are_listed_by_name_and_globs_pick_from_them() {
        let root = tree();
        let at = |rest: &str| format!("{}{rest}", root.path().display());
        assert_eq!(
            paths(&[at("")]),
            [
                "a/deep/er/c.JSON",
                "a/openapi.json",
                "a/z.yml",
                "a.json",
                "b.yaml",
                "l.jsonl.gz",
                "m.jsonl.zst",
                "n.jsonl"
            ]
        );
        assert_eq!(paths(&[at("/*.json")]), ["a.json"]);
        assert_eq!(
            paths(&[at("/**/*.{json,yml}")]),
            ["a/openapi.json", "a/z.yml", "a.json"]
        );
        assert_eq!(
            paths(&[at("/a/z.yml"), at("/"), at("/a/../a/z.yml")])[0],
            "z.yml"
        );
        assert_eq!(paths(&[at("/a/z.yml"), at("/a")]).len(), 3);
        assert_eq!(expand(&[at("/nothing*")]).diagnostics.len(), 1);
        assert_eq!(expand(&[at("/[")]).diagnostics.len(), 1);
    }

    #[test]
    fn one_file_or_url_is_single_and_nothing_else_is() {
        let root = tree();
        let at = |rest: &str| format!("{}{rest}", root.path().display());
        assert!(expand(&[at("/a.json")]).is_single);
        assert!(expand(&["https://h.test/v1/openapi.json?x=y".into()]).is_single);
        assert!(!expand(&[at("/a")]).is_single);
        assert!(!expand(&[at("/a.*")]).is_single);
        assert!(!expand(&[at("/a.json"), at("/missing.json")]).is_single);
        assert_eq!(expand(&["http://".into()]).diagnostics.len(), 1);
    }

    #[test]
    fn kinds_follow_names() {
        for (name, want) in [
            ("a.json", Form::Document { strict_json: true }),
            ("a.yaml", Form::Document { strict_json: false }),
            ("openapi", Form::Document { strict_json: false }),
            ("a.jsonl", Form::Lines(Compression::None)),
            ("A.JSONL.GZ", Form::Lines(Compression::Gzip)),
            ("a.jsonl.zst", Form::Lines(Compression::Zstd)),
        ] {
            assert_eq!(form(name), want);
        }
    }
}
