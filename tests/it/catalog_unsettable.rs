//! What a caller must not set is set by no spelling: hidden arguments, members that the backend alone sets, and
//! parameters that carry credentials.

use serde_json::{Value, json};
use sezzlee::catalog::{ArgumentCuration, Hide, Operation, ReadOptions};
use sezzlee::invoke::{ArgumentFault, Limits, Request, compose_checked};

use crate::catalog::read_files;
use crate::catalog_curation::{curated, hide, object, one};

fn constant(value: Value) -> ArgumentCuration {
    hide(Hide::Constant(value))
}

/// The one operation of a document with these members beside its operation id.
fn operation(members: &Value, options: &ReadOptions) -> Operation {
    let mut own = members.clone();
    own["operationId"] = json!("doIt");
    let document = json!({
        "openapi": "3.2.0", "servers": [{"url": "https://orchard.test/api"}],
        "paths": {"/a": {"post": own}},
        "components": {"securitySchemes": {
            "inQuery": {"type": "apiKey", "in": "query", "name": "api_key"},
            "inCookie": {"type": "apiKey", "in": "cookie", "name": "zed"},
        }},
    });
    let text = document.to_string();
    let read = read_files(&["d.json"], &[("d.json", text.as_bytes())], options);
    one(&read).clone()
}

fn send(operation: &Operation, arguments: Value) -> Result<Request, ArgumentFault> {
    compose_checked(
        operation.template.as_ref().unwrap(),
        &operation.definition.input_schema,
        &object(arguments),
        Limits::default(),
    )
    .map_err(|error| error.fault)
}

fn query(name: &str, rest: Value) -> Value {
    let mut parameter = rest;
    parameter["name"] = json!(name);
    parameter["in"] = json!("query");
    parameter
}

#[test]
fn no_key_of_a_query_sets_what_is_hidden() {
    let free = json!({"schema": {"type": "object", "additionalProperties": true}});
    let deep = |schema: Value| json!({"style": "deepObject", "schema": schema});
    let members = json!({"parameters": [
        query("filter", deep(json!({}))),
        query("filter[]", json!({"schema": {"type": "string"}})),
        query("tenant", deep(json!({"type": "object"}))),
        query("ctx", free.clone()),
        query("more", free),
    ]});
    let operation = operation(
        &members,
        &curated(&[
            ("filter[]", constant(json!("safe"))),
            ("tenant", constant(json!({"id": 1}))),
            ("ctx", constant(json!({"owner": "me"}))),
        ]),
    );
    for arguments in [
        json!({"filter": ["evil"]}),
        json!({"filter": [{"a": "evil"}, "evil"]}),
        json!({"more": {"tenant": "evil"}}),
        json!({"more": {"Tenant[id]": "evil"}}),
        json!({"more": {"tenant.id": "evil"}}),
        json!({"more": {"owner": "evil"}}),
        json!({"more": {"owner[]": "evil"}}),
        json!({"more": {"OWNER.x": "evil"}}),
    ] {
        let sent = send(&operation, arguments.clone()).map(|request| request.url.to_string());
        let sent = sent.unwrap_or_default();
        assert!(
            !sent.contains("evil")
                || arguments["filter"].is_array() && !sent.contains("filter%5B%5D=evil"),
            "{arguments}: {sent}"
        );
    }
    let good = send(
        &operation,
        json!({"filter": {"a": "x"}, "more": {"b": "y"}}),
    )
    .unwrap();
    assert_eq!(
        good.url.query(),
        Some("filter%5Ba%5D=x&filter%5B%5D=safe&tenant%5Bid%5D=1&owner=me&b=y")
    );
}

#[test]
fn no_key_sets_what_carries_a_credential() {
    let free = json!({"type": "object", "additionalProperties": true});
    let of =
        |parameter: Value| operation(&json!({"parameters": [parameter]}), &ReadOptions::default());
    let exploded = of(query("more", json!({"schema": free})));
    let whole = of(json!({"name": "all", "in": "querystring", "content": {
        "application/x-www-form-urlencoded": {"schema": free}}}));
    let cookie = of(json!({"name": "more", "in": "cookie", "schema": free}));
    for key in ["api_key", "API_KEY", "api_key[]", "api_key.x"] {
        for (operation, name) in [(&exploded, "more"), (&whole, "all")] {
            let fault = send(operation, json!({name: {key: "evil"}})).unwrap_err();
            assert_eq!(fault, ArgumentFault::InvalidType, "{name} {key}");
        }
    }
    for key in ["zed", "ZED"] {
        let fault = send(&cookie, json!({"more": {key: "evil"}})).unwrap_err();
        assert!(
            matches!(
                fault,
                ArgumentFault::CookieCarrierCollision | ArgumentFault::InvalidType
            ),
            "{key}: {fault:?}"
        );
    }
    assert!(send(&exploded, json!({"more": {"key": "x"}})).is_ok());
    assert!(send(&cookie, json!({"more": {"red": "x"}})).is_ok());
}

#[test]
fn no_spelling_sets_what_only_the_backend_sets() {
    let schema = json!({"type": "object", "additionalProperties": true, "properties": {
        "owner": {"type": "string", "readOnly": true}, "x": {"type": "object", "additionalProperties": true}}});
    let body = |media_type: &str, parameters: Value| json!({"parameters": parameters, "requestBody": {"content": {media_type: {"schema": schema, "encoding": {"x": {"style": "form"}}}}}});
    let form = "application/x-www-form-urlencoded";
    let hidden = json!([query("tenant", json!({"schema": {"type": "string"}}))]);
    let options = curated(&[("tenant", constant(json!("safe")))]);
    let open_form = operation(&body(form, hidden.clone()), &options);
    let open_json = operation(&body("application/json", hidden), &options);
    for key in [
        "owner",
        "Owner",
        "owner[]",
        "owner.id",
        "TENANT",
        "tenant[a]",
    ] {
        for operation in [&open_form, &open_json] {
            let fault = send(operation, json!({key: "evil"})).unwrap_err();
            assert_eq!(fault, ArgumentFault::UnknownArgument, "{key}");
        }
        let fault = send(&open_form, json!({"x": {key: "evil"}})).unwrap_err();
        assert_eq!(fault, ArgumentFault::InvalidType, "{key} inside");
    }
    assert!(send(&open_form, json!({"free": "x", "x": {"y": "z"}})).is_ok());

    // Where a field is named like a parameter, the form is one argument.
    let named = json!([query("x", json!({"schema": {"type": "string"}}))]);
    let mut within = body(form, named);
    let wrapped = operation(&within, &ReadOptions::default());
    for key in ["owner", "OWNER[]"] {
        let fault = send(&wrapped, json!({"body": {key: "evil"}})).unwrap_err();
        assert_eq!(fault, ArgumentFault::InvalidType, "{key}");
    }
    assert!(send(&wrapped, json!({"body": {"free": "x"}})).is_ok());
    within["requestBody"]["content"][form]["schema"]["additionalProperties"] = json!(false);
    let closed = operation(&within, &ReadOptions::default());
    let fault = send(&closed, json!({"body": {"free": "x"}})).unwrap_err();
    assert_eq!(fault, ArgumentFault::UnknownArgument);
}
