//! JSON Lines catalogues: one ready definition a line, taken as it is.
//!
//! Owns: the format of a line, and the request template a line's method and route give. Must never derive a
//! name, a text, a tag or a schema.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value, json};
use url::Url;

use super::document::shown;
use super::openapi::{argument_allows_null, is_method};
use super::route::{has_dot_segment, placeholders, sent_route};
use super::sources::Compression;
use super::{
    Annotations, Body, BodyShape, Definition, Location, Member, Operation, Parameter,
    RequestTemplate, Security, Style,
};
use crate::json::kind;

/// A line is at most this many bytes (8 MiB): the budget of an answer is a fraction of it.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A line nests at most this many levels: well under the 128 at which common JSON readers stop, so that
/// whoever loads the definition can read it.
const LINE_LEVELS_MAX: usize = 100;

/// A name has at most this many characters.
const NAME_CHARS_MAX: usize = 256;

/// A route is at most this many bytes, the limit many servers have for a whole URL.
const ROUTE_BYTES_MAX: usize = 8 * 1024;

/// A batch of lines is about this many bytes: enough for every core, little beside an index.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// A catalogue is at most this many bytes unpacked (16 GiB, some ten million operations): a small
/// compressed file can unpack without end.
const CATALOGUE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// One line with its number, from 1.
pub(crate) struct Line {
    pub(crate) number: u64,
    /// None when it is longer than a line may be.
    pub(crate) text: Option<Vec<u8>>,
}

/// Reads lines in batches, whatever the compression.
pub(crate) struct Lines {
    reader: Box<dyn BufRead>,
    number: u64,
    bytes: u64,
}

impl Lines {
    /// Lines of a stream.
    pub(crate) fn new(stream: Box<dyn Read>, compression: Compression) -> std::io::Result<Self> {
        let reader: Box<dyn BufRead> = match compression {
            Compression::None => Box::new(BufReader::new(stream)),
            Compression::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(stream))),
            Compression::Zstd => {
                Box::new(BufReader::new(zstd::stream::read::Decoder::new(stream)?))
            }
        };
        Ok(Self {
            reader,
            number: 0,
            bytes: 0,
        })
    }

    /// The next lines that are not blank; empty at the end. Lines before a failure are lost with it only
    /// when they are of the same batch, so the batch comes back with the error.
    pub(crate) fn batch(&mut self) -> (Vec<Line>, Option<std::io::Error>) {
        let mut lines = Vec::new();
        let mut filled = 0;
        while filled < BATCH_BYTES {
            let line = match self.line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => return (lines, Some(error)),
            };
            let text = line.text.as_deref().unwrap_or(b"too long");
            if text.iter().any(|byte| !byte.is_ascii_whitespace()) {
                filled += text.len();
                lines.push(line);
            }
        }
        (lines, None)
    }

    fn line(&mut self) -> std::io::Result<Option<Line>> {
        let mut text = Vec::new();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let mut read = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut text)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let is_long = text.len() > LINE_BYTES_MAX;
        while is_long && text.last() != Some(&b'\n') {
            // The rest is read away piece by piece.
            text.clear();
            let more = self
                .reader
                .by_ref()
                .take(limit)
                .read_until(b'\n', &mut text)?;
            read += more;
            self.spend(more)?;
            if more == 0 {
                break;
            }
        }
        self.spend(if is_long { 0 } else { read })?;
        Ok(Some(Line {
            number: self.number,
            text: (!is_long).then_some(text),
        }))
    }

    fn spend(&mut self, bytes: usize) -> std::io::Result<()> {
        self.bytes += bytes as u64;
        if self.bytes > CATALOGUE_BYTES_MAX {
            let message = format!("it unpacks to over {CATALOGUE_BYTES_MAX} bytes; split it");
            return Err(std::io::Error::new(
                std::io::ErrorKind::FileTooLarge,
                message,
            ));
        }
        Ok(())
    }
}

/// An entry that was read.
pub(crate) struct Entry {
    pub(crate) operation: Operation,
    /// Whether it could be called but for the base URL it lacks.
    pub(crate) lacks_server: bool,
    /// Whether a key stands twice in it.
    pub(crate) has_duplicates: bool,
}

/// What is wrong with a line.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The column, from 1 and in Unicode code points, where one is to blame.
    pub(crate) column: Option<u64>,
    pub(crate) message: String,
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self {
            column: None,
            message,
        }
    }
}

/// Reads one line. `document` is the key of the catalogue.
pub(crate) fn entry(line: &Line, document: &str, base_url: Option<&Url>) -> Result<Entry, Fault> {
    let Some(text) = &line.text else {
        return Err(format!("the line is over {LINE_BYTES_MAX} bytes; shorten it").into());
    };
    let parsed = crate::json::parse(text, LINE_LEVELS_MAX).map_err(|error| {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        // What breaks off does so behind the line's end, which is nowhere in an editor.
        let until = match error.line {
            1 => text.get(..error.column).unwrap_or(text),
            _ => text.trim_ascii_end(),
        };
        let starts_character = |byte: &&u8| !matches!(byte, 0x80..=0xbf);
        Fault {
            column: Some(until.iter().filter(starts_character).count().max(1) as u64),
            message: format!("{}; correct the JSON here", error.message),
        }
    })?;
    let Value::Object(mut map) = parsed.value else {
        return Err("an entry must be an object".to_owned().into());
    };
    // Null is how many writers say "absent".
    map.retain(|_, value| !value.is_null());
    let mut entry = read(map, document, base_url)?;
    entry.has_duplicates = !parsed.duplicates.is_empty();
    Ok(entry)
}

fn read(
    mut map: Map<String, Value>,
    document: &str,
    base_url: Option<&Url>,
) -> Result<Entry, String> {
    let name = string(&mut map, "name")?.ok_or("an entry must have a name")?;
    if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return Err(format!(
            "a name has 1 to {NAME_CHARS_MAX} characters and no control characters"
        ));
    }
    let description = string(&mut map, "description")?.ok_or("an entry must have a description")?;
    let route = string(&mut map, "route")?;
    let method = string(&mut map, "method")?;
    let own_base = string(&mut map, "baseUrl")?;
    let annotations = match map.remove("annotations") {
        None => Annotations::default(),
        Some(Value::Object(hints)) => Annotations(hints),
        Some(other) => {
            return Err(format!(
                "annotations must be an object, not {}",
                kind(&other)
            ));
        }
    };
    let deprecated = match map.remove("deprecated") {
        None => false,
        Some(Value::Bool(deprecated)) => deprecated,
        Some(other) => {
            return Err(format!(
                "deprecated must be a boolean, not {}",
                kind(&other)
            ));
        }
    };
    let definition = Definition {
        name,
        description,
        input_schema: map
            .remove("inputSchema")
            .unwrap_or_else(|| json!({"type": "object"})),
        output_schema: map.remove("outputSchema"),
        annotations,
        deprecated,
    };
    let template = match (&method, &route) {
        (Some(method), Some(route)) => {
            let base_url = base(base_url, own_base.as_deref())?;
            Some(template(
                document,
                method,
                route,
                base_url,
                &definition.input_schema,
            )?)
        }
        _ => None,
    };
    Ok(Entry {
        lacks_server: template
            .as_ref()
            .is_some_and(|template| template.base_url.is_none()),
        has_duplicates: false,
        operation: Operation {
            definition,
            tags: distinct(strings(&mut map, "tags")?),
            search_terms: strings(&mut map, "searchTerms")?,
            route,
            alternate_routes: strings(&mut map, "alternateRoutes")?,
            grouped_parameters: strings(&mut map, "groupedParameters")?,
            security: Security::of_scopes(strings(&mut map, "scopes")?),
            template,
        },
    })
}

fn string(map: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match map.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("{name} must be a string, not {}", kind(&other))),
    }
}

fn strings(map: &mut Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{name} must be a list of strings");
    match map.remove(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                Value::String(text) => Ok(text),
                _ => Err(wrong()),
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

fn distinct(tags: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    tags.into_iter()
        .filter(|tag| seen.insert(tag.clone()))
        .collect()
}

/// The base URL: the operator's, else the entry's own.
fn base(operators: Option<&Url>, own: Option<&str>) -> Result<Option<String>, String> {
    let url = match (operators, own) {
        (Some(url), _) => url.clone(),
        (None, None) => return Ok(None),
        (None, Some(own)) => {
            Url::parse(own).map_err(|error| format!("the baseUrl is malformed: {error}"))?
        }
    };
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !url.username().is_empty() {
        return Err(
            "the baseUrl must be http or https with a host and without user info".to_owned(),
        );
    }
    let mut url = url;
    url.set_query(None);
    url.set_fragment(None);
    Ok(Some(url.as_str().trim_end_matches('/').to_owned()))
}

/// The template of an entry: placeholders are path parameters, the other properties travel in the query
/// where the method has no body, else as members of a JSON body.
fn template(
    document: &str,
    method: &str,
    route: &str,
    base_url: Option<String>,
    schema: &Value,
) -> Result<RequestTemplate, String> {
    if !is_method(method) {
        return Err(format!("{} is no method of HTTP", shown(method)));
    }
    if has_dot_segment(route) {
        return Err("a route has no segment `.` or `..`; write it resolved".to_owned());
    }
    let is_long = route.len() > ROUTE_BYTES_MAX;
    if is_long || !route.starts_with('/') || route.chars().any(char::is_control) {
        return Err(format!(
            "a route starts with a slash, has no control characters and is at most {ROUTE_BYTES_MAX} bytes"
        ));
    }
    let required: HashSet<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let in_path = placeholders(route);
    let in_route: HashSet<&str> = in_path.iter().copied().collect();
    let parameter = |name: &str, location, style, explode| Parameter {
        argument: name.to_owned(),
        name: name.to_owned(),
        location,
        style,
        explode,
        allow_reserved: false,
        content_type: None,
        required: location == Location::Path || required.contains(name),
        nullable: argument_allows_null(schema, name),
    };
    let mut parameters: Vec<Parameter> = in_path
        .iter()
        .map(|name| parameter(name, Location::Path, Style::Simple, false))
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = properties
        .into_iter()
        .flat_map(Map::keys)
        .filter(|name| !in_route.contains(name.as_str()));
    let method = method.to_ascii_uppercase();
    let mut body = None;
    if matches!(method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
        parameters.extend(others.map(|name| parameter(name, Location::Query, Style::Form, true)));
    } else {
        let members: Vec<Member> = others
            .map(|name| Member {
                argument: name.clone(),
                name: name.clone(),
                nullable: argument_allows_null(schema, name),
                required: required.contains(name.as_str()),
            })
            .collect();
        // Where nothing is declared anything may be sent; else only where the schema says so.
        let open = match schema.get("additionalProperties") {
            Some(Value::Bool(open)) => *open,
            Some(Value::Object(_)) => true,
            _ => properties.is_none(),
        };
        if open || !members.is_empty() {
            body = Some(Body {
                media_type: "application/json".to_owned(),
                required: members.iter().any(|member| member.required),
                shape: BodyShape::Members { members, open },
                withheld: Vec::new(),
            });
        }
    }
    Ok(RequestTemplate {
        document: document.to_owned(),
        method,
        base_url,
        route: sent_route(route).to_owned(),
        parameters,
        body,
        accepts: Vec::new(),
        carriers: Vec::new(),
        hidden: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<Operation, String> {
        let line = Line {
            number: 1,
            text: Some(text.as_bytes().to_vec()),
        };
        match entry(&line, "c", None) {
            Ok(entry) => Ok(entry.operation),
            Err(fault) => Err(fault.message),
        }
    }

    #[test]
    fn a_bare_entry_is_taken_as_it_is() {
        let operation = one(
            r#"{"name":"A b/ç","description":" x ","tags":["T","T"],"annotations":{"x":false}}"#,
        )
        .unwrap();
        assert_eq!(operation.definition.name, "A b/ç");
        assert_eq!(operation.definition.description, " x ");
        assert_eq!(operation.definition.input_schema, json!({"type": "object"}));
        assert_eq!(operation.definition.annotations.0["x"], json!(false));
        assert_eq!(operation.tags, ["T"]);
        assert!(operation.template.is_none());
    }

    #[test]
    fn method_and_route_make_a_template() {
        let text = r#"{"name":"n","description":"d","method":"METHOD","route":"/a/{id}","baseUrl":"https://h.test/v1/",
            "inputSchema":{"properties":{"id":{"type":"string"},"q":{"type":["string","null"]}},"required":["q"]},"scopes":["s"]}"#;
        let get = one(&text.replace("METHOD", "get")).unwrap();
        assert_eq!(get.security, Security::of_scopes(vec!["s".into()]));
        let get = get.template.unwrap();
        assert_eq!(
            (get.method.as_str(), get.base_url.as_deref()),
            ("GET", Some("https://h.test/v1"))
        );
        let seen: Vec<_> = get
            .parameters
            .iter()
            .map(|one| (one.name.as_str(), one.location, one.required, one.nullable))
            .collect();
        assert_eq!(
            seen,
            [
                ("id", Location::Path, true, false),
                ("q", Location::Query, true, true)
            ]
        );
        let post = one(&text.replace("METHOD", "POST"))
            .unwrap()
            .template
            .unwrap();
        assert_eq!(post.parameters.len(), 1);
        let BodyShape::Members { members, open } = post.body.unwrap().shape else {
            panic!("members");
        };
        assert_eq!((members[0].name.as_str(), open), ("q", false));
    }

    #[test]
    fn faulty_entries_say_what_is_wrong() {
        for (text, want) in [
            ("[]", "an entry must be an object"),
            ("{", "EOF while parsing"),
            (r#"{"description":"d"}"#, "an entry must have a name"),
            (r#"{"name":"n"}"#, "an entry must have a description"),
            (r#"{"name":"","description":"d"}"#, "a name has"),
            (r#"{"name":"a\nb","description":"d"}"#, "a name has"),
            (r#"{"name":5,"description":"d"}"#, "name must be a string"),
            (
                r#"{"name":"n","description":"d","tags":"t"}"#,
                "tags must be a list",
            ),
            (
                r#"{"name":"n","description":"d","tags":[1]}"#,
                "tags must be a list",
            ),
            (
                r#"{"name":"n","description":"d","annotations":[]}"#,
                "annotations must be",
            ),
            (
                r#"{"name":"n","description":"d","deprecated":"no"}"#,
                "deprecated must be",
            ),
            (
                r#"{"name":"n","description":"d","method":"G T","route":"/"}"#,
                "\"G T\" is no method",
            ),
            (
                r#"{"name":"n","description":"d","method":"GET","route":"x"}"#,
                "a route starts",
            ),
            (
                r#"{"name":"n","description":"d","method":"GET","route":"/","baseUrl":"ftp://x"}"#,
                "the baseUrl must",
            ),
        ] {
            let error = one(text).unwrap_err();
            assert!(error.starts_with(want), "{text}: {error}");
        }
        let long = format!("{{\"name\":\"{}\",\"description\":\"\"}}", "n".repeat(257));
        assert!(one(&long).is_err());
        let deep = format!(
            r#"{{"name":"n","description":"d","inputSchema":{}1{}}}"#,
            "[".repeat(100),
            "]".repeat(100)
        );
        assert!(one(&deep).unwrap_err().contains("nested too deeply"));
    }

    #[test]
    fn columns_are_characters_of_the_line() {
        for (text, column) in [
            ("x", 1),
            ("nö", 2),
            ("{\"é😀\" x}", 7),
            ("\u{feff}{\"é😀\" x}", 7),
            ("{\"a\":", 5),
            ("{\"a\":\r\n", 5),
            ("{\"é", 3),
        ] {
            let line = Line {
                number: 1,
                text: Some(text.as_bytes().to_vec()),
            };
            let fault = entry(&line, "c", None).err().unwrap();
            assert_eq!(fault.column, Some(column), "{text:?}: {fault:?}");
        }
    }

    #[test]
    fn long_and_blank_lines_cost_only_themselves() {
        let text = format!("a\n\n{}\r\n  \nb", "x".repeat(3 * LINE_BYTES_MAX));
        let mut lines =
            Lines::new(Box::new(std::io::Cursor::new(text)), Compression::None).unwrap();
        let (batch, error) = lines.batch();
        assert!(error.is_none());
        let seen: Vec<_> = batch
            .iter()
            .map(|line| (line.number, line.text.is_some()))
            .collect();
        assert_eq!(seen, [(1, true), (3, false), (5, true)]);
        assert!(lines.batch().0.is_empty());
    }
}
