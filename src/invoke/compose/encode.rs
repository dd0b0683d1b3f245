//! Percent-encoding by RFC 3986. Must never encode twice what it wrote itself.

/// What stays as it is everywhere: RFC 3986's unreserved characters.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Appends `text`, keeping unreserved characters and those of `keep`.
pub(super) fn push_encoded(out: &mut String, text: &str, keep: &[u8]) {
    for &byte in text.as_bytes() {
        if is_unreserved(byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            push_triplet(out, byte);
        }
    }
}

/// `text` with everything but unreserved characters encoded.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_encoded(&mut out, text, b"");
    out
}

/// Appends text of a route template: what may stand in a path or query stays, triplets stay, the rest is
/// encoded.
pub(super) fn push_literal(out: &mut String, text: &str, keep: &[u8]) {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let triplet = byte == b'%'
            && bytes
                .get(at + 1..at + 3)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if triplet || is_unreserved(byte) || keep.contains(&byte) {
            out.push(char::from(byte));
        } else {
            push_triplet(out, byte);
        }
    }
}

fn push_triplet(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 0xf)]));
}
