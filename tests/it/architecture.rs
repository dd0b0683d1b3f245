//! The rules of the house that the compiler does not know.
//!
//! - A room uses only rooms above it.
//! - Only `index` names tantivy, only `http` names reqwest.
//! - Every file opens with `//!`, and has at most 600 lines outside its tests.
//! - The list of rooms here, the folders under `src`, the modules of `lib.rs` and the codemap of the readme
//!   agree.
//! - Only `cli` prints, only `config` and `cli` read the environment, only `server` and `cli` ask the system
//!   for the time.
//!
//! Items under `#[cfg(test)]` are free of all but the opening comment.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::rust_text::{self, Token};

/// Every room, in order: each may use those before it.
const ROOMS: [&str; 18] = [
    "json",
    "text",
    "clock",
    "http",
    "catalog",
    "synthetic",
    "index",
    "access",
    "search",
    "invoke",
    "contract",
    "tools",
    "mcp",
    "telemetry",
    "demo",
    "server",
    "config",
    "cli",
];

/// Crates that one room alone may name.
const CRATES_OF_ROOMS: [(&str, &str); 2] = [("tantivy", "index"), ("reqwest", "http")];

/// What only some rooms may call: the tokens, the rooms, and what the others do instead.
const CALLS_OF_ROOMS: [(&[&str], &[&str], &str); 11] = [
    (&["println", "!"], &["cli"], "return what is to be printed"),
    (&["print", "!"], &["cli"], "return what is to be printed"),
    (
        &["eprintln", "!"],
        &["cli"],
        "return an error or use tracing",
    ),
    (&["eprint", "!"], &["cli"], "return an error or use tracing"),
    (&["dbg", "!"], &[], "use tracing"),
    (
        &["env", "::", "var"],
        &["config", "cli"],
        "take the value as a setting",
    ),
    (
        &["env", "::", "var_os"],
        &["config", "cli"],
        "take the value as a setting",
    ),
    (
        &["env", "::", "vars"],
        &["config", "cli"],
        "take the value as a setting",
    ),
    (
        &["env", "::", "vars_os"],
        &["config", "cli"],
        "take the value as a setting",
    ),
    (
        &["SystemTime", "::", "now"],
        &["clock"],
        "take the time as an argument, or ask `clock`",
    ),
    (
        &["UNIX_EPOCH", ".", "elapsed"],
        &["clock"],
        "take the time as an argument, or ask `clock`",
    ),
];

/// Lines of a file outside its tests.
const LINES_MAX: usize = 600;

/// One broken rule, told so that it can be mended.
#[derive(Debug, PartialEq, Eq)]
struct Breach {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "src/{}:{}: {}", self.file, self.line, self.what)
    }
}

fn place_of(room: &str) -> Option<usize> {
    ROOMS.iter().position(|one| *one == room)
}

/// The module path of a file below `src`, such as `["index", "store"]`; none for the crate's roots.
fn modules_of(file: &str) -> Vec<&str> {
    let mut parts: Vec<_> = file.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
        parts.pop();
    }
    parts
}

/// Holds one file to the rules. `file` is its path below `src` with forward slashes.
fn check(file: &str, text: &str) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut breach = |line: usize, what: String| {
        breaches.push(Breach {
            file: file.to_owned(),
            line,
            what,
        });
    };
    // A readme included as the crate's docs opens lib.rs.
    if !text.starts_with("//!") && !text.starts_with("#![doc = include_str!") {
        breach(
            1,
            "the file does not open with `//!`: say what it owns and may never do".to_owned(),
        );
    }
    let blanked = rust_text::blanked(text);
    let code = rust_text::without_tests(&blanked);
    let lines = code.iter().filter(|line| line.is_some()).count();
    if lines > LINES_MAX {
        breach(
            1,
            format!("{lines} lines outside tests, {LINES_MAX} at most: split it by noun"),
        );
    }
    let modules = modules_of(file);
    let Some(&room) = modules.first() else {
        return breaches;
    };
    let tokens = rust_text::tokens(&code);
    for (name, owner) in CRATES_OF_ROOMS {
        for token in tokens
            .iter()
            .filter(|token| token.text == name && room != owner)
        {
            breach(
                token.line,
                format!("`{room}` names {name}, which only `{owner}` may"),
            );
        }
    }
    for (call, rooms, instead) in CALLS_OF_ROOMS {
        if rooms.contains(&room) {
            continue;
        }
        for window in tokens.windows(call.len()) {
            if window
                .iter()
                .zip(call)
                .all(|(token, part)| token.text == *part)
            {
                breach(
                    window[0].line,
                    format!("`{room}` calls {}: {instead}", call.concat()),
                );
            }
        }
    }
    for (line, used) in rooms_used(&tokens, modules.len()) {
        match (place_of(room), place_of(&used)) {
            (_, None) => breach(
                line,
                format!("`{room}` uses crate::{used}, which is no room"),
            ),
            (None, _) => breach(line, format!("`{room}` is no room of the list")),
            (Some(own), Some(other)) if other > own => {
                breach(
                    line,
                    format!("`{room}` uses `{used}`, which comes after it"),
                );
            }
            _ => {}
        }
    }
    breaches.dedup();
    breaches
}

/// The crate's modules that a file names by a path, with the lines. `depth` is how many modules the file is
/// below the crate: so many `super` lead to the root.
fn rooms_used(tokens: &[Token], depth: usize) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let goes_on = index > 0 && tokens[index - 1].text == "::";
        let starts = token.text == "crate" || token.text == "super";
        // `pub(in crate::room)` and a lone `pub(crate)` name no other room by themselves.
        if !starts || goes_on {
            continue;
        }
        let mut paths = Vec::new();
        rust_text::expand(tokens, index, &mut Vec::new(), &mut paths);
        for path in paths {
            let supers = path.iter().take_while(|part| *part == "super").count();
            let rest = if path.first().is_some_and(|part| part == "crate") {
                path.get(1)
            } else if supers >= depth {
                path.get(supers)
            } else {
                None
            };
            let rest = rest.filter(|name| *name != "*" && *name != "self" && !name.ends_with('!'));
            if let Some(name) = rest {
                used.push((token.line, name.clone()));
            }
        }
    }
    used
}

/// The files, or folders, that a file declares as test modules (`#[cfg(test)]` before `mod name;`), as paths
/// below `src` without an ending.
fn test_modules(file: &str, text: &str) -> Vec<String> {
    let folder = modules_of(file).join("/");
    let blanked = rust_text::blanked(text);
    let mut lines = blanked.lines().map(str::trim);
    let mut modules = Vec::new();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        let item = lines
            .find(|line| !line.starts_with("#["))
            .unwrap_or_default();
        let name = item
            .strip_suffix(';')
            .and_then(|item| item.rsplit_once("mod "));
        if let Some((_, name)) = name {
            modules.push(if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            });
        }
    }
    modules
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn every_file_keeps_the_rules() {
    let source = root().join("src");
    let files: Vec<(String, String)> = rust_files(&source)
        .iter()
        .map(|path| {
            let file = path.strip_prefix(&source).unwrap().to_str().unwrap();
            (
                file.replace('\\', "/"),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect();
    let tests: Vec<_> = files
        .iter()
        .flat_map(|(file, text)| test_modules(file, text))
        .collect();
    let mut breaches = Vec::new();
    for (file, text) in &files {
        let in_tests = tests.iter().any(|module| {
            let rest = file.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        // Of a test only the opening comment is asked.
        let text = if in_tests {
            text.lines().next().unwrap_or_default()
        } else {
            text
        };
        breaches.extend(check(file, text).iter().map(Breach::to_string));
    }
    assert!(breaches.is_empty(), "\n{}\n", breaches.join("\n"));
}

#[test]
fn rooms_folders_modules_and_codemap_agree() {
    let mut folders: Vec<_> = std::fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    let mut rooms = ROOMS.to_vec();
    rooms.sort_unstable();
    assert_eq!(folders, rooms, "folders under src, and the list of rooms");

    let lib = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let modules: Vec<_> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    assert_eq!(
        modules, ROOMS,
        "modules of lib.rs, and the list of rooms, in order"
    );

    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert_eq!(
        codemap(&readme),
        ROOMS,
        "the codemap of the readme, and the list of rooms, in order"
    );
}

/// The rooms in the first column of the table under the heading `Codemap`.
fn codemap(readme: &str) -> Vec<&str> {
    readme
        .lines()
        .skip_while(|line| line.trim_start_matches('#').trim() != "Codemap")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(room, _)| room)
        .collect()
}

/// Texts that break one rule in their second line, and what is said of them.
const BROKEN: [(&str, &str, &str); 13] = [
    (
        "json/mod.rs",
        "use crate::text::fold;",
        "`json` uses `text`, which comes after it",
    ),
    (
        "text/a.rs",
        "fn f() { crate::mcp::go() }",
        "`text` uses `mcp`, which comes after it",
    ),
    (
        "text/a.rs",
        "use super::super::cli;",
        "`text` uses `cli`, which comes after it",
    ),
    (
        "text/a/b.rs",
        "use super::super::super::cli::X;",
        "`text` uses `cli`, which comes after it",
    ),
    (
        "text/mod.rs",
        "use super::cli;",
        "`text` uses `cli`, which comes after it",
    ),
    (
        "catalog/a.rs",
        "use crate::{json::Pointer, tools};",
        "`catalog` uses `tools`, which comes after it",
    ),
    (
        "catalog/a.rs",
        "use crate::{json::{self, Pointer}, text::fold, search::X as Y};",
        "`catalog` uses `search`, which comes after it",
    ),
    (
        "catalog/a.rs",
        "use crate::nowhere;",
        "`catalog` uses crate::nowhere, which is no room",
    ),
    (
        "search/a.rs",
        "use tantivy::Index;",
        "`search` names tantivy, which only `index` may",
    ),
    (
        "invoke/a.rs",
        "type C = reqwest::Client;",
        "`invoke` names reqwest, which only `http` may",
    ),
    (
        "mcp/a.rs",
        "fn f() { println!(\"a\"); }",
        "`mcp` calls println!: return what is to be printed",
    ),
    (
        "mcp/a.rs",
        "fn f() { std::env::var(\"A\"); }",
        "`mcp` calls env::var: take the value as a setting",
    ),
    (
        "mcp/a.rs",
        "fn f() -> SystemTime { SystemTime::now() }",
        "`mcp` calls SystemTime::now: take the time as an argument, or ask `clock`",
    ),
];

/// Texts that look as if they broke one.
const FINE: [(&str, &str); 10] = [
    ("mcp/a.rs", "use crate::{json, text::fold, tools::Surface};"),
    (
        "mcp/a.rs",
        "use super::b::c; use super::super::contract::Code;",
    ),
    (
        "text/a.rs",
        "// use crate::mcp;\n/* crate::cli */ const A: &str = \"crate::mcp\"; const B: &str = r#\"reqwest \" println!\"#;",
    ),
    (
        "text/a.rs",
        "fn f<'a>(x: &'a str) -> char { let _ = '\\''; let _ = '\"'; 'c' }",
    ),
    (
        "text/a.rs",
        "pub(in crate::text) fn f() {} pub(crate) fn g() {}",
    ),
    (
        "text/a.rs",
        "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n    use crate::cli;\n    fn f() { println!(); }\n}\n",
    ),
    ("text/a.rs", "#[cfg(test)]\nuse crate::cli;\nfn f() {}"),
    ("text/a.rs", "fn f() { crate::helper!() }"),
    (
        "cli/a.rs",
        "fn f() { println!(\"\"); std::env::var_os(\"A\"); }",
    ),
    ("index/a.rs", "use tantivy::Index;"),
];

/// A check that finds nothing would pass for ever.
#[test]
fn the_rules_find_what_breaks_them_and_nothing_else() {
    let found = |file: &str, text: &str| -> Vec<String> {
        let breaches = check(file, &format!("//! x\n{text}"));
        breaches.iter().map(Breach::to_string).collect()
    };
    for (file, text, what) in BROKEN {
        assert_eq!(
            found(file, text),
            [format!("src/{file}:2: {what}")],
            "{text}"
        );
    }
    for (file, text) in FINE {
        assert_eq!(found(file, text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(
        check("json/a.rs", "fn f() {}").len(),
        1,
        "no opening comment"
    );
    assert_eq!(
        found("json/a.rs", &"fn f() {}\n".repeat(LINES_MAX)).len(),
        1,
        "too long"
    );
    let declared = "#[cfg(test)]\npub(crate) mod b;\n#[cfg(test)]\nmod c {}\nmod d;";
    assert_eq!(test_modules("text/a.rs", declared), ["text/a/b"]);
    assert_eq!(test_modules("text/mod.rs", declared), ["text/b"]);
    assert_eq!(test_modules("lib.rs", declared), ["b"]);
    // What follows a test module is looked at again.
    let text = "#[cfg(test)]\nmod tests {\n    use crate::cli;\n}\nuse crate::mcp;";
    assert_eq!(
        found("text/a.rs", text),
        ["src/text/a.rs:6: `text` uses `mcp`, which comes after it"]
    );
}
