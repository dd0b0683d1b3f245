//! search_tools, clause by clause: defaults, clamps, tags, totals, limits of a query.

use serde_json::json;
use sezzlee::demo;

use crate::tools::shop;
use crate::tools_harness::{Gateway, Setup, map, reader};

#[test]
fn a_schema_page_holds_exactly_what_load_tool_answers() {
    for gateway in [
        shop(),
        Gateway::of("shop.yaml", demo::DOCUMENT, "http://127.0.0.1:9"),
    ] {
        let names = gateway.search(&json!({"limit": 50}));
        assert!(!names.names().is_empty());
        for name in names.names() {
            let loaded = gateway.load(&json!({"name": name})).text;
            // The name is the one thing that surely finds it; it need not come first.
            let page = gateway.search(&json!({"query": name, "limit": 50, "detail": "schema"}));
            assert!(page.text.contains(&loaded), "{name}");
        }
    }
}

#[test]
fn null_and_missing_arguments_are_their_defaults() {
    let gateway = shop();
    let all = gateway.search(&json!({})).text;
    for arguments in [
        json!({"query": null, "limit": null, "detail": null, "tags": null}),
        json!({"query": "", "limit": 20, "detail": "card", "tags": []}),
        json!({"query": " - "}),
        json!({"query": "a"}),
    ] {
        assert_eq!(gateway.search(&arguments).text, all, "{arguments}");
    }
    let answer = gateway.search(&json!({}));
    // A listing: by name, ascending by code point.
    let names = ["create_invoice", "delete_order", "get_order", "list_orders"];
    assert_eq!(answer.names(), names);
    assert_eq!(answer.value["total"], 4);
    let members: Vec<_> = map(&answer.value).keys().collect();
    assert_eq!(members, ["total", "tags", "results"]);
}

#[test]
fn only_the_word_schema_asks_for_schemas() {
    let gateway = shop();
    let cards = gateway.search(&json!({})).text;
    for detail in [
        json!(null),
        json!(""),
        json!("card"),
        json!("Schema"),
        json!("schema "),
        json!("schemas"),
        json!(true),
        json!(["schema"]),
        json!({}),
        json!(1),
    ] {
        assert_eq!(
            gateway.search(&json!({"detail": detail})).text,
            cards,
            "{detail}"
        );
    }
    let schemas = gateway.search(&json!({"detail": "schema"}));
    assert!(schemas.value["results"][0]["inputSchema"].is_object());
    assert_eq!(schemas.value["total"], 4);
}

#[test]
fn the_limit_is_clamped_and_fifty_is_the_most() {
    let lines: String = (0..60)
        .map(|n| format!("{{\"name\":\"op_{n:02}\",\"description\":\"d\"}}\n"))
        .collect();
    let gateway = Gateway::over(reader("many.jsonl", &lines, None), Setup::default());
    for (limit, want) in [
        ("null", 20),
        ("0", 1),
        ("-7", 1),
        ("1.99", 1),
        ("2.5", 2),
        ("49", 49),
        ("50", 50),
        ("51", 50),
        ("50.7", 50),
        ("1e3", 50),
        ("1e999", 50),
        ("-1e999", 1),
        ("\"7\"", 7),
        ("\"+7\"", 7),
        ("\"-7\"", 1),
        ("99999999999999999999999999", 50),
        ("\"99999999999999999999999999\"", 50),
    ] {
        let text = format!("{{\"limit\":{limit}}}");
        let arguments = sezzlee::json::parse(text.as_bytes(), 9).unwrap().value;
        let answer = gateway.search(&arguments);
        assert_eq!(answer.names().len(), want, "{limit}");
        assert_eq!(answer.value["total"], 60, "{limit}");
    }
}

#[test]
fn total_and_tags_are_of_the_catalogue_not_of_the_result() {
    let gateway = shop();
    let tags = json!(["billing", "elan", "order notes", "orders"]);
    for (arguments, names) in [
        (
            json!({"tags": ["Orders"], "limit": 1}),
            vec!["delete_order"],
        ),
        (json!({"tags": ["ORDERS", "élan"]}), vec!["delete_order"]),
        (json!({"tags": ["E\u{301}LAN"]}), vec!["delete_order"]),
        (json!({"tags": ["order notes"]}), vec!["list_orders"]),
        // Whole tags: not split, not trimmed, no plural rule, and a conjunction.
        (json!({"tags": ["order"]}), vec![]),
        (json!({"tags": ["notes"]}), vec![]),
        (json!({"tags": [" orders"]}), vec![]),
        (json!({"tags": [""]}), vec![]),
        (json!({"tags": ["orders", "billing"]}), vec![]),
        (
            json!({"tags": ["orders", "orders", "Orders"], "query": "get"}),
            vec!["get_order"],
        ),
        (json!({"query": "nothing matches this"}), vec![]),
    ] {
        let answer = gateway.search(&arguments);
        assert_eq!(answer.names(), names, "{arguments}");
        assert_eq!(answer.value["total"], 4, "{arguments}");
        assert_eq!(answer.value["tags"], tags, "{arguments}");
    }
}

#[test]
fn the_vocabulary_is_whole_or_left_out() {
    let catalogue = |tags: usize| -> String {
        (0..tags)
            .map(|n| {
                format!("{{\"name\":\"op{n}\",\"description\":\"\",\"tags\":[\"Tag {n:03}\"]}}\n")
            })
            .collect()
    };
    let answer = |tags: usize, limit: Option<usize>| {
        let mut setup = Setup::default();
        if let Some(limit) = limit {
            setup.tools.vocabulary_limit = limit;
        }
        let reader = reader("many.jsonl", &catalogue(tags), None);
        Gateway::over(reader, setup)
            .search(&json!({"limit": 1}))
            .value
    };
    let shown = |tags, limit| {
        answer(tags, limit)
            .get("tags")
            .map(|tags| tags.as_array().unwrap().len())
    };
    assert_eq!(shown(200, None), Some(200));
    assert_eq!(shown(201, None), None);
    assert_eq!(shown(201, Some(201)), Some(201));
    assert_eq!(shown(1, Some(0)), None);
    // None at all is left out, too.
    let bare = reader(
        "bare.jsonl",
        "{\"name\":\"a\",\"description\":\"\"}\n",
        None,
    );
    let bare = Gateway::over(bare, Setup::default()).search(&json!({}));
    insta::assert_snapshot!(bare.text, @r#"{"total":1,"results":[{"name":"a","description":"","parameters":""}]}"#);
}

#[test]
fn queries_are_at_most_16_kib_and_64_words() {
    let gateway = shop();
    let fits = format!("order {}", "x".repeat(16 * 1024 - 6));
    assert_eq!(gateway.search(&json!({"query": fits})).names().len(), 4);
    let over = gateway.search(&json!({"query": format!("{fits}x")}));
    assert_eq!(over.code(), "unknown_argument");
    assert!(
        over.message().contains("16385") && over.message().contains("16384"),
        "{}",
        over.message()
    );
    // The limit is of bytes.
    let wide = gateway.search(&json!({"query": "é".repeat(8 * 1024 + 1)}));
    assert_eq!(wide.code(), "unknown_argument");
    let words = |before: usize| {
        let fill: Vec<String> = (0..before).map(|n| format!("zz{n}")).collect();
        format!("{} {} invoice", fill.join(" "), fill.join(" "))
    };
    assert_eq!(
        gateway.search(&json!({"query": words(63)})).names(),
        ["create_invoice"]
    );
    assert!(
        gateway
            .search(&json!({"query": words(64)}))
            .names()
            .is_empty()
    );
}
