//! How far one word is from another.
//!
//! Owns: the edit distance. Must never decide which words are compared: it costs the product of both lengths, so
//! whoever asks cuts them first.

/// How many characters must be changed, added or removed to make one word the other (Levenshtein's distance).
pub fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, wanted) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, found) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(wanted != found);
            diagonal = row[at + 1];
            row[at + 1] = substituted.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_both_ways() {
        let chars = |text: &str| text.chars().collect::<Vec<char>>();
        for (left, right, want) in [
            ("", "", 0),
            ("", "abc", 3),
            ("lmit", "limit", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edit_distance(&chars(left), &chars(right)), want);
            assert_eq!(edit_distance(&chars(right), &chars(left)), want);
        }
    }
}
