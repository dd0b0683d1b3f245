//! `search_tools`: a ranked page under the caller's view.

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::meta_tools::Fault;
use super::published::SEARCH_TOOLS;
use super::{Generation, Settings};
use crate::access::View;
use crate::contract::{Code, Envelope, ErrorEnvelope, Results, SearchPage, ToolResult, emit};
use crate::search::{self, Query};
use crate::text::QUERY_BYTES_MAX;

/// The most results of a page.
const LIMIT_MAX: usize = 50;
const LIMIT_DEFAULT: usize = 20;

/// The arguments of a search, checked and clamped.
pub(super) struct Request {
    query: String,
    limit: usize,
    schemas: bool,
    tags: Vec<String>,
}

impl Request {
    pub(super) fn read(values: &Map<String, Value>) -> Result<Self, ErrorEnvelope> {
        let arguments =
            Arguments::new(SEARCH_TOOLS, &["query", "limit", "detail", "tags"], values)?;
        let query = arguments.string("query")?.unwrap_or_default();
        if query.len() > QUERY_BYTES_MAX {
            return Err(ErrorEnvelope::new(
                Code::UnknownArgument,
                format!(
                    "the argument `query` of {SEARCH_TOOLS} has {} bytes; at most {QUERY_BYTES_MAX} are \
                     taken: send the few words that matter",
                    query.len()
                ),
            ));
        }
        Ok(Self {
            query: query.to_owned(),
            limit: arguments.clamped("limit", 1..=LIMIT_MAX, LIMIT_DEFAULT)?,
            schemas: arguments.given("detail").and_then(Value::as_str) == Some("schema"),
            tags: arguments.strings("tags")?,
        })
    }

    pub(super) fn answer(
        &self,
        generation: &Generation,
        view: &View,
        settings: &Settings,
    ) -> Result<ToolResult, Fault> {
        let reader = &generation.reader;
        let page = search::run(
            reader,
            view,
            Query {
                text: &self.query,
                tags: &self.tags,
                limit: self.limit,
                vocabulary_limit: settings.vocabulary_limit,
            },
        )?;
        let results = if self.schemas {
            let definitions = page.hits.into_iter().map(|hit| {
                let (operation, version) = reader.operation(hit.get().document)?;
                Ok(hit.map(|_| (operation.definition, version)))
            });
            Results::Definitions(definitions.collect::<Result<_, Fault>>()?)
        } else {
            let cards = page.hits.into_iter().map(|hit| {
                let card = reader.card(hit.get().document)?;
                Ok(hit.map(|_| card))
            });
            Results::Cards(cards.collect::<Result<_, Fault>>()?)
        };
        let page = SearchPage {
            total: page.total,
            tags: page.tags,
            results,
        };
        Ok(emit(&Envelope::Page(page), settings.budget))
    }
}
