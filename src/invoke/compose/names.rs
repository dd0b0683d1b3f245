//! Arguments the tool does not have, and the names that come closest. Looks at no value.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::keys;
use crate::catalog::RequestTemplate;
use crate::invoke::{ArgumentError, ArgumentFault};
use crate::text::edit_distance;

/// How many allowed names an error lists (invoke.md, "Compose").
const NAMES_LISTED_MAX: usize = 20;

/// How many unknown names an error is about: more are noise, and each costs a comparison with every name.
const UNKNOWN_LISTED_MAX: usize = 5;

/// How much of a name is compared and repeated, in characters: names are short, and the comparison costs
/// the product of both lengths.
const NAME_CHARS_MAX: usize = 64;

/// Refuses the first few arguments that the tool does not have.
pub(super) fn check_known(
    template: &RequestTemplate,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentError> {
    let known: Vec<&str> = names(template)
        .into_iter()
        .filter(|name| !template.is_hidden(name))
        .collect();
    let declared: HashSet<&str> = known.iter().copied().collect();
    let open = OpenMembers::of(template);
    let unknown: Vec<&str> = arguments
        .keys()
        .map(String::as_str)
        .filter(|name| !declared.contains(name))
        .filter(|name| !open.as_ref().is_some_and(|open| open.may_have(name)))
        .take(UNKNOWN_LISTED_MAX)
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(unknown_argument(&unknown, known))
}

/// What arguments are called, hidden ones included, in the order of the template.
pub(super) fn names(template: &RequestTemplate) -> Vec<&str> {
    template.named().map(|(argument, _)| argument).collect()
}

/// Which arguments that the tool does not declare may travel as further members of an open body.
struct OpenMembers<'t> {
    /// What arguments are called inside the template: hidden ones are not the caller's to name.
    arguments: HashSet<&'t str>,
    /// What the backend calls declared arguments: a second way to set one is not free.
    declared: HashSet<&'t str>,
    /// The paths of names that are not the agent's to set, in any spelling: hidden ones, and those that the backend
    /// alone sets.
    reserved: HashSet<String>,
}

impl<'t> OpenMembers<'t> {
    /// Those of a template whose body is open.
    fn of(template: &'t RequestTemplate) -> Option<Self> {
        let body = template.body.as_ref().filter(|body| body.shape.is_open())?;
        let withheld = body.withheld.iter().map(String::as_str);
        Some(Self {
            arguments: template.named().map(|(argument, _)| argument).collect(),
            declared: template.named().map(|(_, name)| name).collect(),
            reserved: withheld
                .chain(template.hidden_names())
                .map(keys::path)
                .collect(),
        })
    }

    fn may_have(&self, name: &str) -> bool {
        let path = keys::path(name);
        !self.arguments.contains(name)
            && !self.declared.contains(name)
            && !self.reserved.contains(keys::stem(&path))
            && !self.reserved.contains(&path)
    }
}

fn unknown_argument(unknown: &[&str], mut known: Vec<&str>) -> ArgumentError {
    let count = known.len();
    known.sort_by_cached_key(|name| {
        unknown
            .iter()
            .map(|wrong| distance(wrong, name))
            .min()
            .unwrap_or(0)
    });
    let wrong = match unknown {
        [one] => format!("`{}` is not an argument of this tool", shortened(one)),
        several => format!("{} are not arguments of this tool", listed(several)),
    };
    known.truncate(NAMES_LISTED_MAX);
    let message = match count - known.len() {
        _ if known.is_empty() => format!("{wrong}; it takes none"),
        0 => format!("{wrong}; it takes {}", listed(&known)),
        more => format!("{wrong}; it takes {} and {more} more", listed(&known)),
    };
    let fields = unknown
        .iter()
        .map(|name| {
            (
                shortened(name),
                "is not an argument of this tool".to_owned(),
            )
        })
        .collect();
    ArgumentError {
        fault: ArgumentFault::UnknownArgument,
        message,
        fields,
    }
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    quoted.join(", ")
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// How many characters must be changed, added or removed to make one name the other, ignoring case.
fn distance(left: &str, right: &str) -> usize {
    let fold = |name: &str| -> Vec<char> {
        name.chars()
            .take(NAME_CHARS_MAX)
            .flat_map(char::to_lowercase)
            .collect()
    };
    edit_distance(&fold(left), &fold(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (left, right, want) in [
            ("", "abc", 3),
            ("limit", "Limit", 0),
            ("lmit", "limit", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(left, right), want);
            assert_eq!(distance(right, left), want);
        }
    }

    #[test]
    fn at_most_twenty_names_are_listed_closest_first() {
        let all: Vec<String> = (0..30).map(|number| format!("name{number:02}")).collect();
        let mut known: Vec<&str> = all.iter().map(String::as_str).collect();
        known.push("quantity");
        let error = unknown_argument(&["quantty"], known);
        assert!(error.message.starts_with(
            "`quantty` is not an argument of this tool; it takes `quantity`, `name00`"
        ));
        assert!(error.message.ends_with(" and 11 more"));
        assert_eq!(error.message.matches('`').count(), 2 + 2 * 20);

        let error = unknown_argument(&["a", "b"], vec![]);
        assert_eq!(
            error.message,
            "`a`, `b` are not arguments of this tool; it takes none"
        );
    }

    #[test]
    fn long_names_are_cut() {
        let long = "é".repeat(1000);
        let error = unknown_argument(&[&long], vec!["a"]);
        assert!(error.message.len() < 300, "{}", error.message);
        assert!(error.fields[0].0.ends_with('…'));
    }
}
