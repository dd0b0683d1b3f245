//! Selection: which operations of a document are in, by the operator's rules.
//!
//! Owns: rules, their sharpness, route globs. Must never read more of an operation than the four fields a
//! rule can name.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One rule of the operator's. A field that is absent matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SelectionRule {
    /// A glob over routes: `*` stays inside a segment, `**` crosses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// A method, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// A tag as the document declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// An operation id as the document declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// What happens to the operations the rule matches.
    pub decision: SelectionDecision,
}

/// What a selection rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SelectionDecision {
    /// The operation is in.
    Include,
    /// The operation is out.
    Exclude,
}

/// What rules may look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) route: &'a str,
    pub(crate) method: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) operation_id: Option<&'a str>,
}

/// Two equally sharp rules disagree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous;

/// The rules that hold for a document, and which of them matched something.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    /// Those for all documents.
    general: &'a [SelectionRule],
    /// The document's; each names one field more, the document.
    own: &'a [SelectionRule],
    /// The positions of rules that matched, the document's behind the others.
    matched: BTreeSet<usize>,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(general: &'a [SelectionRule], own: &'a [SelectionRule]) -> Self {
        Self {
            general,
            own,
            matched: BTreeSet::new(),
        }
    }

    /// Whether an operation is in: the matching rule that names more fields wins; without one everything is
    /// in but OPTIONS, TRACE and HEAD.
    pub(crate) fn select(&mut self, facts: Facts<'_>) -> Result<bool, Ambiguous> {
        let general = self.general.iter().map(|rule| (rule, 0));
        let own = self.own.iter().map(|rule| (rule, 1));
        let matching: Vec<_> = general
            .chain(own)
            .enumerate()
            .filter(|(_, (rule, _))| rule.matches(facts))
            .collect();
        self.matched.extend(matching.iter().map(|(index, _)| index));
        decide(
            matching
                .into_iter()
                .map(|(_, (rule, more))| (rule.sharpness() + more, rule.decision)),
            facts,
        )
    }

    /// The document's rules that matched nothing.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &'a SelectionRule> {
        let before = self.general.len();
        self.own
            .iter()
            .enumerate()
            .filter(move |(index, _)| !self.matched.contains(&(before + index)))
            .map(|(_, rule)| rule)
    }

    /// The positions of the rules for all documents that matched something.
    pub(crate) fn matched_of_general(&self) -> BTreeSet<usize> {
        let mut matched = self.matched.clone();
        matched.split_off(&self.general.len());
        matched
    }
}

fn decide(
    matching: impl Iterator<Item = (usize, SelectionDecision)>,
    facts: Facts<'_>,
) -> Result<bool, Ambiguous> {
    let mut sharpest: Option<(usize, SelectionDecision)> = None;
    let mut disagree = false;
    for (sharpness, own) in matching {
        match sharpest {
            Some((known, _)) if known > sharpness => {}
            Some((known, decision)) if known == sharpness => disagree |= decision != own,
            _ => {
                sharpest = Some((sharpness, own));
                disagree = false;
            }
        }
    }
    if disagree {
        return Err(Ambiguous);
    }
    Ok(match sharpest {
        Some((_, decision)) => decision == SelectionDecision::Include,
        None => !["OPTIONS", "TRACE", "HEAD"]
            .iter()
            .any(|rare| facts.method.eq_ignore_ascii_case(rare)),
    })
}

impl SelectionRule {
    /// The rule, for a sentence.
    pub(crate) fn shown(&self) -> String {
        let fields = [
            ("route", &self.route),
            ("method", &self.method),
            ("tag", &self.tag),
            ("operationId", &self.operation_id),
        ];
        let named = fields
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {:?}", value.as_ref()?)));
        let named: Vec<String> = named.collect();
        let decision = match self.decision {
            SelectionDecision::Include => "include",
            SelectionDecision::Exclude => "exclude",
        };
        format!("{decision} {}", named.join(", "))
    }

    fn sharpness(&self) -> usize {
        [&self.route, &self.method, &self.tag, &self.operation_id]
            .into_iter()
            .flatten()
            .count()
    }

    fn matches(&self, facts: Facts<'_>) -> bool {
        let all = |field: &Option<String>, holds: &dyn Fn(&str) -> bool| {
            field.as_deref().is_none_or(holds)
        };
        all(&self.route, &|glob| glob_matches(glob, facts.route))
            && all(&self.method, &|method| {
                method.eq_ignore_ascii_case(facts.method)
            })
            && all(&self.tag, &|tag| facts.tags.iter().any(|own| own == tag))
            && all(&self.operation_id, &|id| facts.operation_id == Some(id))
    }
}

/// Whether a route matches a glob. Braces are literal: they are placeholders here.
fn glob_matches(glob: &str, route: &str) -> bool {
    let parts = split(glob);
    // reached[n]: the glob up to here matches the first n bytes of the route.
    let route = route.as_bytes();
    let mut reached = vec![false; route.len() + 1];
    reached[0] = true;
    for part in parts {
        let mut next = vec![false; route.len() + 1];
        match part {
            Part::Literal(text) => {
                for start in (0..=route.len()).filter(|&start| reached[start]) {
                    if route[start..].starts_with(text.as_bytes()) {
                        next[start + text.len()] = true;
                    }
                }
            }
            Part::Stars { crosses } => {
                let mut running = false;
                for end in 0..=route.len() {
                    if end > 0 && !crosses && route[end - 1] == b'/' {
                        running = false;
                    }
                    running |= reached[end];
                    next[end] = running;
                }
            }
        }
        reached = next;
    }
    reached[route.len()]
}

enum Part<'g> {
    Literal(&'g str),
    Stars { crosses: bool },
}

fn split(glob: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = glob;
    while !rest.is_empty() {
        let stars = rest.len() - rest.trim_start_matches('*').len();
        if stars > 0 {
            parts.push(Part::Stars { crosses: stars > 1 });
            rest = &rest[stars..];
        } else {
            let end = rest.find('*').unwrap_or(rest.len());
            parts.push(Part::Literal(&rest[..end]));
            rest = &rest[end..];
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::SelectionDecision::{Exclude, Include};
    use super::*;

    fn selects(rules: &[SelectionRule], facts: Facts<'_>) -> Result<bool, Ambiguous> {
        Rules::new(rules, &[]).select(facts)
    }

    fn rule(
        route: Option<&str>,
        method: Option<&str>,
        tag: Option<&str>,
        decision: SelectionDecision,
    ) -> SelectionRule {
        SelectionRule {
            route: route.map(str::to_owned),
            method: method.map(str::to_owned),
            tag: tag.map(str::to_owned),
            operation_id: None,
            decision,
        }
    }

    fn facts<'a>(method: &'a str, route: &'a str, tags: &'a [String]) -> Facts<'a> {
        Facts {
            route,
            method,
            tags,
            operation_id: Some("id"),
        }
    }

    #[test]
    fn stars_stay_in_a_segment_and_double_stars_cross() {
        for (glob, route, want) in [
            ("/users/*", "/users/{id}", true),
            ("/users/*", "/users/{id}/keys", false),
            ("/users/*", "/users/", true),
            ("/users/**", "/users/{id}/keys", true),
            ("**", "/anything/at/all", true),
            ("*", "/a", false),
            ("/*/keys", "/users/keys", true),
            ("/**/keys", "/a/b/keys", true),
            ("/**/keys", "/keys", false),
            ("/a*c/*", "/abc/d", true),
            ("/users/{id}", "/users/{id}", true),
            ("/users/{id}", "/users/i", false),
            ("/users", "/users/x", false),
            ("/é*", "/éa", true),
            ("", "", true),
        ] {
            assert_eq!(glob_matches(glob, route), want, "{glob} {route}");
        }
        assert!(!glob_matches(&"*a".repeat(2_000), &"a/".repeat(2_000)));
    }

    #[test]
    fn the_sharper_rule_wins_and_equal_ones_must_agree() {
        let tags = ["t".to_owned()];
        let get = facts("GET", "/a/b", &tags);
        let broad = rule(Some("/a/**"), None, None, Exclude);
        let sharp = rule(Some("/a/**"), Some("get"), None, Include);
        assert_eq!(selects(&[], get), Ok(true));
        assert_eq!(selects(std::slice::from_ref(&broad), get), Ok(false));
        assert_eq!(selects(&[broad.clone(), sharp.clone()], get), Ok(true));
        assert_eq!(selects(&[sharp, broad.clone()], get), Ok(true));
        let same = rule(None, None, Some("t"), Include);
        assert_eq!(selects(&[broad.clone(), same.clone()], get), Err(Ambiguous));
        let decided = rule(Some("/a/b"), None, Some("t"), Exclude);
        assert_eq!(selects(&[broad, same, decided], get), Ok(false));
    }

    #[test]
    fn a_rule_of_the_document_names_one_field_more() {
        let get = facts("GET", "/a", &[]);
        let exclude = [rule(Some("/a"), None, None, Exclude)];
        let include = [
            rule(None, Some("get"), None, Include),
            rule(None, Some("put"), None, Include),
        ];
        let mut rules = Rules::new(&exclude, &include);
        assert_eq!(rules.select(get), Ok(true));
        assert_eq!(rules.unmatched().count(), 1);
        assert_eq!(rules.matched_of_general().len(), 1);
        let sharper = [rule(Some("/a"), Some("get"), None, Exclude)];
        assert_eq!(Rules::new(&sharper, &include).select(get), Err(Ambiguous));
    }

    #[test]
    fn rare_methods_need_a_rule() {
        for method in ["OPTIONS", "head", "TRACE"] {
            let one = facts(method, "/", &[]);
            assert_eq!(selects(&[], one), Ok(false));
            assert_eq!(
                selects(&[rule(None, Some(method), None, Include)], one),
                Ok(true)
            );
        }
        assert_eq!(selects(&[], facts("QUERY", "/", &[])), Ok(true));
    }
}
