//! Whether a path value may be a list or an object, as far as the input schema tells.

use serde_json::Value;

use super::fault::about;
use crate::catalog::Parameter;
use crate::invoke::{ArgumentError, ArgumentFault};

/// How many `$ref` are followed before a schema tells nothing: published schemas refer once; cycles end here.
const REFS_MAX: usize = 8;

/// Refuses a list or an object where the schema names only other types.
pub(super) fn check(
    input_schema: &Value,
    parameter: &Parameter,
    value: &Value,
) -> Result<(), ArgumentError> {
    let kind = match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => return Ok(()),
    };
    if parameter.content_type.is_some() || allows(input_schema, &parameter.argument, kind) {
        return Ok(());
    }
    Err(about(
        ArgumentFault::InvalidPathType,
        &parameter.argument,
        &format!("cannot be an {kind}; its schema names a plain type"),
    ))
}

/// Whether the property's schema allows a JSON type; true when it does not say.
fn allows(input_schema: &Value, property: &str, kind: &str) -> bool {
    let mut schema = &input_schema["properties"][property];
    for _ in 0..REFS_MAX {
        match &schema["type"] {
            Value::String(one) => return one == kind,
            Value::Array(several) => return several.iter().any(|one| one == kind),
            _ => {}
        }
        let target = schema["$ref"]
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| input_schema.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => return true,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_says_nothing_allows_everything() {
        let schema = json!({
            "properties": {
                "plain": {"type": "string"},
                "several": {"type": ["array", "null"]},
                "named": {"$ref": "#/$defs/Id"},
                "circular": {"$ref": "#/$defs/Loop"},
                "free": {},
            },
            "$defs": {"Id": {"type": "integer"}, "Loop": {"$ref": "#/$defs/Loop"}},
        });
        for (property, want) in [
            ("plain", false),
            ("several", true),
            ("named", false),
            ("circular", true),
            ("free", true),
            ("absent", true),
        ] {
            assert_eq!(allows(&schema, property, "array"), want, "{property}");
        }
        assert!(allows(&Value::Null, "any", "object"));
    }
}
