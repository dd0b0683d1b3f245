//! The steps of the size rule, and the sentence that tells how far they went.
//!
//! Owns: their order (ingestion.md, "Size"). Must never look at a schema.

use std::fmt::Write as _;

use super::Direction;

/// The steps cut definitions below this depth first, then nearer ones (ingestion.md, "Size").
const DEPTH_FIRST_CUT: usize = 6;

/// What the operator allows of a definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The bytes of its canonical JSON over which it is reduced.
    pub(crate) bytes_max: usize,
    /// Definitions below this depth are left out of every schema.
    pub(crate) depth_max: Option<usize>,
    /// Whether descriptions and examples of definitions are left out of every schema.
    pub(crate) is_bare: bool,
}

/// One step: what is left of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    /// Whether descriptions and examples of definitions are left out.
    pub(super) is_bare: bool,
    /// The depth below which definitions are left out.
    pub(super) depth_max: Option<usize>,
}

/// What is published first of all, and what is left of it step by step.
pub(super) fn levels(limits: Limits, direction: Direction) -> Vec<Level> {
    let first = Level {
        is_bare: limits.is_bare,
        depth_max: limits.depth_max,
    };
    let nearest = match direction {
        Direction::Input => 0,
        Direction::Output => 1,
    };
    let mut levels = vec![first];
    let bare = Level {
        is_bare: true,
        ..first
    };
    let nearer = (nearest..=DEPTH_FIRST_CUT)
        .rev()
        .filter(|&depth| limits.depth_max.is_none_or(|max| depth < max))
        .map(|depth| Level {
            depth_max: Some(depth),
            ..bare
        });
    for level in std::iter::once(bare).chain(nearer) {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// What was left out of a definition.
#[derive(Debug, Default)]
pub(super) struct Reduced {
    pub(super) output: Option<Gone>,
    pub(super) input: Option<Gone>,
}

/// What was left out of one schema.
#[derive(Debug)]
pub(super) enum Gone {
    Parts {
        /// Descriptions and examples.
        text: bool,
        /// Definitions below this depth.
        depth: Option<usize>,
        /// How many references to them were cut.
        cut: usize,
    },
    All,
}

impl Reduced {
    /// The sentence of the warning, when there is something to say. `total` is what is still over the limit.
    pub(super) fn message(&self, bytes_max: usize, total: Option<usize>) -> Option<String> {
        let mut parts = Vec::new();
        for (gone, side) in [(&self.output, "output"), (&self.input, "input")] {
            match gone {
                None => {}
                Some(Gone::All) => parts.push("the output schema".to_owned()),
                Some(Gone::Parts { text, depth, cut }) => {
                    if *text {
                        parts.push(format!(
                            "descriptions and examples under $defs of the {side}"
                        ));
                    }
                    if let Some(depth) = depth {
                        parts.push(format!(
                            "{side} $defs below depth {depth} ({cut} references cut)"
                        ));
                    }
                }
            }
        }
        let mut message = format!("the definition has over {bytes_max} bytes");
        match (parts.is_empty(), total) {
            (true, None) => return None,
            (true, Some(_)) => {}
            (false, _) => {
                message.push_str("; left out are ");
                message.push_str(&parts.join(", "));
            }
        }
        if let Some(total) = total {
            // Writing into a String cannot fail.
            let _ = write!(
                message,
                "; it still has {total}, of which nothing more may be left out"
            );
        } else {
            message.push_str("; raise the limit to publish more");
        }
        Some(message)
    }
}
