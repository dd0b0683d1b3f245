//! What is the same, what is not, and what is never vouched for.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::catalog::FileLoader;

/// Long settled.
const OLD: Duration = Duration::from_secs(1_000_000_000);

struct Files {
    root: tempfile::TempDir,
    sources: Vec<String>,
}

impl Files {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sources = vec![root.path().display().to_string()];
        let files = Self { root, sources };
        files.write("a.yaml", "one", OLD);
        files.write("b.yaml", "two", OLD);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file whose time is `since` 1970.
    fn write(&self, name: &str, text: &str, since: Duration) {
        fs::write(self.path(name), text).unwrap();
        self.touch(name, since);
    }

    fn touch(&self, name: &str, since: Duration) {
        let file = fs::File::options()
            .write(true)
            .open(self.path(name))
            .unwrap();
        file.set_modified(UNIX_EPOCH + since).unwrap();
    }

    fn read(&self, recorder: &Recorder<'_>, name: &str) {
        let target = SourceTarget::File(self.path(name));
        let mut text = String::new();
        let mut stream = recorder.open(&target, None).unwrap();
        stream.read_to_string(&mut text).unwrap();
    }

    fn fingerprint(&self) -> Fingerprint {
        let options = ReadOptions::default();
        let recorder = Recorder::new(&FileLoader, &self.sources, &options);
        self.read(&recorder, "a.yaml");
        // This one is not read to its end.
        let target = SourceTarget::File(self.path("b.yaml"));
        let mut stream = recorder.open(&target, None).unwrap();
        stream.read_exact(&mut [0]).unwrap();
        drop(stream);
        recorder.finish().unwrap().unwrap()
    }

    fn check(&self, fingerprint: &Fingerprint) -> Checked {
        fingerprint.check(&self.sources, &ReadOptions::default(), &FileLoader)
    }
}

fn is_changed(checked: &Checked) -> bool {
    matches!(checked, Checked::Changed(_))
}

#[test]
fn the_same_is_the_same_and_survives_being_stored() {
    let files = Files::new();
    let fingerprint = files.fingerprint();
    assert_eq!(files.check(&fingerprint), Checked::Same(None));
    let text = serde_json::to_string(&fingerprint).unwrap();
    assert_eq!(fingerprint, serde_json::from_str(&text).unwrap());
    assert_eq!(
        fingerprint.items[1].sha256,
        sha256_hex(b"two"),
        "read in part, hashed whole"
    );
}

#[test]
fn equal_size_and_time_are_trusted() {
    let files = Files::new();
    let fingerprint = files.fingerprint();
    files.write("a.yaml", "ONE", OLD);
    assert_eq!(
        files.check(&fingerprint),
        Checked::Same(None),
        "no byte was read"
    );
}

#[test]
fn another_time_lets_the_bytes_decide() {
    let files = Files::new();
    let fingerprint = files.fingerprint();
    files.touch("a.yaml", OLD * 2 / 3);
    let Checked::Same(Some(fresh)) = files.check(&fingerprint) else {
        panic!("the bytes are the same");
    };
    assert_eq!(
        files.check(&fresh),
        Checked::Same(None),
        "the new time is trusted"
    );
    files.write("a.yaml", "ONE", OLD / 2);
    assert!(is_changed(&files.check(&fresh)));
}

#[test]
fn what_was_just_written_is_never_trusted_by_its_time() {
    let files = Files::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    files.touch("a.yaml", now);
    let fingerprint = files.fingerprint();
    assert_eq!(files.check(&fingerprint), Checked::Same(None));
    files.write("a.yaml", "ONE", now);
    assert!(
        is_changed(&files.check(&fingerprint)),
        "same size, same time"
    );
}

#[test]
fn other_sizes_files_names_options_and_programs_are_changes() {
    let files = Files::new();
    let fingerprint = files.fingerprint();
    files.write("a.yaml", "longer", OLD);
    assert!(is_changed(&files.check(&fingerprint)), "size");
    files.write("a.yaml", "one", OLD);
    files.write("c.yaml", "", OLD);
    assert!(is_changed(&files.check(&fingerprint)), "a file more");
    fs::remove_file(files.path("c.yaml")).unwrap();
    assert_eq!(files.check(&fingerprint), Checked::Same(None));
    fs::remove_file(files.path("b.yaml")).unwrap();
    assert!(is_changed(&files.check(&fingerprint)), "a file less");
    files.write("b.yaml", "two", OLD);

    let other = ReadOptions {
        base_url: Some("https://h.test/".parse().unwrap()),
        ..ReadOptions::default()
    };
    assert!(is_changed(&fingerprint.check(
        &files.sources,
        &other,
        &FileLoader
    )));
    let named = vec![format!("{}/*.yaml", files.sources[0])];
    let options = ReadOptions::default();
    assert!(is_changed(&fingerprint.check(
        &named,
        &options,
        &FileLoader
    )));
    let older = Fingerprint {
        made_by: "sezzlee 0.0.0".to_owned(),
        ..fingerprint
    };
    assert!(is_changed(&files.check(&older)));
}

#[test]
fn a_source_that_moves_while_it_is_read_is_told() {
    type Move = fn(&Files);
    let moves: [Move; 4] = [
        |files| files.write("a.yaml", "more", OLD),
        |files| {
            // The same size and time, by another file.
            files.write("new", "ONE", OLD);
            fs::rename(files.path("new"), files.path("a.yaml")).unwrap();
        },
        |files| fs::remove_file(files.path("a.yaml")).unwrap(),
        |files| files.write("c.yaml", "", OLD),
    ];
    for (number, change) in moves.into_iter().enumerate() {
        let files = Files::new();
        let recorder = Recorder::new(&FileLoader, &files.sources, &ReadOptions::default());
        files.read(&recorder, "a.yaml");
        files.read(&recorder, "b.yaml");
        change(&files);
        assert!(recorder.finish().is_err(), "move {number}");
    }
}

#[test]
fn what_could_not_be_read_is_not_vouched_for() {
    let files = Files::new();
    let mut sources = files.sources.clone();
    sources.push(files.path("gone.yaml").display().to_string());
    let recorder = Recorder::new(&FileLoader, &sources, &ReadOptions::default());
    for name in ["a.yaml", "b.yaml"] {
        files.read(&recorder, name);
    }
    let gone = SourceTarget::File(files.path("gone.yaml"));
    assert!(recorder.open(&gone, None).is_err());
    assert_eq!(recorder.finish().unwrap(), None);
    // Nor is what was never opened.
    let recorder = Recorder::new(&FileLoader, &files.sources, &ReadOptions::default());
    files.read(&recorder, "a.yaml");
    assert_eq!(recorder.finish().unwrap(), None);
}

/// Serves a text for any URL and counts how often.
struct Web {
    text: &'static str,
    fetched: AtomicUsize,
}

impl Loader for Web {
    fn open(
        &self,
        _target: &SourceTarget,
        _bytes_max: Option<u64>,
    ) -> Result<Box<dyn Read + Send>, LoadError> {
        self.fetched.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(self.text.as_bytes()))
    }
}

#[test]
fn a_url_is_fetched_every_time() {
    let web = |text| Web {
        text,
        fetched: AtomicUsize::new(0),
    };
    let options = ReadOptions::default();
    let sources = vec!["https://h.test/a.yaml".to_owned()];
    let first = web("one");
    let recorder = Recorder::new(&first, &sources, &options);
    let target = SourceTarget::Url("https://h.test/a.yaml".parse().unwrap());
    recorder
        .open(&target, None)
        .unwrap()
        .read_to_end(&mut Vec::new())
        .unwrap();
    let fingerprint = recorder.finish().unwrap().unwrap();
    assert_eq!(
        fingerprint.check(&sources, &options, &first),
        Checked::Same(None)
    );
    assert_eq!(first.fetched.load(Ordering::SeqCst), 2);
    assert!(is_changed(&fingerprint.check(
        &sources,
        &options,
        &web("two")
    )));
}
