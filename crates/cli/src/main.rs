//! The command `truebloom`; its code is the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    truebloom_cli::main()
}
