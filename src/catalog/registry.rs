//! Names across documents: every name once in the catalogue.
//!
//! Owns: what happens when the names of two sources meet. Must never rename what was given as it is: names
//! of JSON Lines entries and of the operator.

use std::collections::HashMap;

use super::naming::{digits, suffix, with_suffix};
use super::{Sink, SinkError};

/// The names that are taken, and by whom.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    holders: HashMap<String, Holder>,
}

/// Who has a name.
#[derive(Debug)]
enum Holder {
    /// Taken as it is.
    Given,
    /// Derived from a document; gives way.
    Derived(Derived),
    /// Nobody any more: those who shared it have longer ones.
    Left,
}

/// A name derived from a document.
#[derive(Debug, Clone)]
struct Derived {
    ordinal: u32,
    source: u32,
    /// The suffixes to try, in order.
    suffixes: [String; 2],
}

/// What the registry answers for an operation of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The name is free.
    Free,
    /// It met another's; this one is the operation's now. The label number of the source whose operation
    /// was renamed too, with its old and new name.
    Renamed { to: String, other: Option<Moved> },
    /// Every form of it is taken.
    Taken,
}

/// An operation that was given its longer name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The number of its source.
    pub(crate) source: u32,
    /// Its name from now on.
    pub(crate) to: String,
}

impl Registry {
    /// Whether a name that is taken as it is can be had; if an operation of a document holds it, that one
    /// gives way.
    pub(crate) fn give(
        &mut self,
        name: &str,
        sink: &mut dyn Sink,
    ) -> Result<(bool, Option<Moved>), SinkError> {
        match self.holders.get(name) {
            None | Some(Holder::Left) => {
                self.holders.insert(name.to_owned(), Holder::Given);
                Ok((true, None))
            }
            Some(Holder::Given) => Ok((false, None)),
            Some(Holder::Derived(derived)) => {
                let derived = derived.clone();
                let Some(to) = self.longer(name, &derived.suffixes) else {
                    return Ok((false, None));
                };
                let moved = self.relocate(derived, to, sink)?;
                self.holders.insert(name.to_owned(), Holder::Given);
                Ok((true, Some(moved)))
            }
        }
    }

    /// Finds the name of an operation of a document; [`Self::hold`] takes it once the operation is stored.
    pub(crate) fn admit(
        &mut self,
        name: &str,
        operation: Identity<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Admission, SinkError> {
        let mut other = None;
        match self.holders.get(name) {
            None => return Ok(Admission::Free),
            Some(Holder::Given | Holder::Left) => {}
            Some(Holder::Derived(derived)) => {
                let derived = derived.clone();
                if let Some(to) = self.longer(name, &derived.suffixes) {
                    other = Some(self.relocate(derived, to, sink)?);
                    self.holders.insert(name.to_owned(), Holder::Left);
                }
            }
        }
        Ok(match self.longer(name, &operation.suffixes()) {
            Some(to) => Admission::Renamed { to, other },
            None => Admission::Taken,
        })
    }

    /// Records the holder of a derived name.
    pub(crate) fn hold(
        &mut self,
        name: String,
        operation: Identity<'_>,
        source: u32,
        ordinal: u32,
    ) {
        let derived = Derived {
            ordinal,
            source,
            suffixes: operation.suffixes(),
        };
        self.holders.insert(name, Holder::Derived(derived));
    }

    fn longer(&self, name: &str, suffixes: &[String; 2]) -> Option<String> {
        suffixes
            .iter()
            .map(|suffix| with_suffix(name, suffix))
            .find(|longer| !self.holders.contains_key(longer))
    }

    fn relocate(
        &mut self,
        derived: Derived,
        to: String,
        sink: &mut dyn Sink,
    ) -> Result<Moved, SinkError> {
        sink.rename(derived.ordinal, &to)?;
        let source = derived.source;
        self.holders.insert(to.clone(), Holder::Derived(derived));
        Ok(Moved { source, to })
    }
}

/// What tells an operation of a document from all others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity<'a> {
    pub(crate) method: &'a str,
    pub(crate) route: &'a str,
    /// The document as the operator named it.
    pub(crate) document: &'a str,
}

impl Identity<'_> {
    /// The hash of method and route, and one with the document for documents that share those too.
    fn suffixes(self) -> [String; 2] {
        let Self {
            method,
            route,
            document,
        } = self;
        [
            suffix(method, route),
            digits(&format!("{document}\n{method} {route}")),
        ]
    }
}
