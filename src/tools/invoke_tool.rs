//! `invoke_tool`: one call of one operation.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::meta_tools::Fault;
use super::published::INVOKE_TOOL;
use super::{Generation, Settings};
use crate::access::View;
use crate::catalog::{Operation, RequestTemplate};
use crate::contract::{Code, Envelope, ErrorEnvelope, ToolResult, emit};
use crate::invoke::{self, Invoker, Limits, Outcome, compose_checked};
use crate::json::kind;

/// Levels a JSON text in `arguments` may nest; the same as a message's.
const ARGUMENTS_DEPTH_MAX: usize = 128;

/// Values such a text may hold; the same as a message's.
const ARGUMENTS_VALUES_MAX: usize = 100_000;

/// The arguments of a call, checked; those of the operation are still as they came.
pub(super) struct Request {
    name: String,
    arguments: Value,
    version: Option<String>,
}

impl Request {
    pub(super) fn read(values: &Map<String, Value>) -> Result<Self, ErrorEnvelope> {
        let arguments = Arguments::new(INVOKE_TOOL, &["name", "arguments", "version"], values)?;
        let name = arguments.required_string("name")?.to_owned();
        let version = arguments.string("version")?.map(str::to_owned);
        let sent = arguments.sent("arguments").ok_or_else(|| {
            ErrorEnvelope::new(
                Code::UnknownArgument,
                "invoke_tool needs `arguments`, which is missing: an object whose keys are the properties of \
                 the operation's input schema, {} when there are none",
            )
        })?;
        Ok(Self {
            name,
            arguments: sent.clone(),
            version,
        })
    }

    /// Finds the operation and holds it to the version; a caller who is denied finds nothing.
    pub(super) fn operation(
        &self,
        generation: &Generation,
        view: &View,
    ) -> Result<Operation, Fault> {
        let reader = &generation.reader;
        // The call travels without the caller's identity, so what the documents deny is absent.
        let document = reader
            .find(&self.name)?
            .filter(|&document| !view.denies(reader.audience(document)))
            .ok_or_else(|| Fault::Refused(ErrorEnvelope::unknown_tool()))?;
        let (operation, version) = reader.operation(document)?;
        match &self.version {
            Some(pinned) if *pinned != version => Err(Fault::Refused(ErrorEnvelope::new(
                Code::ToolChanged,
                "the definition is not the version the call was pinned to; load the tool again and \
                 check the arguments",
            ))),
            _ => Ok(operation),
        }
    }

    /// Composes and sends the call.
    pub(super) async fn answer(
        &self,
        operation: &Operation,
        invoker: &Invoker,
        settings: &Settings,
    ) -> Result<ToolResult, Fault> {
        let input_schema = &operation.definition.input_schema;
        let request = self.compose(operation, invoker.limits())?;
        let outcome = invoker.call(template(operation)?, request).await;
        let envelope = match &outcome {
            Outcome::Answer(answer) => Envelope::Answer {
                answer,
                input_schema,
            },
            Outcome::Oversize(oversize) => Envelope::Oversize {
                oversize,
                input_schema,
                limit: settings.budget.bytes(),
            },
            Outcome::Failed(failure) => Envelope::Error(ErrorEnvelope::from(failure)),
        };
        Ok(emit(&envelope, settings.budget))
    }

    /// Composes the request and sends nothing.
    pub(super) fn compose(
        &self,
        operation: &Operation,
        limits: Limits,
    ) -> Result<invoke::Request, Fault> {
        let template = template(operation)?;
        let arguments = self.object()?;
        let input_schema = &operation.definition.input_schema;
        compose_checked(template, input_schema, &arguments, limits)
            .map_err(|error| Fault::Refused(ErrorEnvelope::from(&error)))
    }

    /// The operation's arguments: null is `{}`, a string that holds a JSON object is that object.
    fn object(&self) -> Result<Cow<'_, Map<String, Value>>, Fault> {
        match &self.arguments {
            Value::Null => Ok(Cow::Owned(Map::new())),
            Value::Object(object) => Ok(Cow::Borrowed(object)),
            Value::String(text) => {
                let parsed = crate::json::parse_at_most(
                    text.as_bytes(),
                    ARGUMENTS_DEPTH_MAX,
                    ARGUMENTS_VALUES_MAX,
                )
                .ok()
                .filter(|parsed| parsed.duplicates.is_empty());
                match parsed.map(|parsed| parsed.value) {
                    Some(Value::Object(object)) => {
                        tracing::info!(tool = %self.name, "arguments arrived as JSON text and were unwrapped");
                        Ok(Cow::Owned(object))
                    }
                    _ => Err(not_an_object("a string that does not hold a JSON object")),
                }
            }
            other => Err(not_an_object(kind(other))),
        }
    }
}

/// How the operation is called, where the catalogue says so.
fn template(operation: &Operation) -> Result<&RequestTemplate, Fault> {
    operation.template.as_ref().ok_or_else(|| {
        Fault::Refused(ErrorEnvelope::new(
            Code::NotInvocable,
            "this operation can be found and read, but the catalogue does not say how to call it",
        ))
    })
}

fn not_an_object(arrived: &str) -> Fault {
    Fault::Refused(ErrorEnvelope::new(
        Code::InvalidType,
        format!(
            "`arguments` must be an object whose keys are the properties of the tool's input schema; \
             {arrived} arrived"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_too_many_values_is_not_unwrapped() {
        let request = |values: usize| Request {
            name: "a".to_owned(),
            arguments: Value::String(format!("{{\"a\":[{}]}}", vec!["[]"; values].join(","))),
            version: None,
        };
        // The object and the list are values too.
        assert!(request(ARGUMENTS_VALUES_MAX - 2).object().is_ok());
        assert!(request(ARGUMENTS_VALUES_MAX - 1).object().is_err());
    }
}
