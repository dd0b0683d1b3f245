//! Generations on disk: what is written is what is read, and nothing torn is ever half-read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sezzlee::catalog::{Operation, SchemeUse, Security, Sink};
use sezzlee::index::{self, BuildOptions, Builder, FORMAT_VERSION, FieldName, IndexError};

use super::naive::{engine, naive, operation};

fn shop(count: usize) -> Vec<Operation> {
    let verbs = ["list", "get", "create", "cancel"];
    (0..count)
        .map(|n| {
            operation(&json!({
                "name": format!("{}_thing_{n:04}", verbs[n % 4]),
                "description": format!("Does {} with thing {n}.", verbs[n % 4]),
                "tags": [format!("Tag {}", n % 3)],
                "route": format!("/things/{n}"),
                "inputSchema": {"type": "object", "properties": {"id": {"type": "integer", "description": "Thing id"}}},
            }))
        })
        .collect()
}

fn build(out: &Path, operations: &[Operation]) -> index::Built {
    let mut builder = Builder::on_disk(out, BuildOptions::default()).unwrap();
    for operation in operations {
        builder.push(operation.clone()).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn what_was_built_is_what_opens() {
    let out = tempfile::tempdir().unwrap();
    // Arrival order does not matter.
    let mut operations = shop(50);
    operations.reverse();
    let built = build(out.path(), &operations);
    assert_eq!(built.reader.len(), 50);
    let reader = index::open_current(out.path()).unwrap();
    assert_eq!(reader.manifest(), built.reader.manifest());
    assert_eq!(index::verify(out.path()).unwrap(), built.bytes);
    assert_eq!(
        engine(&reader, "cancel thing", &[], 50),
        naive(&operations, "cancel thing", &[], 50)
    );
    for operation in &operations {
        let document = reader.find(&operation.definition.name).unwrap().unwrap();
        let (stored, version) = reader.operation(document).unwrap();
        assert_eq!(stored, *operation);
        assert_eq!(version, operation.definition.version());
    }
    for absent in ["", "a", "zzz", "get_thing_000", "get_thing_00011"] {
        assert_eq!(reader.find(absent).unwrap(), None);
    }
    let left: Vec<_> = fs::read_dir(out.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn empty_and_single_catalogues_serve() {
    for count in [0, 1] {
        let out = tempfile::tempdir().unwrap();
        build(out.path(), &shop(count));
        let reader = index::open_current(out.path()).unwrap();
        assert_eq!(engine(&reader, "thing", &[], 9).len(), count);
        assert_eq!(engine(&reader, "", &[], 9).len(), count);
    }
}

#[test]
fn a_renamed_operation_is_found_by_its_new_name_only() {
    let mut operations = shop(5);
    let mut builder = Builder::in_memory(BuildOptions::default());
    for operation in &operations {
        builder.operation(operation.clone()).unwrap();
    }
    Sink::rename(&mut builder, 2, "zebra_crossing").unwrap();
    let reader = builder.finish().unwrap().reader;
    operations[2].definition.name = "zebra_crossing".into();
    for query in ["zebra", "create", "thing", ""] {
        assert_eq!(
            engine(&reader, query, &[], 9),
            naive(&operations, query, &[], 9),
            "{query}"
        );
    }
    let document = reader.find("zebra_crossing").unwrap().unwrap();
    assert_eq!(
        reader.operation(document).unwrap().1,
        operations[2].definition.version()
    );
}

/// A word of 100 KB costs its document nothing: it is found by its front, and the others are what they were.
#[test]
fn a_word_of_100_kilobytes_is_found_by_its_front() {
    let mut operations = shop(3);
    let word = "xylo".repeat(25_000);
    operations[1].definition.description = format!("Takes {word} and more.");
    let out = tempfile::tempdir().unwrap();
    build(out.path(), &operations);
    let reader = index::open_current(out.path()).unwrap();
    let longest = &word[..16_384];
    for query in ["xyl", "xyloxylo", longest, "more", "thing", "xyloz"] {
        assert_eq!(
            engine(&reader, query, &[], 9),
            naive(&operations, query, &[], 9)
        );
    }
    assert_eq!(engine(&reader, longest, &[], 9).len(), 1);
}

#[test]
fn equal_names_are_refused() {
    let mut builder = Builder::in_memory(BuildOptions::default());
    let operations = shop(1);
    builder.push(operations[0].clone()).unwrap();
    builder.push(operations[0].clone()).unwrap();
    assert!(
        matches!(builder.finish(), Err(IndexError::DuplicateName { name }) if name == "list_thing_0000")
    );
}

#[test]
fn equal_catalogues_have_equal_revisions_and_others_do_not() {
    let revision = |operations: &[Operation]| {
        super::naive::build(operations, 1)
            .manifest()
            .revision
            .clone()
    };
    let operations = shop(9);
    let mut reversed = operations.clone();
    reversed.reverse();
    assert_eq!(revision(&operations), revision(&reversed));
    let edits: [fn(&mut Operation); 6] = [
        |o| o.definition.description.push('!'),
        |o| o.tags.push("New".into()),
        |o| o.search_terms.push("new".into()),
        |o| o.route = Some("/new".into()),
        |o| o.definition.deprecated = true,
        |o| o.security = Security::of_scopes(vec!["read".into()]),
    ];
    for edit in edits {
        let mut changed = operations.clone();
        edit(&mut changed[4]);
        assert_ne!(revision(&operations), revision(&changed));
    }
}

#[test]
fn a_second_build_replaces_and_two_at_once_are_refused() {
    let out = tempfile::tempdir().unwrap();
    build(out.path(), &shop(3));
    let running = Builder::on_disk(out.path(), BuildOptions::default()).unwrap();
    let second = Builder::on_disk(out.path(), BuildOptions::default());
    assert!(matches!(second, Err(IndexError::Busy { .. })));
    // An abandoned build leaves the old generation and no litter.
    drop(running);
    assert_eq!(index::open_current(out.path()).unwrap().len(), 3);
    let old = index::open_current(out.path()).unwrap();
    build(out.path(), &shop(4));
    build(out.path(), &shop(5));
    assert_eq!(index::open_current(out.path()).unwrap().len(), 5);
    // A generation that is open outlives its directory.
    assert_eq!(engine(&old, "thing", &[], 9).len(), 3);
}

#[test]
fn litter_of_a_killed_build_is_removed() {
    let out = tempfile::tempdir().unwrap();
    build(out.path(), &shop(3));
    let litter = out.path().join(".build-1");
    fs::create_dir(&litter).unwrap();
    fs::write(litter.join("spool"), "half").unwrap();
    build(out.path(), &shop(4));
    assert!(!litter.exists());
    assert_eq!(index::open_current(out.path()).unwrap().len(), 4);
}

/// Every file of a generation: cut short, it does not open; with a byte flipped, `verify` finds it, and
/// whatever opens answers with an error rather than with something else.
#[test]
fn damage_is_found() {
    let out = tempfile::tempdir().unwrap();
    build(out.path(), &shop(40));
    let generation = index::current(out.path()).unwrap();
    let files: Vec<_> = fs::read_dir(&generation)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert!(files.len() > 5);
    for file in &files {
        let whole = fs::read(file).unwrap();
        if whole.is_empty() {
            continue;
        }
        fs::write(file, &whole[..whole.len() - 1]).unwrap();
        assert!(
            index::open_current(out.path()).is_err(),
            "{} cut",
            file.display()
        );
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(file, &flipped).unwrap();
            let found = index::verify(out.path()).unwrap_err();
            assert!(
                matches!(
                    found,
                    IndexError::Damaged { .. } | IndexError::Format { .. }
                ),
                "{} flipped at {at}: {found}",
                file.display()
            );
        }
        fs::remove_file(file).unwrap();
        assert!(
            index::open_current(out.path()).is_err(),
            "{} removed",
            file.display()
        );
        fs::write(file, &whole).unwrap();
    }
    index::verify(out.path()).unwrap();
}

#[test]
fn foreign_directories_and_formats_are_refused_with_a_sentence() {
    let out = tempfile::tempdir().unwrap();
    let refused = index::open_current(out.path()).unwrap_err();
    assert!(refused.to_string().contains("holds no index"), "{refused}");
    for text in [
        "",
        "../../etc x\n",
        "g-a/../b x\n",
        "g-1\n",
        "nonsense here\n",
    ] {
        fs::write(out.path().join("CURRENT"), text).unwrap();
        assert!(index::open_current(out.path()).is_err(), "{text}");
    }
    build(out.path(), &shop(2));
    let manifest = index::current(out.path()).unwrap().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"format\": 1", "\"format\": 99")).unwrap();
    let refused = index::open_current(out.path()).unwrap_err().to_string();
    assert!(
        refused.contains("format 99") && refused.contains("build it again"),
        "{refused}"
    );
}

#[test]
fn totals_and_vocabulary_follow_the_shown_audiences() {
    let mut operations = shop(9);
    for (n, operation) in operations.iter_mut().enumerate() {
        if n % 3 != 0 {
            operation.security = Security {
                alternatives: vec![vec![SchemeUse {
                    scheme: "s".into(),
                    scopes: vec![format!("scope{}", n % 3)],
                }]],
            };
        }
    }
    for segments in [1, 4] {
        let reader = super::naive::build(&operations, segments);
        assert_eq!(reader.audiences().len(), 3);
        for mask in 0..8u32 {
            let shown: Vec<bool> = (0..3).map(|bit| mask >> bit & 1 == 1).collect();
            let visible: Vec<&Operation> = operations
                .iter()
                .filter(|o| {
                    let audience = reader
                        .audiences()
                        .iter()
                        .position(|a| *a == o.security)
                        .unwrap();
                    shown[audience]
                })
                .collect();
            assert_eq!(reader.total(&shown), visible.len() as u64);
            let mut tags: Vec<String> = visible
                .iter()
                .flat_map(|o| &o.tags)
                .map(|t| t.to_lowercase())
                .collect();
            tags.sort();
            tags.dedup();
            let expected =
                (!tags.is_empty()).then_some(tags.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(reader.vocabulary(&shown, 3), expected);
            if tags.len() > 1 {
                assert_eq!(reader.vocabulary(&shown, tags.len() - 1), None);
            }
            let filter = index::Filter {
                tags: &[],
                shown: &shown,
            };
            for query in ["thing", ""] {
                let mut found: Vec<String> = reader
                    .top(query, filter, 50)
                    .unwrap()
                    .iter()
                    .map(|hit| reader.operation(hit.document).unwrap().0.definition.name)
                    .collect();
                found.sort();
                let mut names: Vec<_> = visible.iter().map(|o| o.definition.name.clone()).collect();
                names.sort();
                assert_eq!(found, names);
            }
        }
    }
}

/// The published description of the format and the code say the same; `index-schema/v1.json` says what
/// to do when they must change.
#[test]
fn the_published_schema_is_the_code() {
    let path = format!(
        "{}/index-schema/v{FORMAT_VERSION}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let published: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(published["format"], FORMAT_VERSION);
    assert_eq!(published["tokenizer"], index::TOKENIZER_VERSION);
    let fields = published["fields"].as_array().unwrap();
    for name in FieldName::ALL {
        let field = fields
            .iter()
            .find(|field| field["name"] == name.as_str())
            .unwrap();
        let weight = field["weight"].as_f64().unwrap();
        assert!((weight * 2.0 - f64::from(name.weight2())).abs() < f64::EPSILON);
    }
    let profile = &published["profile"];
    let close =
        |key: &str, value: f64| (profile[key].as_f64().unwrap() - value).abs() < f64::EPSILON;
    assert!(close("k1", index::NormativeProfile::K1) && close("b", index::NormativeProfile::B));
    assert_eq!(profile["prefixCharsMin"], sezzlee::text::PREFIX_CHARS_MIN);
    assert_eq!(profile["queryTokensMax"], sezzlee::text::QUERY_TOKENS_MAX);
    assert_eq!(profile["queryBytesMax"], sezzlee::text::QUERY_BYTES_MAX);

    let out = tempfile::tempdir().unwrap();
    build(out.path(), &shop(1));
    let meta = index::current(out.path()).unwrap().join("meta.json");
    let meta: Value = serde_json::from_slice(&fs::read(meta).unwrap()).unwrap();
    let mut names: Vec<_> = meta["schema"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].clone())
        .collect();
    let mut wanted: Vec<_> = fields.iter().map(|f| f["name"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    wanted.sort_by_key(ToString::to_string);
    assert_eq!(names, wanted);
}

/// The build of another thread of this process is given up: what it writes next fails, and nothing is left.
#[test]
fn an_abandoned_build_leaves_the_generation_that_serves() {
    let out = tempfile::tempdir().unwrap();
    assert!(!index::abandon_build(out.path()), "there is none");
    build(out.path(), &shop(3));
    let serving = index::current(out.path()).unwrap();
    assert!(!index::abandon_build(out.path()), "it is complete");
    let mut builder = Builder::on_disk(out.path(), BuildOptions::default()).unwrap();
    for operation in shop(5) {
        builder.push(operation).unwrap();
    }
    assert!(index::abandon_build(out.path()));
    assert!(builder.finish().is_err());
    assert_eq!(index::current(out.path()).unwrap(), serving);
    assert_eq!(index::open_current(out.path()).unwrap().len(), 3);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 3);
}

/// What a generation was made from is told of that generation only.
#[test]
fn provenance_belongs_to_one_generation() {
    use sezzlee::catalog::{FileLoader, Loader as _, ReadOptions, Recorder, SourceTarget};
    let out = tempfile::tempdir().unwrap();
    let source = out.path().join("a.yaml");
    fs::write(&source, "text").unwrap();
    let sources = [source.display().to_string()];
    let recorder = Recorder::new(&FileLoader, &sources, &ReadOptions::default());
    let mut stream = recorder.open(&SourceTarget::File(source), None).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    let provenance = index::Provenance {
        documents: vec!["a.yaml".to_owned()],
        sources: recorder.finish().unwrap().unwrap(),
    };

    let index_directory = out.path().join("index");
    assert_eq!(index::read_provenance(&index_directory), None, "no index");
    let first = build(&index_directory, &shop(3));
    assert_eq!(
        index::read_provenance(&index_directory),
        None,
        "nothing noted"
    );
    index::write_provenance(&index_directory, &first.reader, &provenance).unwrap();
    assert_eq!(
        index::read_provenance(&index_directory),
        Some(provenance.clone())
    );
    fs::write(index_directory.join("SOURCES.json"), "{").unwrap();
    assert_eq!(index::read_provenance(&index_directory), None, "torn");
    let second = build(&index_directory, &shop(4));
    // Told too late: another generation is current.
    index::write_provenance(&index_directory, &first.reader, &provenance).unwrap();
    assert_eq!(
        index::read_provenance(&index_directory),
        None,
        "of the one before"
    );
    index::write_provenance(&index_directory, &second.reader, &provenance).unwrap();
    assert_eq!(index::read_provenance(&index_directory), Some(provenance));
}

/// The last step of a build fails: nothing names the new generation, so it does not stay.
#[test]
fn a_generation_that_cannot_become_current_does_not_stay() {
    let out = tempfile::tempdir().unwrap();
    build(out.path(), &shop(3));
    let serving = index::current(out.path()).unwrap();
    fs::create_dir(out.path().join("CURRENT.new")).unwrap();
    let mut builder = Builder::on_disk(out.path(), BuildOptions::default()).unwrap();
    builder.push(shop(1).remove(0)).unwrap();
    assert!(matches!(builder.finish(), Err(IndexError::File { .. })));
    fs::remove_dir(out.path().join("CURRENT.new")).unwrap();
    assert_eq!(index::current(out.path()).unwrap(), serving);
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 3);
    build(out.path(), &shop(4));
    assert_eq!(index::open_current(out.path()).unwrap().len(), 4);
}
