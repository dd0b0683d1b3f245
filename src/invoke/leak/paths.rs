//! Paths of a file system, told from routes, media types, dates and units.

use super::scan::{before, run};

/// First folders of a Unix system that no API route starts with, with what must follow.
const SYSTEM_ROOTS: [&str; 32] = [
    "/usr/",
    "/var/",
    "/etc/",
    "/opt/",
    "/root/",
    "/srv/",
    "/tmp/",
    "/proc/",
    "/sbin/",
    "/mnt/",
    "/nix/",
    "/snap/",
    "/boot/",
    "/run/secrets",
    "/run/user/",
    "/run/docker",
    "/bin/sh",
    "/bin/bash",
    "/lib/",
    "/lib64/",
    "/sys/fs",
    "/sys/class",
    "/sys/kernel",
    "/dev/null",
    "/dev/std",
    "/dev/shm",
    "/dev/tty",
    "/dev/fd",
    "/private/var",
    "/system/library",
    "/applications/",
    "/volumes/",
];

/// First folders that routes have too: they need a second sign.
const HOME_ROOTS: [&str; 2] = ["/home/", "/Users/"];

/// Folders that only code or a system has.
const FOLDERS: [&str; 9] = [
    "/node_modules/",
    "/site-packages/",
    "/dist-packages/",
    "/.git/",
    "/.ssh/",
    "/.aws/",
    "/.config/",
    "/wwwroot/",
    "/vendor/bundle/",
];

/// Extensions of files that a server has and an API does not serve.
const FILES: [&str; 58] = [
    "py",
    "pyc",
    "rb",
    "erb",
    "java",
    "class",
    "jar",
    "war",
    "kt",
    "scala",
    "go",
    "rs",
    "cs",
    "vb",
    "cshtml",
    "ts",
    "tsx",
    "jsx",
    "mjs",
    "cjs",
    "js",
    "php",
    "phtml",
    "c",
    "cc",
    "cpp",
    "h",
    "so",
    "dll",
    "exe",
    "sh",
    "bash",
    "bat",
    "ps1",
    "conf",
    "cfg",
    "ini",
    "env",
    "pem",
    "key",
    "crt",
    "pfx",
    "p12",
    "jks",
    "log",
    "sqlite",
    "sqlite3",
    "db",
    "mdb",
    "sql",
    "yml",
    "yaml",
    "toml",
    "lock",
    "properties",
    "pid",
    "sock",
    "swp",
];

pub(super) fn found(text: &str, lower: &str) -> bool {
    lower.contains("file:/")
        || FOLDERS.iter().any(|folder| lower.contains(folder))
        || has_unix_path(text, lower)
        || has_relative_path(text, lower)
        || has_home(text)
        || has_drive(text)
        || has_share(text)
        || has_variable(text)
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/._-+@~$%".contains(&byte)
}

/// Whether a path may start at a slash: not inside a URL, a media type, a date or a unit.
fn starts_path(text: &str, at: usize) -> bool {
    before(text, at)
        .is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'`([<=:,;|>".contains(&byte))
}

fn has_unix_path(text: &str, lower: &str) -> bool {
    lower.match_indices('/').any(|(at, _)| {
        if !starts_path(text, at) || text[at..].starts_with("//") {
            return false;
        }
        let path = run(&text[at..], is_path_byte);
        // A place for a value or a query follows: a route.
        if text[at + path.len()..].starts_with(['{', '?', '#', '*']) || path.contains("/:") {
            return false;
        }
        let path = path.trim_end_matches(['.', '-']);
        let folded = &lower[at..at + path.len()];
        let system = SYSTEM_ROOTS
            .iter()
            .any(|root| folded.starts_with(root) && path.len() > root.len().min(5));
        let levels = path.matches('/').count();
        let home = levels >= 3 && HOME_ROOTS.iter().any(|root| path.starts_with(root));
        system || home || (levels >= 2 && has_file_extension(folded))
    })
}

/// `app/models/user.rb`, `./config/db.yml`, `..\secret.key`: relative, but a file of a server.
fn has_relative_path(text: &str, lower: &str) -> bool {
    let is_relative_byte = |byte: u8| is_path_byte(byte) || byte == b'\\';
    let mut at = 0;
    while let Some(skip) = lower[at..].bytes().position(is_relative_byte) {
        let start = at + skip;
        let token = run(&lower[start..], is_relative_byte);
        at = start + token.len();
        // What follows `://` or a host is a URL's own path.
        let in_url = before(text, start) == Some(b':') && token.starts_with("//");
        let token = token.trim_end_matches(['.', '-']);
        let nested = token.trim_start_matches('/').contains(['/', '\\']);
        let host = token
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        let bare_host = host.contains('.') && host != "." && host != "..";
        let is_route = lower[at..].starts_with(['{', '?', ':']);
        if nested
            && !in_url
            && !bare_host
            && !is_route
            && !token.starts_with('/')
            && has_file_extension(token)
        {
            return true;
        }
    }
    false
}

fn has_file_extension(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(_, extension)| FILES.contains(&extension))
}

/// `~/.ssh/id_rsa`.
fn has_home(text: &str) -> bool {
    text.match_indices("~/").any(|(at, sign)| {
        starts_path(text, at)
            && text[at + sign.len()..]
                .starts_with(|first: char| first.is_ascii_alphanumeric() || first == '.')
    })
}

/// `C:\…` and `C:/…`.
fn has_drive(text: &str) -> bool {
    text.match_indices(':').any(|(at, _)| {
        let drive = before(text, at).is_some_and(|byte| byte.is_ascii_alphabetic())
            && at
                .checked_sub(1)
                .and_then(|letter| before(text, letter))
                .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let rest = text[at + 1..].trim_start_matches('\\');
        let backslashes = text.len() - at - 1 - rest.len();
        let name = |rest: &str| {
            rest.starts_with(|first: char| first.is_ascii_alphanumeric() || "_.$%".contains(first))
        };
        let slash = text[at + 1..].strip_prefix('/').is_some_and(name);
        drive && ((backslashes > 0 && name(rest)) || slash)
    })
}

/// `\\server\share` and `\\?\…`.
fn has_share(text: &str) -> bool {
    text.match_indices("\\\\").any(|(at, sign)| {
        if before(text, at)
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || b"\\:])}".contains(&byte))
        {
            return false;
        }
        let rest = text[at + sign.len()..].trim_start_matches('\\');
        let server = run(rest, |byte| {
            byte.is_ascii_alphanumeric() || b".-_?$".contains(&byte)
        });
        let share = rest[server.len()..].trim_start_matches('\\');
        server.len() + usize::from(server == "?") >= 2
            && share.len() < rest.len() - server.len()
            && share.starts_with(|first: char| first.is_ascii_alphanumeric())
    })
}

/// `%APPDATA%\…`.
fn has_variable(text: &str) -> bool {
    text.match_indices("%\\").any(|(at, _)| {
        let name = super::scan::run_back(&text[..at], 40, super::scan::is_word);
        !name.is_empty() && text[..at - name.len()].ends_with('%')
    })
}
