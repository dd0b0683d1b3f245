//! Curation of the fields of forms and multipart bodies, of texts and of files.

use serde_json::{Value, json};
use sezzlee::catalog::{ArgumentCuration, Hide, Operation};
use sezzlee::invoke::{ArgumentFault, Limits, compose_checked};

use crate::catalog::read_files;
use crate::catalog_curation::{curated, hide, object, one, properties, rename};

fn constant(value: Value) -> ArgumentCuration {
    hide(Hide::Constant(value))
}

/// What is said of arguments holds for every kind of body.
#[test]
fn fields_of_forms_texts_and_files_are_curated_like_members() {
    let body = |media_type: &str, schema: Value| {
        json!({"paths": {"/a": {"post": {"operationId": "doIt", "requestBody": {"required": true,
            "content": {media_type: {"schema": schema}}}}}},
            "openapi": "3.1.0", "servers": [{"url": "https://orchard.test/api"}]})
    };
    let fields = json!({"type": "object", "required": ["kind", "file"], "properties": {
        "kind": {"type": "string"}, "file": {"type": "string", "contentMediaType": "image/png"}, "note": {"type": "string"}}});
    let read_as = |document: &Value, curations: &[(&str, ArgumentCuration)]| {
        let text = document.to_string();
        read_files(
            &["d.json"],
            &[("d.json", text.as_bytes())],
            &curated(curations),
        )
    };
    let sent = |operation: &Operation, arguments: Value| {
        let request = compose_checked(
            operation.template.as_ref().unwrap(),
            &operation.definition.input_schema,
            &object(arguments),
            Limits::default(),
        );
        request
            .map(|request| String::from_utf8_lossy(&request.body.unwrap_or_default()).into_owned())
    };
    let form = read_as(
        &body(
            "application/x-www-form-urlencoded",
            json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, "note": {"type": "string"}}}),
        ),
        &[("kind", constant(json!("k"))), ("note", rename("said"))],
    );
    let form = one(&form);
    assert_eq!(properties(form), ["said"]);
    assert_eq!(
        sent(form, json!({"said": "x&kind=y"})).unwrap(),
        "kind=k&note=x%26kind%3Dy"
    );
    for taken in ["kind", "note", "kind[]"] {
        let error = sent(form, json!({taken: "y"})).unwrap_err();
        assert_eq!(error.fault, ArgumentFault::UnknownArgument, "{taken}");
    }

    let parts = read_as(
        &body("multipart/form-data", fields.clone()),
        &[
            ("kind", rename("what")),
            ("file", constant(json!({"base64": "iVBO", "name": "x.png"}))),
        ],
    );
    let parts = one(&parts);
    assert_eq!(properties(parts), ["what", "note"]);
    let whole = sent(parts, json!({"what": "logo"}));
    assert!(
        whole.is_ok_and(|body| body.contains("name=\"kind\"\r\n\r\nlogo")
            && body.contains("filename=\"x.png\""))
    );
    let wrong = read_as(
        &body("multipart/form-data", fields),
        &[("file", constant(json!("no file")))],
    );
    assert!(wrong.report.is_fatal(), "{:?}", wrong.findings());

    let text = body("text/plain", json!({"type": "string"}));
    let curations = [("body", constant(json!("fixed")))];
    let fixed = read_as(&text, &curations);
    assert_eq!(sent(one(&fixed), json!({})).unwrap(), "fixed");
    assert!(
        read_as(&text, &[("body", constant(json!(5)))])
            .report
            .is_fatal()
    );
    let bytes = body("application/octet-stream", json!({}));
    let fixed = read_as(&bytes, &[("body", constant(json!({"text": "raw"})))]);
    assert_eq!(sent(one(&fixed), json!({})).unwrap(), "raw");
    assert!(read_as(&bytes, &curations).report.is_fatal());
}
