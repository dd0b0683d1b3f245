//! The meta-tools, clause by clause: what is published, what is refused and in which order.

use std::sync::Arc;

use serde_json::{Value, json};
use sezzlee::access::{Caller, OnUnknown};
use sezzlee::demo;
use sezzlee::tools::{MetaTools, Settings, Surface};

use crate::tools_harness::{Answer, Gateway, Setup, map, operations, reader};

/// A small shop whose operations differ in tags, security and words.
pub(crate) const SHOP: &str = r#"
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "https://shop.test/v1"}]
components:
  securitySchemes:
    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: "https://shop.test/token", scopes: {read: r, write: w}}}}
paths:
  /orders:
    get:
      operationId: listOrders
      summary: Lists orders.
      tags: [Orders, Order Notes]
      parameters:
        - {name: status, in: query, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}, description: Rows of a page.}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {type: object}}}}}}
  /orders/{id}:
    get:
      operationId: getOrder
      summary: Fetches one order by id.
      tags: [Orders]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
    delete:
      operationId: deleteOrder
      summary: Deletes one order.
      deprecated: true
      tags: [orders, Élan]
      security: [{oauth: [write]}]
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"204": {description: gone}}
  /invoices:
    post:
      operationId: createInvoice
      summary: Creates an invoice.
      tags: [Billing]
      requestBody:
        required: true
        content: {application/json: {schema: {type: object, required: [order_id], properties: {order_id: {type: integer}, amount: {type: number}, note: {type: [string, "null"]}}}}}
      responses: {"201": {description: made}}
"#;

pub(crate) fn shop() -> Gateway {
    Gateway::of("shop.yaml", SHOP, "http://127.0.0.1:9")
}

fn listed(tools: &MetaTools) -> (String, Value) {
    let listing = tools.list(&Caller::anonymous(), None).unwrap();
    assert_eq!(listing.next_cursor, None);
    let value = serde_json::from_str(&listing.tools_json).unwrap();
    (listing.tools_json.to_string(), value)
}

#[test]
fn three_tools_are_published_in_order_with_the_stamp() {
    let gateway = shop();
    let (_, tools) = listed(&gateway.tools);
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["name"])
        .collect();
    assert_eq!(names, ["load_tool", "search_tools", "invoke_tool"]);
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["_meta"], json!({"sezzlee/catalogGeneration": 0}));
        assert!(tool["description"].as_str().unwrap().ends_with('.'));
        let reads = tool["name"] != "invoke_tool";
        let hint = tool.pointer("/annotations/readOnlyHint");
        assert_eq!(hint == Some(&json!(true)), reads, "{tool}");
    }
    let refused = gateway.tools.list(&Caller::anonymous(), Some("2"));
    assert!(refused.is_err(), "no cursor was ever handed out");
}

#[test]
fn the_schemas_are_the_contracts_word_for_word() {
    let (text, tools) = listed(&shop().tools);
    let path = format!(
        "{}/tests/cases/search-tools-schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let contract: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    // As bytes, so that the order counts as well.
    assert!(text.contains(&contract.to_string()));
    assert_eq!(tools[1]["inputSchema"], contract);
    let load = &tools[0]["inputSchema"];
    assert_eq!(load["required"], json!(["name"]));
    assert_eq!(map(&load["properties"]).len(), 1);
    assert_eq!(load["properties"]["name"]["type"], "string");
    let invoke = &tools[2]["inputSchema"];
    assert_eq!(invoke["required"], json!(["name", "arguments"]));
    let properties = map(&invoke["properties"]);
    let names: Vec<_> = properties.keys().collect();
    assert_eq!(names, ["name", "arguments", "version"]);
    assert_eq!(properties["name"]["type"], "string");
    let arguments: Vec<_> = map(&properties["arguments"]).keys().collect();
    assert_eq!(arguments, ["description"]);
    assert_eq!(properties["version"]["type"], "string");
    assert_eq!(properties["version"].get("default"), Some(&Value::Null));
    for tool in tools.as_array().unwrap() {
        assert!(jsonschema::meta::is_valid(&tool["inputSchema"]));
    }
}

#[test]
fn a_page_of_cards_and_one_of_definitions_read_like_this() {
    let gateway = shop();
    insta::assert_snapshot!(gateway.search(&json!({"query": "order", "limit": 2})).text, @r#"{"total":4,"tags":["billing","elan","order notes","orders"],"results":[{"name":"list_orders","description":"Lists orders.","parameters":"status: string, limit: integer"},{"name":"delete_order","description":"Deletes one order.","parameters":"id: integer (required)","deprecated":true,"authUncertain":true}]}"#);
    insta::assert_snapshot!(gateway.search(&json!({"query": "delete", "limit": 1})).text, @r#"{"total":4,"tags":["billing","elan","order notes","orders"],"results":[{"name":"delete_order","description":"Deletes one order.","parameters":"id: integer (required)","deprecated":true,"authUncertain":true}]}"#);
    insta::assert_snapshot!(gateway.search(&json!({"query": "get order", "limit": 1, "detail": "schema"})).text, @r#"{"total":4,"tags":["billing","elan","order notes","orders"],"results":[{"name":"get_order","description":"Fetches one order by id.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"idempotentHint":true},"version":"9f7acf2edeb7c734"}]}"#);
    insta::assert_snapshot!(gateway.load(&json!({"name": "list_orders"})).text, @r#"{"name":"list_orders","description":"Lists orders.","inputSchema":{"type":"object","properties":{"status":{"type":"string"},"limit":{"type":"integer","description":"Rows of a page."}},"additionalProperties":false},"outputSchema":{"type":"object","properties":{"result":{"type":"array","items":{"type":"object"}}},"required":["result"]},"annotations":{"readOnlyHint":true,"idempotentHint":true},"version":"e7b0eb7455560247"}"#);
    insta::assert_snapshot!(gateway.search(&json!({"query": "", "tags": ["nobody's"]})).text, @r#"{"total":4,"tags":["billing","elan","order notes","orders"],"results":[]}"#);
}

#[test]
fn arguments_of_a_wrong_kind_are_named_with_the_kind_that_arrived() {
    let gateway = shop();
    for (argument, value, arrived) in [
        ("query", json!(5), "number"),
        ("query", json!(["a"]), "array"),
        ("query", json!(true), "boolean"),
        ("query", json!({}), "object"),
        ("limit", json!("many"), "string"),
        ("limit", json!("2.5"), "string"),
        ("limit", json!(""), "string"),
        ("limit", json!(false), "boolean"),
        ("limit", json!([1]), "array"),
        ("limit", json!({}), "object"),
        ("tags", json!("Orders"), "string"),
        ("tags", json!(1), "number"),
        ("tags", json!({}), "object"),
        ("tags", json!(["Orders", 1]), "number"),
        ("tags", json!([null]), "null"),
        ("tags", json!([["Orders"]]), "array"),
    ] {
        let answer = gateway.search(&json!({argument: value}));
        assert_eq!(answer.code(), "unknown_argument", "{argument} {value}");
        let message = answer.message();
        assert!(message.contains(&format!("`{argument}`")), "{message}");
        assert!(message.contains(arrived), "{message}");
    }
    for (argument, value, arrived) in [
        ("name", json!(5), "number"),
        ("name", json!(["a"]), "array"),
        ("name", json!(null), "missing"),
    ] {
        let answer = gateway.load(&json!({argument: value}));
        assert_eq!(answer.code(), "unknown_argument", "{argument} {value}");
        assert!(answer.message().contains(arrived), "{}", answer.message());
    }
}

#[tokio::test]
async fn unknown_arguments_are_named_with_those_there_are() {
    let gateway = shop();
    let search = gateway.search(&json!({"q": "orders", "limit": 3}));
    insta::assert_snapshot!(search.text, @r#"{"error":"unknown_argument","message":"search_tools has no argument `q`; it has `query`, `limit`, `detail`, `tags`","retryable":false}"#);
    let load = gateway.load(&json!({"name": "get_order", "detail": "schema"}));
    insta::assert_snapshot!(load.text, @r#"{"error":"unknown_argument","message":"load_tool has no argument `detail`; it has `name`","retryable":false}"#);
    let invoke = gateway.invoke(json!({"name": "get_order", "id": 1}));
    insta::assert_snapshot!(invoke.await.text, @r#"{"error":"unknown_argument","message":"invoke_tool has no argument `id`; it has `name`, `arguments`, `version`; the operation's own arguments go inside `arguments`","retryable":false}"#);
    // However long and many they are, the message is not.
    let many: Value = (0..5_000)
        .map(|n| (format!("{n}{}", "x".repeat(200)), json!(1)))
        .collect();
    let answer = gateway.search(&many);
    assert_eq!(answer.code(), "unknown_argument");
    assert!(answer.text.len() < 4_000, "{}", answer.text.len());
}

#[tokio::test]
async fn invoke_checks_in_its_order() {
    let gateway = shop();
    let version = gateway.load(&json!({"name": "get_order"})).value["version"].clone();
    let other = "0123456789abcdef";
    assert_ne!(version, other);
    // Each call is wrong in everything that is checked later, too.
    for (arguments, code) in [
        (json!({"extra": 1, "name": 5}), "unknown_argument"),
        (
            json!({"name": 5, "arguments": [], "version": 7}),
            "unknown_argument",
        ),
        (json!({"arguments": []}), "unknown_argument"),
        (
            json!({"name": "nope", "arguments": [], "version": 7}),
            "unknown_argument",
        ),
        (
            json!({"name": "nope", "version": other}),
            "unknown_argument",
        ),
        (
            json!({"name": "nope", "arguments": [], "version": other}),
            "unknown_tool",
        ),
        (
            json!({"name": "nope", "arguments": {}, "version": version}),
            "unknown_tool",
        ),
        (
            json!({"name": "get_order", "arguments": [], "version": other}),
            "tool_changed",
        ),
        (
            json!({"name": "get_order", "arguments": [], "version": ""}),
            "tool_changed",
        ),
        (
            json!({"name": "get_order", "arguments": [], "version": version}),
            "invalid_type",
        ),
        (
            json!({"name": "get_order", "arguments": {"ids": 1}, "version": null}),
            "unknown_argument",
        ),
        (
            json!({"name": "get_order", "arguments": {}, "version": version}),
            "missing_path_parameter",
        ),
        // Only now the call: nobody listens at the backend's address.
        (
            json!({"name": "get_order", "arguments": {"id": 1}, "version": version}),
            "backend_unavailable",
        ),
    ] {
        assert_eq!(gateway.invoke(&arguments).await.code(), code, "{arguments}");
    }
}

#[tokio::test]
async fn what_is_not_an_object_is_named_by_its_kind() {
    let gateway = shop();
    for (arguments, arrived) in [
        (json!([1]), "array"),
        (json!(7), "number"),
        (json!(true), "boolean"),
        (json!(""), "string"),
        (json!("no JSON"), "string"),
        (json!("[1]"), "string"),
        (json!("7"), "string"),
        (json!("null"), "string"),
        (json!("\"{}\""), "string"),
        (json!("{\"id\":1,\"id\":2}"), "string"),
        (json!("[".repeat(100_000)), "string"),
        (
            json!(format!(
                "{{\"id\":{}1{}}}",
                "[".repeat(500),
                "]".repeat(500)
            )),
            "string",
        ),
    ] {
        let answer = gateway.invoke(json!({"name": "get_order", "arguments": arguments}));
        let answer = answer.await;
        assert_eq!(answer.code(), "invalid_type");
        assert!(answer.message().contains(arrived), "{}", answer.message());
        assert_eq!(answer.value["retryable"], false);
    }
    // Null is `{}`: the next check speaks.
    let answer = gateway.invoke(json!({"name": "get_order", "arguments": null}));
    assert_eq!(answer.await.code(), "missing_path_parameter");
}

#[test]
fn hidden_and_absent_names_give_the_same_bytes() {
    let hide = Setup {
        tools: Settings {
            on_unknown: OnUnknown::Hide,
            ..Settings::default()
        },
        ..Setup::default()
    };
    let gateway = Gateway::over(reader("shop.yaml", SHOP, None), hide);
    let hidden = gateway.load(&json!({"name": "delete_order"}));
    assert_eq!(hidden.code(), "unknown_tool");
    for absent in ["delete_orders", "", "\u{0}", &"x".repeat(1 << 20)] {
        assert_eq!(gateway.load(&json!({"name": absent})).text, hidden.text);
    }
    // Neither total nor tags nor any result tells of it.
    let all = gateway.search(&json!({}));
    assert_eq!(all.value["total"], 3);
    assert_eq!(
        all.value["tags"],
        json!(["billing", "order notes", "orders"])
    );
    assert_eq!(gateway.search(&json!({"query": "delete"})).names().len(), 0);
    assert_eq!(gateway.search(&json!({"tags": ["Élan"]})).names().len(), 0);
}

#[tokio::test]
async fn a_caller_whose_grant_denies_finds_reads_and_calls_nothing() {
    let gateway = shop();
    let as_caller = |scopes: &[&str]| Caller {
        scopes: Some(scopes.iter().map(|&scope| scope.to_owned()).collect()),
    };
    let denied = as_caller(&["read"]);
    let name = json!({"name": "delete_order"});
    let absent = json!({"name": "nope"});
    let load = |caller, name| gateway.tools.load(caller, map(name)).text().to_owned();
    assert_eq!(load(&denied, &name), load(&denied, &absent));
    let call = json!({"name": "delete_order", "arguments": {"id": 1}, "version": "x"});
    let none = json!({"name": "nope", "arguments": {"id": 1}, "version": "x"});
    let refused = gateway.tools.invoke(&denied, map(&call)).await;
    assert_eq!(Answer::of(&refused).code(), "unknown_tool");
    assert_eq!(refused, gateway.tools.invoke(&denied, map(&none)).await);
    // Who holds the scope is certain, who is not known is not.
    let (granted, unknown) = (as_caller(&["write"]), Caller::anonymous());
    let (granted, unknown) = (load(&granted, &name), load(&unknown, &name));
    assert!(!granted.contains("authUncertain"), "{granted}");
    assert_eq!(unknown.replace("\"authUncertain\":true,", ""), granted);
    let page = gateway.tools.search(&denied, map(&json!({})));
    assert_eq!(Answer::of(&page).value["total"], 3);
}

#[test]
fn every_definition_fits_the_published_shape() {
    let path = format!(
        "{}/index-schema/tool-definition.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let shape: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let shape = jsonschema::draft202012::new(&shape).unwrap();
    let mut checked = 0;
    for (name, text) in [
        ("shop.yaml", SHOP),
        ("demo.yaml", demo::DOCUMENT),
        ("calls.yaml", crate::tools_invoke::CALLS),
        ("lines.jsonl", crate::tools_invoke::LINES),
    ] {
        let gateway = Gateway::over(reader(name, text, None), Setup::default());
        for operation in operations(name, text) {
            let answer = gateway.load(&json!({"name": operation.definition.name}));
            let faults: Vec<_> = shape
                .iter_errors(&answer.value)
                .map(|one| one.to_string())
                .collect();
            assert!(faults.is_empty(), "{}: {faults:?}", answer.text);
            for schema in ["inputSchema", "outputSchema"] {
                let schema = answer.value.get(schema);
                assert!(
                    schema.is_none_or(jsonschema::meta::is_valid),
                    "{}",
                    answer.text
                );
            }
            // Nothing of how it is called or protected.
            for word in ["oauth", "shop.test", "scopes", "baseUrl", "template"] {
                assert!(!answer.text.contains(word), "{word}: {}", answer.text);
            }
            assert_eq!(answer.value["version"], operation.definition.version());
            checked += 1;
        }
    }
    assert!(checked > 55, "{checked}");
}

#[tokio::test]
async fn a_surface_answers_what_the_verbs_answer() {
    let gateway = shop();
    let caller = Caller::anonymous();
    let surface: Arc<dyn Surface> = Arc::new(gateway.tools.clone());
    let call = |name: &'static str, arguments: Value| {
        let surface = Arc::clone(&surface);
        let caller = caller.clone();
        async move { surface.call(&caller, name, map(&arguments).clone()).await }
    };
    let search = json!({"query": "order"});
    let found = call("search_tools", search.clone()).await.unwrap();
    assert_eq!(found.text(), gateway.search(&search).text);
    let load = json!({"name": "get_order"});
    let loaded = call("load_tool", load.clone()).await.unwrap();
    assert_eq!(loaded.text(), gateway.load(&load).text);
    let invoked = call("invoke_tool", json!({"name": "nope", "arguments": {}}));
    assert_eq!(Answer::of(&invoked.await.unwrap()).code(), "unknown_tool");
    for stranger in ["", "get_order", "Search_tools", "search_tools "] {
        assert!(call(stranger, json!({})).await.is_err(), "{stranger}");
    }
}
