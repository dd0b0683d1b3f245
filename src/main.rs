//! The command `sezzlee`; everything it does is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    sezzlee::cli::run()
}
