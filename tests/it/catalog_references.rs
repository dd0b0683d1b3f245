//! References out of a document: files below it, each a part of what it says.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use sezzlee::catalog::{FileLoader, Prefix, ReadOptions, read};

use crate::catalog::{Memory, Outcome};

/// A directory of files.
pub(crate) struct Files(tempfile::TempDir);

impl Files {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let here = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            here.put(name, text);
        }
        here
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads one source, named by its path below the directory.
    pub(crate) fn read(&self, name: &str) -> Outcome {
        let options = ReadOptions {
            prefix: Prefix::Never,
            ..ReadOptions::default()
        };
        let source = self.path(name).display().to_string();
        let mut list: Vec<sezzlee::catalog::Operation> = Vec::new();
        let report = read(&[source], &options, &FileLoader, &mut list).unwrap();
        Outcome {
            operations: list,
            report,
        }
    }

    /// The findings besides missing servers: severity, code, file and place.
    pub(crate) fn findings(&self, outcome: &Outcome) -> Vec<String> {
        let root = format!("{}/", self.0.path().display());
        let all = outcome.report.diagnostics.iter();
        all.filter(|one| one.code.as_str() != "no_server")
            .map(|one| {
                let file = one.document.strip_prefix(&root).unwrap_or(&one.document);
                format!("{} {} {file}#{}", one.severity, one.code, one.at)
            })
            .collect()
    }
}

const HEAD: &str = "openapi: 3.1.0\ninfo: {title: t, version: '1'}\n";

/// A document of 3.1 with some paths in YAML.
pub(crate) fn document(paths: &str) -> String {
    format!("{HEAD}paths:\n{paths}")
}

#[test]
fn every_kind_of_reference_reaches_into_files() {
    let files = Files::of(&[
        (
            "main.yaml",
            &document(
                "  /pets/{id}: {$ref: 'paths/pets.yaml#/one'}\n  /whole: {$ref: ./paths/whole.yaml}\n",
            ),
        ),
        (
            "paths/pets.yaml",
            "one:\n  parameters: [{$ref: '../parts/parameters.json#/id'}]\n  post:\n    operationId: change\n    requestBody: {$ref: ../parts/body.yaml}\n    responses: {'200': {$ref: '../parts/more.yaml#/responses/default'}}\n",
        ),
        (
            "paths/whole.yaml",
            "get:\n  operationId: whole\n  parameters: [{$ref: '../main.yaml#/components/parameters/p'}]\n  responses: {default: {$ref: '../parts/more.yaml#/responses/default'}}\n",
        ),
        (
            "parts/parameters.json",
            r#"{"id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}}"#,
        ),
        (
            "parts/body.yaml",
            "required: true\ncontent:\n  application/json:\n    schema: {$ref: schemas/Pet.yaml}\n",
        ),
        (
            "parts/more.yaml",
            "responses:\n  default:\n    content: {application/json: {schema: {$ref: 'schemas/Pet.yaml'}}}\n",
        ),
        (
            "parts/schemas/Pet.yaml",
            "type: object\nproperties:\n  name: {$ref: '#/$defs/name'}\n  owner: {$ref: './Owner.json'}\n$defs: {name: {type: string, minLength: 1}}\n",
        ),
        (
            "parts/schemas/Owner.json",
            r#"{"type": "object", "properties": {"pets": {"type": "array", "items": {"$ref": "Pet.yaml"}}}}"#,
        ),
    ]);
    let mut main = fs::read_to_string(files.path("main.yaml")).unwrap();
    main.push_str("components: {parameters: {p: {name: q, in: query, schema: {$ref: 'parts/schemas/Pet.yaml#/$defs/name'}}}}\n");
    files.put("main.yaml", &main);
    let outcome = files.read("main.yaml");
    assert_eq!(files.findings(&outcome), [""; 0]);
    assert_eq!(outcome.names(), ["change", "whole"]);
    let change = &outcome.named("change").definition;
    assert_eq!(
        change.input_schema,
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "integer"},
                "name": {"type": "string", "minLength": 1},
                "owner": {"$ref": "#/$defs/Owner", "type": "object"},
            },
            "required": ["id"],
            "additionalProperties": false,
            "$defs": {
                "Owner": {"type": "object", "properties": {"pets": {"type": "array", "items": {"$ref": "#/$defs/Pet"}}}},
                "Pet": {"type": "object", "properties": {"name": {"$ref": "#/$defs/name"}, "owner": {"$ref": "#/$defs/Owner"}}},
                "name": {"type": "string", "minLength": 1},
            },
        })
    );
    let output = change.output_schema.as_ref().unwrap();
    assert_eq!(output["$defs"].as_object().unwrap().len(), 3);
    let whole = &outcome.named("whole").definition;
    assert_eq!(
        whole.input_schema["properties"]["q"],
        json!({"type": "string", "minLength": 1})
    );
    assert_eq!(whole.output_schema.as_ref(), Some(output));
    assert_eq!(outcome.report.references.read.len(), 7);
}

#[test]
fn data_is_never_a_reference() {
    let data = json!({"$ref": "secret.yaml"});
    let schema = json!({
        "type": "object",
        "properties": {
            "default": {"$ref": "parts.json#/default"},
            "a": {"example": data, "default": data, "const": data, "enum": [data], "examples": [data], "x-b": data},
        },
    });
    let root = json!({
        "openapi": "3.1.0",
        "x-policies": {"$ref": "secret.yaml"},
        "paths": {"/a": {"post": {
            "x-ms-examples": {"one": {"$ref": "./secret.yaml"}},
            "requestBody": {"content": {"application/json": {
                "examples": {"one": {"$ref": "secret.yaml"}},
                "schema": schema,
            }}},
        }}},
    });
    let parts = json!({"default": {"type": "array", "default": [data], "items": {"enum": [data]}}});
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("parts.json", &parts.to_string()),
        ("secret.yaml", "never: read"),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(files.findings(&outcome), [""; 0]);
    let read = &outcome.report.references.read;
    assert_eq!(read, &[files.path("parts.json").display().to_string()]);
    let input = &outcome.operations[0].definition.input_schema;
    assert_eq!(
        input["properties"]["a"],
        json!({"examples": [data], "default": data, "const": data, "enum": [data]})
    );
    assert_eq!(
        input["$defs"]["default"],
        json!({"type": "array", "default": [data], "items": {"enum": [data]}})
    );
}

/// A section that a document keeps its own way is data until something refers to it.
#[test]
fn what_is_referred_to_is_no_data() {
    let root = json!({
        "openapi": "3.1.0",
        "x-schemas": {"A": {"properties": {"b": {"$ref": "b.json"}}}},
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {
            "schema": {"$ref": "#/x-schemas/A"},
        }}}}}},
    });
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("b.json", r#"{"type": "string"}"#),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(files.findings(&outcome), [""; 0]);
    let input = &outcome.operations[0].definition.input_schema;
    assert_eq!(input["properties"]["b"], json!({"type": "string"}));
}

#[test]
fn cycles_between_files_end() {
    let files = Files::of(&[
        (
            "main.yaml",
            &document(
                "  /a: {post: {requestBody: {content: {application/json: {schema: {$ref: 'a.yaml#/A'}}}}}}\n\
                 \x20 /b: {get: {parameters: [{$ref: 'b.yaml#/loop'}]}}\n\
                 \x20 /c: {$ref: 'c.yaml'}\n\
                 \x20 /d: {get: {responses: {'200': {content: {application/json: {schema: {$ref: 'b.yaml#/all'}}}}}}}\n",
            ),
        ),
        (
            "a.yaml",
            "A: {type: object, properties: {b: {$ref: 'b.yaml#/B'}, self: {$ref: '#/A'}}}\nloop: {$ref: 'b.yaml#/loop'}\nall: {allOf: [{$ref: 'b.yaml#/all'}]}\n",
        ),
        (
            "b.yaml",
            "B: {type: object, properties: {a: {$ref: 'a.yaml#/A'}}}\nloop: {$ref: 'a.yaml#/loop'}\nall: {allOf: [{$ref: 'a.yaml#/all'}]}\n",
        ),
        ("c.yaml", "$ref: c.yaml\n"),
    ]);
    let outcome = files.read("main.yaml");
    assert_eq!(outcome.names(), ["post_a", "get_d"]);
    let input = &outcome.named("post_a").definition.input_schema;
    let definitions: Vec<_> = input["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(definitions, ["B", "A"]);
    assert_eq!(
        files.findings(&outcome),
        [
            "dropped cyclic_ref main.yaml#/paths/~1c",
            "dropped cyclic_ref main.yaml#/paths/~1b/get/parameters/0",
            "warning cyclic_ref a.yaml#/all",
        ]
    );
}

#[test]
fn names_are_told_apart_and_do_not_depend_on_the_others() {
    let schema = "type: object\nproperties: {x: {type: string}}\n";
    let files = Files::of(&[
        (
            "main.yaml",
            &format!(
                "{}components: {{schemas: {{Own: {{type: object}}}}}}\n",
                document(
                    "  /a: {post: {requestBody: {content: {application/json: {schema: {type: object, properties: {\
                     a: {$ref: 'v1/User.yaml'}, b: {$ref: 'v2/User.yaml'}, c: {$ref: 'Own.yaml'}, \
                     d: {$ref: '#/components/schemas/Own'}, e: {$ref: 'v1/Größe%20x.schema.yaml'}}}}}}}}\n"
                )
            ),
        ),
        ("v1/User.yaml", schema),
        ("v2/User.yaml", schema),
        ("Own.yaml", schema),
        ("v1/Größe x.schema.yaml", schema),
    ]);
    let names = |outcome: &Outcome| -> Vec<String> {
        let input = &outcome.operations[0].definition.input_schema;
        input["$defs"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let outcome = files.read("main.yaml");
    assert_eq!(files.findings(&outcome), [""; 0]);
    let first = names(&outcome);
    assert_eq!(first.len(), 5);
    assert!(
        first[0].starts_with("User_") && first[1].starts_with("User_"),
        "{first:?}"
    );
    assert!(first[2].starts_with("Own_"));
    assert_eq!(first[3..], ["Own", "Grosse_x"]);
    // The same in a copy elsewhere.
    let copy = Files::of(&[]);
    for name in [
        "main.yaml",
        "v1/User.yaml",
        "v2/User.yaml",
        "Own.yaml",
        "v1/Größe x.schema.yaml",
    ] {
        copy.put(name, &fs::read_to_string(files.path(name)).unwrap());
    }
    assert_eq!(names(&copy.read("main.yaml")), first);
}

#[test]
fn each_file_is_read_in_its_own_version() {
    let old = json!({
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {},
        "components": {"schemas": {"A": {"type": "string", "nullable": true, "$ref": "#/components/schemas/B"},
            "B": {"type": "integer", "minimum": 1, "exclusiveMinimum": true, "nullable": true}}},
    });
    let swagger = json!({
        "swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {"/x": {"get": {
            "operationId": "x", "parameters": [{"name": "q", "in": "query", "type": "string"}]}}},
        "parameters": {"p": {"name": "q", "in": "query", "type": "string"}},
        "definitions": {"C": {"type": "string", "x-nullable": true}},
    });
    let property = |reference: &str| json!({"$ref": reference});
    let root = json!({
        "openapi": "3.1.0",
        "paths": {
            "/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
                "a": {"type": "array", "items": property("old.json#/components/schemas/A")},
                "c": property("swagger.json#/definitions/C"),
                "d": property("fragment.json"),
            }}}}}}},
            "/b": {"get": {"parameters": [{"$ref": "swagger.json#/parameters/p"}]}},
            "/x": {"$ref": "swagger.json#/paths/~1x"},
            "/e": {"get": {"parameters": [{"$ref": "future.json#/p"}]}},
        },
    });
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("old.json", &old.to_string()),
        ("swagger.json", &swagger.to_string()),
        ("fragment.json", r#"{"type": "string", "x-nullable": true}"#),
        (
            "future.json",
            r#"{"openapi": "4.0.0", "p": {"name": "q", "in": "query"}}"#,
        ),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(outcome.names(), ["post_a"]);
    let input = &outcome.operations[0].definition.input_schema;
    assert_eq!(
        input["properties"]["a"]["items"],
        json!({"$ref": "#/$defs/A"})
    );
    assert_eq!(
        input["properties"]["c"],
        json!({"type": ["string", "null"]})
    );
    assert_eq!(input["properties"]["d"], json!({"type": "string"}));
    assert_eq!(
        input["$defs"]["B"],
        json!({"type": ["integer", "null"], "exclusiveMinimum": 1})
    );
    assert_eq!(
        files.findings(&outcome),
        [
            "dropped unsupported_version main.json#/paths/~1x",
            "dropped unsupported_version main.json#/paths/~1b/get/parameters/0",
            "dropped unsupported_version main.json#/paths/~1e/get/parameters/0",
        ]
    );
}

#[test]
fn identifiers_and_anchors_lead_across_files() {
    let root = json!({
        "openapi": "3.1.0",
        "paths": {"/a": {"post": {"requestBody": {"content": {"application/json": {"schema": {
            "type": "object", "properties": {
                // By a name that is known only once the file behind the next one was read.
                "early": {"$ref": "https://schemas.test/late.json"},
                "anchored": {"$ref": "sub/file.json#here"},
                "inner": {"$ref": "sub/file.json"},
                "lost": {"$ref": "sub/file.json#/$defs/by_name"},
            },
        }}}}}}},
    });
    let file = json!({
        "$id": "https://schemas.test/dir/file.json",
        "type": "object",
        "properties": {
            "relative": {"$ref": "../late.json"},
            "beside": {"$ref": "beside.json"},
            "own": {"$ref": "#/$defs/own"},
            "nested": {"$ref": "#/$defs/nested"},
        },
        "$defs": {
            "own": {"type": "integer", "$anchor": "here"},
            "by_name": {"$id": "../late.json", "type": "boolean"},
            "nested": {"$id": "nested.json", "type": "object", "properties": {"x": {"$ref": "#/$defs/own"}},
                "$defs": {"own": {"type": "number"}}},
        },
    });
    let files = Files::of(&[
        ("main.json", &root.to_string()),
        ("sub/file.json", &file.to_string()),
        ("sub/beside.json", r#"{"type": "null"}"#),
    ]);
    let outcome = files.read("main.json");
    assert_eq!(files.findings(&outcome), [""; 0]);
    let input = &outcome.operations[0].definition.input_schema;
    let property = |name: &str| input["properties"][name]["type"].clone();
    assert_eq!(property("early"), "boolean");
    assert_eq!(property("anchored"), "integer");
    assert_eq!(property("lost"), "boolean");
    let definitions = input["$defs"].as_object().unwrap();
    let types: Vec<(&str, &Value)> = definitions
        .iter()
        .map(|(name, schema)| (name.split('_').next().unwrap(), &schema["type"]))
        .collect();
    for want in [
        ("by", json!("boolean")),
        ("beside", json!("null")),
        ("own", json!("integer")),
        ("own", json!("number")),
        ("nested", json!("object")),
    ] {
        assert!(types.contains(&(want.0, &want.1)), "{want:?}: {types:?}");
    }
}

#[test]
fn thousands_of_files_are_one_document() {
    const FILES: usize = 3_000;
    let mut paths = String::new();
    let files = Files::of(&[]);
    for number in 0..FILES {
        writeln!(paths, "  /{number}: {{$ref: 'paths/{number}.yaml'}}").unwrap();
        // Every file refers to the next one's schema, so that the last is a long way from the document.
        let next = (number + 1) % FILES;
        files.put(
            &format!("paths/{number}.yaml"),
            &format!(
                "get:\n  operationId: op{number}\n  parameters: [{{name: q, in: query, schema: {{$ref: '{next}.yaml#/x-schema'}}}}]\nx-schema: {{type: integer, maximum: {number}}}\n"
            ),
        );
    }
    files.put("main.yaml", &document(&paths));
    let outcome = files.read("main.yaml");
    assert_eq!(files.findings(&outcome), [""; 0]);
    assert_eq!(outcome.operations.len(), FILES);
    assert_eq!(outcome.report.references.read.len(), FILES);
    let last = &outcome.named("op2999").definition.input_schema;
    assert_eq!(
        last["properties"]["q"],
        json!({"type": "integer", "maximum": 0})
    );
}

#[test]
fn a_fragment_that_a_document_refers_to_is_no_source() {
    let files = Files::of(&[
        (
            "apis/main.yaml",
            &format!(
                "{}components: {{parameters: {{p: {{name: q, in: query, schema: {{}}}}}}}}\n",
                document("  /a: {$ref: 'parts/a.yaml'}\n")
            ),
        ),
        ("apis/parts/a.yaml", "get: {operationId: a}\n"),
        ("apis/parts/unused.yaml", "get: {operationId: b}\n"),
        // A document of its own, of which another refers to a part.
        (
            "apis/second.yaml",
            &document(
                "  /b: {get: {operationId: b, parameters: [{$ref: 'main.yaml#/components/parameters/p'}]}}\n",
            ),
        ),
    ]);
    let outcome = files.read("apis");
    assert_eq!(outcome.names(), ["a", "b"]);
    assert_eq!(
        files.findings(&outcome),
        ["warning not_openapi apis/parts/unused.yaml#"]
    );
}

/// Servers are relative to the file they stand in, wherever the document came from.
#[test]
fn documents_from_the_web_refer_to_their_own_host() {
    let root = "openapi: 3.1.0\nservers: [{url: ../api}]\npaths:\n  /a: {$ref: 'parts/a.yaml'}\n  /b: {$ref: 'https://allowed.test/x/b.yaml'}\n  /c: {$ref: 'https://other.test/c.yaml'}\n  /d: {$ref: '//allowed.test/x/b.yaml#/more'}\n";
    let options = |hosts: &[&str]| {
        let mut options = ReadOptions::default();
        for host in hosts {
            options.reference_hosts.allow(host).unwrap();
        }
        options
    };
    let all: [(&str, &[u8]); 4] = [
        ("https://h.test/v1/openapi.yaml", root.as_bytes()),
        (
            "https://h.test/v1/parts/a.yaml",
            b"servers: [{url: own}]\nget: {operationId: a}\nput: {operationId: a2, servers: [{url: /put}]}\n",
        ),
        (
            "https://allowed.test/x/b.yaml",
            b"get: {operationId: b, servers: [{url: .}]}\nmore: {get: {operationId: d}}\n",
        ),
        ("https://other.test/c.yaml", b"get: {operationId: c}\n"),
    ];
    let read = |hosts: &[&str]| {
        let names = vec![all[0].0.to_owned()];
        let files = all
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.to_vec()));
        let mut list: Vec<sezzlee::catalog::Operation> = Vec::new();
        let report = read(&names, &options(hosts), &Memory(files.collect()), &mut list).unwrap();
        Outcome {
            operations: list,
            report,
        }
    };
    let outcome = read(&[]);
    assert_eq!(outcome.names(), ["a", "a2"]);
    let outcome = read(&["allowed.test"]);
    assert_eq!(outcome.names(), ["a", "a2", "b", "d"]);
    assert_eq!(
        outcome.findings(),
        ["dropped external_ref_blocked /paths/~1c"]
    );
    assert!(
        outcome.report.diagnostics[0]
            .message
            .contains("--allow-ref-host")
    );
    let base = |name: &str| {
        let template = outcome.named(name).template.as_ref();
        template.unwrap().base_url.clone().unwrap()
    };
    assert_eq!(base("a"), "https://h.test/v1/parts/own");
    assert_eq!(base("a2"), "https://h.test/put");
    assert_eq!(base("b"), "https://allowed.test/x");
    assert_eq!(base("d"), "https://h.test/api");
}
