//! YAML whose author used tabs: the same text with spaces, and the way back from its columns.
//!
//! Owns: what a tab stands for. Must never touch a text in which a tab could mean two things.

/// So many spaces stand for a tab that indents.
const INDENT: usize = 2;

/// The text with spaces for tabs after `:` and `-` and as indentation; every line stays a line. None without
/// tabs, and where tabs and spaces both indent: what is deeper is anyone's guess then.
pub(super) fn spaces_for_tabs(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut by_tabs, mut by_spaces) = (false, false);
    for line in text.lines() {
        let rest = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - rest.len()];
        if !rest.is_empty() {
            by_tabs |= indent.contains('\t');
            by_spaces |= indent.contains(' ');
            out.push_str(&indent.replace('\t', "  "));
            out.push_str(&rest.trim_end().replace(":\t", ": ").replace("-\t", "- "));
        }
        out.push('\n');
    }
    (text.contains('\t') && !(by_tabs && by_spaces)).then_some(out)
}

/// The lines of a text as it was written, forwards only.
pub(super) struct Lines<'t> {
    /// Those that were not looked at.
    rest: std::str::Lines<'t>,
    /// The number of the line that was looked at last, from 1.
    number: usize,
    /// How many tabs indent it.
    tabs: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text.lines(),
            number: 0,
            tabs: 0,
        }
    }

    /// The column in the text as it was written of a column in the text with spaces, both from 1. Lines are
    /// asked for in their order.
    pub(super) fn column(&mut self, number: usize, column: usize) -> usize {
        if number > self.number {
            let line = self.rest.nth(number - self.number - 1).unwrap_or_default();
            self.number = number;
            self.tabs = line.bytes().take_while(|&byte| byte == b'\t').count();
        }
        let before = column.saturating_sub(1);
        if before >= INDENT * self.tabs {
            1 + before - (INDENT - 1) * self.tabs
        } else {
            1 + before / INDENT
        }
    }
}
