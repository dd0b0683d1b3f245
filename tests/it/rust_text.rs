//! Just enough of Rust's surface to read paths out of formatted sources: comments and literals blanked,
//! test items left out, tokens with their lines.

/// One word or mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// A word, `::`, or one other character.
    pub(crate) text: String,
    /// 1-based.
    pub(crate) line: usize,
}

/// The text with comments and the insides of literals turned to spaces; lines stay where they are.
pub(crate) fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped_end(&chars, at);
        if end > at {
            out.extend(
                chars[at..end]
                    .iter()
                    .map(|c| if *c == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none does.
fn skipped_end(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    let inside_word = at > 0 && is_word(chars[at - 1]);
    match chars[at] {
        '/' if next == Some('/') => find(chars, at, |rest| rest[0] == '\n'),
        '/' if next == Some('*') => block_comment_end(chars, at),
        '"' => string_end(chars, at + 1),
        'r' if !inside_word || chars[at - 1] == 'b' => raw_string_end(chars, at).unwrap_or(at),
        // A lifetime has no closing quote two characters on; an escape has one within a dozen.
        '\'' if next == Some('\\') => find(chars, at + 3, |rest| rest[0] == '\'') + 1,
        '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
    .min(chars.len())
}

fn find(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len())
        .find(|at| is_end(&chars[*at..]))
        .unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut at = at;
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The end of a raw string that starts with the `r` at `at`.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + 1 + hashes) != Some(&'"') {
        return None;
    }
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|c| *c == '#')
    };
    Some(find(chars, at + 2 + hashes, closes) + 1 + hashes)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The lines of blanked, formatted code; `None` for those of items under `#[cfg(test)]`.
///
/// Formatted code closes an item with a brace in the column its attribute starts in.
pub(crate) fn without_tests(code: &str) -> Vec<Option<&str>> {
    let mut lines = Vec::new();
    let mut skipping: Option<String> = None;
    for line in code.lines() {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        match &skipping {
            Some(outer) => {
                let ends = [";", ",", "{}", "};"].iter().any(|end| line.ends_with(end));
                let ends = indent == *outer && (ends || line.trim() == "}");
                lines.push(None);
                if ends {
                    skipping = None;
                }
            }
            None if line.trim_start().starts_with("#[cfg(test)]") => {
                lines.push(None);
                skipping = Some(indent);
            }
            None => lines.push(Some(line)),
        }
    }
    lines
}

/// The tokens of the lines that are left.
pub(crate) fn tokens(lines: &[Option<&str>]) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mut rest = line.unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token {
                text: rest[..length].to_owned(),
                line: index + 1,
            });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Every path that starts at a token, groups taken apart: `a::{b, c::d}` is `a::b` and `a::c::d`. A macro's
/// name keeps its `!`. Answers the index of the token after the path.
pub(crate) fn expand(
    tokens: &[Token],
    mut at: usize,
    path: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> usize {
    let length = path.len();
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    loop {
        if text(at) == "{" {
            at += 1;
            while !matches!(text(at), "}" | "") {
                at = expand(tokens, at, path, paths);
                // An alias, then the comma.
                while !matches!(text(at), "," | "}" | "") {
                    at += 1;
                }
                if text(at) == "," {
                    at += 1;
                }
            }
            at += 1;
            break;
        }
        path.push(text(at).to_owned());
        at += 1;
        if text(at) == "::" {
            at += 1;
            continue;
        }
        if text(at) == "!"
            && text(at + 1) != "="
            && let Some(last) = path.last_mut()
        {
            last.push('!');
        }
        paths.push(path.clone());
        break;
    }
    path.truncate(length);
    at
}
