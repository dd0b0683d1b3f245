//! An operation of a random document called with random arguments: composing never panics, and what is composed
//! goes to the host and to the path that the document names, with as many segments as its route has.
#![no_main]

mod support;

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::{Map, Value, json};
use sezzlee::catalog::{Operation, sent_route};
use sezzlee::invoke::{Limits, compose_checked};
use support::{random, read_checked};
use url::Url;

/// What a base path has that must survive.
const BASE: &str = "https://h.test:8443/base%20path/v1";

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let mut u = Unstructured::new(bytes);
    let Ok(document) = document(&mut u) else {
        return Corpus::Reject;
    };
    let (operations, _) = read_checked(&[("d.json", document.to_string().as_bytes())]);
    for operation in &operations {
        for _ in 0..3 {
            let Ok(arguments) = arguments(&mut u, operation) else {
                return Corpus::Keep;
            };
            call(operation, &arguments);
        }
    }
    Corpus::Keep
});

fn call(operation: &Operation, arguments: &Map<String, Value>) {
    let template = operation.template.as_ref().unwrap();
    let schema = &operation.definition.input_schema;
    let Ok(request) = compose_checked(template, schema, arguments, Limits::default()) else {
        return;
    };
    let url = &request.url;
    assert_eq!(&Url::parse(url.as_str()).unwrap(), url);
    let base = Url::parse(BASE).unwrap();
    assert_eq!(
        (
            url.scheme(),
            url.host_str(),
            url.port(),
            url.username(),
            url.password(),
            url.fragment()
        ),
        (base.scheme(), base.host_str(), base.port(), "", None, None),
        "{url}"
    );
    let rest = url.path().strip_prefix(base.path());
    let rest = rest.unwrap_or_else(|| panic!("{url} leaves {base}"));
    let route = template.route.split(['?', '#']).next().unwrap_or_default();
    assert_eq!(
        rest.split('/').count(),
        sent_route(route).split('/').count(),
        "{url} of {}: {arguments:?}",
        template.route
    );
    assert!(rest.split('/').all(|segment| !is_dots(segment)), "{url}");
    assert_eq!(request.method.as_str(), template.method);
    for (name, value) in &request.headers {
        let breaks = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0);
        assert!(
            !value.as_bytes().iter().any(|byte| breaks(byte)),
            "{name}: {value:?}"
        );
    }
}

/// Whether a server may take a segment for one that leads up or nowhere.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

fn document(u: &mut Unstructured<'_>) -> Result<Value> {
    let route = random::one(
        u,
        &[
            "/",
            "/a",
            "/a/{p}",
            "/a/{p}/b/{q}",
            "/{p}.{q}",
            "/a{p}",
            "/{p}{q}/",
            "/a/{p}?x=1",
        ],
    )?;
    let mut parameters = Vec::new();
    for name in ["p", "q"] {
        if route.contains(&format!("{{{name}}}")) {
            parameters.push(parameter(u, name, "path", &["simple", "label", "matrix"])?);
        }
    }
    for _ in 0..u.int_in_range(0..=4)? {
        let name = random::one(u, &["a", "b", "c[]", "a&b", "X-Own", "x", "ü"])?;
        parameters.push(match u.int_in_range(0..=5)? {
            0 => parameter(u, name, "header", &["simple"])?,
            1 => parameter(u, name, "cookie", &["form"])?,
            _ => parameter(
                u,
                name,
                "query",
                &["form", "spaceDelimited", "pipeDelimited", "deepObject"],
            )?,
        });
    }
    let mut operation = json!({"parameters": parameters});
    let method = random::one(u, &["get", "post", "put", "delete", "patch"])?;
    if u.arbitrary()? {
        let media = random::one(
            u,
            &[
                "application/json",
                "application/x+json",
                "application/x-www-form-urlencoded",
                "multipart/form-data",
                "text/plain",
                "application/octet-stream",
            ],
        )?;
        let required = u.arbitrary::<bool>()?;
        operation["requestBody"] =
            json!({"required": required, "content": {media: {"schema": random::schema(u, 3)?}}});
    }
    Ok(json!({
        "openapi": random::one(u, &["3.0.3", "3.1.0", "3.2.0"])?,
        "servers": [{"url": BASE}],
        "paths": {route: {method: operation}},
    }))
}

fn parameter(u: &mut Unstructured<'_>, name: &str, place: &str, styles: &[&str]) -> Result<Value> {
    let mut parameter =
        json!({"name": name, "in": place, "required": place == "path" || u.arbitrary()?});
    let schema = match u.int_in_range(0..=3)? {
        0 => json!({"type": "array", "items": {}}),
        1 => json!({"type": "object"}),
        2 => json!({"type": "string", "nullable": true}),
        _ => random::schema(u, 2)?,
    };
    if u.ratio(1, 8)? {
        parameter["content"] = json!({"application/json": {"schema": schema}});
        return Ok(parameter);
    }
    parameter["schema"] = schema;
    parameter["style"] = json!(random::one(u, styles)?);
    parameter["explode"] = json!(u.arbitrary::<bool>()?);
    parameter["allowReserved"] = json!(u.arbitrary::<bool>()?);
    Ok(parameter)
}

fn arguments(u: &mut Unstructured<'_>, operation: &Operation) -> Result<Map<String, Value>> {
    let mut arguments = Map::new();
    let declared = operation.definition.input_schema["properties"].as_object();
    for name in declared.into_iter().flat_map(Map::keys) {
        if u.ratio(4, 5)? {
            arguments.insert(name.clone(), random::value(u, 3)?);
        }
    }
    if u.ratio(1, 10)? {
        arguments.insert(u.arbitrary::<&str>()?.to_owned(), random::value(u, 2)?);
    }
    Ok(arguments)
}
