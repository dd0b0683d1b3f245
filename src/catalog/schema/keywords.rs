//! The keywords that are carried over, and what the value of each must be.
//!
//! Owns: the table of JSON Schema 2020-12 keywords as far as documents use them. What is not in the table
//! (`xml`, `discriminator`, `externalDocs`, vendor extensions, …) is left out: it means nothing to a
//! validator. Must never look at more than one keyword.

use serde_json::{Number, Value};

/// The kind of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// `type`.
    Type,
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A number.
    Number,
    /// A number over zero.
    Positive,
    /// A whole number from zero.
    Count,
    /// `exclusiveMinimum`, `exclusiveMaximum`: a number, or a boolean beside the bound it sharpens.
    Exclusive,
    /// Any value.
    Any,
    /// A list of any values.
    Values,
    /// OpenAPI 3.0's `example`: one of the `examples`.
    Example,
    /// `required`.
    Names,
    /// Lists of names by name.
    NameLists,
    /// A schema for parts of the value.
    Schema,
    /// `items`: a schema, or in older dialects a list of them.
    Items,
    /// `additionalItems` of older dialects.
    FurtherItems,
    /// Schemas for the first items.
    Schemas,
    /// `properties`.
    Properties,
    /// Schemas for parts of the value by name or pattern.
    SchemaMap,
    /// A schema for the value itself.
    InPlace,
    /// Schemas for the value itself.
    InPlaceList,
    /// Schemas for the value itself by name.
    InPlaceMap,
}

/// The kind of a keyword; none when it is left out.
pub(super) fn keyword(name: &str) -> Option<Keyword> {
    Some(match name {
        "type" => Keyword::Type,
        "title" | "description" | "format" | "pattern" | "$comment" | "contentEncoding"
        | "contentMediaType" => Keyword::Text,
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => Keyword::Flag,
        "maximum" | "minimum" => Keyword::Number,
        "multipleOf" => Keyword::Positive,
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties"
        | "maxContains" | "minContains" => Keyword::Count,
        "exclusiveMaximum" | "exclusiveMinimum" => Keyword::Exclusive,
        "default" | "const" => Keyword::Any,
        "enum" | "examples" => Keyword::Values,
        "example" => Keyword::Example,
        "required" => Keyword::Names,
        "dependentRequired" => Keyword::NameLists,
        "additionalProperties"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contentSchema" => Keyword::Schema,
        "items" => Keyword::Items,
        "additionalItems" => Keyword::FurtherItems,
        "prefixItems" => Keyword::Schemas,
        "properties" => Keyword::Properties,
        "patternProperties" => Keyword::SchemaMap,
        "not" | "if" | "then" | "else" => Keyword::InPlace,
        "allOf" | "anyOf" | "oneOf" => Keyword::InPlaceList,
        "dependentSchemas" => Keyword::InPlaceMap,
        _ => return None,
    })
}

/// Whether a keyword only describes.
pub(super) fn is_annotation(name: &str) -> bool {
    matches!(
        name,
        "title"
            | "description"
            | "default"
            | "example"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    )
}

/// Whether a keyword applies schemas to the value itself.
pub(super) fn is_in_place(name: &str) -> bool {
    matches!(
        keyword(name),
        Some(Keyword::InPlace | Keyword::InPlaceList | Keyword::InPlaceMap)
    ) || name == "$ref"
}

/// Whether a type name is one of JSON Schema's.
pub(super) fn is_type(name: &str) -> bool {
    matches!(
        name,
        "string" | "number" | "integer" | "boolean" | "array" | "object" | "null"
    )
}

/// A whole number that is not negative, in any spelling (`5`, `5.0`).
pub(super) fn is_count(number: &Number) -> bool {
    number.as_u64().is_some()
        || number
            .as_f64()
            .is_some_and(|value| value >= 0.0 && value.fract() == 0.0 && value.is_finite())
}

/// A number over zero, however small.
pub(super) fn is_positive(number: &Number) -> bool {
    let text = number.as_str();
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    !text.starts_with('-') && mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

/// Whether a value nests deeper than some levels.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(map) => {
            levels == 0 || map.values().any(|member| is_deeper(member, levels - 1))
        }
        _ => false,
    }
}
