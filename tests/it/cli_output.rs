//! What the command writes: batches, JSON, requests, explanations, completions, index directories.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::{GOOD, complains, sources};
use crate::cli_process::{Ran, command, finish, run, run_with};

#[test]
fn batches_are_one_object_a_line() {
    let directory = sources();
    let queries = "cancel order\n\nünknöwn\norder notes\n";
    let args = [
        "search",
        "--queries",
        "-",
        "--json",
        "--scores",
        "--limit",
        "3",
        "shop.yaml",
    ];
    let Ran { code, out, err } = run_with(directory.path(), &args, queries.as_bytes());
    assert_eq!(code, Some(0), "{err}");
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0]["results"][0]["name"], "cancel_order");
    for (line, hits) in lines.iter().zip([3, 3, 0, 3]) {
        assert_eq!(line["results"].as_array().unwrap().len(), hits);
        assert_eq!(line["scores"].as_array().unwrap().len(), hits);
        assert_eq!(line["total"], 49);
    }
    let scores: Vec<f64> = lines[0]["scores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_f64().unwrap())
        .collect();
    assert!(
        scores.is_sorted_by(|a, b| a >= b) && scores[2] > 0.0,
        "{scores:?}"
    );
    assert_eq!(lines[1]["scores"], json!([0.0, 0.0, 0.0]));
    // From a file, for people; and a query that no tool would take is that query's error.
    fs::write(directory.path().join("queries.txt"), queries).unwrap();
    let Ran { code, out, .. } = run(
        directory.path(),
        &["search", "--queries", "queries.txt", "shop.yaml"],
    );
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().filter(|line| line.starts_with("# ")).count(), 4);
    let long = format!("order\n{}\norder\n", "word ".repeat(4_000));
    let Ran { code, out, .. } = run_with(
        directory.path(),
        &["search", "--queries", "-", "--json", "shop.yaml"],
        long.as_bytes(),
    );
    assert_eq!((code, out.lines().count()), (Some(1), 3));
    assert!(out.lines().nth(1).unwrap().contains("unknown_argument"));
    let Ran { code, err, .. } = run_with(
        directory.path(),
        &["search", "--queries", "-", "shop.yaml"],
        b"\xff\xfe\n",
    );
    assert_eq!(code, Some(2));
    assert!(err.contains("queries from `-`"), "{err}");
}

#[test]
fn json_output_is_what_the_meta_tools_answer() {
    let directory = sources();
    let gateway = crate::tools_harness::Gateway::of("good.yaml", GOOD, "http://127.0.0.1:9/v1");
    let out = |args: &[&str]| run(directory.path(), args).out;
    let searched = gateway.search(&json!({"query": "thing", "detail": "schema"}));
    assert_eq!(
        out(&["search", "thing", "--json", "--detail", "good.yaml"]),
        searched.text + "\n"
    );
    let loaded = gateway.load(&json!({"name": "get_thing"}));
    assert_eq!(
        out(&["load", "get_thing", "--json", "good.yaml"]),
        loaded.text + "\n"
    );
    let pretty: Value = serde_json::from_str(&out(&["load", "get_thing", "good.yaml"])).unwrap();
    assert_eq!(pretty, loaded.value);
    let absent = gateway.load(&json!({"name": "nope"}));
    assert_eq!(
        out(&["load", "nope", "--json", "good.yaml"]),
        absent.text + "\n"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let directory = sources();
    let lines: String = (0..5_000)
        .map(|n| {
            json!({"name": format!("op_{n}"), "description": "word ".repeat(20)}).to_string() + "\n"
        })
        .collect();
    fs::write(directory.path().join("many.jsonl"), lines).unwrap();
    for args in [
        &["search", "", "--limit", "5000", "many.jsonl"][..],
        &["search", "", "--limit", "5000", "--detail", "many.jsonl"],
        &["completions", "zsh"],
        &["--help"],
    ] {
        let mut child = command(directory.path(), args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // As `head -1` does.
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let ran = finish(child);
        assert!(!first.is_empty());
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
        assert!(
            !ran.err.contains("sezzlee:") && !ran.err.contains("panicked"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn every_shell_has_completions_and_every_subcommand_help() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let Ran { code, out, err } = run(directory.path(), &["completions", shell]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(
            out.contains("sezzlee") && out.contains("search") && out.len() > 1_000,
            "{shell}"
        );
    }
    for subcommand in sezzlee::cli::command().get_subcommands() {
        let Ran { code, out, err } = run(directory.path(), &[subcommand.get_name(), "--help"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(out.contains("Usage: sezzlee"), "{out}");
        assert!(!out.contains('\u{1b}'), "no colours in a file");
    }
}

#[test]
fn dry_runs_show_the_request_after_invoke_tools_own_checks() {
    let directory = sources();
    let Ran { code, out, .. } = run(
        directory.path(),
        &[
            "invoke",
            "get_thing",
            "--dry-run",
            "--args",
            "{\"id\":9007199254740993}",
            "good.yaml",
        ],
    );
    assert_eq!(code, Some(0));
    assert!(
        out.starts_with("GET http://127.0.0.1:9/v1/things/9007199254740993\n"),
        "{out}"
    );
    let args = [
        "invoke",
        "create_order",
        "--dry-run",
        "--args",
        "-",
        "--base-url",
        "https://shop.test/api",
        "shop.yaml",
    ];
    let body = r#"{"customer_id":1,"lines":[{"product_id":1,"quantity":2}],"Idempotency-Key":"k"}"#;
    let Ran { code, out, err } = run_with(directory.path(), &args, body.as_bytes());
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with("POST https://shop.test/api/orders\n"),
        "{out}"
    );
    assert!(out.contains("idempotency-key: k\n"), "{out}");
    assert!(
        out.ends_with("\n\n{\"customer_id\":1,\"lines\":[{\"product_id\":1,\"quantity\":2}]}\n"),
        "{out}"
    );
    for (arguments, code) in [
        ("{\"id\":{}}", "invalid_path_type"),
        ("{\"ids\":1}", "unknown_argument"),
        ("[1]", "invalid_type"),
        ("{}", "missing_path_parameter"),
    ] {
        let ran = run(
            directory.path(),
            &[
                "invoke",
                "get_thing",
                "--dry-run",
                "--json",
                "--args",
                arguments,
                "good.yaml",
            ],
        );
        let answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["error"], code);
    }
}

#[test]
fn explanations_add_up() {
    let directory = sources();
    let args = ["explain", "cancel order", "--json", "shop.yaml"];
    let explained: Value = serde_json::from_str(&run(directory.path(), &args).out).unwrap();
    assert_eq!(explained["name"], "cancel_order");
    let parts = explained["tokens"].as_array().unwrap().iter();
    let sum = parts.fold(0.0, |sum, token| sum + token["part"].as_f64().unwrap());
    // The same additions in the same order.
    assert_eq!(
        explained["score"].as_f64().unwrap().to_bits(),
        sum.to_bits()
    );
    let searched = run(
        directory.path(),
        &[
            "search",
            "cancel order",
            "--json",
            "--scores",
            "--limit",
            "1",
            "shop.yaml",
        ],
    );
    let searched: Value = serde_json::from_str(&searched.out).unwrap();
    assert_eq!(searched["scores"][0], explained["score"]);
    let Ran { out, .. } = run(
        directory.path(),
        &[
            "explain",
            "cancel order",
            "--name",
            "get_order",
            "shop.yaml",
        ],
    );
    assert!(out.starts_with("get_order  score "), "{out}");
    assert!(
        out.contains("matches nothing here") && out.contains("name 1 x 3"),
        "{out}"
    );
}

#[test]
fn an_index_is_built_verified_and_read() {
    let directory = sources();
    let at = directory.path();
    let Ran { code, out, err } = run(at, &["index", "shop.yaml", "--out", "idx", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let figures: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(figures["operations"], 49);
    let Ran { out, .. } = run(at, &["verify", "idx"]);
    assert!(out.starts_with("49 operations in "), "{out}");
    let from_index = run(at, &["search", "cancel order", "--json", "--scores", "idx"]).out;
    assert_eq!(
        from_index,
        run(
            at,
            &["search", "cancel order", "--json", "--scores", "shop.yaml"]
        )
        .out
    );
    for (args, parts) in [
        (
            &["search", "a", "idx", "good.yaml"][..],
            &["`idx` is an index", "alone"][..],
        ),
        (&["check", "idx"], &["`idx` is an index", "sezzlee verify"]),
        (
            &["index", "idx", "--out", "idx2"],
            &["`idx` is an index already"],
        ),
        (
            &["load", "a", "idx", "--base-url", "http://x.test"],
            &["--base-url"],
        ),
    ] {
        complains(at, args, parts);
    }
}

/// A generation whose files do not fit is refused in a sentence, whichever file it is and however it is torn.
#[test]
fn a_torn_index_is_refused() {
    let directory = sources();
    let at = directory.path();
    assert_eq!(
        run(at, &["index", "shop.yaml", "--out", "idx"]).code,
        Some(0)
    );
    let current = fs::read_to_string(at.join("idx/CURRENT")).unwrap();
    let generation = at
        .join("idx")
        .join(current.split_whitespace().next().unwrap());
    for entry in fs::read_dir(&generation).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let serve = ["serve", "--listen", "127.0.0.1:0", "idx"];
        for args in [&["search", "a", "idx"][..], &["verify", "idx"], &serve] {
            complains(at, args, &["damaged", "sezzlee index"]);
        }
        fs::remove_file(&path).unwrap();
        complains(at, &["search", "a", "idx"], &[&name]);
        fs::write(&path, &whole).unwrap();
        // One byte, wherever it is: read for what it is, or refused in a few words; verify finds it.
        for at_byte in (0..whole.len()).step_by(whole.len() / 5 + 1) {
            let mut flipped = whole.clone();
            flipped[at_byte] ^= 0x55;
            // A file that is mapped is not written to: a new one takes its place.
            fs::remove_file(&path).unwrap();
            fs::write(&path, &flipped).unwrap();
            complains(at, &["verify", "idx"], &["damaged"]);
            let ran = run(at, &["search", "order", "--json", "--detail", "idx"]);
            match ran.code {
                Some(0) => {}
                Some(1) => assert!(ran.out.contains("internal_error"), "{ran:?}"),
                Some(2) => {
                    let last = ran.err.lines().last().unwrap();
                    assert!(last.starts_with("sezzlee: ") && last.len() < 400, "{last}");
                    assert!(last.contains("sezzlee index"), "{last}");
                }
                other => panic!("{name} at {at_byte}: {other:?}: {}", ran.err),
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert_eq!(run(at, &["verify", "idx"]).code, Some(0));
    for torn in ["", "g-none 00", "../../etc 00", "\u{0}"] {
        fs::write(at.join("idx/CURRENT"), torn).unwrap();
        complains(at, &["search", "a", "idx"], &["index"]);
    }
}

/// Output that cannot be written is a failure, unlike a reader who has read enough.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let directory = sources();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut search = command(directory.path(), &["search", "thing", "good.yaml"]);
    let ran = finish(search.stdout(full).spawn().unwrap());
    assert_eq!(ran.code, Some(2));
    let want = "sezzlee: the output cannot be written: No space left on device";
    assert!(ran.err.starts_with(want), "{}", ran.err);
}

/// A hostile source gives as many findings as it likes; what is not listed is counted.
#[test]
fn findings_beyond_counting_are_counted() {
    let directory = sources();
    let bad = "{}\n".repeat(10_050);
    let good = "{\"name\":\"a\",\"description\":\"one\"}\n";
    fs::write(directory.path().join("bad.jsonl"), bad + good).unwrap();
    let Ran { out, .. } = run(directory.path(), &["check", "--json", "bad.jsonl"]);
    assert_eq!(out.lines().count(), 10_001);
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!(last["diagnosticsLeftOut"], 50);
    assert_eq!(last["counts"]["dropped"], 10_050);
    let Ran { out, .. } = run(directory.path(), &["check", "bad.jsonl"]);
    assert!(out.contains("\n50 more, of sources"), "{out}");
}
