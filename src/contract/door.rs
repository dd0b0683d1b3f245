//! The one door: the only function that turns an envelope into a tool result.

use super::envelope::{Envelope, refusal};

/// The content of one tool result: one text block holding one JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    text: String,
    is_error: bool,
}

impl ToolResult {
    /// The JSON text of the content block.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the result is a failure; on the wire `isError` is true or absent.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

/// The most UTF-8 bytes of one answer's JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(usize);

/// A refusal itself must fit, whatever it refuses.
const BUDGET_BYTES_MIN: usize = 1_024;

/// A response budget below the least that holds a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a response budget of {0} bytes is too small; the least is {BUDGET_BYTES_MIN}")]
pub struct BudgetTooSmall(usize);

impl Budget {
    /// A budget in bytes; at least 1,024, so that every refusal fits.
    pub fn new(bytes: usize) -> Result<Self, BudgetTooSmall> {
        if bytes < BUDGET_BYTES_MIN {
            return Err(BudgetTooSmall(bytes));
        }
        Ok(Self(bytes))
    }

    /// The budget in bytes.
    pub fn bytes(self) -> usize {
        self.0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(262_144)
    }
}

/// Turns an envelope into a tool result: serialized once, measured in UTF-8 bytes, and replaced by a
/// refusal when it exceeds the budget. Nothing is ever truncated, and no text of what was refused remains.
pub fn emit(envelope: &Envelope<'_>, budget: Budget) -> ToolResult {
    let text = envelope.to_json();
    if text.len() <= budget.bytes() {
        return ToolResult {
            text,
            is_error: envelope.is_error(),
        };
    }
    let bytes = text.len() as u64;
    drop(text);
    ToolResult {
        text: refusal(envelope, bytes, budget.bytes()),
        is_error: true,
    }
}
