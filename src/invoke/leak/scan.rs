//! Small readers that the recognisers share. Each reads forward and never goes back.

/// The characters of identifiers in the languages that backends are written in.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The longest start of `text` whose bytes all satisfy `accept`, which must refuse non-ASCII bytes.
pub(super) fn run(text: &str, accept: impl Fn(u8) -> bool) -> &str {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii() || !accept(byte))
        .unwrap_or(text.len());
    &text[..end]
}

/// The longest end of `text` whose bytes all satisfy `accept`, and that is no longer than `max`.
///
/// The limit keeps a text of many matches from being read again for each of them.
pub(super) fn run_back(text: &str, max: usize, accept: impl Fn(u8) -> bool) -> &str {
    let count = text
        .bytes()
        .rev()
        .take(max)
        .take_while(|&byte| byte.is_ascii() && accept(byte))
        .count();
    &text[text.len() - count..]
}

/// The byte before an offset, when there is one.
pub(super) fn before(text: &str, at: usize) -> Option<u8> {
    at.checked_sub(1)
        .and_then(|at| text.as_bytes().get(at))
        .copied()
}

/// Whether a word may start at an offset: no word character stands before it.
pub(super) fn is_word_start(text: &str, at: usize) -> bool {
    before(text, at).is_none_or(|byte| !is_word(byte))
}

/// The offsets behind each occurrence of `word` (lower case) that starts a word.
pub(super) fn behind<'a>(lower: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    lower
        .match_indices(word)
        .filter(|(at, _)| is_word_start(lower, *at))
        .map(|(at, word)| at + word.len())
}

/// The words of a text with their offsets.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].bytes().position(is_word)?;
        let word = run(&text[start..], is_word);
        at = start + word.len();
        Some((start, word))
    })
}
