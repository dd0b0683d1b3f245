//! `sezzlee load`.

use clap::Args;
use serde_json::{Map, json};

use super::Ended;
use super::catalogue::open;
use super::output::answer;
use crate::access::Caller;
use crate::config::{AnswerArgs, SourceArgs};

/// Show one definition.
#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// The operation's exact name.
    name: String,
    /// Print what load_tool would answer on one line; without it the same is indented.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    answers: AnswerArgs,
}

pub(super) fn run(args: &LoadArgs) -> anyhow::Result<Ended> {
    let loaded = open(&args.source)?;
    let mut arguments = Map::new();
    arguments.insert("name".into(), json!(args.name));
    let result = loaded
        .tools(&args.answers)?
        .load(&Caller::anonymous(), &arguments);
    answer(&result, args.json)
}
