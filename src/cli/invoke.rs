//! `sezzlee invoke`.

use std::io::Read as _;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::Ended;
use super::catalogue::open;
use super::output::{answer, line, printable};
use super::serve::runtime;
use crate::access::Caller;
use crate::config::{AnswerArgs, CallArgs, SourceArgs};

/// Call one operation.
#[derive(Debug, Args)]
pub(super) struct InvokeArgs {
    /// The operation's exact name.
    name: String,
    /// The arguments as a JSON object; `-` reads them from stdin.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    args: String,
    /// Only call the definition of this version.
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Print the request that would be sent, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print what invoke_tool would answer on one line; without it the same is indented.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    answers: AnswerArgs,
    #[command(flatten)]
    calls: CallArgs,
}

/// A JSON text of arguments on the command line may nest this deep; the same as a message's.
const ARGUMENTS_DEPTH_MAX: usize = 128;

pub(super) fn run(args: &InvokeArgs) -> anyhow::Result<Ended> {
    let arguments = arguments(&args.args)?;
    let loaded = open(&args.source)?;
    let mut call = Map::new();
    call.insert("name".into(), json!(args.name));
    call.insert("arguments".into(), arguments);
    if let Some(version) = &args.version {
        call.insert("version".into(), json!(version));
    }
    let tools = loaded.tools_that_call(&args.answers, &args.calls, &args.source)?;
    let caller = Caller::anonymous();
    let result = if args.dry_run {
        match tools.compose(&caller, &call) {
            Ok(request) => {
                line(&printable(&request.to_string()))?;
                return Ok(Ended::Well);
            }
            Err(refused) => refused,
        }
    } else {
        runtime()?.block_on(tools.invoke(&caller, &call))
    };
    answer(&result, args.json)
}

fn arguments(given: &str) -> anyhow::Result<Value> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("cannot read the arguments from stdin")?;
    }
    let parsed =
        crate::json::parse(text.as_bytes(), ARGUMENTS_DEPTH_MAX).context("--args is not JSON")?;
    if let Some(place) = parsed.duplicates.first() {
        bail!("--args has the key at `{place}` twice");
    }
    Ok(parsed.value)
}
