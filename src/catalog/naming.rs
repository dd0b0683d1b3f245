//! Names: from operation ids, routes and file paths to what tools are called.
//!
//! Owns: snake case, method-and-route names, keys, hash suffixes, collisions inside one document. Must
//! never look at another document: a name is a function of the document and the configuration alone.

use std::collections::HashMap;

use crate::json::sha256_hex;
use crate::text::pieces;

/// A tool's name is at most this many characters (the limit MCP clients share).
pub(crate) const NAME_CHARS_MAX: usize = 128;

/// Hex digits of a hash suffix.
const SUFFIX_DIGITS: usize = 6;

/// After this many rounds of moving out of each other's way every operation takes its suffix: a document
/// whose names push each other on and on was made to, and each round costs the length of the document.
const ROUNDS_MAX: usize = 16;

/// File stems that say nothing about what a document describes.
const EMPTY_STEMS: [&str; 4] = ["openapi", "swagger", "index", "api"];

/// A text in snake case of ASCII letters and digits; empty when it holds none.
///
/// Boundaries are those of tokens (search.md); letters of other scripts are transliterated.
pub(crate) fn snake(text: &str) -> String {
    let mut out = String::new();
    pieces(text, |piece| {
        let ascii = deunicode::deunicode_with_tofu(piece, " ");
        for word in ascii.split(|c: char| !c.is_ascii_alphanumeric()) {
            if word.is_empty() {
                continue;
            }
            if !out.is_empty() {
                out.push('_');
            }
            out.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        }
    });
    out
}

/// The name of a method on a route: `GET /users/{id}/keys` is `get_users_by_id_keys`.
pub(crate) fn of_route(method: &str, route: &str) -> String {
    let mut spelled = String::with_capacity(route.len() + 8);
    for c in route.chars() {
        match c {
            '{' => spelled.push_str("/by/"),
            '}' => spelled.push('/'),
            c => spelled.push(c),
        }
    }
    let route = snake(&spelled);
    let route = if route.is_empty() { "root" } else { &route };
    let method = snake(method);
    if method.is_empty() {
        return route.to_owned();
    }
    format!("{method}_{route}")
}

/// Six hex digits that tell one operation of a document from every other.
pub(crate) fn suffix(method: &str, route: &str) -> String {
    digits(&format!("{method} {route}"))
}

/// Six hex digits of a text's SHA-256.
pub(crate) fn digits(text: &str) -> String {
    let mut hex = sha256_hex(text.as_bytes());
    hex.truncate(SUFFIX_DIGITS);
    hex
}

/// A name with a hash suffix, cut so that both fit.
pub(crate) fn with_suffix(name: &str, suffix: &str) -> String {
    let kept: String = name
        .chars()
        .take(NAME_CHARS_MAX - suffix.len() - 1)
        .collect();
    format!("{kept}_{suffix}")
}

/// Whether a name may be given by an operator or by `x-sezzlee.name`: 1 to 128 of `[A-Za-z0-9_.-]`.
pub fn is_given_name(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// The key of a document: the slug of its path below the source, else of its title.
pub(crate) fn key(path: &str, title: Option<&str>) -> String {
    let stem = ["json", "yaml", "yml"]
        .into_iter()
        .find_map(|extension| {
            let (stem, found) = path.rsplit_once('.')?;
            found.eq_ignore_ascii_case(extension).then_some(stem)
        })
        .unwrap_or(path);
    let (folder, file) = stem.rsplit_once('/').unwrap_or(("", stem));
    let says_nothing = EMPTY_STEMS
        .iter()
        .any(|empty| file.eq_ignore_ascii_case(empty));
    let from_path = snake(if says_nothing { folder } else { stem });
    if !from_path.is_empty() {
        return from_path;
    }
    let from_title = title.map(snake).unwrap_or_default();
    if from_title.is_empty() {
        "document".to_owned()
    } else {
        from_title
    }
}

/// What a name is made of, for one operation of a document.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// The method as sent.
    pub(crate) method: String,
    /// The route as declared.
    pub(crate) route: String,
    /// The operator's name, which nothing changes.
    pub(crate) fixed: Option<String>,
    /// `x-sezzlee.name`, or the operation id as the document spells it.
    pub(crate) wanted: Option<Wanted>,
}

/// A name a document asks for.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// Taken as it is.
    Given(String),
    /// An operation id, turned into snake case.
    OperationId(String),
}

/// A name that was found, and whether it collided on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The name.
    pub(crate) text: String,
    /// Whether it is not the one that was wanted, because another operation wanted it too.
    pub(crate) collided: bool,
    /// Whether the operator gave it although another operation of the document has it.
    pub(crate) clashes: bool,
}

/// How far an operation was pushed from the name it wanted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Level {
    Wanted,
    Route,
    Suffixed,
}

/// The names of a document's operations, in their order.
///
/// Operations that share a name all move to the next longer form, until no two that can still move meet.
pub(crate) fn assign(candidates: &[Candidate], prefix: Option<&str>) -> Vec<Name> {
    let mut levels = vec![Level::Wanted; candidates.len()];
    let mut clashes = vec![false; candidates.len()];
    for round in 0.. {
        let names: Vec<String> = candidates
            .iter()
            .zip(&levels)
            .map(|(candidate, &level)| form(candidate, level, prefix))
            .collect();
        let mut holders: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            *holders.entry(name).or_default() += 1;
        }
        let mut moved = false;
        let before = levels.clone();
        for (index, candidate) in candidates.iter().enumerate() {
            if holders[names[index].as_str()] < 2 {
                continue;
            }
            if candidate.fixed.is_some() {
                clashes[index] |= round == 0;
                continue;
            }
            levels[index] = match before[index] {
                Level::Wanted => Level::Route,
                Level::Route | Level::Suffixed => Level::Suffixed,
            };
            moved |= levels[index] != before[index];
        }
        if !moved {
            return finished(names, &levels, &clashes);
        }
        if round >= ROUNDS_MAX {
            levels.fill(Level::Suffixed);
        }
    }
    Vec::new()
}

fn finished(names: Vec<String>, levels: &[Level], clashes: &[bool]) -> Vec<Name> {
    names
        .into_iter()
        .zip(levels.iter().zip(clashes))
        .map(|(text, (&level, &clashes))| Name {
            text,
            collided: level > Level::Wanted,
            clashes,
        })
        .collect()
}

fn form(candidate: &Candidate, level: Level, prefix: Option<&str>) -> String {
    if let Some(fixed) = &candidate.fixed {
        return fixed.clone();
    }
    let wanted = match &candidate.wanted {
        _ if level > Level::Wanted => None,
        Some(Wanted::Given(name)) => Some(name.clone()),
        Some(Wanted::OperationId(id)) => Some(snake(id)).filter(|name| !name.is_empty()),
        None => None,
    };
    let mut name = wanted.unwrap_or_else(|| of_route(&candidate.method, &candidate.route));
    if let Some(prefix) = prefix {
        name = format!("{prefix}_{name}");
    }
    let is_as_given = matches!(candidate.wanted, Some(Wanted::Given(_)))
        && level == Level::Wanted
        && prefix.is_none();
    if !is_as_given && name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "op_");
    }
    if level == Level::Suffixed || name.len() > NAME_CHARS_MAX {
        name = with_suffix(&name, &suffix(&candidate.method, &candidate.route));
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn operation(method: &str, route: &str, id: Option<&str>) -> Candidate {
        Candidate {
            method: method.into(),
            route: route.into(),
            fixed: None,
            wanted: id.map(|id| Wanted::OperationId(id.into())),
        }
    }

    fn names(candidates: &[Candidate], prefix: Option<&str>) -> Vec<String> {
        assign(candidates, prefix)
            .into_iter()
            .map(|name| name.text)
            .collect()
    }

    #[test]
    fn snake_case_has_the_boundaries_of_tokens() {
        for (text, want) in [
            ("listIssues", "list_issues"),
            ("getQRDetails", "get_qr_details"),
            ("ORDERid", "orde_rid"),
            ("issues/list-for.repo__X ", "issues_list_for_repo_x"),
            ("getV2User", "get_v2user"),
            ("注文を取得", "zhu_wen_woqu_de"),
            ("Größe", "grosse"),
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("---", ""),
            ("🙂", ""),
        ] {
            assert_eq!(snake(text), want, "{text}");
        }
    }

    #[test]
    fn routes_become_names() {
        for (method, route, want) in [
            ("GET", "/users/{id}/keys", "get_users_by_id_keys"),
            ("GET", "/", "get_root"),
            ("GET", "", "get_root"),
            ("DELETE", "/a/{x}/{y}", "delete_a_by_x_by_y"),
            (
                "POST",
                "/files/{fileName}.json",
                "post_files_by_file_name_json",
            ),
            ("QUERY", "/v1/Order-Lines", "query_v1_order_lines"),
        ] {
            assert_eq!(of_route(method, route), want);
        }
    }

    #[test]
    fn keys_come_from_the_path_and_else_from_the_title() {
        for (path, title, want) in [
            ("github.json", None, "github"),
            ("api.github.com.json", None, "api_github_com"),
            ("github/openapi.yaml", None, "github"),
            ("a/B-c/users.v2.YML", None, "a_b_c_users_v2"),
            ("Swagger.json", Some("Pet Store"), "pet_store"),
            ("index.yml", None, "document"),
            ("api", Some("🙂"), "document"),
        ] {
            assert_eq!(key(path, title), want, "{path}");
        }
    }

    #[test]
    fn collisions_move_everybody_involved() {
        let two = [
            operation("GET", "/a", Some("fetch")),
            operation("GET", "/b", Some("Fetch")),
            operation("GET", "/c", Some("other")),
        ];
        assert_eq!(names(&two, None), ["get_a", "get_b", "other"]);
        let also_by_route = [
            operation("GET", "/a-b", None),
            operation("GET", "/a_b", None),
            operation("GET", "/c", Some("getA_B")),
        ];
        let all = names(&also_by_route, None);
        assert_eq!(all[0], format!("get_a_b_{}", suffix("GET", "/a-b")));
        assert_eq!(all[1], format!("get_a_b_{}", suffix("GET", "/a_b")));
        assert_eq!(all[2], "get_c");
    }

    #[test]
    fn a_moved_name_may_push_another_one() {
        let all = [
            operation("GET", "/a", Some("x")),
            operation("GET", "/b", Some("x")),
            operation("GET", "/z", Some("get_a")),
        ];
        let names = names(&all, None);
        assert_eq!(names[0], format!("get_a_{}", suffix("GET", "/a")));
        assert_eq!(names[1..], ["get_b", "get_z"]);
    }

    #[test]
    fn prefixes_digits_and_length() {
        let one = |id: &str, prefix| names(&[operation("GET", "/a", Some(id))], prefix).remove(0);
        assert_eq!(one("listIssues", Some("github")), "github_list_issues");
        assert_eq!(one("2fa", None), "op_2fa");
        assert_eq!(one("2fa", Some("x")), "x_2fa");
        assert_eq!(one("x", Some("1password")), "op_1password_x");
        assert_eq!(one("---", None), "get_a");
        let long = one(&"a".repeat(129), None);
        assert_eq!(long, format!("{}_{}", "a".repeat(121), suffix("GET", "/a")));
        assert_eq!(one(&"a".repeat(128), None), "a".repeat(128));
    }

    #[test]
    fn given_names_are_checked() {
        for good in ["a", "A.b-C_1", &"x".repeat(128)] {
            assert!(is_given_name(good));
        }
        for bad in ["", "a b", "é", "a/b", &"x".repeat(129)] {
            assert!(!is_given_name(bad));
        }
    }

    #[test]
    fn a_chain_of_pushes_ends() {
        let mut all = vec![
            operation("GET", "/0", Some("x")),
            operation("GET", "/1", Some("x")),
        ];
        for n in 1..500 {
            let before = of_route("GET", &format!("/{n}"));
            all.push(operation("GET", &format!("/{}", n + 1), Some(&before)));
        }
        let names = names(&all, None);
        let distinct: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }

    proptest! {
        #[test]
        fn names_are_legal_and_unique_and_follow_their_operations(
            all in prop::collection::btree_map(
                ("(GET|POST|PUT)", "(/[aAbB{}._-]{0,4}){1,3}"), prop::option::of("[aAbB_.-]{0,4}"), 1..20
            ),
            prefix in prop::option::of("[a-z0-9]{1,3}"),
        ) {
            let mut candidates: Vec<_> = all
                .iter()
                .map(|((method, route), id)| operation(method, route, id.as_deref()))
                .collect();
            let forward = names(&candidates, prefix.as_deref());
            let distinct: std::collections::HashSet<_> = forward.iter().collect();
            prop_assert_eq!(distinct.len(), forward.len());
            for name in &forward {
                let mut chars = name.chars();
                prop_assert!(chars.next().unwrap().is_ascii_lowercase(), "{}", name);
                prop_assert!(chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
            }
            candidates.reverse();
            let mut backward = names(&candidates, prefix.as_deref());
            backward.reverse();
            prop_assert_eq!(forward, backward);
        }
    }
}
