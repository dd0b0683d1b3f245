//! Bytes as a document: whatever they are, the counts add up and what is published can be used.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use support::read_checked;

fuzz_target!(|bytes: &[u8]| {
    // The name decides whether a text that is no JSON is tried as YAML; either is tried on its own bytes.
    let name = if bytes.len().is_multiple_of(2) {
        "d.json"
    } else {
        "d.yaml"
    };
    read_checked(&[(name, bytes)]);
});
