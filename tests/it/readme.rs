//! The README says what the code does.

use std::fs;

use crate::cli_process;

const START: &str = "<!-- settings: this table is held to the flags by a test; run it with UPDATE_README=1 to write it anew -->\n";
const END: &str = "<!-- settings end -->";

fn readme_path() -> String {
    format!("{}/README.md", env!("CARGO_MANIFEST_DIR"))
}

/// One row a flag: name, default, meaning.
fn settings_table() -> String {
    let command = sezzlee::cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    let mut rows = vec![
        "| flag | default | meaning |".to_owned(),
        "| --- | --- | --- |".to_owned(),
    ];
    let global = command.get_arguments().filter(|arg| arg.is_global_set());
    for arg in serve.get_arguments().chain(global) {
        let (Some(long), false) = (arg.get_long(), arg.is_hide_set()) else {
            continue;
        };
        if matches!(long, "help" | "version") {
            continue;
        }
        let values = arg.get_value_names().unwrap_or_default();
        let value = if arg.get_action().takes_values() && !values.is_empty() {
            format!(" {}", values[0])
        } else {
            String::new()
        };
        let defaults = arg
            .get_default_values()
            .iter()
            .map(|value| value.to_string_lossy());
        let default = defaults.collect::<Vec<_>>().join(" ");
        let default = if default.is_empty() || !arg.get_action().takes_values() {
            String::new()
        } else {
            format!("`{default}`")
        };
        let help = arg
            .get_help()
            .unwrap()
            .to_string()
            .replace('\n', " ")
            .replace('|', "\\|");
        rows.push(format!("| `--{long}{value}` | {default} | {help} |"));
    }
    rows.join("\n") + "\n"
}

#[test]
fn the_settings_table_is_the_flags() {
    let text = fs::read_to_string(readme_path()).unwrap();
    let start = text.find(START).unwrap() + START.len();
    let end = text.find(END).unwrap();
    let table = settings_table();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(
            readme_path(),
            format!("{}{table}{}", &text[..start], &text[end..]),
        )
        .unwrap();
        return;
    }
    assert_eq!(
        &text[start..end],
        table,
        "run this test with UPDATE_README=1 and look at the difference"
    );
}

#[test]
fn every_file_it_names_exists() {
    let text = fs::read_to_string(readme_path()).unwrap();
    let mut named = 0;
    for word in text.split('`').skip(1).step_by(2) {
        let is_path = ["docs/", "index-schema/", "examples/", ".ci/", "src/"]
            .iter()
            .any(|start| word.starts_with(start));
        if is_path {
            named += 1;
            assert!(
                fs::exists(format!("{}/{word}", env!("CARGO_MANIFEST_DIR"))).unwrap(),
                "{word}"
            );
        }
    }
    assert!(named > 4);
}

/// Every subcommand a reader is told of is there, and every one that is there has help.
#[test]
fn the_command_teaches() {
    let command = sezzlee::cli::command();
    command.clone().debug_assert();
    let text = fs::read_to_string(readme_path()).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    for line in blocks
        .flat_map(str::lines)
        .filter(|line| line.starts_with("sezzlee "))
    {
        let name = line.split_whitespace().nth(1).unwrap();
        assert!(command.find_subcommand(name).is_some(), "{line}");
    }
    for subcommand in command.get_subcommands() {
        assert!(
            subcommand.get_about().is_some(),
            "{}",
            subcommand.get_name()
        );
        for arg in subcommand.get_arguments() {
            assert!(
                arg.get_help().is_some(),
                "{} {}",
                subcommand.get_name(),
                arg.get_id()
            );
        }
    }
}

/// The example with a file, run as it stands there.
#[test]
fn the_dry_run_prints_what_it_says() {
    let text = fs::read_to_string(readme_path()).unwrap();
    let from = text.find("sezzlee invoke import_captions").unwrap();
    let (call, rest) = text[from..].split_once("\n```\n\n```text\n").unwrap();
    let (want, _) = rest.split_once("\n```").unwrap();
    let (flags, arguments) = call.split_once('\'').unwrap();
    let mut args: Vec<&str> = flags.split_whitespace().skip(1).collect();
    args.retain(|one| *one != "\\");
    args.push(arguments.strip_suffix('\'').unwrap());
    let ran = cli_process::run(env!("CARGO_MANIFEST_DIR").as_ref(), &args);
    assert_eq!(ran.out.trim_end(), want.trim_end(), "{}", ran.err);
}
