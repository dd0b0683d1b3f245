//! The configuration file through the command: three languages, faults with their places, paths, reloads.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cli::GOOD;
use crate::cli_process::run;
use crate::reload_process::{Here, check_serves, document};

const TOML: &str = r#"
[naming]
prefix = "never"
[[sources]]
source = "apis/good.yaml"
baseUrl = "http://localhost:7/x"
[[sources.operations]]
operationId = "getThing"
name = "thing"
arguments.id.rename = "number"
hints = { openWorldHint = true }
"#;

const YAML: &str = r"
naming: {prefix: never}
sources:
- source: apis/good.yaml
  baseUrl: http://localhost:7/x
  operations:
  - operationId: getThing
    name: thing
    arguments: {id: {rename: number}}
    hints: {openWorldHint: true}
";

fn directory() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("conf/apis")).unwrap();
    let put =
        |name: &str, text: &str| fs::write(root.path().join("conf").join(name), text).unwrap();
    put("apis/good.yaml", GOOD);
    put("c.toml", TOML);
    put("c.yaml", YAML);
    let json = json!({
        "naming": {"prefix": "never"},
        "sources": [{
            "source": "apis/good.yaml", "baseUrl": "http://localhost:7/x",
            "operations": [{"operationId": "getThing", "name": "thing", "arguments": {"id": {"rename": "number"}}, "hints": {"openWorldHint": true}}],
        }],
    });
    put("c.json", &json.to_string());
    root
}

#[test]
fn three_languages_say_the_same_wherever_the_command_runs() {
    let root = directory();
    let mut definitions = Vec::new();
    for file in ["conf/c.toml", "conf/c.yaml", "conf/c.json"] {
        let ran = run(root.path(), &["config", "check", file]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        let ran = run(root.path(), &["load", "thing", "--config", file, "--json"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        definitions.push(ran.out);
        let args = ["invoke", "thing", "--args", "{\"number\":5}", "--dry-run"];
        let ran = run(root.path(), &[&args[..], &["--config", file]].concat());
        assert!(
            ran.out.starts_with("GET http://localhost:7/x/things/5\n"),
            "{}{}",
            ran.out,
            ran.err
        );
    }
    assert!(definitions[0].contains("openWorldHint"));
    assert!(definitions.windows(2).all(|two| two[0] == two[1]));
    // From the directory of the file as well.
    let ran = run(
        &root.path().join("conf"),
        &["search", "thing", "--config", "c.toml", "--json"],
    );
    assert!(
        ran.out.contains("\"name\":\"thing\""),
        "{}{}",
        ran.out,
        ran.err
    );
    let index = ["index", "--config", "conf/c.toml", "--out", "idx"];
    assert_eq!(run(root.path(), &index).code, Some(0));
    assert!(run(root.path(), &index).out.contains("nothing was built"));
}

#[test]
fn flags_prevail_over_the_file() {
    let root = directory();
    let path = root.path();
    let ran = run(
        path,
        &[
            "invoke",
            "good_thing",
            "--args",
            "{\"number\":5}",
            "--dry-run",
            "--config",
            "conf/c.toml",
            "--base-url",
            "http://localhost:9",
            "--prefix",
            "always",
            "conf/apis/../apis/good.yaml",
        ],
    );
    // A name that is given stays as it is, whatever the prefix.
    assert!(ran.out.contains("unknown_tool"), "{}{}", ran.out, ran.err);
    let ran = run(
        path,
        &[
            "invoke",
            "thing",
            "--args",
            "{\"number\":5}",
            "--dry-run",
            "--config",
            "conf/c.toml",
            "--base-url",
            "http://localhost:9",
            "conf/apis/../apis/good.yaml",
        ],
    );
    assert!(
        ran.out.starts_with("GET http://localhost:9/things/5\n"),
        "the source keeps its settings under another name: {}{}",
        ran.out,
        ran.err
    );
    // A source that the file does not name has none.
    fs::copy(path.join("conf/apis/good.yaml"), path.join("other.yaml")).unwrap();
    let ran = run(
        path,
        &["load", "get_thing", "--config", "conf/c.toml", "other.yaml"],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

#[track_caller]
fn faults(name: &str, text: &str, wants: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(name), text).unwrap();
    let ran = run(root.path(), &["config", "check", name]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), wants.len(), "{}", ran.out);
    for (line, want) in lines.iter().zip(wants) {
        assert!(line.contains(want), "{line}: {want}");
    }
    // Every other command refuses it in one line.
    let ran = run(root.path(), &["check", "--config", name, "x.yaml"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains(wants[0]), "{}", ran.err);
}

#[test]
fn faults_are_told_with_their_places() {
    faults(
        "c.toml",
        "[[sources]]\nsource = 'a'\nbase_url = 'x'\n[nameing]\n",
        &[
            "c.toml:3:1: there is no key `base_url` here; did you mean `baseUrl`?",
            "c.toml:4:2: there is no key `nameing` here; did you mean `naming`?",
        ],
    );
    faults(
        "c.yaml",
        "sources:\n- source: a\n  trust: maybe\n",
        &["c.yaml:3:3: `sources.0.trust`: invalid type: string \"maybe\", expected a boolean"],
    );
    faults(
        "c.json",
        "{\"sources\": [\n{}\n]}",
        &["c.json:2:1: `sources.0`: missing field `source`"],
    );
    faults("c.toml", "a = = 1", &["c.toml:1:5: "]);
    faults("c.json", "{\"sources\": [}", &["c.json:1:14: "]);
    faults("c.yaml", "sources: [\n", &["c.yaml:2:1: "]);
    faults(
        "c.yaml",
        "naming: {prefix: always}\nnaming: {prefix: never}\n",
        &["c.yaml:2:1: the key stands twice"],
    );
    faults(
        "c.yaml",
        "naming: {prefix: sometimes}",
        &["unknown variant `sometimes`"],
    );
    faults(
        "c.yaml",
        "
allowHosts: ['http://x']
sources:
- source: a
  key: No-Key
  baseUrl: ftp://x
  operations:
  - route: /a
  - {operationId: b, name: 'no name'}
  - {operationId: c, name: d, variants: [{name: d}]}
  documents:
  - path: ../x
- source: a
",
        &[
            "c.yaml:2:14: `http://x` is not a host",
            "c.yaml:5:3: \"No-Key\" is no key",
            "c.yaml:6:3: the URL cannot be used",
            "c.yaml:8:5: an operation is named by",
            "c.yaml:9:",
            "c.yaml:10:",
            "c.yaml:10:",
            "c.yaml:12:5: a document is named by its path",
            "c.yaml:13:3: `a` is named twice",
        ],
    );
}

#[test]
fn what_is_no_configuration_is_refused() {
    let root = directory();
    for (file, part) in [
        ("missing.toml", "cannot be read"),
        ("conf", "does not say its language"),
        ("conf/apis/good.yaml", "there is no key `"),
    ] {
        let ran = run(root.path(), &["check", "--config", file]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{file}");
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let put = |text: &str| fs::write(root.path().join("e.yaml"), text).unwrap();
    put("# nothing\n");
    let ran = run(root.path(), &["config", "check", "e.yaml"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let ran = run(root.path(), &["check", "--config", "e.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no source is named"), "{}", ran.err);
    put("sources: [{source: conf/apis, overlays: [gone.yaml]}]");
    let ran = run(root.path(), &["config", "check", "e.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains("gone.yaml: the overlay is not there"),
        "{}",
        ran.out
    );
}

#[test]
fn documents_of_a_directory_or_a_glob_have_settings_of_their_own() {
    let root = directory();
    fs::copy(
        root.path().join("conf/apis/good.yaml"),
        root.path().join("conf/apis/bad.yaml"),
    )
    .unwrap();
    for source in ["apis", "apis/", "apis/*.yaml"] {
        let config = format!(
            "sources:\n- source: {source:?}\n  baseUrl: http://localhost:1\n  documents:\n  - {{path: bad.yaml, key: worse, baseUrl: 'http://localhost:2'}}\n"
        );
        fs::write(root.path().join("conf/d.yaml"), config).unwrap();
        for (name, port) in [("worse_get_thing", 2), ("good_get_thing", 1)] {
            let args = ["invoke", name, "--args", "{\"id\":5}", "--dry-run"];
            let ran = run(
                root.path(),
                &[&args[..], &["--config", "conf/d.yaml"]].concat(),
            );
            let want = format!("GET http://localhost:{port}/things/5\n");
            assert!(
                ran.out.starts_with(&want),
                "{source}: {}{}",
                ran.out,
                ran.err
            );
        }
    }
}

/// Digits, nulls and depths of constants come through every language as they are written.
#[test]
fn constants_keep_their_digits() {
    let root = directory();
    let body = GOOD.replace(
        "parameters:",
        "requestBody: {content: {application/json: {schema: {properties: {n: {}}}}}}\n      parameters:",
    );
    fs::write(
        root.path().join("conf/apis/good.yaml"),
        body.replace("    get:", "    post:"),
    )
    .unwrap();
    for (name, text) in [
        (
            "n.json",
            r#"{"sources": [{"source": "apis/good.yaml", "operations": [{"operationId": "getThing", "arguments": {"n": {"hide": {"constant": [12345678901234567890123, 0.10, null]}}}}]}]}"#,
        ),
        (
            "n.yaml",
            "sources: [{source: apis/good.yaml, operations: [{operationId: getThing, arguments: {n: {hide: {constant: [12345678901234567890123, 0.10, null]}}}}]}]",
        ),
    ] {
        fs::write(root.path().join("conf").join(name), text).unwrap();
        let file = format!("conf/{name}");
        let args = [
            "invoke",
            "good_get_thing",
            "--args",
            "{\"id\":5}",
            "--dry-run",
            "--config",
            &file,
        ];
        let ran = run(root.path(), &args);
        assert!(
            ran.out
                .contains(r#"{"n":[12345678901234567890123,0.10,null]}"#),
            "{name}: {}{}",
            ran.out,
            ran.err
        );
    }
    let toml = "[[sources]]\nsource = 'apis/good.yaml'\n[[sources.operations]]\noperationId = 'getThing'\narguments.n.hide.constant = [0.10, 7, 0x10, 'x', 2020-01-01]\n";
    fs::write(root.path().join("conf/n.toml"), toml).unwrap();
    let args = [
        "invoke",
        "good_get_thing",
        "--args",
        "{\"id\":5}",
        "--dry-run",
        "--config",
        "conf/n.toml",
    ];
    let ran = run(root.path(), &args);
    assert!(
        ran.out.contains(r#"{"n":[0.10,7,16,"x","2020-01-01"]}"#),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn the_examples_are_good_and_the_schema_is_one() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let ran = run(&examples, &["config", "check", "sezzlee.toml"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let ran = run(
        &examples,
        &["check", "--strict", "--config", "sezzlee.toml"],
    );
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let example = run(&examples, &["config", "example"]).out;
    assert_eq!(
        example,
        fs::read_to_string(examples.join("sezzlee.toml")).unwrap()
    );
    let schema: Value = serde_json::from_str(&run(&examples, &["config", "schema"]).out).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let read = |name: &str| -> Value {
        let root = directory();
        serde_json::from_str(&fs::read_to_string(root.path().join("conf").join(name)).unwrap())
            .unwrap()
    };
    assert!(validator.is_valid(&read("c.json")));
    for bad in [
        json!({"source": []}),
        json!({"sources": [{}]}),
        json!({"sources": [{"source": "a", "operations": [{"arguments": {"a": {"hide": {"omit": true, "claim": "x"}}}}]}]}),
        json!({"selection": [{"decision": "perhaps"}]}),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
    // Every key says what it is for.
    let mut open = vec![&schema];
    while let Some(value) = open.pop() {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                // The choices of `hide` describe themselves.
                let is_told = property.get("description").is_some()
                    || (properties.len() == 1 && value.get("description").is_some());
                assert!(is_told, "{name}: {value}");
            }
        }
        open.extend(value.as_object().into_iter().flat_map(|map| map.values()));
        open.extend(value.as_array().into_iter().flatten());
    }
}

#[test]
fn the_file_is_read_again_at_every_reload() {
    let here = Here::new();
    here.put("bills/bill.yaml", &document("bill", 2));
    here.put("c.yaml", "sources: [{source: apis}]\n");
    let mut running = here.serve(&["--watch", "--config", "c.yaml"]);
    check_serves(&running, 0, 3);

    // Sources may come with the file, and are watched from then on.
    here.put("c.yaml", "sources: [{source: apis}, {source: bills}]\n");
    assert_eq!(running.reloaded()["generation"], 1);
    check_serves(&running, 1, 5);
    here.put("bills/bill.yaml", &document("bill", 4));
    assert_eq!(running.reloaded()["generation"], 2);
    check_serves(&running, 2, 7);

    // A broken file changes nothing.
    here.put("c.yaml", "sources: [{sauce: apis}]\n");
    let last = running.reloaded();
    assert_eq!(last["outcome"], "refused", "{last}");
    assert!(
        last["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("c.yaml:1:")),
        "{last}"
    );
    check_serves(&running, 2, 7);

    // An overlay that changes is a change, and what counts only at the start says so.
    here.put(
        "o.yaml",
        "overlay: 1.0.0\ninfo: {title: t, version: '1'}\nactions:\n- {target: \"$.paths['/order/0']\", remove: true}\n",
    );
    here.put(
        "c.yaml",
        "sources: [{source: apis, overlays: [o.yaml]}]\nallowHosts: [localhost]\n",
    );
    running.line("until the next start");
    assert_eq!(running.reloaded()["generation"], 3);
    check_serves(&running, 3, 2);
    here.put(
        "o.yaml",
        "overlay: 1.0.0\ninfo: {title: t, version: '1'}\nactions:\n- {target: \"$.paths['/order/0','/order/1']\", remove: true}\n",
    );
    assert_eq!(running.reloaded()["generation"], 4);
    check_serves(&running, 4, 1);
}

/// A password in a URL is refused without being repeated.
#[test]
fn passwords_in_urls_are_not_repeated() {
    let root = tempfile::tempdir().unwrap();
    let text = "sources:\n- source: https://user:hunter2@h.test/o.json\n- source: b\n  baseUrl: https://user:hunter3@h.test/\n";
    std::fs::write(root.path().join("c.yaml"), text).unwrap();
    let ran = run(root.path(), &["config", "check", "c.yaml"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(
        said.contains("c.yaml:2:3: ") && said.contains("c.yaml:4:3: "),
        "{said}"
    );
    assert!(!said.contains("hunter"), "{said}");
}
