//! The meta-tools as `tools/list` publishes them.

use serde_json::{Value, json};

/// The name of the tool that finds operations.
pub(super) const SEARCH_TOOLS: &str = "search_tools";
/// The name of the tool that shows one operation.
pub(super) const LOAD_TOOL: &str = "load_tool";
/// The name of the tool that calls one operation.
pub(super) const INVOKE_TOOL: &str = "invoke_tool";

/// The `tools` array for a generation: always the same three tools in the same order.
pub(super) fn tools_json(generation: u64) -> String {
    let stamp = json!({"sezzlee/catalogGeneration": generation});
    let tool = |name: &str, description: &str, schema: Value, annotations: Option<Value>| {
        let mut tool = json!({"name": name, "description": description, "inputSchema": schema});
        if let Some(annotations) = annotations {
            tool["annotations"] = annotations;
        }
        tool["_meta"] = stamp.clone();
        tool
    };
    let reads = Some(json!({"readOnlyHint": true}));
    Value::from(vec![
        tool(
            LOAD_TOOL,
            "Shows one operation whose name you already have: its whole description, input schema, output \
             schema, hints, and the version to pin a call to.",
            load_tool_schema(),
            reads.clone(),
        ),
        tool(
            SEARCH_TOOLS,
            "Finds operations by keywords and tags. Answers a ranked page of compact cards, or of full \
             definitions; then use load_tool to see how one is called, and invoke_tool to call it.",
            search_tools_schema(),
            reads,
        ),
        tool(
            INVOKE_TOOL,
            "Calls one operation by name with its arguments, and answers its HTTP status and body. Load the \
             operation first; its input schema says which arguments it takes.",
            invoke_tool_schema(),
            None,
        ),
    ])
    .to_string()
}

fn load_tool_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {
                "description": "The operation's name, exactly as search_tools returned it.",
                "type": "string"
            }
        },
        "required": ["name"]
    })
}

/// Word for word the contract's schema.
fn search_tools_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "description": "Keywords matched by prefix against operation names, descriptions, declared search terms, routes, argument names and tag text; keywords rank results, they do not filter them. Empty lists everything. To require a whole tag, use tags.",
                "type": "string",
                "default": ""
            },
            "limit": {
                "description": "Maximum number of results, 1-50.",
                "type": "integer",
                "default": 20
            },
            "detail": {
                "description": "Shape of each result: \"card\" for the compact card, \"schema\" for the full definition load_tool would return. Any other value is card. A schema page is much larger; pair it with a small limit.",
                "type": "string",
                "enum": ["card", "schema"],
                "default": "card"
            },
            "tags": {
                "description": "Tags every result must carry, matched against the whole tag and insensitive to case and accents. Empty applies no filter; the answer's tags field lists what is available.",
                "type": "array",
                "items": { "type": "string" },
                "default": null
            }
        }
    })
}

fn invoke_tool_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {
                "description": "The operation's name, exactly as search_tools returned it.",
                "type": "string"
            },
            "arguments": {
                "description": "An object whose keys are the properties of the operation's input schema."
            },
            "version": {
                "description": "The version load_tool returned. When given, the call runs only if the definition is still that version.",
                "type": "string",
                "default": null
            }
        },
        "required": ["name", "arguments"]
    })
}
