//! Bytes as YAML: what is read can be written as JSON and read back, and has the shape that another reader,
//! on another parser, sees in it.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use serde_json::Value;
use sezzlee::catalog::read_text;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Ok(ours) = read_text(bytes.to_vec(), false) else {
        return Corpus::Keep;
    };
    let written = serde_json::to_vec(&ours).unwrap();
    // A scalar alone reads as YAML, where a text may look like something else.
    if ours.is_object() || ours.is_array() {
        assert_eq!(read_text(written, true).unwrap(), ours);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Corpus::Keep;
    };
    // The other reader rightly refuses tabs, and takes merges, tags and bare carriage returns for something else.
    if text.contains(['\t', '\r', '\u{feff}', '!', '%']) || text.contains("<<") {
        return Corpus::Keep;
    }
    // Where the text ends within a last line of spaces, YAML leaves open whether that line is one that a block
    // scalar keeps, and the two readers differ.
    let is_open = text.ends_with(' ') && text.trim_end_matches(' ').ends_with('\n');
    if is_open && text.contains('+') {
        return Corpus::Keep;
    }
    if let Ok(theirs) = serde_saphyr::from_str::<Value>(text) {
        assert!(have_one_shape(&ours, &theirs), "{ours}\n{theirs}");
    }
    Corpus::Keep
});

/// Same collections, same keys, same texts. What a plain scalar is, is a matter of schemas, which differ.
fn have_one_shape(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|((our_key, our), (their_key, their))| {
                        our_key == their_key && have_one_shape(our, their)
                    })
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(our, their)| have_one_shape(our, their))
        }
        (Value::String(our), Value::String(their)) => our == their,
        (Value::Object(_) | Value::Array(_), _) | (_, Value::Object(_) | Value::Array(_)) => false,
        _ => true,
    }
}
