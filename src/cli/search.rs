//! `sezzlee search` and `sezzlee explain`.

use std::io::BufRead as _;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Map, Value, json};

use super::Ended;
use super::catalogue::{Opened, open};
use super::output::{line, printable, read_answer, stderr_line};
use crate::access::{Caller, View, Visible};
use crate::config::{AnswerArgs, SourceArgs};
use crate::index::{Hit, TokenMatch};
use crate::search::{self, Explanation, Query};
use crate::text::QUERY_BYTES_MAX;
use crate::tools::MetaTools;

/// The most results the meta-tool gives; more are for a person's eyes.
const LIMIT_DEFAULT: usize = 20;

/// Rank the operations of a catalogue.
#[derive(Debug, Args)]
#[command(
    override_usage = "sezzlee search [OPTIONS] QUERY SOURCE...\n       sezzlee search [OPTIONS] --queries FILE SOURCE..."
)]
pub(super) struct SearchArgs {
    /// The query, then the sources; with --queries only sources. An empty query lists everything by name.
    #[arg(value_name = "QUERY SOURCE", required_unless_present = "config", num_args = 1..)]
    words: Vec<String>,
    /// A configuration file (TOML, YAML or JSON), which may name the sources.
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Rank every line of this file (or of stdin, when it is -) as a query.
    #[arg(long, value_name = "FILE")]
    queries: Option<String>,
    /// At most this many results a query.
    #[arg(long, value_name = "COUNT", default_value_t = LIMIT_DEFAULT)]
    limit: usize,
    /// Only operations that carry this whole tag; may be given several times.
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Print whole definitions instead of cards.
    #[arg(long)]
    detail: bool,
    /// Print scores.
    #[arg(long)]
    scores: bool,
    /// Print what search_tools would answer, one JSON object a query (with a member `scores` when asked).
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    answers: AnswerArgs,
}

pub(super) fn run(args: &SearchArgs) -> anyhow::Result<Ended> {
    let (queries, sources) = match &args.queries {
        Some(file) => (read_queries(file)?, args.words.clone()),
        None => match args.words.split_first() {
            Some((query, sources)) if !sources.is_empty() || args.config.is_some() => {
                (vec![query.clone()], sources.to_vec())
            }
            _ => bail!(
                "name at least one source after the query: `sezzlee search \"list orders\" openapi.yaml`"
            ),
        },
    };
    let loaded = open(&SourceArgs {
        sources,
        config: args.config.clone(),
        ..SourceArgs::default()
    })?;
    let several = queries.len() > 1;
    let tools = loaded.tools(&args.answers)?;
    let mut ended = Ended::Well;
    for query in &queries {
        if args.json {
            let (text, is_error) = answer(args, &loaded, &tools, query)?;
            line(&text)?;
            if is_error {
                ended = Ended::No;
            }
        } else {
            show(args, &loaded, query, several)?;
        }
    }
    Ok(ended)
}

fn read_queries(file: &str) -> anyhow::Result<Vec<String>> {
    let lines: std::io::Result<Vec<String>> = if file == "-" {
        std::io::stdin().lock().lines().collect()
    } else {
        let opened = std::fs::File::open(file).with_context(|| format!("cannot read `{file}`"))?;
        std::io::BufReader::new(opened).lines().collect()
    };
    lines.with_context(|| format!("cannot read queries from `{file}`"))
}

fn hits<'a>(
    args: &SearchArgs,
    loaded: &'a Opened,
    query: &str,
) -> anyhow::Result<search::Page<'a>> {
    if query.len() > QUERY_BYTES_MAX {
        bail!(
            "a query has {} bytes; at most {QUERY_BYTES_MAX} are taken: keep the few words that matter",
            query.len()
        );
    }
    let settings = args.answers.settings()?;
    let view = View::new(
        loaded.reader().audiences(),
        &Caller::anonymous(),
        settings.on_unknown,
    );
    let query = Query {
        text: query,
        tags: &args.tag,
        limit: args.limit,
        vocabulary_limit: settings.vocabulary_limit,
    };
    Ok(search::run(loaded.reader(), &view, query)?)
}

/// What `search_tools` answers, through the same code, and whether that is an error; scores are added beside
/// it.
fn answer(
    args: &SearchArgs,
    loaded: &Opened,
    tools: &MetaTools,
    query: &str,
) -> anyhow::Result<(String, bool)> {
    let arguments = json!({
        "query": query,
        "limit": args.limit,
        "detail": if args.detail { "schema" } else { "card" },
        "tags": args.tag,
    });
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    let result = tools.search(&Caller::anonymous(), &arguments);
    if !args.scores || result.is_error() {
        return Ok((result.text().to_owned(), result.is_error()));
    }
    let scores: Vec<f64> = hits(args, loaded, query)?
        .hits
        .iter()
        .map(|hit| hit.get().score)
        .collect();
    let mut page = read_answer(result.text())?;
    let shown = page["results"].as_array().map_or(0, Vec::len);
    page["scores"] = json!(scores[..shown.min(scores.len())]);
    Ok((page.to_string(), false))
}

fn show(args: &SearchArgs, loaded: &Opened, query: &str, several: bool) -> anyhow::Result<()> {
    let started = Instant::now();
    let page = hits(args, loaded, query)?;
    let took = started.elapsed();
    if several {
        line(&format!("# {}", printable(query)))?;
    }
    for (rank, hit) in page.hits.iter().enumerate() {
        show_hit(args, loaded, rank + 1, hit)?;
    }
    stderr_line(&format!(
        "{} of {} operations in {:.3} ms",
        page.hits.len(),
        page.total,
        took.as_secs_f64() * 1e3
    ));
    Ok(())
}

fn show_hit(
    args: &SearchArgs,
    loaded: &Opened,
    rank: usize,
    hit: &Visible<Hit>,
) -> anyhow::Result<()> {
    let Hit { document, score } = *hit.get();
    if args.detail {
        let (operation, _) = loaded.reader().operation(document)?;
        let object = Value::Object(operation.definition.to_object());
        return line(&printable(&serde_json::to_string_pretty(&object)?));
    }
    let card = loaded.reader().card(document)?;
    let card = read_answer(std::str::from_utf8(card.json())?)?;
    let text =
        |member: &str| printable(card[member].as_str().unwrap_or_default()).replace('\n', " ");
    let score = if args.scores {
        format!("{score:>9.4}  ")
    } else {
        String::new()
    };
    line(&format!("{rank:>3}. {score}{}", text("name")))?;
    let description = text("description");
    if !description.is_empty() {
        line(&format!("     {description}"))?;
    }
    let parameters = text("parameters");
    if !parameters.is_empty() {
        line(&format!("     ({parameters})"))?;
    }
    Ok(())
}

/// Take a score apart.
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// The query.
    query: String,
    /// The operation whose score is explained; left out, the best one.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) fn explain(args: &ExplainArgs) -> anyhow::Result<Ended> {
    let loaded = open(&args.source)?;
    let reader = loaded.reader();
    let view = loaded.view();
    let name = if let Some(name) = &args.name {
        name.clone()
    } else {
        let query = Query {
            text: &args.query,
            tags: &[],
            limit: 1,
            vocabulary_limit: 0,
        };
        let page = search::run(reader, &view, query)?;
        let Some(best) = page.hits.first() else {
            stderr_line("sezzlee: nothing matches the query");
            return Ok(Ended::No);
        };
        String::from_utf8_lossy(reader.card(best.get().document)?.name()).into_owned()
    };
    let Some(explained) = search::explain(reader, &view, &args.query, &name)? else {
        stderr_line(&format!(
            "sezzlee: no operation is named `{}`; find its exact name with `sezzlee search`",
            printable(&name)
        ));
        return Ok(Ended::No);
    };
    let explained = explained.get();
    if args.json {
        line(&explanation_json(explained).to_string())?;
    } else {
        show_explanation(explained)?;
    }
    Ok(Ended::Well)
}

fn explanation_json(explained: &Explanation) -> Value {
    let token = |token: &TokenMatch| {
        let fields: Map<String, Value> = token
            .fields
            .iter()
            .map(|(field, count)| (field.as_str().to_owned(), json!(count)))
            .collect();
        json!({
            "token": token.token, "df": token.df, "idf": token.idf, "fields": fields,
            "tf": token.tf, "length": token.length, "part": token.part,
        })
    };
    let tokens: Vec<Value> = explained.tokens.iter().map(token).collect();
    json!({"name": explained.name, "score": explained.score, "tokens": tokens})
}

fn show_explanation(explained: &Explanation) -> anyhow::Result<()> {
    line(&format!(
        "{}  score {:.6}",
        printable(&explained.name),
        explained.score
    ))?;
    for token in &explained.tokens {
        let fields: Vec<String> = token
            .fields
            .iter()
            .map(|(field, count)| {
                format!(
                    "{} {count} x {}",
                    field.as_str(),
                    f64::from(field.weight2()) / 2.0
                )
            })
            .collect();
        let fields = if fields.is_empty() {
            "matches nothing here".to_owned()
        } else {
            fields.join(", ")
        };
        line(&format!(
            "  {:<20} part {:>9.6}  idf {:.6} (in {} operations)  tf {} of length {}: {fields}",
            printable(&token.token),
            token.part,
            token.idf,
            token.df,
            token.tf,
            token.length
        ))?;
    }
    Ok(())
}
