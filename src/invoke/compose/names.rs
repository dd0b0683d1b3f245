//! Arguments the tool does not have, and the names that come closest. Looks at no value.

use serde_json::{Map, Value};

use super::hidden;
use crate::catalog::RequestTemplate;
use crate::invoke::{ArgumentError, ArgumentFault};

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
    let unknown: Vec<&str> = arguments
        .keys()
        .map(String::as_str)
        .filter(|name| !known.contains(name) && !is_open_member(template, name))
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

/// Whether an argument that the tool does not declare may travel as a further member of an open body.
///
/// What the backend calls a declared argument is not free: it would be a second way to set it. Nor is what
/// the backend alone sets.
fn is_open_member(template: &RequestTemplate, name: &str) -> bool {
    let Some(body) = &template.body else {
        return false;
    };
    if hidden::is_reserved(template, name) {
        return false;
    }
    let shape = &body.shape;
    shape.is_open()
        && !body.withheld.iter().any(|withheld| withheld == name)
        && shape.arguments().iter().all(|member| member.name != name)
        && template
            .parameters
            .iter()
            .all(|parameter| parameter.name != name)
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
    let (left, right) = (fold(left), fold(right));
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, &wanted) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, &found) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(wanted != found);
            diagonal = row[at + 1];
            row[at + 1] = substituted.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
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
