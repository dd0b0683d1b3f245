//! What each diagnostic code means and what to do about it, as `docs/diagnostics.md` has it.
//!
//! Owns: reading the table of the documentation, which is the only place where it is written. Must never
//! hold a sentence about a code itself.

use super::{DiagnosticCode, Severity};

/// The documentation of all codes.
const DOCUMENTATION: &str = include_str!("../../docs/diagnostics.md");

/// The row of a code in the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// What a finding of the code can cost, and when.
    pub cost: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

impl Explanation {
    /// The severities that findings of the code can have.
    pub fn severities(&self) -> Vec<Severity> {
        let words = self.cost.split("; ").map(|one| one.split(' ').next());
        words
            .filter_map(|word| match word? {
                "warning" => Some(Severity::Warning),
                "dropped" => Some(Severity::Dropped),
                "fatal" => Some(Severity::Fatal),
                _ => None,
            })
            .collect()
    }
}

impl DiagnosticCode {
    /// What the documentation says of the code. None of a code that it does not know, which a test rules out.
    pub fn explanation(self) -> Option<Explanation> {
        DOCUMENTATION.lines().find_map(|line| {
            let rest = line.strip_prefix("| `")?.strip_prefix(self.as_str())?;
            let rest = rest.strip_prefix("` | ")?.strip_suffix(" |")?;
            let mut cells = rest.split(" | ");
            let (cost, meaning, remedy) = (cells.next()?, cells.next()?, cells.next()?);
            cells.next().is_none().then_some(Explanation {
                cost,
                meaning,
                remedy,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained() {
        for &code in DiagnosticCode::ALL {
            let row = code.explanation();
            let row = row.unwrap_or_else(|| panic!("docs/diagnostics.md lacks a row for {code}"));
            let costs = row.cost.split("; ").count();
            assert_eq!(row.severities().len(), costs, "{code}: {}", row.cost);
            for sentence in [row.meaning, row.remedy] {
                assert!(sentence.ends_with('.'), "{code}: {sentence}");
            }
        }
    }
}
