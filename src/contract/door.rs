//! The one door: the only function that turns an envelope into a tool result.

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
