//! `load_tool`: one definition with the version to pin.

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::meta_tools::Fault;
use super::published::LOAD_TOOL;
use super::{Generation, Settings};
use crate::access::View;
use crate::contract::{Envelope, ErrorEnvelope, ToolResult, emit};

/// The arguments of a load, checked.
pub(super) struct Request {
    name: String,
}

impl Request {
    pub(super) fn read(values: &Map<String, Value>) -> Result<Self, ErrorEnvelope> {
        let arguments = Arguments::new(LOAD_TOOL, &["name"], values)?;
        Ok(Self {
            name: arguments.required_string("name")?.to_owned(),
        })
    }

    /// A hidden name takes the path of an absent one from here on: same bytes, same work.
    pub(super) fn answer(
        &self,
        generation: &Generation,
        view: &View,
        settings: &Settings,
    ) -> Result<ToolResult, Fault> {
        let reader = &generation.reader;
        let found = reader.find(&self.name)?;
        let visible = found.and_then(|document| view.admit(reader.audience(document), document));
        let Some(document) = visible else {
            let absent = Envelope::Error(ErrorEnvelope::unknown_tool());
            return Ok(emit(&absent, settings.budget));
        };
        let (operation, version) = reader.operation(*document.get())?;
        let definition = document.map(|_| (operation.definition, version));
        Ok(emit(&Envelope::Definition(&definition), settings.budget))
    }
}
