//! What reading came to: counts and diagnostics, by source.
//!
//! Owns: the report, and the gathering of one source's diagnostics without repeats and under a limit. Must
//! never decide what a fault costs.

use std::collections::{BTreeMap, HashSet};

use super::external::placed;
use super::finding::Finding;
use super::parse::Original;
use super::{Counts, Diagnostic, DiagnosticCode, References, Severity};

/// At most this many diagnostics of one source are kept: a hostile document could give millions.
const DIAGNOSTICS_PER_SOURCE_MAX: usize = 10_000;

/// What reading came to.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was wrong, in the order of the sources.
    pub diagnostics: Vec<Diagnostic>,
    /// Diagnostics over the limit of their source, which are counted only.
    pub diagnostics_left_out: u64,
    /// All operations.
    pub counts: Counts,
    /// Operations by source, for every source that could be read.
    pub documents: Vec<DocumentCounts>,
    /// The files that these documents refer to.
    pub references: References,
}

/// The operations of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentCounts {
    /// The source, as the operator named it.
    pub document: String,
    /// Its key.
    pub key: String,
    /// Its operations.
    pub counts: Counts,
}

impl Report {
    /// How many places lost meaning, by what was lost.
    pub fn lossy(&self) -> BTreeMap<DiagnosticCode, u64> {
        let mut counts = BTreeMap::new();
        let warnings = self
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Warning && one.code.is_lossy());
        for one in warnings {
            *counts.entry(one.code).or_default() += 1;
        }
        counts
    }

    /// Whether the catalogue must be refused.
    pub fn is_fatal(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|one| one.severity == Severity::Fatal)
    }
}

/// The diagnostics of one source.
pub(super) struct Notes {
    pub(super) label: String,
    /// The names of the files the source refers to, by which their findings are told.
    pub(super) files: Vec<String>,
    pub(super) kept: Vec<Diagnostic>,
    /// Warnings are about places, and many operations share a place.
    seen: HashSet<(DiagnosticCode, String)>,
    pub(super) left_out: u64,
}

impl Notes {
    pub(super) fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            files: Vec::new(),
            kept: Vec::new(),
            seen: HashSet::new(),
            left_out: 0,
        }
    }

    /// Adds a finding unless the same kind was found at the same place.
    pub(super) fn add(&mut self, severity: Severity, finding: Finding) {
        let key = (finding.code, finding.at.as_str().to_owned());
        if severity > Severity::Warning
            || self.seen.len() >= DIAGNOSTICS_PER_SOURCE_MAX
            || self.seen.insert(key)
        {
            self.add_always(severity, finding);
        }
    }

    pub(super) fn add_always(&mut self, severity: Severity, finding: Finding) {
        // A fatal one is what the operator must see.
        if self.kept.len() < DIAGNOSTICS_PER_SOURCE_MAX || severity == Severity::Fatal {
            self.kept
                .push(placed(&self.files, &self.label, finding, severity));
        } else {
            self.left_out += 1;
        }
    }

    /// Adds a warning about another source.
    pub(super) fn add_for(&mut self, label: &str, finding: Finding) {
        if self.kept.len() < DIAGNOSTICS_PER_SOURCE_MAX {
            self.kept
                .push(finding.into_diagnostic(Severity::Warning, label));
        } else {
            self.left_out += 1;
        }
    }

    /// Finds the lines and columns of what was found so far in one of the texts it is about, by its name.
    pub(super) fn locate(&mut self, label: &str, original: &Original) {
        let mut open: Vec<&mut Diagnostic> = self
            .kept
            .iter_mut()
            .filter(|one| {
                one.line.is_none() && !one.at.as_str().is_empty() && one.document == label
            })
            .collect();
        if open.is_empty() {
            return;
        }
        let positions = original.positions(open.iter().map(|one| &one.at));
        for (one, position) in open.iter_mut().zip(positions) {
            one.line = position.map(|position| position.line);
            one.column = position.and_then(|position| position.column);
        }
    }
}
