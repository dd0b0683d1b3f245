//! The text of a document becomes a value: JSON or YAML, told apart by the text, under limits.
//!
//! Owns: encodings, the choice between the two languages, limits of size, depth and number of values.
//! Must never know what an OpenAPI document is.

mod scalar;
mod yaml;

use serde_json::Value;

use super::DiagnosticCode;
use super::finding::Finding;
use crate::json::Pointer;

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
}

/// Reads the text of a document. `strict_json` is for names that end in `.json`: a text that starts like
/// JSON is then never tried as YAML, so that the error is about the language its author meant.
pub(crate) fn parse(bytes: Vec<u8>, strict_json: bool) -> Result<Text, Finding> {
    let text = language(&decode(bytes)?, strict_json)?;
    if is_far(&text.value, POINTER_BYTES_MAX) {
        return Err(Finding::of_source(
            DiagnosticCode::SourceTooLarge,
            format!(
                "keys on the way to a value are over {POINTER_BYTES_MAX} bytes together; shorten them"
            ),
        ));
    }
    Ok(text)
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

fn language(text: &str, strict_json: bool) -> Result<Text, Finding> {
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
                return yaml::parse(text).map_err(|_| error);
            }
            other => return other,
        }
    }
    yaml::parse(text).or_else(|error| tabbed(text).ok_or(error))
}

/// Another try for a text with tabs where YAML wants spaces: after `:` and `-`, where the parser is stricter
/// than YAML 1.2, and as indentation, where YAML forbids them but only one depth can be meant.
fn tabbed(text: &str) -> Option<Text> {
    let spaced = spaces_for_tabs(text)?;
    let mut read = yaml::parse(&spaced).ok()?;
    read.warnings.push(Finding::of_source(
        DiagnosticCode::Malformed,
        "tabs stand where YAML wants spaces and are read as such; replace them",
    ));
    Some(read)
}

/// None without tabs, and where tabs and spaces both indent: what is deeper is anyone's guess then.
fn spaces_for_tabs(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut by_tabs, mut by_spaces) = (false, false);
    for line in text.lines() {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - rest.len()];
        if !rest.is_empty() {
            by_tabs |= indent.contains('\t');
            by_spaces |= indent.contains(' ');
            out.push_str(&indent.replace('\t', "  "));
            out.push_str(&rest.trim_end().replace(":\t", ": ").replace("-\t", "- "));
        }
        out.push('\n');
    }
    (text.contains('\t') && !(by_tabs && by_spaces)).then_some(out)
}

/// UTF-8, or UTF-16 with a byte order mark; the mark is dropped.
fn decode(bytes: Vec<u8>) -> Result<String, Finding> {
    let utf16 = |read: fn([u8; 2]) -> u16| {
        let units = bytes[2..]
            .chunks_exact(2)
            .map(|pair| read([pair[0], pair[1]]));
        char::decode_utf16(units)
            .collect::<Result<String, _>>()
            .map_err(|_| {
                let message = "the text is not valid UTF-16; store it as UTF-8";
                Finding::of_source(DiagnosticCode::NotParseable, message)
            })
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        _ => {}
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let (line, column) = place(good);
        Finding::of_source(
            DiagnosticCode::NotParseable,
            format!("line {line} column {column} is not valid UTF-8; store the document as UTF-8"),
        )
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// 1-based line and column (in bytes) of the end of a text.
fn place(text: &[u8]) -> (usize, usize) {
    // Counted once per failed document.
    #[expect(clippy::naive_bytecount, reason = "an error path that runs once")]
    let line = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + text.iter().rev().take_while(|&&byte| byte != b'\n').count();
    (line, column)
}

fn json(text: &str) -> Result<Text, Finding> {
    if values_at_most(text) > DOCUMENT_VALUES_MAX {
        return Err(too_many_values());
    }
    let parsed = crate::json::parse(text.as_bytes(), DOCUMENT_LEVELS_MAX).map_err(|error| {
        if error.message == "nested too deeply" {
            return too_deep(error.line, error.column);
        }
        Finding::of_source(
            DiagnosticCode::NotParseable,
            format!(
                "line {} column {}: {}; correct the JSON there",
                error.line, error.column, error.message
            ),
        )
    })?;
    let warnings = parsed.duplicates.iter().map(duplicate_key).collect();
    Ok(Text {
        value: parsed.value,
        warnings,
    })
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

fn too_deep(line: usize, column: usize) -> Finding {
    Finding::of_source(
        DiagnosticCode::TooDeep,
        format!(
            "line {line} column {column} is nested over {DOCUMENT_LEVELS_MAX} levels deep; flatten the document"
        ),
    )
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
        assert!(error.message.starts_with("line 1 column 10"), "{error:?}");
        assert!(read("{\"a\": [1,]}").is_ok());
    }

    #[test]
    fn errors_name_the_place() {
        for (text, code, start) in [
            ("", DiagnosticCode::NotOpenapi, "the source is empty"),
            (" \n\t", DiagnosticCode::NotOpenapi, "the source is empty"),
            ("{\n \"a\": x y: }", DiagnosticCode::NotParseable, "line 2"),
            ("a: b\nc: [d\n", DiagnosticCode::NotParseable, "line "),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code, code, "{text}");
            assert!(error.message.starts_with(start), "{text}: {error:?}");
        }
        let error = parse(b"a: b\nc: \xff".to_vec(), false).unwrap_err();
        assert!(error.message.starts_with("line 2 column 4"), "{error:?}");
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
