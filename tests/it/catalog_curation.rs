//! Curation, variants, overrides, trust and selection: from what is said to what is published and sent.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sezzlee::catalog::{
    Amendment, ArgumentCuration, Curations, DocumentSettings, HiddenValue, Hide, Operation,
    OperationOverride, Policy, Prefix, ReadOptions, SelectionDecision, SelectionRule, Variant,
};
use sezzlee::invoke::{ArgumentFault, Identity, Limits, compose_checked, compose_for};

use crate::catalog::{Outcome, openapi, read_files, read_with};
use crate::catalog_schemas::check_published;

/// `POST /t/{id}` with an argument in every place, and a body that is open.
fn document(extension: &Value) -> Value {
    let parameter = |place: &str, name: &str, required: bool| json!({"name": name, "in": place, "required": required, "schema": {"type": "string"}});
    let mut document = openapi(&json!({"/t/{id}": {"post": {
        "operationId": "doIt",
        "parameters": [
            parameter("path", "id", true),
            parameter("query", "q", false),
            parameter("query", "tenant", true),
            parameter("header", "X-Trace", false),
            {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
            {"name": "more", "in": "query", "style": "form", "explode": true, "schema": {"type": "object"}},
        ],
        "requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "required": ["owner"], "additionalProperties": true,
            "properties": {
                "owner": {"$ref": "#/components/schemas/Owner"},
                "qty": {"type": ["integer", "null"]},
                "part": {"$ref": "#/components/schemas/Part"},
            },
        }}}},
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Owner"}}}}},
        "x-sezzlee": extension,
    }}}));
    document["openapi"] = json!("3.1.0");
    document["components"] = json!({"schemas": {
        "Owner": {"type": "object", "properties": {"name": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Owner"}}},
        "Part": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Part"}}},
    }});
    document
}

pub(crate) fn hide(hide: Hide) -> ArgumentCuration {
    ArgumentCuration {
        hide: Some(hide),
        ..ArgumentCuration::default()
    }
}

pub(crate) fn rename(to: &str) -> ArgumentCuration {
    ArgumentCuration {
        rename: Some(to.into()),
        ..ArgumentCuration::default()
    }
}

fn curations(all: &[(&str, ArgumentCuration)]) -> Curations {
    let each = all.iter().cloned();
    each.map(|(name, one)| (name.to_owned(), one)).collect()
}

fn amended(amendment: Amendment) -> ReadOptions {
    ReadOptions {
        documents: vec![DocumentSettings {
            source: "d.json".into(),
            operations: vec![OperationOverride {
                operation_id: Some("doIt".into()),
                amendment,
                ..OperationOverride::default()
            }],
            ..DocumentSettings::default()
        }],
        ..ReadOptions::default()
    }
}

pub(crate) fn curated(all: &[(&str, ArgumentCuration)]) -> ReadOptions {
    amended(Amendment {
        arguments: curations(all),
        ..Amendment::default()
    })
}

fn read(options: &ReadOptions) -> Outcome {
    let text = document(&json!({})).to_string();
    read_files(&["d.json"], &[("d.json", text.as_bytes())], options)
}

#[track_caller]
pub(crate) fn one(read: &Outcome) -> &Operation {
    assert!(!read.report.is_fatal(), "{:?}", read.report.diagnostics);
    let [operation] = read.operations.as_slice() else {
        panic!("{:?}", read.findings());
    };
    check_published(operation);
    operation
}

pub(crate) fn properties(operation: &Operation) -> Vec<&str> {
    let properties = operation.definition.input_schema["properties"].as_object();
    properties.unwrap().keys().map(String::as_str).collect()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

fn send(operation: &Operation, arguments: Value) -> Result<(String, Value), ArgumentFault> {
    let request = compose_checked(
        operation.template.as_ref().unwrap(),
        &operation.definition.input_schema,
        &object(arguments),
        Limits::default(),
    );
    let request = request.map_err(|error| error.fault)?;
    let body = request
        .body
        .map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    let url = request.url.to_string();
    Ok((url.replace("https://orchard.test/api", ""), body))
}

#[test]
fn a_renamed_argument_is_known_by_its_new_name_only() {
    let read = read(&curated(&[
        (
            "q",
            ArgumentCuration {
                description: Some("What to look for.".into()),
                ..rename("query")
            },
        ),
        ("owner", rename("who")),
        ("filter", rename("only")),
        ("id", rename("order")),
    ]));
    let operation = one(&read);
    assert_eq!(
        properties(operation),
        [
            "order", "query", "tenant", "X-Trace", "only", "more", "who", "qty", "part"
        ],
        "in their places"
    );
    let schema = &operation.definition.input_schema;
    assert_eq!(schema["required"], json!(["order", "tenant", "who"]));
    assert_eq!(
        schema["properties"]["query"]["description"],
        "What to look for."
    );
    assert_eq!(operation.grouped_parameters, ["only"]);
    let given = json!({"order": "7", "query": "x", "tenant": "t", "only": {"a": "1"}, "who": {"name": "n"}});
    assert_eq!(
        send(operation, given),
        Ok((
            "/t/7?q=x&tenant=t&filter[a]=1"
                .replace('[', "%5B")
                .replace(']', "%5D"),
            json!({"owner": {"name": "n"}})
        ))
    );
    for old in ["q", "owner", "filter", "id"] {
        let mut given = json!({"order": "7", "tenant": "t", "who": {}});
        given[old] = json!("x");
        assert_eq!(
            send(operation, given),
            Err(ArgumentFault::UnknownArgument),
            "{old}"
        );
    }
}

#[test]
fn names_may_be_swapped_and_those_of_hidden_arguments_taken() {
    let read = read(&curated(&[
        ("q", rename("tenant")),
        ("tenant", rename("q")),
        ("qty", hide(Hide::Constant(json!(5)))),
        ("part", rename("qty")),
        ("X-Trace", rename("hidden:qty")),
    ]));
    let operation = one(&read);
    let given = json!({"id": "1", "tenant": "a", "q": "b", "qty": {"x": 1}, "owner": {}, "hidden:qty": "trace"});
    assert_eq!(
        send(operation, given),
        Ok((
            "/t/1?q=a&tenant=b".to_owned(),
            json!({"owner": {}, "qty": 5, "part": {"x": 1}})
        ))
    );
}

#[test]
fn a_hidden_argument_is_nowhere_and_its_value_is_sent() {
    let digits = serde_json::from_str::<Value>("12345678901234567890.10").unwrap();
    let read = read(&curated(&[
        ("tenant", hide(Hide::Constant(json!("acme & co")))),
        (
            "owner",
            hide(Hide::Constant(json!({"name": "me", "n": digits}))),
        ),
        ("q", hide(Hide::Omit(true))),
        ("filter", hide(Hide::Omit(true))),
        ("part", hide(Hide::Omit(true))),
    ]));
    let operation = one(&read);
    assert_eq!(properties(operation), ["id", "X-Trace", "more", "qty"]);
    let text = serde_json::to_string(&operation.definition).unwrap();
    for gone in ["tenant", "acme", "Part", "\"q\""] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert!(
        operation.definition.input_schema.get("$defs").is_none(),
        "what only hidden arguments needed is gone"
    );
    assert!(
        operation.definition.output_schema.is_some(),
        "curation never reaches the output"
    );
    let search = operation.search_text();
    assert!(
        search
            .parameters
            .iter()
            .all(|text| !text.contains("tenant") && !text.contains("filter"))
    );
    let sent = send(operation, json!({"id": "1"})).unwrap();
    assert_eq!(sent.0, "/t/1?tenant=acme%20%26%20co");
    assert_eq!(
        sent.1.to_string(),
        r#"{"owner":{"name":"me","n":12345678901234567890.10}}"#
    );
    // Stored and read back, digits and all.
    let stored = serde_json::to_string(operation).unwrap();
    assert_eq!(
        serde_json::from_str::<Operation>(&stored).unwrap(),
        *operation
    );
}

/// Whatever spelling a caller finds, a hidden argument stays what the operator said.
#[test]
fn no_spelling_sets_a_hidden_argument() {
    let read = read(&curated(&[
        ("tenant", hide(Hide::Constant(json!("acme")))),
        ("owner", hide(Hide::Constant(json!("me")))),
        ("qty", hide(Hide::Omit(true))),
        ("q", hide(Hide::Omit(true))),
    ]));
    let operation = one(&read);
    let inner: Vec<String> = operation
        .template
        .as_ref()
        .unwrap()
        .hidden
        .iter()
        .map(|one| one.argument.clone())
        .collect();
    assert_eq!(inner.len(), 4);
    let mut spellings: Vec<String> = inner;
    for name in ["tenant", "owner", "qty", "q"] {
        for spelled in [
            name.to_owned(),
            name.to_uppercase(),
            format!("{name}[a]"),
            format!("{name}[]"),
            format!("{name}.a"),
            format!("{}[0]", name.to_uppercase()),
        ] {
            spellings.push(spelled);
        }
    }
    for spelled in &spellings {
        let mut given = json!({"id": "1"});
        given[spelled] = json!("evil");
        assert_eq!(
            send(operation, given),
            Err(ArgumentFault::UnknownArgument),
            "{spelled}"
        );
        // As a key of an exploded object beside the parameters.
        if ["tenant", "q"].iter().any(|name| {
            spelled
                .to_lowercase()
                .split(['[', '.'])
                .next()
                .is_some_and(|stem| stem == *name)
        }) && !spelled.contains('.')
        {
            let given = json!({"id": "1", "more": {spelled: "evil"}});
            assert_eq!(
                send(operation, given),
                Err(ArgumentFault::InvalidType),
                "{spelled}"
            );
        }
    }
    // Other further members still travel.
    let sent = send(operation, json!({"id": "1", "other": 1})).unwrap();
    assert_eq!(sent.1, json!({"owner": "me", "other": 1}));
}

#[test]
fn values_of_the_caller_are_sent_or_the_call_is_refused_without_a_word_of_them() {
    let read = read(&curated(&[
        ("tenant", hide(Hide::Claim("org".into()))),
        ("X-Trace", hide(Hide::Header("X-Request-Trace".into()))),
    ]));
    let operation = one(&read);
    let template = operation.template.as_ref().unwrap();
    let call = |identity: &Identity| {
        let arguments = object(json!({"id": "1", "owner": {}}));
        compose_for(
            template,
            &operation.definition.input_schema,
            &arguments,
            Limits::default(),
            identity,
        )
    };
    let known = Identity {
        claims: object(json!({"org": "acme"})),
        headers: [("x-request-trace".to_owned(), "t1".to_owned())].into(),
    };
    let request = call(&known).unwrap();
    assert_eq!(request.url.query(), Some("tenant=acme"));
    assert_eq!(request.headers["x-trace"], "t1");
    let no_header = Identity {
        headers: BTreeMap::new(),
        ..known.clone()
    };
    let null = Identity {
        claims: object(json!({"org": null})),
        ..known.clone()
    };
    let list = Identity {
        claims: object(json!({"org": {"a": [1]}})),
        ..known.clone()
    };
    let broken = Identity {
        headers: [("x-request-trace".to_owned(), "a\r\nb".to_owned())].into(),
        ..known
    };
    let missing = ArgumentFault::DeferredValueMissing;
    let invalid = ArgumentFault::DeferredValueInvalid;
    for (identity, fault) in [
        (Identity::default(), missing),
        (no_header, missing),
        (null, missing),
        (list, invalid),
        (broken, invalid),
    ] {
        let error = call(&identity).unwrap_err();
        assert_eq!(error.fault, fault, "{error:?}");
        assert_eq!(error.fields, []);
        for secret in ["tenant", "org", "X-Trace", "hidden", "Request"] {
            assert!(!error.message.contains(secret), "{}", error.message);
        }
    }
}

#[test]
fn a_whole_body_can_be_hidden() {
    let document = openapi(&json!({"/a": {"post": {"operationId": "doIt",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "array"}}}}}}}));
    let read = read_with(
        &document,
        &curated(&[("body", hide(Hide::Constant(json!([1, 2]))))]),
    );
    let operation = one(&read);
    assert_eq!(properties(operation), [""; 0]);
    assert_eq!(
        send(operation, json!({})),
        Ok(("/a".to_owned(), json!([1, 2])))
    );
    assert_eq!(
        send(operation, json!({"body": []})),
        Err(ArgumentFault::UnknownArgument)
    );
}

#[test]
fn the_operators_mistakes_refuse_the_catalogue() {
    for (all, code) in [
        (
            vec![("tenant", hide(Hide::Omit(true)))],
            "hidden_required_omitted",
        ),
        (
            vec![("owner", hide(Hide::Omit(true)))],
            "hidden_required_omitted",
        ),
        (
            vec![("id", hide(Hide::Omit(true)))],
            "hidden_required_omitted",
        ),
        (vec![("nothing", rename("x"))], "unknown_curated_argument"),
        (vec![("q", rename("tenant"))], "curation_collision"),
        (
            vec![("q", rename("x")), ("qty", rename("x"))],
            "curation_collision",
        ),
        (vec![("q", rename(""))], "invalid_curation"),
        (vec![("q", rename("a\nb"))], "invalid_curation"),
        (vec![("q", rename(&"x".repeat(129)))], "invalid_curation"),
        (vec![("q", hide(Hide::Omit(false)))], "invalid_curation"),
        (
            vec![("q", hide(Hide::Claim(" ".into())))],
            "invalid_curation",
        ),
        (
            vec![("q", hide(Hide::Header("Authorization".into())))],
            "invalid_curation",
        ),
        (
            vec![("q", hide(Hide::Header("a b".into())))],
            "invalid_curation",
        ),
        (
            vec![("q", hide(Hide::Constant(Value::Null)))],
            "invalid_curation",
        ),
        (
            vec![("q", hide(Hide::Constant(json!([[1]]))))],
            "invalid_curation",
        ),
        (
            vec![("id", hide(Hide::Constant(json!(".."))))],
            "invalid_curation",
        ),
        (
            vec![("X-Trace", hide(Hide::Constant(json!("a\nb"))))],
            "invalid_curation",
        ),
        (
            vec![("owner", hide(Hide::Constant(Value::Null)))],
            "invalid_curation",
        ),
        (
            vec![(
                "q",
                ArgumentCuration {
                    hide: Some(Hide::Omit(true)),
                    ..rename("x")
                },
            )],
            "invalid_curation",
        ),
    ] {
        let read = read(&curated(&all));
        assert_eq!(
            read.findings(),
            [
                format!("fatal {code} /paths/~1t~1{{id}}/post"),
                "warning no_operations ".to_owned()
            ],
            "{all:?}"
        );
        assert_eq!(read.report.counts.dropped, 1);
    }
    // Null where the schema allows it, and an object where brackets write it.
    for good in [
        ("qty", Value::Null),
        ("filter", json!({"a": {"b": 1}})),
        ("q", json!(["a", 1])),
    ] {
        let (name, value) = good;
        let read = read(&curated(&[(name, hide(Hide::Constant(value)))]));
        send(one(&read), json!({"id": "1", "owner": {}, "tenant": "t"})).unwrap();
    }
}

/// What a document says of itself must not stop the others.
#[test]
fn a_documents_mistakes_cost_its_operation() {
    let of = |arguments: Value| {
        let document = document(&json!({"arguments": arguments}));
        read_with(&document, &ReadOptions::default())
    };
    for (arguments, want) in [
        (
            json!({"tenant": {"hide": {"omit": true}}}),
            "dropped hidden_required_omitted /paths/~1t~1{id}/post",
        ),
        (
            json!({"q": {"rename": "tenant"}}),
            "dropped curation_collision /paths/~1t~1{id}/post",
        ),
        (
            json!({"q": {"renamed": "x"}}),
            "dropped malformed /paths/~1t~1{id}/post/x-sezzlee/arguments/q",
        ),
        (
            json!({"q": {"hide": {"claim": "a", "omit": true}}}),
            "dropped malformed /paths/~1t~1{id}/post/x-sezzlee/arguments/q/hide",
        ),
        (
            json!([]),
            "dropped malformed /paths/~1t~1{id}/post/x-sezzlee/arguments",
        ),
    ] {
        let read = of(arguments.clone());
        let found = read.findings();
        assert!(found[0].starts_with(want), "{arguments}: {found:?}");
        assert_eq!(read.report.counts.dropped, 1, "{arguments}");
        assert!(!read.report.is_fatal());
    }
    let read = of(json!({"nothing": {"rename": "x"}, "q": {"rename": "y"}}));
    assert_eq!(
        read.findings(),
        ["warning unknown_curated_argument /paths/~1t~1{id}/post"]
    );
    assert!(properties(one(&read)).contains(&"y"));
}

#[test]
fn only_trusted_documents_read_the_caller_or_decide_who_calls() {
    let document = document(&json!({
        "name": "theirs", "searchTerms": ["word"], "hints": {"readOnlyHint": true},
        "arguments": {"tenant": {"hide": {"claim": "org"}}, "q": {"hide": {"constant": "fixed"}}},
        "variants": [],
        "scopes": ["a", "b"],
    }));
    let untrusted = read_with(&document, &ReadOptions::default());
    let place = "/paths/~1t~1{id}/post/x-sezzlee";
    assert_eq!(
        untrusted.findings(),
        [
            format!("warning untrusted_extension {place}/arguments/tenant/hide/claim"),
            format!("warning untrusted_extension {place}/scopes"),
        ]
    );
    let operation = one(&untrusted);
    assert_eq!(operation.definition.name, "theirs");
    assert!(properties(operation).contains(&"tenant"));
    assert!(!properties(operation).contains(&"q"));
    assert!(operation.security.alternatives.is_empty());

    let options = ReadOptions {
        documents: vec![DocumentSettings {
            source: "d.json".into(),
            trust: Some(true),
            ..DocumentSettings::default()
        }],
        ..ReadOptions::default()
    };
    let trusted = read_with(&document, &options);
    assert_eq!(trusted.findings(), [""; 0]);
    let operation = one(&trusted);
    assert!(!properties(operation).contains(&"tenant"));
    let hidden = &operation.template.as_ref().unwrap().hidden;
    assert!(
        hidden
            .iter()
            .any(|one| one.value == HiddenValue::Claim("org".into()))
    );
    assert_eq!(operation.security.alternatives[0][0].scopes, ["a", "b"]);
    // A trusted document's mistakes are the operator's.
    let wrong = self::document(&json!({"arguments": {"tenant": {"hide": {"omit": true}}}}));
    assert!(read_with(&wrong, &options).report.is_fatal());
}

#[test]
fn what_is_not_carried_out_is_said() {
    let policy = |policy: Policy| {
        read(&amended(Amendment {
            policy,
            ..Amendment::default()
        }))
    };
    let approval = policy(Policy {
        requires_approval: Some(true),
        ..Policy::default()
    });
    assert_eq!(approval.operations.len(), 0, "never published without one");
    assert!(approval.findings()[0].starts_with("dropped not_carried_out"));
    let audience = policy(Policy {
        audience: Some("platform-admin".into()),
        requires_approval: Some(false),
        ..Policy::default()
    });
    assert_eq!(audience.operations.len(), 1);
    assert!(audience.findings()[0].starts_with("warning not_carried_out"));
}

#[test]
fn overrides_prevail_over_the_document() {
    let document = document(&json!({
        "name": "theirs", "description": "Theirs.", "tags": ["theirs"], "searchTerms": ["theirs"],
        "ignore": true, "hints": {"openWorldHint": true}, "arguments": {"q": {"rename": "theirs"}},
    }));
    let options = amended(Amendment {
        name: Some("Mine.1".into()),
        description: Some("Mine.".into()),
        tags: Some(vec!["mine".into()]),
        search_terms: vec!["mine".into()],
        ignore: Some(false),
        hints: [("openWorldHint".to_owned(), false)].into(),
        arguments: curations(&[("q", rename("mine"))]),
        ..Amendment::default()
    });
    let read = read_with(&document, &options);
    let operation = one(&read);
    assert_eq!(read.findings(), [""; 0]);
    assert_eq!(operation.definition.name, "Mine.1");
    assert_eq!(operation.definition.description, "Mine.");
    assert_eq!(operation.tags, ["mine"]);
    assert_eq!(operation.search_terms, ["theirs", "mine"]);
    assert!(!operation.definition.annotations.holds("openWorldHint"));
    assert!(properties(operation).contains(&"mine"));
}

#[test]
fn an_operation_may_be_several_tools() {
    let variant = |name: &str, arguments: &[(&str, ArgumentCuration)]| Variant {
        name: name.into(),
        description: (name == "small").then(|| "A small one.".to_owned()),
        arguments: curations(arguments),
    };
    let options = amended(Amendment {
        description: Some("Any.".into()),
        arguments: curations(&[("q", rename("query")), ("tenant", rename("org"))]),
        variants: vec![
            variant(
                "small",
                &[
                    ("qty", hide(Hide::Constant(json!(1)))),
                    ("tenant", hide(Hide::Constant(json!("t")))),
                ],
            ),
            variant("large", &[]),
        ],
        ..Amendment::default()
    });
    let read = read(&options);
    assert_eq!(read.findings(), [""; 0]);
    assert_eq!(read.names(), ["small", "large"]);
    let counts = read.report.counts;
    assert_eq!(
        (counts.found, counts.selected, counts.published),
        (1, 1, 1),
        "operations are counted, not tools"
    );
    let (small, large) = (read.named("small"), read.named("large"));
    assert_eq!(small.definition.description, "A small one.");
    assert_eq!(large.definition.description, "Any.");
    assert!(properties(small).contains(&"query") && properties(large).contains(&"org"));
    assert!(!properties(small).contains(&"qty") && !properties(small).contains(&"org"));
    assert_eq!(
        small.definition.output_schema,
        large.definition.output_schema
    );
    let sent = send(small, json!({"id": "1", "owner": {}})).unwrap();
    assert_eq!(
        sent,
        ("/t/1?tenant=t".to_owned(), json!({"owner": {}, "qty": 1}))
    );

    // Names of the operator's that meet: each other's, or another operation's.
    let twice = amended(Amendment {
        variants: vec![variant("same", &[]), variant("same", &[])],
        ..Amendment::default()
    });
    assert!(self::read(&twice).report.is_fatal());
    let mut two = document(&json!({}));
    two["paths"]["/other"] = json!({"get": {"operationId": "small"}});
    let read = read_with_variants(&two, &options);
    assert!(read.report.is_fatal(), "an override that collides is fatal");
}

fn read_with_variants(document: &Value, options: &ReadOptions) -> Outcome {
    let text = document.to_string();
    read_files(&["d.json"], &[("d.json", text.as_bytes())], options)
}

#[test]
fn a_documents_variants_are_published_and_collisions_cost_only_them() {
    let document = document(&json!({"variants": [
        {"name": "one", "arguments": {"q": {"hide": {"constant": "1"}}}},
        {"name": "two", "description": "Two.", "arguments": {"tenant": {"hide": {"header": "X-Org"}}}},
    ]}));
    let read = read_with_variants(&document, &ReadOptions::default());
    assert_eq!(read.names(), ["one", "two"]);
    assert!(properties(read.named("two")).contains(&"tenant"));
    assert_eq!(
        read.findings(),
        [
            "warning untrusted_extension /paths/~1t~1{id}/post/x-sezzlee/variants/1/arguments/tenant/hide/header"
        ]
    );
    let same = self::document(&json!({"variants": [{"name": "one"}, {"name": "one"}]}));
    let read = read_with_variants(&same, &ReadOptions::default());
    assert!(!read.report.is_fatal());
    assert_eq!(read.operations.len(), 1);
    assert_eq!(read.report.counts.published, 1);
}

#[test]
fn what_matches_nothing_is_told_with_its_words() {
    let rule = |route: &str| SelectionRule {
        route: Some(route.into()),
        method: None,
        tag: None,
        operation_id: None,
        decision: SelectionDecision::Exclude,
    };
    let mut options = amended(Amendment::default());
    options.documents[0].operations[0].operation_id = Some("lost".into());
    options.documents[0].selection = vec![rule("/own")];
    options.documents.push(DocumentSettings {
        source: "gone.json".into(),
        ..DocumentSettings::default()
    });
    options.selection = vec![rule("/all"), rule("/t/never/**")];
    options.settings_name = "sezzlee.toml".into();
    let read = read(&options);
    let told: Vec<String> = read
        .report
        .diagnostics
        .iter()
        .map(|one| format!("{} {} {}", one.document, one.code, one.message))
        .collect();
    for part in ["lost", "route \"/own\"", "gone.json", "route \"/all\""] {
        assert_eq!(
            told.iter().filter(|one| one.contains(part)).count(),
            1,
            "{part}: {told:#?}"
        );
    }
    assert!(told.iter().all(|one| one.contains("unused_setting")));
    assert_eq!(
        told.iter()
            .filter(|one| one.starts_with("sezzlee.toml "))
            .count(),
        3
    );
    assert_eq!(read.report.counts.published, 1);
}

#[test]
fn documents_have_their_own_servers_keys_and_rules() {
    let document = json!({"openapi": "3.0.0", "servers": [{"url": "https://{region}.test", "variables": {"region": {"default": "us"}}}],
        "paths": {"/a": {"get": {"operationId": "a"}}, "/b": {"get": {"operationId": "b"}}}});
    let text = document.to_string();
    let files = [("x.json", text.as_bytes()), ("y.json", text.as_bytes())];
    let options = ReadOptions {
        prefix: Prefix::Always,
        documents: vec![
            DocumentSettings {
                source: "x.json".into(),
                key: Some("left".into()),
                base_url: Some("http://localhost:1/v".parse().unwrap()),
                selection: vec![SelectionRule {
                    route: None,
                    method: None,
                    tag: None,
                    operation_id: Some("b".into()),
                    decision: SelectionDecision::Exclude,
                }],
                ..DocumentSettings::default()
            },
            DocumentSettings {
                source: "y.json".into(),
                server_variables: [("region".to_owned(), "eu".to_owned())].into(),
                ..DocumentSettings::default()
            },
        ],
        ..ReadOptions::default()
    };
    let read = read_files(&["x.json", "y.json"], &files, &options);
    assert_eq!(read.names(), ["left_a", "y_a", "y_b"]);
    let base = |name: &str| read.named(name).template.as_ref().unwrap().base_url.clone();
    assert_eq!(base("left_a").as_deref(), Some("http://localhost:1/v"));
    assert_eq!(base("y_a").as_deref(), Some("https://eu.test"));
}

#[test]
fn entries_of_json_lines_have_a_base_url_and_no_other_settings() {
    let line = br#"{"name":"n","description":"d","method":"GET","route":"/a"}"#;
    let options = ReadOptions {
        documents: vec![DocumentSettings {
            source: "d.jsonl".into(),
            base_url: Some("http://localhost:1/v".parse().unwrap()),
            trust: Some(true),
            ..DocumentSettings::default()
        }],
        ..ReadOptions::default()
    };
    let read = read_files(&["d.jsonl"], &[("d.jsonl", line)], &options);
    assert_eq!(read.findings(), ["warning unused_setting "]);
    let template = read.operations[0].template.as_ref().unwrap();
    assert_eq!(template.base_url.as_deref(), Some("http://localhost:1/v"));
}

/// What is said of one argument in a test, with the value that is sent for it.
#[derive(Debug, Clone)]
enum Said {
    Nothing,
    Renamed(String),
    Constant,
}

/// The arguments of [`document`] that take these values, with whether they are required.
fn valued() -> Vec<(&'static str, Value)> {
    vec![
        ("id", json!("7/8")),
        ("q", json!("a&b")),
        ("tenant", json!("é")),
        ("X-Trace", json!("t")),
        ("filter", json!({"a": "1"})),
        ("owner", json!({"name": "n"})),
        ("qty", json!(5)),
        ("part", json!({"next": {}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Curation changes what an agent says and never what the backend hears: a curated tool sends, byte for
    /// byte, what the tool without curation sends for the same values.
    #[test]
    fn a_curated_tool_sends_what_the_plain_one_sends(
        said in prop::collection::vec(
            prop_oneof![
                Just(Said::Nothing),
                "[a-zé_\\[]{1,6}".prop_map(Said::Renamed),
                prop::sample::select(vec!["id", "q", "tenant", "owner", "hidden:q"]).prop_map(|name| Said::Renamed(name.to_owned())),
                Just(Said::Constant),
            ],
            8,
        ),
    ) {
        let values = valued();
        let mut all = Curations::new();
        let (mut plain, mut given, mut taken) = (Map::new(), Map::new(), Vec::new());
        for ((name, value), said) in values.iter().zip(&said) {
            plain.insert((*name).to_owned(), value.clone());
            let called = match said {
                Said::Nothing => (*name).to_owned(),
                Said::Renamed(to) => {
                    all.insert((*name).to_owned(), rename(to));
                    to.clone()
                }
                Said::Constant => {
                    all.insert((*name).to_owned(), hide(Hide::Constant(value.clone())));
                    continue;
                }
            };
            taken.push(called.clone());
            given.insert(called, value.clone());
        }
        // `more` is there too and keeps its name.
        let collides = given.len() < taken.len() || given.contains_key("more");
        let read = read(&amended(Amendment { arguments: all, ..Amendment::default() }));
        prop_assert_eq!(read.report.is_fatal(), collides, "{:?}", read.findings());
        if !collides {
            let curated = send(one(&read), Value::Object(given.clone())).unwrap();
            let read = self::read(&ReadOptions::default());
            prop_assert_eq!(&curated, &send(one(&read), Value::Object(plain)).unwrap());
            // And no further member of the open body changes what is hidden or renamed.
            for (name, _) in &values {
                if given.contains_key(*name) {
                    continue;
                }
                let mut more = given.clone();
                more.insert((*name).to_owned(), json!("evil"));
                let read = self::read(&amended(Amendment { arguments: renamed(&said), ..Amendment::default() }));
                prop_assert_eq!(
                    send(one(&read), Value::Object(more)),
                    Err(ArgumentFault::UnknownArgument),
                    "{}", name
                );
            }
        }
    }
}

fn renamed(said: &[Said]) -> Curations {
    let each = valued().into_iter().zip(said);
    each.filter_map(|((name, value), said)| {
        let curation = match said {
            Said::Nothing => return None,
            Said::Renamed(to) => rename(to),
            Said::Constant => hide(Hide::Constant(value)),
        };
        Some((name.to_owned(), curation))
    })
    .collect()
}

/// Words whose snake cases and prefixes meet in every way.
fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a", "b", "a_b", "aB", "c", "a_b_c", "b_c", "é", "9", "x",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Names are a function of the document: taking others away or adding them renames nothing, but for names
    /// that met (rule 4), which keep what they were and get digits behind it.
    #[test]
    fn other_documents_never_rename_an_operation(
        documents in prop::collection::btree_map(word(), prop::collection::vec(prop::option::of(word()), 1..4), 1..6),
    ) {
        let texts: Vec<(String, String)> = documents.iter().map(|(stem, ids)| {
            let paths: Map<String, Value> = ids.iter().enumerate().map(|(n, id)| {
                let mut operation = json!({});
                if let Some(id) = id { operation["operationId"] = json!(id); }
                (format!("/{n}"), json!({"get": operation}))
            }).collect();
            let text = json!({"openapi": "3.0.0", "servers": [{"url": "https://h.test"}], "paths": paths});
            (format!("{stem}.json"), text.to_string())
        }).collect();
        let files: Vec<(&str, &[u8])> = texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
        let options = ReadOptions { prefix: Prefix::Always, ..ReadOptions::default() };
        let names_of = |sources: &[&str]| -> BTreeMap<(String, String), String> {
            let read = read_files(sources, &files, &options);
            read.operations.iter().map(|one| {
                let template = one.template.as_ref().unwrap();
                ((template.document.clone(), template.route.clone()), one.definition.name.clone())
            }).collect()
        };
        // Stems such as a_b and aB have one key; such documents are told apart by their digits only.
        let all: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        let together = names_of(&all);
        for name in &all {
            let alone = names_of(&[*name]);
            for (operation, alone) in &alone {
                let Some(together) = together.get(operation) else { continue };
                let is_suffixed = together.strip_prefix(alone.as_str()).is_some_and(|rest| {
                    rest.strip_prefix('_').is_some_and(|digits| digits.len() == 6)
                });
                let keys = all.iter().filter(|other| {
                    names_of(&[**other]).keys().any(|(key, _)| *key == operation.0)
                }).count();
                prop_assert!(keys > 1 || together == alone || is_suffixed, "{alone} became {together}");
            }
        }
    }
}

#[test]
fn three_thousand_documents_have_stable_readable_names() {
    let text = |number: usize| {
        json!({"openapi": "3.0.0", "servers": [{"url": "https://h.test"}], "paths": {
            "/items": {"get": {"operationId": "listItems"}, "post": {}},
            "/items/{id}": {"get": {"operationId": if number.is_multiple_of(2) { "listItems" } else { "getItem" }}},
        }})
        .to_string()
    };
    let texts: Vec<(String, String)> = (0..3_000)
        .map(|number| {
            (
                format!("team{}/service{number}.json", number % 7),
                text(number),
            )
        })
        .collect();
    let files: Vec<(&str, &[u8])> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let options = ReadOptions::default();
    let read = read_files(&names, &files, &options);
    assert_eq!(read.operations.len(), 9_000);
    let unique: std::collections::HashSet<&str> = read.names().into_iter().collect();
    assert_eq!(unique.len(), 9_000);
    for name in &unique {
        let is_legal = name.len() <= 128
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        assert!(is_legal, "{name}");
    }
    assert!(
        unique.contains("service1_list_items"),
        "file names are keys"
    );
    assert!(unique.contains("service2_get_items"));
    // Every other document is taken away: the others keep their names.
    let half: Vec<&str> = names.iter().copied().step_by(2).collect();
    let fewer = read_files(&half, &files, &options);
    assert!(fewer.names().iter().all(|name| unique.contains(name)));
}
