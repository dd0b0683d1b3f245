//! Where the text of a reference leads, and whether it may be followed there.
//!
//! Owns: the fence around references: a document's own directory by real paths, its own host, hosts the
//! operator allows. Must never open what it finds.

use std::path::{Component, Path, PathBuf};

use url::Url;

use crate::catalog::SourceTarget;
use crate::catalog::document::shown;
use crate::http::AllowedHosts;

/// The place a document was read from, as its references are resolved against it.
#[derive(Debug)]
pub(super) struct Home {
    /// The document's URL. A file has one too, under the real path of its directory.
    pub(super) url: Url,
    directory: Option<Directory>,
}

/// The directory of a document that is a file.
#[derive(Debug)]
struct Directory {
    /// As it was named: what is opened goes by this, so that links which move are followed anew every time.
    named: PathBuf,
    /// Its real path.
    real: PathBuf,
    /// What diagnostics put before a path from here.
    label: String,
}

/// Something a reference leads to that may be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) target: SourceTarget,
    pub(super) label: String,
    pub(super) stable: String,
}

/// Why a reference is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It leads out of the fence.
    Blocked(String),
    /// It leads out of the fence by a link that stands where a file is expected.
    Escaped {
        /// The link, as diagnostics name it.
        label: String,
    },
    /// It leads to nothing.
    Nowhere(String),
}

fn blocked<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Blocked(why.into()))
}

impl Home {
    /// The home of a document; none when its file cannot be located (it is then not read either).
    pub(super) fn of(target: &SourceTarget, label: &str) -> Option<Self> {
        let path = match target {
            SourceTarget::Url(url) => {
                let mut url = url.clone();
                url.set_fragment(None);
                return Some(Self {
                    url,
                    directory: None,
                });
            }
            SourceTarget::File(path) => path,
        };
        let name = path.file_name()?;
        let named = path.parent().unwrap_or(Path::new("")).to_owned();
        let here = Path::new(".");
        let real = if named.as_os_str().is_empty() {
            here.canonicalize()
        } else {
            named.canonicalize()
        };
        let real = real.ok()?;
        let cut = label.rfind('/').map_or(0, |slash| slash + 1);
        Some(Self {
            url: Url::from_file_path(real.join(name)).ok()?,
            directory: Some(Directory {
                named,
                real,
                label: label[..cut].to_owned(),
            }),
        })
    }

    /// The URL, without fragment, that the text of a reference before its `#` stands for.
    pub(super) fn join(base: &Url, text: &str) -> Result<Url, Refusal> {
        if text.contains('\\') {
            return blocked("it has a backslash; directories are separated by /");
        }
        if text.contains(|c: char| c.is_ascii_control()) {
            return blocked("it has a control character");
        }
        let scheme = scheme(text);
        let is_web = scheme.is_some_and(|name| {
            ["http", "https"]
                .iter()
                .any(|web| name.eq_ignore_ascii_case(web))
        });
        if let (Some(scheme), false) = (scheme, is_web) {
            return blocked(format!(
                "only relative references and http and https URLs are followed, not {}",
                shown(scheme)
            ));
        }
        if base.scheme() == "file" && scheme.is_none() && text.starts_with('/') {
            return blocked("it is absolute; refer to files by their path from the referring file");
        }
        match base.join(text) {
            Ok(mut url) => {
                url.set_fragment(None);
                Ok(url)
            }
            Err(error) => Err(Refusal::Nowhere(format!("it is no URL: {error}"))),
        }
    }

    /// What stands at a URL, when it may be opened.
    pub(super) fn locate(&self, url: &Url, allowed: &AllowedHosts) -> Result<Found, Refusal> {
        match (url.scheme(), &self.directory) {
            ("file", Some(directory)) => directory.locate(url),
            ("http" | "https", _) => {
                if !url.username().is_empty() || url.password().is_some() {
                    return blocked("its URL has a user name or password");
                }
                if !self.is_own(url) && !allowed.names_url(url) {
                    let host = url.host_str().unwrap_or_default();
                    return blocked(format!(
                        "the host {} is not the document's own; allow it with --allow-ref-host",
                        shown(host)
                    ));
                }
                Ok(Found {
                    target: SourceTarget::Url(url.clone()),
                    label: url.to_string(),
                    stable: url.to_string(),
                })
            }
            _ => blocked("a document from the web refers to no file of this machine"),
        }
    }

    /// Whether a URL is on the host the document came from: the same name and port, and TLS where the
    /// document had it.
    fn is_own(&self, url: &Url) -> bool {
        let is_default = |url: &Url| url.port().is_none();
        let port = url.port_or_known_default() == self.url.port_or_known_default()
            || (is_default(url) && is_default(&self.url));
        self.directory.is_none()
            && url.host() == self.url.host()
            && port
            && (url.scheme() == "https" || self.url.scheme() == "http")
    }
}

impl Directory {
    fn locate(&self, url: &Url) -> Result<Found, Refusal> {
        if url.query().is_some() {
            return Err(Refusal::Nowhere(
                "a file has no query; write a ? in its name as %3F".to_owned(),
            ));
        }
        let outside =
            || blocked("it leads out of the document's own directory; move the file below it");
        let path = url.to_file_path().unwrap_or_default();
        let Ok(inside) = path.strip_prefix(&self.real) else {
            return outside();
        };
        // A percent-encoded slash may have made `..` of what looked like a name.
        let is_plain = inside
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let Some(text) = inside.to_str().filter(|_| is_plain) else {
            return outside();
        };
        if text.contains(['\\', '\0']) {
            return blocked("it has a backslash or a NUL; directories are separated by /");
        }
        let named = self.named.join(inside);
        match named.canonicalize() {
            Ok(real) if !real.starts_with(&self.real) => {
                return Err(Refusal::Escaped {
                    label: format!("{}{text}", self.label),
                });
            }
            // What cannot be resolved is told by whoever opens it.
            _ => {}
        }
        Ok(Found {
            target: SourceTarget::File(named),
            label: format!("{}{text}", self.label),
            stable: text.to_owned(),
        })
    }
}

/// The scheme a reference begins with. A drive letter looks like one and is refused like one.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let mut letters = scheme.chars();
    (letters.next()?.is_ascii_alphabetic()
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
    .then_some(scheme)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn home(root: &Path) -> Home {
        let label = "apis/main.yaml";
        Home::of(&SourceTarget::File(root.join("apis/main.yaml")), label).unwrap()
    }

    fn find(home: &Home, from: &Url, text: &str) -> Result<Found, Refusal> {
        let mut allowed = AllowedHosts::none();
        allowed.allow("allowed.test").unwrap();
        home.locate(&Home::join(from, text)?, &allowed)
    }

    #[test]
    fn files_are_found_below_the_directory_and_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("apis/sub/deep")).unwrap();
        fs::write(root.path().join("apis/sub/a b.yaml"), "").unwrap();
        fs::write(root.path().join("secret.yaml"), "").unwrap();
        let home = home(root.path());
        for (text, want) in [
            ("sub/a%20b.yaml", "sub/a b.yaml"),
            ("./sub/../sub/a b.yaml", "sub/a b.yaml"),
            ("sub/%2e/a b.yaml", "sub/a b.yaml"),
            ("main.yaml", "main.yaml"),
            ("", "main.yaml"),
            ("missing.yaml", "missing.yaml"),
            ("a%3Fb", "a?b"),
        ] {
            let found = find(&home, &home.url, text).unwrap();
            assert_eq!(found.stable, want, "{text}");
            assert_eq!(found.label, format!("apis/{want}"));
            assert_eq!(
                found.target,
                SourceTarget::File(root.path().join("apis").join(want))
            );
        }
        let within = Home::join(&home.url, "sub/deep/x.yaml").unwrap();
        assert_eq!(
            find(&home, &within, "../a b.yaml").unwrap().stable,
            "sub/a b.yaml"
        );
        for text in [
            "../secret.yaml",
            "%2e%2e/secret.yaml",
            "%2E%2E%2Fsecret.yaml",
            "sub/..%2f..%2fsecret.yaml",
            "sub/../../secret.yaml",
            "../../../../../../../../../../../etc/passwd",
            "../apis-other/x.yaml",
            "/etc/passwd",
            "//host.test/x.yaml",
            "file:///etc/passwd",
            "FILE:secret.yaml",
            "file:secret.yaml",
            "..\\secret.yaml",
            "sub\\a b.yaml",
            "sub/%5c..%5csecret.yaml",
            "C:\\x.yaml",
            "c:/x.yaml",
            "ftp://host.test/x",
            "data:text/plain,x",
            "a\u{0}b",
            "a%00b",
            "\t../secret.yaml",
            ".\n./secret.yaml",
            "http://user@allowed.test/x",
            "https://user:pass@allowed.test/x",
            "https://other.test/x.yaml",
            "http://allowed.test.other.test/x",
        ] {
            let refused = find(&home, &home.url, text);
            assert!(
                matches!(refused, Err(Refusal::Blocked(_))),
                "{text}: {refused:?}"
            );
        }
        assert!(matches!(
            find(&home, &home.url, "a.yaml?b"),
            Err(Refusal::Nowhere(_))
        ));
        for text in ["https://allowed.test/x", "HTTP://ALLOWED.test:8080/x"] {
            assert!(find(&home, &home.url, text).is_ok(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_no_further_than_paths() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("apis/sub")).unwrap();
        fs::create_dir_all(at("other")).unwrap();
        fs::write(at("secret.yaml"), "").unwrap();
        fs::write(at("apis/sub/a.yaml"), "").unwrap();
        symlink(at("secret.yaml"), at("apis/link.yaml")).unwrap();
        symlink(at("other"), at("apis/dir")).unwrap();
        symlink(at("apis/sub/a.yaml"), at("apis/inner.yaml")).unwrap();
        let home = home(root.path());
        for text in ["link.yaml", "dir/x.yaml", "dir/../link.yaml"] {
            let refused = find(&home, &home.url, text);
            // A file that is not there cannot be resolved, and cannot be opened.
            let is_refused = matches!(refused, Err(Refusal::Escaped { .. }));
            assert!(is_refused || text == "dir/x.yaml", "{text}: {refused:?}");
        }
        fs::write(at("other/x.yaml"), "").unwrap();
        assert!(find(&home, &home.url, "dir/x.yaml").is_err());
        assert!(find(&home, &home.url, "inner.yaml").is_ok());
    }

    #[test]
    fn a_document_from_the_web_reaches_its_own_host() {
        let url = Url::parse("https://docs.test/v1/openapi.yaml?x=1").unwrap();
        let home = Home::of(&SourceTarget::Url(url), "d").unwrap();
        for (text, want) in [
            ("a.yaml", "https://docs.test/v1/a.yaml"),
            ("../../a.yaml?b=c", "https://docs.test/a.yaml?b=c"),
            ("/a", "https://docs.test/a"),
            ("//DOCS.test/a", "https://docs.test/a"),
            ("https://docs.test:443/a", "https://docs.test/a"),
            ("//allowed.test/a", "https://allowed.test/a"),
            ("http://allowed.test/a", "http://allowed.test/a"),
        ] {
            assert_eq!(find(&home, &home.url, text).unwrap().label, want);
        }
        for text in [
            "http://docs.test/a",
            "https://docs.test:8443/a",
            "https://docs.test.other.test/a",
            "//other.test/a",
            "file:///etc/passwd",
            "\\\\docs.test\\a",
            "https://docs.test@other.test/a",
            "https://me@docs.test/a",
        ] {
            let refused = find(&home, &home.url, text);
            assert!(matches!(refused, Err(Refusal::Blocked(_))), "{text}");
        }
    }
}
