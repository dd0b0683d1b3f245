//! Folding: case and marks away, compatibility forms and every other letter kept.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Folds a text as a whole: NFD, every nonspacing mark (Mn) dropped, full lowercase mapping,
/// final sigma to `σ`, NFC. There is no language table: `ı` stays apart from `i`, `ß` from `ss`.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

/// Appends the folded text to `out`.
pub(super) fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.extend(text.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    let bare: String = text
        .nfd()
        .filter(|&c| c.general_category() != GeneralCategory::NonspacingMark)
        .collect();
    let lower = bare.to_lowercase();
    out.extend(lower.chars().map(|c| if c == 'ς' { 'σ' } else { c }).nfc());
}
