//! References that lead where they must not, or to what is hostile: each costs only what needs it.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::catalog_references::{Files, document};

#[test]
fn what_leads_elsewhere_costs_only_what_needs_it() {
    let files = Files::of(&[
        (
            "apis/main.yaml",
            &document(
                "  /a: {$ref: ../secret.yaml}\n\
                 \x20 /b: {get: {parameters: [{$ref: 'file:///etc/passwd'}]}}\n\
                 \x20 /c: {get: {responses: {'200': {content: {application/json: {schema: {type: object, properties: {x: {$ref: 'https://h.test/x.json'}, y: {type: string}}}}}}}}}\n\
                 \x20 /d: {get: {}}\n\
                 \x20 /e: {$ref: 'parts/e.yaml#/item'}\n\
                 \x20 /f: {post: {requestBody: {content: {application/json: {schema: {type: array, items: {$ref: missing.yaml}}}}}}}\n\
                 \x20 /g: {post: {requestBody: {content: {application/json: {schema: {type: array, items: {$ref: 'parts/e.yaml#/nope'}}}}}}}\n\
                 \x20 /h: {get: {parameters: [{$ref: 'parts/broken.json#/p'}]}}\n",
            ),
        ),
        (
            "apis/parts/e.yaml",
            "item:\n  get: {parameters: [{$ref: ..\\..\\secret.yaml}]}\n  put: {parameters: [{name: 5, in: query}]}\n  patch: {}\n",
        ),
        ("apis/parts/broken.json", "{"),
        ("secret.yaml", "get: {}\n"),
    ]);
    let outcome = files.read("apis/main.yaml");
    assert_eq!(outcome.names(), ["get_c", "get_d", "patch_e"]);
    let output = outcome.named("get_c").definition.output_schema.as_ref();
    assert_eq!(
        output.unwrap()["properties"],
        json!({"x": {}, "y": {"type": "string"}})
    );
    assert_eq!(
        files.findings(&outcome),
        [
            "dropped external_ref_blocked apis/main.yaml#/paths/~1a",
            "dropped external_ref_blocked apis/main.yaml#/paths/~1b/get/parameters/0",
            "warning external_ref_blocked apis/main.yaml#/paths/~1c/get/responses/200/content/application~1json/schema/properties/x",
            "dropped external_ref_blocked apis/parts/e.yaml#/item/get/parameters/0",
            "dropped malformed apis/parts/e.yaml#/item/put/parameters/0",
            "dropped unresolvable_ref apis/main.yaml#/paths/~1f/post/requestBody/content/application~1json/schema/items",
            "dropped unresolvable_ref apis/main.yaml#/paths/~1g/post/requestBody/content/application~1json/schema/items",
            "dropped not_parseable apis/main.yaml#/paths/~1h/get/parameters/0",
        ]
    );
    let told = |code: &str| {
        let all = outcome.report.diagnostics.iter();
        let mut texts = all.filter(|one| one.code.as_str() == code);
        texts.next().unwrap().message.clone()
    };
    assert!(told("external_ref_blocked").contains("\"../secret.yaml\" is not followed"));
    assert!(told("not_parseable").contains("apis/parts/broken.json is not followed"));
    assert!(told("not_parseable").contains("line 1"));
    for diagnostic in &outcome.report.diagnostics {
        assert!(!diagnostic.message.contains('\0'), "{diagnostic}");
        assert!(!diagnostic.message.contains("\\0"), "{diagnostic}");
    }
    let counts = outcome.report.counts;
    // The path item of /a is not there, so that nobody knows how many operations it holds.
    assert_eq!((counts.found, counts.published, counts.dropped), (9, 3, 6));
}

#[test]
fn the_place_that_is_kept_for_files_has_no_name() {
    let kept = "\u{0}files";
    let root = json!({
        "openapi": "3.1.0",
        kept: [{"type": "string"}],
        "components": {"parameters": {"q": {"name": "q", "in": "query", "schema": {"$ref": ""}}}},
        "paths": {
            "/a": {"get": {"parameters": [{"$ref": format!("#/{kept}/0")}]}},
            "/b": {"get": {"parameters": [{"$ref": "\u{0}/0"}]}},
            "/c": {"get": {"parameters": [{"$ref": "#/%00files/0"}]}},
            "/d": {"get": {"parameters": [{"$ref": "p.json"}, {"$ref": "main.json#/components/parameters/q"}]}},
        },
    });
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("p.json", r#"{"name": "p", "in": "query", "schema": {}}"#),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(outcome.names(), ["get_d"]);
    assert_eq!(
        files.findings(&outcome),
        [
            "warning malformed main.json#",
            "dropped unresolvable_ref main.json#/paths/~1a/get/parameters/0",
            "dropped external_ref_blocked main.json#/paths/~1b/get/parameters/0",
            "dropped unresolvable_ref main.json#/paths/~1c/get/parameters/0",
        ]
    );
}

#[test]
fn a_chain_of_files_ends() {
    let files = Files::of(&[(
        "main.yaml",
        &document(
            "  /a: {post: {requestBody: {content: {application/json: {schema: {$ref: '0.yaml'}}}}}}\n",
        ),
    )]);
    for number in 0..200 {
        let next = number + 1;
        files.put(
            &format!("{number}.yaml"),
            &format!("type: object\nproperties: {{next: {{$ref: {next}.yaml}}}}\n"),
        );
    }
    files.put("200.yaml", "type: string\n");
    let outcome = files.read("main.yaml");
    assert_eq!(outcome.names(), [""; 0]);
    assert_eq!(
        files.findings(&outcome)[0],
        "dropped source_too_large 99.yaml#/properties/next"
    );
}

/// References into one another's insides make no work without end.
#[test]
fn nested_targets_are_looked_at_within_reason() {
    let mut inner = json!({"type": "string"});
    for _ in 0..300 {
        inner = json!({"items": inner});
    }
    let mut root =
        json!({"openapi": "3.1.0", "paths": {"/a": {"get": {}}}, "components": {"schemas": {}}});
    let mut at = String::new();
    for number in 0..300 {
        root["components"]["schemas"][format!("s{number}")] =
            json!({"$ref": format!("deep.json#{at}")});
        at.push_str("/items");
    }
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("deep.json", &inner.to_string()),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(files.findings(&outcome), [""; 0]);
    assert_eq!(outcome.names(), ["get_a"]);
}

#[test]
fn hostile_files_cost_what_refers_to_them() {
    let bomb = format!(
        "a0: &a0 [x, x]\n{}",
        (1..40).fold(String::new(), |mut text, level| {
            let below = level - 1;
            writeln!(text, "a{level}: &a{level} [*a{below}, *a{below}]").unwrap();
            text
        })
    );
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    let files = Files::of(&[
        ("bomb.yaml", &bomb),
        ("deep.json", &deep),
        ("empty.yaml", ""),
        ("list.yaml", "[1, 2]"),
        ("text.yaml", "text"),
    ]);
    fs::create_dir(files.path("directory.yaml")).unwrap();
    // A file of a gigabyte that takes no room.
    let large = fs::File::create(files.path("large.yaml")).unwrap();
    large.set_len(1 << 30).unwrap();
    let names = [
        "bomb.yaml",
        "deep.json",
        "empty.yaml",
        "list.yaml",
        "text.yaml",
        "directory.yaml",
        "large.yaml",
        "pipe.yaml",
        "gone.yaml",
    ];
    let mut paths = "  /fine: {get: {}}\n".to_owned();
    for (number, name) in names.iter().enumerate() {
        writeln!(paths, "  /{number}: {{$ref: {name}}}").unwrap();
    }
    files.put("main.yaml", &document(&paths));
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo")
            .arg(files.path("pipe.yaml"))
            .status();
        assert!(made.unwrap().success());
    }
    let outcome = files.read("main.yaml");
    assert_eq!(outcome.names(), ["get_fine"]);
    let codes: Vec<_> = outcome
        .report
        .diagnostics
        .iter()
        .map(|one| one.code.as_str())
        .filter(|code| *code != "no_server")
        .collect();
    assert_eq!(
        codes,
        [
            "source_too_large",
            "too_deep",
            "unresolvable_ref",
            "malformed",
            "malformed",
            "unresolvable_ref",
            "source_too_large",
            "unresolvable_ref",
            "unresolvable_ref",
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_stay_inside() {
    let files = Files::of(&[
        (
            "apis/main.yaml",
            &document(
                "  /a: {$ref: link.yaml}\n  /b: {$ref: inner.yaml}\n  /c: {$ref: dir/secret.yaml}\n",
            ),
        ),
        ("apis/b.yaml", "get: {}\n"),
        ("other/secret.yaml", "get: {}\n"),
    ]);
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(files.path(to), files.path(from)).unwrap();
    };
    link("other/secret.yaml", "apis/link.yaml");
    link("other", "apis/dir");
    link("apis/b.yaml", "apis/inner.yaml");
    let outcome = files.read("apis/main.yaml");
    assert_eq!(outcome.names(), ["get_b"]);
    assert_eq!(
        files.findings(&outcome),
        [
            "dropped external_ref_blocked apis/main.yaml#/paths/~1a",
            "dropped external_ref_blocked apis/main.yaml#/paths/~1c",
        ]
    );
}

/// Names within names, and more references than files may be: told, and neither slow nor large.
#[test]
fn names_and_references_without_number_are_bounded() {
    let mut nested = json!({"$ref": "nowhere.json"});
    for _ in 0..500 {
        nested = json!({"$id": format!("{}/", "n".repeat(20_000)), "items": nested});
    }
    let many: Vec<_> = (0..50_000)
        .map(|number| json!({"$ref": format!("/{number}")}))
        .collect();
    let root = json!({
        "openapi": "3.1.0",
        "paths": {"/a": {"get": {}}, "/b": {"get": {"parameters": [{"$ref": "late.json"}]}}},
        "components": {"schemas": {"nested": nested, "many": {"oneOf": many}}},
    });
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("late.json", r#"{"name": "p", "in": "query", "schema": {}}"#),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(files.findings(&outcome), [""; 0]);
    assert_eq!(outcome.names(), ["get_a", "get_b"]);
    assert!(outcome.report.references.unread.len() <= 40_001);
}
