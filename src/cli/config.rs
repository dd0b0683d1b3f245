//! `sezzlee config`: the schema of the configuration file, an example, and the check of a file.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Ended;
use super::output::{line, printable, stdout};
use crate::config::{self, ConfigError, Configured};

/// The configuration file.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the JSON Schema of configuration files.
    Schema,
    /// Print a commented example in TOML.
    Example,
    /// Check a file without reading its sources; exits 1 when something is wrong with it.
    Check {
        /// The file: .toml, .yaml, .yml or .json.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub(super) fn run(args: &ConfigArgs) -> anyhow::Result<Ended> {
    match &args.what {
        What::Schema => line(&serde_json::to_string_pretty(&config::schema())?)?,
        What::Example => stdout(config::EXAMPLE.as_bytes())?,
        What::Check { file } => return check(file),
    }
    Ok(Ended::Well)
}

fn check(path: &Path) -> anyhow::Result<Ended> {
    let configured = match Configured::read(path) {
        Ok(configured) => configured,
        Err(ConfigError::Faults { faults }) => {
            for fault in faults {
                line(&printable(&fault.to_string()))?;
            }
            return Ok(Ended::No);
        }
        Err(error) => return Err(error.into()),
    };
    let missing: Vec<_> = configured
        .files()
        .into_iter()
        .filter(|file| !file.is_file())
        .collect();
    for file in &missing {
        let told = format!("{}: the overlay is not there", file.display());
        line(&printable(&told))?;
    }
    if !missing.is_empty() {
        return Ok(Ended::No);
    }
    let sources = configured.sources.len();
    line(&printable(&format!(
        "{}: a good configuration of {sources} {}; `sezzlee check --config` reads what it names",
        path.display(),
        if sources == 1 { "source" } else { "sources" }
    )))?;
    Ok(Ended::Well)
}
