//! Loading the files a document refers to, each once, and rewriting the references to local ones.
//!
//! Owns: identifiers and anchors across files, which references lead where. Must never fail:
//! a file that is not there leaves the reason for whoever follows the reference.
//!
//! Only what references lead to is looked at, so that a file full of other things costs its reading and no
//! more, and so that data is never taken for references.

use std::collections::{HashMap, HashSet, VecDeque};

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::load::Reading;
use super::locate::{Found, Home, Refusal};
use super::place::{decoded, encoded, fragment, is_part, location, pointed, pointed_mut};
use super::scan::{Reference, Scanned, scan};
use super::{ExternalFile, Externals, MARK, MEMBER};
use crate::catalog::document::{Document, Version, anchors, shown, version};
use crate::catalog::finding::Finding;
use crate::catalog::parse::DOCUMENT_VALUES_MAX;
use crate::catalog::schema;
use crate::catalog::{DiagnosticCode, Loader, ReadOptions, Severity, SourceTarget};
use crate::json::Pointer;

/// Looking for references costs at most this many values for each document: four times what it may hold.
/// References into one another's insides would otherwise have the same text looked at again and again.
const LOOKED_AT_MAX: u64 = 4 * DOCUMENT_VALUES_MAX as u64;

/// So many files are told apart, there or not; references to more are told that there are too many.
const PARTS_MAX: usize = 40_000;

/// What a schema is called is at most this many bytes: names within names add up.
const ID_BYTES_MAX: usize = 1_024;

/// At most this many references wait until all names are known.
const LATER_MAX: usize = 100_000;

/// Where a document was read from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) target: &'a SourceTarget,
    pub(crate) label: &'a str,
}

/// Whether a document refers to anything but places of its own that stay as they are.
pub(crate) fn needs_linking(root: &Value) -> bool {
    let scanned = scan(root, &Pointer::root(), true);
    let is_data =
        |text: &String| decoded(fragment(text)).is_some_and(|pointer| !is_part(root, &pointer));
    root.get(MEMBER).is_some()
        || !scanned.references.is_empty()
        || scanned.local.iter().any(is_data)
}

/// Loads what a document refers to and makes it a part of the document. Oddities are answered as findings.
pub(crate) fn link(
    document: &mut Document,
    origin: Origin<'_>,
    options: &ReadOptions,
    loader: &dyn Loader,
) -> Vec<(Severity, Finding)> {
    let mut findings = Vec::new();
    if let Value::Object(root) = &mut document.value
        && root.shift_remove(MEMBER).is_some()
    {
        findings.push((
            Severity::Warning,
            Finding::of_source(
                DiagnosticCode::Malformed,
                "a member of the root has the name that is kept for files; it is left out",
            ),
        ));
    }
    let Some(home) = Home::of(origin.target, origin.label) else {
        return findings;
    };
    let own = Part {
        base: home.url.clone(),
        value: std::mem::take(&mut document.value),
        version: document.version,
        levels: 0,
    };
    let reading = Reading::beside(&own.value, loader);
    let mut linker = Linker {
        places: HashMap::from([(home.url.to_string(), 0)]),
        parts: vec![own],
        refused: HashMap::new(),
        files: Vec::new(),
        home,
        options,
        reading,
        queue: VecDeque::from([(0, Pointer::root())]),
        met: HashSet::from([(0, Pointer::root())]),
        written: HashSet::new(),
        ids: HashMap::new(),
        anchors: HashMap::new(),
        later: Vec::new(),
        targets: Vec::new(),
        findings,
        looked_at: 0,
    };
    linker.all();
    linker.finish(document)
}

/// The document itself (the first) or one of its files.
struct Part {
    base: Url,
    value: Value,
    version: Version,
    /// Steps from the document.
    levels: usize,
}

struct Linker<'a> {
    home: Home,
    options: &'a ReadOptions,
    reading: Reading<'a>,
    parts: Vec<Part>,
    /// What is told of all parts but the first.
    files: Vec<ExternalFile>,
    /// The parts by their URLs.
    places: HashMap<String, usize>,
    /// Parts that stand for references that may not be followed, by their texts.
    refused: HashMap<String, usize>,
    /// Places that are still to be looked at.
    queue: VecDeque<(usize, Pointer)>,
    met: HashSet<(usize, Pointer)>,
    /// The references that were rewritten; the same place may be looked at twice.
    written: HashSet<(usize, Pointer, &'static str)>,
    /// The schemas that say what they are called.
    ids: HashMap<String, (usize, Pointer)>,
    /// The anchors of those parts that were asked for them.
    anchors: HashMap<usize, HashMap<String, Pointer>>,
    /// References that led nowhere, until all identifiers are known.
    later: Vec<Later>,
    /// What references into other files led to, in order.
    targets: Vec<(usize, Pointer)>,
    findings: Vec<(Severity, Finding)>,
    looked_at: u64,
}

/// A reference that leads nowhere so far.
struct Later {
    part: usize,
    reference: Reference,
    /// What it would be called.
    id: Option<Url>,
    fault: usize,
}

impl Linker<'_> {
    fn all(&mut self) {
        loop {
            while let Some((part, at)) = self.queue.pop_front() {
                self.look(part, &at);
            }
            // A file that came late may hold what an earlier reference was about.
            let mut found = Vec::new();
            self.later.retain_mut(|one| {
                let key = one.id.as_ref().map(Url::as_str);
                let is_known = key.is_some_and(|key| self.ids.contains_key(key));
                if is_known {
                    found.push((one.part, one.reference.clone(), one.id.take()));
                }
                !is_known
            });
            if found.is_empty() {
                break;
            }
            for (part, reference, id) in found {
                let known = id.and_then(|id| self.ids.get(id.as_str()).cloned());
                if let Some((to, at)) = known {
                    let fragment = fragment(&reference.text).to_owned();
                    self.lead(part, &reference, to, &at, &fragment);
                }
            }
        }
        for one in std::mem::take(&mut self.later) {
            self.write(one.part, &one.reference, one.fault, "");
        }
    }

    /// Looks for the references below a place.
    fn look(&mut self, part: usize, at: &Pointer) {
        let Some(value) = pointed(&self.parts[part].value, at) else {
            return;
        };
        if self.looked_at > LOOKED_AT_MAX {
            return;
        }
        let scanned = scan(value, at, part == 0);
        self.looked_at += scanned.values;
        let mut local: Vec<&String> = scanned.local.iter().collect();
        local.sort_unstable();
        for text in local {
            self.within(text);
        }
        let scopes = self.scopes(part, &scanned);
        for reference in scanned.references {
            let key = (part, reference.at.clone(), reference.member);
            if self.written.contains(&key) {
                continue;
            }
            let scope = reference.scope.and_then(|scope| scopes[scope].clone());
            self.follow(part, reference, scope);
        }
    }

    /// What schemas with an `$id` are called, in full; and each made known.
    fn scopes(&mut self, part: usize, scanned: &Scanned) -> Vec<Option<(Url, Pointer)>> {
        let mut scopes: Vec<Option<(Url, Pointer)>> = Vec::with_capacity(scanned.ids.len());
        for one in &scanned.ids {
            let around = one.scope.and_then(|scope| scopes[scope].clone());
            // Before 3.1 `$id` is no keyword; `#name` is how older drafts wrote an anchor.
            let is_id = self.parts[part].version >= Version::V31 && !one.id.starts_with('#');
            let base = around
                .as_ref()
                .map_or(&self.parts[part].base, |(url, _)| url);
            let is_id = is_id && one.id.len() <= ID_BYTES_MAX;
            let url = is_id.then(|| base.join(&one.id).ok()).flatten();
            let Some(mut url) = url.filter(|url| url.as_str().len() <= ID_BYTES_MAX) else {
                scopes.push(around);
                continue;
            };
            url.set_fragment(None);
            self.ids
                .entry(url.to_string())
                .or_insert_with(|| (part, one.at.clone()));
            scopes.push(Some((url, one.at.clone())));
        }
        scopes
    }

    fn follow(&mut self, part: usize, reference: Reference, scope: Option<(Url, Pointer)>) {
        let text = reference.text.as_str();
        let (location, fragment) = (location(text).to_owned(), fragment(text).to_owned());
        if location.is_empty() {
            return self.local(part, &reference, scope.as_ref(), &fragment);
        }
        let base = self.parts[part].base.clone();
        let id = scope
            .map_or_else(|| base.join(&location), |(url, _)| url.join(&location))
            .ok()
            .map(|mut url| {
                url.set_fragment(None);
                url
            });
        // What a schema is called comes before where a file lies; but nothing is fetched for a name.
        if let Some((to, at)) = id
            .as_ref()
            .and_then(|id| self.ids.get(id.as_str()))
            .cloned()
        {
            return self.lead(part, &reference, to, &at, &fragment);
        }
        let to = self.part_at(part, &location);
        match to.checked_sub(1).map(|file| &self.files[file]) {
            Some(file) if file.fault.is_some() => {
                let id = id.filter(|id| id.as_str().len() <= ID_BYTES_MAX);
                if id.is_none() || self.later.len() >= LATER_MAX {
                    return self.write(part, &reference, to, "");
                }
                self.later.push(Later {
                    part,
                    reference,
                    id,
                    fault: to,
                });
            }
            _ => self.lead(part, &reference, to, &Pointer::root(), &fragment),
        }
    }

    /// A reference within its own file.
    fn local(
        &mut self,
        part: usize,
        reference: &Reference,
        scope: Option<&(Url, Pointer)>,
        fragment: &str,
    ) {
        // Within a schema that has a name of its own, pointers begin there; where nothing is there, what was
        // meant begins at the file.
        let inner = scope.filter(|(_, at)| {
            !at.as_str().is_empty()
                && decoded(fragment)
                    .filter(|pointer| !pointer.as_str().is_empty())
                    .and_then(|pointer| {
                        let value = pointed(&self.parts[part].value, at)?;
                        pointed(value, &pointer)
                    })
                    .is_some()
        });
        let from = inner.map_or_else(Pointer::root, |(_, at)| at.clone());
        if part > 0 || inner.is_some() || !reference.text.starts_with('#') {
            return self.lead(part, reference, part, &from, fragment);
        }
        self.within(&reference.text);
    }

    /// A reference of the document to a place of its own, which stays as it is.
    fn within(&mut self, text: &str) {
        // What looked like data is looked at when it is known to be none.
        if let Some(pointer) = decoded(fragment(text)) {
            self.queue_up(0, &pointer);
        }
    }

    /// Rewrites a reference to lead to a fragment of a part, counted from a place in it.
    fn lead(
        &mut self,
        part: usize,
        reference: &Reference,
        to: usize,
        from: &Pointer,
        fragment: &str,
    ) {
        let anchor = percent_decode_str(fragment).decode_utf8_lossy();
        let named = if decoded(fragment).is_some() {
            None
        } else {
            let value = &self.parts[to].value;
            let anchors = self.anchors.entry(to).or_insert_with(|| anchors(value));
            anchors.get(anchor.as_ref()).cloned()
        };
        let (text, target) = if let Some(at) = named {
            (encoded(&at), Some(at))
        } else if let Some(pointer) = decoded(fragment) {
            let at = Pointer::from_text(&format!("{from}{pointer}"));
            (format!("{}{fragment}", encoded(from)), at)
        } else {
            // Nothing has this name; whoever follows the reference is told so.
            (format!("{}/{fragment}", encoded(from)), None)
        };
        self.write(part, reference, to, &text);
        if let Some(at) = target {
            if to > 0 {
                self.targets.push((to, at.clone()));
            }
            self.queue_up(to, &at);
        }
    }

    fn queue_up(&mut self, part: usize, at: &Pointer) {
        // Rebuilt from its tokens, so that two spellings of a place are one.
        let mut plain = Pointer::root();
        for token in at.tokens() {
            plain.push(&token);
        }
        if part == 0 && is_part(&self.parts[0].value, &plain) {
            return;
        }
        if self.met.insert((part, plain.clone())) {
            self.queue.push_back((part, plain));
        }
    }

    /// Writes a reference anew: the part it leads to and the (encoded) fragment there.
    fn write(&mut self, part: usize, reference: &Reference, to: usize, fragment: &str) {
        let text = match to.checked_sub(1) {
            Some(file) => format!("{MARK}/{file}{fragment}"),
            None => format!("#{fragment}"),
        };
        if let Some(object) = pointed_mut(&mut self.parts[part].value, &reference.at)
            && let Some(member) = object.get_mut(reference.member)
        {
            *member = Value::String(text);
        }
        self.written
            .insert((part, reference.at.clone(), reference.member));
    }

    /// The part that a location leads to from another, loaded when it is met for the first time.
    fn part_at(&mut self, from: usize, location: &str) -> usize {
        let url = Home::join(&self.parts[from].base, location);
        if let Ok(url) = &url
            && let Some(&known) = self.places.get(url.as_str())
        {
            return known;
        }
        if self.parts.len() > PARTS_MAX {
            let why = format!("the document refers to over {PARTS_MAX} files; split it");
            return self.refused("the rest", Refusal::Nowhere(why));
        }
        let url = match url {
            Ok(url) => url,
            Err(refusal) => return self.refused(location, refusal),
        };
        let part = match self.home.locate(&url, &self.options.reference_hosts) {
            Ok(found) => self.load(&url, found, from),
            Err(refusal) => return self.refused(location, refusal),
        };
        self.places.insert(url.to_string(), part);
        part
    }

    /// A part that is not there, for a reference that may not be followed.
    fn refused(&mut self, text: &str, refusal: Refusal) -> usize {
        let key = match &refusal {
            Refusal::Escaped { label } => label.clone(),
            _ => text.to_owned(),
        };
        if let Some(&known) = self.refused.get(&key) {
            return known;
        }
        let blocked = DiagnosticCode::ExternalRefBlocked;
        let (label, fault) = match refusal {
            Refusal::Blocked(why) => (shown(text), (blocked, why)),
            Refusal::Escaped { label } => {
                let why =
                    "a link leads out of the document's own directory; put the file itself there";
                (label, (blocked, why.to_owned()))
            }
            Refusal::Nowhere(why) => (shown(text), (DiagnosticCode::UnresolvableRef, why)),
        };
        let file = ExternalFile {
            label,
            stable: text.to_owned(),
            url: None,
            version: self.parts[0].version,
            is_document: false,
            original: None,
            fault: Some(fault),
        };
        let url = self.home.url.clone();
        let part = self.push(file, url, Value::Null, 0);
        self.refused.insert(key, part);
        part
    }

    fn push(&mut self, file: ExternalFile, base: Url, value: Value, levels: usize) -> usize {
        self.parts.push(Part {
            base,
            value,
            version: file.version,
            levels,
        });
        self.files.push(file);
        self.parts.len() - 1
    }

    fn load(&mut self, url: &Url, found: Found, from: usize) -> usize {
        let levels = self.parts[from].levels + 1;
        let mut file = ExternalFile {
            label: found.label,
            stable: found.stable,
            url: match &found.target {
                SourceTarget::Url(url) => Some(url.clone()),
                SourceTarget::File(_) => None,
            },
            version: self.parts[from].version,
            is_document: false,
            original: None,
            fault: None,
        };
        let number = self.files.len();
        let value = match self.reading.read(&found.target, levels) {
            Ok(text) => {
                let is_refused = match version(&text.value) {
                    Ok(own) => {
                        (file.version, file.is_document) = (own, true);
                        false
                    }
                    // A fragment is written in what the file is written in that refers to it.
                    Err(fault) if fault.code == DiagnosticCode::NotOpenapi => false,
                    Err(fault) => {
                        file.fault = Some((fault.code, fault.message));
                        true
                    }
                };
                if is_refused {
                    Value::Null
                } else {
                    self.warn(number, text.warnings);
                    file.original = Some(text.original);
                    text.value
                }
            }
            Err(fault) => {
                file.fault = Some(fault);
                Value::Null
            }
        };
        self.push(file, url.clone(), value, levels)
    }

    /// Oddities of a file's text, at their places there.
    fn warn(&mut self, number: usize, warnings: Vec<Finding>) {
        for mut warning in warnings {
            let text = format!("/{MEMBER}/{number}{}", warning.at);
            if let Some(at) = Pointer::from_text(&text) {
                warning.at = at;
            }
            self.findings.push((Severity::Warning, warning));
        }
    }

    /// Puts the document together.
    fn finish(mut self, document: &mut Document) -> Vec<(Severity, Finding)> {
        if self.looked_at > LOOKED_AT_MAX {
            let message = "its references lead into one another's insides so often that not all were \
                           followed; refer to whole definitions";
            self.findings.push((
                Severity::Warning,
                Finding::of_source(DiagnosticCode::SourceTooLarge, message),
            ));
        }
        let mut values = self.parts.into_iter().map(|part| part.value);
        document.value = values.next().unwrap_or_default();
        let values: Vec<Value> = values.collect();
        if !values.is_empty()
            && let Value::Object(root) = &mut document.value
        {
            root.insert(MEMBER.to_owned(), Value::Array(values));
        }
        document.externals = Externals {
            files: self.files,
            names: HashMap::new(),
        };
        let targets = self.targets.into_iter().filter_map(|(part, at)| {
            Pointer::from_text(&format!("/{MEMBER}/{}{at}", part.checked_sub(1)?))
        });
        document.externals.names = schema::external_names(document, targets);
        self.findings
    }
}
