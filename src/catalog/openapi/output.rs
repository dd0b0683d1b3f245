//! The output schema: which response describes the success, and its schema as an object.
//!
//! Owns: choosing the response and its media type, wrapping what is no object. A fault here never costs the
//! operation: the schema is left out with a warning. Must never read an input.

use serde_json::{Map, Value, json};

use super::media::{self, Written};
use crate::catalog::document::{Document, Target, Version};
use crate::catalog::finding::Finding;
use crate::catalog::schema::{Direction, Draft, Publisher, is_object};
use crate::json::Pointer;

/// What an operation's successes look like.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The schema; none where a success has no body, or none that JSON can describe.
    pub(super) draft: Option<Draft>,
    /// The media types of successes, as declared.
    pub(super) accepts: Vec<String>,
    /// What was odd.
    pub(super) warnings: Vec<Finding>,
}

/// Reads the responses of an operation.
pub(super) fn read(document: &Document, operation: &Map<String, Value>, at: &Pointer) -> Output {
    let mut output = Output::default();
    let Some(Value::Object(responses)) = operation.get("responses") else {
        return output;
    };
    let at = at.join("responses");
    let order = success_order(responses);
    output.accepts = accepts(document, operation, responses, &order, &at);
    let Some(&chosen) = order.first() else {
        return output;
    };
    let made = chosen_schema(document, operation, responses, chosen, &at)
        .and_then(|schema| schema.map(|schema| publish(document, &schema)).transpose());
    match made {
        Ok(draft) => output.draft = draft,
        Err(finding) => {
            output.warnings.push(Finding {
                message: format!("{}; the output schema is left out", finding.message),
                ..finding
            });
        }
    }
    output
}

/// The responses that describe success, best first: 200, 201, 202, 204, other 2xx ascending, 2XX, default.
fn success_order(responses: &Map<String, Value>) -> Vec<&str> {
    let rank = |status: &str| -> Option<u16> {
        Some(match status {
            "200" => 0,
            "201" => 1,
            "202" => 2,
            "204" => 3,
            "default" => 1_001,
            range if range.eq_ignore_ascii_case("2xx") => 1_000,
            other => {
                let code: u16 = other.parse().ok()?;
                (200..300).contains(&code).then_some(code)?
            }
        })
    };
    let mut found: Vec<(u16, &str)> = responses
        .keys()
        .filter_map(|status| Some((rank(status)?, status.as_str())))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, status)| status).collect()
}

fn accepts(
    document: &Document,
    operation: &Map<String, Value>,
    responses: &Map<String, Value>,
    order: &[&str],
    at: &Pointer,
) -> Vec<String> {
    let mut types: Vec<String> = Vec::new();
    let mut add = |media_type: &str| {
        // A hostile document may list thousands; a header holds a few.
        const TYPES_MAX: usize = 16;
        let is_sane =
            media_type.len() < 128 && media_type.bytes().all(|byte| (b' '..0x7f).contains(&byte));
        if is_sane && types.len() < TYPES_MAX && !types.iter().any(|known| known == media_type) {
            types.push(media_type.to_owned());
        }
    };
    if document.version == Version::V20 {
        produces(document, operation).into_iter().for_each(&mut add);
        return types;
    }
    for &status in order
        .iter()
        .filter(|&&status| status != "default" || order.len() == 1)
    {
        let Some(value) = responses.get(status) else {
            continue;
        };
        if let Ok((map, _)) = document.resolve_object(value, &at.join(status), "a response")
            && let Some(Value::Object(content)) = map.get("content")
        {
            content.keys().for_each(|one| add(one));
        }
    }
    types
}

fn produces<'d>(document: &'d Document, operation: &'d Map<String, Value>) -> Vec<&'d str> {
    let produces = operation
        .get("produces")
        .or_else(|| document.value.get("produces"));
    let list = produces.and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The schema of the response that was chosen, when it has one that JSON or text can be described by.
fn chosen_schema<'d>(
    document: &'d Document,
    operation: &'d Map<String, Value>,
    responses: &'d Map<String, Value>,
    status: &str,
    at: &Pointer,
) -> Result<Option<Target<'d>>, Finding> {
    let Some(value) = responses.get(status).filter(|_| status != "204") else {
        return Ok(None);
    };
    let (map, at) = document.resolve_object(value, &at.join(status), "a response")?;
    if document.version == Version::V20 {
        let types = produces(document, operation);
        let schema = map.get("schema").map(|value| Target {
            value,
            at: at.join("schema"),
        });
        let is_json = types.is_empty() || types.iter().any(|one| media::is_json_media_type(one));
        return Ok(schema.filter(|schema| {
            let resolved = document.resolve(schema.value, &schema.at);
            let name = resolved.ok().and_then(|target| target.value.get("type"));
            match name.and_then(Value::as_str) {
                Some("file") => false,
                Some("string") => true,
                _ => is_json,
            }
        }));
    }
    let Some(Value::Object(content)) = map.get("content") else {
        return Ok(None);
    };
    let at = at.join("content");
    let entry = |media_type: &str| {
        let value = content.get(media_type)?.get("schema")?;
        let at = at.join(media_type).join("schema");
        Some(Target { value, at })
    };
    let types = content.keys().map(String::as_str);
    if let Some((json, Written::Json)) = media::choose(types.clone()) {
        return Ok(entry(json));
    }
    // Other text arrives as a string.
    Ok(types
        .filter(|one| one.starts_with("text/"))
        .find_map(entry)
        .filter(|schema| {
            let resolved = document.resolve(schema.value, &schema.at);
            resolved.is_ok_and(|target| target.value.get("type") == Some(&json!("string")))
        }))
}

/// The schema as an object: itself, or wrapped as `result`.
fn publish(document: &Document, schema: &Target<'_>) -> Result<Draft, Finding> {
    let mut publisher = Publisher::new(document, Direction::Output);
    let mut root = Map::new();
    root.insert("type".into(), json!("object"));
    let inline = if is_object(document, schema.value, &schema.at) {
        publisher.inline(schema.value, &schema.at)?
    } else {
        Value::Null
    };
    if let Value::Object(own) = inline {
        root.extend(own);
        // A list of one type, or none at all, says the same.
        root.insert("type".into(), json!("object"));
    } else {
        let mut result = publisher.property(schema.value, &schema.at)?;
        if result == json!(true) {
            result = json!({});
        }
        root.insert("properties".into(), json!({"result": result}));
        root.insert("required".into(), json!(["result"]));
    }
    Ok(publisher.draft(root, &schema.at))
}
