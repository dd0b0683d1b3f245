//! What an agent sent comes back from the request. The readers here are written from the tables of the OpenAPI
//! specification ("Style Values", "Encoding Object", Swagger 2.0's collectionFormat) and from RFC 3986, 6265 and
//! 7578, and share nothing with what composes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::http::header::HeaderValue;
use sezzlee::invoke::{Request, compose};

use crate::bodies::{Part, multipart};
use crate::tools_harness::operations;

/// Where a value travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Path,
    Query,
    Header,
    Cookie,
    Form,
    Multipart,
}

/// A value with the text that stands for it on the wire.
#[derive(Debug, Clone)]
struct Scalar {
    json: Value,
    text: String,
}

/// What is sent.
#[derive(Debug, Clone)]
enum Sent {
    One(Scalar),
    List(Vec<Scalar>),
    Object(Vec<Scalar>),
}

/// What is read back, in texts.
#[derive(Debug, Clone, PartialEq)]
enum Read {
    One(String),
    List(Vec<String>),
    Object(BTreeMap<String, String>),
    Absent,
}

/// A parameter or field, with what is sent in it.
#[derive(Debug, Clone)]
struct Spec {
    place: Place,
    style: Option<&'static str>,
    explode: Option<bool>,
    reserved: bool,
    /// A part of names and keys that is no plain letter.
    odd: usize,
    sent: Sent,
}

const ODD_NAMES: [&str; 4] = ["q", "é ", "a&=", "n.\"%41"];
const ODD_KEYS: [&str; 4] = ["", " é|", "&=,", "\"%;+"];

impl Spec {
    fn name(&self, index: usize) -> String {
        match self.place {
            Place::Path => format!("p{index}"),
            Place::Header => format!("X-P{index}"),
            Place::Cookie => format!("c{index}"),
            _ => format!("{}{index}", ODD_NAMES[self.odd]),
        }
    }

    fn key(&self, index: usize, member: usize) -> String {
        let odd = match self.place {
            Place::Header | Place::Cookie => "",
            _ => ODD_KEYS[self.odd],
        };
        format!("k{index}_{member}{odd}")
    }

    /// Style and explode with the defaults of the place; none where a field's kind decides.
    fn wire(&self) -> Option<(&'static str, bool)> {
        let by_kind = matches!(self.place, Place::Form | Place::Multipart)
            && self.style.is_none()
            && self.explode.is_none()
            && !self.reserved;
        if by_kind {
            return None;
        }
        let style = self.style.unwrap_or(match self.place {
            Place::Path | Place::Header => "simple",
            _ => "form",
        });
        let explode = style == "deepObject" || self.explode.unwrap_or(style == "form");
        Some((style, explode))
    }

    fn json(&self, index: usize) -> Value {
        match &self.sent {
            Sent::One(one) => one.json.clone(),
            Sent::List(items) => items.iter().map(|item| item.json.clone()).collect(),
            Sent::Object(members) => members
                .iter()
                .enumerate()
                .map(|(member, one)| (self.key(index, member), one.json.clone()))
                .collect(),
        }
    }

    fn want(&self, index: usize) -> Read {
        let text = |one: &Scalar| one.text.clone();
        match &self.sent {
            Sent::One(one) => Read::One(text(one)),
            Sent::List(items) => Read::List(items.iter().map(text).collect()),
            Sent::Object(members) => Read::Object(
                members
                    .iter()
                    .enumerate()
                    .map(|(member, one)| (self.key(index, member), text(one)))
                    .collect(),
            ),
        }
    }

    /// The texts in their order, keys before their values.
    fn texts(&self, index: usize) -> Vec<String> {
        match &self.sent {
            Sent::One(one) => vec![one.text.clone()],
            Sent::List(items) => items.iter().map(|item| item.text.clone()).collect(),
            Sent::Object(members) => members
                .iter()
                .enumerate()
                .flat_map(|(member, one)| [self.key(index, member), one.text.clone()])
                .collect(),
        }
    }

    /// Whether nothing can stand for the value at its place.
    fn is_refused(&self, index: usize) -> bool {
        let texts = self.texts(index);
        let is_one = matches!(self.sent, Sent::One(_));
        let any = |character: char| texts.iter().any(|text| text.contains(character));
        let wire = self.wire();
        match self.place {
            Place::Path => {
                let breaks = [
                    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
                ];
                breaks.into_iter().any(any) || texts.iter().all(String::is_empty)
            }
            Place::Header => {
                let (first, last) = (&texts[0], &texts[texts.len() - 1]);
                let is_space = |c: char| c == ' ' || c == '\t';
                let control = |c: char| (c < ' ' && c != '\t') || c == '\u{7f}';
                texts.iter().any(|text| text.contains(control))
                    || (!is_one && any(','))
                    || first.starts_with(is_space)
                    || last.ends_with(is_space)
            }
            Place::Cookie => texts.iter().any(|text| text.contains(char::is_control)),
            Place::Query | Place::Form | Place::Multipart => match wire {
                Some(("spaceDelimited", false)) if !is_one => any(' '),
                Some(("pipeDelimited", false)) if !is_one => any('|'),
                Some(("form", false)) if !is_one => self.place == Place::Multipart && any(','),
                _ => false,
            },
        }
    }
}

/// Percent-decoding by RFC 3986; a plus sign is itself and must not occur, since some readers disagree.
fn decoded(text: &str) -> String {
    assert!(!text.contains(['+', ' ']), "{text}");
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte.unwrap()).to_digit(16).unwrap();
            let value = digit(rest.next()) * 16 + digit(rest.next());
            bytes.push(u8::try_from(value).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn identity(text: &str) -> String {
    text.to_owned()
}

/// The values between separators, for a list or an object (`k,v,k,v`).
fn separated(kind: &Sent, text: &str, separator: &str, decode: fn(&str) -> String) -> Read {
    match kind {
        Sent::One(_) => Read::One(decode(text)),
        Sent::List(_) => Read::List(text.split(separator).map(decode).collect()),
        Sent::Object(_) => {
            let texts: Vec<String> = text.split(separator).map(decode).collect();
            let pairs = texts
                .chunks(2)
                .map(|pair| (pair[0].clone(), pair[1].clone()));
            Read::Object(pairs.collect())
        }
    }
}

/// The members of an exploded object: `k=v` between separators.
fn members(text: &str, separator: &str, decode: fn(&str) -> String) -> Read {
    let pairs = text.split(separator).map(|pair| {
        let (key, value) = pair.split_once('=').unwrap();
        (decode(key), decode(value))
    });
    Read::Object(pairs.collect())
}

fn read_path(spec: &Spec, name: &str, segment: &str) -> Read {
    let (style, explode) = spec.wire().unwrap();
    let is_object = matches!(spec.sent, Sent::Object(_));
    match (style, explode) {
        ("simple", true) if is_object => members(segment, ",", decoded),
        ("simple", _) => separated(&spec.sent, segment, ",", decoded),
        ("label", explode) => {
            let text = segment.strip_prefix('.').unwrap();
            match (explode, is_object) {
                (true, true) => members(text, ".", decoded),
                // One value may hold dots of its own.
                (true, false) => separated(&spec.sent, text, ".", decoded),
                (false, _) => separated(&spec.sent, text, ",", decoded),
            }
        }
        ("matrix", true) if is_object => members(&segment[1..], ";", decoded),
        ("matrix", explode) => {
            let start = format!("{name}=");
            let mut pairs = segment.strip_prefix(';').unwrap().split(';');
            if explode && matches!(spec.sent, Sent::List(_)) {
                let value = |pair: &str| decoded(pair.strip_prefix(&start).unwrap());
                return Read::List(pairs.map(value).collect());
            }
            let text = pairs.next().unwrap().strip_prefix(&start).unwrap();
            assert_eq!(pairs.next(), None);
            separated(&spec.sent, text, ",", decoded)
        }
        other => panic!("{other:?}"),
    }
}

/// Reads a value out of the pairs of a query, a form or cookies; keys are decoded, values are not.
fn read_pairs(
    spec: &Spec,
    index: usize,
    pairs: &[(String, String)],
    decode: fn(&str) -> String,
    separators: [&str; 2],
) -> Read {
    let name = spec.name(index);
    let own: Vec<&str> = pairs
        .iter()
        .filter(|(key, _)| *key == name)
        .map(|(_, value)| value.as_str())
        .collect();
    let single = || {
        assert_eq!(own.len(), 1, "{name}: {pairs:?}");
        own[0]
    };
    let beginning_with = |start: String, end: &str| -> Read {
        let found = pairs.iter().filter_map(|(key, value)| {
            let key = key.strip_prefix(&start)?.strip_suffix(end)?;
            Some((key.to_owned(), decode(value)))
        });
        Read::Object(found.collect())
    };
    let Some((style, explode)) = spec.wire() else {
        // By kind: items one by one, an object as JSON.
        return match &spec.sent {
            Sent::One(_) => Read::One(decode(single())),
            Sent::List(_) => Read::List(own.into_iter().map(decode).collect()),
            Sent::Object(_) => {
                let text = decode(single());
                let value = sezzlee::json::parse(text.as_bytes(), 9).unwrap().value;
                let text = |value: &Value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let object = value.as_object().unwrap();
                Read::Object(
                    object
                        .iter()
                        .map(|(key, one)| (key.clone(), text(one)))
                        .collect(),
                )
            }
        };
    };
    match (style, explode, &spec.sent) {
        (_, _, Sent::One(_)) => Read::One(decode(single())),
        ("deepObject", _, Sent::Object(_)) => beginning_with(format!("{name}["), "]"),
        ("deepObject", _, Sent::List(_)) => {
            let list = pairs.iter().filter(|(key, _)| *key == format!("{name}[]"));
            Read::List(list.map(|(_, value)| decode(value)).collect())
        }
        (_, true, Sent::List(_)) => Read::List(own.into_iter().map(decode).collect()),
        (_, true, Sent::Object(_)) => match beginning_with(format!("k{index}_"), "") {
            Read::Object(found) => Read::Object(
                found
                    .into_iter()
                    .map(|(key, value)| (format!("k{index}_{key}"), value))
                    .collect(),
            ),
            other => other,
        },
        ("spaceDelimited", false, kind) => separated(kind, single(), separators[0], decode),
        ("pipeDelimited", false, kind) => separated(kind, single(), separators[1], decode),
        (_, false, kind) => separated(kind, single(), ",", decode),
    }
}

fn split_pairs(text: &str, separator: &str, decode: fn(&str) -> String) -> Vec<(String, String)> {
    if text.is_empty() {
        return Vec::new();
    }
    text.split(separator)
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap();
            (decode(key), value.to_owned())
        })
        .collect()
}

fn read_header(spec: &Spec, value: Option<&[u8]>) -> Read {
    let Some(value) = value else {
        return Read::Absent;
    };
    let text = std::str::from_utf8(value).unwrap();
    match (&spec.sent, spec.wire().unwrap().1) {
        (Sent::Object(_), true) => members(text, ",", identity),
        (kind, _) => separated(kind, text, ",", identity),
    }
}

fn read_back(spec: &Spec, index: usize, request: &Request) -> Read {
    let content_type = || request.headers["content-type"].to_str().unwrap();
    let body = || request.body.as_deref().unwrap_or_default();
    match spec.place {
        Place::Path => {
            let mark = format!("at{index}");
            let mut segments = request.url.path().split('/').skip_while(|one| *one != mark);
            read_path(spec, &spec.name(index), segments.nth(1).unwrap())
        }
        Place::Query => {
            let pairs = split_pairs(request.url.query().unwrap_or_default(), "&", decoded);
            read_pairs(spec, index, &pairs, decoded, ["%20", "%7C"])
        }
        Place::Header => {
            let value = request.headers.get(spec.name(index).as_str());
            read_header(spec, value.map(HeaderValue::as_bytes))
        }
        Place::Cookie => {
            assert_eq!(request.headers.get_all("cookie").iter().count(), 1);
            let text = request.headers["cookie"].to_str().unwrap();
            let pairs = split_pairs(text, "; ", decoded);
            read_pairs(spec, index, &pairs, decoded, ["%20", "%7C"])
        }
        Place::Form => {
            assert_eq!(content_type(), "application/x-www-form-urlencoded");
            let pairs = split_pairs(std::str::from_utf8(body()).unwrap(), "&", decoded);
            read_pairs(spec, index, &pairs, decoded, ["%20", "%7C"])
        }
        Place::Multipart => {
            let text = |part: Part| (part.name, String::from_utf8(part.content).unwrap());
            let parts = multipart(content_type(), body());
            let pairs: Vec<_> = parts.into_iter().map(text).collect();
            read_pairs(spec, index, &pairs, identity, [" ", "|"])
        }
    }
}

fn scalar() -> impl Strategy<Value = Scalar> {
    let text = prop_oneof![
        3 => "[,;|= &%+#/.\\[\\]\"'é\u{1F600}a0]{0,6}",
        2 => "[a-z%]{0,4}",
        1 => Just("%41%zz".to_owned()),
        1 => any::<String>(),
        1 => "[\t\r\n\u{0}\u{7f}\u{85}\u{2028} a]{0,3}",
    ];
    let text = text.prop_map(|text| Scalar {
        json: json!(text),
        text,
    });
    let literal = prop_oneof![
        Just("12345678901234567890123"),
        Just("9007199254740993"),
        Just("-0.10"),
        Just("1.000"),
        Just("0"),
        Just("true"),
        Just("false"),
    ];
    let literal = literal.prop_map(|text| Scalar {
        json: sezzlee::json::parse(text.as_bytes(), 1).unwrap().value,
        text: text.to_owned(),
    });
    prop_oneof![4 => text, 1 => literal]
}

fn spec() -> impl Strategy<Value = Spec> {
    let sent = prop_oneof![
        scalar().prop_map(Sent::One),
        prop::collection::vec(scalar(), 1..4).prop_map(Sent::List),
        prop::collection::vec(scalar(), 1..4).prop_map(Sent::Object),
    ];
    let place = prop_oneof![
        Just((
            Place::Path,
            &[Some("simple"), Some("label"), Some("matrix"), None][..]
        )),
        Just((Place::Query, QUERY_STYLES)),
        Just((Place::Header, &[Some("simple"), None][..])),
        Just((Place::Cookie, &[Some("form"), None][..])),
        // Becomes a form or a multipart body with all others of its kind.
        Just((Place::Form, QUERY_STYLES)),
        Just((Place::Form, QUERY_STYLES)),
    ];
    (
        place.prop_flat_map(|(place, styles)| (Just(place), prop::sample::select(styles))),
        any::<Option<bool>>(),
        any::<bool>(),
        0..ODD_NAMES.len(),
        sent,
    )
        .prop_map(|((place, style), explode, reserved, odd, sent)| Spec {
            place,
            style,
            explode,
            // It is said of queries and bodies only.
            reserved: reserved && matches!(place, Place::Query | Place::Form),
            odd,
            sent: without_dots(place, sent),
        })
}

const QUERY_STYLES: &[Option<&str>] = &[
    Some("form"),
    Some("spaceDelimited"),
    Some("pipeDelimited"),
    Some("deepObject"),
    None,
];

/// Dots alone would leave their place in a path and are refused; that is tested elsewhere.
fn without_dots(place: Place, mut sent: Sent) -> Sent {
    let all = match &mut sent {
        Sent::One(one) => std::slice::from_mut(one),
        Sent::List(all) | Sent::Object(all) => all,
    };
    for one in all {
        if place == Place::Path && !one.text.is_empty() && one.text.chars().all(|c| c == '.') {
            one.text.push('x');
            one.json = json!(one.text);
        }
    }
    sent
}

fn schema(sent: &Sent) -> Value {
    let plain = json!({"type": ["string", "number", "boolean"]});
    match sent {
        Sent::One(_) => plain,
        Sent::List(_) => json!({"type": "array", "items": plain}),
        Sent::Object(_) => json!({"type": "object", "additionalProperties": plain}),
    }
}

/// A document whose one operation has all of them.
fn document(specs: &[Spec]) -> Value {
    let mut route = String::new();
    let mut parameters = Vec::new();
    let (mut properties, mut encoding) = (Map::new(), Map::new());
    for (index, spec) in specs.iter().enumerate() {
        let mut how = Map::new();
        if let Some(style) = spec.style {
            how.insert("style".into(), json!(style));
        }
        if let Some(explode) = spec.explode {
            how.insert("explode".into(), json!(explode));
        }
        if spec.reserved {
            how.insert("allowReserved".into(), json!(true));
        }
        let name = spec.name(index);
        let place = match spec.place {
            Place::Path => {
                write!(route, "/at{index}/{{{name}}}").unwrap();
                "path"
            }
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
            Place::Form | Place::Multipart => {
                properties.insert(name.clone(), schema(&spec.sent));
                encoding.insert(name, Value::Object(how));
                continue;
            }
        };
        how.insert("name".into(), json!(name));
        how.insert("in".into(), json!(place));
        how.insert("required".into(), json!(place == "path"));
        how.insert("schema".into(), schema(&spec.sent));
        parameters.push(Value::Object(how));
    }
    let mut operation = json!({"operationId": "send", "parameters": parameters, "responses": {}});
    if !properties.is_empty() {
        let is_form = specs.iter().any(|spec| spec.place == Place::Form);
        let media_type = if is_form {
            "application/x-www-form-urlencoded"
        } else {
            "multipart/form-data"
        };
        let schema = json!({"type": "object", "properties": properties});
        operation["requestBody"] =
            json!({"content": {media_type: {"schema": schema, "encoding": encoding}}});
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Round trip", "version": "1"},
        "servers": [{"url": "https://round.test/api"}],
        "paths": {format!("/r{route}"): {"post": operation}},
    })
}

fn composed(document: &Value, arguments: &Map<String, Value>) -> Result<Request, String> {
    let published = operations("d.json", &document.to_string());
    let template = published[0].template.as_ref().unwrap();
    compose(template, arguments).map_err(|error| error.to_string())
}

proptest! {
    #[test]
    fn every_style_reads_back_as_it_was_sent(
        mut specs in prop::collection::vec(spec(), 1..6),
        is_multipart in any::<bool>(),
    ) {
        for spec in &mut specs {
            if is_multipart && spec.place == Place::Form {
                spec.place = Place::Multipart;
            }
        }
        let arguments: Map<String, Value> = specs
            .iter()
            .enumerate()
            .map(|(index, spec)| (spec.name(index), spec.json(index)))
            .collect();
        let request = composed(&document(&specs), &arguments);
        let refused: Vec<usize> = (0..specs.len())
            .filter(|&index| specs[index].is_refused(index))
            .collect();
        match request {
            Err(message) => prop_assert!(!refused.is_empty(), "{message}"),
            Ok(request) => {
                prop_assert!(refused.is_empty(), "{refused:?} should be refused");
                for (index, spec) in specs.iter().enumerate() {
                    prop_assert_eq!(read_back(spec, index, &request), spec.want(index), "{:?}", spec);
                }
            }
        }
    }

    #[test]
    fn collections_of_swagger_read_back_as_they_were_sent(
        place in prop::sample::select(&["path", "query", "header", "formData"][..]),
        format in prop::sample::select(&["csv", "ssv", "tsv", "pipes", "multi"][..]),
        items in prop::collection::vec(
            prop_oneof!["[a-c,| \t%&=é]{0,4}", "[a-z]{1,3}"],
            1..4,
        ),
    ) {
        let separator = match format {
            "ssv" => ' ',
            "tsv" => '\t',
            "pipes" => '|',
            _ => ',',
        };
        let is_multi = format == "multi" && (place == "query" || place == "formData");
        let parameter = json!({"name": "list", "in": place, "required": true, "type": "array",
            "collectionFormat": format, "items": {"type": "string"}});
        let document = json!({
            "swagger": "2.0", "info": {"title": "t", "version": "1"}, "host": "round.test", "schemes": ["https"],
            "paths": {(if place == "path" { "/a/{list}" } else { "/a" }): {"post": {"parameters": [parameter]}}},
        });
        let arguments = json!({ "list": items });
        let request = composed(&document, arguments.as_object().unwrap());
        let encoded = format!("%{:02X}", u32::from(separator));
        let joined = items.join(&separator.to_string());
        let holds_separator = items.iter().any(|item| item.contains(separator));
        let refused = match place {
            "path" => items.iter().all(String::is_empty) || (separator != ',' && holds_separator),
            "header" => {
                let is_space = |c: char| c == ' ' || c == '\t';
                holds_separator || joined.starts_with(is_space) || joined.ends_with(is_space)
            }
            _ => !is_multi && separator != ',' && holds_separator,
        };
        prop_assert_eq!(request.is_err(), refused, "{:?}", request);
        let Ok(request) = request else { return Ok(()) };
        // A comma stands as it is; the others may only stand encoded in a URL.
        let between = if separator == ',' { "," } else { &encoded };
        let split = |text: &str| text.split(between).map(decoded).collect::<Vec<_>>();
        let body = String::from_utf8(request.body.as_deref().unwrap_or_default().to_vec()).unwrap();
        let back = match place {
            "path" => split(request.url.path().strip_prefix("/a/").unwrap()),
            "header" => {
                let text = std::str::from_utf8(request.headers["list"].as_bytes()).unwrap();
                text.split(separator).map(str::to_owned).collect()
            }
            _ => {
                let text = if place == "query" { request.url.query().unwrap() } else { &body };
                let pairs = split_pairs(text, "&", decoded);
                prop_assert!(pairs.iter().all(|(key, _)| key == "list"));
                if is_multi {
                    pairs.iter().map(|(_, value)| decoded(value)).collect()
                } else {
                    prop_assert_eq!(pairs.len(), 1);
                    split(&pairs[0].1)
                }
            }
        };
        prop_assert_eq!(back, items);
    }

    #[test]
    fn json_bodies_read_back_as_they_were_sent(
        members in prop::collection::btree_map("[a-d é\"]{1,3}", json_value(), 0..4),
        is_whole in any::<bool>(),
    ) {
        let value: Value = members.clone().into_iter().collect();
        let schema = if is_whole {
            json!({"type": "object"})
        } else {
            let properties: Map<String, Value> = members.keys().map(|key| (key.clone(), json!({}))).collect();
            json!({"type": "object", "properties": properties})
        };
        prop_assume!(is_whole || !members.is_empty());
        let document = json!({"openapi": "3.1.0", "servers": [{"url": "https://round.test"}], "paths": {"/a": {"post": {
            "requestBody": {"required": true, "content": {"application/json": {"schema": schema}}},
        }}}});
        let arguments = if is_whole { json!({ "body": value }) } else { value.clone() };
        let request = composed(&document, arguments.as_object().unwrap()).unwrap();
        let back = sezzlee::json::parse(request.body.as_deref().unwrap(), 99).unwrap().value;
        // The texts, since equal numbers may have lost digits.
        prop_assert_eq!(back.to_string(), value.to_string());
    }

    #[test]
    fn files_read_back_as_they_were_sent(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        name in prop::option::of("[a-c\"\\\\;=é%/ ]{1,8}"),
        is_part in any::<bool>(),
    ) {
        use base64::Engine as _;
        let mut file = json!({"base64": base64::prelude::BASE64_STANDARD.encode(&bytes), "mediaType": "image/png"});
        if let Some(name) = &name {
            file["name"] = json!(name);
        }
        let binary = json!({"type": "string", "format": "binary"});
        let content = if is_part {
            json!({"multipart/form-data": {"schema": {"type": "object", "properties": {"body": binary}}}})
        } else {
            json!({"image/png": {"schema": binary}})
        };
        let document = json!({"openapi": "3.0.3", "servers": [{"url": "https://round.test"}],
            "paths": {"/a": {"post": {"requestBody": {"content": content}}}}});
        let arguments = json!({ "body": file });
        let request = composed(&document, arguments.as_object().unwrap()).unwrap();
        let content_type = request.headers["content-type"].to_str().unwrap();
        let body = request.body.as_deref().unwrap();
        if !is_part {
            prop_assert_eq!((content_type, body), ("image/png", bytes.as_slice()));
            return Ok(());
        }
        let want = Part {
            name: "body".to_owned(),
            // HTML escapes no percent sign, so a name that holds an escape reads as what it stands for.
            file_name: Some(name.unwrap_or_else(|| "file".to_owned())),
            content_type: Some("image/png".to_owned()),
            content: bytes,
        };
        prop_assert_eq!(multipart(content_type, body), [want]);
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Bool(true)),
        any::<String>().prop_map(Value::from),
        scalar().prop_map(|one| one.json),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
