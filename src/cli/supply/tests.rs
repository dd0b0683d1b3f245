//! Reuse, reloads, and what must not serve, over files of a test.

use std::fs;

use super::*;

fn document(title: &str, operations: usize) -> String {
    use std::fmt::Write as _;
    let mut text = format!("openapi: 3.1.0\ninfo: {{title: {title}, version: '1'}}\npaths:\n");
    if operations == 0 {
        text.push_str("  {}\n");
    }
    for number in 0..operations {
        write!(
            text,
            "  /{number}:\n    get: {{operationId: {title}{number}, responses: {{'200': {{description: fine}}}}}}\n"
        )
        .unwrap();
    }
    text
}

struct Here {
    root: tempfile::TempDir,
    source: SourceArgs,
}

impl Here {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("apis")).unwrap();
        let sources = vec![root.path().join("apis").display().to_string()];
        let source = SourceArgs {
            sources,
            ..SourceArgs::default()
        };
        let here = Self { root, source };
        here.write("a.yaml", &document("a", 3));
        here
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root.path().join("apis").join(name), text).unwrap();
    }

    fn out(&self) -> PathBuf {
        self.root.path().join("index")
    }

    fn build(&self) -> Loaded {
        build_on_disk(&self.source, &self.out(), false).unwrap()
    }
}

fn sentence(result: anyhow::Result<Option<Loaded>>) -> String {
    format!("{:#}", result.err().unwrap())
}

#[test]
fn an_index_is_built_once_for_the_same_sources() {
    let here = Here::new();
    let first = here.build();
    assert!(!first.is_reused);
    let second = here.build();
    assert!(second.is_reused);
    assert_eq!(second.reader.manifest(), first.reader.manifest());
    assert!(second.bytes > 0);
    let rebuilt = build_on_disk(&here.source, &here.out(), true).unwrap();
    assert!(!rebuilt.is_reused, "it was asked for");
    here.write("b.yaml", &document("b", 2));
    let third = here.build();
    assert!(!third.is_reused);
    assert_eq!(third.reader.len(), 5);
    assert!(here.build().is_reused);
    let mut other = here.source.clone();
    other.prefix = Some(crate::config::NamePrefix::Never);
    let fourth = build_on_disk(&other, &here.out(), false).unwrap();
    assert!(!fourth.is_reused, "another option");
    assert!(!here.build().is_reused, "and back");
}

#[test]
fn serving_takes_the_index_that_was_built() {
    let here = Here::new();
    here.build();
    let supply = Supply::new(&here.source, Some(&here.out()));
    assert!(supply.first().unwrap().is_reused);
    assert!(supply.again().unwrap().is_none(), "nothing changed");
    here.write("b.yaml", &document("b", 2));
    let again = supply.again().unwrap().unwrap();
    assert!(!again.is_reused);
    assert_eq!(again.reader.len(), 5);
    assert!(
        here.build().is_reused,
        "what the reload built is there for others"
    );
}

#[test]
fn a_damaged_index_is_not_reused() {
    let here = Here::new();
    here.build();
    let damaged = index::current(&here.out()).unwrap().join("definitions");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[0] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    let again = here.build();
    assert!(!again.is_reused);
    index::verify(&here.out()).unwrap();
    // Serving sees what it can see without reading every byte.
    fs::write(index::current(&here.out()).unwrap().join("cards"), "").unwrap();
    let supply = Supply::new(&here.source, Some(&here.out()));
    assert!(!supply.first().unwrap().is_reused);
}

#[test]
fn in_memory_nothing_is_read_again_for_nothing() {
    let here = Here::new();
    let supply = Supply::new(&here.source, None);
    assert_eq!(supply.first().unwrap().reader.len(), 3);
    assert!(supply.again().unwrap().is_none());
    here.write("a.yaml", &document("a", 4));
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
    assert!(supply.again().unwrap().is_none());
}

#[test]
fn what_must_not_serve_leaves_the_index_as_it_was() {
    let here = Here::new();
    let supply = Supply::new(&here.source, Some(&here.out()));
    supply.first().unwrap();
    let serving = index::current(&here.out()).unwrap();
    here.write("a.yaml", "openapi: [");
    let why = sentence(supply.again());
    assert!(why.starts_with("no source could be read"), "{why}");
    here.write("a.yaml", &document("a", 0));
    assert_eq!(
        sentence(supply.again()),
        "the sources publish no operation any more"
    );
    assert_eq!(index::current(&here.out()).unwrap(), serving);
    assert_eq!(index::open_current(&here.out()).unwrap().len(), 3);
    assert!(fs::read_dir(here.out()).unwrap().all(|entry| {
        let name = entry.unwrap().file_name();
        !name.to_string_lossy().starts_with(".build")
    }));
    here.write("a.yaml", &document("a", 1));
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 1);
}

#[test]
fn an_index_in_its_own_source_is_refused() {
    let here = Here::new();
    let inside = here.root.path().join("apis/deep/index");
    let why = build_on_disk(&here.source, &inside, false).err().unwrap();
    assert!(
        why.to_string().contains("would lie in its own source"),
        "{why}"
    );
    assert!(!inside.exists());
    let hidden = here.root.path().join("apis/.index");
    build_on_disk(&here.source, &hidden, false).unwrap();
    assert!(
        build_on_disk(&here.source, &hidden, false)
            .unwrap()
            .is_reused
    );
}

/// A half-written file must not take its tools away while the others serve; a file that was taken away
/// is meant to be gone.
#[test]
fn a_document_that_serves_is_not_lost_to_a_fault() {
    let here = Here::new();
    here.write("b.yaml", &document("b", 2));
    let supply = Supply::new(&here.source, None);
    assert_eq!(supply.first().unwrap().reader.len(), 5);
    for broken in ["openapi: [", "", "hello: 1"] {
        here.write("b.yaml", broken);
        let refused = sentence(supply.again());
        assert!(refused.contains("b.yaml"), "{broken:?}: {refused}");
    }
    here.write("b.yaml", &document("b", 1));
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
    fs::remove_file(here.root.path().join("apis/b.yaml")).unwrap();
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 3);
    // One that never served does not hold the others up.
    here.write("c.yaml", "openapi: [");
    here.write("a.yaml", &document("a", 4));
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
}

/// What serves is known as well when it was reused and not read.
#[test]
fn a_document_of_a_reused_index_is_not_lost_to_a_fault() {
    let here = Here::new();
    here.write("b.yaml", &document("b", 2));
    here.write("notes.yaml", "hello: 1");
    here.build();
    let supply = Supply::new(&here.source, Some(&here.out()));
    assert!(supply.first().unwrap().is_reused);
    here.write("b.yaml", "openapi: [");
    let refused = sentence(supply.again());
    assert!(refused.contains("b.yaml"), "{refused}");
    // What was no document before is none that is lost.
    here.write("b.yaml", &document("b", 1));
    here.write("notes.yaml", "hello: 2");
    assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
}

const REFERRING: &str = "openapi: 3.1.0\npaths:\n  /own: {get: {}}\n  /a: {$ref: 'parts/a.txt'}\n";

/// With a document that refers to a file, which is no source itself.
fn referring() -> Here {
    let here = Here::new();
    fs::create_dir(here.root.path().join("apis/parts")).unwrap();
    here.write("parts/a.txt", "get: {parameters: [{name: 5}]}\nput: {}\n");
    here.write("refers.yaml", REFERRING);
    here
}

#[test]
fn a_file_that_a_document_refers_to_counts_like_the_document() {
    for out in [None, Some(())] {
        let here = referring();
        let out = out.map(|()| here.out());
        let supply = Supply::new(&here.source, out.as_deref());
        assert_eq!(supply.first().unwrap().reader.len(), 5);
        assert!(supply.again().unwrap().is_none(), "nothing changed");
        here.write(
            "parts/a.txt",
            "get: {}\nput: {}\npost: {}\npatch: {parameters: [{name: 5}]}\n",
        );
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 7);
        assert!(supply.again().unwrap().is_none());
        // A fault inside it costs what it costs.
        here.write("parts/a.txt", "get: {}\nput: {parameters: 5}\n");
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 5);
        // A fault of the file as a whole refuses the reload, as often as one is asked for.
        let path = here.root.path().join("apis/parts/a.txt");
        for broken in [Some("get: ["), Some(""), None, None] {
            match broken {
                Some(text) => here.write("parts/a.txt", text),
                None => drop(fs::remove_file(&path)),
            }
            let refused = sentence(supply.again());
            assert!(
                refused.contains("apis/parts/a.txt`, to which"),
                "{broken:?}: {refused}"
            );
        }
        here.write("parts/a.txt", "get: {}\n");
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 5);
        // Nobody refers to it any more.
        fs::remove_file(&path).unwrap();
        here.write("refers.yaml", "openapi: 3.1.0\npaths:\n  /own: {get: {}}\n");
        assert_eq!(supply.again().unwrap().unwrap().reader.len(), 4);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_becomes_a_link_out_of_the_fence_is_not_lost_silently() {
    let here = referring();
    let supply = Supply::new(&here.source, None);
    supply.first().unwrap();
    let path = here.root.path().join("apis/parts/a.txt");
    fs::rename(&path, here.root.path().join("outside.txt")).unwrap();
    std::os::unix::fs::symlink(here.root.path().join("outside.txt"), &path).unwrap();
    here.write("a.yaml", &document("a", 1));
    let refused = sentence(supply.again());
    assert!(refused.contains("a link leads out"), "{refused}");
    // It was not opened, and is watched all the same.
    let named = here.root.path().join("apis/parts/a.txt");
    let watched = supply.referenced().get();
    assert!(watched.is_of_the_files_of(&crate::catalog::Stamp::of_files([named])));
}

#[test]
fn a_reference_to_a_file_that_is_not_there_keeps_no_index_from_being_reused() {
    let here = referring();
    let path = here.root.path().join("apis/parts/a.txt");
    fs::remove_file(&path).unwrap();
    assert_eq!(here.build().reader.len(), 4);
    assert!(here.build().is_reused, "it is still not there");
    here.write("parts/a.txt", "get: {}\n");
    let built = here.build();
    assert_eq!((built.is_reused, built.reader.len()), (false, 5));
    assert!(here.build().is_reused);
    here.write("parts/a.txt", "put: {}\npost: {}\n");
    assert_eq!(here.build().reader.len(), 6);
}
