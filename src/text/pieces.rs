//! Words and the pieces inside them.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// What a character is to the splitter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    /// A letter with no case of interest, or a decimal digit.
    Other,
    Mark,
    Separator,
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return match c {
            'A'..='Z' => Class::Upper,
            'a'..='z' => Class::Lower,
            '0'..='9' => Class::Other,
            _ => Class::Separator,
        };
    }
    match c.general_category() {
        GeneralCategory::UppercaseLetter => Class::Upper,
        GeneralCategory::LowercaseLetter => Class::Lower,
        // Greek letters with iota subscript are titlecase when composed and uppercase plus a mark when
        // not: both spellings must split alike, so the base letter decides.
        GeneralCategory::TitlecaseLetter => {
            let mut base = None;
            decompose_canonical(c, |part| base = base.or(Some(part)));
            match base {
                Some(base) if base != c => class(base),
                _ => Class::Other,
            }
        }
        GeneralCategory::ModifierLetter
        | GeneralCategory::OtherLetter
        | GeneralCategory::DecimalNumber => Class::Other,
        GeneralCategory::NonspacingMark
        | GeneralCategory::SpacingMark
        | GeneralCategory::EnclosingMark => Class::Mark,
        _ => Class::Separator,
    }
}

/// Calls `piece` with every piece of the text, unfolded, in order.
///
/// Letters and decimal digits form words, a combining mark belongs to the word it follows, everything
/// else separates. Inside a word a boundary stands before an uppercase letter that follows a lowercase
/// one, and before one that follows an uppercase letter and precedes a lowercase one; marks are
/// transparent to this test.
pub fn pieces(text: &str, mut piece: impl FnMut(&str)) {
    // Start of the running piece; None between words.
    let mut start: Option<usize> = None;
    // Class of the last non-mark character of the running word.
    let mut before = Class::Separator;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let here = class(c);
        match (here, start) {
            (Class::Mark, _) => continue,
            (Class::Separator, from) => {
                if let Some(from) = from {
                    piece(&text[from..at]);
                }
                start = None;
            }
            (_, None) => start = Some(at),
            (Class::Upper, Some(from)) => {
                let boundary = match before {
                    Class::Lower => true,
                    Class::Upper => {
                        // Marks are few and short; looking ahead over them does not add up.
                        let mut ahead = chars.clone().map(|(_, next)| class(next));
                        ahead.find(|&next| next != Class::Mark) == Some(Class::Lower)
                    }
                    _ => false,
                };
                if boundary {
                    piece(&text[from..at]);
                    start = Some(at);
                }
            }
            _ => {}
        }
        before = here;
    }
    if let Some(from) = start {
        piece(&text[from..]);
    }
}
