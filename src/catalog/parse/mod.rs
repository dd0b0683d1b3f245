//! The text of a document becomes a value: JSON or YAML, told apart by the text, under limits.
//!
//! Owns: encodings, the choice between the two languages, limits of size, depth and number of values.
//! Must never know what an OpenAPI document is.

mod ending;
mod position;
mod scalar;
mod tabs;
mod yaml;

use serde_json::Value;

use super::finding::Finding;
use super::{Diagnostic, DiagnosticCode, Severity};
use crate::json::Pointer;
use position::{Language, position_at};

pub(crate) use position::{Original, Position};

/// A document is at most this many bytes (64 MiB): the largest published ones are under a tenth of it.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A document nests at most this many levels; people's documents nest some thirty.
pub(crate) const DOCUMENT_LEVELS_MAX: usize = 1_000;

/// A document holds at most this many values: each costs some hundred bytes of memory, however short its
/// text, and the largest published documents hold under a million.
pub(crate) const DOCUMENT_VALUES_MAX: usize = 8_000_000;

/// The pointer of a value is at most this many bytes: places are named while a document is read, and names
/// of a million bytes would make a small document a vast one.
const POINTER_BYTES_MAX: usize = 64 * 1024;

/// A text that was read.
#[derive(Debug)]
pub(crate) struct Text {
    /// The value.
    pub(crate) value: Value,
    /// Oddities that cost nothing.
    pub(crate) warnings: Vec<Finding>,
    /// The text itself, where places are found.
    pub(crate) original: Original,
}

/// A text as one of the languages reads it.
#[derive(Debug)]
struct Read {
    value: Value,
    warnings: Vec<Finding>,
}

/// Reads a text as the text of a document is read: JSON or YAML in any encoding, under the limits of
/// documents. `strict_json` is for names that end in `.json`, whose texts are never tried as YAML.
///
/// # Errors
///
/// The diagnostic that a document of this text would be dropped with, of a document without a name.
pub fn read_text(bytes: Vec<u8>, strict_json: bool) -> Result<Value, Diagnostic> {
    match parse(bytes, strict_json) {
        Ok(text) => Ok(text.value),
        Err(finding) => Err(finding.into_diagnostic(Severity::Dropped, "")),
    }
}

/// Reads the text of a document. `strict_json` is for names that end in `.json`: a text that starts like
/// JSON is then never tried as YAML, so that the error is about the language its author meant.
pub(crate) fn parse(bytes: Vec<u8>, strict_json: bool) -> Result<Text, Finding> {
    let text = decode(bytes)?;
    let (Read { value, warnings }, language) = language(&text, strict_json)?;
    if is_far(&value, POINTER_BYTES_MAX) {
        return Err(Finding::of_source(
            DiagnosticCode::SourceTooLarge,
            format!(
                "keys on the way to a value are over {POINTER_BYTES_MAX} bytes together; shorten them"
            ),
        ));
    }
    Ok(Text {
        value,
        warnings,
        original: Original::new(text, language),
    })
}

/// Whether the keys on the way to some value are longer than this together.
fn is_far(value: &Value, bytes: usize) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, member)| {
            // Every character may be escaped, which doubles it.
            let left = bytes.checked_sub(2 * key.len() + 1);
            left.is_none_or(|left| is_far(member, left))
        }),
        Value::Array(items) => {
            let left = bytes.saturating_sub(8);
            items.iter().any(|item| is_far(item, left))
        }
        _ => false,
    }
}

fn language(text: &str, strict_json: bool) -> Result<(Read, Language), Finding> {
    let first = text.trim_start().bytes().next();
    if first.is_none() {
        return Err(Finding::of_source(
            DiagnosticCode::NotOpenapi,
            "the source is empty; name an OpenAPI document",
        ));
    }
    if matches!(first, Some(b'{' | b'[')) {
        match json(text) {
            // A flow mapping of YAML starts like JSON.
            Err(error) if !strict_json && error.code == DiagnosticCode::NotParseable => {
                return match yaml::parse(text) {
                    Ok(read) => Ok((read, Language::Yaml)),
                    Err(_) => Err(error),
                };
            }
            other => return Ok((other?, Language::Json)),
        }
    }
    match yaml::parse(text) {
        Ok(read) => Ok((read, Language::Yaml)),
        Err(error) => match tabbed(text) {
            Some(read) => Ok((read, Language::TabbedYaml)),
            None => Err(within(text, error)),
        },
    }
}

/// The YAML parser takes the end of a text for a line of its own, which no editor shows.
fn within(text: &str, error: Finding) -> Finding {
    let end = end_of(text);
    if error.position > Some(end) {
        error.in_text(end)
    } else {
        error
    }
}

/// Another try for a text with tabs where YAML wants spaces: after `:` and `-`, where the parser is stricter
/// than YAML 1.2, and as indentation, where YAML forbids them but only one depth can be meant.
fn tabbed(text: &str) -> Option<Read> {
    let spaced = tabs::spaces_for_tabs(text)?;
    let mut read = yaml::parse(&spaced).ok()?;
    read.warnings.push(Finding::of_source(
        DiagnosticCode::Malformed,
        "tabs stand where YAML wants spaces and are read as such; replace them",
    ));
    Some(read)
}

/// UTF-8, or UTF-16 with a byte order mark; the mark is dropped.
fn decode(bytes: Vec<u8>) -> Result<String, Finding> {
    let utf16 = |read: fn([u8; 2]) -> u16| {
        let units = bytes[2..]
            .chunks_exact(2)
            .map(|pair| read([pair[0], pair[1]]));
        let mut text = String::with_capacity(bytes.len() / 2);
        for unit in char::decode_utf16(units) {
            let Ok(unit) = unit else {
                let message = "the text is not valid UTF-16 here; store it as UTF-8";
                return Err(unparseable(end_of(&text), message));
            };
            text.push(unit);
        }
        Ok(text)
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        _ => {}
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let good = String::from_utf8_lossy(good);
        let good = good.strip_prefix('\u{feff}').unwrap_or(&good);
        let message = "the text is not valid UTF-8 here; store the document as UTF-8";
        unparseable(end_of(good), message)
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn end_of(text: &str) -> Position {
    position_at(text, text.len())
}

fn json(text: &str) -> Result<Read, Finding> {
    if values_at_most(text) > DOCUMENT_VALUES_MAX {
        return Err(too_many_values());
    }
    let parsed = crate::json::parse(text.as_bytes(), DOCUMENT_LEVELS_MAX).map_err(|error| {
        let at = position_at(text, byte_of(text, &error));
        if error.message == "nested too deeply" {
            return too_deep(at);
        }
        unparseable(at, format!("{}; correct the JSON here", error.message))
    })?;
    let warnings = parsed.duplicates.iter().map(duplicate_key).collect();
    Ok(Read {
        value: parsed.value,
        warnings,
    })
}

/// The byte at which JSON went wrong: the reader counts columns in bytes, and lines by LF only.
fn byte_of(text: &str, error: &crate::json::JsonError) -> usize {
    let mut ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let start = match error.line.checked_sub(2) {
        None => 0,
        Some(before) => ends.nth(before).map_or(text.len(), |(end, _)| end + 1),
    };
    start + error.column.saturating_sub(1)
}

/// No more values than this stand in a JSON text: each but the first follows a separator or an opening.
fn values_at_most(text: &str) -> usize {
    let separators = text
        .bytes()
        .filter(|byte| matches!(byte, b',' | b'[' | b':'))
        .count();
    if separators <= DOCUMENT_VALUES_MAX {
        return separators;
    }
    // Only now is it worth leaving out those inside strings.
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b':' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

fn too_many_values() -> Finding {
    Finding::of_source(
        DiagnosticCode::SourceTooLarge,
        format!("the document holds over {DOCUMENT_VALUES_MAX} values; split it"),
    )
}

fn unparseable(at: Position, message: impl Into<String>) -> Finding {
    Finding::of_source(DiagnosticCode::NotParseable, message).in_text(at)
}

fn too_deep(at: Position) -> Finding {
    let message =
        format!("the document is nested over {DOCUMENT_LEVELS_MAX} levels deep here; flatten it");
    Finding::of_source(DiagnosticCode::TooDeep, message).in_text(at)
}

fn duplicate_key(at: &Pointer) -> Finding {
    Finding::new(
        DiagnosticCode::DuplicateKey,
        at,
        "the key stands twice in its object and the last one counts; remove one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Text, Finding> {
        parse(text.as_bytes().to_vec(), false)
    }

    #[test]
    fn both_languages_and_all_encodings_are_read() {
        let want = serde_json::json!({"a": ["é"]});
        let json = r#"{"a": ["é"]}"#;
        let mut utf16 = vec![0xff, 0xfe];
        utf16.extend(json.encode_utf16().flat_map(u16::to_le_bytes));
        let mut big = vec![0xfe, 0xff];
        big.extend(json.encode_utf16().flat_map(u16::to_be_bytes));
        for bytes in [
            json.as_bytes().to_vec(),
            format!("\u{feff}{json}").into_bytes(),
            format!("\r\n\t {json}\r\n").into_bytes(),
            "a:\r\n  - é\r\n".into(),
            "\u{feff}a:\n- 'é'\n".into(),
            "{a: [é]}".into(),
            utf16,
            big,
        ] {
            assert_eq!(
                parse(bytes.clone(), false).unwrap().value,
                want,
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn a_json_name_is_never_tried_as_yaml() {
        let error = parse(b"{\"a\": [1,]}".to_vec(), true).unwrap_err();
        assert_eq!(error.code, DiagnosticCode::NotParseable);
        assert_eq!(error.position, Some(Position::new(1, 10)), "{error:?}");
        assert!(read("{\"a\": [1,]}").is_ok());
    }

    #[test]
    fn errors_name_the_place() {
        let at = |line, column| Some(Position::new(line, column));
        for (text, code, position) in [
            ("", DiagnosticCode::NotOpenapi, None),
            (" \n\t", DiagnosticCode::NotOpenapi, None),
            ("{\n \"a\": x y: }", DiagnosticCode::NotParseable, at(2, 7)),
            // Columns are characters, whatever the language; a carriage return ends a line.
            (
                "{\r\n\t\"äöü😀\": x y: }",
                DiagnosticCode::NotParseable,
                at(2, 10),
            ),
            ("{\"a\":\r x y: }", DiagnosticCode::NotParseable, at(2, 2)),
            ("a: b\nc: [d\n", DiagnosticCode::NotParseable, at(3, 1)),
            ("a: b\nc: [d", DiagnosticCode::NotParseable, at(2, 6)),
            ("%#", DiagnosticCode::NotParseable, at(1, 3)),
            (
                "\u{feff}ä: b\nöö: 😀: d\n",
                DiagnosticCode::NotParseable,
                at(2, 6),
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(
                (error.code, error.position),
                (code, position),
                "{text}: {error:?}"
            );
        }
        for bytes in [
            b"a: b\nc: \xff".to_vec(),
            b"\xef\xbb\xbfa: b\nc: \xff".to_vec(),
            [&b"\xff\xfe"[..], &utf16("a: b\nc: "), &[0x00, 0xdc]].concat(),
        ] {
            let error = parse(bytes, false).unwrap_err();
            assert_eq!(error.position, at(2, 4), "{error:?}");
        }
    }

    fn utf16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn tabs_are_met_where_they_can_only_mean_one_thing() {
        for text in [
            "a:\n\tb:\n\t\tc: |\n\t\t\tx\n\td: [1]\n",
            "a:\t\n  b:\t\n    c:\t|\n      x\n  d:\t[1]\t\n \t\ne:\t3.0.0\n",
        ] {
            let text = read(text).unwrap();
            let want = serde_json::json!({"b": {"c": "x\n"}, "d": [1]});
            assert_eq!((&text.value["a"], text.warnings.len()), (&want, 1));
        }
        assert!(read("a:\n\tb: 1\n  c: 2\n").is_err());
        // In JSON and inside text a tab is nothing special.
        let plain = read("{\n\t\"a\":\t\"b\tc\"}".replace("b\tc", "b").as_str()).unwrap();
        assert!(plain.warnings.is_empty());
        assert!(
            read("a: \"b\tc\"\nd: |\n  \te\n")
                .unwrap()
                .warnings
                .is_empty()
        );
    }

    #[test]
    fn a_bomb_of_short_values_is_refused_before_it_is_built() {
        let text = format!("[{}0]", "0,".repeat(DOCUMENT_VALUES_MAX));
        assert_eq!(
            read(&text).unwrap_err().code,
            DiagnosticCode::SourceTooLarge
        );
        let prose = format!("[\"{}\"]", ",".repeat(DOCUMENT_VALUES_MAX + 1));
        assert!(read(&prose).is_ok());
    }
}
