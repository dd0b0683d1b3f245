//! `sezzlee synthesize`: a seeded catalogue as JSON Lines, for benches and load tests.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use super::Ended;
use super::output::{grouped, line};
use crate::catalog::Operation;
use crate::synthetic::Catalogue;

/// Write a seeded catalogue.
#[derive(Debug, Args)]
pub(super) struct SynthesizeArgs {
    /// The file; compressed when its name ends in .zst or .gz.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many operations.
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    operations: usize,
    /// The seed; the same seed makes the same catalogue for ever.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &SynthesizeArgs) -> anyhow::Result<Ended> {
    let told = || format!("cannot write `{}`", args.out.display());
    let file = BufWriter::new(File::create(&args.out).with_context(told)?);
    let catalogue = Catalogue::new(args.seed, args.operations);
    match args.out.extension().and_then(|ending| ending.to_str()) {
        Some("zst") => {
            let mut out = zstd::Encoder::new(file, 3).with_context(told)?;
            write(&catalogue, &mut out).with_context(told)?;
            out.finish()
                .and_then(|mut file| file.flush())
                .with_context(told)?;
        }
        Some("gz") => {
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            write(&catalogue, &mut out).with_context(told)?;
            out.finish()
                .and_then(|mut file| file.flush())
                .with_context(told)?;
        }
        _ => {
            let mut out = file;
            write(&catalogue, &mut out).with_context(told)?;
            out.flush().with_context(told)?;
        }
    }
    line(&format!(
        "{} operations of seed {} in {}",
        grouped(args.operations as u64),
        args.seed,
        args.out.display()
    ))?;
    Ok(Ended::Well)
}

fn write(catalogue: &Catalogue, out: &mut dyn Write) -> std::io::Result<()> {
    for operation in catalogue.operations() {
        writeln!(out, "{}", entry(&operation))?;
    }
    Ok(())
}

/// A line of a JSON Lines catalogue.
fn entry(operation: &Operation) -> Value {
    let definition = &operation.definition;
    json!({
        "name": definition.name,
        "description": definition.description,
        "tags": operation.tags,
        "searchTerms": operation.search_terms,
        "route": operation.route,
        "alternateRoutes": operation.alternate_routes,
        "inputSchema": definition.input_schema,
        "annotations": definition.annotations,
        "deprecated": definition.deprecated,
    })
}
